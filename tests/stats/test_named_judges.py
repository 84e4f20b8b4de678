"""Judges of known kinds and degenerate cells in the decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.cells import LEVELS, NEUTRAL, SUM, A, B, Corpus, corpus

from voirdire.stats.decomposition import (
    code_cells,
    efficient_scores,
    expanded_cuts,
    fit_all,
    influence,
    neutrality,
)
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
