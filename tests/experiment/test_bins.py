"""T by recognizability: bins as pandas makes them, T by a loop, and items that cannot be told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis import builders
from tests.experiment.factorial import Factorial
from tests.experiment.parts import at, experiment_of, rows_of

from voirdire.analysis.experiment.bins import BINS, add_bins, quantile_bins
from voirdire.corpus.corpus import Corpus, Judgments, Question

WORLD = Factorial(n_items=36, lost=0.05)
NAMES = {2: ["low", "high"], 3: ["low", "mid", "high"]}


def made(recognized: np.ndarray, asked: np.ndarray | None = None) -> tuple[Corpus, Judgments]:
    """The world with a second question: (items, raters) of the second pool; ``asked``: the items that have it."""
    corpus, judgments = WORLD.tables()
    question = Question("q4", builders.FIVE, "recognizability")
    rows = [
        (f"i{item:03}", f"cn{k}", "cn", "q4", float(value))
        for item in (range(WORLD.n_items) if asked is None else asked)
        for k, value in enumerate(recognized[item])
    ]
    ratings = pl.concat([corpus.ratings, pl.DataFrame(rows, builders.RATINGS, orient="row")])
    more: dict[str, Any] = {"questions": (*corpus.questions, question), "ratings": ratings}
    return Corpus(**{**{name: getattr(corpus, name) for name in corpus.__dataclass_fields__}, **more}), judgments


RECOGNIZED = np.random.default_rng(5).integers(1, 6, (WORLD.n_items, 3))


@pytest.mark.parametrize("slice_name", ["all", "culture=cn"])
@pytest.mark.parametrize("bins", [2, 3])
def test_tilt_in_bins_is_that_of_pandas_and_a_loop(slice_name: str, bins: int) -> None:
    frame = rows_of(experiment_of(made(RECOGNIZED)), add_bins)
    items = [item for item in range(WORLD.n_items) if slice_name == "all" or WORLD.culture(item) == "cn"]
    cut = pd.qcut(pd.Series(RECOGNIZED[items].mean(1).round(9)), bins, labels=NAMES[bins])
    of = dict(zip(items, cut, strict=True))
    for judge in ("*", "j0", "j2"):
        values = {}
        for name in NAMES[bins]:
            rows = [row for row in WORLD.select(slice_name, judge, design="base") if of[row.item] == name]
            values[name] = WORLD.tilt(rows)
            place = {"slice": slice_name, "judge": judge, "params": f"bins={bins},bin={name},by=cn"}
            row = at(frame, "recognizability_bins.tilt", condition="design=base", **place)
            assert row["value"] == pytest.approx(values[name], abs=1e-9)
            assert row["low"] < row["value"] < row["high"]
            counts = "/".join(str(int((cut == each).sum())) for each in NAMES[bins])
            assert f"items={counts}," in row["signature"]
            assert "by_question=q4" in row["signature"]
        place = {"slice": slice_name, "judge": judge, "params": f"bins={bins},bin=low-high,by=cn"}
        row = at(frame, "recognizability_bins.tilt", condition="design=base", **place)
        assert row["value"] == pytest.approx(values["low"] - values["high"], abs=1e-9)


def test_equal_recognizability_leaves_one_bin_empty() -> None:
    frame = rows_of(experiment_of(made(np.full((WORLD.n_items, 3), 4))), add_bins)
    place = {"slice": "all", "judge": "*"}
    low = at(frame, "recognizability_bins.tilt", params="bins=2,bin=low,by=cn", **place)
    high = at(frame, "recognizability_bins.tilt", params="bins=2,bin=high,by=cn", **place)
    assert low["value"] == pytest.approx(WORLD.tilt(WORLD.select(design="base")), abs=1e-9)
    assert (high["value"], high["undefined"], high["n"]) == (None, "no_common_items", 0)
    difference = at(frame, "recognizability_bins.tilt", params="bins=2,bin=low-high,by=cn", **place)
    assert difference["undefined"] == "no_common_items"
    w = at(frame, "recognizability_bins.orientation.w", params="bins=2,bin=high,by=cn", **place)
    assert w["undefined"] == "no_common_items"


def test_judges_that_always_say_the_same_have_a_tilt_and_no_w() -> None:
    corpus, judgments = made(RECOGNIZED)
    same = judgments.table.with_columns(value=pl.when(pl.col("value").is_not_null()).then(3.0))
    frame = rows_of(experiment_of((corpus, replace(judgments, rows=same))), add_bins)
    place = {"slice": "all", "judge": "*", "params": "bins=2,bin=low,by=cn"}
    assert at(frame, "recognizability_bins.tilt", **place)["value"] is not None
    assert at(frame, "recognizability_bins.orientation.w", **place)["undefined"] is not None


def test_items_that_were_not_asked_about_are_in_no_bin() -> None:
    frame = rows_of(experiment_of(made(RECOGNIZED, np.arange(20))), add_bins)
    parts = [
        at(frame, "recognizability_bins.tilt", slice="all", judge="*", params=f"bins=3,bin={name},by=cn")
        for name in NAMES[3]
    ]
    rows = [row for row in WORLD.select(design="base") if row.item < 20]
    gaps = np.abs(WORLD.consensus["us"] - WORLD.consensus["cn"]) > 1e-9
    assert sum(part["n"] for part in parts) == sum(gaps[row.item] for row in rows)


def test_the_weight_of_a_bin_is_that_of_its_items() -> None:
    """W of a bin of all items is W of all items; where the fit says why not, so does the bin."""
    world = made(np.full((WORLD.n_items, 3), 4))
    from voirdire.analysis.experiment.orientation.selected import selected_w

    experiment = experiment_of(world)
    frame = rows_of(experiment, add_bins)
    matrix = np.zeros((1, len(experiment.judged.cube)))
    matrix[0, experiment.design.mask(design="base", judge="j0")] = 1
    expected = selected_w(experiment, "all", experiment.context.slices["all"], (0, 1), matrix)
    row = at(frame, "recognizability_bins.orientation.w", slice="all", judge="j0", params="bins=2,bin=low,by=cn")
    assert row["undefined"] == expected.reasons[0]
    if row["value"] is not None:
        assert row["value"] == pytest.approx(expected.values[0], abs=1e-6)


def test_without_the_question_there_are_no_rows() -> None:
    assert rows_of(experiment_of(WORLD.tables()), add_bins).is_empty()


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.integers(0, 2**31))
def test_bins_divide_the_items_whatever_their_order(values: list[int], seed: int) -> None:
    given_ = np.array(values) / 5
    mask = np.ones(len(given_), dtype=bool)
    for names in BINS.values():
        binned = quantile_bins(given_, mask, names)
        assert binned is not None
        assert (binned.masks.sum(0) == 1).all()
        for lower, upper in zip(binned.masks, binned.masks[1:], strict=False):
            assert not lower.any() or not upper.any() or given_[lower].max() < given_[upper].min()
        order = np.random.default_rng(seed).permutation(len(given_))
        again = quantile_bins(given_[order], mask, names)
        assert again is not None
        assert (again.masks == binned.masks[:, order]).all()


def test_nothing_known_gives_no_bins() -> None:
    assert quantile_bins(np.full(3, np.nan), np.ones(3, dtype=bool), ("low", "high")) is None
