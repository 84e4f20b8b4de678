"""Distances of distributions: over all items, and item by item for judges that rated items more than once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import wasserstein_distance
from tests.analysis.builders import World, run


def test_per_item_distances_are_means_of_scipys() -> None:
    made = World(3, items=12, raters=4, judges=2, conditions=1, repeats=3).make()
    profile = run(made, draws=0)
    corpus, judgments = made
    own = corpus.ratings.filter(pl.col("pool") == "p0")
    rows = profile.estimates.filter(
        (pl.col("statistic") == "distribution.w1") & (pl.col("params") == "form=per_item") & (pl.col("pool") == "p0")
    )
    real = rows.filter(~pl.col("judge").str.starts_with("control:"))
    assert real.height == 2
    for row in real.iter_rows(named=True):
        mine = judgments.table.filter((pl.col("judge") == row["judge"]) & pl.col("value").is_not_null())
        distances = [
            wasserstein_distance(group["value"], own.filter(pl.col("item_id") == item)["value"])
            for (item,), group in mine.group_by("item_id")
            if own.filter(pl.col("item_id") == item).height
        ]
        assert row["value"] == pytest.approx(np.mean(distances))
        assert row["n"] == len(distances)


def test_without_repeats_there_is_no_form_per_item() -> None:
    profile = run(World(4, items=8, raters=3, judges=1).make(), draws=0)
    assert not profile.estimates["params"].str.contains("form=per_item").any()
