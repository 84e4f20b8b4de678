"""Wilcoxon, the t of the mean and the corrections, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from voirdire.stats import tests as tested

fifths = hnp.arrays(np.int64, (3, 25), elements=st.integers(-6, 6))


@given(fifths)
def test_wilcoxon_equals_scipy(counts: np.ndarray) -> None:
    table = counts / 5
    for row, result in zip(table, tested.wilcoxon_rows(table), strict=True):
        if not row.any():
            assert result.undefined == "all_zero"
            continue
        expected = stats.wilcoxon(row, zero_method="wilcox", correction=False, method="asymptotic")
        assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-10)
        assert (result.n, result.n_zero) == (25, int((row == 0).sum()))


@given(fifths, st.integers(0, 2**25 - 1))
def test_missing_differences_are_as_if_they_were_not_there(counts: np.ndarray, missing: int) -> None:
    mask = np.array([missing >> bit & 1 for bit in range(25)], bool)
    table = np.where(mask, np.nan, counts / 5)
    for row, wilcoxon, mean in zip(table, tested.wilcoxon_rows(table), tested.mean_t_rows(table), strict=True):
        assert wilcoxon == tested.wilcoxon(row[~mask])
        alone = tested.mean_t(row[~mask])
        assert (mean.n, mean.df, mean.undefined) == (alone.n, alone.df, alone.undefined)
        if alone.t is not None:
            assert mean.t == pytest.approx(alone.t, rel=1e-9, abs=1e-12)


def test_float_noise_breaks_neither_ties_nor_zeros() -> None:
    clean = np.array([0.2, 0.2, -0.2, 0.4, 0.0, 0.6, -0.4, 0.2])
    noise = np.array([1, -1, 1, -1, 1, -1, 1, -1]) * 1e-16
    assert tested.wilcoxon(clean + noise) == tested.wilcoxon(clean)


def test_rows_are_chunked(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).normal(size=(7, 20))
    whole = tested.wilcoxon_rows(table)
    monkeypatch.setattr(tested, "ROWS", 40)
    assert tested.wilcoxon_rows(table) == whole


@given(hnp.arrays(float, (2, 12), elements=st.floats(-3, 3).map(lambda x: round(x, 3))))
def test_mean_t_equals_scipy(table: np.ndarray) -> None:
    for row, result in zip(table, tested.mean_t_rows(table), strict=True):
        if np.ptp(row) == 0:
            assert result.undefined == "no_spread"
            continue
        expected = stats.ttest_1samp(row, 0.0)
        assert result.t == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
        assert result.p == pytest.approx(expected.pvalue, rel=1e-8)
        assert result.se == pytest.approx(stats.sem(row), rel=1e-9)


@pytest.mark.parametrize(
    ("differences", "reason"), [([], "no_items"), ([np.nan], "no_items"), ([1.0], "one_item"), ([0.1] * 3, "no_spread")]
)
def test_undefined_means(differences: list[float], reason: str) -> None:
    result = tested.mean_t(differences)
    assert (result.t, result.p, result.undefined) == (None, None, reason)


def test_undefined_wilcoxon() -> None:
    assert tested.wilcoxon([]).undefined == "no_items"
    assert tested.wilcoxon([0.0, 1e-12, np.nan]) == tested.Wilcoxon(None, None, 2, 2, "all_zero")


p_values = st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=0, max_size=12)


@given(p_values)
def test_corrections_equal_brute_force(p: list[float | None]) -> None:
    given_p = np.array([x for x in p if x is not None])
    mask = np.array([x is not None for x in p], bool)
    hochberg, yekutieli = tested.benjamini_hochberg(p), tested.benjamini_yekutieli(p)
    assert np.isnan(hochberg[~mask]).all()
    if len(given_p):
        assert hochberg[mask] == pytest.approx(stats.false_discovery_control(given_p, method="bh"))
        assert yekutieli[mask] == pytest.approx(stats.false_discovery_control(given_p, method="by"))
        m = len(given_p)
        ordered = np.sort(given_p)
        steps = [min(1.0, max((m - k) * ordered[k] for k in range(place + 1))) for place in range(m)]
        assert np.sort(tested.holm(p)[mask]) == pytest.approx(np.array(steps))
        assert (tested.holm(p)[mask] >= hochberg[mask] - 1e-12).all()


def test_z_is_that_of_the_positive_ranks() -> None:
    differences = np.array([0.5, 0.25, -0.1, 1.0, 0.75, 0.0])
    result = tested.wilcoxon(differences)
    ranks = stats.rankdata(np.abs(differences[:-1]))
    mean, variance = 5 * 6 / 4, 5 * 6 * 11 / 24
    assert result.z == pytest.approx((ranks[differences[:-1] > 0].sum() - mean) / np.sqrt(variance))
    assert tested.wilcoxon(-differences).z == pytest.approx(-result.z)
