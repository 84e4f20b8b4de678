"""What the history of a corpus says of its rating scales in several languages, as it is frozen with the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voirdire.annotation.study_file import FILE as STUDY_FILE
from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import Concepts
from voirdire.construction.history import Event, History, digest_of
from voirdire.construction.translation.equivalence import EVENT, question_of
from voirdire.construction.translation.units import ENDS, QUESTIONS_FILE, Unit, read_units

NUMBERS = ("low", "high", "raters")


def read_outcome(folder: Path | str, build: BuildFile, concepts: Concepts, history: History) -> dict[str, Any]:
    """``[equivalence]`` of a corpus that is being frozen; empty where it is in one language.

    Raises InputError for files of questions that cannot be read.
    """
    if len(build.languages) < 2:
        return {}
    units = read_units(folder, build, concepts, history)
    return outcome(history, question_words(units), scaled(units))


def outcome(history: History, words: Mapping[str, str], asked: Iterable[str] = ()) -> dict[str, Any]:
    """The latest comparison of the languages, beside the questions as they are now.

    words : question -> digest of its words in all languages; asked : questions whose scale has words

    >>> outcome(History(), {"q1": "x"})
    {'checked': False}
    """
    latest: Event | None = None
    for event in history.of_kind(EVENT):
        latest = event
    if latest is None:
        return {"checked": False}
    compared = [_row(one) for one in latest.get("compared", ()) if isinstance(one, Mapping)]
    names = dict.fromkeys(row["question"] for row in compared)
    before = latest.get("words", {})
    meant = {question_of(name, words) for name in names}
    told = {"checked": True, "at": latest["at"], "margin": latest.get("margin"), "confidence": latest.get("confidence")}
    told["compared"] = compared
    told["outdated"] = [name for name in names if name in before and before[name] != words_of(words, name)]
    return told | {"unchecked": [name for name in asked if name not in meant]}


def words_of(words: Mapping[str, str], question: str) -> str | None:
    """The digest of a question's words; of the only question where a table had no column of questions.

    >>> words_of({"q1": "x"}, "rating"), words_of({"q1": "x", "q2": "y"}, "rating")
    ('x', None)
    """
    return words.get(question_of(question, words))


def question_words(units: Iterable[Unit]) -> dict[str, str]:
    """Question of the study -> digest of all its words in all languages."""
    found: dict[str, list[Any]] = {}
    for unit in units:
        if _of_question(unit):
            found.setdefault(_question(unit), []).append([unit.id, unit.source, sorted(unit.said.items())])
    return {name: digest_of(said) for name, said in found.items()}


def scaled(units: Iterable[Unit]) -> tuple[str, ...]:
    """The questions that are answered on a scale with words at its ends."""
    return tuple(dict.fromkeys(_question(unit) for unit in units if _of_question(unit) and unit.kind in ENDS))


def _of_question(unit: Unit) -> bool:
    return unit.file == QUESTIONS_FILE or (unit.file == STUDY_FILE and unit.place[0] == "questions")


def _question(unit: Unit) -> str:
    return unit.id.rpartition("/")[0]


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    names = {name: one.get(name) for name in ("question", "pool", "first", "second", "finding", "items")}
    shift = one.get("shift", {})
    return {**names, "shift": shift.get("value"), **{name: shift.get(name) for name in NUMBERS}}
