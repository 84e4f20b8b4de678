"""Every folder of public ratings ends with a report, and no row is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl
import pytest
from tests.real_data.folders import CASES, Audit

import voirdire
from voirdire.browsing.compared import read_compared
from voirdire.browsing.comparison import EVERY, Choice, Side, compare
from voirdire.texts import has

pytestmark = pytest.mark.slow
WRITTEN = {"report.html", "report.md", "estimates.csv", "profile.json", "tables", "figures", "compared"}
MISSING_WRITTEN_OUT = re.compile(r"(?:[=(\[|>]|^)\s*(?:None|nan|NaN|null|inf)\s*(?:[,)\]|<;]|$)", re.MULTILINE)


@pytest.fixture(params=list(CASES))
def found(request: pytest.FixtureRequest, audited: Callable[[str], Audit]) -> Audit:
    return audited(request.param)


def test_a_folder_ends_with_a_report(found: Audit) -> None:
    assert {path.name for path in found.out.iterdir()} == WRITTEN
    _every_row_is_accounted_for(found)
    _an_estimate_is_one_thing(found.estimates)
    _nothing_missing_is_written_out(found)
    _every_sum_over_items_comes_out_again(found)


def _every_row_is_accounted_for(found: Audit) -> None:
    for entry in found.profile["meta"]["intake"]:
        assert entry["rows_in"] == entry["rows_used"] + sum(entry["excluded"].values()), entry
        assert all(has(f"input.reason.{reason}") for reason in entry["excluded"]), entry


def _an_estimate_is_one_thing(estimates: pl.DataFrame) -> None:
    given = estimates.select(pl.sum_horizontal(pl.col("value", "label", "undefined").is_not_null())).to_series()
    assert given.unique().to_list() == [1]
    for name in ("value", "low", "high"):
        assert estimates[name].cast(pl.Float64).is_finite().all()
    assert (estimates["low"].is_null() == estimates["high"].is_null()).all()
    assert (estimates["low"] <= estimates["high"]).all()
    assert all(has(f"undefined.{reason}") for reason in estimates["undefined"].drop_nulls().unique())
    some = estimates["signature"].gather_every(max(1, estimates.height // 200)).to_list()
    assert [str(voirdire.Signature.parse(printed)) for printed in some] == some


def _nothing_missing_is_written_out(found: Audit) -> None:
    for name in ("report.html", "report.md"):
        written = MISSING_WRITTEN_OUT.findall((found.out / name).read_text(encoding="utf-8"))
        assert written == [], name


def test_the_pattern_finds_what_is_missing() -> None:
    for written in ("<td>None</td>", "| nan |", "T = NaN, x", "[null, 1]"):
        assert MISSING_WRITTEN_OUT.search(written)
    assert not MISSING_WRITTEN_OUT.search("None of the posts; my nan said null and void")


def _every_sum_over_items_comes_out_again(found: Audit) -> None:
    """From the item-level tables, by the code of comparisons."""
    side = Side("audit", "", voirdire.Profile.load(found.out), read_compared(found.out))
    for question in [entry["id"] for entry in side.profile.meta["questions"]][:2]:
        held = side.material(question)
        for part in side.profile.meta["slices"][:2]:
            choice = Choice(question, slice=part, statistic=EVERY)
            made = compare(side, side, choice, most=5000, draws=5, materials=(held, held))
            assert {line.difference.why for line in made.lines} <= {None, "not_sums", "not_held", "undefined_alone"}
            assert {line.difference.value for line in made.lines if line.difference.why is None} == {0.0}
