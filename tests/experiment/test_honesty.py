"""Rows that warn: labels from the rows they speak of, and what rater noise and the number of items allow."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.analysis.builders import FIVE, corpus, judgments
from tests.experiment.factorial import Factorial
from tests.experiment.parts import at, experiment_of, rows_of, simple

from voirdire.analysis.experiment.demonstrations import add_demonstrations
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.honesty import add_honesty, magnitudes_apart
from voirdire.analysis.rows import PLACE
from voirdire.stats.resampling import item_weights

WORLD = Factorial(n_items=24, lost=0.05)
DRAWS = 200


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return rows_of(experiment_of(WORLD.tables(), draws=DRAWS), add_demonstrations, add_honesty)


def test_pseudo_replication_compares_the_tests_of_cells_and_items(frame: pl.DataFrame) -> None:
    key = ["params", *PLACE]
    p = {
        unit: frame.filter(pl.col("statistic") == f"icl_effect.error.wilcoxon_{unit}_p").select(*key, "value")
        for unit in ("cells", "items")
    }
    both = p["cells"].join(p["items"], on=key, suffix="_items", nulls_equal=True)
    labels = frame.filter(pl.col("statistic") == "pseudo_replication").select(*key, "label")
    joined = both.join(labels, on=key, nulls_equal=True)
    assert joined.height == both.height == labels.height > 0
    for row in joined.iter_rows(named=True):
        apart = abs(np.log10(row["value"]) - np.log10(row["value_items"])) > 1
        assert row["label"] == ("yes" if apart else "no")


def test_copies_of_a_cell_are_pseudo_replication() -> None:
    """Ten personas that repeat the same ratings add no item."""
    rng = np.random.default_rng(0)
    consensus = np.stack([np.full(30, 5.0), rng.integers(1, 6, 30).astype(float)])
    base = rng.integers(2, 5, 30).astype(float)
    moved = np.clip(base + rng.choice([0, 0, 0, 1], 30), 1, 5)
    ratings = {(f"j{k}", design): given for k in range(10) for design, given in (("base", base), ("aa", moved))}
    made = simple(consensus, ratings, design={"base": "base", "aa": "aa"})
    frame = rows_of(experiment_of(made), add_demonstrations, add_honesty)
    assert at(frame, "pseudo_replication", slice="all", pool="us")["label"] == "yes"


def test_p_values_of_zero_are_of_some_magnitude() -> None:
    assert magnitudes_apart(0.0, 1.0) == pytest.approx(300)
    assert magnitudes_apart(0.0, 0.0) == 0


def planted(experiment: Experiment, statistic: str, value: float | None, low: float | None, **place: Any) -> None:
    experiment.context.table.add(
        statistic, value, low=low, high=None if low is None else low + 1, n=9, question="q1", pool="us", **place,
        reasons="no_items", definition=experiment.context.definition("percentile"),
    )  # fmt: skip


def test_winners_curse_reads_the_best_value_and_its_cross_fitted_one() -> None:
    experiment = experiment_of(WORLD.tables())
    for judge, value, low in (("j0", 0.5, 0.6), ("j1", 0.7, 0.6), ("j2", 0.5, None)):
        planted(experiment, "best_mae.value", value, None, judge=judge, condition="design=base")
        planted(experiment, "best_mae.cross_fitted", 0.8, low, judge=judge, condition="design=base")
    planted(experiment, "best_mae.value", 0.1, None, judge="j0", condition="design=aa")
    add_honesty(experiment)
    found = experiment.context.table.frame().filter(pl.col("statistic") == "winners_curse")
    assert dict(found.select("judge", "label").iter_rows()) == {"j0": "yes", "j1": "no"}
    assert set(found["condition"]) == {"design=base"}


@pytest.mark.parametrize("judge", ["*", "j1"])
def test_smallest_effect_is_2_8_standard_errors(frame: pl.DataFrame, judge: str) -> None:
    weights = item_weights(WORLD.n_items, DRAWS, np.random.default_rng([0, zlib.crc32(b"q1/items/all")])).astype(float)
    rows = WORLD.select("all", judge, design="base")
    delta = np.zeros(WORLD.n_items)
    for row in rows:
        us, cn = (WORLD.consensus[pool][row.item] for pool in ("us", "cn"))
        delta[row.item] += abs(row.rating - us) - abs(row.rating - cn)
    count = np.bincount([row.item for row in rows], minlength=WORLD.n_items)
    error = np.std((weights @ delta) / (weights @ count), ddof=1)
    row = at(frame, "minimum_detectable", params="of=delta", judge=judge, slice="all", condition="design=base")
    assert row["value"] == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error, rel=1e-9)


def test_a_smallest_effect_for_every_judge_culture_and_statistic(frame: pl.DataFrame) -> None:
    rows = frame.filter(pl.col("statistic") == "minimum_detectable")
    places = rows.select("params", "judge", "slice").unique()
    assert places.height == rows.height == 3 * 4 * 3
    assert set(rows["condition"]) == {"design=base"}
    none = rows_of(experiment_of(WORLD.tables(), draws=0), add_honesty)
    row = at(none, "minimum_detectable", params="of=tilt", judge="*", slice="all")
    assert row["undefined"] == "no_draws"


def noisy(raters: int, n_items: int = 40, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    means = rng.uniform(1, 5, (2, n_items))
    given = [
        (f"i{item:03}", f"{pool}{k}", pool, float(np.clip(np.rint(means[p, item] + rng.normal(0, 1.5)), 1, 5)))
        for p, pool in enumerate(("us", "cn"))
        for item in range(n_items)
        for k in range(raters)
    ]
    rated = [(f"i{item:03}", "j", "-", 0, float(rng.integers(1, 6)), "ok") for item in range(n_items)]
    return corpus(given, FIVE), judgments(rated)


def test_noise_moves_t_as_far_as_a_plain_redraw() -> None:
    made = noisy(3)
    experiment = experiment_of(made, draws=50)
    frame = rows_of(experiment, add_honesty)
    arrays = experiment.context.panel.arrays
    r = experiment.judged.cube[0, :, 0]
    rng = np.random.default_rng(99)

    def tilt(us: np.ndarray, cn: np.ndarray) -> float:
        apart = np.abs(us - cn) > 1e-9
        return float(np.clip((2 * r - us - cn)[apart] / (us - cn)[apart], -1, 1).mean())

    redrawn = [
        tilt(*(arrays.mean + np.sqrt(arrays.noise) * rng.standard_normal(arrays.mean.shape))) for _ in range(2000)
    ]
    place = {"judge": "j", "slice": "all"}
    sd, shift = (at(frame, f"tilt_noise.{part}", **place)["value"] for part in ("sd", "shift"))
    assert sd == pytest.approx(np.std(redrawn), rel=0.2)
    assert shift == pytest.approx(np.mean(redrawn) - tilt(*arrays.mean), abs=5 * np.std(redrawn) / np.sqrt(200))
    assert at(frame, "tilt_noise", **place)["value"] == pytest.approx(np.hypot(sd, shift), rel=1e-12)


def test_an_interval_narrower_than_the_noise_is_told() -> None:
    """A judge that copies one pool has T = 1 on every item: its interval has no width, but new raters would move it."""
    made = noisy(3)
    experiment = experiment_of(made)
    copy = experiment.context.panel.arrays.mean[0]
    rated = [(f"i{item:03}", "j", "-", 0, float(value), "ok") for item, value in enumerate(copy)]
    frame = rows_of(experiment_of((made[0], judgments(rated))), add_honesty)
    assert at(frame, "tilt_noise.narrower", judge="j", slice="all")["label"] == "yes"
    assert at(frame, "tilt_noise.shift", judge="j", slice="all")["value"] < 0
    calm = rows_of(experiment_of(noisy(60, n_items=12)), add_honesty)
    assert at(calm, "tilt_noise.narrower", judge="j", slice="all")["label"] == "no"


def test_unknown_noise_has_a_reason() -> None:
    frame = rows_of(experiment_of(noisy(1)), add_honesty)
    for part in ("", ".sd", ".shift"):
        assert at(frame, f"tilt_noise{part}", judge="j", slice="all")["undefined"] == "noise_unknown"
    assert frame.filter(pl.col("statistic") == "tilt_noise.narrower").is_empty()
    made = noisy(3)
    aggregate = rows_of(experiment_of(made, consensus="median"), add_honesty)
    assert at(aggregate, "tilt_noise", judge="j", slice="all")["undefined"] == "median_consensus"


def test_equal_pools_have_no_tilt_to_move() -> None:
    made = simple(np.array([[1.0, 3, 5], [1, 3, 5]]), {("j", "-"): np.array([1.0, 2, 3])})
    frame = rows_of(experiment_of(made), add_honesty)
    assert at(frame, "tilt_noise", judge="j", slice="all")["undefined"] == "equal_consensuses"


def test_a_judge_on_another_scale() -> None:
    tables = WORLD.tables()
    made = (tables[0], replace(tables[1], rank_only=frozenset({("j0", "q1")})))
    frame = rows_of(experiment_of(made), add_honesty)
    for statistic, params in (("minimum_detectable", "of=tilt"), ("tilt_noise", "")):
        assert at(frame, statistic, params=params, judge="j0", slice="all")["undefined"] == "other_scale"
        assert at(frame, statistic, params=params, judge="j1", slice="all")["value"] > 0


def test_levels_stand_for_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few levels, or the cells one by one: the same noise."""
    tables = WORLD.tables()
    one = rows_of(experiment_of(tables, draws=5), add_honesty)
    monkeypatch.setattr("voirdire.analysis.experiment.noise.MOST_LEVELS", 0)
    two = rows_of(experiment_of(tables, draws=5), add_honesty)
    rows = [table.filter(pl.col("statistic").str.starts_with("tilt_noise"))["value"].to_numpy() for table in (one, two)]
    np.testing.assert_allclose(rows[0].astype(float), rows[1].astype(float), atol=1e-12)
