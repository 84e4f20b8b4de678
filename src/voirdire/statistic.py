"""Statistics as declarations: what a number is called, what it is made of and when it is undefined.

An additive statistic is a function of sums over items. Its *features* are computed once per item; every slice,
selection and resample reuses them, because a resample only weighs the items anew. A feature of a judge has shape
(cells, items), one of a pool or pair (1, items).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
PER = ("pool", "pair", "judge", "judge_pool", "judge_pair")


@dataclass(frozen=True)
class Statistic:
    """A declared statistic.

    name : the row's name in ``estimates.csv`` (``spread.slope``)
    per : pool, pair, judge, judge_pool or judge_pair: what one estimate speaks of
    features : names of the per-item features it sums
    finish : sums (any shape, one argument a feature) -> values of that shape, NaN where undefined
    undefined : (reason, predicate on the sums) in the order in which they are asked
    scale : what the question must have: any, anything (also another scale of the judge's), rank, numeric and distance
        (not nominal), labels (nominal), ends, levels (four or more, with ends), discrete (declared levels)
    across : over several cells: ``pooled`` (sums over cells) or ``mean_of_cells``
    n_of : position of the feature whose sum is the estimate's n
    sliced : computed inside slices without being asked
    interval : bootstrap, fisher_z, none, or items: a bootstrap that knows no draws of raters
    both_ways : of a pair, computed for (b, a) too
    """

    name: str
    per: str
    features: tuple[str, ...]
    finish: Callable[..., Array]
    undefined: tuple[tuple[str, Callable[..., npt.NDArray[np.bool_]]], ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    scale: str = "numeric"
    across: str = "pooled"
    sliced: bool = False
    n_of: int = 0
    interval: str = "bootstrap"
    both_ways: bool = False
    bounds: str = ""
    source: str = ""
    doc: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Name and params, the identity within the registry."""
        return self.name, ",".join(f"{k}={v}" for k, v in self.params.items())

    def values(self, sums: tuple[Array, ...]) -> tuple[Array, npt.NDArray[np.object_]]:
        """Values (NaN where undefined) and, of the same shape, the reasons (None where defined)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(self.finish(*sums), dtype=float)
            reasons = np.full(values.shape, None, dtype=object)
            for reason, predicate in self.undefined:
                hit = np.asarray(predicate(*sums)) & unexplained(reasons)
                reasons[hit] = reason
                values[hit] = np.nan
        return values, reasons

    def numbers(self, sums: tuple[Array, ...]) -> Array:
        """The values alone, NaN where undefined: for resamples, where nobody asks why."""
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(self.finish(*sums), dtype=float)
            for _, predicate in self.undefined:
                values[np.asarray(predicate(*sums))] = np.nan
        return values


REGISTRY: dict[tuple[str, str], Statistic] = {}


def additive(name: str, *, per: str, features: tuple[str, ...], **declaration: Any) -> Callable[..., Any]:
    """Declare the decorated function of sums as a statistic and register it."""
    if per not in PER:
        raise ValueError(per)

    def declare(finish: Callable[..., Array]) -> Callable[..., Array]:
        statistic = Statistic(name, per, features, finish, doc=(finish.__doc__ or "").strip(), **declaration)
        if statistic.key in REGISTRY:
            raise ValueError(statistic.key)
        REGISTRY[statistic.key] = statistic
        return finish

    return declare


def ratio(numerator: Array, denominator: Array) -> Array:
    """numerator / denominator, NaN where the denominator is 0.

    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    bottom = np.asarray(denominator, dtype=float)
    zero = bottom == 0
    if zero.any():
        bottom = np.where(zero, np.nan, bottom)
    result: Array = np.asarray(numerator, dtype=float) / bottom
    return result


def unexplained(reasons: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    """Where there is no reason yet."""
    return np.asarray(reasons == None, dtype=bool)  # noqa: E711  (elementwise)


def empty(position: int, reason: str = "no_items") -> tuple[str, Callable[..., npt.NDArray[np.bool_]]]:
    """The reason of a statistic whose sum at ``position`` is 0."""
    return reason, lambda *sums: np.asarray(sums[position]) <= 0
