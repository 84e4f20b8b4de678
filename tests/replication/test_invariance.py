"""What must not matter does not: planted truth, the order of the pair, of raters, items and cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.replication.reference_map import PLACE
from tests.replication.runs import COLUMNS, tables

import voirdire
from voirdire.simulation.demo import SEED, demo_world
from voirdire.simulation.tables import SimulatedTables, simulate_tables

pytestmark = pytest.mark.slow
Frames = dict[str, pl.DataFrame]
NUMBERS = ["value", "label", "undefined", "low", "high", "n", "excluded"]
SIGN_CHANGES = {"delta", "delta_sq", "tilt", "equalised.delta", "equalised.tilt", "delta_test.t", "pull.difference"}
SIGN_CHANGES |= {f"origin_effect.{name}" for name in ("coef", "t", "judge_t", "condition_difference")}
SIGN_CHANGES.add("origin_effect.pearson_difference")
SIGN_CHANGES |= {"orientation.contrast", "orientation.neutrality_t", "recognizability_bins.tilt"}
SPLIT = r"^(tilt|delta)_split\."
MIRRORED = ("orientation.w", "recognizability_bins.orientation.w")
ITERATIVE = r"^(orientation\.|tilt_split|delta_split)|orientation\.w"
DIRECTED = ("percent_of_human", "ceiling.other", "best_mae.percent_of_human", "best_mae.percent_cross_fitted")
OTHER_SIDE = {"nearer_a": "nearer_b", "nearer_b": "nearer_a", "toward_a": "toward_b", "toward_b": "toward_a"}
OTHER_SIDE |= {"oriented_a": "oriented_b", "oriented_b": "oriented_a"}
RANDOM = (
    "gap_test.",
    "split_half",
    "mae_vs_constant",
    "recalibrated_mae",
    "distribution.w1_floor",
    "distribution.js_floor",
    "tilt_noise",
)
BY_DRAWS = (
    r"^minimum_detectable|^pull(_p|\.crossing|\.larger)|_effect\.(shift_p|noise_floor|max_noise_floor)$|cross_fitted$"
)
DECIDED_BY_RANDOM = ("verdict", "gate")


@pytest.fixture(scope="module")
def frames() -> Frames:
    """The demonstration's world in three conditions: four questions, judges with missing ratings, repeats."""
    world = replace(demo_world(), conditions=demo_world().conditions[:3], repeats=2)
    characters = {name: replace(kind, malformed=0.03) for name, kind in world.judges.items()}
    world = replace(world, judges=characters)
    drawn: SimulatedTables = simulate_tables(world, SEED)
    names = ("ratings", "items", "questions", "judgments", "judges", "conditions")
    return {name: getattr(drawn, name) for name in names}


@pytest.fixture(scope="module")
def base(frames: Frames) -> pl.DataFrame:
    return run(frames)


def run(frames: Mapping[str, Any], **options: Any) -> pl.DataFrame:
    chosen = {"pairs": (("us", "cn"),), "draws": 40, "permutations": 20, **options}
    return voirdire.audit(**frames, **chosen).estimates.drop("signature").sort(PLACE)


def changes_sign() -> pl.Expr:
    """Whether a statistic changes its sign with the order of the pair; a change of T or W does, one of an error not."""
    name, of_pair = pl.col("statistic"), pl.col("params").str.contains(r"^of=(tilt|orientation\.w)")
    of_bins = name.str.contains(r"^recognizability_bins\..*w$") & pl.col("params").str.contains("low-high")
    return (
        name.is_in(SIGN_CHANGES) | name.str.contains(SPLIT) | of_bins | (name.str.ends_with("_effect.shift") & of_pair)
    )


def differences(first: pl.DataFrame, second: pl.DataFrame, columns: list[str], signs: bool = False) -> pl.DataFrame:
    """Rows of the first that have no like in the second; numbers to 1e-9, iterative fits to 1e-5."""
    both = first.join(second, on=list(PLACE), how="full", suffix="_other", coalesce=True, nulls_equal=True)
    assert first.height == second.height == both.height
    sign = pl.when(changes_sign() & signs).then(-1.0).otherwise(1.0)
    iterative = pl.col("statistic").str.contains(ITERATIVE) | pl.col("params").str.contains(ITERATIVE)
    equal = []
    for name in columns:
        one, other = pl.col(name), pl.col(f"{name}_other")
        if name in ("value", "low", "high"):
            near = (one - other * sign).abs() <= pl.when(iterative).then(1e-5).otherwise(1e-9)
            equal.append(
                near.fill_null(False) | (one == other * sign).fill_null(False) | (one.is_null() & other.is_null())
            )
        else:
            equal.append(one.eq_missing(other))
    return both.filter(~pl.all_horizontal(equal))


def steady(estimates: pl.DataFrame) -> pl.DataFrame:
    """The rows that draw nothing of their own (folds, halves, permutations, random judges) and are decided by none."""
    name, judge = pl.col("statistic"), pl.col("judge")
    drawn = [name.str.starts_with(start) for start in (*RANDOM, *DECIDED_BY_RANDOM)]
    return estimates.filter(~pl.any_horizontal(*drawn, judge == "control:random"))


def test_planted_truth_is_not_read(frames: Frames, base: pl.DataFrame) -> None:
    rng = np.random.default_rng(1)
    n = frames["items"].height
    truth = [pl.Series(f"true_mu_{pool}", rng.uniform(1, 5, n).round(4)) for pool in ("us", "cn")]
    planted = frames | {"items": frames["items"].with_columns(truth)}
    shuffled = frames | {"items": frames["items"].with_columns(column.shuffle(seed=2) for column in truth)}
    for changed in (planted, shuffled):
        assert differences(base, run(changed), NUMBERS).is_empty()


def test_planted_truth_of_the_simulated_corpus_is_not_read(simulated: Path) -> None:
    files = tables(simulated)
    read = {name: pl.read_csv(path) for name, path in files.items()}
    kept = read["items"].filter(pl.col("pair_id").str.slice(-1) == "3")
    some = kept["item_id"].implode()
    for name in ("ratings", "judgments"):
        read[name] = read[name].filter(pl.col("item_id").is_in(some))
    read["judgments"] = read["judgments"].filter(pl.col("design") == "base")
    names = [name for name in kept.columns if name.startswith("true_")]
    assert names == ["true_mu_us", "true_mu_cn"]
    shuffled = kept.with_columns(pl.col(name).shuffle(seed=3) for name in names)
    assert not shuffled.equals(kept)
    first, second = (run(read | {"items": items}, question_columns=COLUMNS) for items in (kept, shuffled))
    assert differences(first, second, NUMBERS).is_empty()


def test_the_other_order_of_the_pair(frames: Frames, base: pl.DataFrame) -> None:
    """Signed statistics change sign (and interval ends change places), all others keep their value."""
    swapped = run(frames, pairs=(("cn", "us"),))
    directed = pl.col("statistic").is_in(DIRECTED) | (pl.col("pool_b") == "")
    a, b = pl.col("pool"), pl.col("pool_b")
    turned = swapped.with_columns(
        pl.when(directed).then(a).otherwise(b).alias("pool"), pl.when(directed).then(b).otherwise(a).alias("pool_b")
    )
    signed = changes_sign()
    mirrored = pl.col("statistic").is_in(MIRRORED) & ~signed
    value, low, high = pl.col("value"), pl.col("low"), pl.col("high")
    turned = turned.with_columns(
        pl.when(mirrored).then(1 - value).otherwise(value).alias("value"),
        pl.when(signed).then(high).when(mirrored).then(1 - high).otherwise(low).alias("low"),
        pl.when(signed).then(low).when(mirrored).then(1 - low).otherwise(high).alias("high"),
        pl.col("label").replace(OTHER_SIDE),
        pl.col("judge").str.replace("midpoint_cn_us", "midpoint_us_cn"),
    )
    first, second = (steady(frame) for frame in (base, turned))
    wrong = differences(first, second, NUMBERS, signs=True)
    assert wrong.is_empty(), wrong.select(*PLACE, "value", "value_other", "low", "low_other")
    assert first.filter(pl.col("statistic").is_in(SIGN_CHANGES), pl.col("value") != 0).height > 500


def test_the_order_of_all_tables(frames: Frames, base: pl.DataFrame) -> None:
    """Rows of every table in another order: nothing changes, draws included."""
    mixed = {
        name: frame.sample(fraction=1, shuffle=True, seed=5) for name, frame in frames.items() if name != "questions"
    }
    wrong = differences(base, run(mixed), NUMBERS)
    assert wrong.is_empty(), wrong.select(*PLACE, "value", "value_other", "low", "low_other")


def test_the_names_of_raters(frames: Frames, base: pl.DataFrame) -> None:
    """Raters under each other's names: values stay; what draws raters may draw others."""
    raters = frames["ratings"]["rater_id"].unique().sort()
    names = dict(zip(raters, [f"r-{name}" for name in raters.shuffle(seed=4)], strict=True))
    renamed = {"ratings": frames["ratings"].with_columns(pl.col("rater_id").replace_strict(names))}
    wrong = differences(steady(base), steady(run(frames | renamed)), NUMBERS)
    assert wrong.is_empty(), wrong.select(*PLACE, "value", "value_other", "low", "low_other")


def test_the_names_of_items(frames: Frames, base: pl.DataFrame) -> None:
    """Items under each other's names: values stay; draws fall on other items."""
    ids = frames["items"]["item_id"]
    names = dict(zip(ids, ids.shuffle(seed=6), strict=True))
    tables = ("ratings", "items", "judgments")
    renamed = {name: frames[name].with_columns(pl.col("item_id").replace_strict(names)) for name in tables}
    columns = ["value", "label", "undefined", "n", "excluded"]
    by_draws = pl.col("statistic").str.contains(BY_DRAWS)
    first, second = (steady(frame).filter(~by_draws) for frame in (base, run(frames | renamed)))
    wrong = differences(first, second, columns)
    assert wrong.is_empty(), wrong.select(*PLACE, "value", "value_other")
