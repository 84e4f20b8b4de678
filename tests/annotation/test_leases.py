from __future__ import annotations

from itertools import pairwise

import pytest
from tests.annotation.studies import batch_of, complete, given, joined, pairs_of, rate_all
from tests.annotation.test_store import places

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, finish, places_left, release_expired, work
from voirdire.annotation.database import Database
from voirdire.annotation.nouns import Batch, Gold
from voirdire.annotation.ordering import apart
from voirdire.annotation.raters import delete_rater, rater, seen

HOUR = 3600.0


@pytest.fixture
def batch(db: Database) -> Batch:
    """One rater an item, so that places are scarce."""
    return batch_of(db, 4, raters_per_item=1)


def states(db: Database, rater_id: str) -> list[str]:
    return [one.state for one in work(db, rater_id)]


def test_places_of_a_rater_who_left_go_to_the_next(db: Database, batch: Batch) -> None:
    away, here = joined(db, batch), joined(db, batch)
    assert (assign(db, away, 0.0), assign(db, here, 1.0)) == (4, 0)
    complete(db, away, work(db, away)[0], 10.0)
    assert assign(db, here, 10.0 + HOUR) == 0
    assert assign(db, here, 30.0 + HOUR) == 3
    assert states(db, away) == ["done"]
    assert states(db, here) == ["open"] * 3


def test_a_rater_who_is_seen_keeps_what_is_open(db: Database, batch: Batch) -> None:
    slow, other = joined(db, batch), joined(db, batch)
    assign(db, slow, 0.0)
    seen(db, slow, HOUR)
    assert assign(db, other, 1.5 * HOUR) == 0
    assert release_expired(db, batch.id, 2 * HOUR) == 0
    assert release_expired(db, batch.id, 2 * HOUR + 16) == 4


def test_whether_places_are_left_is_found_without_taking_any_back(db: Database, batch: Batch) -> None:
    assert places_left(db, batch.id, "us", 0.0)
    away = joined(db, batch)
    assign(db, away, 0.0)
    complete(db, away, work(db, away)[0], 10.0)
    told = [places_left(db, batch.id, "us", now) for now in (10.0, 10.0 + HOUR, 30.0 + HOUR)]
    assert told == [False, False, True]
    assert places_left(db, batch.id, "cn", 10.0)
    assert states(db, away) == ["done", "open", "open", "open"]
    rate_all(db, away, 31.0 + HOUR)
    assert not places_left(db, batch.id, "us", 9 * HOUR)


def test_being_seen_is_written_at_most_every_fifteen_seconds(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    times = []
    for now in (10.0, 16.0, 30.0, 32.0):
        seen(db, who, now)
        found = rater(db, who)
        assert found is not None
        times.append(found.seen_at)
    assert times == [0.0, 16.0, 16.0, 32.0]


def test_another_pool_has_places_of_its_own(db: Database, batch: Batch) -> None:
    assign(db, joined(db, batch, "us"), 0.0)
    assert assign(db, joined(db, batch, "cn"), 0.0) == 4


def test_a_rater_who_comes_back_goes_on_in_the_same_order(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    assign(db, who, 0.0)
    before = work(db, who)
    save(db, who, given(before[1].id, "q1", "2"), 1.0)
    assert release_expired(db, batch.id, 2 * HOUR) == 4
    assert work(db, who) == []
    assert assign(db, who, 3 * HOUR) == 4
    after = work(db, who)
    assert [(one.id, one.place) for one in after] == [(one.id, one.place) for one in before]
    assert after[1].answers["q1"].value == "2"


def test_a_late_answer_takes_a_free_place_of_the_item_again(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    assign(db, who, 0.0)
    first = work(db, who)[0]
    release_expired(db, batch.id, 2 * HOUR)
    assert save(db, who, given(first.id, "q1", "2"), 3 * HOUR).state == "open"
    assert save(db, who, given(first.id, "q2", "2"), 3 * HOUR).state == "done"
    assert places(db) == {("us", first.item_id): 1}


def test_a_late_answer_to_an_item_that_others_have_is_surplus(db: Database, batch: Batch) -> None:
    late, other = joined(db, batch), joined(db, batch)
    assign(db, late, 0.0)
    first = work(db, late)[0]
    assert rate_all(db, other, 2 * HOUR) == 4
    assert save(db, late, given(first.id, "q1", "2"), 3 * HOUR).state == "returned"
    saved = save(db, late, given(first.id, "q2", "2"), 3 * HOUR)
    assert (saved.state, saved.done, saved.total) == ("surplus", 1, 1)
    assert states(db, late) == ["surplus"]
    assert save(db, late, given(first.id, "q2", None), 3 * HOUR).state == "returned"
    assert places(db) == {("us", item): 1 for item in batch.spec.items}


def test_a_surplus_answer_that_is_changed_takes_a_place_that_became_free(db: Database, batch: Batch) -> None:
    late, other = joined(db, batch), joined(db, batch)
    assign(db, late, 0.0)
    first = work(db, late)[0]
    rate_all(db, other, 2 * HOUR)
    complete(db, late, first, 3 * HOUR)
    delete_rater(db, other, 4 * HOUR)
    assert save(db, late, given(first.id, "q1", "1"), 5 * HOUR).state == "done"


def test_a_late_answer_that_is_sent_twice_is_applied_once(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    assign(db, who, 0.0)
    sent = given(work(db, who)[0].id, "q1", "2")
    release_expired(db, batch.id, 2 * HOUR)
    assert save(db, who, sent, 3 * HOUR).applied
    assert not save(db, who, sent, 3 * HOUR).applied


def test_who_finishes_early_gives_back_what_is_open(db: Database, batch: Batch) -> None:
    early, other = joined(db, batch), joined(db, batch)
    assign(db, early, 0.0)
    complete(db, early, work(db, early)[0], 1.0)
    finish(db, early, 2.0)
    assert states(db, early) == ["done"]
    assert assign(db, other, 3.0) == 3
    assert assign(db, early, 4.0) == 0


def test_a_deleted_rater_leaves_the_places_free(db: Database, batch: Batch) -> None:
    gone, other = joined(db, batch), joined(db, batch)
    rate_all(db, gone)
    assert assign(db, other, 2.0) == 0
    delete_rater(db, gone, 3.0)
    assert assign(db, other, 4.0) == 4


def test_raters_get_as_many_items_as_they_are_to_rate(db: Database) -> None:
    batch = batch_of(db, 12, items_per_rater=5, raters_per_item=2)
    who = [joined(db, batch) for _ in range(6)]
    assert [assign(db, one, 0.0) for one in who] == [5, 5, 5, 5, 4, 0]
    assert places(db) == {("us", item): 2 for item in batch.spec.items}


def test_items_with_most_places_left_come_first(db: Database) -> None:
    batch = batch_of(db, 10, items_per_rater=5, raters_per_item=2)
    one, two = joined(db, batch), joined(db, batch)
    assign(db, one, 0.0)
    assign(db, two, 0.0)
    assert not {done.item_id for done in work(db, one)} & {done.item_id for done in work(db, two)}


def test_loading_a_page_again_gives_nothing_more(db: Database) -> None:
    batch = batch_of(db, 6, items_per_rater=3, repeats=2)
    who = joined(db, batch)
    assert assign(db, who, 0.0) == 5
    assert assign(db, who, 1.0) == 0


def test_surplus_counts_as_work_done_by_the_rater(db: Database) -> None:
    batch = batch_of(db, 4, items_per_rater=2, raters_per_item=1)
    late, other = joined(db, batch), joined(db, batch)
    assign(db, late, 0.0)
    first = work(db, late)[0]
    rate_all(db, other, 2 * HOUR)
    rate_all(db, joined(db, batch), 2 * HOUR)
    complete(db, late, first, 3 * HOUR)
    delete_rater(db, other, 4 * HOUR)
    assert assign(db, late, 5 * HOUR) == 1


def test_repeats_come_once_far_behind_and_are_no_ratings_of_the_item(db: Database) -> None:
    batch = batch_of(db, 24, repeats=4, raters_per_item=1, pairs=pairs_of(24))
    who = joined(db, batch)
    assert rate_all(db, who) == 28
    done = work(db, who)
    first = {one.item_id: one.place for one in done if one.kind == "item"}
    again = [one for one in done if one.kind == "repeat"]
    assert len({one.item_id for one in again}) == 4
    assert all(one.place - first[one.item_id] >= 10 for one in again)
    assert places(db) == {("us", item): 1 for item in batch.spec.items}


def test_repeats_and_gold_come_back_with_the_rater(db: Database) -> None:
    gold = (Gold("g1", "q1", ("1",)), Gold("g1", "q2", ("1",)), Gold("g2", "q1", ("1",)))
    batch = batch_of(db, 12, repeats=2, raters_per_item=1, gold=gold)
    who = joined(db, batch)
    assert assign(db, who, 0.0) == 16
    before = work(db, who)
    assert sorted(one.item_id for one in before if one.kind == "gold") == ["g1", "g2"]
    complete(db, who, next(one for one in before if one.kind == "gold"), 1.0)
    assert release_expired(db, batch.id, 2 * HOUR) == 15
    late = next(one for one in before if one.kind == "repeat")
    assert save(db, who, given(late.id, "q1", "2"), 3 * HOUR).state == "open"
    assert assign(db, who, 3 * HOUR) == 14
    assert [one.id for one in work(db, who)] == [one.id for one in before]


def test_no_two_of_a_pair_follow_each_other_even_when_others_took_what_was_between(db: Database) -> None:
    pairs = pairs_of(12)
    batch = batch_of(db, 12, raters_per_item=1, items_per_rater=12, pairs=pairs)
    away, other = joined(db, batch), joined(db, batch)
    assign(db, away, 0.0)
    own = [one.item_id for one in work(db, away)]
    assign(db, other, 2 * HOUR)
    for one in work(db, other):
        if one.item_id in own[2:8]:
            complete(db, other, one, 2 * HOUR)
    finish(db, other, 2 * HOUR)
    assign(db, away, 3 * HOUR)
    left = [one.item_id for one in work(db, away)]
    assert len(left) >= 4
    assert all(apart(one, next_one, pairs) for one, next_one in pairwise(left))


def test_orders_are_the_rater_s_own(db: Database) -> None:
    batch = batch_of(db, 12)
    orders = []
    for _ in range(3):
        who = joined(db, batch)
        assign(db, who, 0.0)
        orders.append([one.item_id for one in work(db, who)])
    assert orders[0] != orders[1] != orders[2]


def test_a_clock_that_ran_ahead_once_holds_nothing_longer_than_a_lease(db: Database, batch: Batch) -> None:
    away, here = joined(db, batch), joined(db, batch)
    assign(db, away, 24 * HOUR)
    assert release_expired(db, batch.id, 0.0) == 0
    assert assign(db, here, 0.9 * HOUR) == 0
    assert assign(db, here, 1.1 * HOUR) == 4
