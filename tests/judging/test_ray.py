"""The grid on a local Ray cluster of two nodes, one of which is killed in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.judging.batch_world import KEYS, corpus, judgments, ordinary, plan_of, rows
from tests.judging.ray_run import CONCURRENCY
from tests.mock_provider import Behaviour, spawn

pytest.importorskip("ray")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
BEHAVIOUR = Behaviour(malformed=0.05, refusal=0.02, server=0.02, rate_limit=0.02, retry_after=0.0, latency=0.6)


def on_cluster(items: Path, run: Path, url: str, kill_after: int) -> dict[str, Any]:
    """A process of its own, so that nothing of Ray outlives it."""
    command = [sys.executable, "-m", "tests.judging.ray_run", str(items), str(run), url, str(kill_after)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **KEYS}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return orjson.loads(done.stdout.strip().splitlines()[-1])


def test_a_node_is_killed_and_every_cell_ends_once(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 300)
    with spawn(BEHAVIOUR) as mock:
        result = on_cluster(items, tmp_path / "run", mock.url, kill_after=40)
        seen = mock.seen()
        assert (result["done"], result["stopped"], result["killed"]) == (600, "", True)
        assert min(result["delivered"]) >= 40
        assert len(result["lost"]) == 1
        assert 0 < sum(number - 1 for number in seen.values()) <= 2 * CONCURRENCY
        mock.configure(latency=0.0)
        import asyncio

        asyncio.run(ordinary(tmp_path / "plain", plan_of(items, mock.url, ["openai"])))
    assert judgments(tmp_path / "run") == judgments(tmp_path / "plain")
    assert rows(tmp_path / "run", "SELECT count(*), count(DISTINCT cell) FROM outcome") == [(600, 600)]
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert all(key.encode() not in written for key in KEYS.values())
