"""A cell of few ratings counts for as much as it says, and what cannot be fitted is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.experiment.test_orientation import at, audited, value, world

from voirdire.analysis.profile import Profile


def with_small_cell(seed: int) -> dict[str, Any]:
    """A judge that follows both pools in four conditions; in the first it rates 6 of 120 items, as it gives them."""
    tables = world(seed=seed)
    one = tables["judgments"].filter(pl.col("judge") == "compressed", pl.col("condition") == "plain")
    rng = np.random.default_rng(seed)
    parts = []
    for condition in "pqrs":
        moved = np.clip(one["rating"].to_numpy() + rng.integers(-1, 2, one.height), 1, 5)
        parts.append(one.with_columns(condition=pl.lit(condition), rating=pl.Series(moved)))
    small = parts[0][rng.choice(one.height, 6, replace=False).tolist()]
    return {**tables, "judgments": pl.concat([small, *parts[1:]])}


def test_w_of_several_cells_is_of_their_slopes_by_ratings() -> None:
    profile = audited(with_small_cell(1))
    slopes, contrasts = (
        {c: at(profile, f"orientation.{part}", judge="compressed", condition=c) for c in "pqrs*"}
        for part in ("slope", "contrast")
    )
    ratings = np.array([6, 120, 120, 120])
    slope, contrast = (np.average([found[c].value for c in "pqrs"], weights=ratings) for found in (slopes, contrasts))
    assert slopes["*"].value == pytest.approx(slope)
    assert [slopes[c].n for c in "pqrs*"] == [*ratings, 366]
    assert value(profile, "orientation.w", judge="compressed", condition="*") == pytest.approx(
        (slope + contrast) / 2 / slope
    )


@pytest.fixture(scope="module")
def profile() -> Profile:
    return audited(world())


def test_constant_cells_are_not_among_the_ratings_of_w(profile: Profile) -> None:
    found = at(profile, "orientation.w", judge="*", condition="*")
    assert found.n == 3 * 2 * 120
    assert dict(found.excluded) == {"constant_judge": 240}
    assert not at(profile, "orientation.w", judge="follows_b", condition="*").excluded


def test_redrawn_noise_does_not_depend_on_which_pool_is_first() -> None:
    tables = world()
    tables["judgments"] = tables["judgments"].filter(pl.col("judge") == "compressed")
    one, other = (audited(tables, pairs=(pair,)) for pair in (("a", "b"), ("b", "a")))
    found = one.get("tilt_noise.shift", judge="*", condition="*", pool="a", pool_b="b")
    assert found.value is not None
    mirrored = other.get("tilt_noise.shift", judge="*", condition="*", pool="b", pool_b="a")
    assert mirrored.value == pytest.approx(-found.value)
