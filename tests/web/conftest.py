from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.annotation.postgres import Cluster
from tests.web import chromium
from tests.web.attack_fixtures import attacked_corpus, house, own_house
from tests.web.corpora import build
from tests.web.people import Visitor
from tests.web.running import Here, InProcess, Program

__all__ = ["attacked_corpus", "house", "own_house"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of 12 items in 6 pairs for the pools us and cn."""
    return build(tmp_path / "things")


@pytest.fixture
def inside(corpus: Path, tmp_path: Path) -> Iterator[InProcess]:
    """The service in this process, on SQLite."""
    with InProcess(corpus, f"sqlite:///{tmp_path / 'store.sqlite'}") as running:
        yield running


@pytest.fixture
def here(inside: InProcess) -> Here:
    """The service in this process: its address, its links, its database."""
    return inside.here


@pytest.fixture
def client(here: Here) -> Visitor:
    """Somebody who asks the service."""
    return here.visitor()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The service as a program of its own, on SQLite and on PostgreSQL, for all tests of a file."""
    folder = tmp_path_factory.mktemp("service")
    if request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("cluster")
        url = cluster.fresh()
    else:
        url = f"sqlite:///{folder / 'store.sqlite'}"
    with Program(build(folder / "things"), url, folder / "service.log") as running:
        yield running
    if request.param == "postgresql":
        cluster.drop(url)


@pytest.fixture
def server(program: Program) -> Program:
    """The service as a program of its own, with a batch for this test."""
    program.here.new_batch()
    return program


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Chromium. Skips where it, or Playwright, is absent.

    Playwright holds an event loop of the thread as long as it is there, and other tests run loops of their own: it
    goes with the module.
    """
    if why := chromium.missing():
        pytest.skip(why)
    with chromium.running_chromium() as running:
        yield running


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where screenshots go: VOIRDIRE_TEST_ARTEFACTS, else a folder of the test's own."""
    folder = Path(os.environ.get("VOIRDIRE_TEST_ARTEFACTS") or tmp_path) / "web"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
