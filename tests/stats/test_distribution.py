"""Distances of distributions against scipy and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.spatial.distance import jensenshannon

from voirdire.stats import distribution as d

LEVELS = np.array([1.0, 2.0, 4.0, 5.0])
tables = hnp.arrays(np.int64, (5, 4), elements=st.integers(0, 4))
nonzero = tables.filter(lambda table: (table.sum(1) > 0).all())


@given(nonzero, nonzero)
def test_distances_equal_scipy(p: np.ndarray, q: np.ndarray) -> None:
    left, right = d.pool_shares(p), d.pool_shares(q)
    w1, js, tv = d.wasserstein(left, right, LEVELS), d.jensen_shannon(left, right), d.total_variation(left, right)
    for i in range(5):
        assert w1[i] == pytest.approx(stats.wasserstein_distance(LEVELS, LEVELS, left[i], right[i]), abs=1e-12)
        assert js[i] == pytest.approx(jensenshannon(left[i], right[i], base=2), abs=1e-7)
        assert tv[i] == pytest.approx(np.abs(left[i] - right[i]).sum() / 2)
    assert (js >= 0).all()
    assert (js <= 1).all()
    assert d.jensen_shannon(left, right, "divergence") == pytest.approx(js**2)


@given(nonzero)
def test_a_distribution_has_distance_zero_to_itself(p: np.ndarray) -> None:
    shares = d.pool_shares(p)
    assert (d.jensen_shannon(shares, shares) == 0).all()
    assert (d.wasserstein(shares, shares, LEVELS) == 0).all()


def test_overall_distance_weighs_items_equally() -> None:
    counts = np.array([[8, 0, 0, 0], [0, 0, 0, 2]])
    perfect = np.array([[1.0, 5.0]])
    result = d.overall_distances(perfect, counts, LEVELS)
    assert result.w1.tolist() == [0.0]
    assert result.js.tolist() == [0.0]
    assert result.n.tolist() == [2]


def test_overall_distance_uses_only_the_items_a_cell_answered() -> None:
    counts = np.array([[4, 0, 0, 0], [0, 0, 0, 4], [0, 0, 0, 0]])
    ratings = np.array([[1.0, np.nan, 5.0], [np.nan, np.nan, 5.0]])
    result = d.overall_distances(ratings, counts, LEVELS)
    assert result.n.tolist() == [1, 0]
    assert result.w1[0] == 0
    assert np.isnan(result.w1[1])
    assert np.isnan(result.js[1])


def test_item_weights_equal_repeated_items() -> None:
    rng = np.random.default_rng(1)
    counts, ratings = rng.integers(0, 4, (6, 4)), rng.choice(LEVELS, (3, 6, 2))
    ratings[0, 2] = np.nan
    drawn = np.array([0, 0, 2, 5, 5, 3])
    weights = np.bincount(drawn, minlength=6)[None].astype(float)
    weighted = d.overall_distances(ratings, counts, LEVELS, weights)
    plain = d.overall_distances(ratings[:, drawn], counts[drawn], LEVELS)
    assert weighted.w1[:, 0] == pytest.approx(plain.w1)
    assert weighted.js[:, 0] == pytest.approx(plain.js)
    assert weighted.n[:, 0].tolist() == plain.n.tolist()


def test_cells_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    counts, ratings = rng.integers(0, 4, (6, 4)), rng.choice(LEVELS, (7, 6))
    whole = d.overall_distances(ratings, counts, LEVELS)
    monkeypatch.setattr(d, "CELLS", 50)
    assert d.overall_distances(ratings, counts, LEVELS).w1.tolist() == whole.w1.tolist()


def test_a_rating_that_is_no_level_is_refused() -> None:
    with pytest.raises(ValueError, match="none of the levels"):
        d.level_shares(np.array([[1.0, 3.0]]), LEVELS)


@given(nonzero, hnp.arrays(np.int64, (2, 5, 3), elements=st.integers(0, 3)))
def test_item_distances_equal_a_loop(counts: np.ndarray, codes: np.ndarray) -> None:
    shares = d.level_shares(LEVELS[codes], LEVELS)
    w1, js = d.item_distances(shares, counts, LEVELS)
    for cell in range(2):
        for i in range(5):
            people, said = np.repeat(LEVELS, counts[i]), LEVELS[codes[cell, i]]
            assert w1.values[cell, i] == pytest.approx(stats.wasserstein_distance(said, people), abs=1e-12)
            expected = jensenshannon(shares[cell, i], counts[i] / counts[i].sum(), base=2)
            assert js.values[cell, i] == pytest.approx(expected, abs=1e-7)


@given(tables)
def test_item_floor_equals_a_loop_over_raters(counts: np.ndarray) -> None:
    w1, js = d.item_floor(counts, LEVELS)
    for i, row in enumerate(counts):
        people = np.repeat(np.arange(4), row)
        assert w1.valid[i] == (len(people) > 1)
        if len(people) > 1:
            rests = [np.bincount(np.delete(people, k), minlength=4) / (len(people) - 1) for k in range(len(people))]
            ones = np.eye(4)[people]
            distances = [jensenshannon(one, rest, base=2) for one, rest in zip(ones, rests, strict=True)]
            assert js.values[i] == pytest.approx(np.mean(distances), abs=1e-7)
            moves = [stats.wasserstein_distance(LEVELS, LEVELS, a, b) for a, b in zip(ones, rests, strict=True)]
            assert w1.values[i] == pytest.approx(np.mean(moves), abs=1e-12)
    assert w1.n_left_out == int((counts.sum(1) == 1).sum())


def test_overall_floor_of_whole_raters_equals_a_loop() -> None:
    rng = np.random.default_rng(3)
    code = rng.integers(0, 4, (30, 4))
    item, rater = np.indices(code.shape)
    floor = d.overall_floor(item.ravel(), rater.ravel(), code.ravel(), LEVELS, rng=rng)
    expected = [
        stats.wasserstein_distance(LEVELS[code[:, k]], LEVELS[np.delete(code, k, axis=1)].ravel()) for k in range(4)
    ]
    assert (floor.method, floor.n) == ("whole raters", 4)
    assert floor.w1 == pytest.approx(np.mean(expected))


def test_overall_floor_of_slots_is_small_and_falls_with_items() -> None:
    rng = np.random.default_rng(4)

    def floor(n: int) -> d.Floor:
        code = rng.integers(0, 4, (n, 5))
        item, rater = np.indices(code.shape)
        return d.overall_floor(item.ravel(), rater.ravel(), code.ravel(), LEVELS, rng=rng, anonymous=True)

    few, many = floor(20), floor(2_000)
    assert few.method == many.method == "one rating an item"
    assert many.w1 < few.w1 / 5
    assert many.js < few.js / 5


def test_raters_of_few_items_fall_back_to_one_rating_an_item() -> None:
    item, rater = np.repeat(np.arange(50), 3), np.arange(150)
    floor = d.overall_floor(item, rater, np.tile([0, 1, 1], 50), LEVELS, rng=np.random.default_rng(1))
    assert (floor.method, floor.n) == ("one rating an item", 50)


def test_floor_is_undefined_with_one_rater_an_item() -> None:
    floor = d.overall_floor([0, 1], [0, 0], [1, 2], LEVELS, rng=np.random.default_rng(1))
    assert (floor.w1, floor.js, floor.undefined) == (None, None, "one_rater")
