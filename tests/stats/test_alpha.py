"""Krippendorff's alpha against the krippendorff package, and its bootstrap against a loop."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.stats.alpha import alpha, alpha_of_weights

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def table(seed: int, raters: int, items: int, levels: int, missing: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, levels, (raters, items)).astype(float)
    cells[rng.random(cells.shape) < missing] = np.nan
    return cells


def counts_of(cells: np.ndarray, levels: int) -> np.ndarray:
    return np.stack([(cells == level).sum(0) for level in range(levels)], 1).astype(float)


@pytest.mark.parametrize("level", LEVELS)
@given(
    seed=st.integers(0, 10**6),
    raters=st.integers(2, 6),
    items=st.integers(1, 12),
    levels=st.integers(2, 12),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_equals_the_package(level: str, seed: int, raters: int, items: int, levels: int, missing: float) -> None:
    cells = table(seed, raters, items, levels, missing)
    result = alpha(counts_of(cells, levels), np.arange(levels, dtype=float), level)
    pairable = cells[:, (~np.isnan(cells)).sum(0) > 1]
    assert result.n == pairable.shape[1]
    given_values = np.unique(pairable[~np.isnan(pairable)])
    if len(given_values) < 2:
        assert result.value is None
        assert result.undefined == ("all_equal" if len(given_values) else "no_pairable")
        return
    expected = krippendorff.alpha(reliability_data=cells, level_of_measurement=level)
    assert result.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_draws_equal_a_loop(level: str) -> None:
    cells = table(3, 4, 15, 5, 0.2)
    counts, values = counts_of(cells, 5), np.arange(5.0)
    counts = counts[counts.sum(1) > 1]
    weights = np.random.default_rng(1).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), 30)
    fast = alpha_of_weights(counts, weights.astype(float), values, level)
    slow = [alpha(np.repeat(counts, times, axis=0), values, level).value for times in weights]
    assert fast == pytest.approx(slow, abs=1e-12)


def test_many_values_need_little_memory() -> None:
    """A thousand values: a table of coincidences for every item would take gigabytes."""
    rng = np.random.default_rng(0)
    counts = np.zeros((300, 1001))
    for row in counts:
        np.add.at(row, rng.integers(0, 1001, 5), 1)
    for level in ("ordinal", "interval"):
        result = alpha(counts, np.arange(1001.0), level, draws=20, rng=rng)
        assert result.value is not None
        assert abs(result.value) < 0.2
        assert np.isfinite(result.draws).all()


def test_unused_values_do_not_matter() -> None:
    counts = np.array([[2, 0, 1], [0, 0, 3], [1, 0, 2]], dtype=float)
    for level in LEVELS:
        wide = alpha(counts, np.array([1.0, 2.0, 5.0]), level)
        assert wide.value == pytest.approx(alpha(counts[:, [0, 2]], np.array([1.0, 5.0]), level).value)
