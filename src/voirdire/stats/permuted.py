"""The permuted control: what a judge would score if its ratings fell on the items at random (section 2: ``controls``).

The expectation over all permutations is exact, without draws: an item meets each of the judge's ratings equally
often. ``G(i) = mean_j abs(r_j - m_i)`` comes from the sorted ratings and their cumulative sums.

The ratings are permuted over the items of the statistic: those with a rating and the consensus of the pool, or of
both pools. The repeats of an item stay together, and an error is the mean over them.
Shapes: C cells, I items, R repeats; NaN marks a missing rating or consensus.
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


def expected_errors(ratings: Array, targets: Array, weights: Array | None = None) -> Array:
    """(I,) mean over all ratings j of abs(r_j - target_i).

    ratings : (J,) without NaN, at least one; targets : (I,) without NaN; weights : (J,) of the ratings

    >>> expected_errors(np.array([1.0, 5.0]), np.array([2.0, 6.0]))
    array([2., 3.])
    """
    order = np.argsort(ratings)
    ordered = ratings[order]
    mass = np.ones(len(ordered)) if weights is None else weights[order]
    total, masses = (np.concatenate([[0.0], np.cumsum(part)]) for part in (mass * ordered, mass))
    below = np.searchsorted(ordered, targets)
    result: Array = (targets * (2 * masses[below] - masses[-1]) + total[-1] - 2 * total[below]) / masses[-1]
    return result


def permuted_mae(ratings: Array, consensus: Array) -> Array:
    """(C,) expected MAE of each cell's permuted ratings against one pool.

    ratings : (C, I) or (C, I, R); consensus : (I,)

    >>> permuted_mae(np.array([[1.0, 5.0]]), np.array([1.0, 5.0]))
    array([2.])
    """
    result = np.full(len(ratings), np.nan)
    for cell, row in enumerate(ratings):
        used = _given(row) & ~np.isnan(consensus)
        if used.any():
            result[cell] = expected_errors(*_flat(row[used], consensus[used])).mean()
    return result


def permuted_pair(ratings: Array, m_a: Array, m_b: Array, min_gap: float = 0.0) -> PermutedPair:
    """Expected MAE, delta, delta_sq and tilt of each cell's permuted ratings against a pair of pools.

    ratings : (C, I) or (C, I, R); m_a, m_b : (I,); min_gap : smallest gap of an item for the tilt
    """
    both = ~np.isnan(m_a) & ~np.isnan(m_b)
    rows = np.full((len(ratings), 6), np.nan)
    for cell, row in enumerate(ratings):
        used = _given(row) & both
        if used.any():
            rows[cell] = _pair(row[used], m_a[used], m_b[used], min_gap)
    return PermutedPair(*rows.T)


def permuted_disagreement(codes: Array, shares: Array) -> Array:
    """(C,) nominal MAE of permuted labels: 1 - the mean share of raters who agree.

    codes : (C, I) or (C, I, R) places of labels, NaN where missing; shares : (I, L), zeros where missing
    """
    cube = codes[..., None] if codes.ndim == 2 else codes
    repeats = (~np.isnan(cube)).sum(-1)
    given = (repeats > 0) & (shares.sum(1) > 0)
    part = np.where(given, 1 / np.maximum(repeats, 1), 0.0)
    said = np.stack([((cube == label).sum(-1) * part).sum(1) for label in range(shares.shape[1])], axis=1)
    people = given.astype(float) @ shares
    n = given.sum(1)
    return np.asarray(1 - over((said * people).sum(1), n.astype(float) ** 2))


def _given(row: Array) -> np.ndarray:
    """(I,) whether an item has a rating, of one cell's ratings (I,) or (I, R)."""
    return np.asarray((~np.isnan(row.reshape(len(row), -1))).any(1))


def _flat(row: Array, target: Array) -> tuple[Array, Array, Array]:
    """The ratings of one cell, the targets, and weights that give every item the same mass."""
    cube = row.reshape(len(row), -1)
    known = ~np.isnan(cube)
    weights = np.broadcast_to(1 / np.maximum(known.sum(1, keepdims=True), 1), cube.shape)
    return cube[known], target, weights[known]


def _pair(row: Array, m_a: Array, m_b: Array, min_gap: float) -> tuple[float, ...]:
    error_a, error_b = (expected_errors(*_flat(row, target)) for target in (m_a, m_b))
    ratings, _, weights = _flat(row, m_a)
    gap = np.abs(m_a - m_b)
    differ = gap > TIE
    apart = differ & (gap >= min_gap - TIE)
    delta = float(error_a.mean() - error_b.mean())
    square = float(np.mean(m_a**2 - m_b**2) - 2 * np.average(ratings, weights=weights) * np.mean(m_a - m_b))
    tilt = float(np.mean((error_b - error_a)[apart] / gap[apart])) if apart.any() else float("nan")
    ratio = -delta / float(np.where(differ, gap, 0.0).mean()) if differ.any() else float("nan")
    return float(error_a.mean()), float(error_b.mean()), delta, square, tilt, ratio
