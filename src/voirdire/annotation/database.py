"""The database: SQLite in a file, or PostgreSQL. Short transactions, and one error for "not there just now"."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft

from voirdire.annotation.nouns import BatchSpec
from voirdire.errors import UsageError, VoirdireError

DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
WAIT_SECONDS = 30
CONNECTIONS = 10
WRITING = "voirdire_writing"
IDLE_SINCE = "voirdire_idle_since"
IDLE_SECONDS = 1.0


class Unavailable(VoirdireError):  # noqa: N818 - what the database is
    """The database is gone, restarting or too busy; the same request may be sent again."""


class Database:
    """A database that is open; threads share it. Pickling carries the address only.

    url : with driver, as ``Database.open`` made it
    specs : batches that were read already, by id: a batch's specification never changes
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.specs: dict[int, BatchSpec] = {}
        self.signing_key: bytes | None = None
        self._engine = _engine(url)
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()

    @classmethod
    def open(cls, url: str) -> Self:
        """Open ``sqlite:///path`` or ``postgresql://user@host/name``; nothing is connected yet.

        Raises UsageError for an address that is neither.
        """
        try:
            parsed = make_url(url)
        except ArgumentError as error:
            raise UsageError("annotation.database_url", value=url) from error
        driver = DRIVERS.get(parsed.drivername)
        if driver is None or (driver.startswith("sqlite") and parsed.database in (None, "", ":memory:")):
            raise UsageError("annotation.database_url", value=parsed.render_as_string(hide_password=True))
        return cls(parsed.set(drivername=driver))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url,)

    @property
    def name(self) -> str:
        """The address as it is written, without its password."""
        if self.is_sqlite:
            return f"sqlite:///{self.url.database or ''}"
        plain = self.url.set(drivername=self.url.get_backend_name())
        return plain.render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.url.drivername.startswith("sqlite")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing. Raises Unavailable."""
        with _guarded(), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def looking(self) -> Iterator[Connection]:
        """For a single statement that reads: on PostgreSQL without a transaction around it. Raises Unavailable."""
        with _guarded(), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is kept when the block ends, and undone when it raises. Raises Unavailable.

        SQLite lets one writer in at a time; on PostgreSQL rows are locked by those who need it.
        """
        with _guarded(), self._turn, self._engine.connect() as connection:
            connection = connection.execution_options(**{WRITING: True})
            with connection.begin():
                yield connection

    def migrate(self) -> None:
        """Bring the tables to this version's form. Safe when several processes start at once.

        A file of SQLite that is made now is its owner's alone, since it holds the signing key.

        Raises UsageError for a database of a newer version and for a file that is no database.
        """
        from voirdire.annotation.migrations import upgrade

        if self.is_sqlite:
            self._make_private()
        try:
            with self.writing() as connection:
                upgrade(connection, self.name)
        except DBAPIError as error:
            raise UsageError("annotation.database_unreadable", value=self.name, why=_reason(error)) from error

    def _make_private(self) -> None:
        file = Path(str(self.url.database))
        if file.parent.is_dir() and not file.exists():
            file.touch(0o600)

    def dispose(self) -> None:
        """Close the connections; the next use opens new ones."""
        self._engine.dispose()


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except NoConnectionLeft as error:
        raise Unavailable("annotation.unavailable", why=type(error).__name__) from error
    except (OperationalError, InterfaceError) as error:
        raise Unavailable("annotation.unavailable", why=_reason(error)) from error
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        raise Unavailable("annotation.unavailable", why=_reason(error)) from error


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip().split("\n")[0]


def _engine(url: URL) -> Engine:
    """The engine, whose errors name no values: they end in logs."""
    if url.drivername.startswith("sqlite"):
        engine = create_engine(
            url, connect_args={"timeout": WAIT_SECONDS}, pool_size=CONNECTIONS, max_overflow=-1, hide_parameters=True
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    connect = {"connect_timeout": "5"} if "connect_timeout" not in url.query else {}
    engine = create_engine(
        url, connect_args=connect, pool_size=CONNECTIONS, max_overflow=5, pool_timeout=WAIT_SECONDS,
        hide_parameters=True,
    )  # fmt: skip
    event.listen(engine, "connect", _prepare_postgresql)
    _try_idle_ones(engine)
    return engine


def _try_idle_ones(engine: Engine) -> None:
    """Try a connection before it is used, if it was not used just now; under load that would cost as much as a read."""

    def came_back(_: Any, record: Any) -> None:
        record.info[IDLE_SINCE] = time.monotonic()

    def goes_out(connection: Any, record: Any, _: Any) -> None:
        since = record.info.get(IDLE_SINCE)
        if since is None or time.monotonic() - since < IDLE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", came_back)
    event.listen(engine, "checkout", goes_out)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _prepare_postgresql(connection: Any, _: Any) -> None:
    """Nobody waits for a lock for ever, and a transaction that its process forgot does not hold one for ever."""
    connection.autocommit = True
    connection.execute(f"SET lock_timeout = '{WAIT_SECONDS}s'")
    connection.execute("SET idle_in_transaction_session_timeout = '60s'")
    connection.autocommit = False
