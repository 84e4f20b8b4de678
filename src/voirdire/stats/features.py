"""Per-item features: the sufficient statistics from which every slice and resample is summed.

Shapes: C cells, I items, K pools, L levels, R repeats. Inside these arrays NaN marks a missing value; features are
0 where an item does not count, so that sums need no mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.scales import Scale

if TYPE_CHECKING:
    from voirdire.stats.preference import Votes

Array = npt.NDArray[np.float64]
TIE = 1e-9
MOST_HELD = 1_000_000


@dataclass(frozen=True)
class ScaleCuts:
    """What the features need of a scale: ends, cuts and level values (empty where there are none)."""

    low: float = float("nan")
    high: float = float("nan")
    levels: tuple[float, ...] = ()
    nominal: bool = False

    @property
    def low_cut(self) -> float:
        """low + a quarter of the range."""
        return self.low + 0.25 * (self.high - self.low)

    @property
    def high_cut(self) -> float:
        """low + three quarters of the range."""
        return self.low + 0.75 * (self.high - self.low)

    @property
    def center(self) -> float | None:
        """The middle of the scale, None where it has no ends."""
        return (self.low + self.high) / 2 if np.isfinite(self.low + self.high) else None


def cuts_of(scale: Scale) -> ScaleCuts:
    """The ends, levels and cuts that features need."""
    if scale.nominal:
        return ScaleCuts(levels=scale.level_values, nominal=True)
    low = np.nan if scale.low is None else float(scale.low)
    high = np.nan if scale.high is None else float(scale.high)
    if scale.binary:
        low, high = 0.0, 1.0
    return ScaleCuts(low, high, scale.level_values)


@dataclass(frozen=True)
class PoolArrays:
    """The pools of one question over I items.

    mean : (K, I) consensus, NaN where a pool has too few ratings
    n : (K, I) raters behind it (0 where none; NaN where unknown)
    s2 : (K, I) within-item variance (ddof 1), NaN where n < 2 or without the individual ratings
    shares : (K, I, L) share of raters at each label; nominal questions only
    """

    mean: Array
    n: Array
    s2: Array
    scale: ScaleCuts
    shares: Array | None = None

    @classmethod
    def of(cls, mean: npt.ArrayLike, low: float = 1, high: float = 5, n: npt.ArrayLike = 1) -> PoolArrays:
        """Pools from consensuses alone (K, I), for examples and tests."""
        values = np.atleast_2d(np.asarray(mean, dtype=float))
        counts = np.where(np.isnan(values), 0, np.broadcast_to(np.asarray(n, float), values.shape))
        levels = tuple(np.arange(low, high + 1))
        return cls(values, counts, np.full(values.shape, np.nan), ScaleCuts(low, high, levels))

    @cached_property
    def has(self) -> npt.NDArray[np.bool_]:
        """(K, I) whether the pool has a consensus."""
        return ~np.isnan(self.mean)

    @cached_property
    def center(self) -> float:
        """Where moments are centred, for their precision only: the middle of the scale, else of the consensuses."""
        if self.scale.center is not None:
            return self.scale.center
        return float(self.mean[self.has].mean()) if self.has.any() else 0.0

    @cached_property
    def pooled_s2(self) -> Array:
        """(K,) within-item variance pooled over items with two or more ratings; NaN where there are none."""
        usable = ~np.isnan(self.s2)
        df = np.where(usable, self.n - 1, 0.0)
        total = np.where(usable, self.s2, 0.0) * df
        with np.errstate(invalid="ignore"):
            pooled: Array = total.sum(1) / df.sum(1)
        return pooled

    @cached_property
    def noise(self) -> Array:
        """(K, I) variance of the consensus, s2 / n: the item's own s2, the pooled one where n = 1."""
        s2 = np.where(np.isnan(self.s2), self.pooled_s2[:, None], self.s2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.has, s2 / self.n, np.nan)

    @cached_property
    def rounded(self) -> Array:
        """(K, I) consensus rounded to the nearest declared level, ties to the higher."""
        return nearest_level(self.mean, self.scale.levels)

    def gap(self, a: int, b: int) -> Array:
        """(I,) m_a - m_b, exactly 0 where they differ by at most 1e-9; nominal: total variation."""
        if self.shares is not None:
            distance: Array = np.abs(self.shares[a] - self.shares[b]).sum(-1) / 2
            return np.where(self.has[a] & self.has[b], distance, np.nan)
        difference = self.mean[a] - self.mean[b]
        return np.where(np.abs(difference) <= TIE, 0.0, difference)


def nearest_level(values: Array, levels: tuple[float, ...]) -> Array:
    """Values rounded to the nearest level, ties to the higher; NaN stays NaN.

    >>> nearest_level(np.array([1.5, 2.4, np.nan]), (1.0, 2.0, 3.0))
    array([ 2.,  2., nan])
    """
    if not levels:
        return np.full(values.shape, np.nan)
    grid = np.asarray(levels, dtype=float)
    place = np.searchsorted((grid[1:] + grid[:-1]) / 2, np.nan_to_num(values) + TIE, side="right")
    return np.where(np.isnan(values), np.nan, grid[place])


class Features:
    """The features of one question, computed once and kept.

    ratings : (C, I, R) or (C, I), NaN where there is no rating; None for the pools alone
    constants : (K, I) what the best constant judge of a pool rates, chosen without the item; NaN where there is none
    loo : (K, C, I) errors against leave-one-out consensuses, and whether they count
    votes : of pairwise votes, the thing that is spoken of and which was shown first
    """

    def __init__(
        self,
        pools: PoolArrays,
        ratings: Array | None = None,
        *,
        min_gap: float = 0.0,
        constants: Array | None = None,
        loo: tuple[Array, Array] | None = None,
        votes: Votes | None = None,
    ) -> None:
        self.votes = votes
        self.pools = pools
        self._cube = None if ratings is None else (ratings[..., None] if ratings.ndim == 2 else ratings)
        self.min_gap = min_gap
        self.constants = constants
        self.loo = loo
        self._kept: dict[tuple[str, tuple[int, ...]], Array] = {}

    def get(self, name: str, target: tuple[int, ...] = ()) -> Array:
        """The feature ``name`` of the pool (k,) or pair (a, b); (C, I) for judges, (1, I) for pools alone."""
        per, function = FEATURES[name]
        where = target[: _WIDTH[per]]
        key = (name, where)
        if key not in self._kept:
            self._kept[key] = np.atleast_2d(np.asarray(function(self, *where), dtype=float))
        return self._kept[key]

    def forget(self) -> None:
        """Drop what is kept (memory)."""
        self._kept.clear()

    def blocks(self) -> Iterator[Features]:
        """Parts of the cells one after the other, of a size that memory allows; these features when they are few."""
        cube = self.cube
        step = None if cube is None else max(1, MOST_HELD // max(cube.shape[1] * cube.shape[2], 1))
        if cube is None or step is None or len(cube) <= step:
            yield self
            return
        for start in range(0, len(cube), step):
            part = slice(start, start + step)
            loo = None if self.loo is None else (self.loo[0][:, part], self.loo[1][:, part])
            votes = self.votes
            if votes is not None and votes.shown is not None:
                votes = replace(votes, shown=votes.shown[part])
            yield Features(self.pools, cube[part], min_gap=self.min_gap, constants=self.constants, loo=loo, votes=votes)

    def totals(self, names: Sequence[str], target: tuple[int, ...] = ()) -> tuple[Array, ...]:
        """(C,) the sum over items of each of these features, a part of the cells at a time; nothing is kept."""
        parts = [[block.get(name, target).sum(-1) for name in names] for block in self.blocks()]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    @property
    def cube(self) -> Array | None:
        """(C, I, R) the cells' ratings; None for the pools alone."""
        return self._cube

    @cached_property
    def answered(self) -> npt.NDArray[np.bool_]:
        """(C, I) whether a cell has a rating of the item."""
        return np.asarray(~np.isnan(self.ratings).all(-1))

    @cached_property
    def rating(self) -> Array:
        """(C, I) mean over repeats, NaN where there is none."""
        return self.over_repeats(self.ratings)

    @property
    def ratings(self) -> Array:
        """(C, I, R) the cells' ratings. ValueError for the pools alone."""
        cube = self.cube
        if cube is None:
            raise ValueError("these features have no judge")  # noqa: TRY003
        return cube

    def over_repeats(self, values: Array) -> Array:
        """(C, I, R) -> (C, I): mean over the repeats that exist."""
        if values.shape[-1] == 1:
            return values[..., 0]
        exists = ~np.isnan(values)
        total = np.where(exists, values, 0.0).sum(-1)
        with np.errstate(invalid="ignore"):
            mean: Array = total / exists.sum(-1)
        return mean

    def error(self, k: int, power: int = 1) -> Array:
        """(C, I) mean over repeats of abs(r - m_k) ** power; nominal: 1 - share of raters who agree."""
        shares = self.pools.shares
        if shares is not None:
            return self.per_label(1 - shares[k])
        difference = np.abs(self.ratings - self.pools.mean[k][None, :, None])
        return self.over_repeats(difference if power == 1 else difference**power)

    def per_label(self, values: Array) -> Array:
        """(I, L) -> (C, I): the value at the label that the cell gave, the mean over repeats."""
        codes = np.nan_to_num(self.ratings, nan=0).astype(int)
        items = np.arange(codes.shape[1])
        found = np.stack([values[items, codes[..., r]] for r in range(codes.shape[2])], -1)
        return self.over_repeats(np.where(np.isnan(self.ratings), np.nan, found))


FEATURES: dict[str, tuple[str, Callable[..., Array]]] = {}
_WIDTH = {"judge": 0, "pool": 1, "judge_pool": 1, "pair": 2, "judge_pair": 2}


def feature(per: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a function (features, *target) -> (C, I) or (I,) under its own name."""

    def register(function: Callable[..., Array]) -> Callable[..., Array]:
        FEATURES[function.__name__] = (per, function)
        return function

    return register


def zero_where(mask: npt.NDArray[np.bool_], values: Array) -> Array:
    """Values where the mask holds, 0 elsewhere."""
    return np.where(mask, values, 0.0)
