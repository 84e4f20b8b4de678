"""Whether a corpus has what the conditions of a grid ask for, and what a reader should know before a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import Item
from voirdire.errors import InputError
from voirdire.judging.grid_expanding import sha256_of_file
from voirdire.judging.injection import DELIMITER, INSTRUCTION
from voirdire.judging.nouns import AskedQuestion, Condition, Demonstration
from voirdire.judging.prompts import (
    UND,
    build_prompt,
    flags_of,
    in_language,
    levels_of,
    missing_text,
    question_text,
    shows_something,
)
from voirdire.scales import Scale

_ANY = {UND: "-"}
_SAMPLE = Item("-", _ANY, {}, _ANY, Path("-"))
_QUESTION = AskedQuestion("-", Scale("ordinal", 1, 5))
_NAMED = 5


def by_language(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    """The conditions of each language, in order of appearance."""
    found: dict[str, list[Condition]] = defaultdict(list)
    for condition in conditions:
        found[condition.language].append(condition)
    return dict(found)


def check_prompts(language: str, items: Sequence[Item], questions: Sequence[AskedQuestion]) -> None:
    """Every item has a wording of every question in a language, and no two questions have the same.

    Raises InputError that names items.
    """
    for question in questions:
        without = [item.id for item in items if question_text(item, question, language) is None]
        if without:
            told = any(item.prompts.get(language) for item in items)
            raise missing_text("prompt", language, without, column=told)
    for one, other in combinations(questions, 2):
        alike = [
            item.id for item in items if question_text(item, one, language) == question_text(item, other, language)
        ]
        if alike:
            raise InputError("grid.questions_alike", value=one.id, other=other.id, items=_some(alike), count=len(alike))


def check_shown(language: str, images: set[str], items: Sequence[Item]) -> None:
    """Texts, and descriptions where images are shown as these, are there in a language. Raises InputError."""
    texts = [item.id for item in items if _has_text(item) and in_language(item.texts, language) is None]
    if texts:
        raise missing_text("text", language, texts, column=any(item.texts.get(language) for item in items))
    pictured = [item for item in items if item.image is not None or item.alts]
    alts = [item.id for item in pictured if "alt" in images and in_language(item.alts, language) is None]
    if alts:
        raise missing_text("alt", language, alts, column=any(item.alts.get(language) for item in items))


def samples(items: Sequence[Item]) -> tuple[Item, ...]:
    """One item of each kind: with and without image, text, description, prompts in one or another language."""
    kinds: dict[object, Item] = {}
    for item in items:
        kind = (item.image is None, *(tuple(sorted(texts)) for texts in (item.prompts, item.texts, item.alts)))
        kinds.setdefault(kind, item)
    return tuple(kinds.values())


def check_different(
    conditions: Sequence[Condition], source: str, items: Sequence[Item] = (), question: AskedQuestion = _QUESTION
) -> None:
    """No two conditions ask the same of every item.

    Without items it is tried on one with an image and its description, language by language. Raises InputError that
    names both conditions.
    """
    seen: dict[object, Condition] = {}
    for condition in conditions:
        prompts = tuple(_prompt_digest(condition, item, question) for item in items or (_SAMPLE,))
        key = (prompts, condition.design, None if items else condition.language)
        other = seen.setdefault(key, condition)
        if other is not condition:
            raise InputError("grid.same_prompt", file=source, value=condition.full_name, other=other.full_name)


def notes_on(
    conditions: Sequence[Condition],
    items: Sequence[Item],
    questions: Sequence[AskedQuestion],
    held_out: Sequence[Item] = (),
) -> Iterator[Note]:
    """What is worth knowing: see ``voirdire.judging.grid.check``."""
    yield from _undetermined(by_language(conditions), items, questions)
    shown = list({(one.language, one.image): one for one in conditions}.values())
    flagged = _flagged(shown, items, questions)
    for condition in {one.language: one for one in conditions if one.demonstrations}.values():
        for flag, found in _flagged([condition], held_out, ()).items():
            flagged[flag].update(found)
    blank = dict.fromkeys(
        item.id for one in shown if one.image != "none" for item in items if not shows_something(item, one)
    )
    for key, found in (
        ("instruction", flagged[INSTRUCTION]),
        ("delimiter", flagged[DELIMITER]),
        ("nothing_shown", blank),
    ):
        if found:
            yield Note(f"grid.note.{key}", {"count": len(found), "items": _some(list(found))}, "warning")
    untold = [
        one for one in shown if not one.material and any(shows_something(item, one, tagged=True) for item in items)
    ]
    if untold:
        languages = ", ".join(dict.fromkeys(one.language for one in untold))
        yield Note("grid.note.untold", {"languages": languages}, "warning")


def _flagged(
    conditions: Sequence[Condition], items: Sequence[Item], questions: Sequence[AskedQuestion]
) -> dict[str, dict[str, None]]:
    """flag -> ids of the items whose texts, as these conditions show them, have it."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        for condition in conditions:
            for flag in flags_of(item, questions, condition):
                found[flag][item.id] = None
    return found


def _undetermined(
    languages: Iterable[str], items: Sequence[Item], questions: Sequence[AskedQuestion]
) -> Iterator[Note]:
    """The note on prompts of unknown language, where they are asked."""
    asked = list(languages)
    bare = [item.id for item in items if any(_only_und(item, question, asked) for question in questions)]
    if bare:
        yield Note("grid.note.und", {"count": len(bare), "items": _some(bare), "languages": ", ".join(asked)})


def _only_und(item: Item, question: AskedQuestion, languages: Sequence[str]) -> bool:
    bare = question_text(item, question, UND)
    return bare is not None and any(question_text(item, question, language) is bare for language in languages)


def _prompt_digest(condition: Condition, item: Item, question: AskedQuestion) -> str:
    shown = () if condition.demonstrations is None else (Demonstration(item, levels_of(question, item)[0]),)
    levels = levels_of(question, item)

    def sha256_of(path: Path) -> str:
        return sha256_of_file(path) if path in condition.cues else str(path)

    return build_prompt(item, question, condition, levels=levels, demonstrations=shown, sha256_of=sha256_of).digest


def _has_text(item: Item) -> bool:
    return any(text.strip() for text in item.texts.values())


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_NAMED]) + ("…" if len(items) > _NAMED else "")
