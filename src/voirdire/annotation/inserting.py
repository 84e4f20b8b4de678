"""Inserting what may be there already, alike on both databases; and the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from voirdire.annotation.schema import events


def insert_for(dialect: str, table: Table) -> Any:
    """A database's own insert statement, which knows ON CONFLICT."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def insert_into(connection: Connection, table: Table) -> Any:
    """The insert statement of the database that a connection leads to."""
    return insert_for(connection.dialect.name, table)


def insert_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless a rule of uniqueness forbids it; whether it was inserted."""
    statement = insert_into(connection, table).values(**row).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key)).first() is not None


def happened(connection: Connection, kind: str, at: float, **fields: Any) -> None:
    """Add a change to the history; ``fields`` are columns of ``events``."""
    connection.execute(events.insert().values(kind=kind, at=at, **fields))
