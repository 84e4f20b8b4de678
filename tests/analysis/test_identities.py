"""Identities of delta and T, selections, repeats and missing judgments."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.builders import World, corpus, judged, judgments, rated, run, values, worlds

from voirdire.stats.features import Features, PoolArrays
from voirdire.stats.tilt import tilt

PAIR = {"pool": "us", "pool_b": "cn"}


@given(world=worlds(scale="five", pools=2, lost=0.0, gaps=0.0, culture=False))
@settings(max_examples=10)
def test_tilt_of_the_pools_own_consensuses_and_delta_within_the_gap(world: World) -> None:
    frame = run(world.make()).estimates
    mad = frame.filter(statistic="cross_pool_mad", slice="all")["value"][0]
    for name, end in (("control:copy_p0", 1.0), ("control:copy_p1", -1.0)):
        for params in ("", "form=ratio"):
            row = frame.filter(statistic="tilt", judge=name, params=params)
            if mad == 0:
                assert row["undefined"].to_list() == ["equal_consensuses"]
            else:
                assert row["value"][0] == pytest.approx(end)
    rows = {
        (row["judge"], row["condition"], row["statistic"], row["params"]): row["value"]
        for row in frame.filter(slice="all").iter_rows(named=True)
    }
    for (judge, condition, name, params), value in rows.items():
        if name == "delta" and not params:
            assert abs(value) <= mad + 1e-9
            ratio = rows[judge, condition, "tilt", "form=ratio"]
            assert ratio is None if mad == 0 else ratio == pytest.approx(-value / mad)


@given(seed=st.integers(0, 10**6))
def test_clip_form_equals_error_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m_a, m_b = rng.integers(5, 26, 8) / 5, rng.integers(5, 26, 8) / 5
    r = rng.uniform(0, 6, (3, 8))
    features = Features(PoolArrays.of(np.stack([m_a, m_b])), r)
    value = tilt(*(features.get(name, (0, 1)).sum(-1) for name in ("judged", "tilt_sum", "tilted")))
    apart = np.abs(m_a - m_b) > 1e-9
    if apart.any():
        clipped = np.clip((2 * r - m_a - m_b)[:, apart] / (m_a - m_b)[apart], -1, 1).mean(1)
        assert value == pytest.approx(clipped)


@given(seed=st.integers(0, 10**5), level=st.integers(1, 5))
@settings(max_examples=6)
def test_items_on_which_the_pools_agree_leave_tilt_and_count_as_excluded(seed: int, level: int) -> None:
    rng = np.random.default_rng(seed)
    table = {pool: {f"i{k}": rng.integers(1, 6, 2).tolist() for k in range(4)} for pool in ("us", "cn")}
    judge = {f"i{k}": float(rng.integers(1, 6)) for k in range(4)}
    more = {pool: by | {"x": [level, level]} for pool, by in table.items()}
    before = run((corpus(rated(table)), judgments(judged({"j": judge})))).get("tilt", judge="j", condition="-", **PAIR)
    wide = run((corpus(rated(more)), judgments(judged({"j": judge | {"x": 3}}))))
    after = wide.get("tilt", judge="j", condition="-", **PAIR)
    assert (after.value, after.undefined) == (before.value, before.undefined)
    assert sum(after.excluded.values()) == sum(before.excluded.values()) + 1


ADDITIVE = ("mae", "bias", "delta", "delta_sq", "mean_rating", "share_low", "share_high")


@given(world=worlds(scale="five", pools=2, items=6, culture=True))
@settings(max_examples=8)
def test_slices_and_cells_sum_to_the_whole(world: World) -> None:
    made, judged_ = world.make()
    profile = run((made, judged_))
    frame = profile.estimates.filter(pl.col("statistic").is_in(ADDITIVE), pl.col("params") == "")
    rows = {
        (r["statistic"], r["pool"], r["judge"], r["condition"], r["slice"]): (r["value"], r["n"])
        for r in frame.iter_rows(named=True)
    }
    cells = [(f"j{j}", f"c{c}") for j, c in product(range(world.judges), range(world.conditions))]
    for (name, pool, judge, condition, place), (value, n) in rows.items():
        if place != "all" or judge.startswith("control:") or name == "delta_sq":
            continue
        parts = [rows[name, pool, judge, condition, f"culture={c}"] for c in ("us", "cn")
                 if (name, pool, judge, condition, f"culture={c}") in rows]  # fmt: skip
        assert sum(m for _, m in parts) == n
        if value is not None:
            assert sum((v or 0) * m for v, m in parts) == pytest.approx(value * n)
        if (judge, condition) == ("*", "*"):
            each = [rows[name, pool, j, c, "all"] for j, c in cells]
            assert sum(m for _, m in each) == n
            if value is not None:
                assert sum((v or 0) * m for v, m in each) == pytest.approx(value * n)


@given(world=worlds(judges=1, conditions=1, repeats=1, culture=False))
@settings(max_examples=8)
def test_selections_of_one_cell_equal_the_cell(world: World) -> None:
    found = values(run(world.make()))
    for key, value in found.items():
        if key[5] == "j0" and key[6] == "c0" and key[0] != "verdict":
            for judge, condition in product(("*", "j0", "origin=us"), ("*", "c0", "persona=us")):
                other = (*key[:5], judge, condition, key[7])
                assert found.get(other, value) == value, (key, other)


def test_correlation_of_several_cells_is_the_mean_of_theirs() -> None:
    world = World(5, items=7, judges=2, conditions=2)
    profile = run(world.make())
    each = [
        profile.get("pearson", pool="p0", judge=f"j{j}", condition=f"c{c}").value
        for j, c in product(range(2), range(2))
    ]
    whole = profile.get("pearson", pool="p0", judge="*", condition="*")
    assert whole.value == pytest.approx(np.mean(each))
    assert whole.n == 28
    assert whole.signature.definition["cells"] == "mean_of_cells"


def test_repeats_are_errors_averaged() -> None:
    table = {"us": {"a": (1, 3), "b": (4, 4), "c": (2, 2)}, "cn": {"a": (3, 3), "b": (2, 2), "c": (2, 4)}}
    given_ = {"a": (1.0, 3.0), "b": (4.0, None), "c": (5.0, 1.0)}
    rows = [
        (item, "j", "-", k, value, "malformed" if value is None else "ok")
        for item, repeats in given_.items()
        for k, value in enumerate(repeats)
    ]
    profile = run((corpus(rated(table)), judgments(rows)))
    where = {"judge": "j", "condition": "-"}
    assert profile.get("mae", pool="us", **where).value == pytest.approx((1 + 0 + 2) / 3)
    assert profile.get("share_low", **where).value == pytest.approx((0.5 + 0 + 0.5) / 3)
    sd = profile.get("repeat_sd", **where)
    assert (sd.value, sd.n) == (pytest.approx(np.sqrt((2 + 8) / 2)), 2)
    permuted = profile.get("mae", pool="us", params="control=permuted", **where).value
    by_hand = [
        np.mean([abs(r - m) for r in repeats if r is not None]) for repeats in given_.values() for m in (2, 4, 2)
    ]
    assert permuted == pytest.approx(np.mean(by_hand))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_missing_judgments_are_never_scored_and_bounds_hold_every_completion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = {pool: {f"i{k}": rng.integers(1, 6, 2).tolist() for k in range(4)} for pool in ("us", "cn")}
    judge = {f"i{k}": float(rng.integers(1, 6)) for k in range(4)}
    gone = {**judge, "i0": None, "i1": None}
    answered = {item: value for item, value in gone.items() if value is not None}
    where = {"judge": "j", "condition": "-"}
    with_gaps = run((corpus(rated(table)), judgments(judged({"j": gone}))), draws=0)
    found = with_gaps.get("mae", pool="us", **where)
    consensus = {item: np.mean(ratings) for item, ratings in table["us"].items()}
    assert found.value == pytest.approx(np.mean([abs(value - consensus[item]) for item, value in answered.items()]))
    assert found.excluded == {"malformed": 2}
    low, high = (with_gaps.get(f"mae.bound_{side}", pool="us", **where).value for side in ("low", "high"))
    for r0, r1 in product(range(1, 6), range(1, 6)):
        filled = {**judge, "i0": r0, "i1": r1}
        assert low - 1e-9 <= np.mean([abs(v - consensus[i]) for i, v in filled.items()]) <= high + 1e-9


def test_percent_of_human_stands_for_both_pools() -> None:
    profile = run(World(1, judges=1).make())
    for pool, other in (("p0", "p1"), ("p1", "p0")):
        found = profile.get("percent_of_human", pool=pool, pool_b=other, judge="j0", condition="c0")
        mae = profile.get("mae", pool=pool, judge="j0", condition="c0")
        mad = profile.get("cross_pool_mad", pool="p0", pool_b="p1")
        assert found.value == pytest.approx(100 * mae.value / mad.value)  # type: ignore[operator]
