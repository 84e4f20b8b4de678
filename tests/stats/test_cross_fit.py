"""The best of several conditions by cross-fitting: against a plain loop, and what it achieves where all are equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.stats.cross_fit import cross_fitted, halves, t_interval
from voirdire.stats.resampling import item_weights


def plain(errors: np.ndarray, counts: np.ndarray, cells: list[int], split: np.ndarray, times: np.ndarray) -> float:
    """The same by loops over splits, halves and cells."""
    scores = []
    for half in split:
        for mine in (half, ~half):
            means = {}
            for cell in cells:
                n = [(times * counts[cell])[side].sum() for side in (mine, ~mine)]
                if min(n) > 0:
                    means[cell] = [(times * errors[cell])[side].sum() / n[k] for k, side in enumerate((mine, ~mine))]
            if means:
                least = min(own for own, _ in means.values())
                scores.append(np.mean([other for own, other in means.values() if own <= least + 1e-9]))
    return float(np.mean(scores)) if scores else np.nan


@given(seed=st.integers(0, 10**6), n_items=st.integers(4, 12), lost=st.sampled_from([0.0, 0.3]))
def test_it_is_that_of_a_loop(seed: int, n_items: int, lost: float) -> None:
    rng = np.random.default_rng(seed)
    counts = (rng.random((4, n_items)) >= lost).astype(float)
    errors = np.round(rng.random((4, n_items)) * 4) / 2 * counts
    split = halves(rng.integers(0, 2, n_items), 3, rng)
    weights = item_weights(n_items, 5, rng)
    groups = [np.array([0, 1, 2, 3]), np.array([2]), np.array([1, 3])]
    got = cross_fitted(errors, counts, groups, split, weights)
    for g, cells in enumerate(groups):
        drawn = [plain(errors, counts, cells.tolist(), split, times) for times in weights]
        assert got.draws[g] == pytest.approx(drawn, nan_ok=True, abs=1e-9)
        if np.isfinite(got.values[g]):
            expected = plain(errors, counts, cells.tolist(), split, np.ones(n_items))
            assert got.values[g] == pytest.approx(expected, abs=1e-9)


def test_one_condition_is_its_own_mean() -> None:
    errors = np.random.default_rng(1).random((1, 8))
    got = cross_fitted(errors, np.ones((1, 8)), [np.array([0])], halves(np.zeros(8), 20, np.random.default_rng(2)),
                       np.ones((0, 8), dtype=np.uint8))  # fmt: skip
    assert got.values[0] == pytest.approx(errors.mean())


def test_a_half_without_judgments_has_no_value() -> None:
    counts = np.array([[1.0, 1.0, 0.0, 0.0]])
    split = np.array([[True, True, False, False]])
    got = cross_fitted(counts, counts, [np.array([0]), np.array([], dtype=int)], split, np.ones((1, 4), dtype=np.uint8))
    assert np.isnan(got.values).all()
    assert np.isnan(got.draws).all()


@given(strata=st.lists(st.integers(0, 3), min_size=1, max_size=20), seed=st.integers(0, 100))
def test_halves_are_halves_of_every_stratum(strata: list[int], seed: int) -> None:
    labels = np.array(strata)
    for half in halves(labels, 4, np.random.default_rng(seed)):
        for label in set(strata):
            inside = labels == label
            assert abs(2 * int(half[inside].sum()) - int(inside.sum())) <= 1
        assert abs(2 * int(half.sum()) - labels.size) <= 1


def test_ten_equal_conditions() -> None:
    """The raw minimum is too small; the cross-fitted value is not, and its interval covers."""
    rng = np.random.default_rng(4)
    n, corpora, truth = 80, 200, 0.8
    raw, value, covered = [], [], 0
    for _ in range(corpora):
        errors = rng.gamma(4, truth / 4, (10, n)) * 0.7 + rng.gamma(4, truth / 4, n) * 0.3
        fitted = cross_fitted(
            errors, np.ones_like(errors), [np.arange(10)], halves(np.zeros(n), 20, rng), item_weights(n, 60, rng)
        )
        low, high = t_interval(fitted.values, fitted.draws, n - 1, 0.95)
        covered += int(low[0] <= truth <= high[0])
        raw.append(errors.mean(1).min())
        value.append(fitted.values[0])
    assert np.mean(raw) - truth < -0.03
    assert abs(np.mean(value) - truth) < 3 * np.std(value) / np.sqrt(corpora)
    assert covered / corpora >= 0.93


def test_interval_without_draws() -> None:
    assert np.isnan(t_interval(np.array([1.0]), np.empty((1, 0)), 10, 0.95)).all()
    draws = np.array([[1.0, np.nan, 2.0], [1.0, 2.0, 3.0]])
    low, high = t_interval(np.array([1.0, 2.0]), draws, 10, 0.95)
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] < 2 < high[1]
