"""What demonstrations change: against loops over matched judgments, scipy and statsmodels; where nothing matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from tests.experiment.factorial import Factorial, Row
from tests.experiment.parts import at, experiment_of, rows_of, simple

from voirdire.analysis.experiment.demonstrations import add_demonstrations
from voirdire.analysis.experiment.derived import pair_cells

WORLD = Factorial(
    designs=("base", "aa", "cc"),
    lost=0.06,
    drop=lambda judge, levels: judge == "j1" and levels["language"] == "zh" and levels["design"] in ("base", "cc"),
)
FROM = {"params": "design=aa,against=base"}
GROUPS = [
    ("*", "*"), ("j0", "*"), ("j1", "*"), ("origin=us", "*"), ("origin=cn", "*"), ("*", "persona=us"),
    ("*", "persona=none"),
]  # fmt: skip


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return rows_of(experiment_of(WORLD.tables()), add_demonstrations)


def sides(slice_name: str, judge: str = "*", condition: str = "*", design: str = "aa") -> list[tuple[Row, Row]]:
    """Judgments of a design with their counterparts: same item, judge, persona, detail and language."""
    more = dict([condition.split("=")]) if condition != "*" else {}

    def key(row: Row) -> tuple[object, ...]:
        return (row.item, row.judge, *(row.levels[name] for name in ("persona", "detail", "language")))

    base = {key(row): row for row in WORLD.select(slice_name, judge, design="base", **more)}
    mine = WORLD.select(slice_name, judge, design=design, **more)
    return [(row, base[key(row)]) for row in mine if key(row) in base]


def change(pairs: list[tuple[Row, Row]], statistic: Callable[[list[Row]], float]) -> float:
    return statistic([first for first, _ in pairs]) - statistic([second for _, second in pairs])


def low(rows: list[Row]) -> float:
    return float(np.mean([row.rating <= 2 for row in rows]))


STATISTICS: dict[str, tuple[dict[str, str], Callable[[list[Row]], float]]] = {
    "mean_rating": ({}, lambda rows: float(np.mean([row.rating for row in rows]))),
    "share_low": ({}, low),
    "share_high": ({}, lambda rows: float(np.mean([row.rating == 5 for row in rows]))),
    "floor_recovery": (
        {"pool": "us"},
        lambda rows: low([r for r in rows if WORLD.consensus["us"][r.item] <= 2 + 1e-9]),
    ),
    "error": ({"pool": "cn"}, lambda rows: WORLD.mae(rows, "cn")),
    "tilt": ({"pool": "us", "pool_b": "cn"}, WORLD.tilt),
    "delta": ({"pool": "us", "pool_b": "cn"}, lambda rows: WORLD.mae(rows, "us") - WORLD.mae(rows, "cn")),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("slice_name", ["all", "culture=cn", "culture=cn&category=food"])
def test_change_is_that_of_matched_judgments(frame: pl.DataFrame, name: str, slice_name: str) -> None:
    place, statistic = STATISTICS[name]
    for judge, condition in GROUPS:
        row = at(frame, f"icl_effect.{name}", slice=slice_name, judge=judge, condition=condition, **place, **FROM)
        pairs = sides(slice_name, judge, condition)
        assert row["value"] == pytest.approx(change(pairs, statistic), abs=1e-9)
        assert name == "floor_recovery" or row["low"] <= row["high"]
        if name in ("mean_rating", "error", "delta"):
            assert row["n"] == len(pairs)


def test_unmatched_judgments_are_counted(frame: pl.DataFrame) -> None:
    """Neither the judgments whose counterpart is missing nor the cells without one drop out in silence."""
    mine, base = WORLD.select(design="aa"), WORLD.select(design="base")
    excluded = at(frame, "icl_effect.tilt", slice="all", judge="*", condition="*", **FROM)["excluded"]
    found = {name: int(count) for name, count in (part.split("=") for part in excluded.split(";"))}
    assert found["unmatched"] == len(mine) + len(base) - 2 * len(sides("all"))
    assert found["absent"] == WORLD.n_items * (30 + 25) - len(mine) - len(base)


def test_tests_are_those_of_scipy(frame: pl.DataFrame) -> None:
    pairs = sides("culture=cn")
    differences = {
        pool: [abs(a.rating - WORLD.consensus[pool][a.item]) - abs(b.rating - WORLD.consensus[pool][b.item])
               for a, b in pairs]
        for pool in ("us", "cn")
    }  # fmt: skip
    for pool, values in differences.items():
        cells = np.round(values, 9)
        by_item = pl.DataFrame({"item": [a.item for a, _ in pairs], "x": values}).group_by("item").mean()["x"]
        items = np.round(by_item.to_numpy(), 9)
        over = {"slice": "culture=cn", "pool": pool, **FROM}
        asked = {"zero_method": "wilcox", "correction": False, "method": "asymptotic"}
        for unit, given in (("cells", cells), ("items", items)):
            expected = stats.wilcoxon(given, **asked)
            statistic = at(frame, f"icl_effect.error.wilcoxon_{unit}_statistic", **over)
            assert statistic["value"] == expected.statistic
            assert statistic["n"] == len(given)
            p = at(frame, f"icl_effect.error.wilcoxon_{unit}_p", **over)["value"]
            assert p == pytest.approx(expected.pvalue, rel=1e-9)
        assert at(frame, "icl_effect.error.n_nonzero", **over)["value"] == (cells != 0).sum()
        expected = stats.ttest_1samp(items, 0)
        assert at(frame, "icl_effect.error.t_items", **over)["value"] == pytest.approx(expected.statistic, rel=1e-6)
        assert at(frame, "icl_effect.error.t_items_p", **over)["value"] == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.parametrize("test", ["wilcoxon_cells_p", "wilcoxon_items_p", "t_items_p"])
def test_family_is_designs_by_pools(frame: pl.DataFrame, test: str) -> None:
    def of(suffix: str) -> pl.DataFrame:
        rows = frame.filter(pl.col("statistic") == f"icl_effect.error.{test}{suffix}", pl.col("slice") == "all")
        return rows.sort("params", "pool")

    plain = of("")
    assert plain.height == 4
    for suffix, method in (("_holm", "holm"), ("_bh", "fdr_bh")):
        expected = multipletests(plain["value"].to_numpy(), method=method)[1]
        np.testing.assert_allclose(of(suffix)["value"].to_numpy(), expected, rtol=1e-12)
        assert of(suffix)["signature"].str.contains("family=4").all()


def test_gap_between_levels_of_a_covariate(frame: pl.DataFrame) -> None:
    place = {"slice": "culture=us", "pool": "us", "judge": "*"}
    for design in ("base", "aa"):
        rows = {level: WORLD.select("culture=us", f"origin={level}", design=design) for level in ("us", "cn")}
        params = f"of=tilt,design={design},covariate=origin,level=us,minus=cn"
        row = at(frame, "icl_effect.covariate_gap", params=params, condition=f"design={design}", **place)
        assert row["value"] == pytest.approx(WORLD.tilt(rows["us"]) - WORLD.tilt(rows["cn"]), abs=1e-9)
    params = "of=delta,design=aa,against=base,covariate=origin,level=us,minus=cn"
    row = at(frame, "icl_effect.covariate_gap_change", params=params, condition="*", **place)
    delta = STATISTICS["delta"][1]
    expected = [change(sides("culture=us", f"origin={level}"), delta) for level in ("us", "cn")]
    assert row["value"] == pytest.approx(expected[0] - expected[1], abs=1e-9)


def test_levels_of_a_covariate_are_in_the_same_order_whatever_that_of_the_judges() -> None:
    corpus, judgments = WORLD.tables()
    turned = replace(judgments, cells=judgments.cells.reverse(), judges=judgments.judges.reverse())
    for made in ((corpus, judgments), (corpus, turned)):
        rows = rows_of(experiment_of(made), add_demonstrations)
        gaps = rows.filter(pl.col("statistic").str.starts_with("icl_effect.covariate_gap"))
        assert gaps.height > 0
        assert gaps["params"].str.ends_with("covariate=origin,level=us,minus=cn").all()


def test_other_order_of_the_pools_flips_the_signs(frame: pl.DataFrame) -> None:
    other = rows_of(experiment_of(WORLD.tables(), pairs=(("cn", "us"),)), add_demonstrations)
    for name in ("tilt", "delta"):
        place = {"slice": "culture=cn", "judge": "j0", "condition": "*", **FROM}
        one, two = at(frame, f"icl_effect.{name}", **place), at(other, f"icl_effect.{name}", **place)
        assert one["value"] == pytest.approx(-two["value"], abs=1e-12)
        assert one["low"] == pytest.approx(-two["high"], abs=1e-9)


def test_w_of_complete_cells_is_that_of_the_sides() -> None:
    """Where nothing is missing the fits of the cells are taken; those of the copied sides give the same."""
    world = Factorial(designs=("base", "aa"), n_items=40, languages=("en",))
    experiment = experiment_of(world.tables())
    kept = rows_of(experiment, add_demonstrations)
    lacking = Factorial(designs=("base", "aa"), n_items=40, languages=("en",))
    rows = [row for row in lacking.rows if not (row.item == 0 and row.judge == "j2")]
    object.__setattr__(lacking, "rows", rows)
    other = rows_of(experiment_of(lacking.tables()), add_demonstrations)
    place = {"slice": "all", "condition": "*", "params": "design=aa,against=base"}
    for judge in ("j0", "j1"):
        one, two = (at(frame, "icl_effect.orientation.w", judge=judge, **place) for frame in (kept, other))
        assert (one["value"], one["undefined"]) == (two["value"], two["undefined"]) or one["value"] == pytest.approx(
            two["value"], abs=1e-6
        )
    lost = at(other, "icl_effect.orientation.w", judge="j2", **place)
    assert lost["n"] == at(kept, "icl_effect.orientation.w", judge="j2", **place)["n"] - 5


def test_without_a_baseline_or_demonstrations_there_are_no_rows() -> None:
    for designs in (("base",), ("aa", "cc")):
        experiment = experiment_of(Factorial(designs=designs, n_items=6, languages=("en",)).tables())
        assert rows_of(experiment, add_demonstrations).is_empty()


def test_cells_without_a_counterpart_give_a_reason() -> None:
    world = Factorial(
        n_items=6,
        languages=("en",),
        drop=lambda judge, levels: (levels["persona"] == "us") != (levels["design"] == "aa"),
    )
    frame = rows_of(experiment_of(world.tables()), add_demonstrations)
    row = at(frame, "icl_effect.tilt", slice="all", judge="*", condition="*", **FROM)
    assert row["undefined"] == "no_common_items"
    assert row["excluded"] == f"unmatched={len(world.select(design='aa'))}"
    assert at(frame, "icl_effect.error.wilcoxon_cells_p", slice="all", pool="us", **FROM)["undefined"] == "no_items"


def test_levels_of_an_extra_key_column_match_within_a_condition() -> None:
    """Conditions whose factors nobody told are matched by their name."""
    consensus = np.array([[1.0, 2, 3, 4], [4, 4, 1, 2]])
    names = ["p/base", "q/base", "p/aa", "q/aa"]
    ratings = {("j", name): np.full(4, 1.0 + place) for place, name in enumerate(names)}
    made = simple(consensus, ratings, design={name: name.split("/")[1] for name in names})
    made = (made[0], replace(made[1], key_factors=("design",)))
    experiment = experiment_of(made)
    pairs = pair_cells(experiment, "design", "aa", "base")
    conditions = experiment.design.frame["condition"].to_list()
    matched = [(conditions[a], conditions[b]) for a, b in zip(pairs.first, pairs.second, strict=True)]
    assert sorted(matched) == [("p/aa", "p/base"), ("q/aa", "q/base")]
    unknown = experiment_of((made[0], replace(made[1], key_factors=())))
    assert (pair_cells(unknown, "design", "aa", "base").second == -1).all()


def test_constant_judge_has_no_change_and_no_test() -> None:
    world = Factorial(n_items=24, languages=("en",), judge=lambda rng, judge, levels, means: np.full(24, 4.0))
    frame = rows_of(experiment_of(world.tables()), add_demonstrations)
    assert at(frame, "icl_effect.tilt", slice="all", judge="*", condition="*", **FROM)["value"] == 0
    assert at(frame, "icl_effect.error.wilcoxon_cells_p", slice="all", pool="us", **FROM)["undefined"] == "all_zero"
    assert at(frame, "icl_effect.error.t_items_p", slice="all", pool="us", **FROM)["undefined"] == "no_spread"
    w = at(frame, "icl_effect.orientation.w", slice="all", judge="*", condition="*", **FROM)
    assert w["undefined"] == "constant_judge"


def test_a_judge_on_another_scale_has_no_errors_to_test() -> None:
    world = Factorial(n_items=12, languages=("en",))
    corpus, judgments = world.tables()
    made = (corpus, replace(judgments, rank_only=frozenset({("j0", "q1")})))
    frame = rows_of(experiment_of(made), add_demonstrations)
    for name in ("tilt", "error"):
        rows = frame.filter(pl.col("statistic") == f"icl_effect.{name}", pl.col("slice") == "all")
        told = dict(rows.filter(pl.col("pool") == "us").select("judge", "undefined").unique("judge").iter_rows())
        assert told["j0"] == told["origin=us"] == "other_scale"
        assert told["j2"] is None
    assert at(frame, "icl_effect.error.wilcoxon_items_p", slice="all", pool="us", **FROM)["undefined"] == "other_scale"
