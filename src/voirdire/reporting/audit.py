"""The reckoning at the end of a report: rows, exclusions, undefined numbers, settings and definitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from voirdire.errors import SignatureError
from voirdire.reporting.access import PAIRWISE, Cell, Row, View
from voirdire.reporting.blocks import Note, Notes
from voirdire.reporting.grid import Builder, Column, Entry, Footnotes, Grid, Line
from voirdire.reporting.words import Words
from voirdire.signature import Signature

BOUNDS = ("mae.bound_low", "mae.bound_high")


def plain_grid(
    name: str, caption: str, heads: Iterable[str], columns: Iterable[str], rows: Iterable[tuple[Any, ...]]
) -> Grid | None:
    """A table of texts: the first entries of a row are its headings."""
    heads = tuple(heads)
    lines = tuple(
        Line(
            tuple(View.clean(value) for value in row[: len(heads)]), tuple(_text(value) for value in row[len(heads) :])
        )
        for row in rows
    )
    if not lines:
        return None
    numeric = [all(line.entries[place].numeric for line in lines) for place, _ in enumerate(lines[0].entries)]
    titled = tuple(Column(title, numeric=each) for title, each in zip(columns, numeric, strict=True))
    return Grid(name, caption, heads, titled, (("", lines),))


def _text(value: Any) -> Entry:
    numeric = isinstance(value, int | float)
    return Entry(f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else View.clean(value), numeric=numeric)


def intake(view: View, words: Words) -> Grid | None:
    """Rows in = rows used + rows excluded, by reason, for every table that was read."""
    rows = []
    for entry in view.meta.get("intake") or []:
        excluded = entry.get("excluded") or {}
        reasons = "; ".join(f"{words.excluded(key)}: {count}" for key, count in excluded.items()) or "0"
        file = str(entry.get("file", "")).replace("\\", "/").rsplit("/", 1)[-1]
        rows.append((entry["table"], file, int(entry["rows_in"]), int(entry["rows_used"]), reasons))
    columns = [words.t(f"head.{name}") for name in ("file", "rows_in", "rows_used", "rows_excluded")]
    return plain_grid("intake", words.t("caption.intake"), [words.t("head.table")], columns, rows)


def excluded(view: View, words: Words) -> Grid | None:
    """Judgments without a usable rating, per judge and condition, by reason."""
    rows = []
    cells = [*view.full_cells()] or [Cell(judge, "*") for judge in view.judges]
    for question in view.judged:
        for cell in cells:
            row = _excluding(view, question, cell)
            if row is not None:
                reasons = "; ".join(f"{words.excluded(key)}: {count}" for key, count in counts(row.excluded))
                rows.append((question, words.judge(cell.judge), words.condition(cell.condition), row.n or 0, reasons))
    heads = [words.t(f"head.{name}") for name in ("question", "judge", "condition")]
    columns = [words.t("head.n_used"), words.t("head.left_out")]
    return plain_grid("excluded", words.t("caption.excluded"), heads, columns, rows)


def _excluding(view: View, question: str, cell: Cell) -> Row | None:
    place = {"question": question, "judge": cell.judge, "condition": cell.condition}
    for name in ("mean_rating", "missing_share"):
        row = view.row(name, **place)
        if row is not None and row.excluded:
            return row
    return None


def counts(printed: str) -> list[tuple[str, int]]:
    """``malformed=3;no_consensus=2`` as pairs.

    >>> counts("malformed=3;no_consensus=2")
    [('malformed', 3), ('no_consensus', 2)]
    """
    found = []
    for part in printed.split(";"):
        key, _, count = part.rpartition("=")
        if key and count.isdigit():
            found.append((key, int(count)))
    return found


def undefined(view: View, words: Words, limit: int = 3) -> Grid | None:
    """Numbers that could not be computed, by reason, with examples of where; the reasons for fewest numbers first."""
    found = view.profile.estimates.filter(view.profile.estimates["undefined"].is_not_null())
    groups: dict[tuple[str, str], list[Row]] = {}
    for line in found.select(Row._fields).iter_rows():
        row = Row(*line)
        groups.setdefault((row.question, row.undefined or ""), []).append(row)
    rows = []
    for (question, reason), members in groups.items():
        real = [row for row in members if not row.judge.startswith("control:")]
        statistics = list(dict.fromkeys(words.statistic(row.statistic) for row in real))
        places = [place for place in dict.fromkeys(where(row, words) for row in real) if place]
        if real:
            named = _first(statistics, 2 * limit, words, "and_more_numbers")
            shown = _first(places, limit, words, "and_more", "; ")
            rows.append((question, words.reason(reason), len(statistics), named, len(members), shown))
    rows.sort(key=lambda row: row[2])
    columns = [words.t(f"head.{name}") for name in ("reason", "statistics", "which", "cells", "where")]
    return plain_grid("undefined", words.t("caption.undefined"), [words.t("head.question")], columns, rows)


def _first(names: list[str], limit: int, words: Words, more: str, separator: str = "") -> str:
    """The first names, and how many more there are."""
    shown = separator.join(names[:limit]) if separator else words.list(names[:limit])
    return shown + (words.t(more, count=len(names) - limit) if len(names) > limit else "")


def where(row: Row, words: Words) -> str:
    """The place of an estimate in words: judge, condition, pools and slice."""
    pools = " / ".join(View.clean(pool) for pool in (row.pool, row.pool_b) if pool)
    judge = words.cell(Cell(row.judge, row.condition)) if row.judge else ""
    if row.judge == "*":
        judge = words.t("all_judges")
    slice_ = "" if row.slice == "all" else words.slice(row.slice)
    return ", ".join(part for part in (judge, pools, slice_, View.clean(unquote(row.params))) if part)


def bounds(b: Builder, cells: list[Cell]) -> Grid | None:
    """MAE with every missing judgment at its nearest and farthest, where more than 1 % is missing."""
    from voirdire.reporting.tables import cell_heads, cell_members, specs, with_pools

    w = b.words
    members = [
        member
        for member in with_pools(b, cell_members(b, cells, cells))
        if b.view.row(BOUNDS[0], question=b.question, **member[1]) is not None
    ]
    heads = [*cell_heads(b, cells), w.t("head.pool")]
    return b.table("bounds", w.t("caption.bounds"), heads, specs(("mae", *BOUNDS)), [("", members)])


def settings(view: View, words: Words) -> Grid | None:
    """The options in force, the seed and the version."""
    rows: list[tuple[str, str]] = [("voirdire", str(view.meta.get("voirdire", "")))]
    rows.append((words.t("seed"), str(view.meta.get("seed", ""))))
    options = view.meta.get("options") or {}
    rows.extend((str(key), _option(value)) for key, value in options.items() if key != "seed" and _option(value))
    return plain_grid("settings", words.t("caption.settings"), [words.t("head.setting")], [words.t("head.value")], rows)


def _option(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_option(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_option(part) for part in value)
    return "" if value is None or value is False else str(value)


def families(view: View, words: Words) -> Grid | None:
    """The families of tests that were corrected together."""
    rows = []
    for family in view.meta.get("families") or []:
        pair = family.get("pair") or ""
        pair = pair if isinstance(pair, str) else " / ".join(str(pool) for pool in pair)
        rows.append(
            (words.statistic(family["statistic"]), pair, _option(family.get("slice_set", "")), int(family["size"]))
        )
    columns = [words.t("head.pair"), words.t("head.slice_set"), words.t("head.size")]
    return plain_grid("families", words.t("caption.families"), [words.t("head.statistic")], columns, rows)


def definitions(footnotes: Footnotes, words: Words) -> Notes:
    """The numbered definitions that the columns refer to."""
    return Notes(tuple(_note(number, footnotes.examples[key], words) for key, number in footnotes.definitions.items()))


def _note(number: int, row: Row, words: Words) -> Note:
    try:
        signature = Signature.parse(row.signature)
        parts = (*signature.params.items(), *signature.definition.items())
    except SignatureError:
        parts = ()
    votes = dict(parts).get("scale", "").startswith(PAIRWISE)
    name, told = words.defined(row.statistic, row.params, votes=votes)
    return Note(number, name, told, parts, row.signature)
