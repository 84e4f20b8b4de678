"""Pool consensuses less their rater noise: empirical-Bayes means of each stratum (section 3 of the definitions).

A consensus is the pool's value plus the noise of its few raters. Noise in a regressor pulls its coefficient toward 0,
and a noisier pool's more, which would read as orientation toward the other pool.

Shapes: K pools, I items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.features import Array, PoolArrays

Ints = npt.NDArray[np.int64]
FLOOR = 1e-3
LEAST_TWICE = 20
_REFERENCE_RANGE = 4.0


@dataclass(frozen=True)
class Shrinkage:
    """What does not change with the weights of the items.

    mean, noise : (K, I) consensuses, and the squared standard error of each as s2 / n needs it (n)
    strata : (I,) after merging small ones; corrected : (K,) whether the pool's noise is known
    unit : a quarter of the scale's range (of the consensuses', where the scale has no ends): slopes are per unit
    """

    mean: Array
    n: Array
    s2: Array
    strata: Ints
    corrected: npt.NDArray[np.bool_]
    unit: float
    by_pool: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, pools: PoolArrays, strata: Ints, *, correct: bool = True) -> Shrinkage:
        """Prepare the pools of some items, each with a consensus in every pool.

        strata : (I,) codes from 0; those with fewer than 10 + 2K items are merged
        """
        twice = ~np.isnan(pools.s2)
        known = np.asarray(twice.any(1) & ~np.isnan(pools.n).any(1))
        merged = merge_small(strata, 10 + 2 * len(pools.mean))
        n_strata = int(merged.max()) + 1 if merged.size else 0
        counts = np.stack([np.bincount(merged, row, n_strata) for row in twice.astype(float)])
        span = pools.scale.high - pools.scale.low
        if not np.isfinite(span):
            span = float(np.ptp(pools.mean)) if pools.mean.size else 0.0
        unit = span / _REFERENCE_RANGE if span > 0 else 1.0
        corrected = known if correct else np.zeros_like(known)
        return cls(pools.mean, pools.n, pools.s2, merged, corrected, unit, np.asarray(counts < LEAST_TWICE))

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return int(self.strata.max()) + 1 if self.strata.size else 0

    def posterior(self, weights: Array | None = None) -> Posterior:
        """The posterior of the pools' values, with the items weighted (a resample)."""
        w = np.ones(self.mean.shape[1]) if weights is None else np.asarray(weights, dtype=float)
        noise = self._noise(w)
        mean, covariance = self.mean.copy(), np.zeros((self.mean.shape[1], len(self.mean), len(self.mean)))
        for stratum in range(self.n_strata):
            items = np.flatnonzero(self.strata == stratum)
            if w[items].sum() > 1:
                mean[:, items], covariance[items] = _shrunk(
                    self.mean[:, items], noise[:, items], w[items], FLOOR * self.unit**2
                )
        return Posterior(mean, covariance)

    def _noise(self, w: Array) -> Array:
        """(K, I) variance of each consensus: s2 pooled in its stratum (or pool) over n; 0 where it is not known."""
        df = np.where(np.isnan(self.s2), 0.0, self.n - 1) * w
        squares = np.nan_to_num(self.s2) * df
        noise = np.zeros_like(self.mean)
        for k in np.flatnonzero(self.corrected):
            by_stratum = np.bincount(self.strata, squares[k], self.n_strata)
            freedom = np.bincount(self.strata, df[k], self.n_strata)
            whole = squares[k].sum() / max(df[k].sum(), 1e-12)
            use_pool = self.by_pool[k] | (freedom <= 0)
            s2 = np.where(use_pool, whole, by_stratum / np.maximum(freedom, 1e-12))
            noise[k] = s2[self.strata] / self.n[k]
        return noise


@dataclass(frozen=True)
class Posterior:
    """Normal posterior of the pools' values: mean (K, I) and covariance (I, K, K)."""

    mean: Array
    covariance: Array

    def expected_gap(self, a: int, b: int) -> Array:
        """(I,) E abs(mu_a - mu_b)."""
        v = self.covariance
        variance = v[:, a, a] + v[:, b, b] - 2 * v[:, a, b]
        return expected_absolute(self.mean[a] - self.mean[b], variance)

    def expected_lead(self) -> Array:
        """(I,) E[max_p mu_p - mean_p mu_p]; of two pools half the expected gap, of more by Clark's approximation.

        Clark 1961, Operations Research 9, 145-162: the maximum of two normals is taken for a normal in turn.
        """
        from scipy.special import ndtr

        top, spread = self.mean[0].copy(), self.covariance[:, 0, 0].copy()
        with_others = self.covariance[:, 0, :].copy()
        for k in range(1, len(self.mean)):
            theta = np.sqrt(np.maximum(spread + self.covariance[:, k, k] - 2 * with_others[:, k], 1e-12))
            alpha = (top - self.mean[k]) / theta
            share, density = ndtr(alpha), np.exp(-0.5 * alpha**2) / np.sqrt(2 * np.pi)
            mean = top * share + self.mean[k] * (1 - share) + theta * density
            square = (top**2 + spread) * share + (self.mean[k] ** 2 + self.covariance[:, k, k]) * (1 - share)
            square += (top + self.mean[k]) * theta * density
            with_others = with_others * share[:, None] + self.covariance[:, k, :] * (1 - share[:, None])
            top, spread = mean, np.maximum(square - mean**2, 0.0)
        return np.asarray(top - self.mean.mean(0))


def expected_absolute(mean: Array, variance: Array) -> Array:
    """E abs(d) of normal d; abs(mean) where the variance is 0.

    >>> expected_absolute(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(4)
    array([0.7979, 2.    ])
    """
    from scipy.special import ndtr

    sd = np.sqrt(np.maximum(variance, 1e-18))
    z = mean / sd
    return np.asarray(sd * np.sqrt(2 / np.pi) * np.exp(-0.5 * z * z) + mean * (1 - 2 * ndtr(-z)))


def merge_small(strata: Ints, least: int) -> Ints:
    """Strata with fewer than ``least`` items as one; where that is still too small, with the smallest other.

    >>> merge_small(np.array([0, 0, 0, 1, 2]), 2)
    array([0, 0, 0, 1, 1])
    """
    if not strata.size:
        return strata
    codes = np.unique(strata, return_inverse=True)[1].astype(np.int64)
    counts = np.bincount(codes)
    small = counts < least
    if not small.any() or len(counts) == 1:
        return codes
    into = np.arange(len(counts))
    into[small] = np.flatnonzero(small)[0]
    if counts[small].sum() < least and not small.all():
        large = np.flatnonzero(~small)
        into[small] = large[counts[large].argmin()]
    return np.unique(into[codes], return_inverse=True)[1].astype(np.int64)


def _shrunk(mean: Array, noise: Array, w: Array, floor: float) -> tuple[Array, Array]:
    """Posterior means (K, i) and covariances (i, K, K) of one stratum, between-item covariance by moments."""
    total = w.sum()
    center = (mean * w).sum(1) / total
    around = mean - center[:, None]
    observed = (around * w) @ around.T / (total - 1)
    between = observed - np.diag((noise * w).sum(1) / total)
    values, vectors = np.linalg.eigh(between)
    between = (vectors * np.maximum(values, floor)) @ vectors.T
    own = np.zeros((mean.shape[1], len(mean), len(mean)))
    own[:, range(len(mean)), range(len(mean))] = noise.T
    gain = np.linalg.solve(between[None] + own, np.broadcast_to(between, own.shape)).transpose(0, 2, 1)
    post = center[:, None] + np.einsum("ikl,li->ki", gain, around)
    covariance = between[None] - gain @ between
    return post, covariance
