"""A covariate of judges tested with the judge as the unit: exact permutation, and t on the judges' effects.

Clustering on items says how sure a difference between these judges is; it says nothing of other judges with the same
covariate, because few judges differ for many reasons. There the judge is the unit. Shapes: J judges.

Sources: Fisher 1935 (permutation of units); Phipson and Smyth 2010 (a p of sampled permutations counts the observed).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import over
from voirdire.stats.regression import SMALL, Array, pseudo_inverse

MOST_EXACT = 200_000
SAMPLED = 20_000
LEAST_SIDE = 4


@dataclass(frozen=True)
class Permutation:
    """Two-sided p of a permutation of a covariate over judges; how many were looked at, and whether those are all."""

    p: float | None
    permutations: int
    exact: bool
    undefined: str | None = None


@dataclass(frozen=True)
class JudgeT:
    """t of a covariate over judges with J - 2 degrees of freedom."""

    t: float | None
    p: float | None
    df: int
    undefined: str | None = None


def permutation_test(cross: Array, right: Array, covariate: npt.ArrayLike, rng: np.random.Generator) -> Permutation:
    """Permutation of a covariate (J,) over judges: how often its coefficient is at least as large in absolute value.

    cross, right : (J, J) and (J,) as :func:`voirdire.stats.regression.partial` gives them for the dummies of judges

    All arrangements where there are at most 200,000, else 20,000 drawn ones, the observed counted among them. Every
    arrangement gets the coefficient of its own regression, so that missing cells are allowed for. One whose
    coefficient cannot be told apart from conditions counts as at least as large.

    >>> balanced = np.eye(4) - 1 / 4
    >>> permutation_test(balanced, balanced @ [1.0, 2.0, 5.0, 6.0], [0, 0, 1, 1], np.random.default_rng(0)).p
    0.3333333333333333
    """
    x = np.asarray(covariate, dtype=float)
    observed = _coefficients(x[None], cross, right)[0]
    if np.isnan(observed):
        return Permutation(None, 0, True, "not_separable")
    arranged = _arrangements(tuple(x.tolist()))
    exact = arranged is not None
    if arranged is None:
        arranged = rng.permuted(np.tile(x, (SAMPLED, 1)), axis=1)
    size = np.abs(_coefficients(arranged, cross, right))
    hits = int((~(size < abs(observed) * (1 - 1e-9) - 1e-12)).sum())
    p = hits / len(arranged) if exact else (1 + hits) / (1 + len(arranged))
    return Permutation(p, len(arranged), exact)


def _coefficients(covariates: Array, cross: Array, right: Array) -> Array:
    """(A,) coefficient of each arrangement (A, J); NaN where it cannot be separated."""
    centred = covariates - covariates.mean(1, keepdims=True)
    own = np.einsum("aj,aj->a", centred @ cross, centred)
    scale = np.trace(cross) / len(cross) * (centred**2).sum(1)
    return over(centred @ right, np.where(own > SMALL * scale, own, 0.0))


@lru_cache(maxsize=8)
def _arrangements(x: tuple[float, ...]) -> Array | None:
    """(A, J) every arrangement of the values; None when there are more than 200,000."""
    levels = sorted(set(x))
    if len(levels) == 2:
        few = min(levels, key=x.count)
        other, m = levels[few == levels[0]], x.count(few)
        if comb(len(x), m) > MOST_EXACT:
            return None
        chosen = np.array(list(combinations(range(len(x)), m)))
        arranged = np.full((len(chosen), len(x)), other)
        np.put_along_axis(arranged, chosen, few, axis=1)
        return arranged
    if factorial(len(x)) > MOST_EXACT:
        return None
    return np.array(list(permutations(x)))


def judge_effects(cross: Array, right: Array) -> Array | None:
    """(J,) effect of each judge, mean 0, with items and conditions; None when judges cannot all be compared.

    In balanced data: the judges' means less their mean.
    """
    inverse, rank = pseudo_inverse(cross)
    if rank < len(cross) - 1:
        return None
    effects = inverse @ right
    return np.asarray(effects - effects.mean())


def slope_t(values: npt.ArrayLike, covariate: npt.ArrayLike) -> JudgeT:
    """t of the slope of values on a covariate, one value a unit; for two groups the t test with pooled variance.

    Undefined: ``few_judges`` under 3 units, ``no_spread`` when the values are equal about the line.

    >>> result = slope_t([1.0, 2.0, 3.0, 5.0], [0, 0, 1, 1])
    >>> round(result.t, 4), round(result.p, 4), result.df
    (2.2361, 0.1548, 2)
    """
    from scipy.special import stdtr

    y, x = np.asarray(values, dtype=float), np.asarray(covariate, dtype=float)
    df = len(y) - 2
    if df < 1:
        return JudgeT(None, None, max(df, 0), "few_judges")
    slope = slope_of(y, x)
    if slope is None:
        return JudgeT(None, None, df, "not_separable")
    rest = y - y.mean() - slope * (x - x.mean())
    spread = float(rest @ rest)
    if spread <= SMALL * float((y - y.mean()) @ (y - y.mean())) or spread <= SMALL**2:
        return JudgeT(None, None, df, "no_spread")
    t = slope / np.sqrt(spread / df / float((x - x.mean()) @ (x - x.mean())))
    return JudgeT(float(t), float(2 * stdtr(df, -abs(t))), df)


def slope_of(values: Array, covariate: Array) -> float | None:
    """Slope of values on a covariate; for two groups coded 0 and 1 the difference of means. None when constant."""
    centred = covariate - covariate.mean()
    own = float(centred @ centred)
    return float(centred @ values) / own if own > 0 else None


def item_slopes(values: Array, weights: Array, covariate: npt.ArrayLike) -> Array:
    """(I,) on every item the slope of outcomes (C, I) on a covariate (C,): for two groups the difference of means.

    weights : (C, I) 0 where there is no outcome. NaN where the covariate is constant on an item.

    >>> item_slopes(np.array([[1.0, 2.0], [4.0, 2.5]]), np.ones((2, 2)), [0, 1])
    array([3. , 0.5])
    """
    x = np.asarray(covariate, dtype=float)
    n = weights.sum(0)
    mean = over(x @ weights, n)
    own = x**2 @ weights - n * np.nan_to_num(mean) ** 2
    top = x @ (weights * values) - np.nan_to_num(mean) * (weights * values).sum(0)
    scale = SMALL * float(np.square(x - x.mean()).sum())
    return over(top, np.where(own > scale, own, 0.0))


def enough_judges(covariate: npt.ArrayLike) -> bool:
    """Whether a covariate can be tested for judges in general: 4 judges on each side, 8 where it is a number.

    >>> enough_judges([0, 0, 0, 1, 1, 1]), enough_judges([0, 0, 0, 0, 1, 1, 1, 1])
    (False, True)
    """
    x = np.asarray(covariate, dtype=float)
    levels, counts = np.unique(x, return_counts=True)
    return len(x) >= 2 * LEAST_SIDE if len(levels) > 2 else bool(counts.min() >= LEAST_SIDE)
