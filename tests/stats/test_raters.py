"""Raters as a sample: draws against their moments, split halves and equalised pools against loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voirdire.stats import raters as rt


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def sampling(values: np.ndarray, nested: bool = False, **kwargs: bool) -> rt.RaterSampling:
    """(I, R) ratings of one pool."""
    item, rater = (part.ravel() for part in np.indices(values.shape))
    who = item * values.shape[1] + rater if nested else rater
    return rt.RaterSampling(item, who, np.zeros(len(item)), values.ravel(), n_items=len(values), n_pools=1, **kwargs)


def all_draws(source: rt.RaterSampling, draws: int, seed: int = 1) -> rt.RaterDraws:
    chunks = list(source.draws(draws, rng(seed)))
    parts = [np.concatenate([getattr(c, name) for c in chunks]) for name in ("mean", "n", "s2")]
    return rt.RaterDraws(*parts)


@pytest.mark.parametrize("n_raters", [5, 6])
def test_crossed_draws_have_the_variance_of_the_raters_mean(n_raters: int) -> None:
    values = rng(2).integers(1, 6, (4, n_raters)).astype(float)
    drawn = all_draws(sampling(values), 40_000)
    assert drawn.mean[:, 0].mean(0) == pytest.approx(values.mean(1), abs=0.02)
    covariance = np.cov(drawn.mean[:, 0].T)
    assert covariance == pytest.approx(np.cov(values) / n_raters, rel=0.05, abs=0.01)
    assert (drawn.n == n_raters).all()
    assert drawn.s2[:, 0].mean(0) == pytest.approx(values.var(1, ddof=1), rel=0.05)


def test_nested_draws_are_independent_between_items() -> None:
    values = rng(3).integers(1, 6, (3, 4)).astype(float)
    source = sampling(values, nested=True)
    drawn = all_draws(source, 40_000)
    assert source.design == ("nested",)
    covariance = np.cov(drawn.mean[:, 0].T)
    assert np.diag(covariance) == pytest.approx(values.var(1) / 4, rel=0.05)
    assert covariance[np.triu_indices(3, 1)] == pytest.approx(0, abs=0.01)
    assert drawn.s2[:, 0].mean(0) == pytest.approx(values.var(1), rel=0.05)


def test_slots_are_nested_whatever_their_numbers() -> None:
    assert sampling(np.ones((3, 5)), anonymous=True).design == ("nested",)


def test_items_with_one_rater_do_not_move_and_items_without_stay_missing() -> None:
    source = rt.RaterSampling([0, 2, 2, 2, 2], range(5), [0] * 5, [4, 1, 2, 3, 5], n_items=3, n_pools=1)
    drawn = all_draws(source, 50)
    assert (drawn.mean[:, 0, 0] == 4).all()
    assert np.isnan(drawn.mean[:, 0, 1]).all()
    assert np.isnan(drawn.s2[:, 0, :2]).all()
    assert drawn.mean[:, 0, 2].std() > 0
    assert drawn.n[0, 0].tolist() == [1, 0, 4]


def test_items_may_lose_all_their_raters_in_a_draw() -> None:
    item, rater = np.array([0, 0, 0, 0, 0, 0, 1, 2]), np.array([0, 1, 2, 3, 4, 5, 0, 1])
    drawn = all_draws(rt.RaterSampling(item, rater, np.zeros(8), np.arange(8), n_items=3, n_pools=1), 200)
    lost = drawn.n[:, 0, 1] == 0
    assert 0.1 < lost.mean() < 0.6
    assert np.isnan(drawn.mean[lost, 0, 1]).all()


def test_too_few_raters_and_missing_pools_are_told() -> None:
    item, rater = np.divmod(np.arange(12), 4)
    source = rt.RaterSampling(item, rater, np.zeros(12), np.ones(12), n_items=3, n_pools=2)
    assert source.undefined == {0: "few_raters", 1: "missing_pool"}
    drawn = all_draws(source, 5)
    assert np.isnan(drawn.mean[:, 1]).all()


def test_draws_are_seeded_and_chunked(monkeypatch: pytest.MonkeyPatch) -> None:
    source = sampling(rng(4).integers(1, 6, (10, 5)).astype(float))
    first, second = all_draws(source, 30, seed=7), all_draws(source, 30, seed=7)
    assert (first.mean == second.mean).all()
    assert not (first.mean == all_draws(source, 30, seed=8).mean).all()
    monkeypatch.setattr(rt, "CHUNK", 40)
    assert [len(chunk.mean) for chunk in source.draws(10, rng())] == [4, 4, 2]


def test_half_of_the_raters_are_drawn_and_every_item_sees_the_same_half() -> None:
    values = np.eye(5)
    drawn = all_draws(sampling(values), 2_000)
    moved = (drawn.mean[:, 0] - 0.2) / np.sqrt(2 / 3) + 0.2
    assert np.unique(moved.round(9)).tolist() == [0.0, 0.5]
    assert moved.sum(1) == pytest.approx(1)


def test_degrees_of_freedom_are_those_of_the_crossed_raters() -> None:
    item, rater = np.divmod(np.arange(24), 8)
    source = rt.RaterSampling(
        np.concatenate([item, item, np.arange(24)]),
        np.concatenate([rater, rater % 6 + 20, np.arange(24) + 100]),
        np.repeat([0, 1, 2], 24),
        np.ones(72),
        n_items=24,
        n_pools=3,
    )
    assert source.design == ("crossed", "crossed", "nested")
    assert (source.df(0), source.df(1, 2), source.df(2), source.df()) == (7, 5, np.inf, np.inf)
    assert source.df(0, 0) == pytest.approx(14)
    assert 5 < source.df(0, 1) < 12


def interval(estimate: float, items: np.ndarray, raters: np.ndarray, **kwargs: float) -> rt.RaterInterval:
    settings = {"level": 0.95, "df_items": np.inf, "df_raters": np.inf} | kwargs
    return rt.rater_interval(np.array([estimate]), items[None], raters[None], **settings)


def coverage(n_raters: int, reps: int, severity: float) -> float:
    """Share of corpora whose interval of the mean consensus covers its expectation, 3."""
    hits = 0
    for seed in range(reps):
        source = rng(seed)
        values = 3 + source.normal(0, 1, (40, 1)) + source.normal(0, severity, n_raters)
        values = values + source.normal(0, 1, (40, n_raters))
        drawing = sampling(values)
        by_raters = all_draws(drawing, 200, seed).mean[:, 0].mean(1)
        by_items = values.mean(1)[source.integers(40, size=(400, 40))].mean(1)
        found = interval(float(values.mean()), by_items, by_raters, df_items=39, df_raters=drawing.df(0))
        hits += found.low[0] <= 3 <= found.high[0]
    return hits / reps


@pytest.mark.parametrize(("n_raters", "severity"), [(5, 0.7), (12, 0.7), (5, 0.1)])
def test_intervals_of_items_and_raters_cover(n_raters: int, severity: float) -> None:
    assert 0.92 <= coverage(n_raters, 300, severity) <= 0.98


def test_rater_interval_adds_the_variances_and_is_centred_on_the_estimate() -> None:
    items, raters = rng(5).normal(1.0, 0.3, 20_000), rng(6).normal(1.3, 0.4, 20_000)
    found = interval(1.0, items, raters)
    assert found.se[0] == pytest.approx(0.5, abs=0.01)
    assert (found.low[0], found.high[0]) == pytest.approx((1 - 1.96 * 0.5, 1 + 1.96 * 0.5), abs=0.02)
    assert found.bias[0] == pytest.approx(0.3, abs=0.01)
    few = interval(1.0, items, raters, df_items=50, df_raters=4)
    assert few.df[0] == pytest.approx(0.25**2 / (0.09**2 / 50 + 0.16**2 / 4), rel=0.03)
    assert few.high[0] - 1 == pytest.approx(stats.t.ppf(0.975, few.df[0]) * few.se[0])


@pytest.mark.parametrize("which", ["items", "raters"])
def test_rater_interval_is_missing_where_draws_are_undefined(which: str) -> None:
    draws = {"items": rng(7).normal(size=100), "raters": rng(8).normal(size=100)}
    draws[which][:5] = np.nan
    assert not np.isnan(interval(0.0, **draws).low[0])
    draws[which][:6] = np.nan
    assert np.isnan(interval(0.0, **draws).low[0])
    assert np.isnan(interval(0.0, **draws).high[0])


def test_rater_interval_of_a_statistic_that_does_not_vary_is_a_point() -> None:
    found = interval(2.0, np.full(10, 2.0), np.full(10, 2.0), df_items=9, df_raters=4)
    assert (found.low[0], found.high[0], found.se[0]) == (2, 2, 0)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_split_half_equals_the_mean_over_all_splits(n: int) -> None:
    table = rng(n).integers(1, 6, (3, n)).astype(float)
    halves = [[list(c) for c in combinations(range(n), n // 2)]] * 3
    correlations = []
    for a in halves[0]:
        for b in halves[1]:
            for c in halves[2]:
                left = np.array([table[i, chosen].mean() for i, chosen in enumerate((a, b, c))])
                right = np.array([np.delete(table[i], chosen).mean() for i, chosen in enumerate((a, b, c))])
                if left.std() > 1e-9 and right.std() > 1e-9:
                    correlations.append(np.corrcoef(left, right)[0, 1])
    result = rt.split_half(np.repeat(np.arange(3), n), table.ravel(), rng=rng(), splits=20_000)
    assert result.correlation == pytest.approx(np.mean(correlations), abs=0.02)
    assert result.value == pytest.approx(2 * result.correlation / (1 + result.correlation))


def test_split_half_agrees_with_the_reliability_of_the_model() -> None:
    source = rng(6)
    table = source.normal(0, 1, (3_000, 1)) + source.normal(0, 1, (3_000, 4))
    result = rt.split_half(np.repeat(np.arange(3_000), 4), table.ravel(), rng=source, splits=20)
    assert result.value == pytest.approx(0.8, abs=0.02)
    assert (result.n, result.raters, result.splits) == (3_000, 4, 20)


@pytest.mark.parametrize(
    ("item", "value", "reason"),
    [
        ([], [], "no_items"),
        ([0, 0, 1], [1, 2, 3], "unequal_raters"),
        ([0, 1], [1, 2], "one_rater"),
        ([0, 0], [1, 2], "one_item"),
        ([0, 0, 1, 1], [2, 2, 2, 2], "constant_consensus"),
        ([0, 0, 2, 2], [1, 3, 3, 1], "opposite_halves"),
        ([0, 0, 2, 2], [1, 1, 3, 3], None),
    ],
)
def test_degenerate_split_halves(item: list[int], value: list[int], reason: str | None) -> None:
    result = rt.split_half(item, value, rng=rng(), splits=50)
    assert result.undefined == reason
    assert (result.value is None) == (reason is not None)


@given(st.integers(0, 1_000))
def test_equalised_pools_have_equal_numbers_of_raters(seed: int) -> None:
    source = rng(seed)
    item, is_b = source.integers(0, 6, 30), source.random(30) < 0.4
    value = source.integers(1, 6, 30).astype(float)
    selected = rt.equalised_selection(item, is_b, rng=rng(seed), subsamples=4)
    result = rt.equalised(item, value, is_b, n_items=7, rng=rng(seed), subsamples=4)
    for row in range(4):
        for i in range(7):
            n_a, n_b = (int(((item == i) & (is_b == side)).sum()) for side in (False, True))
            kept = [value[selected[row] & (item == i) & (is_b == side)] for side in (False, True)]
            assert len(kept[0]) == len(kept[1]) == min(n_a, n_b) == result.n[i]
            for mean, part in zip((result.mean_a, result.mean_b), kept, strict=True):
                assert np.isnan(mean[row, i]) if not len(part) else mean[row, i] == pytest.approx(part.mean())


def test_equalised_subsamples_are_unbiased() -> None:
    item, is_b = np.zeros(7), np.arange(7) >= 5
    result = rt.equalised(item, np.arange(7.0), is_b, n_items=1, rng=rng(), subsamples=20_000)
    assert result.mean_a.mean() == pytest.approx(2.0, abs=0.03)
    assert (result.mean_b == 5.5).all()
    assert result.mean_a.var() == pytest.approx(2.5 / 2 * (1 - 2 / 5), rel=0.05)
