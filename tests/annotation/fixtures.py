"""Fixtures of the store, for every group of tests that needs a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.annotation.postgres import Cluster

    from voirdire.annotation.database import Database


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL. Skips where there is none."""
    from tests.annotation.postgres import Cluster, programs

    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    server = Cluster(fsync="off")
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, of SQLite and of PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.sqlite'}"
        return
    server: Cluster = request.getfixturevalue("cluster")
    url = server.fresh()
    yield url
    server.drop(url)


@pytest.fixture
def db(database_url: str) -> Iterator[Database]:
    """An empty store."""
    from voirdire.annotation.database import Database

    database = Database.open(database_url)
    database.migrate()
    yield database
    database.dispose()
