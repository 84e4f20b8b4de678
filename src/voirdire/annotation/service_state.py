"""What the service knows of itself: the key it signs with, the corpus it belongs to, the lead's secret as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from voirdire.annotation.database import Database
from voirdire.annotation.inserting import insert_new
from voirdire.annotation.schema import service
from voirdire.errors import UsageError

KEY_BYTES = 32
MARK_LENGTH = 24


@dataclass(frozen=True, slots=True)
class ServiceState:
    """signing_key : secret, of this database; corpus_digest : of the corpus it was made for, "" before it is known."""

    signing_key: bytes
    corpus_digest: str


def service_state(db: Database) -> ServiceState:
    """The state of the service; the signing key is made at the first call, once for all processes."""
    with db.reading() as connection:
        known = _all(connection)
    if "signing_key" not in known:
        with db.writing() as connection:
            insert_new(connection, service, {"name": "signing_key", "value": secrets.token_hex(KEY_BYTES)})
            known = _all(connection)
    return ServiceState(bytes.fromhex(known["signing_key"]), known.get("corpus_digest", ""))


def signed(db: Database, purpose: str, text: str) -> str:
    """A keyed hash of a text, from which the text cannot be guessed without the signing key."""
    if db.signing_key is None:
        db.signing_key = service_state(db).signing_key
    message = f"{purpose}\n{text}".encode("utf-8", "surrogatepass")
    return hmac.new(db.signing_key, message, hashlib.sha256).hexdigest()


def hashed(token: str) -> str:
    """The hash under which a random token of at least 128 bits is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def bind_building(db: Database, digest: str, name: str) -> None:
    """Say which corpus under construction the database belongs to. Raises UsageError when it belongs to another."""
    with db.writing() as connection:
        insert_new(connection, service, {"name": "corpus_name", "value": name})
        insert_new(connection, service, {"name": "corpus_digest", "value": digest})
        known = _all(connection)
    if known["corpus_digest"] != digest:
        raise UsageError("annotation.other_building", value=db.name, known=known["corpus_name"], corpus=name)


def set_lead(db: Database, secret: str) -> None:
    """Keep the hash of the lead's secret; an earlier secret opens nothing any more.

    secret : random, of at least 128 bits, so a fast hash is enough
    """
    row = {"name": "lead", "value": hashed(secret)}
    with db.writing() as connection:
        if not insert_new(connection, service, row):
            connection.execute(update(service).where(service.c.name == "lead").values(value=row["value"]))


def check_lead(db: Database, secret: str) -> bool:
    """Whether this is the lead's secret, in a time that tells nothing of it."""
    with db.looking() as connection:
        known = connection.execute(select(service.c.value).where(service.c.name == "lead")).scalar()
    return known is not None and hmac.compare_digest(known, hashed(secret))


def lead_mark(db: Database) -> str:
    """What changes with the lead's secret and tells nothing of it: sessions that carry it end with the secret."""
    with db.reading() as connection:
        known = connection.execute(select(service.c.value).where(service.c.name == "lead")).scalar()
    return signed(db, "lead", known or "")[:MARK_LENGTH]


def _all(connection: Connection) -> dict[str, str]:
    return {row.name: row.value for row in connection.execute(select(service.c.name, service.c.value))}
