"""Krippendorff's alpha on value counts.

Source: Krippendorff, Content Analysis (2004), chapter 11; written from the formulas. An item with n ratings holds
c_k (c_l - [k = l]) / (n - 1) coincidences of the values k and l. Their sum over items is never built: the observed
disagreement is a sum of one number an item, the expected one needs only how often each value occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.statistic import ratio
from voirdire.stats.features import Array

CHUNK = 4_000_000
PAIRWISE = "pairwise"


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, or the reason why it is undefined; ``draws`` of the item bootstrap (NaN: undefined)."""

    value: float | None
    undefined: str | None
    n: int
    draws: Array


def distance(values: Array, level: str) -> Array:
    """(L, L) squared distances of Krippendorff's nominal, interval or ratio metric."""
    if level == "nominal":
        return np.asarray(1.0 - np.eye(len(values)))
    difference = values[:, None] - values[None, :]
    scaled = difference if level == "interval" else ratio(difference, values[:, None] + values[None, :])
    return np.asarray(np.nan_to_num(scaled) ** 2)


def alpha_of_weights(counts: Array, weights: Array, values: Array, level: str) -> Array:
    """Alpha (D,) of items (I, L) with two ratings or more under weights (D, I); NaN where all values are equal."""
    times = weights @ counts
    n = times.sum(1)
    per_rater = 1 / (counts.sum(1) - 1)
    if level == PAIRWISE:
        times = times + times[:, [1, 0, *range(2, times.shape[1])]]
        n = 2 * n
        observed, expected = 2 * _nominal(counts, weights, per_rater), n**2 - (times**2).sum(1)
    elif level == "ordinal":
        observed, expected = _ordinal(counts, weights, times, per_rater)
    else:
        metric = distance(values, level)
        observed = weights @ (((counts @ metric) * counts).sum(1) * per_rater)
        expected = ((times @ metric) * times).sum(1)
    several = (times > 0).sum(1) > 1
    return np.where(several, 1 - (n - 1) * ratio(observed, expected), np.nan)


def _nominal(counts: Array, weights: Array, per_rater: Array) -> Array:
    """Observed disagreement (D,) of labels."""
    pairs = counts.sum(1) ** 2 - (counts**2).sum(1)
    result: Array = weights @ (pairs * per_rater)
    return result


def _ordinal(counts: Array, weights: Array, times: Array, per_rater: Array) -> tuple[Array, Array]:
    """Observed and expected disagreement (D,): squared distances of middle ranks, which depend on ``times`` (D, L)."""
    middle = np.cumsum(times, 1) - times / 2
    middle -= times.sum(1, keepdims=True) / 2
    expected = 2 * (times.sum(1) * (times * middle**2).sum(1) - (times * middle).sum(1) ** 2)
    observed = np.empty(len(times))
    n = counts.sum(1)
    step = max(1, CHUNK // len(counts))
    for start in range(0, len(times), step):
        ranks = middle[start : start + step].T
        within = n[:, None] * (counts @ ranks**2) - (counts @ ranks) ** 2
        observed[start : start + step] = 2 * np.einsum("di,id->d", weights[start : start + step] * per_rater, within)
    return observed, expected


def alpha(counts: Array, values: Array, level: str, *, draws: int = 0, rng: np.random.Generator | None = None) -> Alpha:
    """Krippendorff's alpha on value counts, with an item bootstrap.

    counts : (I, L) how many raters of the pool gave each value; items with fewer than two are ignored
    values : (L,) the values in order; level : nominal, ordinal, interval or ratio; or pairwise, votes for the first
        of two things, for the second, and ties: alpha of labels with every item counted in both orders, so that it
        does not depend on which thing is called the first
    draws : resamples of items, drawn as multinomials over the distinct patterns of counts

    Source: Krippendorff 2004, chapter 11. Undefined: ``no_pairable`` without an item of two ratings,
    ``all_equal`` when all pairable values are equal.

    >>> round(alpha(np.array([[2, 0], [0, 2], [1, 1]]), np.array([1, 2]), "ordinal").value, 4)
    0.4444
    """
    pairable = counts.sum(1) > 1
    n = int(pairable.sum())
    if n == 0:
        return Alpha(None, "no_pairable", 0, np.empty(0))
    kept = np.array(counts, dtype=float)[pairable]
    if level == PAIRWISE:
        kept[:, :2] = -np.sort(-kept[:, :2], axis=1)
    patterns, times = np.unique(kept, axis=0, return_counts=True)
    used = np.asarray(patterns.any(0))
    used[:2] |= level == PAIRWISE
    patterns, levels = patterns[:, used], np.asarray(values, dtype=float)[used]
    point = float(alpha_of_weights(patterns, times[None].astype(float), levels, level)[0])
    if np.isnan(point):
        return Alpha(None, "all_equal", n, np.empty(0))
    resampled = np.empty(0)
    if draws and rng is not None:
        weights = rng.multinomial(n, times / n, size=draws).astype(float)
        resampled = alpha_of_weights(patterns, weights, levels, level)
    return Alpha(point, None, n, resampled)
