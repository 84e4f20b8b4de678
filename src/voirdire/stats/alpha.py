"""Krippendorff's alpha on value counts.

Source: Krippendorff, Content Analysis (2004), chapter 11; written from the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.statistic import ratio
from voirdire.stats.features import Array


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, or the reason why it is undefined; ``draws`` of the item bootstrap (NaN: undefined)."""

    value: float | None
    undefined: str | None
    n: int
    draws: Array


def coincidences(counts: Array) -> Array:
    """(I, L) value counts -> (I, L, L) coincidences c_k * (c_l - [k = l]) / (n - 1); items with n < 2 are 0."""
    n = counts.sum(1)
    weight = np.where(n > 1, 1 / np.maximum(n - 1, 1), 0.0)
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    result: Array = pairs * weight[:, None, None]
    return result


def distance(n_values: Array, values: Array, level: str) -> Array:
    """Squared distances (..., L, L) of Krippendorff's metric; n_values (..., L) matters to the ordinal one."""
    if level == "nominal":
        return np.broadcast_to(1.0 - np.eye(len(values)), (*n_values.shape, len(values)))
    if level in ("interval", "ratio"):
        difference = values[:, None] - values[None, :]
        total = values[:, None] + values[None, :]
        scaled = difference if level == "interval" else ratio(difference, total)
        return np.broadcast_to(np.nan_to_num(scaled) ** 2, (*n_values.shape, len(values)))
    middle = np.cumsum(n_values, -1) - n_values / 2
    squared: Array = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def alpha_of_coincidences(total: Array, values: Array, level: str) -> Array:
    """Alpha (...) from summed coincidences (..., L, L); NaN where all pairable values are equal."""
    n_values = total.sum(-1)
    n = n_values.sum(-1)
    metric = distance(n_values, values, level)
    observed = (total * metric).sum((-1, -2))
    expected = (n_values[..., :, None] * n_values[..., None, :] * metric).sum((-1, -2))
    return 1 - (n - 1) * ratio(observed, expected)


def alpha(
    counts: Array, values: Array, level: str, *, draws: int = 0, rng: np.random.Generator | None = None
) -> Alpha:
    """Krippendorff's alpha on value counts, with an item bootstrap.

    counts : (I, L) how many raters of the pool gave each value; items with fewer than two are ignored
    values : (L,) the values in order; level : nominal, ordinal, interval or ratio
    draws : resamples of items, drawn as multinomials over the distinct patterns of counts

    Source: Krippendorff 2004, chapter 11. Undefined: ``no_pairable`` without an item of two ratings,
    ``all_equal`` when all pairable values are equal.

    >>> round(alpha(np.array([[2, 0], [0, 2], [1, 1]]), np.array([1, 2]), "ordinal").value, 4)
    0.4444
    """
    pairable = counts.sum(1) > 1
    n = int(pairable.sum())
    patterns, times = np.unique(np.asarray(counts, dtype=float)[pairable], axis=0, return_counts=True)
    table = coincidences(patterns)
    if n == 0:
        return Alpha(None, "no_pairable", 0, np.empty(0))
    point = float(alpha_of_coincidences(np.tensordot(times.astype(float), table, 1), values, level))
    if np.isnan(point):
        return Alpha(None, "all_equal", n, np.empty(0))
    resampled = np.empty(0)
    if draws and rng is not None:
        weights = rng.multinomial(n, times / n, size=draws).astype(float)
        flat = weights @ table.reshape(len(patterns), -1)
        resampled = alpha_of_coincidences(flat.reshape(draws, *table.shape[1:]), values, level)
    return Alpha(point, None, n, resampled)
