"""The ratings table, whatever its shape, as one row per rating: item_id, rater_id, question, raw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Note
from voirdire.corpus.intake import flag, note, refuse, some, with_rows
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.pools import RaterTable
from voirdire.corpus.wide import check_columns, melt, numeric_columns
from voirdire.errors import InputError
from voirdire.tables import Table, read_table

KEYS = ("item_id", "rater_id", "pool", "question", "rating", "value", "n")


@dataclass(frozen=True)
class Long:
    """Ratings as rows.

    frame : item_id, rater_id (null for means), question, raw (text), ``_aggregate``, ``_row``, ``_column`` (header
        of the cell in wide tables, else null), ``_reason``; pool, n and rater attributes where given
    """

    frame: pl.DataFrame
    table: Table
    notes: tuple[Note, ...]


def read_long(options: CorpusOptions, raters: RaterTable | None) -> Long:
    """Read the ratings table in any of its shapes."""
    names.check_mapping(options.mapping, KEYS)
    given = read_table(options.ratings, options.encoding)
    for option, wanted in _named_columns(options):
        check_columns(given, wanted, option)
    kept = [name for _, wanted in _named_columns(options) for name in wanted]
    table, notes = names.take(given, "ratings", _targets(options), options.mapping, kept, kept)
    names.require(table, "item_id")
    if table.frame.is_empty():
        raise InputError("input.file_no_rows", file=table.file)
    frame, more = _shaped(with_rows(table.frame), table, raters, options)
    frame = _complete(frame, table, options)
    frame, told = _mark_aggregates(frame, table, options)
    return Long(flag(frame, pl.col("raw").is_null(), "missing"), table, (*notes, *more, *told))


def _named_columns(options: CorpusOptions) -> list[tuple[str, tuple[str, ...]]]:
    pools = options.pool_columns
    return [
        ("--question-columns", options.question_columns),
        ("--rater-columns", options.rater_columns),
        ("--pool-columns", pools),
    ]


def _targets(options: CorpusOptions) -> list[str]:
    gone: set[str] = set()
    if options.question_columns:
        gone |= {"question", "rating", "value"}
    if options.rater_columns:
        gone |= {"rater_id", "rating", "value", "n"}
    if options.pool_columns:
        gone |= {"rater_id", "pool", "rating", "value", "n"}
    return [name for name in KEYS if name not in gone]


def _shaped(
    frame: pl.DataFrame, table: Table, raters: RaterTable | None, options: CorpusOptions
) -> tuple[pl.DataFrame, list[Note]]:
    if options.question_columns:
        long, told = melt(table, frame, options.question_columns, "question", "raw")
        return long, [told]
    people = _rater_columns(frame, raters, options)
    if people:
        long, told = melt(table, frame, people, "rater_id", "raw")
        return long, [_ignored(table, frame, people), told]
    pools = _pool_columns(frame, options)
    if pools:
        long, told = melt(table, frame, pools, "pool", "raw")
        return long.with_columns(_aggregate=pl.lit(True)), [_ignored(table, frame, pools), told]
    return _long(frame.with_columns(_column=pl.lit(None, pl.String)), table, options), []


def _rater_columns(frame: pl.DataFrame, raters: RaterTable | None, options: CorpusOptions) -> Sequence[str]:
    has_rows = {"rating", "value", "rater_id"} & set(frame.columns)
    if options.rater_columns or raters is None or has_rows:
        return options.rater_columns
    known = set(raters.frame["rater_id"])
    return [name for name in frame.columns if name in known]


def _pool_columns(frame: pl.DataFrame, options: CorpusOptions) -> Sequence[str]:
    has_rows = {"rating", "value", "rater_id"} & set(frame.columns)
    if options.pool_columns or not options.aggregate or has_rows:
        return options.pool_columns
    if "all" in options.aggregate:
        free = [name for name in frame.columns if name not in (*KEYS, "_row", "_reason")]
        return numeric_columns(frame, free)
    return [name for name in options.aggregate if name in frame.columns]


def _ignored(table: Table, frame: pl.DataFrame, used: Sequence[str]) -> Note:
    beside = [name for name in frame.columns if name not in used and name not in ("_row", "_reason")]
    return note("wide_columns", file=table.name, count=len(used), used=some(used), beside=some(beside))


def _long(frame: pl.DataFrame, table: Table, options: CorpusOptions) -> pl.DataFrame:
    has = set(frame.columns)
    if "rating" in has and "value" in has:
        is_mean = pl.col("rating").is_null() & pl.col("value").is_not_null()
        return frame.with_columns(raw=pl.coalesce("rating", "value"), _aggregate=is_mean)
    if "rating" in has:
        if "rater_id" not in has and not options.aggregate:
            raise InputError("input.no_raters", file=table.file, row=1, column="rater_id", value=table.shown_columns)
        return frame.with_columns(pl.col("rating").alias("raw"))
    names.require(table, "rating" if "value" not in has else "value")
    return frame.with_columns(pl.col("value").alias("raw"), _aggregate=pl.lit(not _of_raters(frame, table)))


def _of_raters(frame: pl.DataFrame, table: Table) -> bool:
    """Whether ``value`` holds ratings: several of an item, or one each, so called, of raters who come again."""
    if "rater_id" not in frame.columns:
        return False
    keys = [name for name in ("item_id", "pool", "question") if name in frame.columns]
    if frame.select(pl.struct(keys).is_duplicated().any()).item():
        return True
    people = frame["rater_id"].drop_nulls()
    people = people.filter(~people.str.to_lowercase().str.starts_with("aggregate"))
    return names.normal(table.header("value")) == "value" and people.is_duplicated().any()


def _complete(frame: pl.DataFrame, table: Table, options: CorpusOptions) -> pl.DataFrame:
    empty: dict[str, pl.Expr] = {"rater_id": pl.lit(None, pl.String), "question": pl.lit(options.question_name)}
    empty |= {"_aggregate": pl.lit(False)}
    frame = frame.with_columns([value.alias(name) for name, value in empty.items() if name not in frame.columns])
    for key in ("item_id", "question"):
        gap = frame.filter(pl.col(key).is_null())
        if not gap.is_empty():
            raise refuse("cell_empty", table, gap, key, value="")
    return frame.drop("rating", "value", strict=False)


def _mark_aggregates(frame: pl.DataFrame, table: Table, options: CorpusOptions) -> tuple[pl.DataFrame, list[Note]]:
    named = pl.lit("all" in options.aggregate)
    if "pool" in frame.columns and options.aggregate:
        named = named | pl.col("pool").is_in(options.aggregate)
    id_says = pl.col("rater_id").is_null() | pl.col("rater_id").str.to_lowercase().str.starts_with("aggregate")
    means = pl.col("_aggregate") | (named | id_says).fill_null(False)
    frame = frame.with_columns(means.alias("_aggregate"))
    frame = frame.with_columns(rater_id=pl.when(~pl.col("_aggregate")).then("rater_id"))
    count = frame["_aggregate"].sum()
    return frame, [note("aggregates", file=table.name, count=count)] if count else []
