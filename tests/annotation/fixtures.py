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


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """The address of an empty store in PostgreSQL, to be copied."""
    from voirdire.annotation.database import Database

    url = cluster.fresh()
    database = Database.open(url)
    database.migrate()
    database.dispose()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty store, in SQLite and in PostgreSQL."""
    from voirdire.annotation.database import Database

    if request.param == "sqlite":
        database = Database.open(f"sqlite:///{tmp_path / 'store.sqlite'}")
        database.migrate()
        yield database
        database.dispose()
        return
    server: Cluster = request.getfixturevalue("cluster")
    url = server.fresh(request.getfixturevalue("template"))
    database = Database.open(url)
    yield database
    database.dispose()
    server.drop(url)
