"""The JSON for dashboards and the section for model cards: every number of the profile, nothing undefined made up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.policy.fakes import profile
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile, no_judges, six_pools, two_pools

import voirdire
from voirdire.cli.main import run
from voirdire.exchange.exporters.dashboard import write_dashboard
from voirdire.exchange.exporters.model_card import BEGIN, END, write_model_card
from voirdire.reporting.access import View
from voirdire.reporting.markdown import escape
from voirdire.reporting.words import Words
from voirdire.texts import text

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "tools" / "dashboard.md"
MAKERS = (two_pools, six_pools, no_judges)


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def made(request: pytest.FixtureRequest) -> FakeProfile:
    return request.param()


def document(made: Any) -> dict[str, Any]:
    def refused(word: str) -> None:
        raise AssertionError(word)

    return json.loads(write_dashboard(made, "en"), parse_constant=refused)


def estimates(found: Any) -> list[dict[str, Any]]:
    if isinstance(found, list):
        return [one for entry in found for one in estimates(entry)]
    if isinstance(found, dict):
        return [found] if "signature" in found else [one for entry in found.values() for one in estimates(entry)]
    return []


def test_numbers_are_those_of_the_profile(made: FakeProfile) -> None:
    view, names = View(made), {"w": "orientation.w", "orientation_verdict": "orientation.verdict"}
    judges = document(made)["judges"]
    assert bool(judges) == bool(made.meta["judges"])
    for entry in judges:
        place = {name: entry[name] for name in ("question", "judge", "condition")}
        assert [one["pool"] for one in entry["pools"]] == view.pools_of(entry["question"])
        for one in (*entry["pools"], *entry["pairs"]):
            at = place | {name: one[name] for name in ("pool", "pool_b") if name in one}
            for key, shown in one.items():
                if key not in ("pool", "pool_b", "tilt_ratio"):
                    row = view.row(names.get(key, key), **at)
                    assert (row is None) == (shown is None)
                    assert row is None or shown == {field: getattr(row, field) for field in shown}


def test_what_is_undefined_says_why_and_is_no_number(made: FakeProfile) -> None:
    found = estimates(document(made))
    assert found
    for one in found:
        assert (one["undefined"] is None) or (one["value"] is None and one["label"] is None)
        assert one["value"] is not None or one["label"] is not None or one["undefined"]


def test_every_name_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")

    def names(found: Any) -> set[str]:
        entries = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        own = set(found) if isinstance(found, dict) else set()
        return own.union(*(names(entry) for entry in entries))

    shown = document(two_pools())
    assert [name for name in sorted(names(shown)) if f"`{name}`" not in page] == []
    assert f"`{shown['schema']}`" in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_card_escapes_and_has_no_front_matter(made: FakeProfile, lang: str) -> None:
    card = write_model_card(made, lang)
    assert card.startswith(f"{BEGIN}\n")
    assert card.endswith(f"{END}\n")
    assert "<" not in re.sub(r"\\<", "", card.replace(BEGIN, "").replace(END, ""))
    assert not [line for line in card.splitlines() if line.startswith("---") or "[^" in line]
    widths = [[len(re.findall(r"(?<!\\)\|", row)) for row in part.splitlines()] for part in card.split("\n\n")]
    assert all(len(set(width)) == 1 for width in widths if width[0])
    assert all(f"| {escape(pool)} |" in card for pool in View(made).pools)


def test_a_card_shows_the_judges_and_their_intervals() -> None:
    card = write_model_card(two_pools(), "en")
    assert escape(HOSTILE_JUDGE) in card
    assert re.search(r"\| \d\.\d\d \\\[\d\.\d\d, \d\.\d\d\\\] \|", card)
    assert "结论" in write_model_card(two_pools(), "zh")


def test_a_card_says_why_a_verdict_is_open_and_every_setting_once() -> None:
    card = write_model_card(two_pools(), "en")
    assert "whom each of these judges agrees with" in card
    assert "| us | cn | 0.76 \\[0.71, 0.81\\] | p \\< 0.001 | yes |" in card
    reasons = card.partition("Why a verdict is left open")[2].partition("**How the numbers")[0]
    assert "**constant-judge**: Between us and cn: cannot say, for want of" in reasons
    assert "undecided, because the interval of delta corrected for rater noise reaches 0" in reasons
    assert card.count("consensus = mean") == 1


def test_a_card_of_votes_has_the_columns_of_the_report() -> None:
    said = {"us": "b b a", "cn": "a tie a"}
    rows = [
        (item, f"{pool}{k}", pool, vote) for item in "123" for pool in said for k, vote in enumerate(said[pool].split())
    ]
    ratings = pl.DataFrame(rows, schema=["item_id", "rater_id", "pool", "rating"], orient="row")
    items = pl.DataFrame({"item_id": list("123"), "a": ["tea", "milk", "tea"], "b": ["cola", "tea", "milk"]})
    judged = pl.DataFrame({"item_id": list("123"), "judge": "m", "rating": ["a", "b", "a"]})
    made = voirdire.audit(ratings=ratings, items=items, judgments=judged, level="pairwise", draws=0)
    card = write_model_card(made, "en")
    against = next(line for line in card.splitlines() if line.startswith("| Judge | Pool |"))
    for name in ("agreement.best", "agreement.human"):
        assert Words("en", ()).statistic(name) in against
    assert text("report_pairwise.head.blind", "en") in against
    assert "Preferred share of every thing, by pool" in card
    assert "whom this judge agrees with" in card


@pytest.mark.parametrize("form", ["dashboard", "model-card"])
def test_commands(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile().save(tmp_path / "audit")
    out = tmp_path / "new" / "file"
    assert run(["export", form, str(tmp_path / "audit"), "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"command": "export", "format": form, "file": str(out), "bytes": out.stat().st_size}
    assert run(["export", form, str(tmp_path / "audit"), "--out", str(tmp_path)]) == 3
    assert "Name the file to write" in capsys.readouterr().err
    assert run(["export", form, str(tmp_path / "nowhere"), "--out", str(out)]) == 3
    assert run(["export", form, str(tmp_path / "audit"), "--out", str(out), "--judgments", "x"]) == 3
