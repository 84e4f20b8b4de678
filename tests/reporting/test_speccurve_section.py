"""The report shows the specification curve that the profile holds: sentences, figure, table; nothing without one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile

from voirdire.analysis.specifications import SPECIFICATIONS
from voirdire.analysis.survival import survival
from voirdire.reporting.assemble import build
from voirdire.reporting.blocks import Bullets, Figure, Folded
from voirdire.reporting.files import charts_of
from voirdire.reporting.latex import tables_of
from voirdire.reporting.markdown import markdown
from voirdire.reporting.render import html
from voirdire.reporting.speccurve_section import sentences

NAME = "q1-speccurve-1"
VALUES = {"tilt": (0.4, 0.2, -0.1), "orientation.w": (0.2, 0.3, 0.4), "delta": (-0.3, -0.2, None)}


def curve(judges: list[str]) -> pl.DataFrame:
    """Three definitions of every number: the main one, one on all items, one on a subset."""
    rows = [
        {
            "question": "q1", "judge": judge, "condition": "*", "pool": "us", "pool_b": "cn", "statistic": statistic,
            "consensus": "median" if place == 1 else "mean", "anchors": "in", "pools": "raw", "correction": "no",
            "subset": "culture=us" if place == 2 else "all", "value": value,
            "low": None if value is None else value - 0.05, "high": None if value is None else value + 0.05,
            "undefined": "few_items" if value is None else None, "n": 20, "main": place == 0, "signature": "",
        }
        for judge in judges
        for statistic, values in VALUES.items()
        for place, value in enumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SPECIFICATIONS)


@pytest.fixture(scope="module")
def profile(profiles) -> FakeProfile:
    return replace(profiles["two"], specifications=curve([HOSTILE_JUDGE, "plain"]))


def section(profile: FakeProfile, lang: str = "en"):
    return next(part for part in build(profile, lang).sections if part.id == NAME)


def test_the_sentence_of_a_judge_counts_its_definitions(profile):
    told = dict(sentences(survival(profile.specifications), "en"))
    assert told["plain"] == (
        "T (tilt) keeps its sign on all items, but not in every subset of the items (2 of 3); "
        "W (orientation) keeps its sign under every definition (3 of 3); "
        "Delta keeps its sign under every definition (2 of 2)."
    )


def test_a_number_without_a_main_value_has_no_count(profile):
    gone = profile.specifications.with_columns(
        value=pl.when(pl.col("main") & (pl.col("statistic") == "orientation.w")).then(None).otherwise("value")
    )
    told = dict(sentences(survival(gone), "en"))["plain"]
    assert "W (orientation) is undefined under the main definition; Delta" in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_section_has_sentences_a_figure_and_the_table_folded(profile, lang):
    blocks = section(profile, lang).blocks
    told = next(block for block in blocks if isinstance(block, Bullets))
    assert [judge for judge, _ in told.entries] == [HOSTILE_JUDGE, "plain"]
    figure = next(block for block in blocks if isinstance(block, Figure))
    assert len(figure.spec["hconcat"]) == 3
    folded = next(block for block in blocks if isinstance(block, Folded))
    assert len(folded.blocks[0].lines) == 6
    assert len(folded.blocks[0].heads) == 2


def test_it_is_in_every_output(profile):
    report = build(profile, "en")
    page = html(report)
    assert f'id="{NAME}"' in page
    assert "<b>judge</b>" not in page
    assert "Does the sign survive the definition" in markdown(report)
    assert NAME in charts_of(report)
    assert NAME in tables_of(report)
    assert NAME in {grid.id for grid in report.grids()}


def test_an_older_profile_and_one_without_a_value_have_no_section(profiles, profile):
    nothing = profile.specifications.with_columns(value=pl.lit(None, pl.Float64))
    for made in (profiles["two"], replace(profile, specifications=nothing)):
        assert NAME not in {part.id for part in build(made, "en").sections}


def test_many_judges_are_folded_and_the_figure_has_the_first(profiles):
    names = [f"judge-{place:02d}" for place in range(15)]
    blocks = section(replace(profiles["two"], specifications=curve(names))).blocks
    folds = [block for block in blocks if isinstance(block, Folded)]
    assert [len(fold.blocks) for fold in folds] == [1, 1]
    assert len(folds[0].blocks[0].entries) == 15
    drawn = str(next(block for block in blocks if isinstance(block, Figure)).spec)
    assert "judge-11" in drawn
    assert "judge-12" not in drawn
    assert "3 more judges" in str(blocks)
