from __future__ import annotations

from pathlib import Path

import pytest

from voirdire.app.simulate import simulate

FAST = ["--draws", "60", "--permutations", "40"]


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated corpus with its judgments."""
    folder = tmp_path_factory.mktemp("simulated") / "corpus"
    simulate(folder, items=36, raters=3, seed=1)
    return folder
