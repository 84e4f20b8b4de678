"""Cross-fitted references: a recalibrated judge and the best constant judge (sections 2, 4 and 6).

What is fitted on some items is judged on others (folds), so neither number profits from having seen the answer.

Shapes: C cells, K pools, I items, L levels. NaN marks a missing rating or consensus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, PerItem, over

FEW_LEVELS = 32


@dataclass(frozen=True)
class Recalibrated:
    """A judge after a monotone map fitted on one pool.

    predictions : (C, I) the mapped ratings, each by a map that has not seen the item; NaN where missing
    losses : per pool (C, I) abs(prediction - consensus); their means are ``recalibrated_mae``
    """

    predictions: Array
    losses: tuple[PerItem, ...]


@dataclass(frozen=True)
class BestConstant:
    """The constant judge with the least error on the other folds.

    constants : (folds,) the chosen value of each fold, NaN where no other fold has a consensus
    loss : (I,) error of the constant that has not seen the item
    """

    constants: Array
    loss: PerItem

    def settled(self, whole: float) -> Array:
        """(folds,) the chosen values where all folds agree, else ``whole``, the best of all items; NaN stays.

        Two constants that are nearly as good take turns: the folds that one of them fits best choose the other, so
        that a judge who always gives one of them would beat the cross-fitted constant on exactly those folds. Where
        all folds agree the constant is the best of all items too, so no constant is ever better than what this gives.

        >>> BestConstant(np.array([3.0, 4.0, np.nan]), PerItem.of(np.zeros(1))).settled(4.0)
        array([ 4.,  4., nan])
        """
        known = self.constants[~np.isnan(self.constants)]
        if known.size and np.ptp(known) == 0:
            return self.constants
        return np.where(np.isnan(self.constants), np.nan, whole)


def make_folds(n_items: int, n_folds: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """(I,) seeded fold of each item; folds differ in size by at most one. Fewer items than folds: an item a fold.

    >>> np.bincount(make_folds(7, 3, np.random.default_rng(1))).tolist()
    [3, 2, 2]
    """
    return rng.permutation(np.arange(n_items) % max(min(n_folds, n_items), 1))


def isotonic(values: npt.ArrayLike, weights: npt.ArrayLike) -> Array:
    """Weighted least-squares fit that never falls: pool adjacent violators.

    values, weights : (L,) in the order of the predictor; weights above 0

    Source: Barlow, Bartholomew, Bremner and Brunk 1972.

    >>> isotonic([1, 3, 2, 4], [1, 1, 1, 1])
    array([1. , 2.5, 2.5, 4. ])
    """
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(np.asarray(values, dtype=float), np.asarray(weights, dtype=float), strict=True):
        mean, mass, size = float(value), float(weight), 1
        while means and means[-1] >= mean:
            mean = (means[-1] * masses[-1] + mean * mass) / (masses[-1] + mass)
            means.pop()
            mass += masses.pop()
            size += sizes.pop()
        means.append(mean)
        masses.append(mass)
        sizes.append(size)
    return np.repeat(means, sizes) if means else np.empty(0)


def isotonic_rows(sums: Array, weights: Array) -> Array:
    """The same fit for many short rows at once: max over starts of the min over ends of the means between them.

    sums, weights : (..., L) weighted sums and weights -> (..., L), NaN at levels without weight, which do not matter
    """
    n = sums.shape[-1]
    zero = np.zeros((*sums.shape[:-1], 1))
    total = np.cumsum(np.concatenate([zero, sums], -1), -1)
    mass = np.cumsum(np.concatenate([zero, weights], -1), -1)
    means = over(total[..., None, 1:] - total[..., :-1, None], mass[..., None, 1:] - mass[..., :-1, None])
    upward = np.where(np.isnan(means) | np.tril(np.ones((n, n), bool), -1), np.inf, means)
    least = np.minimum.accumulate(upward[..., ::-1], axis=-1)[..., ::-1]
    fit = np.full(sums.shape, np.nan)
    for level in range(n):
        column = np.where(np.isinf(least[..., : level + 1, level]), -np.inf, least[..., : level + 1, level])
        fit[..., level] = column.max(-1)
    return np.where(np.isinf(fit) | (weights <= 0), np.nan, fit)


def recalibrate(ratings: Array, fit_on: Array, pools: Array, folds: npt.NDArray[np.int64]) -> Recalibrated:
    """Map each judge's ratings by a rising map fitted on one pool, and score it against every pool.

    ratings : (C, I) the judge's rating (the mean over repeats)
    fit_on : (I,) consensus of the pool on which the map is fitted; pools : (K, I) consensuses to be scored against
    folds : (I,) from ``make_folds``

    The map of a fold is the isotonic least-squares fit on all other folds; between the ratings it has seen it is
    linear, beyond them constant. A judge that falls where the pool rises is mapped to a constant.
    """
    predictions = np.stack([_predict(row, fit_on, folds) for row in ratings]) if len(ratings) else ratings.copy()
    return Recalibrated(predictions, tuple(PerItem.of(np.abs(predictions - pool)) for pool in pools))


def best_constant(consensus: Array, folds: npt.NDArray[np.int64], levels: npt.ArrayLike | None = None) -> BestConstant:
    """The constant with the least mean absolute error on the other folds.

    consensus : (I,) NaN where missing; folds : (I,)
    levels : (L,) declared levels, of which the constant is one, the lowest of equally good ones; None for scales
        without levels: the median of the other folds

    >>> best_constant(np.array([1.0, 2.0, 2.0, 2.2]), np.array([0, 1, 0, 1]), [1, 2, 3]).constants
    array([2., 1.])
    """
    if levels is None:
        chosen = [_median(consensus[folds != fold]) for fold in range(int(folds.max(initial=-1)) + 1)]
        constants = np.array(chosen, dtype=float)
    else:
        values = np.asarray(levels, dtype=float)
        places = _best_level(np.abs(values - consensus[:, None]), folds)
        constants = np.where(places >= 0, values[places], np.nan)
    return BestConstant(constants, _constant_loss(constants, consensus, folds))


def best_label(shares: Array, folds: npt.NDArray[np.int64]) -> BestConstant:
    """The nominal form: the label with which most raters of the other folds agree; loss 1 - share who agree.

    shares : (I, L) shares of the pool's raters, zeros where missing -> constants are places among the L
    """
    missing = shares.sum(1) <= 0
    loss = np.where(missing[:, None], np.nan, 1 - shares)
    places = _best_level(loss, folds)
    held_out = np.where(places[folds] >= 0, loss[np.arange(len(loss)), places[folds]], np.nan)
    return BestConstant(np.where(places >= 0, places, np.nan), PerItem.of(held_out))


def whole_constant(consensus: Array, levels: npt.ArrayLike | None = None) -> float:
    """The constant with the least mean absolute error on all items; NaN without any. Arguments as ``best_constant``.

    >>> whole_constant(np.array([1.0, 2.0, 2.0, 2.2]), [1, 2, 3])
    2.0
    """
    given = consensus[~np.isnan(consensus)]
    if levels is None or not len(given):
        return _median(given)
    values = np.asarray(levels, dtype=float)
    return float(values[np.round(np.abs(values - given[:, None]).sum(0), 9).argmin()])


def whole_label(shares: Array) -> float:
    """The place of the label with which most raters of all items agree; NaN without any. shares : as ``best_label``."""
    given = shares[shares.sum(1) > 0]
    return float(np.round((1 - given).sum(0), 9).argmin()) if len(given) else float("nan")


def _predict(row: Array, target: Array, folds: npt.NDArray[np.int64]) -> Array:
    """(I,) cross-fitted predictions of one judge."""
    given = ~np.isnan(row)
    usable = given & ~np.isnan(target)
    result = np.full(row.shape, np.nan)
    levels, place = np.unique(row[usable], return_inverse=True)
    n_folds = int(folds.max(initial=-1)) + 1
    cell = folds[usable] * len(levels) + place
    shape = (n_folds, len(levels))
    weight = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    total = np.bincount(cell, weights=target[usable], minlength=shape[0] * shape[1]).reshape(shape)
    weights, sums = (weight.sum(0) - weight).astype(float), total.sum(0) - total
    for fold, fit in enumerate(_fits(sums, weights)):
        trained = weights[fold] > 0
        held_out = given & (folds == fold)
        if trained.any() and held_out.any():
            result[held_out] = np.interp(row[held_out], levels[trained], fit[trained])
    return result


def _fits(sums: Array, weights: Array) -> Array:
    """(folds, L) isotonic fits, NaN at levels that a fold has not seen."""
    if sums.shape[1] <= FEW_LEVELS:
        return isotonic_rows(sums, weights)
    fits = np.full(sums.shape, np.nan)
    for fit, total, weight in zip(fits, sums, weights, strict=True):
        seen = weight > 0
        fit[seen] = isotonic(total[seen] / weight[seen], weight[seen])
    return fits


def _best_level(loss: Array, folds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(folds,) place of the level with the least summed loss (I, L) outside each fold, -1 with nothing outside it."""
    n_folds = int(folds.max(initial=-1)) + 1
    by_fold = np.zeros((n_folds, loss.shape[1]))
    np.add.at(by_fold, folds, np.nan_to_num(loss))
    given = np.bincount(folds, weights=~np.isnan(loss[:, 0]), minlength=n_folds)
    outside = np.round(by_fold.sum(0) - by_fold, 9)
    return np.where(given.sum() - given > 0, outside.argmin(1), -1)


def _constant_loss(constants: Array, consensus: Array, folds: npt.NDArray[np.int64]) -> PerItem:
    return PerItem.of(np.abs(consensus - constants[folds]))


def _median(values: Array) -> float:
    given = values[~np.isnan(values)]
    return float(np.median(given)) if len(given) else float("nan")
