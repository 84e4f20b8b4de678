"""Raters: joining by a link, coming back, moving to another device, being forgotten."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from voirdire.annotation.batches import spec_of
from voirdire.annotation.database import Database
from voirdire.annotation.inserting import happened
from voirdire.annotation.invitations import JOINED, TOKEN_BYTES
from voirdire.annotation.locking import is_open, lock_rater, lock_rater_and_pool
from voirdire.annotation.nouns import Invitation, Rater, Study
from voirdire.annotation.refusals import BadValue, Closed, Full
from voirdire.annotation.schema import answers, assignments, events, invitations
from voirdire.annotation.schema import raters as table
from voirdire.annotation.service_state import hashed, signed
from voirdire.annotation.untrusted import is_id, short

SEEN_STEP = 15.0
"""Being seen is written down again only after so many seconds, or a tenth of a short lease."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """How many rows of a rater went."""

    assignments: int
    answers: int
    events: int


def join(
    db: Database,
    invitation: Invitation,
    *,
    language: str,
    attributes: Mapping[str, Any],
    passed: bool,
    external: str = "",
    now: float,
) -> Rater:
    """A new rater of the invitation's pool, or the one whom the link or the external id belongs to.

    attributes : answers to screening that are kept, nothing of them for those who did not pass
    external : id on a recruiting platform, of which a keyed hash is kept
    Raises Closed for a closed batch or a revoked link, Full when enough have joined, BadValue for another language.
    """
    row = {
        "id": secrets.token_hex(8),
        "batch_id": invitation.batch,
        "pool": invitation.pool,
        "invitation_id": invitation.id,
        "state": "active" if passed else "screened_out",
        "language": language,
        "attributes": json.dumps(dict(attributes) if passed else {}),
        "external_hash": _external(db, external),
        "joined_at": now,
        "seen_at": now,
    }
    try:
        return _join(db, invitation, row)
    except IntegrityError:
        known = returning(db, invitation, external)
        if known is None:
            raise
        return known


def _join(db: Database, invitation: Invitation, row: Mapping[str, Any]) -> Rater:
    """Join; IntegrityError when the external id joined by another link at this moment."""
    with db.writing() as connection:
        _hold(connection, invitation)
        known = _returning(connection, invitation, row["external_hash"])
        if known is not None:
            return _rater(known)
        _check(db, connection, invitation, row["language"], row["state"] == "active")
        made = connection.execute(insert(table).values(**row).returning(table)).one()
        named = {"batch_id": row["batch_id"], "rater_id": row["id"], "language": row["language"]}
        happened(connection, "joined", row["joined_at"], **named)
        return _rater(made)


def returning(db: Database, invitation: Invitation, external: str = "") -> Rater | None:
    """Whom a personal link or an external id belongs to."""
    external_hash = _external(db, external)
    with db.reading() as connection:
        row = _returning(connection, invitation, external_hash)
    return None if row is None else _rater(row)


def rater(db: Database, rater_id: str) -> Rater | None:
    """The rater of this id."""
    return _one(db, table.c.id == rater_id) if is_id(rater_id) else None


def raters(db: Database, batch_id: int) -> list[Rater]:
    """The raters of a batch in the order in which they joined, deleted ones too."""
    with db.reading() as connection:
        found = select(table).where(table.c.batch_id == batch_id).order_by(table.c.joined_at, table.c.id)
        return [_rater(row) for row in connection.execute(found)]


def set_language(db: Database, rater_id: str, language: str) -> None:
    """Change the language of a rater's pages. Raises Deleted, and BadValue for one that the pool does not have."""
    with db.writing() as connection:
        row = lock_rater(connection, rater_id)
        _check_language(db, connection, row.batch_id, row.pool, language)
        connection.execute(update(table).where(table.c.id == rater_id).values(language=language))


def seen(db: Database, rater_id: str, now: float) -> None:
    """The rater is there: what is open stays with them. Writes at most every 15 seconds."""
    mine = table.c.id == rater_id
    with db.reading() as connection:
        row = connection.execute(select(table.c.batch_id, table.c.seen_at).where(mine)).first()
        if row is None or row.seen_at >= now - seen_step(spec_of(db, connection, row.batch_id).study):
            return
    with db.writing() as connection:
        connection.execute(update(table).where(mine, table.c.seen_at < now).values(seen_at=now))


def seen_step(study: Study) -> float:
    """After how many seconds being seen is written down again; a lease ends so much later than its time."""
    return min(SEEN_STEP, 6.0 * study.lease_minutes)


def resume_link(db: Database, rater_id: str) -> str:
    """A token by which the rater goes on with another device; an earlier one ends. Raises Deleted."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with db.writing() as connection:
        lock_rater(connection, rater_id)
        connection.execute(update(table).where(table.c.id == rater_id).values(resume_hash=hashed(token)))
    return token


def by_resume(db: Database, token: str) -> Rater | None:
    """The rater of a resume token."""
    return _one(db, table.c.resume_hash == hashed(token))


def delete_rater(db: Database, rater_id: str, now: float) -> Deletion:
    """Forget a rater: answers, history, attributes and hashes go, id, pool and times stay; places are free again.

    The label of a personal link goes as well, since it may be a name.

    Raises Deleted when there is no such rater any more.
    """
    with db.writing() as connection:
        who = lock_rater_and_pool(connection, rater_id)
        blank = {"attributes": "{}", "external_hash": None, "resume_hash": None, "language": ""}
        gone = update(table).where(table.c.id == rater_id)
        connection.execute(gone.values(state="deleted", deleted_at=now, finished_at=None, **blank))
        came_by = select(table.c.invitation_id).where(table.c.id == rater_id).scalar_subquery()
        own = (invitations.c.most_raters == 1) & (invitations.c.id == came_by)
        connection.execute(update(invitations).where(own).values(label=""))
        mine = select(assignments.c.id).where(assignments.c.rater_id == rater_id)
        removed = Deletion(
            answers=connection.execute(delete(answers).where(answers.c.assignment_id.in_(mine))).rowcount,
            assignments=connection.execute(delete(assignments).where(assignments.c.rater_id == rater_id)).rowcount,
            events=connection.execute(delete(events).where(events.c.rater_id == rater_id)).rowcount,
        )
        happened(connection, "deleted", now, batch_id=who.batch_id, rater_id=rater_id)
    return removed


def _external(db: Database, external: str) -> str | None:
    return signed(db, "external", external) if external else None


def _hold(connection: Connection, invitation: Invitation) -> None:
    """Lock the invitation, so that joining by it goes one after the other."""
    held = select(invitations.c.revoked_at).where(invitations.c.id == invitation.id).with_for_update(key_share=True)
    row = connection.execute(held).first()
    if row is None or row.revoked_at is not None:
        raise Closed("annotation.link_revoked", value=invitation.label or invitation.id)


def _returning(connection: Connection, invitation: Invitation, external_hash: str | None) -> Row[Any] | None:
    here = (table.c.batch_id == invitation.batch) & (table.c.state != "deleted")
    if external_hash is not None:
        known = connection.execute(select(table).where(here, table.c.external_hash == external_hash)).first()
        if known is not None:
            return known
    if invitation.most_raters == 1:
        return connection.execute(select(table).where(here, table.c.invitation_id == invitation.id)).first()
    return None


def _check(db: Database, connection: Connection, invitation: Invitation, language: str, passed: bool) -> None:
    if not is_open(connection, invitation.batch):
        raise Closed("annotation.closed", value=invitation.batch)
    _check_language(db, connection, invitation.batch, invitation.pool, language)
    if not passed or invitation.most_raters is None:
        return
    joined = (table.c.invitation_id == invitation.id) & table.c.state.in_(JOINED)
    if connection.execute(select(func.count()).select_from(table).where(joined)).scalar_one() >= invitation.most_raters:
        raise Full("annotation.full", count=invitation.most_raters)


def _check_language(db: Database, connection: Connection, batch_id: int, pool: str, language: str) -> None:
    languages = spec_of(db, connection, batch_id).study.pool(pool).languages
    if language not in languages:
        raise BadValue("annotation.language", value=short(language), known=", ".join(languages))


def _one(db: Database, which: ColumnElement[bool]) -> Rater | None:
    with db.looking() as connection:
        row = connection.execute(select(table).where(which)).first()
    return None if row is None else _rater(row)


def _rater(row: Row[Any]) -> Rater:
    return Rater(
        row.id, row.batch_id, row.pool, row.invitation_id, row.state, row.language, json.loads(row.attributes),
        row.joined_at, row.seen_at,
    )  # fmt: skip
