"""Rows of orientation and of the split: against the kernel, under what must not matter, and where they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import voirdire
from voirdire.analysis.profile import Profile
from voirdire.estimate import Estimate

CONDITIONS = ("plain", "asked")
MIRRORED = ("orientation.w", "orientation.pi", "tilt_split.orientation")


def ratings_of(values: np.ndarray, pools: tuple[str, ...], rng: np.random.Generator, raters: int = 4) -> pl.DataFrame:
    """Ratings of pools x items: the value, a little noise, rounded to 1-5."""
    rows = []
    for k, pool in enumerate(pools):
        for rater in range(raters):
            noisy = np.clip(np.rint(values[k] + 0.5 * rng.standard_normal(values.shape[1])), 1, 5)
            rows += [
                {"item_id": f"i{i:03d}", "rater_id": f"{pool}{rater}", "pool": pool, "rating": int(score)}
                for i, score in enumerate(noisy)
            ]
    return pl.DataFrame(rows)


def world(n_items: int = 120, pools: tuple[str, ...] = ("a", "b"), seed: int = 0) -> dict[str, Any]:
    """Two or more pools, and judges: one follows b, one both (compressed), one nothing, one is constant."""
    rng = np.random.default_rng(seed)
    values = 1 + 4 * rng.random((len(pools), n_items))
    middle = values.mean(0)
    characters = {
        "follows_b": values[1],
        "compressed": 3.9 + 0.4 * (middle - 3),
        "random": 1 + 4 * rng.random(n_items),
        "constant": np.full(n_items, 4.0),
    }
    rows = []
    for judge, latent in characters.items():
        for condition in CONDITIONS:
            noise = 0.0 if judge == "constant" else 0.4
            scores = np.clip(np.rint(latent + noise * rng.standard_normal(n_items)), 1, 5)
            rows += [
                {"item_id": f"i{i:03d}", "judge": judge, "condition": condition, "rating": int(score)}
                for i, score in enumerate(scores)
            ]
    items = pl.DataFrame({"item_id": [f"i{i:03d}" for i in range(n_items)], "culture": ["x", "y"] * (n_items // 2)})
    return {"ratings": ratings_of(values, pools, rng), "judgments": pl.DataFrame(rows), "items": items}


def audited(tables: dict[str, Any], **options: Any) -> Profile:
    return voirdire.audit(**tables, low=1, high=5, draws=30, decomposition_draws=20, permutations=50, **options)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return audited(world())


def at(profile: Profile, statistic: str, **place: str) -> Estimate:
    return profile.get(statistic, pool="a", pool_b="b", **place)


def value(profile: Profile, statistic: str, **place: str) -> float:
    estimate = at(profile, statistic, **place)
    assert estimate.value is not None, (statistic, place, estimate.undefined)
    return estimate.value


def test_planted_orientation_is_found(profile: Profile) -> None:
    assert value(profile, "orientation.w", judge="follows_b", condition="*") == pytest.approx(1, abs=0.1)
    assert value(profile, "orientation.neutrality_p", judge="follows_b", condition="*") < 1e-6
    assert (
        profile.get("orientation.verdict", pool="a", pool_b="b", judge="follows_b", condition="*").label == "oriented_b"
    )
    assert value(profile, "orientation.w", judge="compressed", condition="*") == pytest.approx(0.5, abs=0.1)


def test_what_has_no_orientation_is_refused(profile: Profile) -> None:
    for judge, reason in (("random", "no_positive_relation"), ("constant", "constant_judge")):
        for condition in ("plain", "*"):
            where = {"pool": "a", "pool_b": "b", "judge": judge, "condition": condition}
            assert profile.get("orientation.w", **where).undefined == reason
            assert profile.get("orientation.verdict", **where).undefined == reason
            assert profile.get("tilt_split.orientation", **where).undefined == reason
    assert (
        profile.get("orientation.contrast", pool="a", pool_b="b", judge="random", condition="plain").value is not None
    )


@pytest.mark.parametrize("statistic", ["tilt", "delta"])
@pytest.mark.parametrize("place", ["all", "culture=x"])
def test_parts_add_up_to_what_is_observed(profile: Profile, statistic: str, place: str) -> None:
    for condition in ("plain", "*"):
        where = {"judge": "follows_b", "condition": condition, "slice": place}
        parts = ("base", "image", "permissiveness", "orientation", "remainder")
        total = sum(value(profile, f"{statistic}_split.{part}", **where) for part in parts)
        assert total == pytest.approx(value(profile, f"{statistic}_split.observed", **where), abs=1e-9)
        assert total == pytest.approx(value(profile, statistic, **where), abs=1e-9)


def test_swapped_pools_mirror_everything(profile: Profile) -> None:
    mirrored = audited(world(), pairs=[("b", "a")])
    for judge in ("follows_b", "compressed"):
        where = {"judge": judge, "condition": "*"}
        there = {"pool": "b", "pool_b": "a", **where}
        w, pi, part = (value(profile, name, **where) for name in MIRRORED)
        found = [mirrored.get(name, **there).value for name in MIRRORED]
        assert found == pytest.approx([1 - w, pi, -part], abs=1e-5)


def test_order_of_rows_does_not_matter(profile: Profile) -> None:
    tables = {name: table.sample(fraction=1, shuffle=True, seed=3) for name, table in world().items()}
    shuffled = audited(tables)
    keys = ["statistic", "params", "pool", "pool_b", "judge", "condition", "slice"]
    ours = pl.col("statistic").str.starts_with("orientation") | pl.col("statistic").str.contains("_split")
    first, second = (each.estimates.filter(ours).sort(keys) for each in (profile, shuffled))
    assert first.height == second.height > 100
    assert first.select(*keys, "label", "undefined").equals(second.select(*keys, "label", "undefined"))
    for column in ("value", "low", "high"):
        pairs = zip(first[column].fill_null(0.0), second[column].fill_null(0.0), strict=True)
        assert all(a == pytest.approx(b, abs=1e-5) or (np.isinf(a) and a == b) for a, b in pairs)


def test_relabelled_levels_leave_orientation_alone(profile: Profile) -> None:
    tables = world()
    stretched = {1: 0, 2: 1, 3: 10, 4: 11, 5: 100}
    tables["judgments"] = tables["judgments"].with_columns(pl.col("rating").replace_strict(stretched))
    other = audited(tables)
    for part in ("w", "pi", "neutrality_p"):
        where = {"judge": "follows_b", "condition": "plain"}
        assert value(other, f"orientation.{part}", **where) == pytest.approx(
            value(profile, f"orientation.{part}", **where), abs=1e-6
        )
    assert at(other, "tilt_split.base", judge="follows_b", condition="plain").undefined == "other_scale"


def test_weights_of_three_pools_add_up_to_one() -> None:
    found = audited(world(n_items=160, pools=("a", "b", "c")))
    weights = [found.get("orientation.weight", pool=pool, judge="follows_b", condition="*").value for pool in "abc"]
    assert sum(weights) == pytest.approx(1, abs=1e-9)
    assert weights[1] == pytest.approx(1, abs=0.15)


def test_one_pool_above_the_other_everywhere() -> None:
    rng = np.random.default_rng(5)
    low = 1 + rng.random(80)
    tables = world(n_items=80)
    tables["ratings"] = ratings_of(np.stack([low, low + 2.9]), ("a", "b"), rng)
    found = audited(tables)
    assert at(found, "orientation.w", judge="follows_b", condition="*").undefined == "gaps_one_sign"


def test_one_pool_under_two_names() -> None:
    tables = world()
    first = tables["ratings"].filter(pl.col("pool") == "a")
    tables["ratings"] = pl.concat([first, first.with_columns(pool=pl.lit("b"))])
    found = audited(tables, two_pools="separate")
    assert at(found, "orientation.w", judge="follows_b", condition="*").undefined == "equal_consensuses"


def test_pools_without_raters_have_no_headline() -> None:
    tables = world()
    means = tables["ratings"].group_by("item_id", "pool").agg(pl.col("rating").mean()).sort("item_id", "pool")
    tables["ratings"] = means.rename({"rating": "value"})
    found = audited(tables)
    where = {"pool": "a", "pool_b": "b", "judge": "follows_b", "condition": "plain"}
    assert found.get("orientation.w", **where).undefined == "aggregate_pool"
    assert found.get("orientation.w", params="consensus=raw", **where).value == pytest.approx(1, abs=0.15)
    assert found.get("orientation.verdict", **where).undefined == "aggregate_pool"


def test_few_items_are_refused() -> None:
    found = audited(world(n_items=12))
    assert at(found, "orientation.w", judge="follows_b", condition="*").undefined == "few_items"
