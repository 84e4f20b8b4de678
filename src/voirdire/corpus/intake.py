"""The reckoning of rows: every row is used or left out for one named reason."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from voirdire.corpus.corpus import Intake, Note
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table

REASONS = (
    "missing",
    "missing_label",
    "out_of_scale",
    "unknown_item",
    "unknown_question",
    "excluded_item",
    "item_level",
    "no_pool",
    "two_pools",
    "duplicate",
    "not_rated",
    "not_rating",
    "malformed",
    "refused",
    "error",
    "pending",
)
REASON = pl.Enum(REASONS)


def flag(frame: pl.DataFrame, when: pl.Expr, reason: str) -> pl.DataFrame:
    """Rows that are still in and meet ``when`` get the reason. Null counts as not met."""
    hit = pl.col("_reason").is_null() & when.fill_null(False)
    return frame.with_columns(pl.when(hit).then(pl.lit(reason, REASON)).otherwise("_reason").alias("_reason"))


def with_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with ``_row`` (place in its table) and an empty ``_reason``."""
    return frame.with_row_index("_row").with_columns(pl.lit(None, REASON).alias("_reason"))


def close(frame: pl.DataFrame, table: Table, name: str) -> Intake:
    """The intake of a flagged frame.

    >>> from voirdire.tables import read_table
    >>> table = read_table(pl.DataFrame({"item_id": ["a", "b"], "rating": [1, None]}))
    >>> close(flag(with_rows(table.frame), pl.col("rating").is_null(), "missing"), table, "ratings").excluded
    {'missing': 1}
    """
    lost = frame.filter(pl.col("_reason").is_not_null())
    counts = lost.group_by("_reason").agg(rows_of(lost)).sort("_reason")
    excluded: Mapping[str, int] = dict(counts.rows())
    rows = number(frame)
    return Intake(name, table.name, table.digest, rows, rows - sum(excluded.values()), excluded)


def rows_of(frame: pl.DataFrame) -> pl.Expr:
    """How many rows there are, where one row of a frame may stand for many: their number is then in ``_n``."""
    return pl.col("_n").sum() if "_n" in frame.columns else pl.len()


def number(frame: pl.DataFrame) -> int:
    """How many rows a frame stands for.

    >>> number(pl.DataFrame({"a": ["x", "y"]})), number(pl.DataFrame({"a": ["x", "y"], "_n": [3, 4]}))
    (2, 7)
    """
    return int(frame.select(rows_of(frame)).item())


def note(key: str, kind: str = "info", **fields: Any) -> Note:
    """A note of the catalogue's ``input.note`` table."""
    return Note(f"input.note.{key}", fields, kind)


def warning(key: str, **fields: Any) -> Note:
    """A warning of the catalogue's ``input.note`` table."""
    return note(key, "warning", **fields)


def refuse(key: str, table: Table, where: pl.DataFrame, column: str, value: Any = None, **fields: Any) -> InputError:
    """The error for the first row of ``where``, which keeps ``_row`` and, in wide tables, ``_column`` (the header)."""
    first = where.row(0, named=True)
    place = first.get("_column") if column == "raw" else None
    place = place or table.header(column)
    shown = first.get(column) if value is None else value
    file, row = table.place(first["_row"])
    return InputError(f"input.{key}", file=file, row=row, column=place, value=shown, **fields)


def merged(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Notes that differ in their question alone, said once for all those questions.

    >>> merged([note("level_inferred", question=q, level="interval") for q in ("a", "b")])[0].fields["question"]
    'a, b'
    """
    groups: dict[tuple[str, str, str], list[Note]] = {}
    for told in notes:
        rest = {name: value for name, value in told.fields.items() if name != "question"}
        groups.setdefault((told.key, told.kind, repr(rest)), []).append(told)
    result = []
    for group in groups.values():
        first = group[0]
        questions = dict.fromkeys(str(told.fields["question"]) for told in group if "question" in told.fields)
        fields = {**first.fields, "question": some(questions, 20)} if questions else first.fields
        result.append(Note(first.key, fields, first.kind))
    return tuple(result)


def alike(column: str, names: Iterable[str], table: Table) -> list[Note]:
    """A warning where names are told apart by capitals, width, encoding or invisible characters alone.

    >>> from voirdire.tables import read_table
    >>> table = read_table(pl.DataFrame({"pool": ["us", "US", "cn"]}))
    >>> alike("pool", ["us", "US", "cn"], table)[0].fields["values"]
    "'us' / 'US'"
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        bare = name if name.isascii() else _visible(name)
        groups.setdefault(bare.casefold(), []).append(name)
    twins = [" / ".join(map(_spelled, group)) for group in groups.values() if len(group) > 1]
    return [warning("names_alike", file=table.name, column=column, values=some(twins))] if twins else []


def _visible(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name)
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


def _spelled(name: str) -> str:
    """A name in quotation marks; invisible and combining characters are spelled out."""
    shown = "".join(char if unicodedata.category(char) not in ("Cf", "Mn") else f"\\u{ord(char):04x}" for char in name)
    return f"'{shown}'"


def choice(name: str, value: str, known: tuple[str, ...]) -> str:
    """An option's value, or UsageError naming what it may be."""
    if value not in known:
        raise UsageError("input.choice_unknown", option=name, value=value, known=", ".join(known))
    return value


def some(values: Any, limit: int = 5) -> str:
    """The first few of many, for a sentence.

    >>> some(["a", "b", "c"], 2)
    'a, b, ... (3)'
    """
    listed = [str(value) for value in values]
    shown = ", ".join(listed[:limit])
    return shown if len(listed) <= limit else f"{shown}, ... ({len(listed)})"
