"""Personal links of the people who write a corpus: one for each name, kept as a hash, and who comes by it."""

from __future__ import annotations

import hmac
import json
import secrets

from sqlalchemy import delete, insert, select

from voirdire.annotation.database import Database
from voirdire.annotation.schema import service
from voirdire.annotation.service_state import MARK_LENGTH, hashed, signed

TOKEN_BYTES = 24
PREFIX = "author/"


def make_author_link(db: Database, name: str, now: float) -> str:
    """A new token of a person, which is told this once; an earlier one opens nothing any more."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = {"name": PREFIX + name, "value": json.dumps({"hash": hashed(token), "made_at": now})}
    with db.writing() as connection:
        connection.execute(delete(service).where(service.c.name == row["name"]))
        connection.execute(insert(service).values(**row))
    return token


def end_author_link(db: Database, name: str) -> None:
    """End the link of a person, and with it every session that began by it."""
    with db.writing() as connection:
        connection.execute(delete(service).where(service.c.name == PREFIX + name))


def author_links(db: Database) -> dict[str, float]:
    """name -> when the link was made, of the links that open the pages."""
    return {name: float(told["made_at"]) for name, told in _kept(db).items()}


def author_of(db: Database, token: str) -> str | None:
    """The person whose link this is; None for none, in a time that tells nothing of the others."""
    given = hashed(token)
    found = [name for name, told in _kept(db).items() if hmac.compare_digest(told["hash"], given)]
    return found[0] if found else None


def author_mark(db: Database, name: str) -> str:
    """What a session of a person carries: the name behind what changes with the link; empty without a link."""
    told = _kept(db).get(name)
    return "" if told is None else f"{signed(db, 'author', told['hash'])[:MARK_LENGTH]}/{name}"


def name_of(mark: str) -> str:
    """The name in what a session carries.

    >>> name_of("0123abcd/ana")
    'ana'
    """
    return mark.partition("/")[2]


def _kept(db: Database) -> dict[str, dict[str, str]]:
    with db.looking() as connection:
        rows = connection.execute(select(service.c.name, service.c.value).where(service.c.name.startswith(PREFIX)))
        return {row.name.removeprefix(PREFIX): json.loads(row.value) for row in rows}
