"""The tables of a corpus as a release has them: our column names, whole numbers as numbers, one order of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.folder import expand_judgments
from voirdire.corpus.itemtable import ItemTable, carried_items, read_items
from voirdire.corpus.longform import read_long
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.corpus.parts import Parts
from voirdire.corpus.pools import assign_pools, read_raters
from voirdire.corpus.questions import read_questions, spec_of
from voirdire.corpus.ratings import check_items
from voirdire.errors import InputError
from voirdire.tables import Table, as_text, read_table

POOL_TABLES = ("items", "questions", "raters", "ratings", "shares")
JUDGE_TABLES = ("judgments", "judges", "conditions")
TABLES = (*POOL_TABLES, "comments", *JUDGE_TABLES)
"""Every table that a release can have, in its order."""

RATED = ("item_id", "rater_id", "pool", "question", "rating", "n", "status")
"""Columns of the ratings that are always released where they occur."""

TEXT_COLUMNS = frozenset({"item_id", "rater_id", "pool", "question", "pair_id", "judge", "condition", "label"})
JUDGED = ("item_id", "judge", "condition", "question", "repeat", "rating", "status")


@dataclass(frozen=True)
class PoolTables:
    """items, questions, raters, ratings and shares of a corpus folder, by name.

    item_file : the file that the items were read from, as errors name it; item_rows : item id -> its row there
    labels : question -> the answers that are declared for it, those that mean none among them
    """

    tables: Mapping[str, pl.DataFrame]
    item_file: str
    item_rows: Mapping[str, int]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def pool_tables(options: CorpusOptions) -> PoolTables:
    """The tables of a corpus folder as they stand, under our column names.

    options : of an expanded folder. The ratings are one row an item, rater and question whatever their shape was, with
    ``pool`` and every further column; ``raters`` has one row for each rater who rated. Items of every split stay.
    """
    raters = read_raters(options)
    long = read_long(options, raters)
    frame, _, _ = assign_pools(long.frame, raters, long.table, options)
    read = read_items(options, untested=())
    items = carried_items(frame) if options.items is None else read.frame
    check_items(frame, replace(read, excluded={}), long.table, options)
    tables = {"items": items, "ratings": _ratings(frame), "raters": _raters(frame, raters.frame if raters else None)}
    declared = read_questions(options)
    if declared.table is not None:
        tables["questions"] = declared.table.frame
    if options.shares is not None:
        tables["shares"] = read_table(options.shares, options.encoding).frame
    made = {name: typed(tables[name]) for name in POOL_TABLES if name in tables}
    specs = {name: spec_of(name, declared, options) for name in made["ratings"]["question"].drop_nulls().unique()}
    labels = {name: (*spec.labels, *spec.missing) for name, spec in specs.items()}
    return PoolTables(made, str(options.items or options.ratings), _rows(read), labels)


def rated_pools(options: CorpusOptions) -> tuple[str, ...]:
    """The pools that rated, sorted; none where the ratings tell of no pool. options : of an expanded folder."""
    if options.ratings is None:
        return ()
    raters = read_raters(options)
    long = read_long(options, raters)
    _, pools, told = assign_pools(long.frame, raters, long.table, options)
    return () if any(note.key == "input.note.one_pool" for note in told) else tuple(sorted(pools))


def judge_tables(source: Path) -> dict[str, pl.DataFrame]:
    """judgments, judges and conditions of a run folder, or of a file of judgments."""
    options = expand_judgments(JudgmentOptions(source))
    tables = {"judgments": _judgments(options.judgments)}
    for name in ("judges", "conditions"):
        given = getattr(options, name)
        if given is not None:
            tables[name] = typed(read_table(given).frame)
    return tables


def comments(folder: Path) -> pl.DataFrame | None:
    """comments.csv as the annotation service exports it, without the times; None where there is none."""
    file = folder / "comments.csv"
    if not file.is_file():
        return None
    table, _ = names.take(read_table(file), "ratings", ("item_id", "rater_id", "pool", "question"), {})
    for column in ("item_id", "rater_id"):
        names.require(table, column)
    return typed(table.frame.drop("answered_at", strict=False))


def typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of text that are numbers throughout become numbers, where the same text comes back from them.

    ``rating`` becomes a number also where its text changes (``4.0`` is 4). Ids, pools and questions stay text.

    >>> typed(pl.DataFrame({"item_id": ["1"], "n": ["3"], "code": ["007"], "rating": ["4.0"]})).row(0)
    ('1', 3, '007', 4)
    """
    return frame.select(_typed(frame[name]) for name in frame.columns)


def as_csv(frame: pl.DataFrame) -> bytes:
    r"""A table as the bytes of its csv file; decimals as the shortest text that is read as the same number.

    >>> as_csv(pl.DataFrame({"a": ["x", None], "b": [1, 2], "c": [0.1, 1e-7]}))
    b'a,b,c\nx,1,0.1\n,2,1e-07\n'
    """
    return frame.select(_written(frame[name]) for name in frame.columns).write_csv().encode()


def table_digest(frame: pl.DataFrame) -> str:
    """``sha256:`` and the sha256 of the table's csv file: the same in every form of a release."""
    return f"sha256:{hashlib.sha256(as_csv(frame)).hexdigest()}"


def _typed(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String or column.name in TEXT_COLUMNS or column.null_count() == len(column):
        return column
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count() or not numbers.drop_nulls().is_finite().all():
        return column
    whole = bool((numbers.drop_nulls() == numbers.drop_nulls().round()).all()) and float(numbers.abs().max()) < 2**53  # type: ignore[arg-type]
    made = numbers.cast(pl.Int64) if whole else numbers
    return made if column.name == "rating" or _written(made).cast(pl.String).equals(column) else column


def _written(column: pl.Series) -> pl.Series:
    if not column.dtype.is_float():
        return column
    return pl.Series(column.name, [None if cell is None else repr(cell) for cell in column.to_list()], dtype=pl.String)


def _rows(read: ItemTable) -> dict[str, int]:
    if read.table is None or read.flagged is None:
        return {}
    places = read.flagged.unique("item_id", keep="first").select("item_id", "_row").iter_rows()
    return {str(item): read.table.row(row) for item, row in places}


def _ratings(frame: pl.DataFrame) -> pl.DataFrame:
    """Our columns first, then the further ones; means of a pool have no rater."""
    frame = frame.rename({"raw": "rating"})
    further = [name for name in frame.columns if name not in RATED and not name.startswith("_")]
    first = [name for name in RATED if name in frame.columns]
    return frame.select(*first, *further)


def _raters(ratings: pl.DataFrame, known: pl.DataFrame | None) -> pl.DataFrame:
    """Everyone who rated, with the pool of their ratings and what the raters table has of them."""
    rated = ratings.filter(pl.col("rater_id").is_not_null())
    people = rated.group_by("rater_id", maintain_order=True).agg(pl.col("pool").drop_nulls().first())
    if known is None:
        return people
    attributes = known.drop("pool", strict=False)
    return people.join(attributes, on="rater_id", how="left", maintain_order="left")


def _judgments(source: Any) -> pl.DataFrame:
    if isinstance(source, Parts):
        frame = _plain(pl.concat(list(source.batches(source.columns)), how="vertical_relaxed").drop("_row"))
    elif Path(source).suffix == ".parquet":
        frame = _plain(_parquet(Path(source)))
    else:
        frame = typed(read_table(source).frame)
    file = str(getattr(source, "path", source))
    empty = Table(pl.DataFrame(schema=dict.fromkeys(frame.columns, pl.String)), file, "")
    taken, _ = names.take(empty, "judgments", JUDGED, {})
    return frame.rename(dict(zip(frame.columns, taken.frame.columns, strict=True)))


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers, decimals, truth values and text; every other kind of cell as text, and NaN as missing.

    Whole numbers that take more than 64 bits stay text, as they do in a csv file.
    """
    made = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_integer() and column.cast(pl.Int64, strict=False).null_count() == column.null_count():
            made.append(column.cast(pl.Int64))
        elif column.dtype.is_float():
            made.append(column.cast(pl.Float64).fill_nan(None))
        elif column.dtype in (pl.String, pl.Boolean):
            made.append(column)
        else:
            made.append(as_text(frame.select(name)).to_series())
    return pl.DataFrame(made)


def _parquet(file: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("input.file_damaged", file=str(file), value=str(error)[:200]) from error
