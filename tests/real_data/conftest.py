"""Each folder is audited once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.real_data.folders import CASES, Audit, audit


@pytest.fixture(scope="session")
def audited(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Audit]:
    """The audit of a case by name."""
    kept: dict[str, Audit] = {}

    def make(name: str) -> Audit:
        if name not in kept:
            kept[name] = audit(CASES[name], shared_data, tmp_path_factory.mktemp("real") / "out")
        return kept[name]

    return make
