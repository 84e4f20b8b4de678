"""Power without drawing a corpus: what an audit could show of a judge between two pools.

The mean and the variance of an item's delta and T follow from the distribution of the raters' and the judge's levels at
nodes of the items' distribution; the standard error of orientation from the Fisher information of the cumulative
probit, with the pools' values less their rater noise. The mean over items is then taken for normal, which is the
approximation: it holds from some thirty items on. Studies check it against simulated corpora.

Shapes: Q nodes of a stratum's items, L levels, M values of a consensus.
Source: the usual power of a z test; Fisher information of ordinal regression, McCullagh 1980.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.features import TIE

Array = npt.NDArray[np.float64]
MOST_VALUES = 41
_EFFECTS = 5
_TINY = 1e-12


@dataclass(frozen=True)
class StratumNodes:
    """Items of one stratum as nodes of their distribution.

    share : of all items; weights : (Q,), sum 1; raters : (2, Q, L) probabilities of a rating's levels in each pool
    latent : (Q,) where the judge's rating would fall without noise; image : code of the stratum's culture
    """

    share: float
    weights: Array
    raters: Array
    latent: Array
    image: int = 0


@dataclass(frozen=True)
class Noise:
    """sd of a judge's deviations: the same for all judges on an item, a judge's own on an item, new in each rating."""

    common: float
    own: float
    fresh: float

    @property
    def total(self) -> float:
        """Their root sum of squares."""
        return float(np.sqrt(self.common**2 + self.own**2 + self.fresh**2))


@dataclass(frozen=True)
class Plan:
    """What is rated by whom: levels (L,), strata, raters an item in each pool, and the judge's noise."""

    levels: Array
    strata: tuple[StratumNodes, ...]
    n: tuple[int, int]
    noise: Noise


@dataclass(frozen=True)
class Components:
    """Expectation of a statistic, and the variances that its mean over items is made of.

    between : of the strata's means (part of what a test sees, not of how far the estimate moves, as the strata are
    fixed); item : of items within strata with all that judges share; own, fresh : of judges and of ratings
    """

    expected: float
    between: float
    item: float
    own: float
    fresh: float

    def variance(self, items: int, judges: int = 1, repeats: int = 1) -> float:
        """Of the mean over items, judges and repeats, strata fixed."""
        return (self.item + self.own / judges + self.fresh / (judges * repeats)) / items

    def error(self, items: int, judges: int = 1, repeats: int = 1) -> float:
        """The standard error that a test of items uses, which takes strata for drawn too."""
        return float(np.sqrt(self.variance(items, judges, repeats) + self.between / items))


def components(plan: Plan, statistic: str) -> Components:
    """Expectation and variances of ``delta`` or ``tilt`` of an item."""
    parts = [_stratum(plan, stratum, statistic) for stratum in plan.strata]
    shares = np.array([stratum.share for stratum in plan.strata])
    counted = float(sum(share * part.counted for share, part in zip(shares, parts, strict=True)))
    expected = sum(share * part.mean for share, part in zip(shares, parts, strict=True)) / counted
    centred = [part.centred(expected, counted) for part in parts]
    means = np.array([entry[0] for entry in centred])
    item, own, fresh = (float(shares @ np.array([entry[k] for entry in centred])) for k in (1, 2, 3))
    return Components(float(expected), float(shares @ means**2), item, own, fresh)


@dataclass(frozen=True)
class _Part:
    """One stratum: moments of the item's value d, of whether it counts (c) and of both, at each stage of averaging."""

    mean: float
    counted: float
    stages: tuple[float, float, float]
    cross: float

    def centred(self, expected: float, counted: float) -> tuple[float, float, float, float]:
        """Mean and variances of (d - expected c) / counted."""
        mean = (self.mean - expected * self.counted) / counted
        shared, own, every = self.stages
        square = (shared - 2 * expected * self.cross + expected**2 * self.counted) / counted**2
        return mean, square - mean**2, (own - shared) / counted**2, (every - own) / counted**2


def _stratum(plan: Plan, stratum: StratumNodes, statistic: str) -> _Part:
    """E d, P(counted), and E of the squares of d averaged over ratings and judges, over ratings, and not at all."""
    values, weights = [], []
    for pool in range(2):
        value, share = consensus(stratum.raters[pool], plan.levels, plan.n[pool])
        values.append(value)
        weights.append(share)
    table, counts = _table(plan.levels, values[0], values[1], statistic)
    chance = judge_levels(stratum.latent, plan.noise, plan.levels)
    effects = _nodes()[1]
    mean = counted = cross = 0.0
    stages = np.zeros(3)
    for q, weight in enumerate(stratum.weights):
        both = np.outer(weights[0][q], weights[1][q]).ravel()
        own = chance[q] @ table
        shared = np.einsum("v,uvm->um", effects, own)
        mean += weight * float(effects @ shared @ both)
        counted += weight * float(both @ counts)
        cross += weight * float(effects @ shared @ (both * counts))
        every = np.einsum("u,v,uvl->l", effects, effects, chance[q])
        squares = (effects @ shared**2 @ both, effects @ np.einsum("v,uvm->um", effects, own**2) @ both)
        stages += weight * np.array([*squares, every @ table**2 @ both])
    return _Part(mean, counted, (float(stages[0]), float(stages[1]), float(stages[2])), cross)


def _table(levels: Array, a: Array, b: Array, statistic: str) -> tuple[Array, Array]:
    """(L, M * M) an item's value at each level and pair of consensuses, and whether it counts (M * M,)."""
    first, second = (grid.ravel() for grid in np.meshgrid(a, b, indexing="ij"))
    near_a, near_b = np.abs(levels[:, None] - first), np.abs(levels[:, None] - second)
    if statistic == "delta":
        return near_a - near_b, np.ones(len(first))
    gap = np.abs(first - second)
    counts = (gap > TIE).astype(float)
    return np.where(counts > 0, (near_b - near_a) / np.where(gap > TIE, gap, 1.0), 0.0), counts


def consensus(chance: Array, levels: Array, n: int) -> tuple[Array, Array]:
    """Values (M,) of the mean of n ratings, and their probabilities (Q, M), from those of one rating (Q, L).

    Levels are evenly spaced. Over 41 values are laid on a grid of 41, each shared between its neighbours there.

    >>> consensus(np.array([[0.5, 0.5]]), np.array([0.0, 1.0]), 2)
    (array([0. , 0.5, 1. ]), array([[0.25, 0.5 , 0.25]]))
    """
    total = chance
    for _ in range(n - 1):
        width = total.shape[1] + chance.shape[1] - 1
        longer = np.zeros((len(chance), width))
        for step in range(chance.shape[1]):
            longer[:, step : step + total.shape[1]] += total * chance[:, step : step + 1]
        total = longer
    values = np.linspace(levels[0], levels[-1], total.shape[1])
    if len(values) <= MOST_VALUES:
        return values, total
    grid = np.linspace(levels[0], levels[-1], MOST_VALUES)
    place = (values - grid[0]) / (grid[1] - grid[0])
    below = np.minimum(place.astype(int), MOST_VALUES - 2)
    laid = np.zeros((len(values), MOST_VALUES))
    laid[np.arange(len(values)), below] = 1 - (place - below)
    laid[np.arange(len(values)), below + 1] += place - below
    return grid, total @ laid


def judge_levels(latent: Array, noise: Noise, levels: Array) -> Array:
    """(Q, U, V, L) probabilities of a judge's levels at nodes of what judges share and of what is its own."""
    from scipy.special import ndtr

    nodes, _ = _nodes()
    seen = latent[:, None, None] + noise.common * nodes[:, None] + noise.own * nodes
    cuts = (levels[1:] + levels[:-1]) / 2
    above = ndtr((seen[..., None] - cuts) / max(noise.fresh, _TINY))
    edge = np.ones((*above.shape[:-1], 1))
    return np.asarray(-np.diff(np.concatenate([edge, above, 0 * edge], axis=-1), axis=-1))


def _nodes() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_EFFECTS)
    return nodes, weights / weights.sum()


@dataclass(frozen=True)
class Orientation:
    """The fit of orientation that a plan leads to: slopes on the two pools, and their covariance times the items."""

    slopes: Array
    covariance: Array
    shared: float

    @property
    def w(self) -> float:
        """b_b / (b_a + b_b)."""
        return float(self.slopes[1] / self.slopes.sum())

    @property
    def contrast(self) -> float:
        """b_b - b_a, which the test of neutrality is about."""
        return float(self.slopes[1] - self.slopes[0])

    def contrast_error(self, items: int) -> float:
        """Its standard error as the likelihood ratio has it."""
        direction = np.array([-1.0, 1.0])
        return float(np.sqrt(direction @ self.covariance @ direction / items))

    def w_error(self, items: int, repeats: int = 1) -> float:
        """The standard error of W (delta method)."""
        total = self.slopes.sum()
        gradient = np.array([-self.slopes[1], self.slopes[0]]) / total**2
        return float(np.sqrt(gradient @ self.covariance @ gradient * self.inflation(repeats) / items))

    def inflation(self, repeats: int) -> float:
        """Variance with repeats over that with one: what a judge repeats on an item does not average out."""
        return self.shared + (1 - self.shared) / repeats


def orientation(plan: Plan, weights: Sequence[float], slope: float, permissiveness: float = 0.0) -> Orientation:
    """Expected fit of a judge ``slope * (weights @ consensuses + permissiveness * half the gap)``, image effects free.

    The pools' values enter less their rater noise, each stratum by its own covariance; what remains uncertain of them
    adds to the judge's noise.
    """
    rows = [_regressors(plan, stratum, np.asarray(weights, dtype=float), permissiveness) for stratum in plan.strata]
    shares = np.array([stratum.share for stratum in plan.strata])
    images = np.array([stratum.image for stratum in plan.strata])
    x = np.concatenate([row[0] for row in rows])
    mass = np.concatenate([share * row[1] for share, row in zip(shares, rows, strict=True)])
    place = np.concatenate([np.full(len(row[1]), image) for row, image in zip(rows, images, strict=True)])
    latent = np.concatenate([row[2] for row in rows])
    unsure = float(mass @ np.concatenate([row[3] for row in rows])) * slope**2
    spread = float(np.sqrt(plan.noise.total**2 + unsure))
    dummies = (place[:, None] == np.unique(images)[None, 1:]).astype(float)
    information = _information(np.column_stack([x, dummies]), mass, latent, plan.levels, spread)
    inverse: Array = np.asarray(np.linalg.pinv(information)[:2, :2], dtype=float)
    shared = 1 - plan.noise.fresh**2 / spread**2
    return Orientation(slope * np.asarray(weights, dtype=float) / spread, inverse, shared)


def _regressors(plan: Plan, stratum: StratumNodes, weights: Array, permissiveness: float) -> tuple[Array, ...]:
    """x (Q, 3): the pools' values less their noise and half the expected gap; mass, latent and what is left unsure."""
    levels = plan.levels
    mean = stratum.raters @ levels
    noise = (stratum.raters @ levels**2 - mean**2) @ stratum.weights / np.asarray(plan.n)
    centre = mean @ stratum.weights
    around = mean - centre[:, None]
    between = (around * stratum.weights) @ around.T
    gain = between @ np.linalg.pinv(between + np.diag(noise))
    left = between - gain @ between
    nodes, chance = np.polynomial.hermite_e.hermegauss(3)
    chance = chance / chance.sum()
    moved = [
        (np.array([u, v]) * np.sqrt(noise), p * q)
        for u, p in zip(nodes, chance, strict=True)
        for v, q in zip(nodes, chance, strict=True)
    ]
    post = np.concatenate([centre + (around + step[:, None]).T @ gain.T for step, _ in moved])
    mass = np.concatenate([stratum.weights * share for _, share in moved])
    lead = np.abs(post[:, 0] - post[:, 1]) / 2
    latent = np.tile(stratum.latent, len(moved))
    towards = weights + permissiveness * np.array([1.0, -1.0]) / 2 * np.sign(centre[0] - centre[1])
    return np.column_stack([post, lead]), mass, latent, np.full(len(mass), float(towards @ left @ towards))


def _information(x: Array, mass: Array, latent: Array, levels: Array, spread: float) -> Array:
    """Fisher information of one rating in the slopes, the cut points free."""
    from scipy.special import ndtr

    cuts = (levels[1:] + levels[:-1]) / 2
    z = (cuts[None] - latent[:, None]) / spread
    edge = np.zeros((len(z), 1))
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    below = np.concatenate([edge, ndtr(z), edge + 1], axis=1)
    chance = np.maximum(np.diff(below, axis=1), _TINY)
    padded = np.concatenate([edge, density, edge], axis=1)
    slope = -(padded[:, 1:] - padded[:, :-1])
    by_cut = np.zeros((len(z), chance.shape[1], len(cuts)))
    for k in range(len(cuts)):
        by_cut[:, k, k], by_cut[:, k + 1, k] = density[:, k], -density[:, k]
    by_slope = slope[:, :, None] * x[:, None, :]
    score = np.concatenate([by_slope, by_cut], axis=2)
    return np.asarray(np.einsum("q,qlp,qlr->pr", mass, score / chance[:, :, None], score, optimize=True))


def power(effect: float, error: float, test_error: float, alpha: float = 0.05) -> float:
    """Chance that a two-sided z test rejects: the estimate moves by ``error``, the test believes ``test_error``.

    >>> round(power(2.8, 1.0, 1.0), 3)
    0.8
    """
    from scipy.special import ndtr, ndtri

    limit = float(ndtri(1 - alpha / 2)) * test_error
    if error <= 0:
        return float(abs(effect) > limit)
    return float(ndtr((abs(effect) - limit) / error) + ndtr((-abs(effect) - limit) / error))


def detectable(error: float, test_error: float, wanted: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest effect that is found with the wanted power.

    >>> round(detectable(1.0, 1.0), 2)
    2.8
    """
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2)) * test_error + float(ndtri(wanted)) * error
