"""The definitions over which a specification curve runs, and the pools as each of them sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import Context, Mask, scale_codes
from voirdire.analysis.panels import Panel
from voirdire.analysis.selections import is_crossed
from voirdire.stats.agreement import anchor_classes
from voirdire.stats.features import TIE, Array, Features, PoolArrays

TILT, DELTA, WEIGHT = "tilt", "delta", "orientation.w"
Better = Callable[[], tuple[Array | None, str | None]]
STATISTICS = (TILT, WEIGHT, DELTA)
ZERO = {TILT: 0.0, DELTA: 0.0, WEIGHT: 0.5}
"""What stands for neither pool: the sign of a statistic is its side of this value."""

CONSENSUS, POOLS, CORRECTION = ("mean", "median"), ("raw", "standardised"), ("no", "yes")
CHOICES = ("consensus", "min_gap", "anchors", "pools", "correction", "subset")
SPECIFICATIONS: dict[str, Any] = {
    **dict.fromkeys(("question", "judge", "condition", "pool", "pool_b", "statistic", *CHOICES), pl.String),
    "min_gap": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "undefined": pl.String,
    "n": pl.Int64,
    "main": pl.Boolean,
    "signature": pl.String,
}
"""The columns of a curve's table."""


@dataclass(frozen=True)
class Specification:
    """One definition.

    consensus : mean or median of a pool's ratings of an item
    min_gap : smallest gap that counts (T only, None elsewhere)
    anchors : ``out`` leaves out items that both pools rate high or low
    pools : ``standardised``: each pool, and for T and delta the judge, with mean 0 and sd 1 over the items
    correction : ``yes``: pool means replaced by empirical Bayes means, which take the raters' noise into account
    subset : a slice of the items
    """

    consensus: str
    min_gap: float | None
    anchors: str
    pools: str
    correction: str
    subset: str

    @property
    def params(self) -> str:
        """``k=v,k=v`` of what is not the place of the estimate."""
        told = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "subset"}
        told["min_gap"] = None if self.min_gap is None else f"{self.min_gap:g}"
        return ",".join(f"{name}={value}" for name, value in told.items() if value is not None)


@dataclass(frozen=True)
class View:
    """The pools and judges of one pair of pools under one consensus, treatment of the pools and correction.

    gap : (I,) distance of the two consensuses before they were standardised; NaN where one is missing
    anchored : (I,) items that both pools rate high or low; None where the scale has fewer than four levels
    constant : (C,) judges that do not vary, where judges were standardised
    context : the question with this consensus
    undefined : why there is no such view
    """

    consensus: str
    pools: str
    correction: str
    arrays: PoolArrays
    cube: Array
    gap: Array
    anchored: Mask | None
    constant: Mask
    context: Context
    undefined: str | None = None

    def kept(self) -> dict[str, Mask]:
        """``in``: all items; ``out``: those that are no anchors."""
        every = np.ones(len(self.gap), dtype=bool)
        return {"in": every} if self.anchored is None else {"in": every, "out": ~self.anchored}

    def beyond(self, min_gap: float) -> PoolArrays:
        """The pools without the consensuses of items whose gap is smaller."""
        if min_gap <= 0:
            return self.arrays
        small = ~(self.gap >= min_gap - TIE)
        return replace(self.arrays, mean=np.where(small, np.nan, self.arrays.mean))


def view_of(context: Context, cube: Array, pair: tuple[int, int], way: tuple[str, str, str], better: Better) -> View:
    """The view of a question's pools and of judges (C, I, R) under (consensus, treatment of the pools, correction).

    better : the pools' means less their rater noise, or why there are none; asked for with correction only
    """
    consensus, pools, correction = way
    arrays = context.panel.arrays
    gap = np.abs(arrays.gap(*pair))
    anchored: Mask | None = None
    if "levels" in scale_codes(context.panel):
        classes = anchor_classes(Features(arrays), *pair)
        anchored = np.asarray(classes["high"] | classes["low"])
    constant: Mask = np.zeros(len(cube), dtype=bool)
    undefined = None
    if correction == "yes":
        mean, undefined = better()
        arrays = arrays if mean is None else replace(arrays, mean=mean)
    if pools == "standardised" and undefined is None:
        both = arrays.has[list(pair)].all(0)
        arrays, cube = standardised(arrays, cube, pair)
        constant = np.asarray(np.isnan(cube[:, both]).all((1, 2)))
        undefined = "constant_consensus" if both.any() and not arrays.has[list(pair)].any(1).all() else None
    return View(consensus, pools, correction, arrays, cube, gap, anchored, constant, context, undefined)


def half_step(panel: Panel) -> float:
    """The gap that is asked for where near ties are left out: half a level, an eighth of a range without levels.

    0.5 on 1-5; 0 on a scale without ends and levels.
    """
    cuts = panel.arrays.scale
    if len(cuts.levels) > 1:
        return float(cuts.levels[1] - cuts.levels[0]) / 2
    return float(cuts.high - cuts.low) / 8 if np.isfinite(cuts.high - cuts.low) else 0.0


def subsets(context: Context) -> dict[str, Mask]:
    """All items, and each level of the columns by which items are sliced."""
    names = [name for name in context.slices if not is_crossed(name) and not name.startswith("anchor=")]
    return {name: context.slices[name] for name in names}


def specifications(
    statistic: str, view: View, gaps: tuple[float, ...], anchors: str, subset: str
) -> list[Specification]:
    """The definitions of a statistic that share a view and items."""
    asked: tuple[float | None, ...] = gaps if statistic == TILT else (None,)
    return [Specification(view.consensus, gap, anchors, view.pools, view.correction, subset) for gap in asked]


def standardised(arrays: PoolArrays, cube: Array, pair: tuple[int, int]) -> tuple[PoolArrays, Array]:
    """Pools of a pair and judges (C, I, R) with mean 0 and sd 1 over the items that have both pools.

    A pool or a judge that does not vary is NaN everywhere.
    """
    both = arrays.has[list(pair)].all(0)
    mean = arrays.mean.copy()
    for k in pair:
        centre, spread = _moments(mean[k][both])
        mean[k] = np.where(both, (mean[k] - centre) / spread, np.nan)
    judges = np.full(cube.shape, np.nan)
    for c, ratings in enumerate(cube):
        centre, spread = _moments(ratings[both][~np.isnan(ratings[both])])
        judges[c] = (ratings - centre) / spread
    cuts = replace(arrays.scale, low=np.nan, high=np.nan, levels=())
    return PoolArrays(mean, arrays.n, np.full_like(arrays.s2, np.nan), cuts), judges


def _moments(values: Array) -> tuple[float, float]:
    spread = float(values.std()) if values.size else 0.0
    return (float(values.mean()), spread) if spread > TIE else (np.nan, np.nan)


def combinations_of(panel: Panel) -> Iterator[tuple[str, str, str]]:
    """Consensus, treatment of the pools and correction; labels without order have one way only."""
    if panel.question.scale.nominal:
        return iter([("mean", "raw", "no")])
    return product(CONSENSUS, POOLS, CORRECTION)
