"""The best of many by cross-fitting: chosen on one half of the items, scored on the other.

The smallest of C mean errors is too small as an estimate of what the chosen one achieves, because the same items chose
and score it. Here each half chooses for the other, and the scores are averaged over seeded splits.
Shapes: C cells, I items, S splits, G groups, D draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.stats.features import TIE, Array
from voirdire.stats.resampling import MOST_UNDEFINED, block_sums

Places = npt.NDArray[np.int64]


class CrossFit(NamedTuple):
    """What the best of each group achieves on items that did not choose it.

    values : (G,), NaN where a half has nothing to choose from or to score; draws : (G, D) the same under every draw of
    items, each half drawn along
    """

    values: Array
    draws: Array


def halves(strata: npt.ArrayLike, splits: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """(S, I) random halves of the items, of every stratum half; odd items go to one half and the other in turn.

    strata : (I,) labels

    >>> halves([0, 0, 1, 1, 1, 1], 3, np.random.default_rng(0))[:, :2].sum(1)
    array([1, 1, 1])
    """
    labels = np.asarray(strata)
    chosen = np.zeros((splits, labels.size), dtype=bool)
    for split in chosen:
        more = bool(rng.integers(2))
        for label in np.unique(labels):
            items = rng.permutation(np.flatnonzero(labels == label))
            odd = items.size % 2
            split[items[: items.size // 2 + (odd and more)]] = True
            more ^= bool(odd)
    return chosen


def cross_fitted(
    errors: Array, counts: Array, groups: Sequence[Places], split: npt.NDArray[np.bool_], weights: npt.NDArray[np.uint8]
) -> CrossFit:
    """The mean error of the best cell of each group, chosen on one half and scored on the other, both ways.

    errors, counts : (C, I) error and whether it counts (0 and 0 where it does not)
    groups : places of the cells of each group; cells that tie in a half are averaged
    split : (S, I) from :func:`halves`; weights : (D, I) how often each draw has each item

    >>> errors = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 2.0]])
    >>> half = np.array([[True, True, False, False]])
    >>> cross_fitted(errors, np.ones((2, 4)), [np.array([0, 1])], half, np.ones((0, 4), dtype=np.uint8)).values
    array([1.5])
    """
    drawn = np.concatenate([np.ones((1, errors.shape[1]), dtype=np.uint8), weights])
    whole = block_sums(drawn, [errors, counts])
    total, number = np.zeros((2, len(groups), len(drawn)))
    for half in split:
        first = block_sums(drawn[:, half], [errors[:, half], counts[:, half]])
        means = [_means(*first), _means(*(both - one for both, one in zip(whole, first, strict=True)))]
        for chooses, scores in (means, means[::-1]):
            least = np.where(np.isnan(chooses) | np.isnan(scores), np.inf, chooses)
            scores = np.nan_to_num(scores)
            for g, cells in enumerate(groups):
                score, known = _scored(least[cells], scores[cells])
                total[g] += score
                number[g] += known
    with np.errstate(invalid="ignore"):
        result = np.where(number > 0, total / number, np.nan)
    result[:, 0][number[:, 0] < 2 * len(split)] = np.nan
    return CrossFit(result[:, 0], result[:, 1:])


def _means(errors: Array, counts: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0.5, errors / counts, np.nan)


def _scored(chooses: Array, scores: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(D,) the score, on the other half, of the cell that is best on this one, and whether there is one.

    chooses is infinite where a cell has no judgment in one of the halves; cells that tie are averaged.
    """
    if not len(chooses):
        return np.zeros(chooses.shape[1]), np.zeros(chooses.shape[1], dtype=bool)
    best = chooses.min(0)
    known = np.isfinite(best)
    picked = (chooses <= best + TIE).astype(float)
    score: Array = np.einsum("cd,cd->d", picked, scores) / picked.sum(0)
    return np.where(known, score, 0.0), known


def t_interval(values: Array, draws: Array, df: int, level: float) -> tuple[Array, Array]:
    """estimate +- t * sd of the draws; NaN without draws, or where over 5 % of them are undefined.

    >>> low, high = t_interval(np.array([1.0]), np.array([[0.9, 1.0, 1.1]]), 100, 0.95)
    >>> [round(float(low[0]), 3), round(float(high[0]), 3)]
    [0.802, 1.198]
    """
    from scipy.stats import t as student

    nothing = np.full(len(values), np.nan)
    if draws.shape[1] < 2 or df < 1:
        return nothing, nothing
    usable = (np.isnan(draws).mean(1) <= MOST_UNDEFINED) & ~np.isnan(values)
    spread = nothing.copy()
    for row in np.flatnonzero(usable):
        spread[row] = np.nanstd(draws[row], ddof=1)
    half = float(student.ppf((1 + level) / 2, df)) * spread
    return values - half, values + half
