"""The intervals: against a loop over the same draws, scipy's BCa, and the krippendorff package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.replication import plain
from tests.replication.reference_map import Place
from tests.replication.runs import DRAWS

from voirdire.analysis.engine import ItemSampler, active, compute
from voirdire.analysis.options import AuditOptions
from voirdire.stats.alpha import alpha
from voirdire.stats.features import Features, PoolArrays

pytestmark = pytest.mark.slow
BASE = pl.col("design") == "base"
ONE = BASE & (pl.col("judge") == "glm-5") & (pl.col("condition") == "basic_us_en")
PAIR = {"pool": "us", "pool_b": "cn"}
ALL_BASE = {"judge": "*", "condition": "design=base"}
FULL = {"judge": "glm-5", "condition": "basic_us_en/base"}


def place(statistic: str, **parts: str) -> Place:
    names = ("params", "question", "pool", "pool_b", "judge", "condition", "slice")
    return (statistic, *({"question": "q1", "slice": "all", **parts}.get(name, "") for name in names))


@pytest.mark.parametrize(
    ("row", "statistic", "cells"),
    [
        (place("mae", pool="us", **FULL), plain.mae_us, ONE),
        (place("mae", pool="us", slice="culture=cn", **ALL_BASE), plain.mae_us, BASE),
        (place("bias", pool="cn", **FULL), plain.bias_cn, ONE),
        (place("delta", slice="culture=cn&category=food", **PAIR, **ALL_BASE), plain.delta, BASE),
        (place("delta_sq", slice="culture=us", **PAIR, **ALL_BASE), plain.delta_sq, BASE),
        (place("tilt", slice="culture=cn", **PAIR, **ALL_BASE), plain.tilt, BASE),
        (place("tilt", params="form=ratio", **PAIR, **FULL), plain.tilt_ratio, ONE),
        (place("share_low", slice="category=arch", **ALL_BASE), plain.share_low, BASE),
        (place("floor_recovery", pool="us", slice="culture=cn", **ALL_BASE), plain.floor_recovery_us, BASE),
        (place("kappa_qw", pool="us", **FULL), plain.kappa_us, ONE),
        (place("pearson", pool="us", **FULL), plain.pearson_us, ONE),
        (place("pearson", pool="us", slice="culture=us", **ALL_BASE), plain.pearson_us, BASE),
        (place("percent_of_human", **PAIR, **FULL), plain.percent_of_human_us, ONE),
        (place("cross_pool_mad", slice="culture=us", **PAIR), plain.cross_pool_mad, ONE),
        (place("reliability", pool="us"), plain.reliability_us, ONE),
        (place("consensus_mean", pool="us"), plain.consensus_mean_us, ONE),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_interval_equals_a_loop(
    simulated: Path,
    by_command: Mapping[Place, Mapping[str, Any]],
    row: Place,
    statistic: Callable[[plain.Table], float],
    cells: pl.Expr,
) -> None:
    table, items = plain.read(simulated, cells)
    for part in row[-1].split("&"):
        column, _, level = part.partition("=")
        kept = np.ones(items.height, bool) if part == "all" else (items[column] == level).to_numpy()
        table, items = table[np.flatnonzero(kept)], items.filter(kept)
    estimate = by_command[row]
    assert estimate["value"] == pytest.approx(statistic(table), abs=1e-9)
    ends = plain.interval(statistic, table, plain.weights(items.height, DRAWS, row[-1]))
    assert (estimate["low"], estimate["high"]) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("name", ["mae", "delta", "tilt", "pearson"])
def test_bca_is_near_scipys(name: str) -> None:
    """Two sets of 4,000 draws: ends within a tenth of the interval's width."""
    rng = np.random.default_rng(5)
    us, cn = rng.integers(5, 26, (2, 120)) / 5
    judged = np.clip(np.round(0.6 * us + 0.4 * cn + rng.normal(0, 0.8, 120)), 1, 5)
    results = {result.statistic.name: result for result in _bca(np.stack([us, cn]), judged)}
    result = results[name]

    def statistic(place: np.ndarray) -> float:
        table = plain.Table(judged[None, place], us[place][:, None], cn[place][:, None])
        return {"mae": plain.mae_us, "delta": plain.delta, "tilt": plain.tilt, "pearson": plain.pearson_us}[name](table)

    theirs = stats.bootstrap(
        (np.arange(120),), statistic, n_resamples=4000, method="BCa", vectorized=False, rng=np.random.default_rng(6)
    ).confidence_interval
    allowed = (theirs.high - theirs.low) / 10
    assert (result.low[0], result.high[0]) == pytest.approx((theirs.low, theirs.high), abs=allowed)


def _bca(mean: np.ndarray, judged: np.ndarray) -> list[Any]:
    options = AuditOptions(interval="bca", draws=4000)
    features = Features(PoolArrays.of(mean, n=5), judged[None])
    sampler = ItemSampler(mean.shape[1], options, np.random.default_rng(7))
    codes = frozenset({"any", "anything", "numeric", "rank", "ends", "levels", "discrete", "distance"})
    found = []
    for per, target in (("judge_pool", (0,)), ("judge_pair", (0, 1))):
        wanted = [
            s
            for s in active(per, scale_codes=codes, sliced_only=True)
            if s.key[0] in ("mae", "delta", "tilt", "pearson")
        ]
        wanted = [s for s in wanted if not s.params]
        found += compute(wanted, features, target, sampler)
    return found


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_draws_equal_the_krippendorff_package(level: str) -> None:
    rng = np.random.default_rng(11)
    latent = rng.normal(3, 1, 80)
    raters = np.clip(np.round(latent[:, None] + rng.normal(0, 0.8, (80, 5))), 1, 5)
    raters[rng.random(raters.shape) < 0.25] = np.nan
    values = np.arange(1.0, 6.0)
    counts = np.stack([(raters == value).sum(1) for value in values], 1).astype(float)
    ours = alpha(counts, values, level, draws=60, rng=np.random.default_rng(12))
    several = counts[counts.sum(1) > 1]
    patterns, times = np.unique(several, axis=0, return_counts=True)
    drawn = np.random.default_rng(12).multinomial(len(several), times / len(several), size=60)

    def theirs(table: np.ndarray) -> float:
        return float(krippendorff.alpha(value_counts=table, value_domain=values, level_of_measurement=level))

    assert ours.value == pytest.approx(theirs(counts), abs=1e-9)
    assert ours.draws == pytest.approx([theirs(np.repeat(patterns, row, axis=0)) for row in drawn], abs=1e-9)
