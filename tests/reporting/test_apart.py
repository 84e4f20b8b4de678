"""No table has two columns that read alike: the heading tells what sets their definitions apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from tests.reporting.fake_experiment import JUDGES
from tests.reporting.fake_profile import FakeProfile

from voirdire.reporting.access import View
from voirdire.reporting.assemble import build
from voirdire.reporting.glance import matrix
from voirdire.reporting.grid import Builder, Footnotes, Grid
from voirdire.reporting.words import Words

PAIR = ("us", "cn")


def glance(profile: FakeProfile, lang: str, before: str, after: str, statistic: str) -> Grid:
    """The matrix at the top with one judge's definition of a statistic changed."""
    here = (pl.col("statistic") == statistic) & (pl.col("judge") == JUDGES[1])
    signature = pl.when(here).then(pl.col("signature").str.replace(before, after)).otherwise(pl.col("signature"))
    view = View(replace(profile, estimates=profile.estimates.with_columns(signature=signature)))
    return matrix(Builder(view, Words(lang, PAIR), Footnotes(), "q1", 4), view.main_cells())


@pytest.mark.parametrize(
    ("before", "after", "headings"),
    [
        ("consensus=mean", "consensus=median", ("consensus: mean", "consensus: median")),
        ("consensus=mean", "consensus=mean,image=none", ("", "no image effect")),
        ("consensus=mean", "consensus=mean,family=3", ("", "of 3 tests")),
    ],
)
def test_what_differs_is_in_the_heading(profiles, before, after, headings):
    grid = glance(profiles["factorial"], "en", before, after, "orientation.w")
    shown = [column.title for column in grid.columns if column.title.startswith("W: us / cn")]
    assert shown == [f"W: us / cn ({text})" if text else "W: us / cn" for text in headings]


@pytest.mark.parametrize(
    ("lang", "headings"),
    [
        ("en", ["MAE: us (interval: percentile:0.95:items)", "MAE: us (without an interval)"]),
        ("zh", ["MAE：us（区间：percentile:0.95:items）", "MAE：us（无区间）"]),
    ],
)
def test_settings_of_intervals_are_not_told_beside_that_there_is_none(profiles, lang, headings):
    profile = profiles["factorial"]
    told = profile.estimates.with_columns(
        signature=pl.col("signature").str.replace("items)", "items,draws=200)", literal=True)
    )
    grid = glance(replace(profile, estimates=told), lang, r"interval=[^,]+,draws=200", "interval=none", "mae")
    assert [column.title for column in grid.columns if column.title.startswith(headings[0][:7])] == headings


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["two", "six", "factorial"])
def test_no_two_columns_of_a_table_read_alike(profiles, name, lang):
    for grid in build(profiles[name], lang).grids():
        twice = [key for key, count in Counter((c.title, c.group) for c in grid.columns).items() if count > 1]
        assert twice == [], grid.id
