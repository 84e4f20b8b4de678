"""Matched changes of a language, a detail or another factor: against plain loops, and what noise makes of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from tests.experiment.factorial import Factorial, Row, found, undefined

from voirdire.analysis.experiment.factor_effects import add_factor_effects
from voirdire.analysis.experiment.orientation.rows import add_orientation
from voirdire.stats.resampling import item_weights

WORLD = Factorial(lost=0.04, drop=lambda judge, levels: judge == "j1" and levels["language"] == "zh")
JUDGES = ("*", "j0", "j1", "j2")
SLICES = ("all", "culture=us", "culture=cn")
DRAWS = 40


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return WORLD.run(add_factor_effects, draws=DRAWS)


def cell(world: Factorial, of: str, entries: list[Row], pool: str) -> float:
    if of == "tilt":
        return world.tilt(entries)
    return world.mae(entries, pool) if of == "mae" else world.pearson(entries, pool)


def pairs(world: Factorial, factor: str, slice_name: str, judge: str, design: str) -> Iterator[list[list[Row]]]:
    """The two cells of every matched change, as rows."""
    cells: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for row in world.select(slice_name, judge, design=design):
        rest = tuple(level for name, level in row.levels.items() if name != factor)
        cells.setdefault((row.judge, *rest), {}).setdefault(row.levels[factor], []).append(row)
    for levels in cells.values():
        yield from ([levels[first], levels[second]] for first, second in combinations(sorted(levels), 2))


def changes(world: Factorial, of: str, factor: str, slice_name: str, judge: str, design: str, pool: str) -> np.ndarray:
    """Second level less first, of every matched change."""
    sides = pairs(world, factor, slice_name, judge, design)
    return np.array([cell(world, of, second, pool) - cell(world, of, first, pool) for first, second in sides])


@pytest.mark.parametrize(("name", "factor"), [("language_effect", "language"), ("detail_effect", "detail")])
@pytest.mark.parametrize("of", ["pearson", "mae", "tilt"])
def test_changes_are_those_of_a_loop(rows: pl.DataFrame, name: str, factor: str, of: str) -> None:
    for pool in ("us",) if of == "tilt" else ("us", "cn"):
        place = {"params": f"of={of}", "pool": pool}
        mean, largest = (found(rows, f"{name}.{part}", **place) for part in ("mean", "max"))
        means = found(rows, f"{name}.of_means", **place)
        assert len(mean) == len(JUDGES) * len(SLICES) * 2
        for (judge, condition, slice_name), row in mean.items():
            moved = changes(WORLD, of, factor, slice_name, judge, condition.removeprefix("design="), pool)
            if not moved.size:
                assert row["undefined"] == "no_matched_cells"
                assert (judge, factor) == ("j1", "language")
                continue
            key = (judge, condition, slice_name)
            assert row["n"] == moved.size
            assert row["value"] == pytest.approx(np.abs(moved).mean(), abs=1e-9)
            assert largest[key]["value"] == pytest.approx(np.abs(moved).max(), abs=1e-9)
            assert means[key]["value"] == pytest.approx(abs(moved.mean()), abs=1e-9)
            assert means[key]["n"] == 2 * moved.size


def test_no_level_without_its_counterpart_takes_part(rows: pl.DataFrame) -> None:
    """Cells without a persona have no detail, so nothing of theirs is compared."""
    between = rows.filter(pl.col("statistic") == "detail_effect.shift")["params"].unique().to_list()
    assert {params.split(",", 1)[1] for params in between} == {"from=advanced,to=basic"}
    assert found(rows, "detail_effect.mean", params="of=mae", pool="us")["*", "design=base", "all"]["n"] == 10


def test_shift_has_the_interval_of_paired_draws(rows: pl.DataFrame) -> None:
    place = {"params": "of=mae,from=en,to=zh", "pool": "us"}
    row = found(rows, "language_effect.shift", **place)["j0", "design=base", "all"]
    sides = list(pairs(WORLD, "language", "all", "j0", "base"))
    draws = []
    for times in item_weights(WORLD.n_items, DRAWS, np.random.default_rng([0, zlib.crc32(b"q1/items/all")])):
        moved = [
            [WORLD.mae([copy for entry in side for copy in [entry] * int(times[entry.item])], "us") for side in pair]
            for pair in sides
        ]
        draws.append(np.mean([second - first for first, second in moved]))
    assert row["value"] == pytest.approx(changes(WORLD, "mae", "language", "all", "j0", "base", "us").mean())
    assert (row["low"], row["high"]) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=1e-9)
    p = found(rows, "language_effect.shift_p", **place)["j0", "design=base", "all"]["value"]
    assert 0 < p < 1


def noise(rng: np.random.Generator, judge: str, levels: Mapping[str, str], pools: np.ndarray) -> np.ndarray:
    """Every cell alike but for its own noise."""
    return np.clip(np.rint(pools.mean(0) + rng.normal(0, 0.9, pools.shape[1])), 1, 5)


def test_noise_alone_reaches_its_floor_and_no_more() -> None:
    """Fifteen changes of nothing but noise: mean and maximum near what the draws of items make of it."""
    world = Factorial(seed=3, n_items=90, judge=noise, designs=("base",))
    rows = world.run(add_factor_effects, draws=100)
    for part, floor in (("mean", "noise_floor"), ("max", "max_noise_floor")):
        ratio = [
            found(rows, f"language_effect.{part}", params=f"of={of}", pool="us")["*", "*", "all"]["value"]
            / found(rows, f"language_effect.{floor}", params=f"of={of}", pool="us")["*", "*", "all"]["value"]
            for of in ("pearson", "mae", "tilt")
        ]
        assert 0.6 < np.mean(ratio) < 1.5


def lenient_in_chinese(
    rng: np.random.Generator, judge: str, levels: Mapping[str, str], pools: np.ndarray
) -> np.ndarray:
    """Two levels higher in one language."""
    return np.clip(noise(rng, judge, levels, pools) + 2 * (levels["language"] == "zh"), 1, 5)


def test_a_change_stands_out_of_the_noise() -> None:
    rows = Factorial(judge=lenient_in_chinese, n_items=60, designs=("base",)).run(add_factor_effects, draws=60)
    place = ("*", "*", "all")
    values = {
        part: found(rows, f"language_effect.{part}", params="of=mae", pool="us")[place]["value"]
        for part in ("mean", "max", "noise_floor", "max_noise_floor")
    }
    assert values["mean"] > 2 * values["noise_floor"]
    assert values["max"] > values["max_noise_floor"]
    assert values["mean"] <= values["max"]


def sometimes_constant(
    rng: np.random.Generator, judge: str, levels: Mapping[str, str], pools: np.ndarray
) -> np.ndarray:
    """j0 gives one rating everywhere in one of its cells."""
    if (judge, levels["persona"], levels["language"]) == ("j0", "none", "en"):
        return np.full(pools.shape[1], 3.0)
    return noise(rng, judge, levels, pools)


def test_a_cell_without_a_value_is_counted_out() -> None:
    rows = Factorial(judge=sometimes_constant, designs=("base",)).run(add_factor_effects)
    row = found(rows, "language_effect.mean", params="of=pearson", pool="us")["j0", "*", "all"]
    assert (row["n"], row["excluded"]) == (4, "cell_undefined=1")
    means = found(rows, "language_effect.of_means", params="of=pearson", pool="us")["j0", "*", "all"]
    assert means["n"] == 8
    assert found(rows, "language_effect.mean", params="of=mae", pool="us")["j0", "*", "all"]["n"] == 5


def test_three_levels_are_compared_in_pairs() -> None:
    world = Factorial(languages=("en", "zh", "fr"), designs=("base",), n_items=12)
    rows = world.run(add_factor_effects)
    moved = changes(world, "mae", "language", "all", "j0", "base", "cn")
    assert moved.size == 15
    row = found(rows, "language_effect.mean", params="of=mae", pool="cn")["j0", "*", "all"]
    assert (row["n"], row["value"]) == (15, pytest.approx(np.abs(moved).mean()))
    shifts = rows.filter(pl.col("statistic") == "language_effect.shift")["params"].unique()
    between = {tuple(params.split(",")[1:]) for params in shifts}
    assert between == {("from=en", "to=fr"), ("from=en", "to=zh"), ("from=fr", "to=zh")}


def test_another_factor_under_its_own_name() -> None:
    options = {"factor_roles": (("language", "design"), ("demonstrations", "language"))}
    rows = Factorial(n_items=9).run(add_factor_effects, **options)
    assert rows.filter(pl.col("statistic") == "language_effect.mean").height
    rows = Factorial(n_items=9).run(add_factor_effects, factor_roles=(("demonstrations", "language"),))
    assert set(rows.filter(pl.col("statistic") == "factor_effect.mean")["params"]) == {
        f"of={of},factor=design" for of in ("pearson", "mae", "tilt", "orientation.w")
    }


def test_without_draws_there_is_no_floor() -> None:
    rows = Factorial(n_items=9).run(add_factor_effects, draws=0)
    rows = rows.filter(pl.col("params") == "of=mae")
    assert undefined(rows, "language_effect.noise_floor") == {"no_draws"}
    assert undefined(rows, "language_effect.mean") == {None}


def test_no_two_cells_match() -> None:
    world = Factorial(drop=lambda judge, levels: (judge == "j0") != (levels["language"] == "en"), designs=("base",))
    rows = world.run(add_factor_effects)
    assert undefined(rows, "language_effect.mean") == {"no_matched_cells"}
    assert rows.filter(pl.col("statistic") == "language_effect.shift").is_empty()


def test_no_factor_no_rows() -> None:
    world = Factorial(languages=("en",), designs=("base",), drop=lambda judge, levels: levels["detail"] == "advanced")
    rows = world.run(add_factor_effects)
    assert not {name for name in rows["statistic"] if name.startswith(("language", "factor"))}


def test_changes_of_w_are_those_of_its_cells() -> None:
    """Cells without a W take part in none; the signed change is that of the mean over the others."""
    world = Factorial(seed=5, n_items=60, judges={"j0": "us", "j1": "cn"}, designs=("base",))
    rows = world.run(add_orientation, add_factor_effects, draws=60)
    w = {key: row["value"] for key, row in found(rows, "orientation.w", params="", slice="all").items()}
    moved = []
    for condition, levels in world.conditions():
        if levels["language"] == "en":
            other = condition.replace("_en_", "_zh_")
            moved += [w[judge, other, "all"] - w[judge, condition, "all"] for judge in world.judges]
    assert len(moved) == 10
    place = ("*", "*", "all")
    mean, largest, shift = (
        found(rows, f"language_effect.{part}", params=f"of=orientation.w{between}")[place]
        for part, between in (("mean", ""), ("max", ""), ("shift", ",from=en,to=zh"))
    )
    assert mean["value"] == pytest.approx(np.abs(moved).mean(), abs=1e-9)
    assert largest["value"] == pytest.approx(np.abs(moved).max(), abs=1e-9)
    assert shift["low"] < shift["value"] < shift["high"]
    floor = found(rows, "language_effect.noise_floor", params="of=orientation.w")[place]["value"]
    assert 0.4 < mean["value"] / floor < 2.5
