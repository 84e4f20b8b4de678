"""The permuted control against all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from voirdire.stats import permuted

ratings = hnp.arrays(float, 5, elements=st.one_of(st.integers(1, 5).map(float), st.just(np.nan)))
consensus = hnp.arrays(float, 5, elements=st.integers(5, 25).map(lambda x: x / 5))


@given(ratings, consensus, consensus)
def test_expectations_equal_all_permutations(r: np.ndarray, m_a: np.ndarray, m_b: np.ndarray) -> None:
    used = ~np.isnan(r)
    mae, pair = permuted.permuted_mae(r[None], m_a), permuted.permuted_pair(r[None], m_a, m_b)
    if not used.any():
        assert np.isnan([mae[0], pair.delta[0], pair.tilt[0]]).all()
        return
    every = np.array(list(permutations(r[used])))
    a, b = m_a[used], m_b[used]
    error_a, error_b = np.abs(every - a), np.abs(every - b)
    assert mae[0] == pytest.approx(error_a.mean())
    assert pair.mae_b[0] == pytest.approx(error_b.mean())
    assert pair.delta[0] == pytest.approx((error_a - error_b).mean(), abs=1e-12)
    assert pair.delta_sq[0] == pytest.approx((error_a**2 - error_b**2).mean(), abs=1e-9)
    apart = np.abs(a - b) > 1e-9
    if apart.any():
        assert pair.tilt[0] == pytest.approx(((error_b - error_a)[:, apart] / np.abs(a - b)[apart]).mean(), abs=1e-9)
        expected = -(error_a - error_b).mean() / np.abs(a - b).mean()
        assert pair.tilt_ratio[0] == pytest.approx(expected, abs=1e-9)
    else:
        assert np.isnan([pair.tilt[0], pair.tilt_ratio[0]]).all()


def test_a_constant_judge_is_its_own_permutation() -> None:
    m = np.array([1.0, 2.5, np.nan, 4.0])
    assert permuted.permuted_mae(np.full((1, 4), 3.0), m)[0] == pytest.approx(np.nanmean(np.abs(3 - m)))


def test_nominal_permutation_equals_all_permutations() -> None:
    shares = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75], [0, 0, 0]])
    codes = np.array([0.0, 2.0, 1.0, 1.0])
    every = [1 - np.mean([shares[i, int(c)] for i, c in enumerate(p)]) for p in permutations(codes[:3])]
    assert permuted.permuted_disagreement(codes[None], shares)[0] == pytest.approx(np.mean(every))
    assert np.isnan(permuted.permuted_disagreement(np.full((1, 4), np.nan), shares)[0])
