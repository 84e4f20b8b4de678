"""The texts that ``annotation.toml`` begins with: voirdire's own words, in English with their translation."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from voirdire.texts import LANGUAGES, catalogue

OWN, FILLED = "study.", "study.screening."
"""Where the texts stand in the catalogue, and those of them in which numbers are filled in."""


def is_usual(source: str, language: str, text: str, other: str) -> bool:
    """Whether a text and its translation are voirdire's own, word for word, whatever numbers stand in them.

    language, other : of the text and of its translation; only those of the catalogue have words of voirdire's own

    >>> is_usual("18 to 23 years", "en", "18 至 23 岁", "zh"), is_usual("18 to 23 years", "en", "18 至 24 岁", "zh")
    (True, False)
    """
    if language == other or not {language, other} <= set(LANGUAGES):
        return False
    if (source, text) in _plain(language, other):
        return True
    for first, second in _filled(language, other):
        found, told = first.fullmatch(source), second.fullmatch(text)
        if found and told and found.groupdict() == told.groupdict():
            return True
    return False


@cache
def _plain(language: str, other: str) -> frozenset[tuple[str, str]]:
    keys = [key for key in catalogue("en") if key.startswith(OWN) and not _fields(key)]
    return frozenset((catalogue(language)[key], catalogue(other)[key]) for key in keys)


@cache
def _filled(language: str, other: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    keys = [key for key in catalogue("en") if key.startswith(FILLED) and _fields(key)]
    return tuple((_pattern(catalogue(language)[key]), _pattern(catalogue(other)[key])) for key in keys)


def _fields(key: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(catalogue("en")[key]) if name}


def _pattern(sentence: str) -> re.Pattern[str]:
    """A sentence with numbers in the places of its fields."""
    parts = []
    for literal, name, _, _ in Formatter().parse(sentence):
        parts.append(re.escape(literal) + (rf"(?P<{name}>[0-9]+)" if name else ""))
    return re.compile("".join(parts))
