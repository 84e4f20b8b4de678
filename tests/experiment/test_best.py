"""The best condition of each judge: against plain loops, and by name where conditions tie."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.analysis.builders import corpus, judged, judgments, rated, run
from tests.experiment.factorial import Factorial, Row, found, undefined

from voirdire.analysis.experiment.best import MOST_DRAWS, SPLITS, add_best
from voirdire.analysis.experiment.best_kappa import add_best_kappa
from voirdire.stats.cross_fit import halves

WORLD = Factorial(lost=0.04, drop=lambda judge, levels: judge == "j1" and levels["persona"] == "cn")
PARTS = (add_best, add_best_kappa)
JUDGES = ("j0", "j1", "j2")
SLICES = ("all", "culture=us", "culture=cn")
BLOCKS = ("design=base", "design=aa", "*")


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return WORLD.run(*PARTS)


def cells(world: Factorial, slice_name: str, judge: str, block: str) -> dict[tuple[str, str], list[Row]]:
    """(judge, condition) -> its rows."""
    levels = {} if block == "*" else {"design": block.removeprefix("design=")}
    by_cell: dict[tuple[str, str], list[Row]] = {}
    for row in world.select(slice_name, judge, **levels):
        by_cell.setdefault((row.judge, row.condition), []).append(row)
    return by_cell


def test_raw_minimum_and_its_condition_are_those_of_a_loop(rows: pl.DataFrame) -> None:
    for pool in ("us", "cn"):
        value, label = (found(rows, f"best_mae.{name}", pool=pool) for name in ("value", "condition"))
        assert len(value) == (len(JUDGES) + 1) * len(BLOCKS) * len(SLICES)
        for judge, block, slice_name in label:
            maes = {
                name: WORLD.mae(entries, pool) for (_, name), entries in cells(WORLD, slice_name, judge, block).items()
            }
            least = min(maes.values())
            row = value[judge, block, slice_name]
            assert row["value"] == pytest.approx(least, abs=1e-9)
            assert row["low"] is None
            winner = label[judge, block, slice_name]["label"]
            assert winner == min(name for name, mae in maes.items() if mae <= least + 1e-9)
            assert row["n"] == len(cells(WORLD, slice_name, judge, block)[judge, winner])


def test_average_and_lowest(rows: pl.DataFrame) -> None:
    value, lowest = (found(rows, f"best_mae.{name}", pool="us") for name in ("value", "lowest"))
    label = found(rows, "best_mae.lowest_cell", pool="us")
    for (_, block, slice_name), row in lowest.items():
        mine = [value[judge, block, slice_name]["value"] for judge in JUDGES]
        assert row["value"] == pytest.approx(min(mine))
        average = value["*", block, slice_name]
        assert (average["value"], average["n"]) == (pytest.approx(np.mean(mine)), 3)
        judge, condition = label["*", block, slice_name]["label"].split("|")
        entries = cells(WORLD, slice_name, judge, block)[judge, condition]
        assert WORLD.mae(entries, "us") == pytest.approx(row["value"])


def test_percent_is_of_the_gap_on_the_same_items(rows: pl.DataFrame) -> None:
    for pool, other in (("us", "cn"), ("cn", "us")):
        label = found(rows, "best_mae.condition", pool=pool)
        for (judge, block, slice_name), row in found(
            rows, "best_mae.percent_of_human", pool=pool, pool_b=other
        ).items():
            if judge == "*":
                continue
            winner = label[judge, block, slice_name]["label"]
            entries = cells(WORLD, slice_name, judge, block)[judge, winner]
            gap = np.mean([abs(WORLD.consensus["us"][row.item] - WORLD.consensus["cn"][row.item]) for row in entries])
            assert row["value"] == pytest.approx(100 * WORLD.mae(entries, pool) / gap, abs=1e-9)


def split_of(world: Factorial, slice_name: str) -> tuple[list[int], np.ndarray]:
    """The items of a slice, and the halves that the audit draws."""
    items = [item for item in range(world.n_items) if slice_name in ("all", f"culture={world.culture(item)}")]
    strata = [f"{world.culture(item)}{world.category(item)}" for item in items]
    order = {name: k for k, name in enumerate(sorted(set(strata)))}
    codes = np.array([order[name] for name in strata])
    rng = np.random.default_rng([0, zlib.crc32(f"q1/best_mae/{slice_name}".encode())])
    return items, halves(codes, SPLITS, rng)


def test_cross_fitted_is_that_of_a_loop(rows: pl.DataFrame) -> None:
    for slice_name in SLICES:
        items, split = split_of(WORLD, slice_name)
        for judge in JUDGES:
            by_cell = cells(WORLD, slice_name, judge, "design=base")
            scores = []
            for half in split:
                for mine in (half, ~half):
                    chosen = {item for item, inside in zip(items, mine, strict=True) if inside}
                    means = []
                    for entries in by_cell.values():
                        sides = [[row for row in entries if (row.item in chosen) == inside] for inside in (True, False)]
                        means.append([WORLD.mae(side, "cn") for side in sides])
                    least = min(own for own, _ in means)
                    scores.append(np.mean([other for own, other in means if own <= least + 1e-9]))
            row = found(rows, "best_mae.cross_fitted", pool="cn")[judge, "design=base", slice_name]
            assert row["value"] == pytest.approx(np.mean(scores), abs=1e-9)
            assert row["low"] < row["value"] < row["high"]


def test_percent_cross_fitted_is_the_value_over_the_gap(rows: pl.DataFrame) -> None:
    value = found(rows, "best_mae.cross_fitted", pool="us")
    percent = found(rows, "best_mae.percent_cross_fitted", pool="us", pool_b="cn")
    for place, row in percent.items():
        items = [item for item in range(WORLD.n_items) if place[2] in ("all", f"culture={WORLD.culture(item)}")]
        gap = np.mean([abs(WORLD.consensus["us"][item] - WORLD.consensus["cn"][item]) for item in items])
        assert row["value"] == pytest.approx(100 * value[place]["value"] / gap)
        assert row["low"] < row["value"] < row["high"]


def test_the_average_has_an_interval_of_its_own(rows: pl.DataFrame) -> None:
    """Judges share their items, so that of the average is narrower than the widest and holds the average."""
    fitted = found(rows, "best_mae.cross_fitted", pool="us")
    average = fitted["*", "design=base", "all"]
    each = [fitted[judge, "design=base", "all"] for judge in JUDGES]
    assert average["value"] == pytest.approx(np.mean([row["value"] for row in each]))
    assert average["high"] - average["low"] < max(row["high"] - row["low"] for row in each)


def test_definitions_say_how(rows: pl.DataFrame) -> None:
    printed = found(rows, "best_mae.cross_fitted", pool="us")["j0", "*", "all"]["signature"]
    for part in (f"splits={SPLITS}", "interval=t", "unit=items", "draws=20", "seed=0", "split_seed=0"):
        assert part in printed
    assert MOST_DRAWS == 500


def equal(rng: np.random.Generator, judge: str, levels: Mapping[str, str], pools: np.ndarray) -> np.ndarray:
    """The same ratings in every condition."""
    return np.rint(pools[0])


def test_conditions_that_tie_are_taken_by_name() -> None:
    rows = Factorial(judge=equal, n_items=12).run(add_best, draws=0)
    labels = set(rows.filter(pl.col("statistic") == "best_mae.condition", pl.col("condition") == "*")["label"])
    assert labels == {min(name for name, _ in Factorial().conditions())}
    value, fitted = (found(rows, f"best_mae.{name}", pool="us") for name in ("value", "cross_fitted"))
    for place, row in fitted.items():
        assert row["low"] is None
        assert row["value"] >= value[place]["value"] - 1e-9


def test_kappa_is_the_largest_of_all_cells(rows: pl.DataFrame) -> None:
    for block in BLOCKS:
        kappas = {}
        for pool in ("us", "cn"):
            for (judge, condition), entries in cells(WORLD, "all", "*", block).items():
                rounded = [int(np.floor(WORLD.consensus[pool][row.item] + 0.5 + 1e-9)) for row in entries]
                ratings = [int(row.rating) for row in entries]
                value = cohen_kappa_score(ratings, rounded, weights="quadratic", labels=[1, 2, 3, 4, 5])
                kappas[pool, f"{judge}|{condition}"] = value
        for pool in ("us", "cn"):
            mine = {cell: value for (of, cell), value in kappas.items() if of == pool}
            assert found(rows, "best_kappa.value", pool=pool)["*", block, "all"]["value"] == pytest.approx(
                max(mine.values())
            )
            assert found(rows, "best_kappa.cell", pool=pool)["*", block, "all"]["label"] == max(
                mine, key=mine.__getitem__
            )
        pool, cell = max(kappas, key=kappas.__getitem__)
        assert found(rows, "best_kappa.value", pool="")["*", block, "all"]["value"] == pytest.approx(kappas[pool, cell])
        assert found(rows, "best_kappa.pool")["*", block, "all"]["label"] == pool
        assert found(rows, "best_kappa.cell", pool="")["*", block, "all"]["label"] == cell


def test_three_pools_have_a_percentage_for_each_pair() -> None:
    rows = Factorial(pools=("us", "cn", "jp"), cultures=("a", "b", "c"), n_items=18).run(add_best)
    percent = rows.filter(pl.col("statistic") == "best_mae.percent_of_human").select("pool", "pool_b").unique()
    assert len(percent) == 6
    assert set(rows.filter(pl.col("statistic") == "best_mae.value")["slice"]) == {
        "all",
        *(f"culture={c}" for c in "abc"),
    }


def test_a_pool_that_lacks_items_is_scored_on_the_common_ones() -> None:
    """The denominator and the errors of a percentage are of the items that both pools rated."""
    items = [f"i{k}" for k in range(8)]
    table = {"a": {item: [1 + k % 5, 1 + k % 4] for k, item in enumerate(items)},
             "b": {item: [5 - k % 5, 3] for k, item in enumerate(items[:5])}}  # fmt: skip
    ratings = [{"m": {item: 1 + (k + shift) % 5 for k, item in enumerate(items)}} for shift in (0, 2)]
    rows = [row for number, each in enumerate(ratings) for row in judged(each, f"c{number}")]
    made = corpus(rated(table)), judgments(rows, factors={"language": {"c0": "en", "c1": "zh"}})
    frame = run(made).estimates
    mean = {pool: {item: np.mean(values) for item, values in of.items()} for pool, of in table.items()}
    errors = [np.mean([abs(each["m"][item] - mean["a"][item]) for item in items]) for each in ratings]
    assert found(frame, "best_mae.value", pool="a")["m", "*", "all"]["value"] == pytest.approx(min(errors))
    winner = ratings[int(np.argmin(errors))]["m"]
    gap = np.mean([abs(mean["a"][item] - mean["b"][item]) for item in items[:5]])
    common = np.mean([abs(winner[item] - mean["a"][item]) for item in items[:5]])
    percent = found(frame, "best_mae.percent_of_human", pool="a")["m", "*", "all"]
    assert (percent["value"], percent["n"]) == (pytest.approx(100 * common / gap), 5)
    assert found(frame, "best_mae.percent_cross_fitted", pool="a")["m", "*", "all"]["n"] == 5


def test_a_judge_on_another_scale_has_no_best() -> None:
    items = [f"i{k}" for k in range(6)]
    table = {pool: {item: [1 + (k + shift) % 5] for k, item in enumerate(items)} for shift, pool in enumerate("ab")}
    rows = [
        row
        for condition in ("c0", "c1")
        for row in judged({name: dict.fromkeys(items, 2) for name in ("m", "far")}, condition)
    ]
    factors = {"language": {"c0": "en", "c1": "zh"}}
    frame = run((corpus(rated(table)), judgments(rows, factors=factors, rank_only=["far"]))).estimates
    for name in ("value", "condition", "percent_of_human", "cross_fitted", "percent_cross_fitted"):
        assert found(frame, f"best_mae.{name}", pool="a")["far", "*", "all"]["undefined"] == "other_scale"
    assert found(frame, "best_mae.value", pool="a")["*", "*", "all"]["n"] == 1
    assert found(frame, "best_mae.lowest_cell", pool="a")["*", "*", "all"]["label"].startswith("m|")


def test_one_condition_is_no_choice() -> None:
    world = Factorial(
        drop=lambda judge, levels: levels != {"persona": "none", "detail": "none", "language": "en", "design": "base"}
    )
    assert world.run(*PARTS).is_empty()


def test_one_item_has_a_minimum_and_no_halves() -> None:
    rows = Factorial(n_items=1, designs=("base",)).run(add_best)
    assert undefined(rows, "best_mae.cross_fitted") == {"few_items"}
    assert None in undefined(rows, "best_mae.value")
