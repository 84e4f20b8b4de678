"""Fits of many judges: invariances, influence and the test of neutrality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from tests.stats.cells import LEAD, LEVELS, NEUTRAL, SUM, Corpus, corpus

from voirdire.stats import decomposition
from voirdire.stats.consensus_noise import Shrinkage
from voirdire.stats.decomposition import (
    CellFits,
    Coded,
    code_cells,
    efficient_scores,
    fieller,
    fit_all,
    image_columns,
    influence,
    neutrality,
    regressors,
    slope_covariance,
)
from voirdire.stats.features import PoolArrays, ScaleCuts

PRECISE = 1e-11


@pytest.fixture(scope="module")
def c() -> Corpus:
    return corpus(1)


@pytest.fixture(scope="module")
def judges(c: Corpus) -> np.ndarray:
    """(4, I): neutral, oriented to b, compressed, permissive with a dislike of one culture."""
    rng = np.random.default_rng(2)
    kinds = (
        {},
        {"weights": (0.25, 0.75), "noise": 0.8},
        {"scale": 0.4, "noise": 0.7},
        {"permissiveness": 0.6, "image": {"cn": -0.4}, "noise": 0.8},
    )
    return np.stack([c.ratings(rng, **kind) for kind in kinds])


def orientation(fits: CellFits) -> np.ndarray:
    return fits.slopes[:, 1] / fits.slopes[:, :2].sum(1)


def permissiveness(fits: CellFits) -> np.ndarray:
    return fits.slopes[:, 2] / fits.slopes[:, :2].sum(1)


# ---- invariances


def test_swapping_the_pools_turns_w_around(c: Corpus, judges: np.ndarray) -> None:
    fits, coded = c.fit(judges, tolerance=PRECISE)
    arrays = c.pools
    pools = PoolArrays(arrays.mean[::-1], arrays.n[::-1], arrays.s2[::-1], arrays.scale)
    x = regressors(Shrinkage.of(pools, c.shrinkage.strata).posterior(), image_columns(c.image))
    swapped = fit_all(coded, x, 4, tolerance=PRECISE)
    assert orientation(swapped) == pytest.approx(1 - orientation(fits), abs=1e-8)
    assert permissiveness(swapped) == pytest.approx(permissiveness(fits), abs=1e-8)
    assert neutrality(swapped, NEUTRAL)[0] == pytest.approx(neutrality(fits, NEUTRAL)[0], abs=1e-6)


def test_the_order_of_items_does_not_matter(c: Corpus, judges: np.ndarray) -> None:
    order = np.random.default_rng(3).permutation(len(c.x))
    fits, _ = c.fit(judges, tolerance=PRECISE)
    moved = fit_all(code_cells(judges[:, order], LEVELS), c.x[order], 4, tolerance=PRECISE)
    assert moved.slopes == pytest.approx(fits.slopes, abs=1e-8)
    kept, turned = (efficient_scores(f, NEUTRAL, 4) for f in (fits, moved))
    assert turned == pytest.approx(kept[:, order], abs=1e-5)


def test_relabelling_the_levels_in_order_changes_neither_w_nor_pi(c: Corpus, judges: np.ndarray) -> None:
    fits, _ = c.fit(judges)
    relabelled = np.array([-7.0, 0.1, 0.2, 30.0, 1000.0])[judges.astype(int) - 1]
    other, coded = c.fit(relabelled)
    assert len(coded) == 4
    assert orientation(other) == pytest.approx(orientation(fits), abs=1e-6)
    assert permissiveness(other) == pytest.approx(permissiveness(fits), abs=1e-6)


def test_the_last_image_level_may_be_any(c: Corpus, judges: np.ndarray) -> None:
    fits, coded = c.fit(judges, ridge=1e-9)
    x = regressors(c.shrinkage.posterior(), image_columns(1 - c.image))
    other = fit_all(coded, x, 4, ridge=1e-9)
    assert other.slopes[:, :3] == pytest.approx(fits.slopes[:, :3], abs=1e-5)


def test_integer_weights_equal_repeated_items(c: Corpus, judges: np.ndarray) -> None:
    w = np.random.default_rng(4).integers(0, 4, len(c.x))
    weighted, _ = c.fit(judges, weights=w.astype(float), tolerance=PRECISE)
    repeated = fit_all(
        code_cells(np.repeat(judges, w, axis=1), LEVELS), np.repeat(c.x, w, axis=0), 4, tolerance=PRECISE
    )
    assert weighted.slopes == pytest.approx(repeated.slopes, abs=1e-8)


def test_repeats_stacked_with_weights_equal_one_rating_where_they_agree(c: Corpus, judges: np.ndarray) -> None:
    stacked = code_cells(np.concatenate([judges, judges, judges], axis=1), LEVELS)
    x, w = np.tile(c.x, (3, 1)), np.full(3 * len(c.x), 1 / 3)
    other = fit_all(stacked, x, 4, weights=w, tolerance=PRECISE)
    assert other.slopes == pytest.approx(c.fit(judges, tolerance=PRECISE)[0].slopes, abs=1e-8)


def test_a_resample_from_a_former_fit_equals_one_from_nothing(c: Corpus, judges: np.ndarray) -> None:
    fits, coded = c.fit(judges)
    rng = np.random.default_rng(5)
    for _ in range(3):
        w = rng.multinomial(60, np.full(len(c.x), 1 / len(c.x))).astype(float)
        cold, warm = (fit_all(coded, c.x, 4, weights=w, start=s, tolerance=PRECISE) for s in (None, fits))
        assert warm.slopes == pytest.approx(cold.slopes, abs=1e-6)


# ---- influence and tests


def test_influence_is_the_derivative_by_the_weight_of_an_item(c: Corpus, judges: np.ndarray) -> None:
    ratings = judges.copy()
    ratings[3, 5:40] = np.nan
    fits, coded = c.fit(ratings, tolerance=1e-13)
    matrix = np.array([[1.0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 0, 1]])
    directions = np.stack([NEUTRAL, SUM, LEAD])
    found = influence(fits, matrix, directions)
    share = matrix * (~np.isnan(ratings)).sum(1)  # each cell counts by its ratings
    share /= share.sum(1, keepdims=True)
    step = 1e-4
    for item in (0, 7, 111, 300):
        means = []
        for sign in (1, -1):
            w = np.ones(len(c.x))
            w[item] += sign * step
            moved = fit_all(coded, c.x, 4, weights=w, start=fits, tolerance=1e-13).slopes
            means.append(np.sum((share @ moved) * directions, axis=1))
        assert found[:, item] == pytest.approx((means[0] - means[1]) / (2 * step), rel=1e-3, abs=1e-7)


def test_covariance_of_mean_slopes_is_the_sum_over_items(c: Corpus, judges: np.ndarray, monkeypatch) -> None:
    fits, _ = c.fit(judges)
    matrix = np.array([[1.0, 1, 0, 1], [0, 0, 1, 0]])
    monkeypatch.setattr(decomposition, "_CHUNK", 700)
    each = np.stack([influence(fits, matrix, np.tile(column, (2, 1))) for column in np.eye(4)], axis=2)
    n = len(c.x)
    plain = np.stack([sum(np.outer(item, item) for item in of) for of in each]) * n / (n - 1)
    assert slope_covariance(fits, matrix) == pytest.approx(plain, rel=1e-9)
    model = np.linalg.inv(fits.parts[0].fit.information[2])[4:, 4:]
    assert np.diag(plain[1]) == pytest.approx(np.diag(model), rel=0.35)


def test_repeats_of_an_item_are_one_cluster(c: Corpus, judges: np.ndarray) -> None:
    """Two equal ratings an item, each of half a weight, say as much as one."""
    once = slope_covariance(c.fit(judges, tolerance=PRECISE)[0], np.eye(4))
    twice = code_cells(np.repeat(judges, 2, axis=1), LEVELS)
    x, w = np.repeat(c.x, 2, axis=0), np.full(2 * len(c.x), 0.5)
    fits = fit_all(twice, x, 4, weights=w, tolerance=PRECISE)
    assert slope_covariance(fits, np.eye(4), repeats=2) == pytest.approx(once, rel=1e-6)


def test_clustered_error_is_near_the_jackknife_over_items(c: Corpus, judges: np.ndarray) -> None:
    fits, coded = c.fit(judges)
    found = np.sqrt((influence(fits, np.ones((1, 4)), NEUTRAL[None]) ** 2).sum())
    groups = np.arange(len(c.x)) % 50
    left_out = []
    for group in range(50):
        slopes = fit_all(coded, c.x, 4, weights=(groups != group).astype(float), start=fits).slopes
        left_out.append(slopes.mean(0) @ NEUTRAL)
    jackknife = np.sqrt(49 / 50 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    assert found == pytest.approx(jackknife, rel=0.2)


def test_efficient_scores_agree_with_the_likelihood_ratio_near_neutrality(c: Corpus) -> None:
    rng = np.random.default_rng(6)
    ratings = np.stack([c.ratings(rng, noise=0.8) for _ in range(20)])
    fits, _ = c.fit(ratings)
    ratio, p = neutrality(fits, NEUTRAL)
    scores = efficient_scores(fits, NEUTRAL, 20)
    by_score = scores.sum(1) ** 2 / (scores**2).sum(1)
    assert by_score == pytest.approx(ratio, rel=0.3, abs=0.15)
    assert p == pytest.approx(chi2.sf(ratio, 1))


def test_efficient_score_is_the_step_of_the_likelihood_along_the_contrast(c: Corpus, judges: np.ndarray) -> None:
    """Sum of squares over information: the quadratic form that a score test has, in a regular case near the LR."""
    fits, _ = c.fit(judges[[0]])
    part = fits.parts[0]
    total = efficient_scores(fits, NEUTRAL, 1).sum()
    unit = NEUTRAL / np.linalg.norm(NEUTRAL)
    variance = unit @ np.linalg.inv(part.fit.information[0])[part.data.n_cuts :, part.data.n_cuts :] @ unit
    assert total**2 * variance == pytest.approx(neutrality(fits, NEUTRAL)[0][0], rel=0.1, abs=0.05)
    assert np.sign(total) == np.sign(fits.slopes[0] @ NEUTRAL)


def test_copies_are_decided_together_by_scores(c: Corpus) -> None:
    copies = np.stack([c.ratings(np.random.default_rng(s), weights=(0.0, 1.0), noise=0.05) for s in range(3)])
    fits, _ = c.fit(copies)
    summed = efficient_scores(fits, NEUTRAL, 3).sum(0)
    assert summed.sum() / np.sqrt((summed**2).sum()) > 6


def test_fieller_ends_solve_its_quadratic() -> None:
    top, bottom, vtt, vtb, vbb = (np.array([v]) for v in (0.6, 1.1, 0.02, 0.005, 0.03))
    for end in fieller(top, bottom, (vtt, vtb, vbb), 1.96):
        distance = (top - end * bottom) ** 2 / (vtt - 2 * end * vtb + end**2 * vbb)
        assert distance == pytest.approx(1.96**2)
    assert np.isinf(fieller(top, np.array([0.2]), (vtt, vtb, vbb), 1.96)).all()


# ---- regressors


def test_regressors_have_one_center_for_pools_and_image_effects_sum_to_zero() -> None:
    c = corpus(5)
    w = np.random.default_rng(12).integers(0, 3, len(c.x)).astype(float)
    culture, posterior = c.humans.strata.astype(np.int64) % 3, c.shrinkage.posterior(w)
    x = regressors(posterior, image_columns(culture, w), weights=w, squares=True)
    assert x.shape[1] == 2 + 1 + 2 + 2
    assert x[:, 0] - x[:, 1] == pytest.approx(posterior.mean[0] - posterior.mean[1])
    assert w @ (x[:, 0] + x[:, 1]) == pytest.approx(0, abs=1e-8)
    assert x[:, 2] == pytest.approx(posterior.expected_gap(0, 1) / 2, abs=1e-8)
    assert w @ x[:, 3:] == pytest.approx(np.zeros(4), abs=1e-8)


def test_standardised_pools_have_unit_spread_and_are_free_of_the_scale() -> None:
    c = corpus(5)
    posterior, image = c.shrinkage.posterior(), image_columns(c.image)
    x = regressors(posterior, image, standardise=True)
    assert x[:, :2].std(0) == pytest.approx([1, 1])
    stretched = replace(posterior, mean=posterior.mean * [[2], [1]], covariance=posterior.covariance * [[4, 2], [2, 1]])
    assert regressors(stretched, image, standardise=True) == pytest.approx(x, abs=1e-8)


def test_the_units_of_a_scale_change_nothing() -> None:
    """0-100 in place of 1-5: the same slopes, penalty and floor; only the unit differs."""
    rng = np.random.default_rng(4)
    mean = 1 + 4 * rng.random((2, 60))
    s2, n = 0.2 + rng.random((2, 60)), np.full((2, 60), 3.0)
    codes = rng.integers(0, 5, (3, 60)).astype(np.int8)
    found = []
    for low, high, stretch in ((1.0, 5.0, 1.0), (0.0, 100.0, 25.0)):
        pools = PoolArrays(low + stretch * (mean - 1), n, s2 * stretch**2, ScaleCuts(low, high))
        shrinkage = Shrinkage.of(pools, np.zeros(60, dtype=np.int64))
        x = regressors(shrinkage.posterior(), np.zeros((60, 0)), unit=shrinkage.unit)
        coded = [Coded(np.arange(3), np.arange(5.0), codes, 5)]
        found.append(fit_all(coded, x, 3).slopes)
    assert found[0] == pytest.approx(found[1], abs=1e-8)
