"""Pull of a persona, crossing of 0, matched personas: against plain loops, and where there is nothing to compare."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.multitest import multipletests
from tests.experiment.factorial import Factorial, Row, found, undefined

from voirdire.analysis.experiment.orientation.rows import add_orientation
from voirdire.analysis.experiment.persona_match import add_floor_gap, add_persona_match
from voirdire.analysis.experiment.personas import add_personas
from voirdire.analysis.experiment.personas_w import add_w_pulls
from voirdire.stats.resampling import item_weights

WORLD = Factorial(lost=0.05, drop=lambda judge, levels: judge == "j1" and levels["language"] == "zh")
PARTS = (add_personas, add_persona_match, add_floor_gap)
JUDGES = ("*", "j0", "j1", "j2", "origin=us", "origin=cn")
SLICES = ("all", "culture=us", "culture=cn")
DRAWS = 60
PAIR = ("us", "cn")


@pytest.fixture(scope="module")
def profile() -> pl.DataFrame:
    return WORLD.run(*PARTS, draws=DRAWS)


def pull(world: Factorial, judge: str, slice_name: str, design: str, toward: str) -> float:
    neutral = world.tilt(world.select(slice_name, judge, persona="none", design=design))
    persona = world.tilt(world.select(slice_name, judge, persona=toward, design=design))
    return persona - neutral if toward == "us" else neutral - persona


def test_pull_is_that_of_a_loop(profile: pl.DataFrame) -> None:
    for toward in ("us", "cn"):
        rows = found(profile, "pull", params=f"toward={toward},of=tilt", pool="us", pool_b="cn")
        assert len(rows) == len(JUDGES) * len(SLICES) * 2
        for (judge, condition, slice_name), row in rows.items():
            expected = pull(WORLD, judge, slice_name, condition.removeprefix("design="), toward)
            assert row["value"] == pytest.approx(expected, abs=1e-9)
            assert row["low"] < row["high"]


def test_difference_is_toward_the_first_less_toward_the_second(profile: pl.DataFrame) -> None:
    toward = {pool: found(profile, "pull", params=f"toward={pool},of=tilt") for pool in ("us", "cn")}
    for place, row in found(profile, "pull.difference").items():
        assert row["value"] == pytest.approx(toward["us"][place]["value"] - toward["cn"][place]["value"], abs=1e-9)


def test_interval_is_that_of_a_loop_over_the_same_draws(profile: pl.DataFrame) -> None:
    """Both sides of the difference are drawn together."""
    row = found(profile, "pull", params="toward=us,of=tilt")["j0", "design=base", "culture=cn"]
    items = [item for item in range(WORLD.n_items) if WORLD.culture(item) == "cn"]
    rng = np.random.default_rng([0, zlib.crc32(b"q1/items/culture=cn")])
    draws = []
    for times in item_weights(len(items), DRAWS, rng):
        weight = dict(zip(items, times, strict=True))
        sides = []
        for persona in ("us", "none"):
            rows = WORLD.select("culture=cn", "j0", persona=persona, design="base")
            sides.append(WORLD.tilt([copy for entry in rows for copy in [entry] * int(weight[entry.item])]))
        draws.append(sides[0] - sides[1])
    assert (row["low"], row["high"]) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=1e-9)


def test_adjusted_p_are_over_the_judges(profile: pl.DataFrame) -> None:
    place = {"params": "toward=cn,of=tilt"}
    raw = found(profile, "pull_p", **place)
    judges = ("j0", "j1", "j2")
    for name, method in (("holm", "holm"), ("bh", "fdr_bh")):
        adjusted = found(profile, f"pull_p_{name}", **place)
        assert {judge for judge, *_ in adjusted} == set(judges)
        for slice_name in SLICES:
            p = [raw[judge, "design=base", slice_name]["value"] for judge in judges]
            expected = multipletests(p, method=method)[1]
            assert [adjusted[judge, "design=base", slice_name]["value"] for judge in judges] == pytest.approx(expected)


def follower(rng: np.random.Generator, judge: str, levels: Mapping[str, str], pools: np.ndarray) -> np.ndarray:
    """j0 goes from the Chinese pool to the American, j1 stays with the Chinese, j2 is anywhere."""
    us, cn = pools
    target = us if levels["persona"] == "us" and judge == "j0" else cn
    return rng.integers(1, 6, len(us)).astype(float) if judge == "j2" else np.rint(target)


def test_crossing_and_the_larger_pull() -> None:
    profile = Factorial(judge=follower).run(*PARTS, draws=DRAWS)
    crossing = found(profile, "pull.crossing", params="toward=us,of=tilt")
    labels = {judge: crossing[judge, "design=base", "all"]["label"] for judge in ("j0", "j1", "j2")}
    assert labels == {"j0": "yes", "j1": "no", "j2": "not_shown"}
    larger = found(profile, "pull.larger")
    assert larger["j0", "design=base", "all"]["label"] == "toward_a"
    assert larger["j1", "design=base", "all"]["label"] == "not_shown"


def test_the_other_order_of_the_pools() -> None:
    first, second = (
        Factorial(judge=follower).run(*PARTS, draws=DRAWS, pairs=(pair,)) for pair in (("us", "cn"), ("cn", "us"))
    )
    for toward in ("us", "cn"):
        rows = [found(profile, "pull", params=f"toward={toward},of=tilt") for profile in (first, second)]
        assert [row["value"] for row in rows[0].values()] == pytest.approx([row["value"] for row in rows[1].values()])
    place = ("j0", "design=base", "all")
    values = [found(profile, "pull.difference")[place]["value"] for profile in (first, second)]
    assert values[0] == pytest.approx(-values[1])
    assert [found(p, "pull.larger")[place]["label"] for p in (first, second)] == ["toward_a", "toward_b"]


def test_a_judge_without_the_neutral_condition() -> None:
    world = Factorial(drop=lambda judge, levels: judge == "j2" and levels["persona"] == "none")
    profile = world.run(*PARTS)
    rows = found(profile, "pull", params="toward=us,of=tilt")
    assert {rows["j2", "design=base", name]["undefined"] for name in SLICES} == {"no_cells"}
    crossing = found(profile, "pull.crossing", params="toward=us,of=tilt")
    assert crossing["j2", "design=base", "all"]["undefined"] == "no_cells"
    assert rows["*", "design=base", "all"]["value"] == pytest.approx(pull(world, "*", "all", "base", "us"))
    family = found(profile, "pull_p_holm", params="toward=us,of=tilt")["j0", "design=base", "all"]
    assert "family=2" in family["signature"]


def test_without_draws_nothing_is_shown() -> None:
    profile = Factorial(n_items=9).run(*PARTS, draws=0)
    assert undefined(profile, "pull.crossing") == undefined(profile, "pull_p") == {"no_draws"}
    assert undefined(profile, "pull") == {None}


def test_pools_that_agree_everywhere() -> None:
    world = Factorial()
    world.raters["cn"] = world.raters["us"]
    assert undefined(world.run(*PARTS), "pull") == {"equal_consensuses"}


def test_only_pools_with_a_persona_pull() -> None:
    profile = Factorial(pools=("us", "cn", "jp"), n_items=12).run(*PARTS)
    pulls = profile.filter(pl.col("statistic") == "pull").select("params", "pool", "pool_b").unique()
    assert set(pulls.iter_rows()) == {
        ("toward=us,of=tilt", "us", "cn"), ("toward=cn,of=tilt", "us", "cn"), ("toward=us,of=tilt", "us", "jp"),
        ("toward=cn,of=tilt", "cn", "jp"),
    }  # fmt: skip
    assert {row["pool_b"] for row in found(profile, "pull.larger").values()} == {"cn"}


def test_no_persona_no_rows() -> None:
    world = Factorial(drop=lambda judge, levels: levels["persona"] != "none")
    names = set(world.run(*PARTS)["statistic"])
    assert not {name for name in names if name.startswith(("pull", "persona_match", "floor_gap"))}


def own_mae(world: Factorial, judge: str, design: str, *, matched: bool, culture: str | None = None) -> float:
    rows: list[Row] = [
        row
        for row in world.select(judge=judge, design=design)
        if row.levels["persona"] != "none"
        and (row.levels["persona"] == world.culture(row.item)) == matched
        and culture in (None, world.culture(row.item))
    ]
    return float(np.mean([abs(row.rating - world.consensus[world.culture(row.item)][row.item]) for row in rows]))


def test_matched_personas_are_those_of_a_loop(profile: pl.DataFrame) -> None:
    difference = found(profile, "persona_match.difference")
    for part in ("matched", "mismatched"):
        rows = found(profile, f"persona_match.{part}")
        assert len(rows) == len(JUDGES) * len(SLICES) * 2
        for (judge, condition, slice_name), row in rows.items():
            culture = None if slice_name == "all" else slice_name.removeprefix("culture=")
            design = condition.removeprefix("design=")
            expected = own_mae(WORLD, judge, design, matched=part == "matched", culture=culture)
            assert row["value"] == pytest.approx(expected, abs=1e-9)
            assert row["pool"] == (culture or "")
    for place, row in difference.items():
        sides = [found(profile, f"persona_match.{part}")[place]["value"] for part in ("mismatched", "matched")]
        assert row["value"] == pytest.approx(sides[0] - sides[1], abs=1e-9)
        assert row["low"] < row["value"] < row["high"]


def test_cultures_are_pools_in_any_case() -> None:
    world = Factorial(cultures=("US", "Cn"))
    assert len(found(world.run(*PARTS), "persona_match.difference")) == len(JUDGES) * 3 * 2


def test_no_culture_is_a_pool() -> None:
    profile = Factorial(cultures=("north", "south")).run(*PARTS)
    assert undefined(profile, "persona_match.difference") == {"no_culture_of_a_pool"}


def test_a_culture_that_is_no_pool_is_left_out() -> None:
    world = Factorial(cultures=("us", "cn", "south"))
    row = found(world.run(*PARTS), "persona_match.matched")["*", "design=base", "all"]
    rows = [
        entry
        for entry in world.select(design="base")
        if entry.levels["persona"] == world.culture(entry.item) and world.culture(entry.item) != "south"
    ]
    assert row["n"] == len(rows)
    errors = [abs(entry.rating - world.consensus[world.culture(entry.item)][entry.item]) for entry in rows]
    assert row["value"] == pytest.approx(np.mean(errors))


def test_intervals_of_drawn_raters() -> None:
    profile = Factorial(n_items=12).run(*PARTS, resample="items+raters")
    rows = profile.filter(pl.col("statistic").is_in(["pull", "persona_match.difference", "floor_gap"]))
    assert rows["low"].null_count() == rows.height > 0
    assert rows["signature"].str.contains("few_raters").all()


def test_intervals_of_enough_drawn_raters() -> None:
    profile = Factorial(n_items=12, n_raters=6).run(*PARTS, resample="items+raters")
    rows = profile.filter(pl.col("statistic").is_in(["pull", "persona_match.difference"]), pl.col("slice") == "all")
    assert rows["low"].null_count() == 0
    assert rows["signature"].str.contains(r"unit=items%2Braters|items\+raters").all()
    p = found(profile, "pull_p", params="toward=us,of=tilt")["*", "design=base", "all"]
    by_items = found(Factorial(n_items=12, n_raters=6).run(*PARTS), "pull_p", params="toward=us,of=tilt")
    assert p["value"] == pytest.approx(by_items["*", "design=base", "all"]["value"])


def test_floor_gap_is_that_of_a_loop(profile: pl.DataFrame) -> None:
    seen = 0
    for pool in ("us", "cn"):
        for (judge, condition, slice_name), row in found(profile, "floor_gap", pool=pool).items():
            assert (judge, row["pool"]) == ("*", pool)
            assert condition.startswith(f"{pool}_")
            rows = [
                entry
                for entry in WORLD.select(slice_name, design="base")
                if entry.condition == condition and WORLD.consensus[pool][entry.item] <= 2 + 1e-9
            ]
            if not rows:
                assert row["undefined"] == "no_low_items"
                continue
            seen += 1
            gaps = [entry.rating - WORLD.consensus[pool][entry.item] for entry in rows]
            assert row["value"] == pytest.approx(np.mean(gaps), abs=1e-9)
            assert row["n"] == len(rows)
    assert seen > 8


def test_pull_of_w_is_that_of_the_orientations() -> None:
    """From the W of each selection, which 0 puts at the first pool and 1 at the second."""
    world = Factorial(seed=2, n_items=60, designs=("base",))
    rows = world.run(add_orientation, add_w_pulls)
    w = {key: row["value"] for key, row in found(rows, "orientation.w", params="", slice="all").items()}
    for toward, sign in (("us", -1), ("cn", 1)):
        pulls = found(rows, "pull", params=f"toward={toward},of=orientation.w")
        for judge in JUDGES:
            row = pulls[judge, "*", "all"]
            expected = sign * (w[judge, f"persona={toward}", "all"] - w[judge, "persona=none", "all"])
            assert row["value"] == pytest.approx(expected, abs=1e-9)
            assert row["low"] < row["value"] < row["high"]
    assert pulls["*", "*", "all"]["low"] > 0
    sides = [found(rows, "pull", params=f"toward={pool},of=orientation.w")["j0", "*", "all"]["value"] for pool in PAIR]
    difference = found(rows, "pull.difference", params="of=orientation.w")["j0", "*", "all"]
    assert difference["value"] == pytest.approx(sides[0] - sides[1])


def test_w_crosses_one_half() -> None:
    rows = Factorial(n_items=90, judge=follower, designs=("base",)).run(add_w_pulls)
    crossing = found(rows, "pull.crossing", params="toward=us,of=orientation.w")
    assert crossing["j0", "*", "all"]["label"] == "yes"
    assert crossing["j1", "*", "all"]["label"] == "no"
    assert found(rows, "pull.larger", params="of=orientation.w")["j0", "*", "all"]["label"] == "toward_a"
