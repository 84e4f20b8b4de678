"""The item bootstrap: every resample of every cell as one matrix product (section 5 of the definitions).

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MEMORY = 2_000_000
CACHE = 250_000
MOST_UNDEFINED = 0.05


def item_weights(n_items: int, draws: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """(draws, items) how often each item is drawn when n_items items are drawn with replacement.

    >>> item_weights(4, 3, np.random.default_rng(0)).sum(1)
    array([4, 4, 4], dtype=uint64)
    """
    weights = np.empty((draws, n_items), dtype=np.uint8)
    step = max(1, CACHE // max(n_items, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(n_items, size=(size, n_items), dtype=np.int64)
        drawn += np.arange(size)[:, None] * n_items
        counts = np.bincount(drawn.ravel(), minlength=size * n_items)
        weights[start : start + size] = counts.reshape(size, n_items)
    return weights


def weighted_sums(weights: npt.NDArray[np.uint8], features: Array) -> Array:
    """(draws, items) x (rows, items) -> (rows, draws): the features summed under every resample.

    Rows that are equal (an indicator that is the same for every cell) are multiplied once.
    """
    return block_sums(weights, [features])[0]


def block_sums(weights: npt.NDArray[np.uint8], blocks: Sequence[Array]) -> list[Array]:
    """:func:`weighted_sums` of each block of rows, by one product; equal rows are looked for within a block."""
    parts = [distinct_rows(block) for block in blocks]
    if not parts:
        return []
    rows = np.concatenate([distinct for distinct, _ in parts])
    sums = _product(rows, weights)
    ends = np.cumsum([len(distinct) for distinct, _ in parts])
    return [_spread(part, place) for part, (_, place) in zip(np.split(sums, ends[:-1]), parts, strict=True)]


def _product(rows: Array, weights: npt.NDArray[np.uint8]) -> Array:
    """rows @ weights.T, the weights made floats for some of the items at a time."""
    draws, n_items = weights.shape
    if draws == 0:
        return np.empty((len(rows), 0))
    step = max(1, MEMORY // max(draws, 1))
    sums: Array = rows[:, :step] @ weights[:, :step].astype(float).T
    for start in range(step, n_items, step):
        sums += rows[:, start : start + step] @ weights[:, start : start + step].astype(float).T
    return sums


def _spread(sums: Array, place: npt.NDArray[np.int64]) -> Array:
    """The sums of distinct rows at every place; a view where all places are equal or all differ."""
    if len(sums) == 1:
        return np.broadcast_to(sums, (len(place), sums.shape[1]))
    return sums if len(sums) == len(place) else sums[place]


def distinct_rows(features: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """The distinct rows (the features themselves when all are), and for every row the place of its like.

    Rows are told apart by a random projection, and those that agree in it are compared.

    >>> distinct_rows(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]))[1]
    array([0, 1, 0])
    """
    marks = features @ np.random.default_rng(0).standard_normal(features.shape[1])
    seen: dict[float, int] = {}
    first: list[int] = []
    place = np.empty(len(features), dtype=np.int64)
    for row, mark in enumerate(marks.tolist()):
        like = seen.setdefault(mark, len(first))
        if like == len(first) or not np.array_equal(features[first[like]], features[row]):
            like = len(first)
            first.append(row)
        place[row] = like
    return (features if len(first) == len(features) else features[first]), place


def percentile(draws: Array, level: float) -> tuple[Array, Array]:
    """Percentile interval over the last axis of (..., draws); NaN where over 5 % of the draws are undefined."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    undefined = np.isnan(draws)
    if not undefined.any():
        return _quantiles(draws, tails)
    share = undefined.mean(-1)
    ends = [np.full(draws.shape[:-1], np.nan) for _ in tails]
    clean, some = share == 0, (share > 0) & (share <= MOST_UNDEFINED)
    for rows, quantile in ((clean, _quantiles), (some, _nan_quantiles)):
        if rows.any():
            for end, values in zip(ends, quantile(draws[rows], tails), strict=True):
                end[rows] = values
    return ends[0], ends[1]


def _quantiles(draws: Array, tails: list[float]) -> tuple[Array, Array]:
    """Linear quantiles (as numpy's default) by one sort, which is faster than selecting four places."""
    ordered = np.sort(draws, axis=-1)
    ends = []
    for position in (tail * (draws.shape[-1] - 1) for tail in tails):
        place = int(position)
        left, right = ordered[..., place], ordered[..., min(place + 1, draws.shape[-1] - 1)]
        ends.append(left + (right - left) * (position - place))
    return ends[0], ends[1]


def _nan_quantiles(draws: Array, tails: list[float]) -> tuple[Array, Array]:
    low, high = np.nanquantile(draws, tails, axis=-1)
    return low, high


def bca(point: Array, draws: Array, left_out: Array, level: float) -> tuple[Array, Array]:
    """Bias-corrected and accelerated interval.

    point (S,) ; draws (S, D) ; left_out (S, I) the statistic with each item left out. NaN where the draws do not
    vary or over 5 % are undefined.
    """
    from scipy.special import ndtr, ndtri

    below = np.where(np.isnan(draws), np.nan, (draws < point[:, None]) + 0.5 * (draws == point[:, None]))
    with np.errstate(invalid="ignore", divide="ignore"):
        z0 = ndtri(_nanmean(below))
        deviation = _nanmean(left_out)[:, None] - left_out
        acceleration = np.nansum(deviation**3, axis=-1) / (6 * np.nansum(deviation**2, axis=-1) ** 1.5)
        tails = [z0 + ndtri(tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
        levels = [ndtr(z0 + z / (1 - acceleration * z)) for z in tails]
    unusable = np.isnan(draws).mean(-1) > MOST_UNDEFINED
    low, high = (np.where(unusable, np.nan, _quantile_each(draws, each)) for each in levels)
    return low, high


def _nanmean(values: Array) -> Array:
    known = ~np.isnan(values)
    mean: Array = np.where(known, values, 0.0).sum(-1) / known.sum(-1)
    return mean


def _quantile_each(draws: Array, levels: Array) -> Array:
    """Quantile ``levels[s]`` of each row s; NaN where the level is."""
    result = np.full(len(draws), np.nan)
    for s in np.flatnonzero(np.isfinite(levels)):
        row = draws[s][~np.isnan(draws[s])]
        if row.size:
            result[s] = np.quantile(row, levels[s])
    return result


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
    """(features, rows, items) -> (rows, items): the statistic with each item left out."""
    result: Array = finish(*(features.sum(-1, keepdims=True) - features))
    return result
