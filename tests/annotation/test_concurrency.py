"""Many raters at once: the numbers are right whatever the order of events."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.annotation.postgres import Cluster
from tests.annotation.studies import batch_of, complete, given, joined, opened, pairs_of, rate_all
from tests.annotation.test_store import places

from voirdire.annotation.answers import Closed, save
from voirdire.annotation.assignments import assign, finish, release_expired, work
from voirdire.annotation.batches import set_open
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.annotation.locking import lock_pool, lock_rater
from voirdire.annotation.nouns import Batch
from voirdire.annotation.raters import delete_rater, join, raters, seen
from voirdire.annotation.refusals import Full
from voirdire.annotation.schema import answers, assignments, events

HOUR = 3600.0


def at_once(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run all at the same time, each in a thread; the results, or what one of them raised."""
    ready = threading.Barrier(len(acts))

    def act(one: Callable[[], Any]) -> Any:
        ready.wait()
        return one()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def consistent(db: Database, batch: Batch) -> None:
    """States follow from answers, the history gives the answers, and no place is taken twice."""
    required = {question.id for question in batch.spec.study.questions if question.required}
    with db.reading() as connection:
        rows = connection.execute(select(assignments)).all()
        given_to: dict[str, dict[str, str]] = {row.id: {} for row in rows}
        for answer in connection.execute(select(answers)):
            given_to[answer.assignment_id][answer.question] = answer.value
        replayed: dict[str, dict[str, str]] = {row.id: {} for row in rows}
        for event in connection.execute(select(events).where(events.c.kind == "answer").order_by(events.c.id)):
            if event.value is None:
                replayed[event.assignment_id].pop(event.question, None)
            else:
                replayed[event.assignment_id][event.question] = event.value
    assert replayed == given_to
    for row in rows:
        assert (row.state in ("done", "surplus")) == (required <= set(given_to[row.id])), row
    assert max(places(db).values(), default=0) <= batch.spec.study.raters_per_item


def test_forty_raters_at_once_fill_every_place_and_no_more(db: Database) -> None:
    batch = batch_of(db, 20, raters_per_item=3, items_per_rater=6, repeats=1, pairs=pairs_of(20))
    who = [joined(db, batch, pool) for pool in ("us", "cn") for _ in range(20)]
    counts = at_once([lambda one=one: rate_all(db, one) for one in who])
    assert places(db) == {(pool, item): 3 for pool in ("us", "cn") for item in batch.spec.items}
    held = [[one for one in work(db, rater) if one.kind == "item"] for rater in who]
    assert sum(map(len, held)) == 2 * 3 * 20
    assert max(map(len, held)) <= 6
    assert sum(counts) == sum(len(work(db, rater)) for rater in who)
    consistent(db, batch)


def test_an_answer_that_arrives_many_times_at_once_is_applied_once(db: Database) -> None:
    batch = batch_of(db, 1)
    who = joined(db, batch)
    assign(db, who, 0.0)
    sent = given(work(db, who)[0].id, "q1", "4")
    saved = at_once([lambda: save(db, who, sent, 1.0)] * 12)
    assert sum(one.applied for one in saved) == 1
    with db.reading() as connection:
        count = select(func.count()).select_from(events).where(events.c.kind == "answer")
        assert connection.execute(count).scalar() == 1


def test_two_devices_of_a_rater_leave_the_assignment_done(db: Database) -> None:
    batch = batch_of(db, 8)
    who = joined(db, batch)
    assign(db, who, 0.0)
    todo = [(one.id, question) for one in work(db, who) for question in ("q1", "q2")]
    saved = at_once([lambda one=one: save(db, who, given(*one, "1"), 1.0) for one in todo])
    assert max(one.done for one in saved) == 8
    assert {one.state for one in work(db, who)} == {"done"}
    consistent(db, batch)


def test_two_pages_of_a_rater_get_the_same_items(db: Database) -> None:
    batch = batch_of(db, 12, items_per_rater=5, repeats=2)
    who = joined(db, batch)
    assert sorted(at_once([lambda: assign(db, who, 0.0)] * 6)) == [0, 0, 0, 0, 0, 7]


def test_saving_waits_neither_for_claims_nor_for_other_raters(cluster: Cluster, template: str) -> None:
    url = cluster.fresh(template)
    with opened(url) as db:
        batch = batch_of(db, 3)
        who, other = joined(db, batch), joined(db, batch)
        assign(db, who, 0.0)
        first = work(db, who)[0]
        with db.writing() as connection:
            lock_pool(connection, batch.id, "us")
            lock_rater(connection, other)
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(complete, db, who, first, 1.0).result(timeout=20).state == "done"
                assert pool.submit(joined, db, batch).result(timeout=20)
    cluster.drop(url)


def test_late_raters_and_new_ones_never_share_a_place(db: Database) -> None:
    batch = batch_of(db, 6, raters_per_item=2)
    late = [joined(db, batch) for _ in range(2)]
    for one in late:
        assign(db, one, 0.0)
    held = {one: work(db, one) for one in late}
    new = [joined(db, batch, now=2 * HOUR) for _ in range(2)]
    acts = [lambda one=one: rate_all(db, one, 2 * HOUR) for one in new]
    acts += [lambda one=one, what=what: complete(db, one, what, 2 * HOUR) for one in late for what in held[one]]
    at_once(acts)
    assert places(db) == {("us", item): 2 for item in batch.spec.items}
    consistent(db, batch)


def test_as_many_join_at_once_as_a_link_is_for(db: Database) -> None:
    batch = batch_of(db, 2)
    invitation, _ = invite(db, batch.id, "us", most_raters=3, now=0.0)

    def come() -> bool:
        try:
            return bool(join(db, invitation, language="en", attributes={}, passed=True, now=1.0))
        except Full:
            return False

    assert sum(at_once([come] * 12)) == 3


def test_a_personal_link_opened_twice_at_once_is_one_rater(db: Database) -> None:
    batch = batch_of(db, 2)
    invitation, _ = invite(db, batch.id, "us", most_raters=1, now=0.0)
    came = at_once(
        [lambda: join(db, invitation, language="en", attributes={}, passed=True, now=1.0)] * 8,
    )
    assert len({one.id for one in came}) == len(raters(db, batch.id)) == 1


def test_an_external_id_that_joins_by_two_links_at_once_is_one_rater(db: Database) -> None:
    batch = batch_of(db, 2)
    links = [invite(db, batch.id, "us", now=0.0)[0] for _ in range(8)]
    came = at_once(
        [
            lambda one=one: join(db, one, language="en", attributes={}, passed=True, external="p7", now=1.0)
            for one in links
        ]
    )
    assert len({one.id for one in came}) == len(raters(db, batch.id)) == 1


def test_nothing_comes_in_after_a_batch_was_closed(db: Database) -> None:
    batch = batch_of(db, 30)
    who = [joined(db, batch) for _ in range(3)]
    for one in who:
        assign(db, one, 0.0)
    closed_with: list[int] = []

    def count() -> int:
        with db.reading() as connection:
            return connection.execute(select(func.count()).select_from(answers)).scalar_one()

    def rate(one: str) -> None:
        todo = work(db, one) * 5
        with pytest.raises(Closed):
            _ = [complete(db, one, what, 1.0) for what in todo]

    def close() -> None:
        while count() < 10:
            pass
        set_open(db, batch.id, False, 2.0)
        closed_with.append(count())

    at_once([*(lambda one=one: rate(one) for one in who), close])
    assert closed_with == [count()]


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_at_once_the_numbers_stay_right(db: Database, seed: int) -> None:
    """Raters claim, answer, undo, leave, come back late, finish and are deleted, in eight threads."""
    batch = batch_of(db, 10, raters_per_item=2, items_per_rater=5, repeats=1, pairs=pairs_of(10))
    who = [joined(db, batch, pool) for pool in ("us", "cn") for _ in range(4)]
    clock = iter(range(10**9))

    def live(one: str) -> None:
        rng, known = random.Random(f"{seed} {one}"), {}
        for _ in range(20):
            now = 40.0 * next(clock)
            assign(db, one, now)
            known |= {what.id: what for what in work(db, one)}
            for what in rng.sample(sorted(known), min(3, len(known))):
                question, value = rng.choice(["q1", "q2", "q2"]), rng.choice(["1", "2", "1", None])
                save(db, one, given(what, question, value), now)
            if rng.random() < 0.2:
                release_expired(db, batch.id, now + rng.choice([0.0, 2 * HOUR]))
            seen(db, one, now)
        if rng.random() < 0.3:
            finish(db, one, 40.0 * next(clock))

    at_once([lambda one=one: live(one) for one in who])
    consistent(db, batch)
    delete_rater(db, who[0], 1e9)
    delete_rater(db, who[4], 1e9)
    consistent(db, batch)
    new = [joined(db, batch, pool, 1e9) for pool in ("us", "cn") for _ in range(8)]
    for one in [*who[1:4], *who[5:], *new]:
        rate_all(db, one, 1e9 + 1)
    assert places(db) == Counter({(pool, item): 2 for pool in ("us", "cn") for item in batch.spec.items})
    consistent(db, batch)
