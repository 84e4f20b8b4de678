"""The permuted control: what a judge would score if its ratings fell on the items at random (section 2: ``controls``).

The expectation over all permutations is exact, without draws: an item meets each of the judge's ratings equally
often. ``G(i) = mean_j abs(r_j - m_i)`` comes from the sorted ratings and their cumulative sums.

The ratings are permuted over the items of the statistic: those with a rating and the consensus of the pool, or of
both pools. Shapes: C cells, I items; NaN marks a missing rating or consensus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.stats.per_item import Array, over

TIE = 1e-9


@dataclass(frozen=True)
class PermutedPair:
    """Expectations under permutation for a pair of pools, (C,) each, NaN where undefined.

    mae_a, mae_b, delta : on items with both pools
    delta_sq : without the pools' noise term, which does not depend on the judge: subtract mean(s2_a / n_a - s2_b / n_b)
    tilt : over items whose pools differ; tilt_ratio = -delta / mean abs gap
    """

    mae_a: Array
    mae_b: Array
    delta: Array
    delta_sq: Array
    tilt: Array
    tilt_ratio: Array


def expected_errors(ratings: Array, targets: Array) -> Array:
    """(I,) mean over all ratings j of abs(r_j - target_i).

    ratings : (J,) without NaN, at least one; targets : (I,) without NaN

    >>> expected_errors(np.array([1.0, 5.0]), np.array([2.0, 6.0]))
    array([2., 3.])
    """
    ordered = np.sort(ratings)
    total = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, targets)
    n = len(ordered)
    result: Array = (targets * (2 * below - n) + total[-1] - 2 * total[below]) / n
    return result


def permuted_mae(ratings: Array, consensus: Array) -> Array:
    """(C,) expected MAE of each cell's permuted ratings against one pool.

    ratings : (C, I) (mean over repeats); consensus : (I,)

    >>> permuted_mae(np.array([[1.0, 5.0]]), np.array([1.0, 5.0]))
    array([2.])
    """
    result = np.full(len(ratings), np.nan)
    for cell, row in enumerate(ratings):
        used = ~np.isnan(row) & ~np.isnan(consensus)
        if used.any():
            result[cell] = expected_errors(row[used], consensus[used]).mean()
    return result


def permuted_pair(ratings: Array, m_a: Array, m_b: Array) -> PermutedPair:
    """Expected MAE, delta, delta_sq and tilt of each cell's permuted ratings against a pair of pools.

    ratings : (C, I) (mean over repeats); m_a, m_b : (I,)
    """
    both = ~np.isnan(m_a) & ~np.isnan(m_b)
    rows = np.full((len(ratings), 6), np.nan)
    for cell, row in enumerate(ratings):
        used = ~np.isnan(row) & both
        if used.any():
            rows[cell] = _pair(row[used], m_a[used], m_b[used])
    return PermutedPair(*rows.T)


def permuted_disagreement(codes: Array, shares: Array) -> Array:
    """(C,) nominal MAE of permuted labels: 1 - the mean share of raters who agree.

    codes : (C, I) places of labels, NaN where missing; shares : (I, L), zeros where missing
    """
    given = ~np.isnan(codes) & (shares.sum(1) > 0)
    said = np.stack([(given & (codes == label)).sum(1) for label in range(shares.shape[1])], axis=1)
    people = given.astype(float) @ shares
    n = given.sum(1)
    return np.asarray(1 - over((said * people).sum(1), n.astype(float) ** 2))


def _pair(row: Array, m_a: Array, m_b: Array) -> tuple[float, ...]:
    error_a, error_b = expected_errors(row, m_a), expected_errors(row, m_b)
    gap = np.abs(m_a - m_b)
    apart = gap > TIE
    delta = float(error_a.mean() - error_b.mean())
    square = float(np.mean(m_a**2 - m_b**2) - 2 * row.mean() * np.mean(m_a - m_b))
    tilt = float(np.mean((error_b - error_a)[apart] / gap[apart])) if apart.any() else float("nan")
    ratio = -delta / float(np.where(apart, gap, 0.0).mean()) if apart.any() else float("nan")
    return float(error_a.mean()), float(error_b.mean()), delta, square, tilt, ratio
