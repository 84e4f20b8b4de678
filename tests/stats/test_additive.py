"""Every additive statistic equals a plain loop written from its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stats.plain import LEVELS, N_LABELS, NOMINAL, PLAIN, World

from voirdire.analysis.engine import ItemSampler, compute
from voirdire.analysis.options import AuditOptions
from voirdire.statistic import REGISTRY
from voirdire.stats import position, preference
from voirdire.stats.ceilings import judge_ceiling_repeats, judge_disagreement, leave_one_out
from voirdire.stats.features import Features, PoolArrays, ScaleCuts

TARGET = {"pool": (0,), "judge_pool": (0,), "pair": (0, 1), "judge_pair": (0, 1), "judge": ()}


def ratings(labels: bool, most: int) -> st.SearchStrategy[list[list[float]]]:
    one = st.sampled_from([float(k) for k in range(N_LABELS)] if labels else LEVELS)
    sparse = st.lists(st.lists(one, max_size=most), min_size=6, max_size=6)
    dense = st.lists(st.lists(one, min_size=2, max_size=most), min_size=6, max_size=6)
    return st.one_of(sparse, dense)


def worlds(labels: bool = False) -> st.SearchStrategy[World]:
    constant = st.sampled_from([None, 1.0, 2.0] if labels else [None, *LEVELS])
    return st.builds(
        World,
        ratings(labels, 4),
        ratings(labels, 4),
        ratings(labels, 3),
        st.lists(constant, min_size=6, max_size=6),
        st.sampled_from([0.0, 0.75]),
    )


def moments(pool: list[list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = np.array([np.mean(x) if x else np.nan for x in pool])
    s2 = np.array([np.var(x, ddof=1) if len(x) > 1 else np.nan for x in pool])
    return mean, np.array([float(len(x)) for x in pool]), s2


def cube_of(judge: list[list[float]]) -> np.ndarray:
    cube = np.full((1, len(judge), 3), np.nan)
    for i, repeats in enumerate(judge):
        cube[0, i, : len(repeats)] = repeats
    return cube


def counts_of(pool: list[list[float]], values: Any) -> np.ndarray:
    return np.array([[x.count(v) for v in values] for x in pool], dtype=float)


def features_of(world: World, labels: bool) -> Features:
    mean, n, s2 = (np.stack(part) for part in zip(moments(world.a), moments(world.b), strict=True))
    cube = cube_of(world.judge)
    values = tuple(float(k) for k in range(N_LABELS)) if labels else LEVELS
    counts = counts_of(world.a, values)
    shares = None
    if labels:
        table = np.stack([counts, counts_of(world.b, values)])
        shares = table / np.where(table.sum(-1, keepdims=True) > 0, table.sum(-1, keepdims=True), np.nan)
        parts = [judge_disagreement(counts, cube[..., r]) for r in range(3)]
        times = np.sum([part.valid for part in parts], 0)
        loo = np.sum([part.values for part in parts], 0) / np.maximum(times, 1), (times > 0).astype(float)
    else:
        per_item = judge_ceiling_repeats(leave_one_out(counts, values), cube)
        loo = per_item.values, per_item.valid.astype(float)
    scale = ScaleCuts(levels=values, nominal=True) if labels else ScaleCuts(1, 5, LEVELS)
    constants = np.array([np.nan if c is None else c for c in world.constants])
    return Features(
        PoolArrays(mean, n, s2, scale, shares),
        cube,
        min_gap=world.min_gap,
        constants=np.stack([constants, constants]),
        loo=(np.stack([loo[0], loo[0]]), np.stack([loo[1], loo[1]])),
    )


def value_of(features: Features, key: tuple[str, str]) -> tuple[float, str | None]:
    statistic = REGISTRY[key]
    sampler = ItemSampler(6, AuditOptions(draws=0), np.random.default_rng(0))
    (result,) = compute([statistic], features, TARGET[statistic.per], sampler)
    return float(result.values[0]), result.reasons[0]


def compare(world: World, key: tuple[str, str], expected: float | None, labels: bool) -> None:
    value, reason = value_of(features_of(world, labels), key)
    if expected is None:
        assert np.isnan(value)
        assert reason not in (None, "not_computable")
    else:
        assert reason is None
        assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("key", sorted(PLAIN), ids="/".join)
@given(world=worlds())
def test_numeric(key: tuple[str, str], world: World) -> None:
    compare(world, key, PLAIN[key](world), labels=False)


@pytest.mark.parametrize("key", sorted(NOMINAL), ids="/".join)
@given(world=worlds(labels=True))
def test_nominal(key: tuple[str, str], world: World) -> None:
    compare(world, key, NOMINAL[key](world), labels=True)


def test_every_statistic_is_here() -> None:
    """Those of pairwise votes have plain loops of their own, in test_preference.py."""
    own = {key for key, statistic in REGISTRY.items() if statistic.finish.__module__.startswith("voirdire.")}
    votes = {key for key in own if REGISTRY[key].finish.__module__ in (preference.__name__, position.__name__)}
    assert own - votes == set(PLAIN) | set(NOMINAL)


@given(world=worlds(), shift=st.sampled_from([1e3, -1e5]))
@settings(max_examples=20)
def test_correlations_do_not_suffer_from_an_offset(world: World, shift: float) -> None:
    """A scale without ends has no middle to centre on; the digits must not be lost in the squares."""
    near = features_of(world, labels=False)
    pools = near.pools
    far = Features(PoolArrays(pools.mean + shift, pools.n, pools.s2, ScaleCuts()), near.ratings + shift)
    for key in (("pearson", ""), ("cross_pool_pearson", ""), ("spread.slope", ""), ("reliability", "")):
        (value, reason), (moved, why) = value_of(near, key), value_of(far, key)
        assert reason == why
        assert np.isnan(value) or moved == pytest.approx(value, abs=1e-6)
