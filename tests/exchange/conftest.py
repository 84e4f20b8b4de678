from __future__ import annotations

from pathlib import Path

import pytest
from tests.exchange import told_corpus

from voirdire.exchange.release import Release, ReleaseOptions, build_release

SECRET = bytes(range(32))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return told_corpus.write(folder)


@pytest.fixture
def release(corpus: Path) -> Release:
    """The release of the corpus with its judgments, always under the same secret."""
    return build_release(corpus, ReleaseOptions(told_corpus.judgments(corpus), rater_columns=("age",)), SECRET)
