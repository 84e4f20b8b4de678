"""The item bootstrap: every resample of every cell as one matrix product (section 5 of the definitions).

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MEMORY = 8_000_000
MOST_UNDEFINED = 0.05
Z95 = 1.959963984540054


def item_weights(n_items: int, draws: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """(draws, items) how often each item is drawn when n_items items are drawn with replacement.

    >>> item_weights(4, 3, np.random.default_rng(0)).sum(1)
    array([4, 4, 4], dtype=uint64)
    """
    weights = np.empty((draws, n_items), dtype=np.uint8)
    step = max(1, MEMORY // max(n_items, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(n_items, size=(size, n_items), dtype=np.int64)
        drawn += np.arange(size)[:, None] * n_items
        counts = np.bincount(drawn.ravel(), minlength=size * n_items)
        weights[start : start + size] = counts.reshape(size, n_items)
    return weights


def weighted_sums(weights: npt.NDArray[np.uint8], features: Array) -> Array:
    """(draws, items) x (..., items) -> (draws, ...): the features summed under every resample."""
    flat = features.reshape(-1, features.shape[-1]).T
    sums = np.empty((len(weights), flat.shape[1]))
    step = max(1, MEMORY // max(weights.shape[1], 1))
    for start in range(0, len(weights), step):
        np.matmul(weights[start : start + step].astype(float), flat, out=sums[start : start + step])
    return sums.reshape(len(weights), *features.shape[:-1])


def percentile(draws: Array, level: float) -> tuple[Array, Array]:
    """Percentile interval over axis 0 of (draws, ...); NaN where over 5 % of the draws are undefined."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    bad = np.isnan(draws).mean(0)
    if bad.any():
        low, high = _nan_quantiles(draws, tails)
        return np.where(bad > MOST_UNDEFINED, np.nan, low), np.where(bad > MOST_UNDEFINED, np.nan, high)
    low, high = np.quantile(draws, tails, axis=0)
    return low, high


def _nan_quantiles(draws: Array, tails: list[float]) -> tuple[Array, Array]:
    clean = ~np.isnan(draws).any(0)
    low, high = np.full(draws.shape[1:], np.nan), np.full(draws.shape[1:], np.nan)
    if clean.any():
        low[clean], high[clean] = np.quantile(draws[:, clean], tails, axis=0)
    some = ~clean & ~np.isnan(draws).all(0)
    if some.any():
        low[some], high[some] = np.nanquantile(draws[:, some], tails, axis=0)
    return low, high


def bca(point: Array, draws: Array, left_out: Array, level: float) -> tuple[Array, Array]:
    """Bias-corrected and accelerated interval.

    point (S,) ; draws (D, S) ; left_out (I, S) the statistic with each item left out. NaN where the draws do not
    vary or over 5 % are undefined.
    """
    from scipy.special import ndtr, ndtri

    below = np.where(np.isnan(draws), np.nan, (draws < point) + 0.5 * (draws == point))
    with np.errstate(invalid="ignore", divide="ignore"):
        z0 = ndtri(np.nanmean(below, axis=0))
        deviation = np.nanmean(left_out, axis=0) - left_out
        acceleration = np.nansum(deviation**3, axis=0) / (6 * np.nansum(deviation**2, axis=0) ** 1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + ndtri(tail)
        adjusted = ndtr(z0 + z / (1 - acceleration * z))
        ends.append(_quantile_each(draws, adjusted))
    unusable = np.isnan(draws).mean(0) > MOST_UNDEFINED
    return np.where(unusable, np.nan, ends[0]), np.where(unusable, np.nan, ends[1])


def _quantile_each(draws: Array, levels: Array) -> Array:
    """Quantile ``levels[s]`` of each column s; NaN where the level is."""
    result = np.full(draws.shape[1], np.nan)
    for s in np.flatnonzero(np.isfinite(levels)):
        column = draws[:, s][~np.isnan(draws[:, s])]
        if column.size:
            result[s] = np.quantile(column, levels[s])
    return result


def normal(point: Array, draws: Array, level: float) -> tuple[Array, Array]:
    """point +- z * SE of the draws; for draws that are biased upward (resampled raters)."""
    from scipy.special import ndtri

    with np.errstate(invalid="ignore"):
        spread = np.nanstd(draws, axis=0, ddof=1) if len(draws) > 1 else np.full(draws.shape[1:], np.nan)
    half = float(ndtri((1 + level) / 2)) * spread
    unusable = np.isnan(draws).mean(0) > MOST_UNDEFINED
    return np.where(unusable, np.nan, point - half), np.where(unusable, np.nan, point + half)


def fisher_z(r: Array, n: Array, level: float, extra: float | Array = 0.0) -> tuple[Array, Array]:
    """Fisher's z interval of a correlation; ``extra`` is Bonett and Wright's r^2 / 2 for Spearman.

    >>> low, high = fisher_z(np.array([-0.12]), np.array([626]), 0.95)
    >>> [round(float(low[0]), 3), round(float(high[0]), 3)]
    [-0.197, -0.042]
    """
    from scipy.special import ndtri

    with np.errstate(divide="ignore", invalid="ignore"):
        half = float(ndtri((1 + level) / 2)) * np.sqrt((1 + extra) / (n - 3))
        z = np.arctanh(r)
        low, high = np.tanh(z - half), np.tanh(z + half)
    usable = (n > 3) & np.isfinite(z)
    return np.where(usable, low, np.nan), np.where(usable, high, np.nan)


def leave_one_out(finish: Callable[..., Array], features: Array) -> Array:
    """(features, columns, items) -> (items, columns): the statistic with each item left out."""
    total = features.sum(-1, keepdims=True)
    rest = np.moveaxis(total - features, -1, 1)
    result: Array = finish(*rest)
    return result
