"""What the integrations share: a reply read by voirdire's rules, and numbers against every pool from plain values.

The numbers are points without intervals, for the pages of tools that show points. What may be concluded from them, an
audit of the same judgments says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voirdire.errors import InputError
from voirdire.judging.parsing import Reading, read_reply
from voirdire.texts import text


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating by a judge, on the question's own scale, beside every pool's consensus on the item.

    cell : what is asked; ratings of one cell are its repeats
    """

    cell: Any
    rating: float
    consensus: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as it was read: the reading, and the rating on the question's own scale or None."""

    reading: Reading
    rating: float | None

    def said(self, lang: str = "en") -> str:
        """Why the reply is no rating, or that it is one, in a sentence."""
        return text(f"integrations.reading.{self.reading.kind}", lang, why=self.reading.why)


def read_answer(reply: str, low: float, high: float, *, reversed_scale: bool = False, finish: str = "stop") -> Answer:
    r"""Read a reply on a scale of whole numbers.

    reversed_scale : the scale was asked with its ends exchanged
    finish : why the reply ended, as ``voirdire.judging.parsing.read_reply`` has it

    Raises InputError for a scale that has no whole ends.

    >>> read_answer(" 4\n", 1, 5).rating, read_answer("4", 1, 5, reversed_scale=True).rating
    (4.0, 2.0)
    >>> read_answer("about 4", 1, 5).rating is None
    True
    """
    if not (float(low).is_integer() and float(high).is_integer() and low < high):
        raise InputError("integrations.scale", low=low, high=high)
    reading = read_reply(reply, tuple(range(int(low), int(high) + 1)), finish=finish)
    if reading.rating is None:
        return Answer(reading, None)
    return Answer(reading, float(low + high - reading.rating if reversed_scale else reading.rating))


def closeness(rating: float, low: float, high: float, consensus: Mapping[str, float]) -> dict[str, float]:
    """For every pool 1 minus the distance to its consensus in widths of the scale: 1 at the consensus, 0 at most apart.

    >>> closeness(4, 1, 5, {"us": 4.0, "cn": 2.0})
    {'us': 1.0, 'cn': 0.5}
    """
    return {pool: 1 - abs(rating - mean) / (high - low) for pool, mean in consensus.items()}


def pools_of(rated: Iterable[Rated]) -> list[str]:
    """Every pool that has a consensus somewhere, in the order of their first appearance."""
    return list(dict.fromkeys(pool for one in rated for pool in one.consensus))


def per_pool(rated: Sequence[Rated]) -> dict[str, float]:
    """The ``mae`` of every pool, the ``delta`` of every pair, and how many cells each is of, by readable names.

    Both are the statistics of an audit over all conditions: the mean over cells of the mean over repeats. What has no
    cell is left out.

    >>> near_us = [Rated(1, 4, {"us": 4.0, "cn": 2.0}), Rated(2, 3, {"us": 4.0})]
    >>> per_pool(near_us)
    {'mae us': 0.5, 'cells us': 2.0, 'mae cn': 2.0, 'cells cn': 1.0, 'delta us-cn': -2.0}
    """
    from voirdire.stats.alignment import mae
    from voirdire.stats.tilt import delta

    names = pools_of(rated)
    found: dict[str, float] = {}
    for pool in names:
        errors = _by_cell((one.cell, _error(one, pool)) for one in rated if pool in one.consensus)
        found[f"mae {pool}"] = _value(mae, errors)
        found[f"cells {pool}"] = float(len(errors))
    for a, b in ((a, b) for place, a in enumerate(names) for b in names[place + 1 :]):
        both = [one for one in rated if a in one.consensus and b in one.consensus]
        differences = _by_cell((one.cell, _error(one, a) - _error(one, b)) for one in both)
        if differences:
            found[f"delta {a}-{b}"] = _value(lambda sums, cells: delta(cells, sums), differences)
    return found


def _error(one: Rated, pool: str) -> float:
    return abs(one.rating - one.consensus[pool])


def _by_cell(values: Iterable[tuple[Any, float]]) -> list[float]:
    """The mean over repeats of every cell."""
    cells: dict[Any, list[float]] = {}
    for cell, value in values:
        cells.setdefault(cell, []).append(value)
    return [sum(found) / len(found) for found in cells.values()]


def _value(statistic: Any, values: Sequence[float]) -> float:
    import numpy as np

    return float(statistic(np.array([sum(values)]), np.array([float(len(values))]))[0])
