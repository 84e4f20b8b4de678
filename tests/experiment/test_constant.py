"""A constant judge is never better than a constant; a slice of one item has the definition of its statistic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.experiment.parts import at, experiment_of, rows_of, simple

from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.judge_rows import add_judges


def judges(experiment: Experiment) -> None:
    add_judges(experiment.context, experiment.judged)


@pytest.mark.parametrize("seed", range(12))
def test_constants_that_are_as_good_as_each_other(seed: int) -> None:
    """Half of the items at 3 and half at 4: which one is best without a fold depends on the fold."""
    consensus = np.stack([np.tile([3.0, 4.0], 30), np.repeat([2.0, 4.0], 30)])
    made = simple(consensus, {(f"always{level}", "-"): np.full(60, float(level)) for level in range(1, 6)})
    frame = rows_of(experiment_of(made, seed=seed, draws=60), judges)
    for pool in ("us", "cn"):
        for level in range(1, 6):
            row = at(frame, "mae_vs_constant", judge=f"always{level}", condition="-", pool=pool, slice="all")
            assert row["value"] >= -1e-12
            assert row["high"] >= 0


def test_a_judge_that_follows_the_pool_still_beats_it() -> None:
    consensus = np.stack([np.tile([3.0, 4.0], 30), np.repeat([2.0, 4.0], 30)])
    frame = rows_of(experiment_of(simple(consensus, {("j", "-"): consensus[0]}), draws=60), judges)
    row = at(frame, "mae_vs_constant", judge="j", condition="-", pool="us", slice="all")
    assert row["value"] == pytest.approx(-0.5)
    assert row["high"] < 0


def test_one_item_of_a_slice_has_the_same_definition() -> None:
    consensus = np.stack([np.array([1.0, 2, 3, 4]), np.array([2.0, 4, 1, 5])])
    corpus, judgments = simple(consensus, {("j", "-"): np.array([1.0, 2, 4, 5])})
    items = corpus.items.with_columns(culture=pl.Series(["us", "cn", "cn", "cn"]))
    frame = rows_of(experiment_of((replace(corpus, items=items), judgments)), judges)
    rows = {
        name: at(frame, "mae", judge="j", condition="-", pool="us", slice=name) for name in ("culture=us", "culture=cn")
    }
    assert len({row["signature"].split("|on(")[0] for row in rows.values()}) == 1
    assert rows["culture=us"]["low"] is None
    assert rows["culture=cn"]["low"] is not None
