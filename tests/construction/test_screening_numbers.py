"""The numbers of screening: against other programs, against their own definition, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.construction.screening_tests import (
    PRIOR_DF,
    Gap,
    Interval,
    drawn_variance,
    gap_of,
    least_share,
    likeness,
    mean_share,
    most_share,
    power_of,
    share_of,
    widest,
    wilson,
)

LEVEL = 0.9


@pytest.mark.parametrize(("hits", "n"), [(0, 6), (1, 6), (5, 6), (6, 6), (17, 40)])
def test_wilson_equals_statsmodels(hits: int, n: int) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    expected = proportion.proportion_confint(hits, n, alpha=1 - LEVEL, method="wilson")
    assert wilson(hits / n, n, LEVEL) == pytest.approx(expected, abs=1e-12)


@given(st.floats(0, 1), st.floats(1, 1000), st.floats(0.5, 0.99))
def test_wilson_holds_the_share(share: float, n: float, confidence: float) -> None:
    low, high = wilson(share, n, confidence)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


def plain_likeness(hit: np.ndarray, rater: np.ndarray, item: np.ndarray, pair: np.ndarray) -> float:
    """The definition, couple by couple."""
    around = hit - np.array([hit[item == one].mean() for one in item])
    couples, squares = [], []
    for i in range(len(hit)):
        mates = [j for j in range(len(hit)) if j != i and rater[j] == rater[i] and pair[j] == pair[i]]
        couples += [around[i] * around[j] for j in mates]
        squares += [around[i] ** 2] if mates else []
    return float(np.clip(np.mean(couples) / np.mean(squares), 0, 1))


@pytest.mark.parametrize("shared", [0.0, 0.6, 3.0])
def test_likeness_is_its_definition(shared: float) -> None:
    rng = np.random.default_rng(3)
    pair, member, rater = (axis.ravel() for axis in np.indices((12, 2, 5)))
    of_rater = np.repeat(rng.standard_normal((12, 1, 5)), 2, axis=1).ravel()
    hit = (shared * of_rater + rng.standard_normal(120) > 0).astype(float)
    item = pair * 2 + member
    expected = plain_likeness(hit, rater, item, pair)
    assert likeness(hit, rater, item, pair) == pytest.approx(expected, abs=1e-12)
    assert expected > 0.5 or shared < 3


def test_likeness_is_cautious_without_evidence() -> None:
    assert likeness([1, 0], [1, 1], [1, 2], [1, 1]) == 1.0
    assert likeness(np.ones(80), np.repeat(range(40), 2), np.tile([0, 1], 40), np.zeros(80)) == 1.0


def test_clustered_answers_count_less() -> None:
    hit, rater = np.tile([1, 0, 1, 1], 3), np.repeat(range(6), 2)
    alone, alike = (share_of(hit, rater, likeness_, LEVEL) for likeness_ in (0.0, 1.0))
    assert (alone.effective, alike.effective) == (12, 6)
    assert alike.low is not None
    assert alone.low is not None
    assert alike.low < alone.low


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_intervals_of_clustered_shares_cover(alike: float) -> None:
    """Raters whose two answers are alike by so much, at the likeness that is true."""
    rng, inside = np.random.default_rng(5), []
    for _ in range(600):
        first = rng.random(8) < 0.3
        second = np.where(rng.random(8) < alike, first, rng.random(8) < 0.3)
        found = share_of(np.stack([first, second]).ravel(), np.tile(range(8), 2), alike, LEVEL)
        assert found.low is not None
        assert found.high is not None
        inside.append(found.low <= 0.3 <= found.high)
    assert 0.85 <= np.mean(inside) <= 0.97


def test_smallest_and_largest_share() -> None:
    high, half = (share_of(hit, range(6), 1.0, LEVEL) for hit in ([1] * 6, [1, 1, 1, 0, 0, 0]))
    least, most, mean = least_share([high, half], LEVEL), most_share([high, half]), mean_share([high, half], LEVEL)
    assert (least.value, most.value, mean.value) == (0.5, 1.0, 0.75)
    assert (least.low, most.high) == (half.low, high.high)
    assert least.high is not None
    assert mean.high is not None
    assert least.high <= mean.high
    assert mean.effective == 12


def test_a_missing_pool_makes_a_share_undefined() -> None:
    empty = share_of([], [], 1.0, LEVEL)
    known = share_of([1, 1], [1, 2], 1.0, LEVEL)
    for found in (mean_share([known, empty], LEVEL), least_share([empty, known], LEVEL), most_share([known, empty])):
        assert (found.value, found.undefined) == (None, "missing_pool")


def test_variance_is_drawn_to_the_pilot() -> None:
    assert drawn_variance(0.0, 8.0, 0.6) == (pytest.approx(PRIOR_DF * 0.6 / (PRIOR_DF + 8)), PRIOR_DF + 8)
    assert drawn_variance(4.0, 8.0, None) is None
    assert drawn_variance(0.0, 8.0, 0.0) is None


def test_gap_ends_are_those_of_the_noncentral_f() -> None:
    from scipy.stats import f as central
    from scipy.stats import ncf

    n, squares = np.full((2, 2), 5), np.full((2, 2), 2.0)
    found = gap_of([[4.0, 3.5], [2.5, 3.0]], n, squares, (0.5, 0.7), confidence=LEVEL)
    variances = [(PRIOR_DF * pilot + 4.0) / (PRIOR_DF + 8) for pilot in (0.5, 0.7)]
    noise = sum(variances) / 5
    df = sum(variances) ** 2 / sum(one**2 / (PRIOR_DF + 8) for one in variances)
    statistic = (1.5**2 + 0.5**2) / 2 / noise
    assert found.f == pytest.approx(statistic)
    assert found.df == pytest.approx(df)
    assert found.p == pytest.approx(central.sf(statistic, 2, df))
    for end, chance in ((found.low, 0.95), (found.high, 0.05)):
        assert end is not None
        assert ncf.cdf(statistic, 2, df, 2 * end**2 / noise) == pytest.approx(chance, abs=1e-7)
    assert found.value == pytest.approx(np.sqrt(1.25 - noise))
    assert found.observed == 1.0


@pytest.mark.parametrize(("n", "variance"), [(5, 1e-3), (5, 1e-6), (5, 1e-11), (2000, 0.7), (100_000, 0.7)])
def test_hardly_any_noise_leaves_the_gap(n: int, variance: float) -> None:
    """Also where F is beyond what tables of the noncentral F hold."""
    counts, squares = np.full((2, 2), n), np.full((2, 2), variance * (n - 1))
    found = gap_of([[4.0, 4.0], [2.0, 2.0]], counts, squares, (variance, variance), confidence=LEVEL)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2 < found.high
    assert found.high - found.low < 2


def test_ends_go_on_smoothly_where_f_is_far() -> None:
    """Just below and just above where the asymptotic form takes over: the ends in units of the gap are the same."""
    ends = []
    for scale in (0.999, 1.001):
        n, squares = np.full((2, 2), 5), np.full((2, 2), 2.0)
        variance = (PRIOR_DF * 0.5 + 4.0) / (PRIOR_DF + 8) * 2 / 5
        apart = scale * np.sqrt(1e8 / 2 * variance)
        found = gap_of([[apart] * 2, [0.0] * 2], n, squares, (0.5, 0.5), confidence=LEVEL)
        assert found.low is not None
        assert found.high is not None
        ends.append((found.low / apart, found.high / apart))
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)


def test_equal_means_have_no_gap() -> None:
    n = np.full((2, 2), 5)
    found = gap_of(np.full((2, 2), 3.0), n, np.full((2, 2), 2.0), (0.5, 0.5), confidence=LEVEL)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("gap", [0.0, 0.8, 2.0])
def test_gap_intervals_cover(gap: float) -> None:
    rng, inside = np.random.default_rng(11), []
    pilot = (0.64, 0.64)
    for _ in range(500):
        ratings = 3 + 0.8 * rng.standard_normal((2, 2, 4))
        ratings[0] += gap
        mean = ratings.mean(-1)
        squares = ((ratings - mean[..., None]) ** 2).sum(-1)
        found = gap_of(mean, np.full((2, 2), 4), squares, pilot, confidence=LEVEL)
        assert found.low is not None
        assert found.high is not None
        inside.append(found.low <= gap <= found.high)
    assert np.mean(inside) >= 0.87


def test_the_widest_gap_is_cautious_about_many_looks() -> None:
    mean, n, squares = [[4.0, 4.0], [3.0, 3.0]], np.full((2, 2), 5), np.full((2, 2), 2.0)
    one, three = (gap_of(mean, n, squares, (0.5, 0.5), confidence=LEVEL, looks=k) for k in (1, 3))
    assert one.low is not None
    assert three.low is not None
    assert three.low < one.low
    assert three.high == one.high
    assert widest([Gap(1.0, 0.2, 1.5), Gap(undefined="noise_unknown")]).undefined == "noise_unknown"


def test_power_is_what_simulation_finds() -> None:
    rng, least, gap, n = np.random.default_rng(2), 1.0, 1.2, 4
    told = power_of((0.64, 0.64), n, 2, least, (gap,), confidence=LEVEL)
    kept, dropped = [], []
    for true in (gap, 0.0):
        for _ in range(600):
            ratings = 3 + 0.8 * rng.standard_normal((2, 2, n))
            ratings[0] += true
            mean = ratings.mean(-1)
            squares = ((ratings - mean[..., None]) ** 2).sum(-1)
            found = gap_of(mean, np.full((2, 2), n), squares, (0.64, 0.64), confidence=LEVEL)
            assert found.low is not None
            assert found.high is not None
            (kept if true else dropped).append(found.low > 0 and found.high >= least if true else found.high < least)
    assert np.mean(kept) == pytest.approx(told.kept[0], abs=0.06)
    assert np.mean(dropped) == pytest.approx(told.dropped, abs=0.06)


def test_power_grows_with_raters() -> None:
    told = [power_of((0.6, 0.6), n, 2, 1.0, (1.5,), confidence=LEVEL) for n in (2, 3, 5, 8)]
    assert [one.kept[0] for one in told] == sorted(one.kept[0] for one in told)
    assert [one.dropped for one in told] == sorted(one.dropped for one in told)


@pytest.mark.parametrize("variance", [1e-11, 1e-6, 1e-4, 0.6, 100.0])
def test_power_at_any_noise(variance: float) -> None:
    told = power_of((variance, variance), 5, 2, 1.0, (0.5, 1.0, 2.0), confidence=LEVEL)
    assert all(0 <= share <= 1 for share in (*told.kept, told.dropped))
    assert list(told.kept) == sorted(told.kept)
    if variance < 0.1:
        assert told.dropped == pytest.approx(1.0)
        assert (told.kept[0], told.kept[2]) == (pytest.approx(0.0, abs=1e-3), 1.0)
        assert 0.5 < told.detectable < 1.5


def test_nothing_to_compare() -> None:
    assert (
        gap_of(np.empty((2, 0)), np.empty((2, 0)), np.empty((2, 0)), (1, 1), confidence=LEVEL).undefined == "no_items"
    )
    assert Interval().value is None
