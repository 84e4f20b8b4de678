"""The check on the questions that are frozen: no text in another language that a person has not verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.history import History
from voirdire.construction.translation.units import IN_TABLE
from voirdire.construction.translation.verifying import TRANSLATION, VERIFY
from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import UNKNOWN_LANGUAGE, language_columns

BETWEEN = "|"


def in_languages(questions: pl.DataFrame, languages: Sequence[str]) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """The questions without texts in languages that the corpus does not have, and what is said of it.

    >>> table = pl.DataFrame({"question": ["q1"], "text.en": ["Good?"], "text.fr": ["Bon ?"]})
    >>> in_languages(table, ["en", "zh"])[0].columns
    ['question', 'text.en']
    """
    foreign = {
        column: language
        for kind in IN_TABLE
        for language, column in language_columns(questions.columns, kind).items()
        if language not in (*languages, UNKNOWN_LANGUAGE)
    }
    if not foreign:
        return questions, ()
    told = {"languages": ", ".join(sorted(set(foreign.values()))), "known": ", ".join(languages)}
    return questions.drop(list(foreign)), (Note("freezing.note.languages", told, "warning"),)


def wording_failures(questions: pl.DataFrame, languages: Sequence[str], history: History) -> list[Failure]:
    """A failure where a text of the questions, as they are frozen, is no translation that stands verified.

    languages : of the corpus, the first of them the one that the others are translations of
    """
    known = verified_pairs(history)
    known |= {(_in_table(source), _in_table(words)) for source, words in known}
    found = [
        f"{row['question']}/{kind}/{language}"
        for row in questions.iter_rows(named=True)
        for kind, language, source, words in _translated(row, languages)
        if not _stands(kind, source, words, known)
    ]
    fields = {"count": len(found), "texts": some(found)}
    return [Failure("texts", "freezing.reason.wording", fields)] if found else []


def verified_pairs(history: History) -> set[tuple[str, str]]:
    """(source, text) of every translation that a person verified, where nothing was said of its text since.

    >>> verified_pairs(History(({"kind": "translation", "action": "verify", "source": "Good?", "text": "好吗？"},)))
    {('Good?', '好吗？')}
    """
    latest = {str(event.get("text_id", "")): event for event in history.of_kind(TRANSLATION)}
    events = [event for event in latest.values() if event.get("action") == VERIFY]
    return {(str(event.get("source", "")).strip(), str(event.get("text", "")).strip()) for event in events}


def _translated(row: dict[str, Any], languages: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Kind, language, source and translation of every text of a question in a language beside the first."""
    for kind in IN_TABLE:
        # the plain column ``labels`` has the answers that stand in the ratings, and no words
        columns = {name: at for name, at in language_columns(list(row), kind).items() if at != "labels"}
        plain = row.get(columns.get(UNKNOWN_LANGUAGE, ""))
        source = str(row.get(columns.get(languages[0], "")) or plain or "")
        for language in languages[1:]:
            words = row.get(columns.get(language, ""))
            if words is not None and str(words).strip():
                yield kind, language, source.strip(), str(words).strip()


def _stands(kind: str, source: str, words: str, known: set[tuple[str, str]]) -> bool:
    """Whether a pair was verified; the words of a scale also one by one, and none is needed where there are none."""
    if (source, words) in known:
        return True
    if source == words and not any(letter.isalpha() for letter in words):
        return True
    parts = (source.split(BETWEEN), words.split(BETWEEN))
    single = kind == "labels" and len(parts[0]) == len(parts[1]) > 1
    return single and all(_stands("", one, other, known) for one, other in zip(*parts, strict=True))


def _in_table(words: str) -> str:
    """A word of a scale as it stands in a table, where it may not hold what stands between the words."""
    return words.replace(BETWEEN, "/").replace(";", ",")
