"""The audits of the simulated corpus, each made once in a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.replication.reference_map import PLACE, Place, ReferenceMap, read_reference
from tests.replication.runs import command, in_python, once

import voirdire


@pytest.fixture(scope="session")
def simulated(shared_data: Path) -> Path:
    """The simulated corpus. Skips where it is absent."""
    folder = shared_data / "simulated-voirdire"
    if not (folder / "reference.json").is_file():
        pytest.skip("no simulated corpus with its reference")
    return folder


@pytest.fixture(scope="session")
def reference(simulated: Path) -> dict[str, dict[str, Any]]:
    """The independent reference."""
    return read_reference(simulated)


@pytest.fixture(scope="session")
def mapped() -> ReferenceMap:
    """tests/reference_map.toml."""
    return ReferenceMap()


@pytest.fixture(scope="session")
def audited(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command of the issue wrote; made by one worker, for all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base

    def make(folder: Path) -> dict[str, Any]:
        done = command(simulated, folder / "out")
        return {"code": done.returncode, "said": done.stdout + done.stderr}

    return once(shared / "replication", make) / "out"


@pytest.fixture(scope="session")
def by_command(audited: Path) -> Mapping[Place, Mapping[str, Any]]:
    """The rows of estimates.csv by their place."""
    return by_place(pl.read_csv(audited / "estimates.csv", infer_schema_length=None))


@pytest.fixture(scope="session")
def profile(simulated: Path) -> voirdire.Profile:
    """The same audit through Python."""
    return in_python(simulated)


@pytest.fixture(scope="session")
def variant(simulated: Path, mapped: ReferenceMap) -> Callable[[str], Mapping[Place, Mapping[str, Any]]]:
    """The rows of one of the map's other runs."""
    made: dict[str, Mapping[Place, Mapping[str, Any]]] = {}

    def rows(run: str) -> Mapping[Place, Mapping[str, Any]]:
        if run not in made:
            made[run] = by_place(in_python(simulated, mapped.runs[run]).estimates)
        return made[run]

    return rows


def by_place(estimates: pl.DataFrame) -> dict[Place, Mapping[str, Any]]:
    """Rows by statistic, params and place; no two may share one."""
    rows = estimates.with_columns(pl.col(name).fill_null("") for name in PLACE)
    found = {tuple(row[name] for name in PLACE): row for row in rows.iter_rows(named=True)}
    assert len(found) == estimates.height
    return found
