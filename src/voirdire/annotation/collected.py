"""Everything that a batch has brought in, read at one moment: progress, checks, exports and verdicts are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl
from sqlalchemy import Connection, Select, func, select

from voirdire.annotation.batches import batch
from voirdire.annotation.database import Database
from voirdire.annotation.nouns import Batch, Rater, Study
from voirdire.annotation.schema import answers, assignments, events, invitations, raters

WORK = {
    "assignment_id": pl.String,
    "rater_id": pl.String,
    "pool": pl.String,
    "item_id": pl.String,
    "kind": pl.String,
    "state": pl.String,
    "place": pl.Int64,
}
GIVEN = {
    "assignment_id": pl.String,
    "question": pl.String,
    "value": pl.String,
    "comment": pl.String,
    "language": pl.String,
    "seconds": pl.Float64,
    "answered_at": pl.Float64,
}
COUNTED = ("done", "surplus")
"""States of assignments whose answers are complete."""

RATING_KINDS = ("answer", "deleted")
"""Kinds of events by which ratings can change."""


@dataclass(frozen=True)
class Collected:
    """A batch and what came of it.

    raters : in the order in which they joined, without those who were deleted
    deleted : pool -> raters whose data were deleted
    work : every assignment, columns of ``WORK``; given : every answer, columns of ``GIVEN``
    labels : invitation -> what the lead called it, where it was called anything
    event : number of the last change that this holds; rating_event : of the last that ratings can have changed by
    """

    batch: Batch
    raters: tuple[Rater, ...]
    deleted: Mapping[str, int]
    work: pl.DataFrame
    given: pl.DataFrame
    event: int = 0
    rating_event: int = 0
    labels: Mapping[int, str] = field(default_factory=dict)

    @property
    def study(self) -> Study:
        """What the batch asks."""
        return self.batch.spec.study

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools in the order of the study."""
        return tuple(pool.name for pool in self.study.pools)

    def answered(self, *kinds: str, states: tuple[str, ...] = COUNTED) -> pl.DataFrame:
        """Answers with the columns of their assignments, of assignments of these kinds and states, in rater's order."""
        chosen = self.work.filter(pl.col("kind").is_in(kinds) & pl.col("state").is_in(states))
        return chosen.join(self.given, on="assignment_id").sort("rater_id", "place", maintain_order=True)


def collect(database: Database, batch_id: int) -> Collected:
    """Read a batch and everything that belongs to it. Raises as ``batch`` does for one that does not exist."""
    found = batch(database, batch_id)
    with database.reading() as connection:
        event, rating_event = _last_event(connection, batch_id), _last_event(connection, batch_id, RATING_KINDS)
        people = connection.execute(
            select(raters).where(raters.c.batch_id == batch_id).order_by(raters.c.joined_at, raters.c.id)
        ).all()
        called = connection.execute(_of_labels(batch_id)).all()
        work = _frame(connection, _of_work(batch_id), WORK)
        given = _frame(connection, _of_answers(batch_id), GIVEN)
    here = tuple(_rater(row) for row in people if row.state != "deleted")
    gone = [row.pool for row in people if row.state == "deleted"]
    deleted, labels = {pool: gone.count(pool) for pool in gone}, {row.id: row.label for row in called}
    return Collected(found, here, deleted, work, given, event, rating_event, labels)


def last_event(database: Database, batch_id: int, kinds: Sequence[str] = ()) -> int:
    """Number of the last change of a batch, of these kinds or of any, 0 before the first."""
    with database.reading() as connection:
        return _last_event(connection, batch_id, kinds)


def _last_event(connection: Connection, batch_id: int, kinds: Sequence[str] = ()) -> int:
    wanted = select(func.max(events.c.id)).where(events.c.batch_id == batch_id)
    found = connection.execute(wanted.where(events.c.kind.in_(kinds)) if kinds else wanted).scalar()
    return int(found or 0)


def _of_labels(batch_id: int) -> Select[Any]:
    here = (invitations.c.batch_id == batch_id) & (invitations.c.label != "")
    return select(invitations.c.id, invitations.c.label).where(here)


def _of_work(batch_id: int) -> Select[Any]:
    names = [assignments.c.id, *(assignments.c[name] for name in WORK if name != "assignment_id")]
    return select(*names).where(assignments.c.batch_id == batch_id)


def _of_answers(batch_id: int) -> Select[Any]:
    joined = answers.join(assignments, answers.c.assignment_id == assignments.c.id)
    return select(*(answers.c[name] for name in GIVEN)).select_from(joined).where(assignments.c.batch_id == batch_id)


def _frame(connection: Connection, query: Select[Any], schema: Mapping[str, Any]) -> pl.DataFrame:
    rows = [tuple(row) for row in connection.execute(query)]
    return pl.DataFrame(rows, schema=dict(schema), orient="row")


def _rater(row: Any) -> Rater:
    return Rater(
        row.id,
        row.batch_id,
        row.pool,
        row.invitation_id,
        row.state,
        row.language,
        orjson.loads(row.attributes),
        row.joined_at,
        row.seen_at,
    )
