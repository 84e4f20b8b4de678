"""Fixtures of the attacks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.attack_world import House, corpus_folder


@pytest.fixture(scope="session")
def attacked_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose texts are hostile."""
    return corpus_folder(tmp_path_factory.mktemp("attacked") / "corpus")


@pytest.fixture(scope="module")
def house(attacked_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A service on SQLite, for all tests of a file."""
    built = House(attacked_corpus, f"sqlite:///{tmp_path_factory.mktemp('store') / 'a.sqlite'}")
    yield built
    built.close()


@pytest.fixture
def own_house(attacked_corpus: Path, database_url: str) -> Iterator[House]:
    """A service of one test, on SQLite and on PostgreSQL."""
    built = House(attacked_corpus, database_url)
    yield built
    built.close()
