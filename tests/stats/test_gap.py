"""The gap test against brute force, its design and its degenerate cases."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voirdire.stats import gap
from voirdire.stats.gap import gap_test


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def crossed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(items, raters) -> item, rater, value."""
    item, rater = np.indices(values.shape)
    return item.ravel(), rater.ravel(), values.ravel()


def mad(values: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(values[:, b].mean(1) - values[:, ~b].mean(1)).mean())


@given(st.integers(0, 10_000))
def test_crossed_raters_equal_brute_force_enumeration(seed: int) -> None:
    values = rng(seed).integers(1, 6, (7, 6)).astype(float)
    item, rater, value = crossed(values)
    result = gap_test(item, rater, value, rater >= 4, rng=rng())
    null = np.array([mad(values, np.isin(np.arange(6), chosen)) for chosen in combinations(range(6), 2)])
    observed = mad(values, np.arange(6) >= 4)
    assert result.method == "whole raters, exact"
    assert result.permutations == 15
    assert result.observed == pytest.approx(observed, abs=1e-12)
    assert result.null_mean == pytest.approx(null.mean(), abs=1e-12)
    assert result.p == pytest.approx(np.mean(null >= observed - 1e-9))


def test_one_item_of_binary_ratings_equals_fishers_exact_test() -> None:
    value = np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1])
    is_b = np.arange(12) >= 6
    result = gap_test(np.zeros(12), np.arange(12), value, is_b, rng=rng())
    expected = stats.fisher_exact([[5, 1], [1, 5]]).pvalue
    assert result.method == "within items, exact"
    assert result.p == pytest.approx(expected)


@pytest.mark.parametrize("nominal", [False, True])
def test_draws_within_items_follow_the_exact_distribution(nominal: bool) -> None:
    source = rng(3)
    item = np.repeat(np.arange(4), 6)
    value = source.integers(0, 3, 24)
    is_b = np.tile([0, 0, 0, 1, 1, 1], 4).astype(bool)
    kwargs = {"anonymous": True, "nominal": nominal, "permutations": 20_000}
    exact = gap_test(item, item, value, is_b, rng=rng(), exact_limit=10**6, **kwargs)
    drawn = gap_test(item, item, value, is_b, rng=rng(), exact_limit=0, **kwargs)
    assert (exact.method, drawn.method) == ("within items, exact", "within items")
    assert exact.permutations == 20**4
    assert drawn.null_mean == pytest.approx(exact.null_mean, abs=0.005)
    assert drawn.p == pytest.approx(exact.p, abs=0.015)


def test_draws_of_whole_raters_follow_the_exact_distribution() -> None:
    values = rng(5).integers(1, 6, (9, 10)).astype(float)
    item, rater, value = crossed(values)
    exact = gap_test(item, rater, value, rater >= 5, rng=rng())
    drawn = gap_test(item, rater, value, rater >= 5, rng=rng(), exact_limit=0, permutations=20_000)
    assert exact.permutations == 252
    assert drawn.method == "whole raters"
    assert drawn.p == pytest.approx(exact.p, abs=0.015)
    assert drawn.null_mean == pytest.approx(exact.null_mean, abs=0.005)


def test_batches_are_shuffled_within_their_item_sets() -> None:
    values = rng(6).integers(1, 6, (3, 4, 6)).astype(float)
    batch, inner, place = np.indices(values.shape)
    item, rater = batch * 4 + inner, batch * 6 + place
    flat = [part.ravel() for part in (item, rater, values, place >= 3)]
    exact = gap_test(*flat, rng=rng(), exact_limit=10_000)
    drawn = gap_test(*flat, rng=rng(), permutations=10_000)
    assert exact.method == "whole raters within item sets, exact"
    assert exact.permutations == 20**3
    assert drawn.method == "whole raters within item sets"
    assert drawn.p == pytest.approx(exact.p, abs=0.02)


def test_unequal_workloads_keep_the_numbers_of_ratings() -> None:
    workload = np.array([40] * 10 + [10] * 40)
    labels = np.arange(50) >= 10
    drawn = gap._same_workload(labels, workload, 500, rng())
    ratings = drawn @ workload
    assert np.abs(ratings - 400).max() <= 20
    assert ratings.mean() == pytest.approx(400, abs=3)
    equal = gap._same_workload(labels, np.full(50, 7), 50, rng())
    assert (equal.sum(1) == 40).all()


def partly_crossed(seed: int, shift: float, width: int) -> gap.GapTest:
    """200 items with 5 raters of each pool; raters of pool a rate ``width`` items, of pool b 10."""
    source = rng(seed)
    items = [np.concatenate([source.permutation(200) for _ in range(5)]) for _ in range(2)]
    raters = [np.arange(1000) // width, 1000 + np.arange(1000) // 10]
    item, rater = np.concatenate(items), np.concatenate(raters)
    mu, severity = source.normal(0, 1.5, 200), source.normal(0, 0.5, 1200)
    side = source.normal(0, shift, 200)
    noise = source.normal(0, 1, 2000)
    value = np.clip(np.round(3 + mu[item] + severity[rater] + side[item] * (rater >= 1000) + noise), 1, 5)
    key = np.unique(np.stack([item, rater]), axis=1, return_index=True)[1]
    return gap_test(item[key], rater[key], value[key], rater[key] >= 1000, rng=source, permutations=200)


@pytest.mark.parametrize("width", [30, 50])
def test_partly_crossed_raters_keep_level_and_power(width: int) -> None:
    null = np.array([partly_crossed(seed, 0.0, width).p for seed in range(60)])
    other = np.array([partly_crossed(seed, 1.0, width).p for seed in range(10)])
    assert np.mean(null <= 0.05) <= 0.12
    assert 0.3 < np.median(null) < 0.8
    assert (other <= 0.05).mean() >= 0.8


def test_a_few_raters_of_many_items_are_shuffled_by_number() -> None:
    def p(seed: int) -> float:
        source = rng(seed)
        item = np.concatenate([np.repeat(np.arange(100), 5), *(source.permutation(100) for _ in range(5))])
        rater = np.concatenate([np.tile(np.arange(5), 100), 5 + np.arange(500) // 10])
        severity = source.normal(0, 0.7, 60)
        value = np.clip(
            np.round(3 + source.normal(0, 1, 100)[item] + severity[rater] + source.normal(0, 0.6, 1000)), 1, 5
        )
        result = gap_test(item, rater, value, rater >= 5, rng=source, permutations=100)
        assert result.p is not None
        return result.p

    assert np.mean([p(seed) <= 0.05 for seed in range(100)]) <= 0.09


def test_severity_of_few_crossed_raters_is_not_taken_for_a_gap() -> None:
    def p(seed: int, anonymous: bool) -> float:
        source = rng(seed)
        severity = source.normal(0, 0.7, 10)
        value = np.clip(np.round(3 + source.normal(0, 1, (60, 1)) + severity + source.normal(0, 0.5, (60, 10))), 1, 5)
        item, rater, rating = crossed(value)
        result = gap_test(item, rater, rating, rater >= 5, rng=source, anonymous=anonymous, permutations=200)
        assert result.p is not None
        return result.p

    whole = np.mean([p(seed, False) <= 0.05 for seed in range(60)])
    slots = np.mean([p(seed, True) <= 0.05 for seed in range(60)])
    assert whole <= 0.12
    assert slots > 0.2


def test_items_with_one_rater_in_each_pool_are_left_out_and_counted() -> None:
    item = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 3])
    is_b = np.array([0, 1, 0, 1, 1, 0, 0, 1, 1, 0], bool)
    value = np.array([1, 5, 2, 3, 4, 1, 2, 3, 3, 5])
    result = gap_test(item, np.arange(10), value, is_b, rng=rng())
    assert (result.n_items, result.n_left_out) == (2, 1)
    assert result.observed == pytest.approx((1.5 + 1.5) / 2)


@pytest.mark.parametrize(
    ("item", "is_b", "reason"),
    [([0, 1], [0, 1], "no_common_items"), ([0, 0], [0, 1], "one_rater"), ([], [], "no_common_items")],
)
def test_undefined(item: list[int], is_b: list[int], reason: str) -> None:
    result = gap_test(item, np.arange(len(item)), np.ones(len(item)), np.array(is_b, bool), rng=rng())
    assert (result.p, result.undefined) == (None, reason)


def test_equal_ratings_everywhere_give_p_1() -> None:
    item = np.repeat(np.arange(40), 10)
    is_b = np.tile(np.arange(10) >= 5, 40)
    result = gap_test(item, item, np.full(400, 3.0), is_b, rng=rng(), anonymous=True, permutations=50)
    assert (result.p, result.observed, result.null_mean) == (1.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_p() -> None:
    values = rng(8).integers(1, 6, (20, 16)).astype(float)
    item, rater, value = crossed(values)
    first, second = (gap_test(item, rater, value, rater >= 8, rng=rng(4)) for _ in range(2))
    assert first == second
    assert first.permutations == 1_000


def test_nominal_codes_may_be_any_numbers() -> None:
    item, is_b = np.repeat([0, 1, 2], 6), np.tile(np.arange(6) >= 3, 3)
    codes = rng(2).integers(0, 3, 18)
    low, high = (gap_test(item, item, c, is_b, rng=rng(), anonymous=True, nominal=True) for c in (codes, codes * 7 - 3))
    assert low == high
