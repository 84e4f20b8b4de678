"""Raters as a sample: resampling of raters (section 5), split halves and equalised pools (sections 1 and 2).

``items+raters`` needs two variances, of a statistic over items and over raters, and they are drawn apart: items with
these raters (the bootstrap of ``items``), and raters with these items, here. The interval is estimate +- t SE, with
SE^2 the sum of both and the degrees of freedom of Welch and Satterthwaite; never percentile, because a drawn consensus
carries its rater noise twice, which biases absolute values upward (the bias is told).

Raters are *crossed* where they rate several items: half of a pool's raters are drawn without replacement, and the
consensus of the drawn is moved away from the observed one until its variance is that of all R: by sqrt(h / (R - h)) for
h of R raters. They are *nested* where each rates one item or raters are anonymous slots: raters are drawn within each
item with replacement; the draw of items holds their noise already, so these intervals are wide.

Why halves, why apart and why t: docs/design/intervals.md. Source of half-samples: McCarthy, Review of the
International Statistical Institute 37 (1969); of the variance of two crossed samples: Owen, The pigeonhole bootstrap,
Annals of Applied Statistics 1 (2007).

Shapes: D draws, K pools, I items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, over
from voirdire.stats.resampling import MOST_UNDEFINED

Ints = npt.NDArray[np.int64]
LEAST_RATERS = 5
CHUNK = 2_000_000


@dataclass(frozen=True)
class RaterDraws:
    """A chunk of draws of raters, the items as they are.

    mean : (D, K, I) drawn consensus, NaN where no rater of the item was drawn
    n : (D, K, I) raters that the drawn consensus stands for, 0 where it is NaN
    s2 : (D, K, I) variance (ddof 1) within the item, NaN where fewer than two raters were drawn
    """

    mean: Array
    n: Array
    s2: Array


@dataclass(frozen=True)
class RaterInterval:
    """estimate +- t SE for S statistics; NaN where over 5 % of the draws of items or raters are undefined.

    low, high, se, bias, df : (S,); ``bias`` = mean over the draws of raters - estimate
    """

    low: Array
    high: Array
    se: Array
    bias: Array
    df: Array


@dataclass(frozen=True)
class SplitHalf:
    """Split-half reliability: stepped up, the mean correlation of the halves, items, raters an item, splits."""

    value: float | None
    correlation: float | None
    n: int
    raters: int
    splits: int
    undefined: str | None = None


@dataclass(frozen=True)
class Equalised:
    """Consensuses of two pools with equal numbers of raters an item.

    mean_a, mean_b : (subsamples, I), NaN where an item lacks a pool; n : (I,) raters taken from each pool
    """

    mean_a: Array
    mean_b: Array
    n: Ints


class RaterSampling:
    """The ratings of a question, ready to draw raters from.

    item, rater, pool : (ratings,) numbers; value : (ratings,) the rating
    anonymous : rater numbers mean nothing across items

    ``design`` holds for each pool ``crossed`` or ``nested``, ``undefined`` a reason for each pool that has too few
    raters (``few_raters``) or none (``missing_pool``); statistics of such a pool get no interval of this kind.

    >>> item, rater = np.divmod(np.arange(12), 6)
    >>> sampling = RaterSampling(item, rater, np.zeros(12), rater % 3, n_items=2, n_pools=1)
    >>> sampling.design, sampling.undefined
    (('crossed',), {})
    >>> chunk = next(sampling.draws(10, np.random.default_rng(1)))
    >>> chunk.mean.shape, chunk.n[0]
    ((10, 1, 2), array([[6., 6.]]))
    """

    def __init__(
        self,
        item: npt.ArrayLike,
        rater: npt.ArrayLike,
        pool: npt.ArrayLike,
        value: npt.ArrayLike,
        *,
        n_items: int,
        n_pools: int,
        anonymous: bool = False,
    ) -> None:
        items, raters, pools = (np.asarray(part, dtype=np.int64) for part in (item, rater, pool))
        values = np.asarray(value, dtype=float)
        self.n_items = n_items
        self.n_pools = n_pools
        self.undefined: dict[int, str] = {}
        self._pools: list[_Crossed | _Nested] = []
        for k in range(n_pools):
            mine = pools == k
            n = len(np.unique(raters[mine])) if not anonymous else int(mine.sum())
            if n < LEAST_RATERS:
                self.undefined[k] = "few_raters" if n else "missing_pool"
            crossed = not anonymous and 0 < n < mine.sum()
            part = items[mine], values[mine], n_items
            self._pools.append(_Crossed(raters[mine], *part) if crossed else _Nested(*part))

    @property
    def design(self) -> tuple[str, ...]:
        """How the raters of each pool are drawn."""
        return tuple("crossed" if isinstance(pool, _Crossed) else "nested" for pool in self._pools)

    def df(self, *pools: int) -> float:
        """Degrees of freedom of the variance over the raters of these pools; infinite when all are nested.

        Each pool of R crossed raters is taken to add a variance like 1 / R, with R - 1 degrees of freedom.
        """
        raters = np.array([part.n_raters for part in (self._pools[k] for k in pools) if isinstance(part, _Crossed)])
        if not len(raters):
            return float("inf")
        return float((1 / raters).sum() ** 2 / (1 / raters**2 / np.maximum(raters - 1, 1)).sum())

    def draws(self, draws: int, rng: np.random.Generator) -> Iterator[RaterDraws]:
        """Chunks of seeded draws of raters, ``draws`` in all."""
        step = max(1, CHUNK // max(self.n_items * self.n_pools, 1))
        for start in range(0, draws, step):
            size = min(step, draws - start)
            parts = [pool.draw(size, rng) for pool in self._pools]
            yield RaterDraws(*(np.stack(part, axis=1) for part in zip(*parts, strict=True)))


class _Crossed:
    """A pool whose raters rate several items: half of the raters are drawn."""

    def __init__(self, rater: Ints, item: Ints, value: Array, n_items: int) -> None:
        from scipy.sparse import csr_array

        unit = np.unique(rater, return_inverse=True)[1]
        self.n_raters = int(unit.max()) + 1
        self.center, deviation = _centred(item, value, n_items)
        self.n = np.bincount(item, minlength=n_items).astype(float)
        shape = (n_items, self.n_raters)
        self.tables = [csr_array((part, (item, unit)), shape=shape) for part in (deviation**0, deviation, deviation**2)]

    def draw(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """(D, I) consensus, number of raters and variance."""
        half = self.n_raters // 2
        chosen = np.argsort(rng.random((draws, self.n_raters)), axis=1)[:, :half]
        drawn = np.zeros((self.n_raters, draws))
        drawn[chosen, np.arange(draws)[:, None]] = 1.0
        n, total, squares = ((table @ drawn).T for table in self.tables)
        factor = half / (self.n_raters - half)
        mean, s2 = _moments(self.center, n, total, squares, factor)
        return mean, np.where(n > 0, self.n, 0.0), s2


class _Nested:
    """A pool whose raters rate one item each: raters are drawn within each item."""

    def __init__(self, item: Ints, value: Array, n_items: int) -> None:
        self.center, deviation = _centred(item, value, n_items)
        self.values = deviation[np.argsort(item, kind="stable")]
        self.n = np.bincount(item, minlength=n_items)
        self.start = np.cumsum(self.n) - self.n

    def draw(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """(D, I) consensus, number of raters and variance."""
        total, squares = np.zeros((2, draws, len(self.n)))
        for slot in range(int(self.n.max(initial=0))):
            use = np.flatnonzero(self.n > slot)
            place = self.start[use] + (rng.random((draws, len(use))) * self.n[use]).astype(np.int64)
            drawn = self.values[place]
            total[:, use] += drawn
            squares[:, use] += drawn**2
        n = np.broadcast_to(self.n.astype(float), total.shape)
        mean, s2 = _moments(self.center, n, total, squares, 1.0)
        return mean, n, s2


def rater_interval(
    estimate: Array, item_draws: Array, rater_draws: Array, *, level: float, df_items: float, df_raters: float
) -> RaterInterval:
    """estimate +- t SE from the statistics' values in draws of items (S, D) and in draws of raters (S, E).

    estimate : (S,); draws are NaN where a statistic is undefined in them
    df_items : items - 1; df_raters : from ``RaterSampling.df``

    >>> items, raters = np.array([[0.8, 1.0, 1.2]]), np.array([[1.0, 1.1, 1.2]])
    >>> found = rater_interval(np.array([1.0]), items, raters, level=0.95, df_items=29, df_raters=8)
    >>> found.se.round(3), found.bias.round(3), found.df.round(1), found.high.round(3)
    (array([0.224]), array([0.1]), array([36.9]), array([1.453]))
    """
    from scipy.special import stdtrit

    (of_items, _), (of_raters, mean) = (_spread(draws) for draws in (item_draws, rater_draws))
    total = of_items + of_raters
    with np.errstate(invalid="ignore", divide="ignore"):
        df = np.where(total > 0, total**2 / (of_items**2 / df_items + of_raters**2 / df_raters), df_items)
    se = np.sqrt(total)
    reach = stdtrit(df, (1 + level) / 2) * se
    return RaterInterval(estimate - reach, estimate + reach, se, mean - estimate, df)


def _spread(draws: Array) -> tuple[Array, Array]:
    """(S,) variance (ddof 1) and mean of the draws (S, D); NaN where too few are defined."""
    known = ~np.isnan(draws)
    n = known.sum(-1)
    unusable = (n < 2) | (n < (1 - MOST_UNDEFINED) * draws.shape[-1])
    mean = over(np.where(known, draws, 0.0).sum(-1), np.where(unusable, 0, n))
    squares = np.where(known, (draws - mean[:, None]) ** 2, 0.0).sum(-1)
    return np.where(unusable, np.nan, squares / np.maximum(n - 1, 1)), mean


def split_half(item: npt.ArrayLike, value: npt.ArrayLike, *, rng: np.random.Generator, splits: int = 200) -> SplitHalf:
    """Split-half reliability of a pool's consensus, by Spearman and Brown.

    item, value : (ratings,) one entry a rating of the pool

    In each split the raters of every item are halved at random (floor and ceil of n / 2), the means of the halves
    are correlated over items, the correlations are averaged over splits and stepped up: 2 r / (1 + r). With unequal
    numbers of raters this reads far too high, so it is undefined then (``unequal_raters``), and with one rater
    (``one_rater``), fewer than two items, equal halves everywhere (``constant_consensus``) or r = -1.

    >>> split_half([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 5, 5], rng=np.random.default_rng(1)).value
    1.0
    """
    items, values = np.asarray(item, np.int64), np.asarray(value, float)
    n = np.bincount(items)
    n = n[n > 0]
    reason = _split_reason(n)
    if reason:
        return SplitHalf(None, None, len(n), int(n[0]) if len(n) else 0, 0, reason)
    table = values[np.argsort(items, kind="stable")].reshape(len(n), n[0])
    correlations = [np.empty(0)]
    step = max(1, CHUNK // table.size)
    for start in range(0, splits, step):
        shuffled = rng.permuted(np.broadcast_to(table, (min(step, splits - start), *table.shape)), axis=2)
        correlations.append(_correlations(shuffled[..., : n[0] // 2].mean(-1), shuffled[..., n[0] // 2 :].mean(-1)))
    given = np.concatenate(correlations)
    given = given[~np.isnan(given)]
    if not len(given):
        return SplitHalf(None, None, len(n), int(n[0]), 0, "constant_consensus")
    r = float(given.mean())
    if r <= -1 + 1e-12:
        return SplitHalf(None, r, len(n), int(n[0]), len(given), "opposite_halves")
    return SplitHalf(2 * r / (1 + r), r, len(n), int(n[0]), len(given))


def equalised_selection(
    item: npt.ArrayLike, is_b: npt.ArrayLike, *, rng: np.random.Generator, subsamples: int = 20
) -> npt.NDArray[np.bool_]:
    """(subsamples, ratings) which ratings stay when both pools keep min(n_a, n_b) raters of each item, at random."""
    items, in_b = np.asarray(item, np.int64), np.asarray(is_b, bool)
    width = int(items.max(initial=-1)) + 1
    n_a, n_b = (np.bincount(items[side], minlength=width) for side in (~in_b, in_b))
    group = 2 * items + in_b
    size = np.bincount(group, minlength=2 * width)
    first = np.cumsum(size) - size
    selected = np.zeros((subsamples, len(items)), bool)
    for row in selected:
        order = np.lexsort((rng.random(len(items)), group))
        rank = np.arange(len(items)) - first[group[order]]
        row[order] = rank < np.minimum(n_a, n_b)[items[order]]
    return selected


def equalised(
    item: npt.ArrayLike,
    value: npt.ArrayLike,
    is_b: npt.ArrayLike,
    *,
    n_items: int,
    rng: np.random.Generator,
    subsamples: int = 20,
) -> Equalised:
    """Consensuses of two pools subsampled per item to equal numbers of raters; average a statistic over the rows.

    item, value, is_b : (ratings,) one entry a rating of either pool. For labels call ``equalised_selection`` and
    count. It removes differences in numbers of raters, not in rater variance.

    >>> result = equalised([0, 0, 0], [1, 1, 5], [False, False, True], n_items=2, rng=np.random.default_rng(1))
    >>> result.mean_a[0], result.mean_b[0], result.n
    (array([ 1., nan]), array([ 5., nan]), array([1, 0]))
    """
    items, values, in_b = np.asarray(item, np.int64), np.asarray(value, float), np.asarray(is_b, bool)
    selected = equalised_selection(items, in_b, rng=rng, subsamples=subsamples)
    n = np.bincount(items[selected[0] & in_b], minlength=n_items) if subsamples else np.zeros(n_items, np.int64)
    means = [np.full((subsamples, n_items), np.nan) for _ in range(2)]
    for row, chosen in enumerate(selected):
        for mean, side in zip(means, (~in_b, in_b), strict=True):
            kept = chosen & side
            mean[row] = over(np.bincount(items[kept], values[kept], n_items), n)
    return Equalised(means[0], means[1], n)


def _centred(item: Ints, value: Array, n_items: int) -> tuple[Array, Array]:
    """(I,) item means, NaN without ratings, and the deviations of the ratings (ratings,) from them."""
    center = over(np.bincount(item, weights=value, minlength=n_items), np.bincount(item, minlength=n_items))
    return center, value - center[item]


def _moments(center: Array, n: Array, total: Array, squares: Array, factor: float) -> tuple[Array, Array]:
    """Consensus and variance (D, I) from sums of deviations; the variance of the consensus is that times the factor."""
    shift = over(total, n)
    variance = over(np.maximum(squares - total * shift, 0.0), np.where(n > 1, n - 1, 0))
    return center + np.sqrt(factor) * shift, variance


def _split_reason(n: Ints) -> str | None:
    if not len(n):
        return "no_items"
    if (n != n[0]).any():
        return "unequal_raters"
    if n[0] < 2:
        return "one_rater"
    return "one_item" if len(n) < 2 else None


def _correlations(left: Array, right: Array) -> Array:
    """(...) Pearson over the last axis, NaN where a side does not vary."""
    x, y = (side - side.mean(-1, keepdims=True) for side in (left, right))
    spread = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return over((x * y).sum(-1), np.where(spread < 1e-12, 0.0, spread))
