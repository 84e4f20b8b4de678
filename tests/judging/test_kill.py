"""The paper's grid, killed five times and resumed, against the same grid left alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.judging.kill_run import JUDGES, KEYS, make_corpus
from tests.mock_provider import Behaviour, Spawned, spawn

from voirdire.judging.status import read_status

ROOT = Path(__file__).resolve().parents[2]
ITEMS, CELLS, IN_FLIGHT, KILLS, SEED = 626, 37_560, 16, 5, 20260620
TIMES = ("seconds", "at")
MIXED = Behaviour(rate_limit=0.02, server=0.01, malformed=0.02, refusal=0.005, retry_after=0.1)
LANES = 4
"""OpenAI, Z.AI, Anthropic, Google: two of them have two judges."""


def start(corpus: Path, out: Path, mock: Spawned) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.judging.kill_run", "run", str(corpus), str(out), mock.url, str(IN_FLIGHT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def finish(process: subprocess.Popen[str]) -> dict[str, float]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return json.loads(out.splitlines()[-1])


def kill_when(process: subprocess.Popen[str], out: Path, wanted: int) -> int:
    """SIGKILL once this many cells are done; how many were then."""
    while process.poll() is None:
        done = CELLS - read_status(out).count("pending") if (out / "run.toml").exists() else 0
        if done >= wanted:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return CELLS - read_status(out).count("pending")


def content(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "judgments.parquet").drop(TIMES)


@pytest.mark.slow
def test_killed_five_times_and_resumed(tmp_path: Path) -> None:
    make_corpus(tmp_path / "corpus", ITEMS)
    with spawn(MIXED) as mock:
        whole = finish(start(tmp_path / "corpus", tmp_path / "whole", mock))
        undisturbed = mock.seen()
        mock.reset()
        rng = np.random.default_rng(SEED)
        for wanted in sorted(rng.integers(1, CELLS * 4 // 5, KILLS)):
            done = kill_when(start(tmp_path / "corpus", tmp_path / "killed", mock), tmp_path / "killed", int(wanted))
            assert wanted <= done < CELLS
        last = finish(start(tmp_path / "corpus", tmp_path / "killed", mock))
        seen = mock.seen()

    assert (whole["done"], last["done"], whole["stopped"], last["stopped"]) == (CELLS, CELLS, None, None)
    judgments = content(tmp_path / "killed")
    assert judgments.height == CELLS
    assert judgments.select("item_id", "judge", "condition", "question", "repeat").n_unique() == CELLS
    statuses = dict(judgments["status"].value_counts().iter_rows())
    assert set(statuses) <= {"ok", "refused", "malformed", "error"}
    assert statuses["ok"] > 0.98 * CELLS
    assert 0.003 * CELLS < statuses["refused"] < 0.008 * CELLS
    assert judgments["rating"].null_count() == CELLS - statuses["ok"]
    assert judgments.equals(content(tmp_path / "whole"))

    assert max(undisturbed.values()) == 1
    assert len(seen) == len(undisturbed)
    repeated = sum(seen.values()) - len(seen)
    assert repeated <= KILLS * IN_FLIGHT * LANES
    assert max(seen.values()) <= 1 + KILLS
    assert len({name.split("-")[0] for name in seen}) == 1
    print(f"\nundisturbed {whole}\nlast {last}\nrepeated {repeated} of at most {KILLS * IN_FLIGHT * LANES}")

    size = sum(path.stat().st_size for path in (tmp_path / "killed").glob("ledger.sqlite*"))
    assert size < 500 * CELLS
    secret = next(iter(KEYS.values())).encode()
    assert not [path for path in (tmp_path / "killed").iterdir() if secret in path.read_bytes()]
    assert set(judgments["judge"].unique()) == set(JUDGES)
