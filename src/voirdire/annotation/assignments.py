"""Giving items out: blocks of places that a rater holds, and that go back when the rater leaves.

What a rater holds is open as long as the rater is seen within the lease. The reasons for this form stand in
docs/design/annotation-store.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from voirdire.annotation.batches import spec_of
from voirdire.annotation.database import Database
from voirdire.annotation.filling import HELD, Filling, wants
from voirdire.annotation.inserting import happened
from voirdire.annotation.locking import is_open, lock_pools, lock_rater_and_pool
from voirdire.annotation.nouns import Answer, Assignment, Study
from voirdire.annotation.raters import seen, seen_step
from voirdire.annotation.schema import answers, events, raters
from voirdire.annotation.schema import assignments as table


def assign(db: Database, rater_id: str, now: float) -> int:
    """Fill a rater's order up to the number of items that a rater of the batch gets; how many assignments came.

    What expired in the pool goes back first. Items with most places left come first, chance (of the study's seed and
    the rater's id) decides between equals. What the rater held once is taken again where a place is free. Repeats and
    gold items come with the first items. None for a closed batch or a rater who finished. Raises Deleted.
    """
    if _has_all(db, rater_id, now):
        return 0
    with db.writing() as connection:
        who = lock_rater_and_pool(connection, rater_id)
        connection.execute(update(raters).where(raters.c.id == rater_id).values(seen_at=max(now, who.seen_at)))
        if who.state != "active" or not is_open(connection, who.batch_id):
            return 0
        spec = spec_of(db, connection, who.batch_id)
        _release(connection, who.batch_id, who.pool, now, spec.study)
        filling = Filling(spec, who.pool, rater_id, _mine(connection, rater_id), _slots(connection, who))
        return _apply(connection, filling, who, now)


def work(db: Database, rater_id: str) -> list[Assignment]:
    """A rater's assignments in order with their answers: open, done, and surplus ones, which are done as well."""
    held = (table.c.rater_id == rater_id) & table.c.state.in_(HELD)
    given: dict[str, dict[str, Answer]] = defaultdict(dict)
    with db.reading() as connection:
        rows = connection.execute(select(table).where(held).order_by(table.c.place)).all()
        mine = answers.join(table, table.c.id == answers.c.assignment_id)
        for row in connection.execute(select(answers).select_from(mine).where(held)):
            given[row.assignment_id][row.question] = Answer(
                row.question, row.value, row.comment, row.language, row.seconds, row.answered_at
            )
    return [Assignment(row.id, row.item_id, row.kind, row.state, row.place, given[row.id]) for row in rows]


def places_left(db: Database, batch_id: int, pool: str, now: float) -> bool:
    """Whether somebody who joins the pool now gets an item. Changes nothing. Raises NotFoundError."""
    with db.reading() as connection:
        spec = spec_of(db, connection, batch_id)
        gone = (table.c.state == "open") & (raters.c.seen_at < _ended(spec.study, now))
        here = (table.c.batch_id == batch_id) & (table.c.pool == pool) & table.c.slot.is_not(None)
        joined = table.join(raters, raters.c.id == table.c.rater_id)
        taken = connection.execute(select(func.count()).select_from(joined).where(here, ~gone)).scalar_one()
    return taken < spec.study.raters_per_item * len(spec.items)


def release_expired(db: Database, batch_id: int, now: float) -> int:
    """Take back what raters hold who were not seen within the lease; how many assignments. Raises NotFoundError."""
    with db.writing() as connection:
        study = spec_of(db, connection, batch_id).study
        pools = lock_pools(connection, batch_id)
        return sum(_release(connection, batch_id, pool, now, study) for pool in pools)


def finish(db: Database, rater_id: str, now: float) -> None:
    """The rater has finished: what is open goes back. Answers may still be changed. Raises Deleted."""
    with db.writing() as connection:
        who = lock_rater_and_pool(connection, rater_id)
        if who.state == "active":
            _give_back(connection, who.batch_id, [rater_id], now)
            finished = update(raters).where(raters.c.id == rater_id).values(state="finished", finished_at=now)
            connection.execute(finished)
            happened(connection, "finished", now, batch_id=who.batch_id, rater_id=rater_id)


def free_slot(connection: Connection, batch_id: int, pool: str, item: str, wanted: int) -> int | None:
    """The first free place of an item in a pool that the caller has locked."""
    here = (table.c.batch_id == batch_id) & (table.c.pool == pool) & (table.c.item_id == item)
    used = set(connection.execute(select(table.c.slot).where(here, table.c.slot.is_not(None))).scalars())
    return next((slot for slot in range(1, wanted + 1) if slot not in used), None)


def _has_all(db: Database, rater_id: str, now: float) -> bool:
    """Whether nothing can come, found without a lock, so that loading a page again costs a read."""
    with db.reading() as connection:
        batch = connection.execute(select(raters.c.batch_id).where(raters.c.id == rater_id)).scalar()
        if batch is None or wants(spec_of(db, connection, batch), _mine(connection, rater_id)):
            return False
    seen(db, rater_id, now)
    return True


def _mine(connection: Connection, rater_id: str) -> Sequence[Row[Any]]:
    return connection.execute(select(table).where(table.c.rater_id == rater_id).order_by(table.c.place)).all()


def _slots(connection: Connection, who: Row[Any]) -> dict[str, set[int]]:
    """Item -> places taken in the pool."""
    here = (table.c.batch_id == who.batch_id) & (table.c.pool == who.pool) & table.c.slot.is_not(None)
    taken: dict[str, set[int]] = defaultdict(set)
    for item, slot in connection.execute(select(table.c.item_id, table.c.slot).where(here)):
        taken[item].add(slot)
    return taken


def _apply(connection: Connection, filling: Filling, who: Row[Any], now: float) -> int:
    named = {"batch_id": who.batch_id, "rater_id": filling.rater_id}
    for row, slot, place in filling.again:
        values = {"state": "open", "slot": slot, "place": place, "assigned_at": now}
        connection.execute(update(table).where(table.c.id == row.id).values(**values))
        happened(connection, "taken_again", now, assignment_id=row.id, **named)
    fresh = [{**row, **named, "assigned_at": now, "state": "open"} for row in filling.fresh]
    if fresh:
        connection.execute(insert(table), fresh)
        happened(connection, "assigned", now, value=str(len(fresh)), **named)
    return len(fresh) + len(filling.again)


def _release(connection: Connection, batch_id: int, pool: str, now: float, study: Study) -> int:
    """Take back what raters of a locked pool hold whose lease has ended; who was seen by a clock ahead was seen now."""
    here = (raters.c.batch_id == batch_id) & (raters.c.pool == pool)
    connection.execute(update(raters).where(here, raters.c.seen_at > now + seen_step(study)).values(seen_at=now))
    before = _ended(study, now)
    open_ones = select(table.c.id).where(table.c.rater_id == raters.c.id, table.c.state == "open").exists()
    gone = here & (raters.c.seen_at < before) & open_ones
    locked = select(raters.c.id).where(gone).order_by(raters.c.id).with_for_update(of=raters, key_share=True)
    expired = connection.execute(locked).scalars().all()
    return _give_back(connection, batch_id, expired, now) if expired else 0


def _ended(study: Study, now: float) -> float:
    """The lease of those who were last seen before this moment has ended."""
    return now - 60 * study.lease_minutes - seen_step(study)


def _give_back(connection: Connection, batch_id: int, rater_ids: Sequence[str], now: float) -> int:
    returned = (
        update(table)
        .where(table.c.rater_id.in_(rater_ids), table.c.state == "open")
        .values(state="returned", slot=None)
        .returning(table.c.id, table.c.rater_id)
    )
    rows = [
        {"kind": "returned", "at": now, "batch_id": batch_id, "rater_id": row.rater_id, "assignment_id": row.id}
        for row in connection.execute(returned)
    ]
    if rows:
        connection.execute(insert(events), rows)
    return len(rows)
