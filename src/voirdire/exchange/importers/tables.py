"""From what an importer gives to a corpus folder: raters joined, pools given, personal data replaced, written, read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.columns import NAMES, normal
from voirdire.corpus.corpus import Note
from voirdire.corpus.intake import some
from voirdire.corpus.longform import read_long
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.corpus.pools import assign_pools, read_raters
from voirdire.corpus.reading import read_corpus, read_judgments
from voirdire.errors import InputError, UsageError, VoirdireError
from voirdire.exchange.importers.cells import ITEMS, JUDGMENTS, QUESTIONS, RATERS, RATINGS, cell, frame, question, utc
from voirdire.exchange.importers.contract import KEEP_IDS, TABLES, ImportOptions, Tables
from voirdire.exchange.importers.people import ID, join_people, read_people
from voirdire.exchange.importers.personal import FIRST, leave_out, replace_everywhere
from voirdire.exchange.importers.unreadable import UnreadableError
from voirdire.exchange.manifest import manifest_text
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.told import MANIFEST
from voirdire.tables import Table, read_table

__all__ = [
    "ITEMS", "JUDGMENTS", "QUESTIONS", "RATERS", "RATINGS",
    "Finished", "cell", "finish", "frame", "question", "read_back", "utc", "write",
]  # fmt: skip

NEEDED: Mapping[str, tuple[str, ...]] = {
    "ratings": RATINGS,
    "judgments": ("item_id", "judge", "question", "rating"),
    "items": ITEMS,
    "questions": ("question",),
    "raters": RATERS,
}
EXAMPLES = 3
"""How many ids an error shows."""

FILLED = ("item_id", "rater_id", "question", "judge")

MEANS = ("value", "n")
"""Columns by which the reader knows means of a pool; an import has none."""


@dataclass(frozen=True)
class Finished:
    """Tables as they are written, by name, and what was done on the way."""

    tables: Mapping[str, pl.DataFrame]
    settings: Mapping[str, Any]
    notes: tuple[Note, ...]


def finish(found: Tables, options: ImportOptions, name: str) -> Finished:
    """Do what is the same for every format; nothing is read from or written to the export.

    name : of the corpus, where the export tells none

    Raises InputError for a table of raters or questions that cannot be read, and UsageError for rules that do not fit
    or a table of raters that is about nobody who rated.
    """
    tables = {table: getattr(found, table) for table in TABLES if getattr(found, table) is not None}
    _check(tables)
    notes = list(found.notes)
    tables, said = _with_people(tables, options)
    notes += said
    tables, said = leave_out(tables, options)
    notes += said
    if "ratings" in tables:
        _check_pool_column(tables, options)
        tables, options, said = _pool_apart(tables, options)
        notes += said
        tables["ratings"] = _with_pools(tables, options)
    tables, said = _with_every_item(tables)
    notes += said
    if not options.flag(KEEP_IDS):
        tables, said = replace_everywhere(tables, found.personal_ids)
        notes += said
    if options.questions is not None:
        tables["questions"] = _overruled(tables.get("questions"), options.questions)
    settings = {"name": found.name or name, "languages": list(found.languages), "licence": found.licence}
    return Finished(tables, {**settings, "read": dict(found.read)}, tuple(notes))


def write(done: Finished, folder: Path) -> None:
    """Write the tables and corpus.toml into an empty folder."""
    for name, table in done.tables.items():
        (folder / f"{name}.csv").write_bytes(as_csv(table))
    settings = {key: value for key, value in done.settings.items() if value}
    (folder / MANIFEST).write_text(manifest_text(settings), encoding="utf-8", newline="\n")


def read_back(folder: Path, shown: Path) -> tuple[Note, ...]:
    """Read the folder as an audit does, and give what it says of it.

    shown : how an error names the folder, which is not in its place yet. A rater twice on one item and question is left
    for the audit's ``--duplicates`` to decide, and said.
    """
    if not (folder / "ratings.csv").is_file():
        return ()
    twice = _repeated(folder / "ratings.csv")
    options = CorpusOptions(folder, duplicates="first" if twice else "refuse")
    try:
        corpus = read_corpus(options)
        if (folder / "judgments.csv").is_file():
            read_judgments(JudgmentOptions(folder, duplicates="repeat"), corpus)
    except VoirdireError as error:
        raise UnreadableError.of(error, folder, shown) from error
    notes = [Note("importing.note.twice", {"count": twice}, "warning")] if twice else []
    wanted = ("input.note.one_pool", "input.note.no_pool")
    notes += [
        replace(note, fields={**note.fields, "file": "ratings.csv"}) for note in corpus.notes if note.key in wanted
    ]
    return tuple(notes)


def _check(tables: Mapping[str, pl.DataFrame]) -> None:
    """What an importer has to give; anything else is a fault of the importer."""
    for name, table in tables.items():
        lacking = [column for column in NEEDED.get(name, ()) if column not in table.columns]
        empty = [
            column for column in NEEDED.get(name, ()) if column in FILLED and not lacking and table[column].has_nulls()
        ]
        if lacking or empty or any(dtype != pl.String for dtype in table.dtypes):
            raise TypeError(f"{name}: columns lacking {lacking}, with empty cells {empty}, types {table.schema}")  # noqa: TRY003
    if not {"ratings", "judgments"} & set(tables):
        raise InputError("importing.no_answers")
    for name in ("ratings", "judgments"):
        if name in tables and tables[name].is_empty():
            raise InputError("importing.no_answers")


def _with_people(tables: dict[str, pl.DataFrame], options: ImportOptions) -> tuple[dict[str, pl.DataFrame], list[Note]]:
    """The tables with what a table says of the raters. Raises UsageError where it is of nobody who rated."""
    if options.raters is None or "ratings" not in tables:
        return tables, []
    people = read_people(options.raters, options.rater_key)
    who, theirs = tables["ratings"][ID].drop_nulls().unique(maintain_order=True), people.frame[ID]
    if not who.is_in(theirs.implode()).any():
        ids = {"ours": some(who, EXAMPLES), "theirs": some(theirs, EXAMPLES)}
        raise UsageError("importing.nobody_joined", file=str(options.raters), count=len(who), **ids)
    raters, notes = join_people(tables.get("raters"), people, tables["ratings"][ID])
    if people.dropped:
        notes.append(Note("importing.note.personal", {"table": people.file, "columns": ", ".join(people.dropped)}))
    return {**tables, "raters": raters}, notes


def _pool_apart(
    tables: dict[str, pl.DataFrame], options: ImportOptions
) -> tuple[dict[str, pl.DataFrame], ImportOptions, list[Note]]:
    """An attribute that the reader would take for the pool (``group``) is renamed where the pool is told otherwise."""
    raters = tables.get("raters")
    told = options.pool is not None or options.pools or options.pool_column is not None
    if raters is None or not (told or "pool" in tables["ratings"].columns):
        return tables, options, []
    alike = {name: f"rater_{name}" for name in raters.columns if normal(name) in NAMES["pool"][0].split()}
    alike = {name: other for name, other in alike.items() if other not in raters.columns}
    if not alike:
        return tables, options, []
    column = options.pool_column
    notes = [Note("importing.note.renamed", {"column": name, "name": other}) for name, other in alike.items()]
    moved = replace(options, pool_column=None if column is None else alike.get(column, column))
    return {**tables, "raters": raters.rename(alike)}, moved, notes


def _with_pools(tables: Mapping[str, pl.DataFrame], options: ImportOptions) -> pl.DataFrame:
    """The ratings with their pool, by the same rules as in an audit; a rating of nobody's pool has none."""
    ratings = tables["ratings"]
    if options.pool is not None:
        ratings = ratings.with_columns(pl.lit(options.pool).alias("pool"))
    elif options.pools or options.pool_column is not None:
        raters = tables.get("raters")
        asked = CorpusOptions(
            Table(ratings, "ratings", ""),
            raters=None if raters is None else Table(raters, "raters", ""),
            pools=options.pools,
            pool_column=options.pool_column,
        )
        read = read_raters(asked)
        long = read_long(asked, read)
        given, _, _ = assign_pools(long.frame, read, long.table, asked)
        ratings = ratings.with_columns(given.sort("_row")["pool"].alias("pool"))
    ratings = ratings.rename({name: f"{name}_given" for name in MEANS if name in ratings.columns})
    first = [name for name in FIRST if name in ratings.columns]
    return ratings.select(*first, pl.exclude(first))


def _check_pool_column(tables: Mapping[str, pl.DataFrame], options: ImportOptions) -> None:
    """Raises UsageError where nobody who rated has a value in the column of pools."""
    column = options.pool_column
    found = [tables[name] for name in ("raters", "ratings") if name in tables and column in tables[name].columns]
    if column is None or not found:
        return
    who = tables["ratings"][ID].drop_nulls().unique(maintain_order=True)
    if not any(table.filter(pl.col(ID).is_in(who.implode()))[column].is_not_null().any() for table in found):
        raise UsageError("importing.pool_empty", column=column, count=len(who), raters=some(who, EXAMPLES))


def _with_every_item(tables: dict[str, pl.DataFrame]) -> tuple[dict[str, pl.DataFrame], list[Note]]:
    """Items that were rated or judged and that the export does not describe are added by their ids alone."""
    if "items" not in tables:
        return tables, []
    named = pl.concat([tables[name]["item_id"] for name in ("ratings", "judgments") if name in tables])
    ids = named.unique(maintain_order=True)
    added = ids.filter(~ids.is_in(tables["items"]["item_id"].implode()))
    if added.is_empty():
        return tables, []
    items = pl.concat([tables["items"], pl.DataFrame({"item_id": added})], how="diagonal")
    return {**tables, "items": items}, [Note("importing.note.items_added", {"count": len(added)})]


def _overruled(questions: pl.DataFrame | None, file: Path) -> pl.DataFrame:
    """The questions table of the user; questions that it lacks as the export has them."""
    told = read_table(file)
    if "question" not in told.frame.columns:
        raise InputError("input.column_missing", file=told.file, row=1, column="question", value=told.shown_columns)
    if questions is None:
        return told.frame
    others = questions.filter(~pl.col("question").is_in(told.frame["question"].drop_nulls().implode()))
    return pl.concat([told.frame, others], how="diagonal")


def _repeated(file: Path) -> int:
    """How many ratings are further ones of the same rater on the same item and question."""
    ratings = read_table(file).frame
    return ratings.height - ratings.n_unique([name for name in FIRST if name in ratings.columns and name != "rating"])


def rows_of(tables: Mapping[str, pl.DataFrame], order: Sequence[str] = TABLES) -> dict[str, int]:
    """Table -> its rows, in the order of the tables."""
    return {name: tables[name].height for name in order if name in tables}


def union(frames: Iterable[pl.DataFrame | None]) -> pl.DataFrame | None:
    """Tables of several files as one: columns by name, equal rows once. None where there is none.

    >>> union([pl.DataFrame({"item_id": ["a"]}), None, pl.DataFrame({"item_id": ["a", "b"]})]).height
    2
    """
    found = [one for one in frames if one is not None]
    return pl.concat(found, how="diagonal").unique(maintain_order=True) if found else None
