"""Reliability of the consensus of labels without order.

The consensus of a pool on an item is the vector of its label shares; variances are summed over labels.
"""

from __future__ import annotations

import numpy as np

from voirdire.statistic import ratio
from voirdire.stats.agreement import CONSTANT, LEAST_DF
from voirdire.stats.features import Array


def reliability_features(counts: Array) -> Array:
    """(5 + L, I) per-item sums of the reliability of label shares; zeros where the pool has no rating.

    counts : (I, L) how many raters gave each label
    """
    n = counts.sum(1)
    rated = n > 0
    size = np.where(rated, n, 1.0)
    shares = counts / size[:, None]
    squares = (shares**2).sum(1)
    several = n > 1
    rows = [rated, np.where(rated, 1 / size, 0.0), np.where(several, n * (1 - squares), 0.0)]
    rows += [np.where(several, n - 1, 0.0), squares, *shares.T]
    return np.array(rows, dtype=float)


def reliability_of_sums(sums: Array) -> Array:
    """1 - noise / variance of the shares, both summed over labels; sums (5 + L, ...), NaN where undefined.

    >>> counts = np.array([[3.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
    >>> float(reliability_of_sums(reliability_features(counts).sum(1)))
    1.0
    """
    rated, inverse, within, df, squares, *shares = sums
    noise = ratio(within, df) * ratio(inverse, rated)
    spread = ratio(squares - ratio(sum(share**2 for share in shares), rated), rated - 1)
    return 1 - ratio(noise, np.where(spread <= CONSTANT, 0.0, spread))


def reliability_reason(sums: Array) -> str | None:
    """Why the reliability of these sums (5 + L,) is undefined, None when it is not."""
    rated, _, _, df, squares, *shares = (float(value) for value in sums)
    if rated == 0:
        return "no_items"
    if df == 0:
        return "one_rater"
    if df < LEAST_DF:
        return "few_rated_twice"
    if rated == 1:
        return "one_item"
    return "constant_consensus" if squares - sum(share**2 for share in shares) / rated <= CONSTANT else None
