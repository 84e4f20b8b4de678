"""Profile intervals and likelihood ratios against brute-force profiles by scipy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import chi2
from tests.stats.cells import small_data

from voirdire.stats.cumulative import Data, Fit, fit_cells, log_likelihood
from voirdire.stats.profiling import deviance, fixed, linear_interval, ratio_interval

OVER, UNDER = np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0])


def positive(seed: int = 1, cells: int = 3, items: int = 150) -> Data:
    """Cells whose first two slopes are about 0.5."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((items, 3))
    latent = x @ np.array([0.5, 0.5, 0.3]) + rng.standard_normal((cells, items))
    codes = (latent[:, :, None] > np.array([-0.8, 0.1, 0.9])).sum(2).astype(np.int8)
    return Data(codes, x, np.ones(items), 4)


def brute_profile(data: Data, cell: int, slopes_at: Callable[[np.ndarray], np.ndarray], free: int) -> float:
    """The largest penalised log likelihood over all cuts and ``free`` coordinates of the slopes."""
    one = data.rows(np.array([cell]))

    def lost(at: np.ndarray) -> float:
        cuts = np.cumsum([at[0], *np.exp(at[1 : data.n_cuts])])
        return -float(log_likelihood(one, cuts[None], slopes_at(at[data.n_cuts :])[None])[0])

    start = np.concatenate([[-0.8], np.full(data.n_cuts - 1, -0.3), np.full(free, 0.3)])
    found = minimize(lost, start, method="BFGS", options={"gtol": 1e-7})
    return -float(found.fun)


def brute_interval(fit: Fit, cell: int, profile: Callable[[float], float], center: float, far: float) -> list[float]:
    bound = fit.loglik[cell] - chi2.ppf(0.95, 1) / 2
    return [brentq(lambda value: profile(value) - bound, center, center + side * far, xtol=1e-7) for side in (-1, 1)]


def test_interval_of_a_slope_equals_a_brute_force_profile() -> None:
    data = positive()
    fit = fit_cells(data)
    direction = np.array([1.0, 1.0, 0.0])
    low, high = linear_interval(data, fit, direction, 0.95)

    def profile(value: float) -> float:
        return brute_profile(data, 1, lambda free: np.array([free[0], value - free[0], free[1]]), 2)

    expected = brute_interval(fit, 1, profile, float(fit.slopes[1] @ direction), 1.0)
    assert [low[1], high[1]] == pytest.approx(expected, abs=2e-4)


def test_interval_of_a_ratio_equals_a_brute_force_profile() -> None:
    data = positive()
    fit = fit_cells(data)
    low, high = ratio_interval(data, fit, OVER, UNDER, 0.95)

    def profile(value: float) -> float:
        return brute_profile(data, 2, lambda free: np.array([(1 - value) * free[0], value * free[0], free[1]]), 2)

    expected = brute_interval(fit, 2, profile, float(fit.slopes[2, 1] / fit.slopes[2, :2].sum()), 0.5)
    assert [low[2], high[2]] == pytest.approx(expected, abs=2e-4)


def test_deviance_equals_the_fall_of_a_brute_force_profile() -> None:
    data = positive()
    fit = fit_cells(data)
    ratio, inside = deviance(data, fit, fixed(np.array([-1.0, 1.0, 0.0]), np.zeros(3)))
    for cell in range(3):
        best = brute_profile(data, cell, lambda free: np.array([free[0], free[0], free[1]]), 2)
        assert ratio[cell] == pytest.approx(2 * (fit.loglik[cell] - best), abs=1e-5)
    assert inside.slopes[:, 0] == pytest.approx(inside.slopes[:, 1])


def test_the_ends_lie_at_the_quantile_at_every_level() -> None:
    data = positive(2, cells=6)
    fit = fit_cells(data)
    for level in (0.5, 0.8, 0.99):
        for end in linear_interval(data, fit, OVER, level):
            assert deviance(data, fit, fixed(OVER, end))[0] == pytest.approx(chi2.ppf(level, 1), abs=2e-3)
        for end in ratio_interval(data, fit, OVER, UNDER, level):
            across = OVER - end[:, None] * UNDER
            assert deviance(data, fit, fixed(across, np.zeros(6)))[0] == pytest.approx(chi2.ppf(level, 1), abs=2e-3)


def test_higher_levels_hold_lower_ones_and_the_estimate() -> None:
    data = positive(3, cells=5)
    fit = fit_cells(data)
    estimate = fit.slopes[:, 1] / fit.slopes[:, :2].sum(1)
    ends = [ratio_interval(data, fit, OVER, UNDER, level) for level in (0.5, 0.9, 0.99)]
    for inner, outer in zip([(estimate, estimate), *ends], ends, strict=False):
        assert (outer[0] < inner[0]).all()
        assert (outer[1] > inner[1]).all()


def test_without_relation_the_slope_interval_holds_0_and_the_ratio_is_unbounded() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((100, 3))
    data = Data(rng.integers(0, 5, (20, 100)).astype(np.int8), x, np.ones(100), 5)
    fit = fit_cells(data)
    low, high = linear_interval(data, fit, UNDER, 0.95)
    holds = (low < 0) & (high > 0)
    assert holds.mean() >= 0.8
    ends = np.stack(ratio_interval(data, fit, OVER, UNDER, 0.95))
    assert (np.isinf(ends).any(0) == holds).mean() >= 0.9
    assert np.isfinite(ends[:, ~holds]).all()


def test_a_wald_interval_is_near_where_the_likelihood_is_quadratic() -> None:
    data = positive(5, items=3000)
    fit = fit_cells(data)
    low, high = linear_interval(data, fit, OVER, 0.95)
    se = np.sqrt(np.linalg.inv(fit.information)[:, 4, 4])
    assert (high - low) / 2 == pytest.approx(1.959964 * se, rel=0.01)
    assert (high + low) / 2 == pytest.approx(fit.slopes[:, 1], abs=0.1 * se.min())


def test_fixed_gives_an_orthonormal_basis_across_the_direction() -> None:
    rng = np.random.default_rng(6)
    direction, value = rng.standard_normal((7, 4)), rng.standard_normal(7)
    direction[0] = [-1, 0, 0, 0]
    space = fixed(direction, value)
    assert np.einsum("cp,cp->c", space.origin, direction) == pytest.approx(value)
    assert np.einsum("cp,cpq->cq", direction, space.basis) == pytest.approx(np.zeros((7, 3)), abs=1e-12)
    assert space.basis.transpose(0, 2, 1) @ space.basis == pytest.approx(np.tile(np.eye(3), (7, 1, 1)))


def test_cells_do_not_see_each_other() -> None:
    data = small_data(11, cells=4)
    fit = fit_cells(data)
    together = np.stack(ratio_interval(data, fit, OVER, UNDER, 0.95))
    for cell in range(4):
        alone = data.rows(np.array([cell]))
        ends = np.stack(ratio_interval(alone, fit_cells(alone), OVER, UNDER, 0.95))[:, 0]
        assert np.arctan(ends) == pytest.approx(np.arctan(together[:, cell]), abs=1e-3)
