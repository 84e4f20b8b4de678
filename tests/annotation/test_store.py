from __future__ import annotations

from collections import Counter

from sqlalchemy import select
from tests.annotation.studies import batch_of, joined, rate_all

from voirdire.annotation.assignments import work
from voirdire.annotation.database import Database
from voirdire.annotation.schema import assignments


def places(db: Database) -> Counter[tuple[str, str]]:
    """(pool, item) -> places taken."""
    with db.reading() as connection:
        rows = connection.execute(select(assignments.c.pool, assignments.c.item_id).where(assignments.c.slot > 0))
        return Counter((row.pool, row.item_id) for row in rows)


def test_every_item_gets_exactly_as_many_raters_of_each_pool_as_it_wants(db: Database) -> None:
    batch = batch_of(db, 7)
    for pool in ("us", "cn"):
        for _ in range(5):
            rate_all(db, joined(db, batch, pool))
    assert places(db) == {(pool, item): 3 for pool in ("us", "cn") for item in batch.spec.items}


def test_work_is_in_order_with_its_answers(db: Database) -> None:
    batch = batch_of(db, 4)
    rater = joined(db, batch)
    assert rate_all(db, rater) == 4
    done = work(db, rater)
    assert [one.place for one in done] == [1, 2, 3, 4]
    assert {one.state for one in done} == {"done"}
    assert {(name, answer.value) for one in done for name, answer in one.answers.items()} == {("q1", "3"), ("q2", "0")}
