"""The headline names a part of T, permissiveness and the use of the scale only where an interval says so."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.reporting.fake_experiment import JUDGES, experiment
from tests.reporting.fake_profile import FakeProfile

from voirdire.reporting.access import Cell, View
from voirdire.reporting.assemble import summary
from voirdire.reporting.headline import sentences
from voirdire.reporting.words import Words

PAIR = ("us", "cn")
JUDGE = JUDGES[0]
NAMED = {"en": "The largest part of T is", "zh": "T 的最大部分是"}
NONE = {"en": "None of the parts of T can be told from 0.", "zh": "T 的各部分均无法与 0 区分。"}
Numbers = dict[tuple[str, str], tuple[float, float | None, float | None]]


def told(profile: FakeProfile, numbers: Numbers, lang: str = "en") -> list[str]:
    """The headline of a judge with (value, low, high) by statistic and slice; all other parts of T are -0.01 to 0.01.

    An entry of ``tilt_split.faithful`` is about no judge.
    """
    calm: Numbers = {
        (f"tilt_split.{name}", part): (0.0, -0.01, 0.01)
        for name in ("base", "image", "permissiveness", "orientation", "remainder", "observed")
        for part in ("all", "culture=us", "culture=cn")
    }
    calm |= {("tilt_split.faithful", f"culture={name}"): (0.0, None, None) for name in PAIR}
    calm[("orientation.pi", "all")] = (0.0, -0.1, 0.1)
    estimates = profile.estimates
    for (statistic, part), numbers_ in (calm | numbers).items():
        who, condition = ("", "") if statistic.endswith("faithful") else (JUDGE, "*")
        here = (
            (pl.col("statistic") == statistic) & (pl.col("slice") == part) & (pl.col("params") == "")
            & (pl.col("judge") == who) & (pl.col("condition") == condition)
        )  # fmt: skip
        assert estimates.filter(here).height > 0
        columns = {
            name: pl.when(here).then(pl.lit(number, pl.Float64)).otherwise(name)
            for name, number in zip(("value", "low", "high"), numbers_, strict=True)
        }
        estimates = estimates.with_columns(**columns)
    made = replace(profile, estimates=estimates)
    return sentences(View(made), Words(lang, PAIR), "q1", Cell(JUDGE, "*"))


@pytest.fixture(scope="module")
def profile(profiles) -> FakeProfile:
    return profiles["factorial"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_part_is_named_only_where_its_interval_leaves_out_0(profile, lang):
    """The larger orientation could be 0; the smaller image effect could not."""
    wide = {("tilt_split.orientation", "all"): (-0.3, -0.7, 0.1)}
    assert NONE[lang] in told(profile, wide, lang)
    found = told(profile, wide | {("tilt_split.image", "all"): (0.1, 0.05, 0.15)}, lang)
    name = Words(lang).x("part.image")
    assert any(text.startswith(NAMED[lang]) and name in text for text in found)
    assert NONE[lang] not in found


def test_of_several_parts_the_largest_is_named_whatever_its_sign(profile):
    parts = {("tilt_split.image", "all"): (0.1, 0.05, 0.15), ("tilt_split.base", "all"): (-0.2, -0.3, -0.1)}
    assert "The largest part of T is use of the scale." in told(profile, parts)


def test_without_intervals_no_part_is_named(profile):
    bare = replace(
        profile, estimates=profile.estimates.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    )
    found = sentences(View(bare), Words("en", PAIR), "q1", Cell(JUDGE, "*"))
    assert any(text.startswith("Its T of") for text in found)
    assert not [text for text in found if "part of T" in text or "parts of T" in text or "ermissive:" in text]
    assert not [text for text in found if "use of the scale (" in text]


@pytest.mark.parametrize(
    ("lang", "value", "word"),
    [("en", 0.7, "Permissive:"), ("en", -0.7, "Strict:"), ("zh", 0.7, "宽容："), ("zh", -0.7, "严格：")],
)
def test_permissive_is_said_where_pi_leaves_out_0(profile, lang, value, word):
    clear = told(profile, {("orientation.pi", "all"): (value, value - 0.1, value + 0.1)}, lang)
    assert [text for text in clear if text.startswith(word) and "0.70" in text]
    wide = told(profile, {("orientation.pi", "all"): (value, value - 1, value + 1)}, lang)
    assert not [text for text in wide if text.startswith(word)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_use_of_the_scale_is_told_by_culture(profile, lang):
    """Over all items the cultures cancel; within each the use of the scale alone moves T."""
    split = {
        ("tilt_split.base", "culture=us"): (0.41, 0.31, 0.51),
        ("tilt_split.observed", "culture=us"): (0.45, 0.35, 0.55),
        ("tilt_split.base", "culture=cn"): (-0.42, -0.52, -0.32),
        ("tilt_split.observed", "culture=cn"): (-0.46, -0.56, -0.36),
    }  # fmt: skip
    sentence = next(text for text in told(profile, split, lang) if "+0.41" in text)
    assert all(number in sentence for number in ("+0.45", "+0.41", "−0.46", "−0.42"))
    same = {("tilt_split.faithful", "culture=us"): (0.41, None, None),
            ("tilt_split.faithful", "culture=cn"): (-0.42, None, None)}  # fmt: skip
    assert not [text for text in told(profile, split | same, lang) if "+0.41" in text]


def test_a_use_of_the_scale_that_moves_t_less_than_a_faithful_judge_is_no_news(profile):
    split = {
        ("tilt_split.base", "culture=us"): (0.11, 0.05, 0.15),
        ("tilt_split.faithful", "culture=us"): (0.3, None, None),
    }
    assert not [text for text in told(profile, split) if "+0.11" in text]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_three_pools_name_the_ends_generally(profiles, lang):
    """What T and W run to is said of any pair, not of the first alone; with one pair by its pools."""

    def notes(made: FakeProfile, pools: tuple[str, ...]) -> str:
        blocks = summary(View(made), Words(lang, pools)).blocks
        return str([block.paragraphs for block in blocks if getattr(block, "style", "") in ("note", "caution")])

    general = Words(lang).x("headline.first_pool")
    assert notes(experiment(("us", "cn", "in")), ("us", "cn", "in")).count(general) >= 2
    assert general not in notes(profiles["factorial"], PAIR)
