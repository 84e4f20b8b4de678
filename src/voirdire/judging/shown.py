"""Items as a judge may see them: from the rows of the items table, checked for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.corpus.itemtable import ItemTable
from voirdire.errors import InputError
from voirdire.judging.asked import levels_of
from voirdire.judging.image_paths import ImageFolder, NotHere
from voirdire.judging.nouns import AskedQuestion, Item
from voirdire.scales import Scale
from voirdire.tables import Table

UNKNOWN_LANGUAGE = "und"
SPLITS = ("test", "demonstration", "pilot", "rejected")
WORDED = ("prompt", "text", "alt")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands in its file, for errors."""

    table: Table
    flagged: pl.DataFrame

    def error(self, key: str, item: str, column: str, **fields: Any) -> InputError:
        """The error about one cell of an item."""
        rows = self.flagged.filter((pl.col("item_id") == item) & pl.col("_reason").is_null())
        row = rows["_row"][0]
        known = {"file": self.table.file, "row": self.table.row(row), "column": self.table.header(column)}
        return InputError(f"material.{key}", **{**known, "item": item, **fields})


@dataclass(frozen=True, slots=True)
class Found:
    """The items that are tested and those from which demonstrations are drawn, in the order of the table."""

    test: tuple[Item, ...]
    held_out: tuple[Item, ...]


def items_of(table: ItemTable, folder: Path | None, scales: Mapping[str, Scale]) -> Found:
    """Every item as a judge may see it.

    folder : where images are looked for; None = not at all
    scales : item -> its own scale
    Raises InputError for an unknown split, and for an image that is missing or outside the folder.
    """
    place = place_of(table)
    images = None if folder is None else ImageFolder(folder)
    parts: dict[str, list[Item]] = {"test": [], "demonstration": []}
    languages = {kind: _columns(table.frame.columns, kind) for kind in WORDED}
    for row in table.frame.iter_rows(named=True):
        split = row.get("split") or "test"
        if split not in parts:
            raise place.error("split_unknown", row["item_id"], "split", value=split, known=", ".join(SPLITS))
        parts[split].append(_item(row, languages, images, place, scales))
    if not parts["test"]:
        raise InputError("material.no_test_items", file=place.table.file, count=len(parts["demonstration"]))
    return Found(tuple(parts["test"]), tuple(parts["demonstration"]))


def place_of(table: ItemTable) -> Place:
    """Where the items of a table that was read from a file stand."""
    if table.table is None or table.flagged is None:
        raise ValueError("these items come from no table")  # noqa: TRY003
    return Place(table.table, table.flagged)


def check_scales(table: ItemTable, found: Found) -> None:
    """Refuse an item whose own scale is none of whole numbers."""
    for item in (*found.test, *found.held_out):
        if item.scale is None:
            continue
        try:
            levels_of(item.scale)
        except InputError as error:
            raise place_of(table).error("item_levels", item.id, "min", value=str(item.scale)) from error


def check_shown(table: ItemTable, found: Found, question: AskedQuestion) -> tuple[Note, ...]:
    """Refuse items that a judge could not rate; say which languages are not complete.

    Raises InputError for a test item that is asked nothing, that shows nothing, and where no language is complete.
    """
    place = place_of(table)
    pictured = any(item.image for item in (*found.test, *found.held_out))
    for item in (*found.test, *found.held_out):
        if not (item.image or item.texts or item.alts or (item.prompts and not pictured)):
            column = "image" if pictured else "text"
            raise place.error("nothing_shown", item.id, column, value="")
    for item in found.test:
        if not (_own_prompts(item, question) or question.text):
            raise place.error("no_question", item.id, "prompt", value="", question=question.id)
    if not languages_of(found.test, question):
        gaps = {language: _gaps(found.test, question, language) for language in _languages(found.test, question)}
        best = min(gaps, key=lambda language: len(gaps[language]))
        lacking, kind = next(iter(gaps[best].items()))
        raise place.error("no_common_language", lacking, _header(kind, best), value="", language=best)
    return _incomplete(found.test, question, place)


def languages_of(items: Sequence[Item], question: AskedQuestion) -> tuple[str, ...]:
    """The languages in which every item can be asked and read, named ones alone where there are any.

    A wording or text of unknown language stands in for any.

    >>> some = Item("a", prompts={"en": "Is it?", "zh": "是吗？"}), Item("b", prompts={"en": "Is it?"})
    >>> languages_of(some, AskedQuestion("q", Scale("ordinal", 1, 5)))
    ('en',)
    """
    complete = [name for name in _languages(items, question) if not _gaps(items, question, name)]
    named = tuple(name for name in complete if name != UNKNOWN_LANGUAGE)
    return named or tuple(complete)


def _incomplete(items: Sequence[Item], question: AskedQuestion, place: Place) -> tuple[Note, ...]:
    """A warning for each named language in which some items cannot be asked or read."""
    notes = []
    for language in _languages(items, question):
        gaps = _gaps(items, question, language)
        if gaps and language != UNKNOWN_LANGUAGE:
            item, kind = next(iter(gaps.items()))
            where = {"file": place.table.name, "language": language, "count": len(gaps), "item": item}
            told = {**where, "column": _header(kind, language)}
            notes.append(Note("material.note.language_incomplete", told, "warning"))
    return tuple(notes)


def _own_prompts(item: Item, question: AskedQuestion) -> Mapping[str, str]:
    """An item's wordings of a question: they word the evaluation question alone."""
    return item.prompts if question.role in (None, "evaluation") else {}


def _languages(items: Sequence[Item], question: AskedQuestion) -> tuple[str, ...]:
    worded = (language for item in items for language in _own_prompts(item, question))
    return tuple(dict.fromkeys([*question.text, *worded]))


def _gaps(items: Sequence[Item], question: AskedQuestion, language: str) -> dict[str, str]:
    """item -> what it lacks in a language: its prompt or its text."""
    wanted = {language, UNKNOWN_LANGUAGE}
    gaps = {}
    for item in items:
        if not wanted & {*_own_prompts(item, question), *question.text}:
            gaps[item.id] = "prompt"
        elif item.texts and not wanted & set(item.texts):
            gaps[item.id] = "text"
    return gaps


def _header(kind: str, language: str) -> str:
    return kind if language == UNKNOWN_LANGUAGE else f"{kind}.{language}"


def _columns(columns: Sequence[str], kind: str) -> dict[str, str]:
    """language -> column, of ``prompt.en``, ``prompt.zh`` and the plain ``prompt``."""
    found = {name[len(kind) + 1 :]: name for name in columns if name.startswith(f"{kind}.") and name != f"{kind}."}
    return {**found, UNKNOWN_LANGUAGE: kind} if kind in columns else found


def _item(
    row: Mapping[str, Any],
    languages: Mapping[str, Mapping[str, str]],
    images: ImageFolder | None,
    place: Place,
    scales: Mapping[str, Scale],
) -> Item:
    worded = {
        kind: {language: row[column] for language, column in columns.items() if row[column]}
        for kind, columns in languages.items()
    }
    name = row["item_id"]
    image = None
    if images is not None and row.get("image"):
        try:
            image = images.find(row["image"])
        except NotHere as reason:
            raise place.error(reason.why, name, "image", value=row["image"], folder=str(images.folder)) from reason
    return Item(
        name,
        worded["prompt"],
        worded["text"],
        worded["alt"],
        image,
        pair=row.get("pair_id"),
        culture=row.get("culture"),
        category=row.get("category"),
        scale=scales.get(name),
    )
