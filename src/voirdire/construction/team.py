"""The people who build a corpus do not rate it: the construction team is looked for among the raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError
from voirdire.judging.demonstrations import folded
from voirdire.tables import Table, read_table


@dataclass(frozen=True, slots=True)
class Overlap:
    """A member of the construction team who stands among the raters, and where."""

    author: str
    file: str
    row: int
    column: str
    value: str


def who_rates(authors: Sequence[str], raters: Any, mapping: Mapping[str, str] | None = None) -> tuple[Overlap, ...]:
    """Members of the team who are among the raters, each once for each column that names them.

    raters : a raters table, a ratings table, or a corpus folder, of which both are looked at
    mapping : our name of a column -> the table's, where it is not recognised

    Compared are the ids of raters and every other column that tells raters apart (no value in it stands for two of
    them: names, addresses, accounts), without regard to case, width and white space. Who rates under another name
    is not found. Raises InputError for a table without a column of raters.

    >>> table = pl.DataFrame({"rater_id": ["r1", "r2"], "name": ["Ana ", "Chen"], "country": ["US", "US"]})
    >>> [(one.author, one.column) for one in who_rates(["ana", "bo"], table)]
    [('ana', 'name')]
    """
    wanted = {folded(author): author for author in authors}
    found: dict[tuple[str, str], Overlap] = {}
    for table in _tables(raters, mapping or {}):
        frame = table.frame.with_row_index("_row").filter(pl.col("rater_id").is_not_null())
        for column in _telling(frame):
            for row, value in frame.select("_row", column).drop_nulls().iter_rows():
                author = wanted.get(folded(str(value)))
                if author is not None and (author, column) not in found:
                    file, number = table.place(row)
                    found[author, column] = Overlap(author, file, number, table.header(column), str(value))
    return tuple(found.values())


def refuse_raters(authors: Sequence[str], raters: Any) -> None:
    """Raise InputError, naming file, row and column, where a member of the team is among the raters."""
    for one in who_rates(authors, raters):
        where = {"file": one.file, "row": one.row, "column": one.column}
        raise InputError("build.finding.author_rates", **where, author=one.author, value=one.value)


def _tables(raters: Any, mapping: Mapping[str, str]) -> list[Table]:
    """The tables in which people are looked for, under our name of the column of raters.

    Ratings with a column for each rater say nothing of people where a raters table stands beside them.
    """
    if not (isinstance(raters, str | Path) and Path(raters).is_dir()):
        return [_named(raters, "raters", mapping)]
    options = expand_corpus(CorpusOptions(raters, mapping=mapping))
    if options.raters is None:
        return [_named(options.ratings, "ratings", options.mapping)]
    rated = _taken(options.ratings, "ratings", options.mapping)
    people = _named(options.raters, "raters", options.mapping)
    return [people, rated] if "rater_id" in rated.frame.columns else [people]


def _named(source: Any, kind: str, mapping: Mapping[str, str]) -> Table:
    table = _taken(source, kind, mapping)
    names.require(table, "rater_id")
    return table


def _taken(source: Any, kind: str, mapping: Mapping[str, str]) -> Table:
    """A table with ``rater_id``, where it has such a column; names of other columns do not concern it."""
    table = read_table(source)
    theirs = mapping.get(f"{kind}.rater_id", mapping.get("rater_id"))
    here = {"rater_id": theirs} if theirs in table.frame.columns else {}
    return names.take(table, kind, ("rater_id",), here)[0]


def _telling(frame: pl.DataFrame) -> list[str]:
    """The columns that tell raters apart: the id, and those of which no value belongs to two raters."""
    others = [name for name in frame.columns if name not in ("rater_id", "_row")]
    single = [
        name
        for name in others
        if frame.select("rater_id", name).drop_nulls().unique().group_by(name).len()["len"].max() == 1
    ]
    return ["rater_id", *single]
