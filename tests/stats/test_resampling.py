"""Sums under resamples against loops; what a block holds more than once; quantiles against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.stats import resampling


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 12))
def test_block_sums_equal_loops(seed: int, rows: int, items: int) -> None:
    source = rng(seed)
    weights = resampling.item_weights(items, 7, source)
    blocks = [source.integers(0, 2, (rows, items)).astype(float), source.normal(size=(3, items)), np.ones((4, items))]
    for block, sums in zip(blocks, resampling.block_sums(weights, blocks), strict=True):
        assert sums.shape == (len(block), 7)
        for row, values in enumerate(block):
            for draw, times in enumerate(weights):
                assert sums[row, draw] == pytest.approx(sum(np.repeat(values, times)), abs=1e-9)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    features = rng(2).normal(size=(5, 40))
    whole = resampling.item_weights(40, 90, rng(3))
    sums = resampling.weighted_sums(whole, features)
    monkeypatch.setattr(resampling, "CACHE", 100)
    monkeypatch.setattr(resampling, "MEMORY", 300)
    assert (resampling.item_weights(40, 90, rng(3)) == whole).all()
    assert resampling.weighted_sums(whole, features) == pytest.approx(sums, abs=1e-12)


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_nothing_to_sum(shape: tuple[int, int]) -> None:
    weights = np.zeros((3, shape[1]), dtype=np.uint8)
    assert resampling.weighted_sums(weights, np.ones(shape)).shape == (shape[0], 3)
    assert resampling.block_sums(weights, []) == []


def test_distinct_rows_compare_rows_that_agree_in_the_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flat:
        def standard_normal(self, size: int) -> np.ndarray:
            return np.ones(size)

    monkeypatch.setattr(resampling.np.random, "default_rng", lambda seed: Flat())
    rows, place = resampling.distinct_rows(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]]))
    assert (rows[place] == [[1, 2], [2, 1], [2, 1], [1, 2]]).all()


@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([0.5, 0.9, 0.95]))
def test_percentile_is_numpys_linear_quantile(seed: int, draws: int, level: float) -> None:
    values = rng(seed).normal(size=(2, 3, draws))
    low, high = resampling.percentile(values, level)
    expected = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=-1)
    assert np.stack([low, high]) == pytest.approx(expected, abs=1e-12)
