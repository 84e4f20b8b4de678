"""The best condition of each judge for every slice and pool, laid out as the paper's Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voirdire.reporting.access import ALL, Row
from voirdire.reporting.experiment_tables import Pair
from voirdire.reporting.grid import Builder, Column, Entry, Grid, Line
from voirdire.reporting.words import DASH

Place = dict[str, str]


def best(b: Builder, pair: Pair, condition: str, name: str) -> list[Grid]:
    """MAE, share of the gap and condition of each judge's best condition, and beside it the cross-fitted value.

    A table for each definition: judges whose numbers are defined otherwise do not share one.

    condition : the block within which the best was sought, or ``*`` for any configuration

    The lowest of each column is marked. The last rows are the average over judges and the pools' own mean gap.
    """
    parts = b.view.cultures(b.question, "best_mae.value") or ["all"]
    places = [{"slice": part, "pool": pool} for part in parts for pool in pair]
    places = [p for p in places if b.view.has("best_mae.value", question=b.question, condition=condition, **p)]
    alike: dict[str, list[str]] = {}
    for judge in b.view.judges if places else []:
        found = [_row(b, kind, judge, condition, place) for place in places for kind in ("value", "cross_fitted")]
        if found[0] is not None:
            alike.setdefault("|".join(row.definition for row in found if row is not None), []).append(judge)
    ends = ["", *(f"-other-{number + 1}" for number in range(len(alike)))]
    return [
        _table(b, pair, condition, f"{name}{end}", places, judges)
        for end, judges in zip(ends, alike.values(), strict=False)
    ]


def _table(b: Builder, pair: Pair, condition: str, name: str, places: Sequence[Place], judges: Sequence[str]) -> Grid:
    """One table: a row for each of these judges, their average and the pools' own gap below."""
    w = b.words
    columns, cells = [], []
    for place in places:
        group = w.slice(place["slice"])
        for kind, maker in (("value", _raw), ("cross_fitted", _fitted)):
            column = [maker(b, place, pair, judge, condition) for judge in (*judges, ALL)]
            example = _row(b, kind, judges[0], condition, place)
            columns.append(_column(b, example, w.x(f"best.{kind}", pool=place["pool"]), group))
            cells.append(_marked(b, column, place, judges, condition, kind))
    lines = [
        Line((w.judge(judge) if judge != ALL else w.x("best.average"),), tuple(column[row] for column in cells))
        for row, judge in enumerate((*judges, ALL))
    ]
    gap = Line((w.x("best.gap"),), tuple(_gap(b, place, pair, kind) for place in places for kind in (0, 1)))
    groups = (("", tuple(lines[:-1])), (w.x("best.beside"), (lines[-1], gap)))
    caption = w.x("caption.best" if condition != ALL else "caption.best_any", a=pair[0], b=pair[1])
    reasons = tuple(sorted({(e.mark, e.reason) for column in cells for e in column if e.mark}))
    heads, notes = (w.t("head.judge"),), (w.x("best.note"),)
    return Grid(name, caption, heads, tuple(columns), groups, notes, reasons, compact=True)


def _row(b: Builder, part: str, judge: str, condition: str, place: Place, pool_b: str = "") -> Row | None:
    name = f"best_mae.{part}"
    return b.view.row(name, question=b.question, judge=judge, condition=condition, pool_b=pool_b, **place)


def _raw(b: Builder, place: Place, pair: Pair, judge: str, condition: str) -> Entry:
    """The value, below it its share of the gap and its condition."""
    entry = b.entry(_row(b, "value", judge, condition, place))
    share = _row(b, "percent_of_human", judge, condition, place, _other(place, pair))
    won = _row(b, "condition", judge, condition, place)
    below = [] if share is None or share.value is None else [_percent(b, share)]
    below += [b.words.condition(_within(b, won.label, condition))] if won is not None and won.label else []
    return replace(entry, interval=" ".join(below)) if entry.text != DASH else entry


def _within(b: Builder, label: str, condition: str) -> str:
    """A condition's name without the level of the block that the whole table is about."""
    level = b.view.design(b.question).get("baseline")
    return label.removesuffix(f"/{level}") if condition != ALL and level else label


def _fitted(b: Builder, place: Place, pair: Pair, judge: str, condition: str) -> Entry:
    """The cross-fitted value, below it its interval and share of the gap."""
    entry = b.entry(_row(b, "cross_fitted", judge, condition, place))
    share = _row(b, "percent_cross_fitted", judge, condition, place, _other(place, pair))
    below = [entry.interval] + ([] if share is None or share.value is None else [_percent(b, share)])
    return replace(entry, interval=" ".join(part for part in below if part))


def _percent(b: Builder, row: Row) -> str:
    return f"[{b.words.number('percent_of_human', row.value or 0.0)}\u00a0%]"


def _other(place: Place, pair: Pair) -> str:
    return pair[1] if place["pool"] == pair[0] else pair[0]


def _column(b: Builder, row: Row | None, title: str, group: str) -> Column:
    if row is None:
        return Column(title, group)
    return Column(title, group, b.words.help(row.statistic, row.params), b.footnotes.number(row))


def _marked(
    b: Builder, column: Sequence[Entry], place: Place, judges: Sequence[str], condition: str, kind: str
) -> list[Entry]:
    """The lowest of the judges' values in bold."""
    values = [_row(b, kind, judge, condition, place) for judge in judges]
    known = [row.value for row in values if row is not None and row.value is not None]
    floor = min(known, default=None)
    return [
        replace(entry, strong=place_ < len(values) and _equals(values[place_], floor))
        for place_, entry in enumerate(column)
    ]


def _equals(row: Row | None, floor: float | None) -> bool:
    return row is not None and floor is not None and row.value == floor


def _gap(b: Builder, place: Place, pair: Pair, kind: int) -> Entry:
    """The mean gap between the pools on these items, below the raw values."""
    row = b.view.row("cross_pool_mad", question=b.question, slice=place["slice"], pool=pair[0], pool_b=pair[1])
    return b.entry(row) if kind == 0 else Entry()
