"""Intervals: the item bootstrap against a loop, seeds, BCa and draws of raters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.analysis.builders import QUICK, World, corpus, judged, judgments, run
from tests.stats.plain import World as Plain
from tests.stats.plain import correlation, delta, delta_sq, m, tilt

from voirdire.analysis.context import Context
from voirdire.analysis.engine import ItemSampler
from voirdire.analysis.panels import build_cells, build_panel
from voirdire.analysis.rows import Table
from voirdire.stats.resampling import bca, percentile

WORLD = World(3, items=12, raters=3, judges=1, repeats=2)
WHERE = {"judge": "j0", "condition": "c0"}
PAIR = {"pool": "p0", "pool_b": "p1"}


def plain(world: World, weights: np.ndarray | None = None) -> Plain:
    """The world item by item, items repeated as often as they were drawn, in the order of their ids."""
    made, rows = world.make()
    ids = sorted(made.items["item_id"])
    times = np.ones(len(ids), int) if weights is None else weights
    ratings = {(i, p): part["value"].to_list() for (i, p), part in made.ratings.group_by("item_id", "pool")}
    said = {i: part["value"].drop_nulls().to_list() for (i,), part in rows.table.group_by("item_id")}
    chosen = [item for item, count in zip(ids, times, strict=True) for _ in range(count)]
    pools = ([ratings.get((item, pool), []) for item in chosen] for pool in ("p0", "p1"))
    return Plain(*pools, [said.get(item, []) for item in chosen], [None] * len(chosen))


def weights_of(world: World, draws: int, seed: int = 0) -> np.ndarray:
    """The weights that the audit draws for all items."""
    made, _ = world.make()
    options = replace(QUICK, draws=draws, seed=seed)
    panel = build_panel(made, made.questions[0])
    context = Context(panel, options, Table({}), (), (), {})
    return ItemSampler(panel.n_items, options, context.rng("items", "all")).weights


def test_item_intervals_equal_a_loop_with_the_same_weights() -> None:
    profile = run(WORLD.make(), draws=40)
    statistics = {
        "delta": (PAIR, delta),
        "tilt": (PAIR, tilt),
        "pearson": ({"pool": "p0"}, lambda w: correlation([m(r) for r in w.judge], [m(x) for x in w.a])),
        "mean_rating": ({}, lambda w: float(np.mean([m(r) for r in w.judge]))),
    }
    drawn = [plain(WORLD, row) for row in weights_of(WORLD, 40)]
    for name, (place, loop) in statistics.items():
        found = profile.get(name, **place, **WHERE)
        assert found.value == pytest.approx(loop(plain(WORLD)))
        expected = np.quantile([loop(world) for world in drawn], [0.025, 0.975])
        assert found.interval is not None, name
        assert (found.interval.low, found.interval.high) == pytest.approx(tuple(expected)), name
        assert found.signature.definition | {"unit": "items", "draws": "40"} == found.signature.definition


def test_same_seed_same_result_other_seed_other_interval() -> None:
    one, same, other = (run(WORLD.make(), seed=seed, draws=50).estimates for seed in (1, 1, 2))
    assert one.equals(same)
    additive = pl.col("statistic").is_in(["mae", "bias", "delta", "tilt", "alpha", "consensus_mean"])
    mine, theirs = (
        frame.filter(additive, ~pl.col("judge").str.contains("random")).select("value", "low") for frame in (one, other)
    )
    assert mine["value"].equals(theirs["value"])
    assert not mine["low"].equals(theirs["low"])


def test_intervals_hold_their_values_and_bca_differs() -> None:
    made = World(4, items=30, judges=1).make()
    frames = [run(made, draws=200, interval=interval).estimates for interval in ("percentile", "bca")]
    for frame in frames:
        mae = frame.filter(statistic="mae", judge="j0", params="")
        assert (mae["low"] < mae["value"]).all()
        assert (mae["value"] < mae["high"]).all()
    assert frames[0]["value"].equals(frames[1]["value"])
    assert not frames[0]["low"].equals(frames[1]["low"])
    assert "interval=bca" in frames[1].filter(statistic="delta", judge="j0", params="")["signature"][0]


def test_bca_equals_its_formula_and_corrects_a_skewed_mean() -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(0)
    sample = rng.exponential(1, 40)
    weights = rng.multinomial(40, np.full(40, 1 / 40), 4000)
    draws = (weights @ sample / 40)[None]
    left_out = ((sample.sum() - sample) / 39)[None]
    low, high = bca(np.array([sample.mean()]), draws, left_out, 0.95)
    theirs = bootstrap((sample,), np.mean, method="BCa", n_resamples=4000, rng=1).confidence_interval
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), abs=0.02)
    plain_low, plain_high = percentile(draws, 0.95)
    assert low[0] > plain_low[0]
    assert high[0] > plain_high[0]


def test_undefined_draws_cost_the_interval_only_when_they_are_many() -> None:
    draws = np.tile(np.arange(100.0), (2, 1))
    draws[0, :4] = np.nan
    draws[1, :6] = np.nan
    low, high = percentile(draws, 0.95)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_draws_of_raters_are_wider_and_say_so() -> None:
    made = World(5, items=10, raters=6, judges=1).make()
    items, raters = (run(made, draws=150, resample=unit) for unit in ("items", "items+raters"))
    for name in ("delta", "mae"):
        place = PAIR if name == "delta" else {"pool": "p0"}
        narrow, wide = (profile.get(name, **place, **WHERE) for profile in (items, raters))
        assert narrow.value == wide.value
        assert narrow.interval is not None
        assert wide.interval is not None
        assert wide.interval.high - wide.value == pytest.approx(wide.value - wide.interval.low)  # type: ignore[operator]
        assert wide.interval.high - wide.interval.low > narrow.interval.high - narrow.interval.low
        assert wide.signature.definition["unit"] == "items+raters"
    biased = raters.estimates.filter(pl.col("statistic") == "cross_pool_mad.rater_bias")
    assert (biased["value"] > 0).all()
    assert biased.height > 0
    assert not items.estimates["statistic"].str.ends_with("rater_bias").any()


def test_few_raters_have_no_interval_of_raters() -> None:
    profile = run(World(6, items=8, raters=4, judges=1).make(), resample="items+raters")
    found = profile.get("mae", pool="p0", **WHERE)
    assert found.interval is None
    assert found.signature.definition["no_interval"] == "few_raters"
    assert profile.get("mean_rating", **WHERE).interval is not None
    assert profile.get("verdict", pool="p0", **WHERE).label == "cannot_say"


def test_the_cube_holds_what_the_table_says() -> None:
    made, rows = World(9, items=5, judges=2, conditions=2, repeats=2, lost=0.4).make()
    panel = build_panel(made, made.questions[0])
    cells = build_cells(rows, made.questions[0], made, panel)
    ids = made.items["item_id"].gather(panel.item_rows).to_list()
    keys = list(cells.frame.select("judge", "condition").iter_rows())
    seen = 0
    for row in rows.table.iter_rows(named=True):
        cell = cells.cube[keys.index((row["judge"], row["condition"])), ids.index(row["item_id"]), row["repeat"]]
        assert np.isnan(cell) if row["value"] is None else cell == row["value"]
        seen += row["value"] is not None
    assert np.isfinite(cells.cube).sum() == seen


def test_delta_sq_uses_the_items_own_variances() -> None:
    profile = run(WORLD.make())
    assert profile.get("delta_sq", **PAIR, **WHERE).value == pytest.approx(delta_sq(plain(WORLD)))


def test_one_item_has_no_interval() -> None:
    rows = [("a", "u", "us", 3.0), ("a", "v", "us", 4.0)]
    profile = run((corpus(rows), judgments(judged({"j": {"a": 2.0}}))))
    assert profile.estimates.filter(pl.col("low").is_not_null()).is_empty()
