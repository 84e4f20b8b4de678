"""A part of a profile: one question, one pair of pools and one slice of the items, read with the report's own code.

Nothing is computed: a :class:`ChosenView` answers as a :class:`View` does, but knows one question, and where the report
asks for the pairs shown in full and for all items it gives the pair and the slice that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from voirdire.reporting.access import Row, View
from voirdire.signature import quote

WHOLE = "all"
BETWEEN = ("tilt", "delta")
"""The statistics whose estimates show that judges were compared with a pair of pools."""


@dataclass(frozen=True)
class Choice:
    """What is looked at. pair : None = the pairs that the report shows in full; part : a slice, ``all`` = every item"""

    question: str
    pair: tuple[str, str] | None = None
    part: str = WHOLE


class ChosenView(View):
    """The part of a profile that was chosen."""

    def __init__(self, whole: View, choice: Choice) -> None:
        vars(self).update(vars(whole))
        self.choice = choice

    def row(self, statistic: str, **place: str) -> Row | None:
        """As of the whole profile, with the chosen slice for all items."""
        return super().row(statistic, **{**place, "slice": self._part(place.get("slice", WHOLE))})

    def rows(self, statistic: str, **place: str) -> Iterator[Row]:
        """As of the whole profile, with the chosen slice for all items."""
        if "slice" in place:
            place["slice"] = self._part(place["slice"])
        return super().rows(statistic, **place)

    def _part(self, asked: str) -> str:
        return self.choice.part if asked == WHOLE else asked

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The chosen question alone."""
        return [question for question in super().questions if question["id"] == self.choice.question]

    def pairs(self, question: str) -> list[tuple[str, str]]:
        """The chosen pair alone, where one was chosen."""
        return super().pairs(question) if self.choice.pair is None else [self.choice.pair]

    def cultures(self, question: str, statistic: str = "tilt") -> list[str]:
        """None within a slice: the slices of a slice are not computed."""
        return super().cultures(question, statistic) if self.choice.part == WHOLE else []

    @property
    def slices(self) -> list[str]:
        """None within a slice."""
        return super().slices if self.choice.part == WHOLE else []


def pairs_of(view: View, question: str) -> list[tuple[str, str]]:
    """Every pair of the question's pools: those that judges were compared with first, as the report has them."""
    known = set(view.pools_of(question))
    every = [(str(a), str(b)) for a, b in view.meta.get("pairs", []) if a in known and b in known]
    shown = view.pairs(question)
    return [*shown, *(pair for pair in every if pair not in shown)]


def compared(view: View, question: str) -> set[tuple[str, str]]:
    """The pairs that judges were compared with."""
    rows = view.profile.estimates.filter(pl.col("statistic").is_in(BETWEEN), pl.col("question") == question)
    return {(str(a), str(b)) for a, b in rows.select("pool", "pool_b").unique().iter_rows()}


def slices_of(view: View, question: str) -> list[str]:
    """The slices that have estimates for a question, all items first."""
    held = view.profile.estimates.filter(question=question)["slice"].unique().to_list()
    return [WHOLE, *(part for part in view.slices if part in set(held))]


def printed(pair: Sequence[str]) -> str:
    """A pair as one word, as it stands in an address and in ``--pair``.

    >>> printed(("us", "cn")), printed(("a,b", "c"))
    ('us,cn', 'a%2Cb,c')
    """
    return ",".join(quote(pool) for pool in pair)


def read_pair(view: View, question: str, told: str) -> tuple[str, str] | None:
    """The pair of a printed word, in the order in which it was computed; None when the question has no such pair."""
    for pair in pairs_of(view, question):
        if told in (printed(pair), printed(pair[::-1])):
            return pair
    return None
