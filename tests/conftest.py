"""What several groups of tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.annotation.fixtures import cluster, database_url

__all__ = ["cluster", "database_url"]

ROOT = Path(__file__).resolve().parent.parent

# The same examples in each run, so that a result changes only with the code; "search" looks for new ones.
settings.register_profile(
    "ci", deadline=None, max_examples=30, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=10)
settings.register_profile("search", settings.get_profile("ci"), max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("VOIRDIRE_TEST_PROFILE", "ci"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets: VOIRDIRE_SHARED_DATA, else ../shared/data. Skips where it is absent."""
    folder = Path(os.environ.get("VOIRDIRE_SHARED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """The language of a test is not that of the machine."""
    for name in ("VOIRDIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


LONG = ("test_end_to_end.py", "test_rating_looks.py", "test_rating_page.py", "test_real_rooms.py")
"""Files that take minutes: begun first, so that no process is left alone with one of them."""
TOGETHER = ("tests/real_data/", "tests/replication/")
"""Folders whose files share what takes a minute to make: they stay in one process, and begin first too."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is long first; the rest as it is."""
    items.sort(key=lambda item: item.path.name not in LONG and not item.nodeid.startswith(TOGETHER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as there are cores, since many tests wait for browsers and servers."""
    return max(2, 3 * (os.cpu_count() or 1) // 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file stays in one process, so that what its tests share is made once; some folders do."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = next((name for name in TOGETHER if nodeid.startswith(name)), None)
            return folder or str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False
    return Scheduling(config, log)
