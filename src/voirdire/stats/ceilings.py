"""Ceilings: what one human rater achieves against the pool, and the judge measured the same way (section 2).

A rater who is left out meets the mean of the other n - 1 raters of the item, so a judge has to be scored against
the same leave-one-out consensuses, or it would meet n raters and the person n - 1. All three numbers are means over
items of means over the raters of an item: an item with many raters weighs no more than another.

Shapes: I items, L levels, C cells, R repeats. ``levels`` is (L,), or (I, L) when items have values of their own
(pad with any number: a level with count 0 does not matter). Divide levels and ratings by the range of the item where
items have scales of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, Mask, PerItem, over


@dataclass(frozen=True)
class LeaveOneOut:
    """A pool with one rater left out at a time.

    consensus : (I, L) mean of the others when a rater of this level is left out; NaN where the item does not count
    share : (I, L) share of the item's raters at the level; 0 where the item does not count
    valid : (I,) items with two or more raters
    levels : (I, L) the value of each level
    n_left_out : items with one rater
    """

    consensus: Array
    share: Array
    valid: Mask
    levels: Array
    n_left_out: int


def leave_one_out(counts: npt.ArrayLike, levels: npt.ArrayLike) -> LeaveOneOut:
    """Leave-one-rater-out consensuses of a pool from its value counts.

    counts : (I, L) how many raters gave each value

    >>> leave_one_out([[1, 1, 1]], [1, 2, 6]).consensus
    array([[4. , 3.5, 1.5]])
    """
    table = np.asarray(counts, dtype=float)
    values = np.broadcast_to(np.asarray(levels, dtype=float), table.shape)
    n = table.sum(1)
    valid = n > 1
    total = (table * values).sum(1)
    others = over(total[:, None] - values, (n - 1)[:, None])
    consensus = np.where(valid[:, None], others, np.nan)
    share = np.where(valid[:, None], table / np.maximum(n, 1)[:, None], 0.0)
    return LeaveOneOut(consensus, share, valid, values, int((n == 1).sum()))


def own_ceiling(loo: LeaveOneOut) -> PerItem:
    """(I,) mean absolute error of one rater against the others of the own pool: the own-pool ceiling.

    >>> float(own_ceiling(leave_one_out([[1, 1], [0, 2]], [1, 2])).mean())
    0.5
    """
    error = np.nan_to_num(np.abs(loo.levels - loo.consensus))
    return _finish(loo, (loo.share * error).sum(1), loo.valid)


def other_ceiling(loo: LeaveOneOut, counts_other: npt.ArrayLike) -> PerItem:
    """(I,) mean absolute error of the other pool's raters against the own pool's leave-one-out consensuses.

    counts_other : (I, L) value counts of the other pool on the same levels
    """
    table = np.asarray(counts_other, dtype=float)
    n = table.sum(1)
    error = np.zeros(len(n))
    for level in range(table.shape[1]):
        error += table[:, level] * _error(loo, loo.levels[:, level])
    return _finish(loo, over(error, n), loo.valid & (n > 0))


def judge_ceiling(loo: LeaveOneOut, ratings: Array) -> PerItem:
    """The judge's mean absolute error against the own pool's leave-one-out consensuses.

    ratings : (..., I) with NaN where there is no rating -> (..., I)
    """
    return _finish(loo, _error(loo, ratings), loo.valid & ~np.isnan(ratings))


def judge_ceiling_repeats(loo: LeaveOneOut, cube: Array) -> PerItem:
    """As ``judge_ceiling`` for (C, I, R) ratings with repeats: the mean over the repeats' errors, (C, I)."""
    exists = ~np.isnan(cube)
    total = np.zeros(cube.shape[:-1])
    for repeat in range(cube.shape[-1]):
        total += np.where(exists[..., repeat], _error(loo, cube[..., repeat]), 0.0)
    n = exists.sum(-1)
    return _finish(loo, over(total, n), loo.valid & (n > 0))


def own_disagreement(counts: npt.ArrayLike) -> PerItem:
    """(I,) nominal own-pool ceiling: 1 - the share of the other raters who gave the left-out rater's label.

    counts : (I, L) how many raters gave each label

    >>> round(float(own_disagreement([[2, 1]]).mean()), 4)
    0.6667
    """
    table = np.asarray(counts, dtype=float)
    n = table.sum(1)
    agreeing = over((table * (table - 1)).sum(1), n * (n - 1))
    return PerItem.of(np.where(n > 1, 1 - agreeing, np.nan), int((n == 1).sum()))


def other_disagreement(counts: npt.ArrayLike, counts_other: npt.ArrayLike) -> PerItem:
    """(I,) nominal: 1 - the share of the own pool's raters, one left out, who agree with a rater of the other pool.

    Leaving one rater out at a time leaves the expected share as it is, so it is 1 - sum(share * other share).
    """
    table, other = np.asarray(counts, dtype=float), np.asarray(counts_other, dtype=float)
    n, n_other = table.sum(1), other.sum(1)
    agreeing = over((table * other).sum(1), n * n_other)
    return PerItem.of(np.where((n > 1) & (n_other > 0), 1 - agreeing, np.nan), int((n == 1).sum()))


def judge_disagreement(counts: npt.ArrayLike, codes: Array) -> PerItem:
    """Nominal: 1 - the share of the own pool's raters, one left out, who agree with the judge.

    codes : (..., I) places of the judge's labels among the L, NaN where there is none -> (..., I)
    """
    table = np.asarray(counts, dtype=float)
    n = table.sum(1)
    place = np.nan_to_num(codes).astype(np.intp)
    share = over(table[np.arange(len(n)), place], n)
    return PerItem.of(np.where((n > 1) & ~np.isnan(codes), 1 - share, np.nan), int((n == 1).sum()))


def _error(loo: LeaveOneOut, values: Array) -> Array:
    """(..., I) mean over the left-out raters of abs(value - consensus of the others); no (C, I, L) array."""
    error = np.zeros(np.shape(values))
    for level in range(loo.share.shape[1]):
        error += loo.share[:, level] * np.abs(values - np.nan_to_num(loo.consensus[:, level]))
    return error


def _finish(loo: LeaveOneOut, values: Array, valid: Mask) -> PerItem:
    return PerItem(np.where(valid, values, 0.0), valid, loo.n_left_out)
