"""Ceilings against loops over raters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from voirdire.stats import ceilings

LEVELS = np.array([1.0, 2.0, 3.0, 5.0])
tables = hnp.arrays(np.int64, (6, 4), elements=st.integers(0, 3))


def raters(row: np.ndarray) -> np.ndarray:
    return np.repeat(LEVELS, row)


def loop_error(own: np.ndarray, value: float) -> float:
    return float(np.mean([abs(value - np.delete(own, k).mean()) for k in range(len(own))]))


@given(tables, tables)
def test_ceilings_equal_a_loop_over_raters(counts: np.ndarray, other: np.ndarray) -> None:
    loo = ceilings.leave_one_out(counts, LEVELS)
    own, cross = ceilings.own_ceiling(loo), ceilings.other_ceiling(loo, other)
    judge = ceilings.judge_ceiling(loo, np.full((2, 6), 3.0))
    for i in range(6):
        mine, theirs = raters(counts[i]), raters(other[i])
        assert own.valid[i] == (len(mine) > 1)
        if len(mine) > 1:
            expected = np.mean([abs(x - np.delete(mine, k).mean()) for k, x in enumerate(mine)])
            assert own.values[i] == pytest.approx(expected, abs=1e-12)
            assert judge.values[1, i] == pytest.approx(loop_error(mine, 3.0), abs=1e-12)
        assert cross.valid[i] == (len(mine) > 1 and len(theirs) > 0)
        if cross.valid[i]:
            assert cross.values[i] == pytest.approx(np.mean([loop_error(mine, x) for x in theirs]), abs=1e-12)
    assert own.n_left_out == int((counts.sum(1) == 1).sum())


@given(tables, tables)
def test_nominal_ceilings_equal_a_loop_over_raters(counts: np.ndarray, other: np.ndarray) -> None:
    own = ceilings.own_disagreement(counts)
    cross = ceilings.other_disagreement(counts, other)
    judge = ceilings.judge_disagreement(counts, np.full(6, 2.0))
    for i in range(6):
        mine, theirs = raters(counts[i]), raters(other[i])
        rest = [np.delete(mine, k) for k in range(len(mine))]
        if len(mine) > 1:
            expected = 1 - np.mean([np.mean(rest[k] == x) for k, x in enumerate(mine)])
            assert own.values[i] == pytest.approx(expected, abs=1e-12)
            assert judge.values[i] == pytest.approx(1 - np.mean([np.mean(r == 3.0) for r in rest]), abs=1e-12)
        if cross.valid[i]:
            expected = 1 - np.mean([[np.mean(r == x) for r in rest] for x in theirs])
            assert cross.values[i] == pytest.approx(expected, abs=1e-12)


def test_levels_may_differ_between_items() -> None:
    loo = ceilings.leave_one_out([[1, 1], [2, 1]], [[0.5, 1.5], [10.0, 40.0]])
    assert ceilings.own_ceiling(loo).values == pytest.approx([1.0, (2 * 15 + 30) / 3])


def test_repeats_are_averaged_as_errors_and_missing_repeats_are_left_out() -> None:
    loo = ceilings.leave_one_out([[1, 0, 1, 0], [0, 2, 0, 0]], LEVELS)
    cube = np.array([[[1.0, 3.0], [5.0, np.nan]], [[np.nan, np.nan], [2.0, 2.0]]])
    result = ceilings.judge_ceiling_repeats(loo, cube)
    assert result.values == pytest.approx(np.array([[1.0, 3.0], [0.0, 0.0]]))
    assert result.valid.tolist() == [[True, True], [False, True]]


def test_one_rater_an_item_leaves_no_ceiling() -> None:
    own = ceilings.own_ceiling(ceilings.leave_one_out([[1, 0], [0, 1]], [0, 1]))
    assert own.n == 0
    assert own.n_left_out == 2
    assert np.isnan(own.mean())


def test_mean_with_item_weights_equals_the_mean_of_repeated_items() -> None:
    loo = ceilings.leave_one_out([[2, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 2]], LEVELS)
    judge = ceilings.judge_ceiling(loo, np.array([[1.0, 2.0, np.nan], [3.0, 3.0, 3.0]]))
    drawn = np.array([0, 2, 2])
    weights = np.bincount(drawn, minlength=3)[None].astype(float)
    repeated = ceilings.judge_ceiling(
        ceilings.leave_one_out(np.array([[2, 1, 0, 1], [0, 1, 0, 2], [0, 1, 0, 2]]), LEVELS), np.full((1, 3), 3.0)
    )
    assert judge.mean(weights).shape == (2, 1)
    assert judge.mean(weights)[1, 0] == pytest.approx(float(repeated.mean()[0]))
    assert judge.mean(weights)[0, 0] == pytest.approx(judge.values[0, 0])
