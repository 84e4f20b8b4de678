"""The cumulative probit against a plain loop, statsmodels and the slow prototype."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.miscmodels.ordinal_model import OrderedModel
from tests.stats.cells import corpus, oracle, plain_loglik, small_data

from voirdire.stats import cumulative
from voirdire.stats.cumulative import Data, Fit, Subspace, first_cuts, fit_cells, log_likelihood, scores
from voirdire.stats.decomposition import code_cells
from voirdire.stats.profiling import fixed


def parameters(fit: Fit, cell: int) -> np.ndarray:
    return np.concatenate([fit.cuts[cell], fit.slopes[cell]])


def differences(data: Data, cell: int, at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Derivatives of the plain log likelihood by central differences."""
    k = data.n_cuts
    found = []
    for place in range(len(at)):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        rise = plain_loglik(data, cell, up[:k], up[k:]) - plain_loglik(data, cell, down[:k], down[k:])
        found.append(rise / (2 * step))
    return np.array(found)


def gradient_at(data: Data, cell: int, at: np.ndarray) -> np.ndarray:
    k = data.n_cuts
    one = data.rows(np.array([cell]))
    return np.asarray(cumulative._derivatives(one, at[None, :k], at[None, k:])[1][0])


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=8)
def test_likelihood_gradient_and_information_equal_a_plain_loop(seed: int, levels: int) -> None:
    data = small_data(seed, cells=2, items=30, levels=levels)
    rng = np.random.default_rng(seed)
    cuts = np.linspace(-1, 1, levels - 1) + rng.normal(0, 0.05, (2, levels - 1))
    slopes = rng.normal(0, 0.4, (2, 3))
    value, gradient, information = cumulative._derivatives(data, cuts, slopes)
    for cell in range(2):
        at = np.concatenate([cuts[cell], slopes[cell]])
        plain = plain_loglik(data, cell, cuts[cell], slopes[cell])
        assert value[cell] == pytest.approx(plain, rel=1e-11)
        assert log_likelihood(data, cuts, slopes)[cell] == pytest.approx(plain, rel=1e-11)
        assert gradient[cell] == pytest.approx(differences(data, cell, at), abs=1e-5)
        for place, move in enumerate(1e-4 * np.eye(len(at))):
            change = gradient_at(data, cell, at + move) - gradient_at(data, cell, at - move)
            assert information[cell, place] == pytest.approx(-change / 2e-4, abs=2e-5)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_scores_sum_to_the_gradient(seed: int) -> None:
    data = small_data(seed)
    fit = fit_cells(data, tolerance=1e-12)
    upper, lower = scores(data, fit)
    assert -(upper + lower) @ data.x == pytest.approx(data.ridge * fit.slopes, abs=1e-7)
    for cut in range(data.n_cuts):
        total = (upper * (data.codes == cut)).sum(1) + (lower * (data.codes == cut + 1)).sum(1)
        assert total == pytest.approx(0, abs=1e-7)
    assert not upper[data.codes < 0].any()
    assert not lower[data.codes < 0].any()


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_equals_statsmodels_ordered_probit(levels: int) -> None:
    data = small_data(levels, cells=2, items=300, levels=levels, ridge=0.0)
    fit = fit_cells(Data(data.codes, data.x, np.ones(300), levels, 0.0), tolerance=1e-11)
    assert fit.converged.all()
    for cell in range(2):
        rated = data.codes[cell] >= 0
        model = OrderedModel(data.codes[cell][rated], data.x[rated], distr="probit")
        other = model.fit(method="bfgs", disp=False, gtol=1e-9, maxiter=1000, warn_convergence=False)
        p = data.x.shape[1]
        assert fit.loglik[cell] == pytest.approx(other.llf, rel=1e-9)
        assert fit.slopes[cell] == pytest.approx(other.params[:p], abs=1e-6)
        assert fit.cuts[cell] == pytest.approx(model.transform_threshold_params(other.params)[1:-1], abs=1e-6)


def test_equals_the_prototype_without_penalty(shared_data: Path) -> None:
    decomp = oracle(shared_data)
    c = corpus(3)
    ratings = c.ratings(np.random.default_rng(4), weights=(0.3, 0.7), scale=0.8, permissiveness=0.3, image={"cn": -0.3})
    posterior = c.shrinkage.posterior()
    design = decomp._design(*posterior.mean, posterior.expected_gap(0, 1))
    culture = c.image.astype(float)
    other = decomp.cumlink(ratings, design, culture)
    x = np.column_stack([design[:, 1:], culture])
    fit = fit_cells(Data(code_cells(ratings[None], (1, 2, 3, 4, 5))[0].codes, x, np.ones(len(x)), 5, 1e-9))
    log_steps = np.log(np.diff(fit.cuts[0]))
    ours = np.concatenate([fit.cuts[0, :1], log_steps, fit.slopes[0]])
    likelihood, gradient, _ = decomp._negll_cum(ours, ratings.astype(int), np.column_stack([design, culture]))
    assert fit.loglik[0] == pytest.approx(-likelihood, abs=1e-6)
    assert np.abs(gradient).max() < 1e-3
    assert fit.slopes[0] == pytest.approx([*other["b"][1:], other["img"]], abs=2e-3)
    assert fit.slopes[0, 1] / fit.slopes[0, :2].sum() == pytest.approx(other["W"], abs=1e-3)


def test_integer_weights_equal_repeated_rows() -> None:
    data = small_data(5)
    times = data.weights.astype(int)
    stacked = Data(np.repeat(data.codes, times, axis=1), np.repeat(data.x, times, axis=0), np.ones(times.sum()), 4)
    one, other = fit_cells(data, tolerance=1e-11), fit_cells(stacked, tolerance=1e-11)
    assert one.loglik == pytest.approx(other.loglik, rel=1e-12)
    assert one.slopes == pytest.approx(other.slopes, abs=1e-8)
    assert one.information == pytest.approx(other.information, rel=1e-8, abs=1e-8)


def test_zero_weight_equals_no_rating() -> None:
    data = small_data(6, cells=1)
    w = data.weights.copy()
    w[10:30] = 0
    codes = data.codes.copy()
    codes[:, 10:30] = -1
    one = fit_cells(Data(data.codes, data.x, w, 4), tolerance=1e-11)
    other = fit_cells(Data(codes, data.x, data.weights, 4), tolerance=1e-11)
    assert one.slopes == pytest.approx(other.slopes, abs=1e-9)


def test_cells_do_not_see_each_other_nor_the_order_of_the_items() -> None:
    data = small_data(7, cells=5)
    together = fit_cells(data, tolerance=1e-11)
    order = np.random.default_rng(0).permutation(80)
    for cell in range(5):
        alone = fit_cells(Data(data.codes[[cell]][:, order], data.x[order], data.weights[order], 4), tolerance=1e-11)
        assert parameters(alone, 0) == pytest.approx(parameters(together, cell), abs=1e-8)


def test_a_warm_start_and_a_bad_start_reach_the_same_maximum() -> None:
    data = small_data(8)
    fit = fit_cells(data)
    far = (np.tile(np.array([-6.0, 0.0, 6.0]), (3, 1)), np.full((3, 3), 3.0))
    for start in ((fit.cuts, fit.slopes), far):
        again = fit_cells(data, start=start)
        assert again.converged.all()
        assert again.loglik == pytest.approx(fit.loglik, abs=1e-8)


def test_within_a_subspace_a_constraint_holds_and_the_gradient_along_it_is_zero() -> None:
    data = small_data(9)
    direction, value = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.4, 0.0])
    space = fixed(direction, value)
    fit = fit_cells(data, within=space, tolerance=1e-11)
    assert fit.slopes @ direction == pytest.approx(value, abs=1e-10)
    for cell in range(3):
        slope = differences(data, cell, parameters(fit, cell))
        assert slope[:3] == pytest.approx(0, abs=1e-5)
        assert space.basis[cell].T @ slope[3:] == pytest.approx(0, abs=1e-5)


def test_all_slopes_fixed_gives_the_cuts_alone() -> None:
    data = small_data(10, ridge=0.0)
    still = Subspace(np.zeros((3, 3)), np.zeros((3, 3, 0)))
    assert fit_cells(data, within=still, tolerance=1e-11).cuts == pytest.approx(first_cuts(data), abs=1e-5)


def test_far_tails_keep_the_likelihood_finite() -> None:
    codes = np.array([[0, 1, 2]], dtype=np.int8)
    data = Data(codes, np.array([[40.0], [0.0], [-40.0]]), np.ones(3), 3, 0.0)
    for slope in (0.2, 0.9, 1.0, 3.0, 40.0):
        value, gradient, information = cumulative._derivatives(data, np.array([[-1.0, 1.0]]), np.array([[slope]]))
        tails = norm.logcdf(-1 - 40 * slope) + norm.logsf(1 + 40 * slope)
        assert value[0] == pytest.approx(tails + np.log(norm.cdf(1) - norm.cdf(-1)), rel=1e-9)
        ends = {cell: np.exp(norm.logpdf(z) - norm.logsf(z)) for cell, z in ((0, 1 + 40 * slope), (2, 1 + 40 * slope))}
        middle = norm.pdf(1) / (norm.cdf(1) - norm.cdf(-1))
        assert gradient[0] == pytest.approx([ends[0] - middle, middle - ends[2], -40 * (ends[0] + ends[2])], rel=1e-6)
        assert np.linalg.eigvalsh(information[0]).min() > 0


def test_separation_stays_finite_with_the_ridge() -> None:
    x = np.linspace(-2, 2, 60)[:, None]
    data = Data((x[:, 0] > 0).astype(np.int8)[None], x, np.ones(60), 2)
    fit = fit_cells(data)
    assert fit.converged.all()
    assert 3 < fit.slopes[0, 0] < 30


def test_a_fit_finds_its_way_back_from_where_nothing_is_likely() -> None:
    """The start of a test of neutrality under separation: slopes far beyond what the constraint allows."""
    x = np.column_stack([np.linspace(-2, 2, 60), np.sin(np.arange(60))])
    codes = np.digitize(x[:, 0], [-1.0, 0.0, 0.8]).astype(np.int8)[None]
    data = Data(codes, x, np.ones(60), 4)
    fit = fit_cells(data)
    far = (np.array([[-200.0, 0.0, 160.0]]), np.array([[-300.0, 250.0]]))
    again = fit_cells(data, start=far)
    assert again.converged.all()
    assert again.loglik == pytest.approx(fit.loglik, abs=1e-6)
    space = fixed(np.array([1.0, -1.0]), np.zeros(1))
    inside = [fit_cells(data, start=start, within=space) for start in (None, far)]
    assert inside[0].loglik == pytest.approx(inside[1].loglik, abs=1e-6)
