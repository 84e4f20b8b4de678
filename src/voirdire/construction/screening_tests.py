"""The numbers of screening: shares of answers and the gap of a pair, each with an interval, and what a pilot can show.

Arrays in, small frozen results out. Definitions and reasons: docs/explanation/screening.md.

Shapes: R answers, I items of a pair, K pools.
Sources: Wilson 1927 (interval of a share); Kish 1965 (effective number of clustered answers); Smyth 2004 (variance of
few answers, drawn to that of all); the interval of a noncentral F turned around (Steiger 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
LEAST_COUPLES = 10
PRIOR_DF = 8.0
"""How many degrees of freedom the variance of the whole pilot counts for beside a pair's own."""

_TINY, _CLOSE = 1e-12, 1e-10
_FAR = 1e8
"""Beyond this the noise of the means is nothing beside that of the variance: F times chi-squared of df is constant."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number of a pair with the ends of its interval, or the reason why it has none.

    n : answers; effective : how many independent answers they are worth
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    effective: float = 0.0
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """How far two pools are apart on the items of a pair.

    value : root mean square gap, rater noise taken off; low, high : of the gap without noise, by the noncentral F
    observed : mean abs(m_a - m_b); noise_floor : what it would be by rater noise alone
    f, df : the test against no gap at all, with ``items`` and ``df`` degrees of freedom; p : its p
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    observed: float | None = None
    noise_floor: float | None = None
    f: float | None = None
    df: float | None = None
    p: float | None = None
    items: int = 0
    n: int = 0
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class Power:
    """What a pilot with n raters in each pool can show of a pair.

    kept : chance that a pair with a gap is found to be contestable, for each gap of ``gaps``
    dropped : chance that a pair without any gap is found to be uncontested; detectable : gap found 80 % of the time
    """

    n: int
    gaps: tuple[float, ...]
    kept: tuple[float, ...]
    dropped: float
    detectable: float


def wilson(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Interval of a share of n independent answers; n need not be whole.

    >>> low, high = wilson(0.8, 10, 0.9)
    >>> round(low, 3), round(high, 3)
    (0.541, 0.931)
    """
    from scipy.special import ndtri

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def likeness(hit: npt.ArrayLike, rater: npt.ArrayLike, item: npt.ArrayLike, pair: npt.ArrayLike) -> float:
    """How much a rater's answers to the items of one pair are alike, beyond the items: 0 to 1.

    hit, rater, item, pair : (R,) whether the answer counts; numbers of its rater, of its item in its pool (an item in
        two pools has two numbers), of its pair

    The correlation of the answers around their item's mean, over all couples of answers of one rater to one pair; 1,
    the cautious end, where there are fewer than 10 couples or nothing varies.

    >>> likeness([1, 1, 0, 0] * 10, [1, 1, 2, 2] * 10, np.repeat([0, 1], 2).tolist() * 10, np.repeat(range(10), 4))
    1.0
    """
    x, items = np.asarray(hit, float), np.unique(np.asarray(item), return_inverse=True)[1]
    mean = np.bincount(items, x) / np.bincount(items)
    around = x - mean[items]
    who = np.unique(np.stack([np.asarray(rater), np.asarray(pair)]), axis=1, return_inverse=True)[1].reshape(-1)
    count = np.bincount(who)
    couples = float((count * (count - 1)).sum()) / 2
    several = count[who] > 1
    spread = float((around[several] ** 2).sum())
    if couples < LEAST_COUPLES or spread < _TINY:
        return 1.0
    total = np.bincount(who, around)
    products = float((total**2 - np.bincount(who, around**2)).sum()) / 2
    return float(np.clip((products / couples) / (spread / several.sum()), 0.0, 1.0))


def share_of(hit: npt.ArrayLike, rater: npt.ArrayLike, alike: float, confidence: float) -> Interval:
    """Share of a pool's answers to a pair that count; a rater's m answers are worth m / (1 + (m - 1) alike).

    >>> found = share_of([1, 1, 0, 1], [1, 1, 2, 2], alike=1.0, confidence=0.9)
    >>> found.value, found.n, found.effective
    (0.75, 4, 2.0)
    """
    x = np.asarray(hit, float)
    if not len(x):
        return Interval(undefined="missing_pool")
    answers = np.unique(np.asarray(rater), return_counts=True)[1]
    effective = float((answers / (1 + (answers - 1) * alike)).sum())
    value = float(x.mean())
    return Interval(value, *wilson(value, effective, confidence), len(x), effective)


def mean_share(shares: Sequence[Interval], confidence: float) -> Interval:
    """The mean of the pools' shares, each pool counting the same: K^2 / sum(1 / n_k) answers.

    >>> one, two = share_of([1, 1], [1, 2], 1.0, 0.9), share_of([0, 1], [1, 2], 1.0, 0.9)
    >>> mean_share([one, two], 0.9).value, mean_share([one, two], 0.9).effective
    (0.75, 4.0)
    """
    missing = _first_reason(shares)
    if missing is not None:
        return missing
    value = float(np.mean([one.value for one in shares]))
    effective = len(shares) ** 2 / sum(1 / one.effective for one in shares)
    return Interval(value, *wilson(value, effective, confidence), sum(one.n for one in shares), effective)


def least_share(shares: Sequence[Interval], confidence: float) -> Interval:
    """The smallest of the pools' shares: what all pools have in common.

    Its lower end is the lowest of the pools' ends; its upper end the lowest of theirs and of the mean's, which no
    smallest share can exceed.

    >>> all_high, half = share_of([1] * 6, range(6), 1.0, 0.9), share_of([1, 1, 1, 0, 0, 0], range(6), 1.0, 0.9)
    >>> least_share([all_high, half], 0.9).value, least_share([all_high, half], 0.9).low == half.low
    (0.5, True)
    """
    missing = _first_reason(shares)
    if missing is not None:
        return missing
    mean = mean_share(shares, confidence)
    ends = [[float(getattr(one, end) or 0.0) for one in shares] for end in ("value", "low", "high")]
    high = min(*ends[2], float(mean.high or 0.0))
    return replace(mean, value=min(ends[0]), low=min(ends[1]), high=high)


def most_share(shares: Sequence[Interval]) -> Interval:
    """The largest share of the items of a pair, with the highest of their ends; n is of all items together.

    >>> one, two = share_of([1, 0], [1, 2], 1.0, 0.9), share_of([1, 1], [1, 2], 1.0, 0.9)
    >>> most_share([one, two]).value
    1.0
    """
    missing = _first_reason(shares)
    if missing is not None:
        return missing
    value, low, high = (max(float(getattr(one, end) or 0.0) for one in shares) for end in ("value", "low", "high"))
    return Interval(value, low, high, sum(one.n for one in shares), min(one.effective for one in shares))


def _first_reason(shares: Sequence[Interval]) -> Interval | None:
    return next((one for one in shares if one.undefined), None)


def within_variance(item: npt.ArrayLike, value: npt.ArrayLike) -> float | None:
    """Variance of ratings around their item's mean, pooled over items; None where no item has two.

    >>> within_variance([0, 0, 1, 1, 2], [1, 3, 4, 4, 5]), within_variance([0, 1], [1, 2])
    (1.0, None)
    """
    values, items = np.asarray(value, float), np.unique(np.asarray(item), return_inverse=True)[1]
    n = np.bincount(items)
    df = int((n - 1).sum())
    if df == 0:
        return None
    around = values - (np.bincount(items, values) / n)[items]
    return float((around**2).sum() / df)


def drawn_variance(own_squares: float, own_df: float, pilot: float | None) -> tuple[float, float] | None:
    """Variance of one rating within an item, and its degrees of freedom: the pair's own, drawn to the pilot's.

    own_squares, own_df : sum of squares of the ratings around their item's mean in the pair, and ratings less items
    pilot : variance over all items of the pilot; None where it is unknown or nobody ever differs

    >>> drawn_variance(4.0, 4.0, 0.25)
    (0.5, 12.0)
    """
    if pilot is None or pilot < _TINY:
        return None
    df = PRIOR_DF + own_df
    return (PRIOR_DF * pilot + own_squares) / df, df


def gap_of(
    mean: npt.ArrayLike,
    n: npt.ArrayLike,
    squares: npt.ArrayLike,
    pilot: Sequence[float | None],
    *,
    confidence: float,
    looks: int = 1,
) -> Gap:
    """How far two pools are apart on the items of a pair, beside what their raters' noise gives.

    mean, n, squares : (2, I) consensus, raters, and sum of squares of the ratings around it
    pilot : variance within an item over the whole pilot, for each pool
    looks : comparisons of which the widest is taken; the lower end is then that much more cautious

    Undefined: ``no_items``, ``noise_unknown`` (no two raters of a pool on an item of the pilot, or none that differ).

    >>> found = gap_of([[4.0, 4.0], [2.0, 2.0]], np.full((2, 2), 5), np.full((2, 2), 2.0), (0.5, 0.5), confidence=0.9)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), found.p < 0.001
    (1.95, 1.29, 2.63, True)
    """
    means, counts, within = (np.asarray(part, float) for part in (mean, n, squares))
    if not means.size:
        return Gap(undefined="no_items")
    noise = _noise(counts, within, pilot)
    if noise is None:
        return Gap(undefined="noise_unknown", items=means.shape[1], n=int(counts.sum()))
    variance, df = noise
    return _gap(means[0] - means[1], variance, df, int(counts.sum()), (1 - confidence) / 2, looks)


def _noise(counts: Array, within: Array, pilot: Sequence[float | None]) -> tuple[Array, float] | None:
    """(I,) variance of m_a - m_b, and its degrees of freedom by Satterthwaite."""
    variance, parts = np.zeros(counts.shape[1]), []
    for k in range(2):
        drawn = drawn_variance(float(within[k].sum()), float((counts[k] - 1).sum()), pilot[k])
        if drawn is None:
            return None
        variance = variance + drawn[0] / counts[k]
        parts.append((float((drawn[0] / counts[k]).mean()), drawn[1]))
    total = sum(part for part, _ in parts)
    return variance, total**2 / sum(part**2 / df for part, df in parts)


def _gap(difference: Array, variance: Array, df: float, n: int, tail: float, looks: int) -> Gap:
    from scipy.special import fdtrc, gammaln

    items = len(difference)
    f = float((difference**2 / variance).mean())
    unit = 1 / float((1 / variance).sum())
    c4 = float(np.exp(gammaln((df + 1) / 2) - gammaln(df / 2)) * np.sqrt(2 / df))
    return Gap(
        value=float(np.sqrt(max(0.0, (difference**2 - variance).mean()))),
        low=float(np.sqrt(_noncentrality(items, df, 1 - tail / looks, f) * unit)),
        high=float(np.sqrt(_noncentrality(items, df, tail, f) * unit)),
        observed=float(np.abs(difference).mean()),
        noise_floor=float(np.sqrt(2 * variance / np.pi).mean() / c4),
        f=f,
        df=df,
        p=float(fdtrc(items, df, f)),
        items=items,
        n=n,
    )


def _noncentrality(items: int, df: float, chance: float, f: float) -> float:
    """The noncentrality with which a smaller F has this chance; 0 where it would have to be negative.

    >>> round(_noncentrality(2, 20, 0.05, 3.0), 3), _noncentrality(2, 20, 0.95, 3.0)
    (16.228, 0.0)
    """
    from scipy.special import chdtri, fdtr

    if fdtr(items, df, f) <= chance:
        return 0.0
    if items * f > _FAR:
        return float(items * f * chdtri(df, chance) / df)
    return _root(lambda nc: chance - _below(items, df, nc, f))


def _quantile(items: int, df: float, noncentrality: float, chance: float) -> float:
    """The F below which a noncentral F lies with this chance.

    >>> round(_quantile(2, 20, 10.0, 0.05), 3)
    1.439
    """
    from scipy.special import chdtri

    if noncentrality > _FAR:
        return float(noncentrality * df / (items * chdtri(df, chance)))
    return _root(lambda f: _below(items, df, noncentrality, f) - chance)


def _below(items: int, df: float, noncentrality: float, f: float) -> float:
    """Chance of a noncentral F below f; in tails that are too far for the series, 0 or 1."""
    from scipy.special import fdtr, ncfdtr

    if noncentrality > 100 * _FAR:
        return float(f * items > noncentrality)
    found = float(ncfdtr(items, df, noncentrality, f) if noncentrality > 0 else fdtr(items, df, f))
    return found if found == found else float(f * items > items + noncentrality)


def _root(rising: Callable[[float], float]) -> float:
    """Where a function of numbers above 0 that begins below 0 and rises comes to 0."""
    from scipy.optimize import brentq

    high = 1.0
    while rising(high) < 0:
        high *= 2
    return float(brentq(rising, 0.0, high, xtol=_TINY, rtol=_CLOSE))


def widest(gaps: Sequence[Gap]) -> Gap:
    """Of the gaps of every two pools, the one whose lower end is highest, with the highest upper end of all.

    >>> widest([Gap(1.0, 0.0, 1.5), Gap(2.0, 0.5, 1.2)]).high
    1.5
    """
    missing = next((one for one in gaps if one.undefined), None)
    if missing is not None:
        return missing
    best = max(gaps, key=lambda one: (one.low or 0.0, one.value or 0.0))
    return replace(best, high=max(one.high or 0.0 for one in gaps))


def power_of(
    variances: tuple[float, float],
    n: int,
    items: int,
    least: float,
    gaps: Sequence[float],
    *,
    confidence: float,
    looks: int = 1,
) -> Power:
    """What n raters a pool can show of a pair, where ratings vary within an item as in the pilot.

    least : the smallest gap that counts; gaps : of which the chance to be found is told

    >>> found = power_of((0.6, 0.6), 5, 2, 1.0, (1.5,), confidence=0.9)
    >>> round(found.kept[0], 2), round(found.dropped, 2), round(found.detectable, 2)
    (0.97, 0.65, 1.13)
    """
    from scipy.special import fdtr, fdtri

    tail = (1 - confidence) / 2
    noise = sum(variances) / n
    own = PRIOR_DF + items * (n - 1)
    df = sum(variances) ** 2 / sum(one**2 / own for one in variances)

    def noncentral(gap: float) -> float:
        return items * gap**2 / noise

    near = _quantile(items, df, noncentral(least), tail)
    beyond = max(float(fdtri(items, df, 1 - tail / looks)), near)
    kept = tuple(1 - _below(items, df, noncentral(gap), beyond) for gap in gaps)
    found = float(np.sqrt(_noncentrality(items, df, 0.2, beyond) * noise / items))
    return Power(n, tuple(gaps), kept, float(fdtr(items, df, near)), found)
