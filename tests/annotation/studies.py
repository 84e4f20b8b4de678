"""Studies, batches and raters for the tests of the store."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, work
from voirdire.annotation.batches import create_batch
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.annotation.nouns import Asked, Assignment, Batch, BatchSpec, Given, PoolPlan, Saved, Study
from voirdire.annotation.raters import join


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """A database that is closed afterwards."""
    database = Database.open(url)
    try:
        yield database
    finally:
        database.dispose()


@contextmanager
def twin(db: Database) -> Iterator[Database]:
    """The same database as another process has it."""
    other: Database = pickle.loads(pickle.dumps(db))
    try:
        yield other
    finally:
        other.dispose()


QUESTIONS = (
    Asked("q1", "buttons", low=1, high=5, comment=True),
    Asked("q2", "slider", low=-2, high=2, not_applicable=True),
    Asked("why", "text", required=False),
)
POOLS = (PoolPlan("us", ("en",)), PoolPlan("cn", ("zh", "en")))


def study(**fields: Any) -> Study:
    return Study("test", **{"questions": QUESTIONS, "pools": POOLS, "raters_per_item": 3, **fields})


def items(count: int) -> tuple[str, ...]:
    return tuple(f"i{number:03d}" for number in range(count))


def batch_of(db: Database, count: int, pairs: dict[str, str] | None = None, **fields: Any) -> Batch:
    return create_batch(db, BatchSpec("b", study(**fields), items(count), pairs=pairs or {}), 0.0)


def pairs_of(count: int) -> dict[str, str]:
    """i000 and i001 are a pair, i002 and i003, ..."""
    return {item: f"p{number // 2}" for number, item in enumerate(items(count))}


def joined(db: Database, batch: Batch, pool: str = "us", now: float = 0.0) -> str:
    invitation, _ = invite(db, batch.id, pool, now=now)
    language = batch.spec.study.pool(pool).languages[0]
    return join(db, invitation, language=language, attributes={}, passed=True, now=now).id


def given(assignment: str, question: str, value: str | None, **fields: Any) -> Given:
    return Given(fields.pop("key", secrets.token_urlsafe(16)), assignment, question, value, **fields)


def complete(db: Database, rater: str, one: Assignment, now: float, value: str = "3") -> Saved:
    save(db, rater, given(one.id, "q1", value), now)
    return save(db, rater, given(one.id, "q2", "0"), now)


def rate_all(db: Database, rater: str, now: float = 1.0) -> int:
    """Take what there is and answer it; how many assignments."""
    assign(db, rater, now)
    open_ones = [one for one in work(db, rater) if one.state == "open"]
    for one in open_ones:
        complete(db, rater, one, now)
    return len(open_ones)
