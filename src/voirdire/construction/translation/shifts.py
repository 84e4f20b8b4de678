"""The shift between two languages of a rating scale: paired within rater and item, clustered by rater.

Arrays in, small frozen results out. Definitions and reasons: docs/explanation/equivalence.md.

Sources: Hartigan 1969 (the means of all subsets of n symmetric observations cut the line into 2^n parts of equal
probability: an exact interval); Fisher 1935 (exact test by changing signs); Student 1908.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MOST_EXACT = 16
"""Raters up to which all subsets are gone through; with more the t interval is as good."""

MOST_COUNTED = 10
POWER = 0.8
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Shift:
    """A mean over raters with its interval.

    value : the mean of the raters' own numbers, each rater counting the same; None without any
    low, high : of the interval; method : ``subsets`` (exact) or ``t``
    p : of the exact test by changing signs (up to MOST_EXACT raters), else of the t test
    detectable : the smallest shift that such raters would have shown 4 times in 5
    sd : of the raters' numbers; raters, pairs : how many there are
    undefined : why there is no value; no_interval : why there is no interval
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    p: float | None = None
    detectable: float | None = None
    sd: float | None = None
    raters: int = 0
    pairs: int = 0
    undefined: str | None = None
    no_interval: str | None = None


def shift_of(first: npt.ArrayLike, second: npt.ArrayLike, rater: npt.ArrayLike, confidence: float = 0.95) -> Shift:
    """How much higher the second language is rated than the first.

    first, second : (P,) the ratings of one rater of one item in both languages; rater : (P,) whose they are

    >>> found = shift_of([3, 3, 4, 2, 3, 3, 4], [4, 3, 5, 3, 3, 4, 5], [0, 0, 1, 2, 3, 4, 5])
    >>> round(found.value, 3), found.method, found.raters
    (0.75, 'subsets', 6)
    """
    a, b, who = np.asarray(first, float), np.asarray(second, float), np.asarray(rater)
    return mean_with_interval(_by_rater(b - a, who), confidence, len(a))


def stretch_of(first: npt.ArrayLike, second: npt.ArrayLike, rater: npt.ArrayLike, confidence: float = 0.95) -> Shift:
    """How much more of the scale is used in the second language: the difference of a rater's standard deviations.

    Over raters with three items or more. A translated scale whose ends are both milder is used more widely, and shows
    no shift.

    >>> stretch_of([2, 3, 4] * 2, [1, 3, 5] * 2, [0, 0, 0, 1, 1, 1]).value
    1.0
    """
    a, b, who = np.asarray(first, float), np.asarray(second, float), np.asarray(rater)
    own, pairs = [], 0
    for one in np.unique(who):
        here = who == one
        if here.sum() >= 3:
            own.append(b[here].std(ddof=1) - a[here].std(ddof=1))
            pairs += int(here.sum())
    found = mean_with_interval(np.array(own), confidence, pairs)
    return found if own else Shift(undefined="few_items")


def mean_with_interval(own: npt.ArrayLike, confidence: float = 0.95, pairs: int = 0) -> Shift:
    """The mean of raters' numbers, with an interval that holds for few of them.

    own : (R,) a number for each rater. Undefined: ``no_pairs`` without any. No interval: ``one_rater``; ``no_spread``
    where all numbers are equal, so that nothing says how far another rater's would be.
    """
    x = np.round(np.sort(np.asarray(own, float)), 12)
    if not len(x):
        return Shift(undefined="no_pairs")
    mean, n = float(x.mean()), len(x)
    if n == 1:
        return Shift(mean, raters=1, pairs=pairs, no_interval="one_rater")
    sd = float(x.std(ddof=1))
    if sd < _TINY:
        return Shift(mean, sd=0.0, raters=n, pairs=pairs, no_interval="no_spread")
    found = _by_subsets(x, confidence) if n <= MOST_EXACT else None
    low, high, method = (*found, "subsets") if found else (*_by_t(mean, sd, n, confidence), "t")
    p = _sign_p(x) if n <= MOST_EXACT else _t_p(mean, sd, n)
    return Shift(mean, low, high, method, p, detectable(sd, n, confidence), sd, n, pairs)


def detectable(sd: float, raters: int, confidence: float = 0.95) -> float:
    """The smallest shift whose interval over so many raters leaves out 0 with a chance of 80 %, for normal numbers.

    Of the exact interval up to MOST_COUNTED raters, beyond which it is that of the t test (3 % apart at 10).

    >>> round(detectable(0.5, 4), 3), round(detectable(0.5, 6), 3), round(detectable(0.5, 20), 3)
    (1.064, 0.899, 0.33)
    """
    exact = _exact_effect(raters, confidence) if raters <= MOST_COUNTED else None
    return sd * (_t_effect(raters, confidence) if exact is None else exact)


@lru_cache(maxsize=256)
def _exact_effect(n: int, confidence: float) -> float | None:
    """In standard deviations, over samples that fill the space evenly (Sobol 1967); None where there is no interval.

    The interval leaves out 0 where the k-th smallest mean of a subset is above it, and a shift moves all of these.
    """
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    k = _places(n, confidence)
    if k < 1:
        return None
    samples = ndtri(Sobol(n, scramble=False).random(2048)[1:])
    total, size = np.zeros((len(samples), 1)), np.zeros(1)
    for place in range(n):
        total = np.concatenate([total, total + samples[:, place : place + 1]], axis=1)
        size = np.concatenate([size, size + 1])
    means = np.partition(total[:, 1:] / size[1:], k - 1, axis=1)[:, k - 1]
    return float(np.quantile(-means, POWER))


@lru_cache(maxsize=256)
def _t_effect(raters: int, confidence: float) -> float:
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    df = raters - 1
    critical = t.ppf((1 + confidence) / 2, df)

    def missing(effect: float) -> float:
        found = nct.sf(critical, df, effect) + nct.cdf(-critical, df, effect)
        return float(np.nan_to_num(found, nan=1.0)) - POWER

    root: float = brentq(missing, 0.0, 4.0 * float(critical) + 10.0)
    return root / float(np.sqrt(raters))


def _places(n: int, confidence: float) -> int:
    """How many means of subsets lie outside of the interval at each end."""
    return floor((1 - confidence) / 2 * 2**n + _TINY)


def _by_rater(differences: Array, rater: npt.NDArray[np.int64]) -> Array:
    if not len(rater):
        return np.zeros(0)
    _, place = np.unique(rater, return_inverse=True)
    means: Array = np.bincount(place, differences) / np.bincount(place)
    return means


def _by_subsets(x: Array, confidence: float) -> tuple[float, float] | None:
    """The interval between the k-th smallest and the k-th largest mean of a subset; None for too few raters."""
    k = _places(len(x), confidence)
    if k < 1:
        return None
    total, size = np.zeros(1), np.zeros(1)
    for value in x:
        total, size = np.concatenate([total, total + value]), np.concatenate([size, size + 1])
    means = np.sort(total[1:] / size[1:])
    return float(means[k - 1]), float(means[-k])


def _sign_p(x: Array) -> float:
    """Exact two-sided p: the share of all changes of signs whose sum is as far from 0."""
    sums = np.zeros(1)
    for value in x:
        sums = np.concatenate([sums - value, sums + value])
    return float((np.abs(sums) >= abs(float(x.sum())) - _TINY).mean())


def _by_t(mean: float, sd: float, n: int, confidence: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / float(np.sqrt(n))
    return mean - half, mean + half


def _t_p(mean: float, sd: float, n: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -abs(mean) / (sd / np.sqrt(n))))
