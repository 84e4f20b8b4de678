"""What is locked, and in which order: the pool of a batch, then raters, whose locks cover their assignments.

On SQLite the one writer holds everything anyway.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from voirdire.annotation.refusals import Deleted
from voirdire.annotation.schema import batch_pools, batches, raters


def lock_pool(connection: Connection, batch_id: int, pool: str) -> int:
    """Keep other claims of this pool waiting until the transaction ends; how many raters an item wants."""
    which = (batch_pools.c.batch_id == batch_id) & (batch_pools.c.pool == pool)
    return connection.execute(select(batch_pools.c.wanted).where(which).with_for_update()).scalar_one()


def lock_rater(connection: Connection, rater_id: str) -> Row[Any]:
    """Keep other changes to this rater waiting: state, batch_id, pool, seen_at, language, and ``open`` of the batch.

    Raises Deleted for a rater who is not there any more.
    """
    row = connection.execute(_RATER, {"rater": rater_id}).first()
    if row is None or row.state == "deleted":
        raise Deleted("annotation.deleted", value=rater_id)
    return row


def _rater() -> Any:
    columns = (raters.c.state, raters.c.batch_id, raters.c.pool, raters.c.seen_at, raters.c.language)
    joined = raters.join(batches, batches.c.id == raters.c.batch_id)
    found = select(*columns, batches.c.open).select_from(joined).where(raters.c.id == bindparam("rater"))
    return found.with_for_update(of=raters)


_RATER = _rater()
