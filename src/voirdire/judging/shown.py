"""Items as a judge may see them, checked for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire.corpus.corpus import Note
from voirdire.corpus.itemtable import ItemTable
from voirdire.corpus.shown import SPLITS, UNKNOWN_LANGUAGE, Item, Place, items_of, place_of
from voirdire.errors import InputError
from voirdire.judging.asked import levels_of
from voirdire.judging.nouns import AskedQuestion
from voirdire.scales import Scale


@dataclass(frozen=True, slots=True)
class Found:
    """The items that are tested and those from which demonstrations are drawn, in the order of the table."""

    test: tuple[Item, ...]
    held_out: tuple[Item, ...]


def found_in(table: ItemTable, folder: Path | None, scales: Mapping[str, Scale]) -> Found:
    """Every item as a judge may see it.

    Raises InputError as ``items_of`` does, and where no item is tested.
    """
    items = items_of(table, folder, scales)
    test, held_out = (tuple(item for item in items if item.split == split) for split in SPLITS[:2])
    if not test:
        raise InputError("material.no_test_items", file=place_of(table).table.file, count=len(held_out))
    return Found(test, held_out)


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
