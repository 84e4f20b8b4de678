"""``concepts.csv``: one row for each concept in each culture.

::

    concept, category, culture, realisation, prompt.<lang>, [alt.<lang>], [split], [author], [reviewer]

A row becomes the item ``<concept>-<culture>``; the rows of a concept are the members of its pair.
"""

from __future__ import annotations

import io
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.construction.build_file import SAFE
from voirdire.construction.history import sync_folder
from voirdire.corpus.shown import language_columns
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table, read_table

CONCEPTS_FILE = "concepts.csv"
NEEDED = ("concept", "category", "culture", "realisation")
OPTIONAL = ("split", "author", "reviewer")

Told = Callable[[], object]


@dataclass(frozen=True, slots=True)
class ConceptItem:
    """A concept in a culture: what will be one item.

    id : ``<concept>-<culture>``, safe as a file name
    realisation : what is shown in this culture, in words; prompts : the question, by language; alts : descriptions
        of the image, by language; split : empty where none is given
    author, reviewer : where the table names them; row : the number that an editor shows
    Texts that the table leaves empty are empty here, and languages that it leaves empty are absent.
    """

    id: str
    concept: str
    category: str
    culture: str
    realisation: str
    prompts: Mapping[str, str] = field(default_factory=dict)
    alts: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    author: str = ""
    reviewer: str = ""
    row: int = 0


@dataclass(frozen=True, slots=True)
class Concepts:
    """The rows of ``concepts.csv`` in their order, and the table they were read from."""

    items: tuple[ConceptItem, ...]
    table: Table = field(repr=False, compare=False)

    def by_concept(self) -> dict[str, tuple[ConceptItem, ...]]:
        """concept -> its items, both in the order of the table."""
        found: dict[str, list[ConceptItem]] = {}
        for item in self.items:
            found.setdefault(item.concept, []).append(item)
        return {concept: tuple(items) for concept, items in found.items()}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the table has a column of questions for."""
        return tuple(language_columns(self.table.frame.columns, "prompt"))


def read_concepts(folder: Path | str) -> Concepts:
    """Read ``concepts.csv`` of a folder that is being built (the path of a table itself is taken too).

    Raises InputError, naming file, row, column and value, for a missing column, an empty concept or culture, a name
    that cannot be part of a file name, and an item that is there twice. What else a finished corpus needs is found by
    ``voirdire.construction.checks``: a half-filled table can be read.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = ["concept,category,culture,realisation,prompt.en", "tea,food,us,iced tea,Is it usual?"]
    >>> _ = (folder / "concepts.csv").write_text(chr(10).join(rows))
    >>> item, = read_concepts(folder).items
    >>> item.id, item.prompts
    ('tea-us', {'en': 'Is it usual?'})
    """
    path = Path(folder)
    table = read_table(path / CONCEPTS_FILE if path.is_dir() else path)
    for column in NEEDED:
        if column not in table.frame.columns:
            raise InputError("build.concepts.column_missing", **_place(table, None, column), known=table.shown_columns)
    prompts, alts = (language_columns(table.frame.columns, kind) for kind in ("prompt", "alt"))
    if not prompts:
        column = "prompt.<lang>"
        raise InputError("build.concepts.column_missing", **_place(table, None, column), known=table.shown_columns)
    items = []
    for index, row in enumerate(table.frame.iter_rows(named=True)):
        items.append(_item(row, table, index, prompts, alts))
    _refuse_twice(items, table)
    return Concepts(tuple(items), table)


def item_id(concept: str, culture: str) -> str:
    """The id of a concept in a culture.

    >>> item_id("tea", "us")
    'tea-us'
    """
    return f"{concept}-{culture}"


def rewrite(
    folder: Path | str, concepts: Concepts, changes: Mapping[int, Mapping[str, str]], told: Told | None = None
) -> None:
    """Write cells of ``concepts.csv`` anew: rows (as an editor counts them) -> column -> text.

    told : tells the history, once it is certain that the table can be written
    A column that is not there yet is added; everything else keeps its place. The file is replaced in one step.
    """
    frame, table = concepts.table.frame, concepts.table
    places = {item.row: index for index, item in enumerate(concepts.items)}
    columns = dict.fromkeys(column for cells in changes.values() for column in cells)
    for column in columns:
        old = frame[column].to_list() if column in frame.columns else [None] * frame.height
        for row, cells in changes.items():
            if column in cells:
                old[places[row]] = cells[column] or None
        frame = frame.with_columns(pl.Series(column, old, dtype=pl.String))
    _put(folder, frame, table, told)


def add_rows(
    folder: Path | str,
    concepts: Concepts,
    concept: str,
    category: str,
    cultures: Sequence[str],
    told: Told | None = None,
) -> None:
    """Add a concept with an empty row for each culture behind the others; ``told`` as in ``rewrite``."""
    refuse_new(concepts, concept)
    frame = concepts.table.frame
    cells = [{"concept": concept, "category": category, "culture": culture} for culture in cultures]
    new = pl.DataFrame(cells, schema=dict.fromkeys(frame.columns, pl.String))
    _put(folder, pl.concat([frame, new]), concepts.table, told)


def refuse_new(concepts: Concepts, concept: str) -> None:
    """Raise UsageError for a name that cannot be part of a file name, and for a concept that is there."""
    if not SAFE.fullmatch(concept):
        raise UsageError("build.concepts.new_unsafe", value=concept)
    if concept.casefold() in [item.concept.casefold() for item in concepts.items]:
        raise UsageError("build.concepts.new_known", value=concept)


def _put(folder: Path | str, frame: pl.DataFrame, table: Table, told: Told | None) -> None:
    path = Path(folder) / CONCEPTS_FILE
    try:
        replace_table(path, frame, table.delimiter or ",", told)
    except OSError as error:
        raise UsageError("build.history.unwritable", file=str(path), why=error.strerror or str(error)) from error


def replace_table(path: Path, frame: pl.DataFrame, delimiter: str = ",", told: Told | None = None) -> None:
    """Replace a csv file in one step; a byte order mark and line ends that it had stay, for spreadsheet programs.

    told : done when the new table is on the disk and not yet in its place; where that or the writing fails, the old
        table stays as it was
    """
    out = io.BytesIO()
    before = path.read_bytes() if path.is_file() else b""
    marked, head = before[:3] == b"\xef\xbb\xbf", before.partition(b"\n")[0]
    frame.write_csv(out, separator=delimiter, line_terminator="\r\n" if head.endswith(b"\r") else "\n")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write((b"\xef\xbb\xbf" if marked else b"") + out.getvalue())
            file.flush()
            os.fsync(file.fileno())
        if told is not None:
            told()
        beside.replace(path)
        sync_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def _item(
    row: Mapping[str, Any], table: Table, index: int, prompts: Mapping[str, str], alts: Mapping[str, str]
) -> ConceptItem:
    concept, culture = (_safe(row[column], table, index, column) for column in ("concept", "culture"))
    return ConceptItem(
        id=item_id(concept, culture),
        concept=concept,
        category=row["category"] or "",
        culture=culture,
        realisation=row["realisation"] or "",
        prompts={language: row[column] for language, column in prompts.items() if row[column]},
        alts={language: row[column] for language, column in alts.items() if row[column]},
        **{column: row.get(column) or "" for column in OPTIONAL},
        row=table.row(index),
    )


def _safe(value: str | None, table: Table, index: int, column: str) -> str:
    if value is None:
        raise InputError("build.concepts.cell_empty", **_place(table, index, column))
    if not SAFE.fullmatch(value):
        raise InputError("build.concepts.name_unsafe", **_place(table, index, column), value=value)
    return value


def _refuse_twice(items: Sequence[ConceptItem], table: Table) -> None:
    """Ids that differ by capital letters alone would be the same file on some machines."""
    seen: dict[str, ConceptItem] = {}
    for index, item in enumerate(items):
        first = seen.setdefault(item.id.casefold(), item)
        if first is not item:
            where = _place(table, index, "concept")
            raise InputError("build.concepts.item_twice", **where, value=item.id, first=first.row)


def _place(table: Table, index: int | None, column: str) -> dict[str, Any]:
    return {"file": table.file, "row": 1 if index is None else table.row(index), "column": column}


def is_text(value: str) -> bool:
    r"""Whether there are no control characters but line breaks and tabs, and no halves of characters.

    >>> is_text("两\n行"), is_text("\x1b[31m")
    (True, False)
    """
    return not any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" for letter in value)


def concepts_of(items: Iterable[ConceptItem]) -> tuple[str, ...]:
    """The concepts of some items, each once, in order."""
    return tuple(dict.fromkeys(item.concept for item in items))
