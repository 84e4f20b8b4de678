"""A report on pairwise votes: who prefers what, agreement with its ceilings, and no word of what does not exist."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.analysis.builders import VOTES, corpus, judged, judgments, rated

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.corpus.sides import SHOWN_FIRST
from voirdire.reporting.assemble import build
from voirdire.reporting.blocks import Report
from voirdire.reporting.terminal import terminal
from voirdire.reporting.words import Words
from voirdire.texts import catalogue

THINGS = ("<b>tea</b>", "cola", "milk")
ABSENT = ("Mean rating", "Pearson", "Spearman", "Orientation", "T (tilt)", "Share of low", "High anchors", "MAE")


@pytest.fixture(scope="module")
def profile() -> Profile:
    """Forty pairs of three drinks, two pools that differ, a judge that copies one and one that takes the first."""
    rng = np.random.default_rng(11)
    ids = [f"i{k}" for k in range(40)]
    pairs = [rng.choice(THINGS, 2, replace=False).tolist() for _ in ids]
    like = {"us": np.array([0.7, 0.2, 0.1]), "cn": np.array([0.2, 0.7, 0.1])}
    table = {
        pool: {
            item: tuple(rng.choice(3, 12, p=np.roll(share, k % 2) if k % 4 else share)) for k, item in enumerate(ids)
        }
        for pool, share in like.items()
    }
    items = pl.DataFrame({"item_id": ids, "a": [one for one, _ in pairs], "b": [two for _, two in pairs]})
    items = items.with_columns(kind=pl.Series(["hot", "cold"] * 20))
    said = {
        "copy": {item: float(np.bincount(table["us"][item]).argmax()) for item in ids},
        "first": dict.fromkeys(ids, 0.0),
    }
    rows = judgments(judged(said))
    rows = replace(rows, rows=rows.table.with_columns(pl.lit(0, pl.Int8).alias(SHOWN_FIRST)))
    made = corpus(rated(table), VOTES, items=items)
    return evaluate(made, rows, AuditOptions(draws=40, permutations=40))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sections(profile: Profile, lang: str) -> None:
    report = build(profile, lang)
    words = Words(lang)
    titles = [section.title for section in report.sections]
    for key in ("things", "judged", "position"):
        assert words.v(f"section.{key}") in titles
    assert words.t("section.pools") in titles
    assert not any(section.id.endswith(("claims", "decomposition")) for section in report.sections)


def test_no_column_of_what_does_not_exist(profile: Profile) -> None:
    report = build(profile, "en")
    for grid in grids(report):
        titles = [column.title for column in grid.columns]
        assert not [title for title in titles for word in ABSENT if word in title], (grid.id, titles)
        for place, title in enumerate(titles):
            entries = [line.entries[place] for line in grid.lines]
            assert any(entry.text and not entry.mark for entry in entries), (grid.id, title)


def grids(report: Report) -> list:
    """The tables of results, without the reckoning at the end."""
    return [
        grid for grid in report.grids() if grid.id not in ("undefined", "settings", "intake", "excluded", "families")
    ]


def test_who_prefers_what(profile: Profile) -> None:
    grid = next(grid for grid in build(profile, "en").grids() if grid.id.endswith("-things"))
    shares = [profile.get("preferred_share", params="thing=cola", pool=pool).value for pool in ("us", "cn")]
    line = next(line for line in grid.lines if line.heads == ("cola",))
    assert [entry.text for entry in line.entries[:2]] == [f"{share:.2f}" for share in shares]
    assert [column.title for column in grid.columns] == ["us", "cn", "us less cn"]
    first = [float(line.entries[0].text) for line in grid.lines]
    assert first == sorted(first, reverse=True)


def test_sentences(profile: Profile) -> None:
    shown = " ".join(terminal(profile, "en").split())
    best, human = (profile.get(f"agreement.{name}", pool="us").value for name in ("best", "human"))
    mine = profile.get("agreement", pool="us", judge="copy", condition="-")
    assert f"Agreement {mine.value:.2f}" in shown
    assert f"best possible {best:.2f}, of raters {human:.2f}" in shown
    assert "agrees with its votes as much as one of its own raters" in shown
    assert "T runs from" not in shown


def test_html_escapes_the_things(profile: Profile) -> None:
    page = profile.to_html()
    assert "<b>tea</b>" not in page
    assert "&lt;b&gt;tea&lt;/b&gt;" in page


def test_a_thing_is_not_the_plain_estimate(profile: Profile) -> None:
    """Parameters that name a thing or ties are a number of their own, never what is meant without them."""
    plain = profile.get("agreement", pool="us", judge="copy", condition="-")
    assert plain.signature.params == {}
    grid = next(grid for grid in build(profile, "en").grids() if grid.id.endswith("-judges"))
    assert grid.lines[0].entries[0].text == f"{plain.value:.2f}"


def test_both_languages_say_the_same_things() -> None:
    keys = [{key for key in catalogue(lang) if key.startswith("report_pairwise.")} for lang in ("en", "zh")]
    assert keys[0] == keys[1]
    assert len(keys[0]) > 30
