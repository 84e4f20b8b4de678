"""Fits of many judges: invariances, influence, the test of neutrality, and named judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from tests.stats.cells import LEAD, LEVELS, NEUTRAL, SUM, A, B, Corpus, corpus

from voirdire.stats.consensus_noise import Shrinkage
from voirdire.stats.decomposition import (
    CellFits,
    code_cells,
    efficient_scores,
    expanded_cuts,
    fieller,
    fit_all,
    image_columns,
    influence,
    neutrality,
    regressors,
)
from voirdire.stats.features import PoolArrays
from voirdire.stats.profiling import linear_interval, ratio_interval

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
    step = 1e-4
    for item in (0, 7, 111, 300):
        means = []
        for sign in (1, -1):
            w = np.ones(len(c.x))
            w[item] += sign * step
            moved = fit_all(coded, c.x, 4, weights=w, start=fits, tolerance=1e-13).slopes
            means.append(np.sum((matrix @ moved) / matrix.sum(1, keepdims=True) * directions, axis=1))
        assert found[:, item] == pytest.approx((means[0] - means[1]) / (2 * step), rel=1e-3, abs=1e-7)


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


# ---- named judges


def test_an_exact_copy_of_a_pool_is_decided_though_it_separates(c: Corpus) -> None:
    for k, sign in ((0, -1), (1, 1)):
        rounded, exact = np.floor(c.pools.mean[k] + 0.5), c.pools.mean[k]
        fits, coded = c.fit(np.stack([rounded, exact]))
        ratio, p = neutrality(fits, NEUTRAL)
        assert (p < 1e-6).all()
        assert (np.sign(fits.slopes @ NEUTRAL) == sign).all()
        assert fits.separated[1]
        assert [len(part.cells) for part in fits.parts] == [1, 1]
        assert np.isfinite(ratio).all()
        assert coded[1].n_values > 10


def test_a_constant_judge_is_not_fitted(c: Corpus, judges: np.ndarray) -> None:
    ratings = judges.copy()
    ratings[1] = 4.0
    ratings[2] = np.nan
    fits, _ = c.fit(ratings)
    assert fits.fitted.tolist() == [True, False, False, True]
    ratio, p = neutrality(fits, NEUTRAL)
    assert np.isnan(ratio).tolist() == np.isnan(p).tolist() == [False, True, True, False]
    others = influence(fits, np.ones((1, 4)), NEUTRAL[None])
    assert others == pytest.approx(influence(fits, np.array([[1.0, 0, 0, 1]]), NEUTRAL[None]))
    assert not efficient_scores(fits, NEUTRAL, 4)[1:3].any()
    assert not fits.separated[1]


def test_a_judge_of_two_levels_far_apart_is_a_binary_probit(c: Corpus, judges: np.ndarray) -> None:
    two = np.where(judges[1] >= 4, 5.0, 1.0)
    fits, coded = c.fit(np.stack([two, np.where(judges[1] >= 4, 3.0, 2.0)]))
    assert fits.slopes[0] == pytest.approx(fits.slopes[1], abs=1e-6)
    cuts = {int(p.cells[0]): expanded_cuts(p)[0] for p in fits.parts}
    assert cuts[0] == pytest.approx(np.full(4, cuts[0][0]))
    assert np.isneginf(cuts[1][0])
    assert np.isposinf(cuts[1][2:]).all()
    assert len(coded) == 1


def test_an_unused_middle_level_is_merged(c: Corpus, judges: np.ndarray) -> None:
    ratings = np.where(judges[[1]] == 3, 4.0, judges[[1]])
    fits, _ = c.fit(ratings)
    part = fits.parts[0]
    assert part.used.tolist() == [0, 1, 3, 4]
    assert part.fit.converged.all()
    cuts = expanded_cuts(part)[0]
    assert cuts[1] == cuts[2]
    squeezed = code_cells(np.where(ratings > 3, ratings - 1, ratings), LEVELS[:4])
    assert fit_all(squeezed, c.x, 1).slopes == pytest.approx(fits.slopes, abs=1e-7)


def test_of_random_judges_the_slope_interval_holds_0(c: Corpus) -> None:
    ratings = np.random.default_rng(8).integers(1, 6, (40, len(c.x))).astype(float)
    fits, _ = c.fit(ratings)
    part = fits.parts[0]
    low, high = linear_interval(part.data, part.fit, SUM, 0.95)
    assert ((low <= 0) & (high >= 0)).mean() >= 0.85
    assert (neutrality(fits, NEUTRAL)[1] < 0.05).mean() <= 0.15


def test_one_item_gives_no_fit(c: Corpus) -> None:
    one = fit_all(code_cells(np.array([[4.0], [2.0]]), LEVELS), c.x[:1], 2)
    assert not one.fitted.any()
    assert one.parts == ()
    assert influence(one, np.ones((1, 2)), NEUTRAL[None]).shape == (1, 0)


def test_missing_ratings_equal_those_items_left_out(c: Corpus, judges: np.ndarray) -> None:
    ratings = judges[[1]].copy()
    gone = np.random.default_rng(9).random(len(c.x)) < 0.3
    ratings[0, gone] = np.nan
    fits, _ = c.fit(ratings, tolerance=PRECISE)
    fewer = fit_all(code_cells(ratings[:, ~gone], LEVELS), c.x[~gone], 1, tolerance=PRECISE)
    assert fits.slopes == pytest.approx(fewer.slopes, abs=1e-8)
    assert not influence(fits, np.ones((1, 1)), NEUTRAL[None])[0, gone].any()


def test_many_values_are_grouped_into_tenths_with_their_means(c: Corpus) -> None:
    rng = np.random.default_rng(10)
    values = 20 * (c.humans.expected @ [0.3, 0.7]) + rng.normal(0, 12, len(c.x))
    values[:4] = np.nan
    coded = code_cells(values[None], ())
    entry = coded[0]
    assert (entry.n_values, len(entry.values), len(coded)) == (len(c.x) - 4, 10, 1)
    for place, value in enumerate(entry.values):
        assert values[entry.codes[0] == place].mean() == pytest.approx(value)
    assert np.bincount(entry.codes[0, 4:]).min() >= len(c.x) // 10 - 1
    assert (entry.codes[0, :4] == -1).all()
    fits = fit_all(coded, c.x, 1)
    part = fits.parts[0]
    low, high = ratio_interval(part.data, part.fit, B, SUM, 0.95)
    assert low[0] < 0.7 < high[0]
    assert fits.slopes @ A > 0


def test_up_to_ten_values_are_kept(c: Corpus) -> None:
    values = np.random.default_rng(11).integers(0, 10, (1, 200)) / 2.0
    entry = code_cells(values, LEVELS)[0]
    assert entry.values == pytest.approx(np.arange(10) / 2)
    assert (entry.values[entry.codes[0]] == values[0]).all()


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
