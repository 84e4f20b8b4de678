"""Tests of per-item differences and corrections for many tests (section 5 of the definitions).

The Wilcoxon test is the paper's; it tests symmetry, so the t test of the mean, with the item as the cluster, stands
beside it. The p values of a family are studentised, not counted from a bootstrap (counts cannot go below 1 / draws,
and Holm would reject nothing among many cells).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, over

DIGITS = 9
ROWS = 4_000_000


@dataclass(frozen=True)
class Wilcoxon:
    """Signed-rank test: min(W+, W-), two-sided p, how many differences there are and how many are zero.

    z : the normal deviate of W+, positive where differences tend to be
    """

    statistic: float | None
    p: float | None
    n: int
    n_zero: int
    undefined: str | None = None
    z: float | None = None


@dataclass(frozen=True)
class MeanT:
    """t test of a mean over items: t, two-sided p, degrees of freedom, items, the mean and its standard error."""

    t: float | None
    p: float | None
    df: int
    n: int
    mean: float | None
    se: float | None
    undefined: str | None = None


def wilcoxon(differences: npt.ArrayLike, digits: int | None = DIGITS) -> Wilcoxon:
    """Wilcoxon's signed-rank test of one row of differences (NaN: missing); see ``wilcoxon_rows``.

    >>> result = wilcoxon([0.1, -0.2, 0.3, 0.4, 0.0])
    >>> result.statistic, round(result.p, 4), result.n, result.n_zero
    (2.0, 0.2733, 5, 1)
    """
    return wilcoxon_rows(np.atleast_2d(np.asarray(differences, dtype=float)), digits)[0]


def wilcoxon_rows(differences: npt.ArrayLike, digits: int | None = DIGITS) -> tuple[Wilcoxon, ...]:
    """Wilcoxon's signed-rank test of every row.

    differences : (rows, I), NaN where missing

    Differences are rounded to 1e-9 first: consensuses in fifths carry float noise that would break zeros and ties.
    ``digits=None`` leaves them as they are, for comparison with published tests that did.
    Zeros are dropped, ties share their mean rank, normal approximation with correction for ties and without one for
    continuity: ``scipy.stats.wilcoxon(..., zero_method="wilcox", correction=False, method="asymptotic")``, for all
    rows at once. Undefined: ``no_items`` without differences, ``all_zero`` when all are zero.

    Source: Wilcoxon 1945; Jury Duty, section 4.2.
    """
    table = np.asarray(differences, dtype=float)
    table = table if digits is None else np.round(table, digits)
    step = max(1, ROWS // max(table.shape[1], 1))
    return tuple(row for start in range(0, len(table), step) for row in _wilcoxon(table[start : start + step]))


def _wilcoxon(table: Array) -> list[Wilcoxon]:
    from scipy.special import ndtr

    given = ~np.isnan(table)
    total, zeros = given.sum(1), (table == 0).sum(1)
    n = (total - zeros).astype(float)
    positive, ties = _signed_ranks(table, given & (table != 0))
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    z = over(positive - mean, np.sqrt(variance))
    p = np.minimum(2 * ndtr(-np.abs(z)), 1.0)
    smaller = np.minimum(positive, n * (n + 1) / 2 - positive)
    return [
        Wilcoxon(float(smaller[row]), float(p[row]), int(total[row]), int(zeros[row]), z=float(z[row]))
        if n[row]
        else Wilcoxon(None, None, int(total[row]), int(zeros[row]), "all_zero" if total[row] else "no_items")
        for row in range(len(table))
    ]


def _signed_ranks(table: Array, used: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """(rows,) sum of the ranks of positive differences, and the sum of t^3 - t over groups of ties."""
    size = np.where(used, np.abs(table), np.inf)
    order = np.argsort(size, axis=1)
    ordered = np.take_along_axis(size, order, axis=1)
    columns = np.arange(table.shape[1])
    new = np.ones(table.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, columns, 0), axis=1)
    last_flag = np.ones(table.shape, bool)
    last_flag[:, :-1] = new[:, 1:]
    flipped = np.where(last_flag, columns, table.shape[1])[:, ::-1]
    last = np.minimum.accumulate(flipped, axis=1)[:, ::-1]
    finite = np.isfinite(ordered)
    rank = (first + last) / 2 + 1
    positive = np.take_along_axis(table > 0, order, axis=1) & finite
    tied = (last - first + 1).astype(float)
    return np.where(positive, rank, 0.0).sum(1), np.where(finite & new, tied**3 - tied, 0.0).sum(1)


def mean_t(differences: npt.ArrayLike) -> MeanT:
    """t test that the mean of one row of per-item differences is 0 (NaN: missing); see ``mean_t_rows``.

    >>> result = mean_t([0.5, 0.1, 0.3, -0.1])
    >>> round(result.t, 4), round(result.p, 4), result.df
    (1.5492, 0.2191, 3)
    """
    return mean_t_rows(np.atleast_2d(np.asarray(differences, dtype=float)))[0]


def mean_t_rows(differences: npt.ArrayLike) -> tuple[MeanT, ...]:
    """t test of the mean of every row, each column an item (the cluster), G - 1 degrees of freedom.

    differences : (rows, I), NaN where missing; several cells of an item enter as their mean

    Undefined: ``no_items``, ``one_item``, ``no_spread`` when all differences of a row are equal (to 1e-9).
    """
    from scipy.special import stdtr

    table = np.round(np.asarray(differences, dtype=float), DIGITS)
    given = ~np.isnan(table)
    n = given.sum(1)
    mean = over(np.where(given, table, 0.0).sum(1), n)
    centred = np.where(given, table - mean[:, None], 0.0)
    se = np.sqrt(over((centred**2).sum(1), (n - 1.0) * n))
    t = over(mean, np.where(se < 10.0**-DIGITS / 10, 0.0, se))
    p = 2 * stdtr(np.maximum(n - 1.0, 1.0), -np.abs(t))
    return tuple(_mean_t(int(n[row]), *(float(part[row]) for part in (mean, se, t, p))) for row in range(len(table)))


def _mean_t(n: int, mean: float, se: float, t: float, p: float) -> MeanT:
    if n < 2:
        return MeanT(None, None, 0, n, mean if n else None, None, "one_item" if n else "no_items")
    if np.isnan(t):
        return MeanT(None, None, n - 1, n, mean, se, "no_spread")
    return MeanT(t, p, n - 1, n, mean, se)


def holm(p: npt.ArrayLike) -> Array:
    """Holm's adjusted p values (family-wise error); NaN stays NaN and does not count as a test.

    p : (tests,) or nested, NaN or None where a test is undefined

    >>> holm([0.01, None, 0.04, 0.03])
    array([0.03,  nan, 0.06, 0.06])
    """
    return _adjust(p, lambda ordered, m: np.maximum.accumulate(ordered * (m - np.arange(m))))


def benjamini_hochberg(p: npt.ArrayLike) -> Array:
    """Benjamini and Hochberg's adjusted p values (false discovery rate, independent or positively dependent tests).

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    array([0.03,  nan, 0.04, 0.04])
    """
    return _adjust(p, _step_up)


def benjamini_yekutieli(p: npt.ArrayLike) -> Array:
    """Benjamini and Yekutieli's adjusted p values (false discovery rate under any dependence).

    >>> benjamini_yekutieli([0.01, 0.04]).round(3)
    array([0.03, 0.06])
    """
    return _adjust(p, lambda ordered, m: _step_up(ordered, m) * np.sum(1 / np.arange(1, m + 1)))


def _step_up(ordered: Array, m: int) -> Array:
    scaled: Array = ordered * m / np.arange(1, m + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _adjust(p: npt.ArrayLike, rule: Callable[[Array, int], Array]) -> Array:
    """Apply a rule on the sorted p values of the tests that exist."""
    values = np.asarray(p, dtype=float)
    result = np.full(values.shape, np.nan)
    given = np.flatnonzero(~np.isnan(values))
    order = given[np.argsort(values.ravel()[given], kind="stable")]
    result.ravel()[order] = np.minimum(rule(values.ravel()[order], len(order)), 1.0)
    return result
