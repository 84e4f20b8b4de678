"""Correlations, kappa, reliability and noise floor against other programs, brute force and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.stats.test_additive import value_of

from voirdire.analysis.judge_tests import _spearman_cells
from voirdire.stats.features import Features, PoolArrays, ScaleCuts, nearest_level

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)


def pools(*means: np.ndarray, n: int = 1) -> PoolArrays:
    return PoolArrays.of(np.stack(means), 1, 5, n)


@given(seed=st.integers(0, 10**6), items=st.integers(3, 40))
def test_correlations_equal_scipy(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    consensus, rating = rng.integers(5, 26, items) / 5, rng.integers(1, 6, items).astype(float)
    features = Features(pools(consensus, rating), rating[None])
    if np.ptp(consensus) == 0 or np.ptp(rating) == 0:
        return
    expected = pearsonr(consensus, rating).statistic
    assert value_of(features, ("pearson", ""))[0] == pytest.approx(expected, abs=1e-9)
    assert value_of(features, ("cross_pool_pearson", ""))[0] == pytest.approx(expected, abs=1e-9)
    rho, reasons, _ = _spearman_cells(rating[None], consensus)
    assert reasons == [None]
    assert rho[0] == pytest.approx(spearmanr(consensus, rating).statistic, abs=1e-9)


@given(seed=st.integers(0, 10**6), items=st.integers(2, 40))
def test_kappa_equals_scikit_learn(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    consensus, rating = rng.integers(5, 26, items) / 5, rng.integers(1, 6, items).astype(float)
    rounded = np.floor(consensus + 0.5)
    value, reason = value_of(Features(pools(consensus), rating[None]), ("kappa_qw", ""))
    if np.ptp(rounded) == 0 and (rounded == rating).all():
        assert reason == "all_equal"
        return
    expected = cohen_kappa_score(rating.astype(int), rounded.astype(int), labels=range(1, 6), weights="quadratic")
    assert value == pytest.approx(expected, abs=1e-9)


@given(twice=st.integers(2, 10))
def test_ties_round_to_the_higher_level(twice: int) -> None:
    value = twice / 2
    assert nearest_level(np.array([value]), LEVELS)[0] == np.ceil(value)
    assert nearest_level(np.array([value - 1e-12]), LEVELS)[0] == np.ceil(value)


def test_kappa_of_two_labels_is_unweighted() -> None:
    rng = np.random.default_rng(1)
    consensus, rating = rng.integers(0, 4, 50) / 3, rng.integers(0, 2, 50).astype(float)
    arrays = PoolArrays(consensus[None], np.full((1, 50), 3.0), np.full((1, 50), np.nan), ScaleCuts(0, 1, (0.0, 1.0)))
    expected = cohen_kappa_score(rating.astype(int), (consensus >= 0.5).astype(int))
    assert value_of(Features(arrays, rating[None]), ("kappa_qw", ""))[0] == pytest.approx(expected)


def world(rng: np.random.Generator, truth: np.ndarray, n: np.ndarray, sd: np.ndarray) -> list[np.ndarray]:
    """Ratings item by item: truth + noise."""
    return [rng.normal(t, s, k) for t, s, k in zip(truth, sd, n, strict=True)]


def arrays_of(*pool: list[np.ndarray]) -> PoolArrays:
    mean = np.array([[x.mean() for x in one] for one in pool])
    n = np.array([[float(x.size) for x in one] for one in pool])
    s2 = np.array([[x.var(ddof=1) if x.size > 1 else np.nan for x in one] for one in pool])
    return PoolArrays(mean, n, s2, ScaleCuts())


def test_reliability_is_the_squared_correlation_with_the_truth() -> None:
    """With unequal numbers of raters: var(truth) / var(consensus)."""
    rng = np.random.default_rng(7)
    n = rng.choice([1, 2, 3, 8], 4000)
    truth = rng.normal(0, 1, 4000)
    arrays = arrays_of(world(rng, truth, n, np.full(4000, 1.5)))
    expected = 1 / (1 + 1.5**2 * np.mean(1 / n))
    assert value_of(Features(arrays), ("reliability", ""))[0] == pytest.approx(expected, abs=0.03)


def test_disattenuated_r_recovers_the_correlation_of_the_truths() -> None:
    rng = np.random.default_rng(8)
    cov = [[1, 0.6], [0.6, 1]]
    truth = rng.multivariate_normal([0, 0], cov, 6000)
    n, sd = np.full(6000, 3), np.full(6000, 1.2)
    arrays = arrays_of(world(rng, truth[:, 0], n, sd), world(rng, truth[:, 1], n, sd))
    raw = value_of(Features(arrays), ("cross_pool_pearson", ""))[0]
    clean = value_of(Features(arrays), ("disattenuated_r", ""))[0]
    assert raw < 0.45
    assert clean == pytest.approx(0.6, abs=0.04)


def test_gap_of_equal_pools_is_the_noise_floor() -> None:
    rng = np.random.default_rng(9)
    truth, sd = rng.normal(0, 1, 5000), np.full(5000, 1.0)
    n_a, n_b = rng.choice([1, 2, 5], 5000), rng.choice([2, 3], 5000)
    arrays = arrays_of(world(rng, truth, n_a, sd), world(rng, truth, n_b, sd))
    features = Features(arrays)
    floor, mad = (value_of(features, (name, ""))[0] for name in ("noise_floor", "cross_pool_mad"))
    assert mad == pytest.approx(floor, rel=0.03)
    assert value_of(features, ("gap_rms", ""))[0] < 0.15


def test_delta_sq_does_not_take_noise_for_distance() -> None:
    """A judge as far from both pools' truths: delta favours the pool with more raters, delta_sq does not."""
    rng = np.random.default_rng(10)
    truth = rng.normal(0, 1, 20_000)
    many, few = np.full(20_000, 8), np.full(20_000, 2)
    sd = np.full(20_000, 1.5)
    arrays = arrays_of(world(rng, truth, few, sd), world(rng, truth, many, sd))
    features = Features(arrays, (truth + rng.normal(0, 0.5, 20_000))[None])
    assert value_of(features, ("delta", ""))[0] > 0.2
    assert abs(value_of(features, ("delta_sq", ""))[0]) < 0.05
