"""Votes between two things: one item for two things whichever stood first, and the vote as a, b or tie."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voirdire.exchange.importers.records import Record

FIRST = ("model_a", "model_1", "a", "1", "left", "first", "option_a", "response_a", "answer_a", "output_1", "[[a]]")
SECOND = ("model_b", "model_2", "b", "2", "right", "second", "option_b", "response_b", "answer_b", "output_2", "[[b]]")
TIES = ("tie", "tie (bothbad)", "tie (inconsistent)", "bothbad", "both bad", "both", "draw", "equal", "neither", "平")
LABELS = ("a", "b", "tie")


NAMES, PLACES, FROM_0 = "names", "sides", "from0"
"""What a vote may be: the name of a thing; a place, such as left, b or 2; a place counted from 0."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")


def vote_of(word: str, first: str, second: str, means: str | None = None) -> str | None:
    """A vote in words as a (the thing named first), b or tie; None where it is none of them.

    means : NAMES, PLACES or FROM_0, where it is known what a vote is

    >>> [vote_of(word, "tea", "cola") for word in ("Left", "cola", "tie (bothbad)", "maybe")]
    ['a', 'b', 'tie', None]
    >>> vote_of("1", "2", "1"), vote_of("1", "2", "1", PLACES), vote_of("1", "tea", "cola", FROM_0)
    ('b', 'a', 'b')
    """
    named = _named(word, first, second)
    return named if means in (None, NAMES) and named is not None else _placed(word, means)


def two_meanings(word: str, first: str, second: str) -> bool:
    """Whether a vote is the name of one thing and says something else as a place.

    >>> two_meanings("2", "2", "5"), two_meanings("2", "7", "2"), two_meanings("a", "tea", "cola")
    (True, False, False)
    """
    named, placed = _named(word, first, second), _placed(word, None)
    return named is not None and placed is not None and named != placed


def is_number(word: str) -> bool:
    """Whether a vote is a number, which is a code of a scale where it is no thing's name."""
    return _NUMBER.fullmatch(word.strip()) is not None


def _named(word: str, first: str, second: str) -> str | None:
    return {first: "a", second: "b"}.get(word)


def _placed(word: str, means: str | None) -> str | None:
    plain = word.strip().casefold()
    if is_number(plain) and plain.endswith((".", ".0")):
        plain = plain.partition(".")[0]
    if means == FROM_0 and is_number(plain):
        return {"0": "a", "1": "b"}.get(plain)
    if plain in TIES:
        return "tie"
    return None if means == NAMES else "a" if plain in FIRST else "b" if plain in SECOND else None


@dataclass(frozen=True)
class Side:
    """Two things of a record and the item they stand in.

    turned : whether they stand the other way round in the item: things of an item are in the order of their names, so
        that votes of people and of a judge that are imported one after the other meet
    """

    item: str
    a: str
    b: str
    turned: bool

    @classmethod
    def of(cls, asked: str, first: str, second: str) -> Side:
        """The item that asks about two things.

        >>> Side.of("81", "vicuna", "alpaca")
        Side(item='81: alpaca | vicuna', a='alpaca', b='vicuna', turned=True)
        >>> Side.of("", "a | b", "c").item, Side.of("", "a", "b | c").item
        ('a || b | c', 'a | b || c')
        """
        a, b = sorted((first, second))
        pair = " | ".join(name.replace("|", "||") for name in (a, b))
        return cls(f"{asked}: {pair}" if asked else pair, a, b, a != first)

    def vote(self, given: str) -> str:
        """A vote between the record's first (a) and second (b) thing, as one between those of the item."""
        return {"a": "b", "b": "a"}.get(given, given) if self.turned else given

    @property
    def first(self) -> str:
        """The record's first thing, as ``shown_first`` names it."""
        return "b" if self.turned else "a"


@dataclass
class Items:
    """The items of votes, in the order in which they first occur."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, side: Side, known: Mapping[str, Any], record: Record) -> None:
        """An item; each thing that is known of it is taken from the first record that says it.

        Raises InputError for an item of other things.
        """
        here = self.rows.get(side.item)
        if here is not None and (here["a"], here["b"]) != (side.a, side.b):
            raise record.error("votes.item_twice", "", side.item, things=f"{here['a']}; {here['b']}")
        if here is None:
            here = self.rows[side.item] = {"item_id": side.item, "a": side.a, "b": side.b}
        for name, value in known.items():
            here.setdefault(name, value)


def conversations(record: Record, side: Side) -> dict[str, Any]:
    """The prompt and the two last answers of ``conversation_a`` and ``conversation_b``, where they are there."""
    first, second = record.value.get("conversation_a"), record.value.get("conversation_b")
    if not isinstance(first, list) or not isinstance(second, list):
        return {}
    asked = [turn["content"] for turn in first if isinstance(turn, dict) and turn.get("role") == "user"]
    answers = _answer(first), _answer(second)
    if side.turned:
        answers = answers[1], answers[0]
    return {"text": "\n\n".join(map(str, asked)), "response_a": answers[0], "response_b": answers[1]}


def until_turn(record: Record, turn: int) -> Record:
    """The record with its conversations as far as a turn, counted from 1."""
    cut = {
        name: value[: 2 * turn]
        for name in ("conversation_a", "conversation_b")
        if isinstance(value := record.value.get(name), list)
    }
    return Record({**record.value, **cut}, record.file, record.line)


def _answer(turns: list[Any]) -> Any:
    said = [turn.get("content") for turn in turns if isinstance(turn, dict) and turn.get("role") == "assistant"]
    return said[-1] if said else None
