"""Saving an answer: once per key, in one short transaction, with every change in the history.

A save locks the rater, so that answers of one rater go one after the other and those of different raters never wait
for each other. Only an answer to an assignment that had gone back takes the lock of the pool as well.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, delete, func, select, update

from voirdire.annotation.assignments import free_slot
from voirdire.annotation.batches import spec_of
from voirdire.annotation.database import Database
from voirdire.annotation.filling import HELD
from voirdire.annotation.inserting import insert_for
from voirdire.annotation.locking import lock_rater, lock_rater_and_pool
from voirdire.annotation.nouns import AssignmentState, Given, Saved, Study
from voirdire.annotation.raters import seen_step
from voirdire.annotation.refusals import BadValue, Closed, Deleted, KeyReused, NotYours, Refused
from voirdire.annotation.schema import answers as table
from voirdire.annotation.schema import assignments, batches, events, raters
from voirdire.annotation.untrusted import is_id, short
from voirdire.annotation.values import LONGEST_SECONDS, check_given, check_key

__all__ = ["BadValue", "Closed", "Deleted", "KeyReused", "NotYours", "Refused", "save"]

LATE = ("returned", "surplus")
DONE = ("done", "surplus")


def save(db: Database, rater_id: str, given: Given, now: float) -> Saved:
    """Apply an answer, or find that its key was applied before.

    An answer to an assignment that had gone back takes a free place of the item again; where there is none, the
    assignment is surplus once it is done.

    Raises NotYours, Closed (the batch), BadValue, KeyReused (the key was used for another answer), Deleted, all of
    them Refused; and Unavailable, after which the same answer may be sent again.
    """
    check_key(given.key)
    if not is_id(given.assignment):
        raise NotYours("annotation.not_yours", value=short(given.assignment))
    with db.writing() as connection:
        who = lock_rater(connection, rater_id)
        saved = _save(db, connection, rater_id, who, given, now, pool_locked=db.is_sqlite)
    if saved is not None:
        return saved
    with db.writing() as connection:
        who = lock_rater_and_pool(connection, rater_id)
        saved = _save(db, connection, rater_id, who, given, now, pool_locked=True)
    assert saved is not None
    return saved


def _save(
    db: Database,
    connection: Connection,
    rater_id: str,
    who: Row[Any],
    given: Given,
    now: float,
    *,
    pool_locked: bool,
) -> Saved | None:
    """Save; None when nothing was written because the pool has to be locked first."""
    study = spec_of(db, connection, who.batch_id).study
    check_given(study, study.pool(who.pool), given)
    at = _standing(connection, rater_id, given, study)
    if not at.open:
        return _known(connection, rater_id, given, at, Closed("annotation.closed", value=who.batch_id))
    if at.state in LATE and at.kind == "item" and not pool_locked:
        return None
    if not _recorded(connection, who, rater_id, given, now):
        return _known(connection, rater_id, given, at, KeyReused("annotation.key_reused", value=given.key))
    _apply(connection, given, given.language or who.language, now)
    state = _move(connection, who, given, at, _complete(study, given, at), now)
    if who.seen_at < now - seen_step(study):
        connection.execute(_SEEN, {"rater": rater_id, "now": now})
    done = at.done - (at.state in DONE) + (state in DONE)
    return Saved(True, state, done, at.total - (at.state in HELD) + (state in HELD))


def _standing(connection: Connection, rater_id: str, given: Given, study: Study) -> Row[Any]:
    """How the assignment stands. Raises NotYours.

    others : required questions besides the given one that are answered; total, done : assignments of the rater;
    open : of the batch, read after the rater was locked
    """
    others = [question.id for question in study.questions if question.required and question.id != given.question]
    named = {"rater": rater_id, "assignment": given.assignment, "others": others}
    row = connection.execute(_STANDING, named).first()
    if row is None:
        raise NotYours("annotation.not_yours", value=given.assignment)
    return row


def _complete(study: Study, given: Given, at: Row[Any]) -> bool:
    required = {question.id for question in study.questions if question.required}
    here = given.value is not None or given.question not in required
    return here and at.others == len(required - {given.question})


def _recorded(connection: Connection, who: Row[Any], rater_id: str, given: Given, now: float) -> bool:
    """Add the answer to the history; False when the rater used the key before."""
    row = {
        "at": now,
        "kind": "answer",
        "batch_id": who.batch_id,
        "rater_id": rater_id,
        "assignment_id": given.assignment,
        "key": given.key,
        "question": given.question,
        "value": given.value,
        "comment": given.comment,
        "language": given.language or who.language,
        "seconds": min(given.seconds, LONGEST_SECONDS),
    }
    return connection.execute(_record(connection.dialect.name), row).first() is not None


def _known(connection: Connection, rater_id: str, given: Given, at: Row[Any], otherwise: Refused) -> Saved:
    """What to say of a key that was applied before; raises for another answer under it, and for an unknown key."""
    row = connection.execute(_KEY, {"rater": rater_id, "used": given.key}).first()
    if row is None:
        raise otherwise
    if (row.assignment_id, row.question, row.value, row.comment) != (
        given.assignment, given.question, given.value, given.comment,
    ):  # fmt: skip
        raise KeyReused("annotation.key_reused", value=given.key)
    return Saved(False, at.state, at.done, at.total)


def _apply(connection: Connection, given: Given, language: str, now: float) -> None:
    if given.value is None:
        connection.execute(_TAKE_BACK, {"assignment": given.assignment, "asked": given.question})
        return
    row = {
        "assignment_id": given.assignment,
        "question": given.question,
        "value": given.value,
        "comment": given.comment,
        "language": language,
        "seconds": min(given.seconds, LONGEST_SECONDS),
        "answered_at": now,
    }
    connection.execute(_put(connection.dialect.name), row)


def _move(
    connection: Connection, who: Row[Any], given: Given, at: Row[Any], complete: bool, now: float
) -> AssignmentState:
    """The assignment's state after an answer; a late one takes a place again, if there is one."""
    slot = at.slot
    if at.state in LATE and at.kind == "item":
        slot = free_slot(connection, who.batch_id, who.pool, at.item_id, at.wanted)
    holds = at.kind != "item" or slot is not None
    state: AssignmentState = ("done" if holds else "surplus") if complete else ("open" if holds else "returned")
    if state != at.state:
        values = {"state": state, "slot": slot, "done_at": now if complete else None}
        connection.execute(_MOVE, {"assignment": given.assignment, **values})
    return state


def _standing_statement() -> Any:
    mine = assignments.alias("mine")
    is_done = (mine.c.state == "done") | (mine.c.state == "surplus")
    answered = (table.c.assignment_id == assignments.c.id) & table.c.question.in_(bindparam("others", expanding=True))
    others = select(func.count()).select_from(table).where(answered).scalar_subquery()
    columns = [assignments.c[name] for name in ("id", "item_id", "kind", "state", "slot", "wanted")]
    columns.append(batches.c.open)
    with_batch = assignments.join(batches, batches.c.id == assignments.c.batch_id)
    return (
        select(
            *columns,
            others.label("others"),
            func.sum(case((is_done, 1), else_=0)).label("done"),
            func.sum(case((mine.c.state != "returned", 1), else_=0)).label("total"),
        )
        .select_from(with_batch.join(mine, mine.c.rater_id == assignments.c.rater_id))
        .where(assignments.c.id == bindparam("assignment"), assignments.c.rater_id == bindparam("rater"))
        .group_by(*columns)
    )


@cache
def _record(dialect: str) -> Any:
    return insert_for(dialect, events).on_conflict_do_nothing(index_elements=["rater_id", "key"]).returning(events.c.id)


@cache
def _put(dialect: str) -> Any:
    statement = insert_for(dialect, table)
    changed = {name: statement.excluded[name] for name in ("value", "comment", "language", "seconds", "answered_at")}
    return statement.on_conflict_do_update(index_elements=["assignment_id", "question"], set_=changed)


_STANDING = _standing_statement()
_KEY = select(events).where(events.c.rater_id == bindparam("rater"), events.c.key == bindparam("used"))
_TAKE_BACK = delete(table).where(
    table.c.assignment_id == bindparam("assignment"), table.c.question == bindparam("asked")
)
_MOVE = (
    update(assignments)
    .where(assignments.c.id == bindparam("assignment"))
    .values(state=bindparam("state"), slot=bindparam("slot"), done_at=bindparam("done_at"))
)
_SEEN = update(raters).where(raters.c.id == bindparam("rater")).values(seen_at=bindparam("now"))
