"""What must not matter does not, and what must change sign does."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.builders import KEY, World, run, values, worlds

from voirdire.corpus.corpus import Corpus, Judgments

SIGNED = ("delta", "delta_sq", "tilt", "equalised.delta", "equalised.tilt")
SYMMETRIC = ("cross_pool_mad", "cross_pool_tv", "cross_pool_pearson", "cross_pool_kappa_qw", "gap_rms", "noise_floor",
             "disattenuated_r", "cross_pool_spearman", "anchor_class.high", "anchor_class.low",
             "anchor_class.contested", "gap_test.p", "gap_test.null_mean")  # fmt: skip
OF_DRAWS = re.compile(
    r"^(minimum_detectable|tilt_noise|winners_curse)|cross_fitted"
    r"|_effect\.(shift_p|noise_floor|max_noise_floor)$|^(pull|icl).*_p"
)
BY_RATER = ("split_half", "gap_test", "equalised", "distribution.w1_floor", "distribution.js_floor", "gate.")


def near(left: float | None, right: float | None) -> bool:
    return left == right or (left is not None and right is not None and left == pytest.approx(right, abs=1e-9))


@given(world=worlds(pools=2, culture=False))
@settings(max_examples=10)
def test_swapping_the_pair(world: World) -> None:
    forth = values(run(world.make(), pairs=(("p0", "p1"),)))
    back = values(run(world.make(), pairs=(("p1", "p0"),)))
    checked = 0
    for key, value in forth.items():
        if key[5].startswith("control:midpoint"):
            continue
        swapped = back.get((*key[:3], key[4], key[3], *key[5:]))
        if key[0] in SIGNED:
            assert near(value, None if swapped is None else -swapped), key
            checked += 1
        elif key[0] in SYMMETRIC:
            assert near(value, swapped), key
            checked += 1
    assert checked


def shuffled(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return frame[rng.permutation(frame.height)]


def disordered(made: Corpus, judged: Judgments, rng: np.random.Generator) -> tuple[Corpus, Judgments]:
    """The same tables with rows, items and judges in another order."""
    other = replace(made, items=shuffled(made.items, rng), ratings=shuffled(made.ratings, rng))
    return other, replace(
        judged,
        rows=shuffled(judged.table, rng),
        cells=shuffled(judged.cells, rng),
        judges=shuffled(judged.judges, rng),
    )


@given(world=worlds(), resample=st.sampled_from(["items", "items+raters"]))
@settings(max_examples=10)
def test_order_of_rows_items_and_judges(world: World, resample: str) -> None:
    """Not even what is drawn at random depends on it."""
    made, judged = world.make()
    columns = [*KEY, "value", "low", "high", "label", "undefined", "n"]
    one = run((made, judged), resample=resample).estimates.select(columns).sort(KEY)
    two = run(disordered(made, judged, np.random.default_rng(world.seed)), resample=resample)
    other = two.estimates.select(columns).sort(KEY)
    for left, right in zip(one.iter_rows(), other.iter_rows(), strict=True):
        assert all(near(x, y) for x, y in zip(left, right, strict=True)), (left, right)


@given(world=worlds(culture=False, conditions=1))
@settings(max_examples=8)
def test_names_of_raters(world: World) -> None:
    made, judged = world.make()
    ids = made.ratings["rater_id"].unique().sort().to_list()
    new = dict(zip(ids, np.random.default_rng(world.seed).permutation(len(ids)).astype(str).tolist(), strict=True))
    renamed = made.ratings.with_columns(pl.col("rater_id").replace_strict(new, return_dtype=pl.String))
    before, after = values(run((made, judged))), values(run((replace(made, ratings=renamed), judged)))
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert key[0].startswith(BY_RATER) or near(value, after[key]), key


@given(world=worlds(culture=False, pools=2, repeats=1))
@settings(max_examples=8)
def test_point_values_do_not_depend_on_the_draws(world: World) -> None:
    """Without draws no interval but Fisher's and those of fits, and every value as before that is not made of draws."""
    made = world.make()
    drawn, plain = run(made), run(made, draws=0)
    steady = (
        {key: value for key, value in values(found).items() if not OF_DRAWS.search(key[0])} for found in (drawn, plain)
    )
    assert next(steady) == next(steady)
    fitted = pl.col("statistic").str.contains(r"^(orientation|origin_effect)") | pl.col("params").str.contains(r"\.w")
    left = plain.estimates.filter(pl.col("low").is_not_null() & ~fitted)
    assert set(left["statistic"]) <= {"cross_pool_pearson", "cross_pool_spearman", "spearman"}


@given(world=worlds(culture=False, pools=2, judges=2, repeats=1))
@settings(max_examples=6)
def test_a_judge_does_not_depend_on_the_other_judges(world: World) -> None:
    made, judged = world.make()
    alone = replace(
        judged,
        rows=judged.table.filter(judge="j0"),
        cells=judged.cells.filter(judge="j0"),
        judges=judged.judges.filter(judge="j0"),
    )
    both, one = run((made, judged)).estimates, run((made, alone)).estimates
    mine = [frame.filter(pl.col("judge") == "j0") for frame in (both, one)]
    mine = [frame.filter(~pl.col("statistic").str.contains("_holm|_bh")).sort(KEY) for frame in mine]
    columns = [*KEY, "value", "low", "high", "label", "n", "excluded"]
    for left, right in zip(*(frame.select(columns).iter_rows() for frame in mine), strict=True):
        assert all(near(x, y) for x, y in zip(left, right, strict=True)), (left, right)
