"""How far a batch is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.annotation.lead_world import (
    NOW,
    POOLS,
    answer,
    corpus_folder,
    joined,
    make_batch,
    rate,
    rated_world,
)

from voirdire.annotation.assignments import assign, release_expired, work
from voirdire.annotation.batches import set_open
from voirdire.annotation.collected import collect, last_event
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.annotation.material import read_shown
from voirdire.annotation.progress import progress, records_of
from voirdire.annotation.raters import delete_rater, join
from voirdire.errors import NotFoundError


@pytest.fixture
def shown(tmp_path: Path):
    return read_shown(corpus_folder(tmp_path / "corpus"))


def test_nothing_is_done_before_anybody_came(db: Database, shown):
    batch = make_batch(db, shown)
    found = progress(db, batch.id, NOW)
    assert list(found.pools) == list(POOLS)
    assert found.raters == ()
    for pool in found.pools.values():
        assert (pool.wanted, pool.done, pool.open, pool.items_complete, pool.raters_active) == (36, 0, 0, 0, 0)


def test_a_batch_that_everybody_finished_is_complete(db: Database, tmp_path: Path):
    _, batch = rated_world(db, tmp_path / "corpus", repeats=2)
    found = progress(db, batch.id, NOW + 100)
    for pool in found.pools.values():
        assert (pool.done, pool.open, pool.partial, pool.surplus) == (36, 0, 0, 0)
        assert (pool.items_complete, pool.finished, pool.raters_active) == (12, 3, 0)
    assert {(rater.done, rater.total) for rater in found.raters} == {(15, 15)}
    assert all(rater.median_seconds > 3 for rater in found.raters)
    assert all(rater.flags == () for rater in found.raters)


def test_what_is_begun_is_open_and_told_as_begun(db: Database, shown):
    batch = make_batch(db, shown)
    (rater,) = joined(db, batch, "us", 1)
    assign(db, rater.id, NOW)
    first = next(one for one in work(db, rater.id) if one.kind == "item")
    answer(db, rater, first, {"q1": "4"})
    us = progress(db, batch.id, NOW + 61).pools["us"]
    assert (us.done, us.open, us.partial, us.raters_active, us.raters_here) == (0, 12, 1, 1, 1)


def test_raters_who_left_are_not_here_and_what_they_held_goes_back(db: Database, shown):
    batch = make_batch(db, shown, gold=False)
    rate(db, batch, joined(db, batch, "us", 1), most=3)
    assert progress(db, batch.id, NOW + 60 + 600).pools["us"].raters_here == 1
    assert progress(db, batch.id, NOW + 60 + 601).pools["us"].raters_here == 0
    later = NOW + 61 * 60 + 61
    us = progress(db, batch.id, later).pools["us"]
    assert (us.raters_active, us.raters_here, us.done, us.open) == (1, 0, 3, 9)
    release_expired(db, batch.id, later)
    after = progress(db, batch.id, later).pools["us"]
    assert (after.done, after.open) == (3, 0)


def test_those_who_were_screened_out_and_those_who_were_deleted_are_counted(db: Database, shown):
    batch = make_batch(db, shown)
    people = joined(db, batch, "cn", 2)
    rate(db, batch, people)
    invitation, _ = invite(db, batch.id, "cn", now=NOW)
    join(db, invitation, language="zh", attributes={}, passed=False, now=NOW)
    delete_rater(db, people[0].id, NOW + 200)
    found = progress(db, batch.id, NOW + 200)
    cn = found.pools["cn"]
    assert (cn.screened_out, cn.deleted, cn.finished, cn.done) == (1, 1, 1, 12)
    assert people[0].id not in {rater.id for rater in found.raters}
    assert found.pools["us"].done == 0


def test_a_late_answer_of_what_was_given_to_others_is_surplus(db: Database, shown):
    batch = make_batch(db, shown, raters_per_item=1, gold=False)
    slow, fast = joined(db, batch, "us", 2)
    assign(db, slow.id, NOW)
    held = work(db, slow.id)[0]
    later = NOW + 2 * 3600
    assign(db, fast.id, later)
    rate(db, batch, [fast])
    answer(db, slow, held, dict.fromkeys(("q1", "q2", "q3", "q4"), "3"))
    us = progress(db, batch.id, later).pools["us"]
    assert (us.done, us.surplus, us.items_complete) == (12, 1, 12)


def test_the_number_of_the_last_change_grows_with_every_change(db: Database, shown):
    batch = make_batch(db, shown)
    seen = [last_event(db, batch.id)]
    rate(db, batch, joined(db, batch, "us", 1), most=1)
    seen.append(last_event(db, batch.id))
    set_open(db, batch.id, False, NOW)
    seen.append(last_event(db, batch.id))
    assert seen == sorted(set(seen))
    assert collect(db, batch.id).event == seen[-1]


def test_a_batch_that_does_not_exist_is_told(db: Database):
    with pytest.raises(NotFoundError):
        progress(db, 99, NOW)


def test_records_hold_what_the_checks_look_at(db: Database, tmp_path: Path):
    _, batch = rated_world(db, tmp_path / "corpus", repeats=2)
    records = records_of(collect(db, batch.id))
    assert len(records) == 6
    for record in records:
        assert {len(answers) for answers in record.answers.values()} == {12}
        assert record.gold == [True]
        assert {len(pairs) for pairs in record.repeats.values()} == {2}
        assert len(record.seconds) == 12
        assert sum(record.others["q1"].values()) == pytest.approx(1)


def test_what_others_answered_leaves_the_rater_out(db: Database, shown):
    batch = make_batch(db, shown, gold=False)
    people = joined(db, batch, "us", 2)
    for rater, value in zip(people, ("1", "5"), strict=True):
        assign(db, rater.id, NOW)
        for one in work(db, rater.id):
            answer(db, rater, one, dict.fromkeys(("q1", "q2", "q3", "q4"), value))
    first, second = records_of(collect(db, batch.id))
    assert first.others["q1"] == {"5": 1.0}
    assert second.others["q1"] == {"1": 1.0}
    assert progress(db, batch.id, NOW).raters[0].flags[0].kind == "same_answer"


def test_a_single_answer_of_somebody_else_tells_nothing_of_a_rater(db: Database, shown):
    batch = make_batch(db, shown, gold=False)
    first, second = joined(db, batch, "us", 2)
    for rater, value, most in ((first, "4", 12), (second, "5", 1)):
        assign(db, rater.id, NOW)
        mine = work(db, rater.id)
        for place, one in enumerate(mine[:most]):
            answer(db, rater, one, dict.fromkeys(("q1", "q2", "q3", "q4"), value if place != 5 else "3"))
    assert progress(db, batch.id, NOW).raters[0].flags == ()
