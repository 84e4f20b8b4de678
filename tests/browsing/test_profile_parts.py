"""The parts of a profile: what was chosen, from the estimates as they are."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reporting import fake_experiment, fake_profile
from tests.web.room.profiles_world import one_pair, real

from voirdire.browsing.estimate_rows import asked_of, levels, matching
from voirdire.browsing.library import NotThere
from voirdire.browsing.profile_parts import choose, part, parts_of
from voirdire.reporting import experiment
from voirdire.reporting.access import View
from voirdire.reporting.chosen import Choice, ChosenView, compared, pairs_of, printed, read_pair, slices_of
from voirdire.reporting.grid import Builder, Footnotes
from voirdire.reporting.report import build
from voirdire.reporting.words import Words
from voirdire.texts import text


@pytest.fixture(scope="module")
def six() -> View:
    return View(real(fake_profile.six_pools()))


def test_a_chosen_slice_stands_for_all_items_and_nothing_else_does(six: View) -> None:
    place = {"question": "q1", "judge": "alpha-judge", "condition": "-", "pool": "us"}
    here = ChosenView(six, Choice("q1", ("us", "ng"), "region=a"))
    found, whole = here.row("mae", **place), six.row("mae", **place)
    assert found is not None
    assert whole is not None
    assert found.slice == "region=a"
    assert found.value != whole.value
    assert found.value == six.row("mae", slice="region=a", **place).value  # type: ignore[union-attr]
    assert here.row("bias", **place) is None
    assert here.pairs("q1") == [("us", "ng")]
    assert [entry["id"] for entry in here.questions] == ["q1"]
    assert {row.slice for row in here.rows("mae", slice="all", question="q1")} == {"region=a"}
    assert six.row("mae", **place) == whole


def test_every_pair_can_be_chosen_in_either_order(six: View) -> None:
    assert len(pairs_of(six, "q1")) == 15
    assert pairs_of(six, "q1")[:3] == six.pairs("q1")
    assert read_pair(six, "q1", "b<r>,us") == ("us", "b<r>")
    assert read_pair(six, "q1", "us,us") is None
    assert choose(six, {"pair": printed(("印度尼西亚", "b<r>"))}).pair == ("印度尼西亚", "b<r>")
    assert choose(six, {}) == Choice("q1", ("us", "cn"))
    assert slices_of(six, "q3") == ["all"]


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ({"question": "x"}, "no_question"),
        ({"pair": "us"}, "no_pair"),
        ({"slice": "a=b"}, "no_slice"),
        ({"slice": "anchor=high"}, "no_anchor"),
    ],
)
def test_what_was_not_computed_cannot_be_chosen(six: View, asked: dict[str, str], key: str) -> None:
    with pytest.raises(NotThere) as told:
        choose(six, asked)
    assert told.value.key == f"room_profiles.{key}"
    assert told.value.message("zh") != told.value.message("en")


def test_parts_are_those_that_hold_something() -> None:
    none, factorial = View(real(fake_profile.no_judges())), View(real(fake_experiment.experiment()))
    assert parts_of(none, "q1") == ["overview", "notes", "estimates"]
    assert "experiment" in parts_of(factorial, "q1")
    builder = Builder(factorial, Words("en"), Footnotes(), "q1")
    assert experiment.sections(builder)
    six = View(real(fake_profile.six_pools()))
    assert "judges" in parts_of(six, "q2")
    assert "judges" not in parts_of(six, "q3")
    told = part(six, "overview", choose(six, {"question": "q3"}), "en").sections[0].blocks[0]
    assert told.paragraphs == ("No judge answered this question.",)


def test_a_part_has_the_sections_of_the_report_in_its_words() -> None:
    profile = real(fake_experiment.experiment())
    view = View(profile)
    for lang in ("en", "zh"):
        known = {section.title for section in build(profile, lang).sections}
        for name in ("judges", "pair", "slices", "experiment"):
            titles = [section.title for section in part(view, name, choose(view, {}), lang).sections]
            own = text("room_profiles.apart", lang, a="us", b="cn")
            assert titles
            assert set(titles) - {own} <= known


def test_a_pair_without_judges_is_told_with_its_command() -> None:
    view = View(one_pair())
    assert compared(view, "q1") == {("us", "cn")}
    (missing,) = part(view, "pair", choose(view, {"pair": "us,b<r>"}), "en").missing
    assert missing.command == "voirdire audit ... --pair 'us,b<r>'"
    assert part(view, "pair", choose(view, {}), "en").missing == ()


def test_a_slice_without_numbers_in_a_part_is_told_with_its_command() -> None:
    profile = real(fake_profile.two_pools())
    kept = profile.estimates.filter((pl.col("slice") == "all") | (pl.col("statistic") == "tilt"))
    view = View(real(profile_of(profile, kept)))
    (missing,) = part(view, "judges", choose(view, {"slice": "culture=cn"}), "en").missing
    assert missing.command == "voirdire audit ... --slice culture"


def test_anchor_classes_are_slices_of_a_pair_and_no_column(six: View) -> None:
    """``--slice anchor`` would fail: items have no such column."""
    with pytest.raises(NotThere) as told:
        choose(six, {"slice": "anchor=high", "pair": "us,ng"})
    assert "--slice" not in told.value.message("en")
    assert told.value.message("en").endswith("voirdire audit ... --pair us,ng")
    frame = fake_profile.two_pools().estimates
    other = pl.when(pl.col("slice") == "all").then(pl.lit("anchor=low")).otherwise(pl.col("slice"))
    kept = pl.concat([frame, frame.filter(statistic="n_items").with_columns(slice=other)])
    profile = real(profile_of(None, kept), slices=["all", "anchor=low"])
    view = View(profile)
    (missing,) = part(view, "judges", choose(view, {"slice": "anchor=low"}), "en").missing
    assert (missing.key, missing.command) == ("room_profiles.anchor_missing", "voirdire audit ... --pair us,cn")


def profile_of(profile: object, estimates: pl.DataFrame) -> fake_profile.FakeProfile:
    held = fake_profile.two_pools()
    return fake_profile.FakeProfile(estimates, dict(held.meta), held.distributions, held.items)


def test_filters_offer_what_is_left() -> None:
    frame = fake_profile.two_pools().estimates
    asked = asked_of({"statistic": "tilt", "judge": "claude-like", "page": "3", "lang": "zh"})
    assert asked == {"statistic": "tilt", "judge": "claude-like"}
    offered = levels(frame, asked)
    assert set(offered["slice"]) == set(matching(frame, asked)["slice"])
    assert "mae" in offered["statistic"]
    assert offered["pool_b"] == ["cn"]
    assert matching(frame, {"judge": "-", "statistic": "alpha"}).height == 2
