"""Scales: what the levels of a question are."""

from __future__ import annotations

from dataclasses import dataclass

PAIRWISE = "pairwise"
WITHOUT_ORDER = ("nominal", PAIRWISE)
LEVELS = ("nominal", "ordinal", "interval", "ratio", PAIRWISE)


@dataclass(frozen=True)
class Scale:
    """The scale of a question.

    level : nominal, ordinal, interval, ratio, or pairwise: votes between two things
    low, high : the ends (None for nominal labels)
    labels : the declared labels in order; for two labels and for nominal scales their place is their code,
        for an ordinal scale of words it is the rank from 0; of pairwise votes the first label is a vote for the first
        thing, the second for the second, the third, if there is one, a tie
    positive : of a two-label question, the label coded 1; its consensus is the share of raters who gave it
    missing : labels that mean no answer (``unsure``)

    >>> Scale("ordinal", 1, 5).range, Scale("ordinal", 1, 5).low_cut, Scale("ordinal", 1, 5).high_cut
    (4, 2.0, 4.0)
    """

    level: str
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    positive: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def binary(self) -> bool:
        """Two labels, coded 0 and 1."""
        return self.positive is not None

    @property
    def nominal(self) -> bool:
        """Three or more labels without order; pairwise votes follow the same rules."""
        return self.level in WITHOUT_ORDER and not self.binary

    @property
    def pairwise(self) -> bool:
        """Votes between two things, of which nothing depends on which is called the first."""
        return self.level == PAIRWISE

    @property
    def ties(self) -> bool:
        """Whether a vote may be a tie.

        >>> Scale("pairwise", labels=("a", "b", "tie")).ties, Scale("pairwise", labels=("a", "b")).ties
        (True, False)
        """
        return self.pairwise and len(self.labels) > 2

    @property
    def range(self) -> float:
        """high - low; only for scales with ends."""
        return self._end(self.high) - self._end(self.low)

    @property
    def midpoint(self) -> float:
        """Half way between the ends."""
        return (self._end(self.low) + self._end(self.high)) / 2

    @property
    def low_cut(self) -> float:
        """low + a quarter of the range (2 on 1-5): at or below it a rating counts as low."""
        return self._end(self.low) + 0.25 * self.range

    @property
    def high_cut(self) -> float:
        """low + three quarters of the range (4 on 1-5)."""
        return self._end(self.low) + 0.75 * self.range

    @property
    def n_levels(self) -> int | None:
        """How many levels an ordinal or labelled scale has; None for interval and ratio scales."""
        if self.labels:
            return len(self.labels)
        if self.level == "ordinal" and self.low is not None and self.high is not None:
            return round(self.range) + 1
        return None

    @property
    def level_values(self) -> tuple[float, ...]:
        """The codes of the declared levels in order; empty for interval and ratio scales."""
        count = self.n_levels
        start = self.low if self.low is not None else 0.0
        return () if count is None else tuple(start + step for step in range(count))

    def __str__(self) -> str:
        """Short form for signatures: ``ordinal:1:5``, ``binary:0<1``, ``pairwise:a/b/tie``."""
        if self.binary:
            return f"binary:{'<'.join(self.labels)}"
        if self.labels:
            return f"{self.level}:{'/'.join(self.labels)}"
        if self.low is None or self.high is None:
            return self.level
        return f"{self.level}:{self.low:g}:{self.high:g}"

    @staticmethod
    def _end(end: float | None) -> float:
        if end is None:
            raise ValueError("this scale has no ends")  # noqa: TRY003
        return end
