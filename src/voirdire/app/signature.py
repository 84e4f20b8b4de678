"""``voirdire signature``: what a number says it is, in words, and where two numbers differ."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.signature import PARTS, Signature
from voirdire.texts import has, text


@dataclass(frozen=True)
class Part:
    """One entry of a signature: its part (name, params, definition, on, source), key, value, and words."""

    part: str
    key: str
    value: str
    words: str


@dataclass(frozen=True)
class Difference:
    """One entry in which two signatures differ; None where a side lacks it."""

    part: str
    key: str
    first: str | None
    second: str | None
    words: str


@dataclass(frozen=True)
class Comparison:
    """Where two signatures differ, and whether their numbers may stand in one column."""

    differences: tuple[Difference, ...]
    same_definition: bool


def explain(printed: str, lang: str = "en") -> list[Part]:
    """Every part of a signature in words. Raises SignatureError for a text that is none.

    >>> [part.words for part in explain("mae()|def(question=q1)|on(pool=us)|from(n=626)|v:1")][1]
    'the question put to raters and judges'
    """
    signature = Signature.parse(printed)
    parts = [Part("name", signature.name, "", words("name", signature.name, lang))]
    for part in PARTS:
        parts += [Part(part, key, value, words(part, key, lang)) for key, value in getattr(signature, part).items()]
    return [*parts, Part("version", "v", signature.version, words("version", "v", lang))]


def diff(first: str, second: str, lang: str = "en") -> Comparison:
    """The entries in which two signatures differ. Raises SignatureError for a text that is none."""
    mine, theirs = Signature.parse(first), Signature.parse(second)
    rows = (Difference(part, key, a, b, words(part, key, lang)) for part, key, a, b in mine.diff(theirs))
    return Comparison(tuple(rows), mine.same_definition(theirs))


def words(part: str, key: str, lang: str) -> str:
    """What an entry of a signature means; the part's general meaning for an entry unknown to the catalogue."""
    if part == "name" and has(f"statistics.{key}.name", lang):
        return text(f"statistics.{key}.help", lang)
    place = f"signature.{part}.{key}"
    return text(place if has(place, lang) else f"signature.part.{part}", lang)
