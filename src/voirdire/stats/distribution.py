"""Distances between a judge's ratings and the individual ratings of a pool (section 2: ``distribution``).

Two forms. *Overall*: the judge's ratings over all items against the pool's; every item weighs the same on both sides,
however many raters it has, so an item with many raters does not count as a difference. *Per item*: the judge's
repeats or probabilities on an item against the raters of that item, averaged over items. Both are at best what a
rater achieves against the others, the floor, which is above 0 because samples are finite.

Shapes: C cells, I items, R repeats, L levels. Shares are (..., L) and sum to 1. An item without ratings has zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, PerItem, over

CELLS = 4_000_000


@dataclass(frozen=True)
class Distances:
    """Distances of distributions.

    w1 : (...) Wasserstein-1, in the unit of the levels; NaN where there is nothing to compare
    js : (...) Jensen-Shannon distance, 0 to 1
    n : (...) items compared; of a floor: raters, or draws
    """

    w1: Array
    js: Array
    n: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Floor:
    """What one rater achieves against the others.

    w1, js : None where undefined
    n : raters averaged (``whole raters``) or items (``one rating an item``)
    """

    w1: float | None
    js: float | None
    n: int
    method: str
    undefined: str | None = None


def wasserstein(p: npt.ArrayLike, q: npt.ArrayLike, levels: npt.ArrayLike) -> Array:
    """Wasserstein-1 distance (...) of shares p and q (..., L) on ascending levels (L,).

    >>> float(wasserstein([1, 0, 0], [0, 0, 1], [1, 2, 5]))
    4.0
    """
    difference = np.cumsum(np.asarray(p, dtype=float) - np.asarray(q, dtype=float), axis=-1)[..., :-1]
    return np.asarray(np.abs(difference) @ np.diff(np.asarray(levels, dtype=float)))


def jensen_shannon(p: npt.ArrayLike, q: npt.ArrayLike, form: str = "distance") -> Array:
    """Jensen-Shannon of shares p and q (..., L), base 2, 0 to 1.

    form : ``distance``, the root of the divergence (a metric, what ``scipy.spatial.distance.jensenshannon`` gives),
        or ``divergence``

    Source: Lin 1991; Endres and Schindelin 2003.

    >>> float(jensen_shannon([1, 0], [0, 1])), round(float(jensen_shannon([1, 0], [0.5, 0.5], "divergence")), 4)
    (1.0, 0.3113)
    """
    left, right = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    mixed = _entropy((left + right) / 2) - (_entropy(left) + _entropy(right)) / 2
    divergence = np.where(np.abs(left - right).max(-1) < 1e-12, 0.0, np.clip(mixed, 0.0, 1.0))
    return np.asarray(np.sqrt(divergence) if form == "distance" else divergence)


def total_variation(p: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """Total variation (...) between shares p and q (..., L): half the sum of absolute differences, 0 to 1.

    >>> float(total_variation([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    return np.asarray(np.abs(np.asarray(p, dtype=float) - np.asarray(q, dtype=float)).sum(-1) / 2)


def level_shares(ratings: Array, levels: npt.ArrayLike) -> Array:
    """(C, I, L) share of an item's repeats at each level, zeros where a cell has no rating.

    ratings : (C, I) or (C, I, R), NaN where missing; every rating is one of the ascending ``levels`` (ValueError)
    """
    cube = ratings[..., None] if ratings.ndim == 2 else ratings
    values = np.asarray(levels, dtype=float)
    total = np.stack([(np.abs(cube - value) < 1e-9).sum(-1) for value in values], axis=-1).astype(float)
    given = (~np.isnan(cube)).sum(-1)
    if (total.sum(-1) != given).any():
        raise ValueError("a rating is none of the levels")  # noqa: TRY003
    return np.asarray(total / np.maximum(given, 1)[..., None])


def overall_distances(
    judge: Array, counts: npt.ArrayLike, levels: npt.ArrayLike, weights: Array | None = None
) -> Distances:
    """Distances of the judge's ratings over all items from the pool's, on the items that have both.

    judge : (C, I) or (C, I, R) ratings; see ``overall_distances_of_shares`` for probabilities
    counts : (I, L) the pool's value counts
    weights : (draws, I) item weights of a bootstrap; results are then (C, draws), else (C,)
    """
    table = np.asarray(counts, dtype=float)
    parts = [
        overall_distances_of_shares(level_shares(part, levels), table, levels, weights)
        for part in _parts(judge, table.size * (judge.shape[2] if judge.ndim == 3 else 1))
    ]
    return Distances(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("w1", "js", "n")))


def overall_distances_of_shares(
    shares: Array, counts: npt.ArrayLike, levels: npt.ArrayLike, weights: Array | None = None
) -> Distances:
    """As ``overall_distances`` from a judge's shares or probabilities (C, I, L), zeros where missing."""
    pool = pool_shares(counts)
    valid = (shares.sum(-1) > 0) & (pool.sum(-1) > 0)
    left = _total(np.where(valid[..., None], shares, 0.0), weights)
    right = _total(np.where(valid[..., None], pool, 0.0), weights)
    n = left.sum(-1)
    p, q = over(left, n[..., None]), over(right, n[..., None])
    return Distances(wasserstein(p, q, levels), _defined(jensen_shannon(p, q), n), np.rint(n).astype(np.int64))


def pool_shares(counts: npt.ArrayLike) -> Array:
    """(I, L) value counts -> shares, zeros where an item has no rating."""
    table = np.asarray(counts, dtype=float)
    result: Array = table / np.maximum(table.sum(-1, keepdims=True), 1)
    return result


def item_distances(shares: Array, counts: npt.ArrayLike, levels: npt.ArrayLike) -> tuple[PerItem, PerItem]:
    """Wasserstein-1 and Jensen-Shannon distance on each item, (C, I) each; their means are the per-item form.

    shares : (C, I, L) of the judge's repeats, or its probabilities; zeros where missing
    counts : (I, L) the pool's value counts
    """
    pool = pool_shares(counts)
    valid = (shares.sum(-1) > 0) & (pool.sum(-1) > 0)
    pair = wasserstein(shares, pool, levels), jensen_shannon(shares, pool)
    w1, js = (PerItem(np.where(valid, values, 0.0), valid) for values in pair)
    return w1, js


def item_floor(counts: npt.ArrayLike, levels: npt.ArrayLike) -> tuple[PerItem, PerItem]:
    """(I,) mean distance of one rater's rating from the ratings of the item's others, each rater in turn.

    The floor of the per-item form for a judge that rates once. Items with one rater are left out and counted.

    >>> w1, js = item_floor([[1, 1], [2, 0]], [1, 2])
    >>> w1.values, js.values
    (array([1., 0.]), array([1., 0.]))
    """
    table = np.asarray(counts, dtype=float)
    n = table.sum(1)
    valid = n > 1
    total = np.zeros((2, len(n)))
    for level, one in enumerate(np.eye(table.shape[1])):
        rest = np.maximum(table - one, 0.0) / np.maximum(n - 1, 1)[:, None]
        share = table[:, level] / np.maximum(n, 1)
        total += share * np.stack([wasserstein(one, rest, levels), jensen_shannon(one, rest)])
    left_out = int((n == 1).sum())
    w1, js = (PerItem(np.where(valid, values, 0.0), valid, left_out) for values in total)
    return w1, js


def overall_floor(
    item: npt.ArrayLike,
    rater: npt.ArrayLike,
    code: npt.ArrayLike,
    levels: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    anonymous: bool = False,
    min_items: int = 20,
    draws: int = 200,
) -> Floor:
    """The floor of the overall form: one rater's ratings against the other raters' on the same items.

    item, rater : (ratings,) numbers; code : (ratings,) place of the rating among the ascending ``levels``

    *Whole raters*: each rater with at least ``min_items`` items that others rated too, the mean over these raters.
    *One rating an item*, when raters are anonymous or none has so many items: one rating of every item is left out at
    random and taken for a rater, the mean over ``draws`` seeded draws; this floor knows no severity of raters.
    Undefined: ``one_rater`` when no item has two ratings.
    """
    items, codes = np.asarray(item, np.int64), np.asarray(code, np.int64)
    n_levels = len(np.asarray(levels))
    counts = np.zeros((int(items.max(initial=-1)) + 1, n_levels))
    np.add.at(counts, (items, codes), 1.0)
    shared = counts.sum(1)[items] > 1
    if not shared.any():
        return Floor(None, None, 0, "whole raters", "one_rater")
    who = np.unique(np.asarray(rater, np.int64)[shared], return_inverse=True)[1]
    enough = np.bincount(who) >= min_items
    if anonymous or not enough.any():
        return _slot_floor(counts, levels, draws, rng)
    one = np.eye(n_levels)[codes[shared]]
    rest = counts[items[shared]] - one
    rest /= rest.sum(1, keepdims=True)
    left, right = (_by_rater(table, who)[enough] for table in (one, rest))
    w1, js = wasserstein(left, right, levels), jensen_shannon(left, right)
    return Floor(float(w1.mean()), float(js.mean()), int(enough.sum()), "whole raters")


def _entropy(p: Array) -> Array:
    """(...) entropy in bits of shares (..., L)."""
    result: Array = -(p * np.log2(np.where(p > 0, p, 1.0))).sum(-1)
    return result


def _defined(values: Array, n: Array) -> Array:
    return np.where(n > 0, values, np.nan)


def _total(shares: Array, weights: Array | None) -> Array:
    """(C, L), or (C, draws, L) with weights: shares (C, I, L) summed over items."""
    if weights is None:
        result: Array = shares.sum(-2)
        return result
    return np.asarray(np.matmul(weights, shares))


def _parts(judge: Array, width: int) -> Iterator[Array]:
    """Cells in parts of about the same memory."""
    step = max(1, CELLS // max(width, 1))
    for start in range(0, max(len(judge), 1), step):
        yield judge[start : start + step]


def _by_rater(table: Array, who: npt.NDArray[np.int64]) -> Array:
    """(raters, L) mean over a rater's ratings of rows (ratings, L)."""
    n = np.bincount(who)
    return np.stack([np.bincount(who, weights=column) for column in table.T], axis=1) / n[:, None]


def _slot_floor(counts: Array, levels: npt.ArrayLike, draws: int, rng: np.random.Generator) -> Floor:
    """The floor when one rating of every item is left out at random."""
    table = counts[counts.sum(1) > 1]
    n = table.sum(1)
    bounds = np.cumsum(table / n[:, None], axis=1)[:, :-1]
    base = (table / (n - 1)[:, None]).sum(0)
    left, right = np.empty((2, draws, table.shape[1]))
    for draw in range(draws):
        chosen = (rng.random(len(n))[:, None] >= bounds).sum(1)
        left[draw] = np.bincount(chosen, minlength=table.shape[1])
        right[draw] = base - np.bincount(chosen, weights=1 / (n - 1), minlength=table.shape[1])
    left, right = left / len(n), np.maximum(right, 0.0) / len(n)
    w1, js = wasserstein(left, right, levels), jensen_shannon(left, right)
    return Floor(float(w1.mean()), float(js.mean()), len(n), "one rating an item")
