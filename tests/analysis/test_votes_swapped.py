"""Nothing that an audit of pairwise votes says depends on which of the two things is called the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.builders import KEY, World, run

from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.corpus.sides import SHOWN_FIRST

THINGS = ("Ada", "Bo", "Cy", "Di")
CURVE = ["question", "judge", "condition", "pool", "pool_b", "statistic", "consensus", "min_gap", "anchors", "pools",
         "correction", "subset"]  # fmt: skip
SAME = ("value", "low", "high", "n", "label", "undefined", "excluded")


def votes(seed: int, scale: str, *, items: int, raters: int, orders: int, pools: int = 2) -> tuple[Corpus, Judgments]:
    """A corpus of pairs of four things and two judges, who and which thing was shown first at random."""
    world = World(seed, scale, items, pools, raters, judges=2, repeats=orders, gaps=0.2, lost=0.1)
    made, judged = world.make()
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(THINGS, 2, replace=False).tolist() for _ in range(items)]
    kinds = pl.Series("category", rng.choice(["x", "y"], items).tolist())
    frame = made.items.with_columns(a=pl.Series([one for one, _ in pairs]), b=pl.Series([two for _, two in pairs]))
    seen = pl.Series(SHOWN_FIRST, rng.choice([0, 1, None], made.ratings.height).tolist(), dtype=pl.Int8)
    given = pl.Series(SHOWN_FIRST, rng.choice([0, 1, None], judged.table.height, p=[0.4, 0.4, 0.2]).tolist(), pl.Int8)
    return replace(made, items=frame.with_columns(kinds), ratings=made.ratings.with_columns(seen)), replace(
        judged, rows=judged.table.with_columns(given)
    )


def swapped(made: Corpus, judged: Judgments, which: np.ndarray) -> tuple[Corpus, Judgments]:
    """The same votes with the two things of these items in the other columns and under the other labels."""
    turned = set(made.items["item_id"].filter(pl.Series(which)))

    def turn(frame: pl.DataFrame) -> pl.DataFrame:
        here = pl.col("item_id").is_in(list(turned))
        value, shown = pl.col("value"), pl.col(SHOWN_FIRST)
        return frame.with_columns(
            value=pl.when(here & (value < 2)).then(1 - value).otherwise(value),
            **{SHOWN_FIRST: pl.when(here).then(1 - shown).otherwise(shown)},
        )

    here = pl.col("item_id").is_in(list(turned))
    items = made.items.with_columns(a=pl.when(here).then("b").otherwise("a"), b=pl.when(here).then("a").otherwise("b"))
    return replace(made, items=items, ratings=turn(made.ratings)), replace(judged, rows=turn(judged.table))


def same(one: pl.DataFrame, other: pl.DataFrame, key: list[str]) -> None:
    left, right = (frame.select(*key, *(c for c in SAME if c in frame.columns)).sort(key) for frame in (one, other))
    assert left.select(key).equals(right.select(key))
    for mine, theirs in zip(left.iter_rows(), right.iter_rows(), strict=True):
        for x, y in zip(mine, theirs, strict=True):
            near = x == y or (isinstance(x, float) and isinstance(y, float) and abs(x - y) <= 1e-12)
            assert near, (mine, theirs)


@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from(["votes", "votes without ties"]),
    items=st.integers(1, 8),
    raters=st.integers(1, 6),
    orders=st.integers(1, 2),
    anonymous=st.booleans(),
    data=st.data(),
)
@settings(max_examples=6, deadline=None)
def test_swapping_the_things_of_any_items(
    seed: int, scale: str, items: int, raters: int, orders: int, anonymous: bool, data: st.DataObject
) -> None:
    made, judged = votes(seed, scale, items=items, raters=raters, orders=orders)
    made = replace(made, anonymous_raters=anonymous)
    which = np.array(data.draw(st.lists(st.booleans(), min_size=items, max_size=items)))
    one, other = run((made, judged)), run(swapped(made, judged, which))
    same(one.estimates, other.estimates, KEY)
    same(one.specifications, other.specifications, CURVE)
    bars = ["question", "kind", "name", "condition", "level"]
    assert one.distributions.sort(bars).equals(other.distributions.sort(bars))


SIGNED = ("delta", "preferred_share.gap")
SYMMETRIC = ("cross_pool_tv", "cross_pool_preference_r", "preference.reversed", "gap_test.p", "gap_test.null_mean")


@given(seed=st.integers(0, 10**6), items=st.integers(2, 8), raters=st.integers(1, 5))
@settings(max_examples=4, deadline=None)
def test_swapping_the_pools_turns_signs(seed: int, items: int, raters: int) -> None:
    made, judged = votes(seed, "votes", items=items, raters=raters, orders=1)
    forth, back = (
        {row[:-1]: row[-1] for row in run((made, judged), pairs=(pair,)).estimates.select(*KEY, "value").iter_rows()}
        for pair in (("p0", "p1"), ("p1", "p0"))
    )
    checked = 0
    for key, value in forth.items():
        if key[0] in (*SIGNED, *SYMMETRIC) or (key[0] == "tilt" and "ratio" in key[1]):
            other = back.get((*key[:3], key[4], key[3], *key[5:]))
            wanted = value if value is None or key[0] in SYMMETRIC else -value
            if not key[5].startswith("control:midpoint"):
                assert wanted == other or wanted == pytest.approx(other, abs=1e-12), key
                checked += 1
    assert checked
