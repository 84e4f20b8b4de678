"""Batches: made once with a study that no longer changes, opened and closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from voirdire.annotation.as_json import spec_from_json, spec_to_json
from voirdire.annotation.database import Database
from voirdire.annotation.inserting import happened
from voirdire.annotation.locking import lock_pools
from voirdire.annotation.nouns import Batch, BatchSpec
from voirdire.annotation.schema import batch_pools, raters
from voirdire.annotation.schema import batches as table
from voirdire.annotation.untrusted import LONGEST_ID, LONGEST_TOLD, is_number, is_text, short
from voirdire.errors import NotFoundError, UsageError


def create_batch(db: Database, spec: BatchSpec, now: float) -> Batch:
    """Make a batch, open. Raises UsageError for a batch without items, with one twice, or without pools."""
    _check(spec)
    with db.writing() as connection:
        values = {"spec": spec_to_json(spec), "open": True, "created_at": now}
        number = connection.execute(insert(table).values(**values).returning(table.c.id)).scalar_one()
        wanted = spec.study.raters_per_item
        pools = [{"batch_id": number, "pool": pool.name, "wanted": wanted} for pool in spec.study.pools]
        connection.execute(insert(batch_pools), pools)
        happened(connection, "opened", now, batch_id=number)
    return Batch(number, spec, True, now)


def batches(db: Database) -> list[Batch]:
    """All batches, the oldest first."""
    with db.reading() as connection:
        return [_batch(db, row) for row in connection.execute(select(table).order_by(table.c.id))]


def batch(db: Database, number: int) -> Batch:
    """The batch of this number. Raises NotFoundError."""
    with db.looking() as connection:
        return _batch(db, _row(connection, number))


def set_open(db: Database, number: int, is_open: bool, now: float) -> None:
    """Open or close a batch; once it is closed, no answer and no rater comes in. Raises NotFoundError."""
    with db.writing() as connection:
        _row(connection, number)
        changed = connection.execute(
            update(table).where(table.c.id == number, table.c.open != is_open).values(open=is_open)
        )
        if changed.rowcount:
            happened(connection, "opened" if is_open else "closed", now, batch_id=number)
    if not is_open:
        _wait_for_answers(db, number)


def spec_of(db: Database, connection: Connection, number: int) -> BatchSpec:
    """The specification of a batch, which is read from the database once. Raises NotFoundError."""
    if number not in db.specs:
        db.specs[number] = spec_from_json(_row(connection, number).spec)
    return db.specs[number]


def _check_names(names: Sequence[str], limit: int) -> None:
    for name in names:
        if not name.strip() or not is_text(name, limit):
            raise UsageError("annotation.bad_name", value=short(name), limit=limit)


def _wait_for_answers(db: Database, number: int) -> None:
    """Wait for answers that began before the batch was closed: each holds the lock of its rater."""
    with db.writing() as connection:
        lock_pools(connection, number)
        everyone = select(raters.c.id).where(raters.c.batch_id == number).order_by(raters.c.id)
        connection.execute(everyone.with_for_update(key_share=True)).all()


def _row(connection: Connection, number: int) -> Row[Any]:
    row = connection.execute(select(table).where(table.c.id == number)).first() if is_number(number) else None
    if row is None:
        raise NotFoundError("annotation.batch_unknown", value=number)
    return row


def _batch(db: Database, row: Row[Any]) -> Batch:
    if row.id not in db.specs:
        db.specs[row.id] = spec_from_json(row.spec)
    return Batch(row.id, db.specs[row.id], row.open, row.created_at)


def _check(spec: BatchSpec) -> None:
    _check_names([spec.name], LONGEST_TOLD)
    _check_names([pool.name for pool in spec.study.pools], LONGEST_TOLD)
    _check_names([*spec.items, *(gold.item_id for gold in spec.study.gold)], LONGEST_ID)
    if not spec.items:
        raise UsageError("annotation.batch_empty", value=spec.name)
    if not spec.study.pools:
        raise UsageError("annotation.batch_no_pools", value=spec.name)
    item, times = Counter(spec.items).most_common(1)[0]
    if times > 1:
        raise UsageError("annotation.batch_item_twice", value=item, batch=spec.name)
