"""Verdicts on the items of a pilot."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotation.lead_world import NOW, corpus_folder, joined, make_batch, rate, rated_world

from voirdire.annotation.collected import collect
from voirdire.annotation.database import Database
from voirdire.annotation.export import write_export
from voirdire.annotation.material import read_shown
from voirdire.annotation.verdicts import PoolAnswers, decide, decisions, item_verdicts, suggested
from voirdire.errors import NotFoundError, UsageError

ANSWERS = ("usable", "factual", "same", "stereotype", "unclear")
counted = st.dictionaries(st.sampled_from(ANSWERS), st.integers(0, 5))


def test_one_pool_that_finds_a_fault_drops_the_item():
    fine, faulty = PoolAnswers({"usable": 5}, 5), PoolAnswers({"usable": 2, "factual": 2, "same": 1}, 5)
    assert suggested({"us": fine, "cn": fine}) == "keep"
    assert suggested({"us": fine, "cn": faulty}) == "drop"
    assert suggested({"us": fine, "cn": PoolAnswers({}, 5)}) == "undecided"
    assert list(faulty.reasons) == ["factual", "same"]


@given(counted, st.integers(1, 9))
def test_a_verdict_of_a_pool_stands_whatever_raters_still_come(counts, wanted):
    answers = PoolAnswers(counts, wanted)
    left = max(0, wanted - answers.n)
    for more in ("usable", "factual"):
        later = PoolAnswers({**counts, more: counts.get(more, 0) + left}, wanted)
        if answers.verdict != "undecided" and answers.n <= wanted:
            assert later.verdict == answers.verdict


def test_a_pilot_tells_for_each_item_what_its_raters_found(db: Database, tmp_path: Path):
    _, batch = rated_world(db, tmp_path / "corpus", kind="pilot")
    found = {one.item_id: one for one in item_verdicts(collect(db, batch.id), {})}
    assert list(found) == list(batch.spec.items)
    assert {found[f"us-{pair}"].suggested for pair in range(4)} == {"keep"}
    assert found["cn-5"].suggested == "drop"
    assert found["cn-5"].pools["us"].reasons == {"stereotype": 3}
    assert found["us-0"].gap > 2
    assert found["us-0"].pools["us"].mean < 2 < 4 < found["us-0"].pools["cn"].mean
    assert found["us-0"].pools["us"].subjective > 0.3


def test_the_export_of_a_pilot_holds_the_verdicts(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus", kind="pilot")
    decide(db, batch.id, "us-0", "drop", note="=too easy", now=NOW)
    files = write_export(db, batch.id, shown, tmp_path / "out")
    assert tmp_path / "out" / "verdicts.csv" in files
    table = {row["item_id"]: row for row in pl.read_csv(tmp_path / "out" / "verdicts.csv").to_dicts()}
    assert list(table) == list(batch.spec.items)
    first, last = table["us-0"], table["cn-5"]
    assert (first["verdict"], first["suggested"], first["decided_by_lead"], first["note"]) == (
        "drop", "keep", True, "'=too easy",
    )  # fmt: skip
    assert (last["verdict"], last["usable.us"], last["raters.us"], last["faults.us"]) == ("drop", 0, 3, "stereotype=3")
    assert "`verdicts.csv`" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_verdicts_of_an_earlier_export_do_not_stay_and_those_of_others_do(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    pilot, other = make_batch(db, shown, kind="pilot"), make_batch(db, shown)
    write_export(db, pilot.id, shown, tmp_path / "out")
    write_export(db, other.id, shown, tmp_path / "out")
    assert not (tmp_path / "out" / "verdicts.csv").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "verdicts.csv").write_text("mine")
    write_export(db, other.id, shown, tmp_path / "mine")
    assert (tmp_path / "mine" / "verdicts.csv").read_text() == "mine"


def test_the_verdicts_of_a_pilot_that_nobody_rated_are_written(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown, kind="pilot")
    write_export(db, batch.id, shown, tmp_path / "out")
    assert set(pl.read_csv(tmp_path / "out" / "verdicts.csv")["verdict"]) == {"undecided"}


def test_without_ratings_nothing_is_decided(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown, kind="pilot")
    found = item_verdicts(collect(db, batch.id), {})
    assert {one.suggested for one in found} == {"undecided"}
    assert {one.gap for one in found} == {None}


def test_the_leads_decision_counts_and_can_be_changed_and_taken_back(db: Database, tmp_path: Path):
    _, batch = rated_world(db, tmp_path / "corpus", kind="pilot")
    decide(db, batch.id, "us-0", "drop", note="too easy <b>", now=NOW)
    decide(db, batch.id, "us-0", "undecided", note="look again", now=NOW + 1)
    kept = decisions(db, batch.id)
    assert (kept["us-0"].verdict, kept["us-0"].note, kept["us-0"].decided_at) == ("undecided", "look again", NOW + 1)
    (first, *_) = item_verdicts(collect(db, batch.id), kept)
    assert (first.suggested, first.verdict) == ("keep", "undecided")
    decide(db, batch.id, "us-0", None, now=NOW + 2)
    assert decisions(db, batch.id) == {}


def test_what_cannot_be_decided_is_refused(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    pilot, other = make_batch(db, shown, kind="pilot"), make_batch(db, shown)
    with pytest.raises(UsageError, match="no pilot"):
        decide(db, other.id, "us-0", "keep", now=NOW)
    with pytest.raises(NotFoundError, match="no item 'xx'"):
        decide(db, pilot.id, "xx", "keep", now=NOW)
    with pytest.raises(UsageError, match="no verdict"):
        decide(db, pilot.id, "us-0", "maybe", now=NOW)
    with pytest.raises(UsageError, match="2000"):
        decide(db, pilot.id, "us-0", "keep", note="x" * 2001, now=NOW)
    for note in ("a\x00b", "a\ud800b"):
        with pytest.raises(UsageError, match="no text"):
            decide(db, pilot.id, "us-0", "keep", note=note, now=NOW)
    assert decisions(db, pilot.id) == {}


def test_a_batch_that_does_not_ask_whether_items_are_usable_suggests_nothing(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown)
    rate(db, batch, joined(db, batch, "us", 1))
    assert {one.suggested for one in item_verdicts(collect(db, batch.id), {})} == {"undecided"}
