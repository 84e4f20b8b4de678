"""Isotonic fits against scikit-learn, cross-fitting against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from voirdire.stats import recalibration as rc


def sklearn_fit(x: np.ndarray, y: np.ndarray, new: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    linear = pytest.importorskip("sklearn.isotonic")
    return linear.IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=weight).predict(new)


rows = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(float, n, elements=st.integers(-20, 20).map(float)),
        hnp.arrays(float, n, elements=st.integers(1, 5).map(float)),
    )
)


@given(rows)
def test_isotonic_equals_scikit_learn(pair: tuple[np.ndarray, np.ndarray]) -> None:
    values, weights = pair
    x = np.arange(len(values), dtype=float)
    expected = sklearn_fit(x, values, x, weights)
    fit = rc.isotonic(values, weights)
    assert fit == pytest.approx(expected, abs=1e-9)
    assert rc.isotonic_rows(values * weights, weights) == pytest.approx(expected, abs=1e-9)
    assert (np.diff(fit) >= -1e-12).all()


@given(rows, st.integers(0, 2**12 - 1))
def test_levels_without_weight_do_not_matter(pair: tuple[np.ndarray, np.ndarray], bits: int) -> None:
    values, weights = pair
    seen = np.array([bits >> place & 1 for place in range(len(values))], bool)
    weights = np.where(seen, weights, 0.0)
    fit = rc.isotonic_rows(values * weights, weights)
    assert fit[seen] == pytest.approx(rc.isotonic(values[seen], weights[seen]), abs=1e-9)
    assert np.isnan(fit[~seen]).all()


@pytest.mark.parametrize("few", [True, False])
def test_recalibration_equals_a_loop_over_folds(few: bool) -> None:
    rng = np.random.default_rng(1)
    ratings = rng.integers(1, 6, (3, 80)).astype(float) if few else rng.normal(3, 1, (3, 80)).round(3)
    target = ratings.mean(0) + rng.normal(0, 0.5, 80)
    other = target + 1
    ratings[0, :5], target[3:9] = np.nan, np.nan
    folds = rc.make_folds(80, 10, rng)
    result = rc.recalibrate(ratings, target, np.stack([target, other]), folds)
    for cell in range(3):
        usable = ~np.isnan(ratings[cell]) & ~np.isnan(target)
        for fold in range(10):
            train, test = usable & (folds != fold), ~np.isnan(ratings[cell]) & (folds == fold)
            expected = sklearn_fit(ratings[cell][train], target[train], ratings[cell][test])
            assert result.predictions[cell][test] == pytest.approx(expected, abs=1e-9)
    assert np.isnan(result.predictions[0, :5]).all()
    assert result.losses[0].n.tolist() == [80 - 9, 74, 74]
    assert result.losses[1].n.tolist() == [75, 80, 80]


def test_recalibration_repairs_a_compressed_judge_and_not_a_random_one() -> None:
    rng = np.random.default_rng(2)
    truth = rng.uniform(1, 5, 600)
    ratings = np.stack([np.clip(np.round(3.6 + 0.3 * truth), 1, 5), rng.integers(1, 6, 600).astype(float)])
    result = rc.recalibrate(ratings, truth, truth[None], rc.make_folds(600, 10, rng))
    raw = np.abs(ratings - truth).mean(1)
    mapped = result.losses[0].mean()
    assert mapped[0] < raw[0] / 2
    assert mapped[1] == pytest.approx(np.abs(truth - truth.mean()).mean(), abs=0.03)


def test_a_judge_that_falls_is_mapped_to_nearly_a_constant() -> None:
    truth = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    result = rc.recalibrate((6 - truth)[None], truth, truth[None], rc.make_folds(100, 10, np.random.default_rng(3)))
    assert np.abs(result.predictions - 3).max() < 0.2


def test_one_item_cannot_be_recalibrated() -> None:
    result = rc.recalibrate(np.array([[2.0]]), np.array([3.0]), np.array([[3.0]]), np.zeros(1, np.int64))
    assert result.losses[0].n.tolist() == [0]
    assert rc.best_constant(np.array([3.0]), np.zeros(1, np.int64)).loss.n == 0
    assert np.isnan(rc.best_constant(np.array([3.0]), np.zeros(1, np.int64), [1, 3]).constants).all()


consensuses = hnp.arrays(float, 14, elements=st.one_of(st.just(np.nan), st.integers(5, 25).map(lambda x: x / 5)))


@given(consensuses, st.integers(0, 99))
def test_best_constant_equals_a_loop(consensus: np.ndarray, seed: int) -> None:
    folds = rc.make_folds(14, 4, np.random.default_rng(seed))
    levels = np.arange(1.0, 6.0)
    result, median = rc.best_constant(consensus, folds, levels), rc.best_constant(consensus, folds)
    for fold in range(4):
        train = consensus[(folds != fold) & ~np.isnan(consensus)]
        held_out = np.flatnonzero((folds == fold) & ~np.isnan(consensus))
        if not len(train):
            assert not result.loss.valid[held_out].any()
            continue
        errors = np.round([np.abs(train - level).mean() for level in levels], 9)
        best = levels[errors.argmin()]
        assert result.constants[fold] == pytest.approx(best)
        assert result.loss.values[held_out] == pytest.approx(np.abs(consensus[held_out] - best))
        assert median.loss.values[held_out] == pytest.approx(np.abs(consensus[held_out] - np.median(train)))


def test_best_label_is_the_most_agreed_with_outside_the_fold() -> None:
    shares = np.array([[1, 0], [0.5, 0.5], [0, 1], [0.25, 0.75], [0, 0]], dtype=float)
    result = rc.best_label(shares, np.array([0, 0, 1, 1, 1]))
    assert result.constants.tolist() == [1, 0]
    assert result.loss.values == pytest.approx([1, 0.5, 1, 0.75, 0])
    assert result.loss.valid.tolist() == [True, True, True, True, False]


consensuses = hnp.arrays(
    float, st.integers(2, 40), elements=st.one_of(st.integers(5, 25).map(lambda fifth: fifth / 5), st.just(np.nan))
)


@given(consensuses, st.integers(0, 100), st.booleans())
def test_no_constant_is_better_than_the_settled_one(consensus: np.ndarray, seed: int, discrete: bool) -> None:
    """Not so of the cross-fitted constants as they are: see the next test."""
    levels = [1.0, 2, 3, 4, 5] if discrete else None
    folds = rc.make_folds(len(consensus), 10, np.random.default_rng(seed))
    best = rc.best_constant(consensus, folds, levels)
    settled = best.settled(rc.whole_constant(consensus, levels))[folds]
    counts = ~np.isnan(settled) & ~np.isnan(consensus)
    given_ = ~np.isnan(consensus)
    assert (counts == (given_ & ~np.isnan(best.constants[folds]))).all()
    if (counts == given_).all() and counts.any():
        loss = np.abs(settled - consensus)[counts].mean()
        for level in (1.0, 2.0, 2.6, 3.0, 4.0, 5.0) if levels is None else levels:
            assert loss <= np.abs(level - consensus)[counts].mean() + 1e-9


def test_two_constants_that_take_turns_lose_to_each_of_them() -> None:
    """The fault that settling mends: in the folds that choose otherwise, a constant judge beats what they chose."""
    consensus = np.tile([3.0, 4.0], 50)
    folds = np.repeat(np.arange(10), 10)
    consensus[folds % 2 == 0] = np.where(np.arange(50) % 10 < 6, 3.0, 4.0)
    consensus[folds % 2 == 1] = np.where(np.arange(50) % 10 < 6, 4.0, 3.0)
    best = rc.best_constant(consensus, folds, [1, 2, 3, 4, 5])
    assert set(best.constants) == {3.0, 4.0}
    assert best.loss.mean() > np.abs(3 - consensus).mean()
    settled = best.settled(rc.whole_constant(consensus, [1, 2, 3, 4, 5]))
    assert np.abs(settled[folds] - consensus).mean() == pytest.approx(np.abs(3 - consensus).mean())


def test_the_label_of_all_items() -> None:
    assert rc.whole_label(np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7], [0, 0]])) == 1.0
    assert np.isnan(rc.whole_label(np.zeros((2, 3))))
    assert np.isnan(rc.whole_constant(np.full(2, np.nan)))
    assert np.isnan(rc.whole_constant(np.full(2, np.nan), [1, 2]))
