"""What is locked, and in which order: the pool of a batch, then raters, whose locks cover their assignments.

What was read together with a lock may be older than the lock; what a later statement reads is not. On SQLite the one
writer holds everything anyway. Locks are of the kind that rows which only refer to the locked one need not wait for
(``FOR NO KEY UPDATE``).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from voirdire.annotation.refusals import Deleted
from voirdire.annotation.schema import batch_pools, batches, raters
from voirdire.annotation.untrusted import is_id, short


def lock_pool(connection: Connection, batch_id: int, pool: str) -> None:
    """Keep other claims of this pool waiting until the transaction ends."""
    connection.execute(_POOL, {"batch": batch_id, "named": pool})


def lock_pools(connection: Connection, batch_id: int) -> list[str]:
    """Keep claims of all pools of a batch waiting; the pools."""
    return list(connection.execute(_POOLS, {"batch": batch_id}).scalars())


def lock_rater(connection: Connection, rater_id: str) -> Row[Any]:
    """Keep other changes to a rater waiting: state, batch_id, pool, seen_at, language.

    Raises Deleted for a rater who is not there any more.
    """
    row: Row[Any] | None = connection.execute(_RATER, {"rater": rater_id}).first() if is_id(rater_id) else None
    if row is None or row.state == "deleted":
        raise Deleted("annotation.deleted", value=short(rater_id))
    return row


def lock_rater_and_pool(connection: Connection, rater_id: str) -> Row[Any]:
    """As ``lock_rater``, with the rater's pool locked before."""
    where = connection.execute(_WHERE, {"rater": rater_id}).first() if is_id(rater_id) else None
    if where is not None:
        lock_pool(connection, where.batch_id, where.pool)
    return lock_rater(connection, rater_id)


def is_open(connection: Connection, batch_id: int) -> bool:
    """Whether a batch takes answers and raters."""
    return bool(connection.execute(_OPEN, {"batch": batch_id}).scalar())


_OF_BATCH = select(batch_pools.c.pool).where(batch_pools.c.batch_id == bindparam("batch"))
_POOL = _OF_BATCH.where(batch_pools.c.pool == bindparam("named")).with_for_update(key_share=True)
_POOLS = _OF_BATCH.order_by(batch_pools.c.pool).with_for_update(key_share=True)
_WHERE = select(raters.c.batch_id, raters.c.pool).where(raters.c.id == bindparam("rater"))
_RATER: Any = (
    select(raters.c.state, raters.c.batch_id, raters.c.pool, raters.c.seen_at, raters.c.language)
    .where(raters.c.id == bindparam("rater"))
    .with_for_update(key_share=True)
)
_OPEN = select(batches.c.open).where(batches.c.id == bindparam("batch"))
