"""Invitation links into a pool, and a limit on guessing them."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, update

from voirdire.annotation.batches import batch
from voirdire.annotation.database import Database
from voirdire.annotation.inserting import happened
from voirdire.annotation.nouns import Invitation
from voirdire.annotation.schema import guesses, raters
from voirdire.annotation.schema import invitations as table
from voirdire.annotation.service_state import hashed, signed
from voirdire.annotation.untrusted import LONGEST_TOLD, is_number, is_text, short
from voirdire.errors import NotFoundError, UsageError

TOKEN_BYTES = 24
MOST_GUESSES = 20
GUESS_SECONDS = 600.0
JOINED = ("active", "finished")


def invite(
    db: Database, batch_id: int, pool: str, *, label: str = "", most_raters: int | None = None, now: float
) -> tuple[Invitation, str]:
    """A new link into a pool: the invitation, and its token, which is told this once.

    Raises NotFoundError for an unknown batch, UsageError for an unknown pool or fewer than one rater.
    """
    known = [plan.name for plan in batch(db, batch_id).spec.study.pools]
    if pool not in known:
        raise UsageError("annotation.pool_unknown", value=short(pool), known=", ".join(known))
    if not is_text(label, LONGEST_TOLD):
        raise UsageError("annotation.bad_name", value=short(label), limit=LONGEST_TOLD)
    if most_raters is not None and not is_number(most_raters):
        raise UsageError("annotation.most_raters", value=most_raters)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = {"batch_id": batch_id, "pool": pool, "label": label, "most_raters": most_raters, "created_at": now}
    with db.writing() as connection:
        made = insert(table).values(token_hash=hashed(token), **row).returning(table.c.id)
        number = connection.execute(made).scalar_one()
        happened(connection, "invited", now, batch_id=batch_id, value=str(number))
    return Invitation(number, batch_id, pool, label, most_raters, 0, False, now), token


def invitations(db: Database, batch_id: int) -> list[Invitation]:
    """The links of a batch, the oldest first, revoked ones too."""
    with db.reading() as connection:
        rows = connection.execute(_invitations().where(table.c.batch_id == batch_id).order_by(table.c.id))
        return [invitation_of(row) for row in rows]


def revoke(db: Database, number: int, now: float) -> None:
    """End a link: nobody joins or comes back by it. Raises NotFoundError."""
    with db.writing() as connection:
        found = select(table.c.batch_id, table.c.revoked_at).where(table.c.id == number)
        row = connection.execute(found).first() if is_number(number) else None
        if row is None:
            raise NotFoundError("annotation.invitation_unknown", value=number)
        if row.revoked_at is None:
            connection.execute(update(table).where(table.c.id == number).values(revoked_at=now))
            happened(connection, "revoked", now, batch_id=row.batch_id, value=str(number))


def by_token(db: Database, token: str) -> Invitation | None:
    """The invitation of a token; None for an unknown or revoked one."""
    with db.looking() as connection:
        found = _invitations().where(table.c.token_hash == hashed(token), table.c.revoked_at.is_(None))
        row = connection.execute(found).first()
    return None if row is None else invitation_of(row)


def guessed_wrong(db: Database, who: str, now: float) -> None:
    """Count a wrong token of an address, of which a keyed hash is kept for ten minutes."""
    row = {"who_hash": signed(db, "guess", who), "at": now}
    with db.writing() as connection:
        connection.execute(delete(guesses).where(guesses.c.at < now - GUESS_SECONDS))
        connection.execute(insert(guesses).values(**row))


def too_many_guesses(db: Database, who: str, now: float) -> bool:
    """Whether an address has sent 20 wrong tokens within ten minutes."""
    recent = (guesses.c.who_hash == signed(db, "guess", who)) & (guesses.c.at >= now - GUESS_SECONDS)
    with db.looking() as connection:
        count = connection.execute(select(func.count()).select_from(guesses).where(recent)).scalar_one()
    return count >= MOST_GUESSES


def invitation_of(row: Row[Any]) -> Invitation:
    """The noun of a row that holds ``joined`` beside the table's columns."""
    return Invitation(
        row.id, row.batch_id, row.pool, row.label, row.most_raters, row.joined, row.revoked_at is not None,
        row.created_at,
    )  # fmt: skip


def _invitations() -> Select[Any]:
    mine = (raters.c.invitation_id == table.c.id) & raters.c.state.in_(JOINED)
    joined = select(func.count()).select_from(raters).where(mine).scalar_subquery()
    return select(table, joined.label("joined"))
