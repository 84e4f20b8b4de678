"""Killed at every stage and at random moments, and resumed: nothing drawn twice, nothing lost, the budget kept."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.construction.image_world import corpus, make
from tests.construction.kill_images import POINTS
from tests.construction.mock_images import KEY, State, picture, serving

from voirdire.construction.concepts import read_concepts
from voirdire.construction.imaging.logbook import read_log

ROOT = Path(__file__).resolve().parents[2]
PRICE = 0.25


def start(folder: Path, url: str, concurrency: int, budget: float, *point: str) -> subprocess.Popen[str]:
    numbers = (str(concurrency), str(budget), str(PRICE))
    command = [sys.executable, "-m", "tests.construction.kill_images", str(folder), url, *numbers, *point]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def sent(folder: Path) -> dict[str, str]:
    """Item -> what is asked for it."""
    items = read_concepts(folder).items
    return {item.id: f"A photograph of {item.realisation}, eye level, soft daylight." for item in items}


def expect_whole(folder: Path, size: tuple[int, int] = (1024, 1024)) -> None:
    """Every image is there, is the one that belongs to its item, and is logged; nothing else lies about."""
    log = {row["item_id"]: row for row in map(json.loads, (folder / "images.jsonl").read_text("utf-8").splitlines())}
    images = {path.name: path.read_bytes() for path in (folder / "images" / "generated").iterdir()}
    prompts = sent(folder)
    assert set(images) == {f"{item}.png" for item in prompts}
    for item, prompt in prompts.items():
        data = picture(prompt, "gemini", size)
        assert images[f"{item}.png"] == data
        assert log[item]["sha256"] == hashlib.sha256(data).hexdigest()
        assert log[item]["status"] == "ok"
    assert list((folder / "image-run" / "replies").iterdir()) == []
    assert not (folder / "image-run" / "replaced").exists()


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point(tmp_path: Path, point: str) -> None:
    """One call at a time: what was received is never asked for again, and each image costs once."""
    folder = corpus(tmp_path / "c", 2)
    nth = "1" if point in ("logged", "sheet") else "3"
    with serving() as (url, state):
        process = start(folder, url, 1, 10.0, point, nth)
        _, said = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, said
        result = make(folder, url, price=PRICE, budget=10.0, concurrency=1)
    assert result.stopped is None
    expect_whole(folder)
    lost = {"half_reply": 1}.get(point, 0)
    assert sum(state.drawn.values()) == 4 + lost
    assert sum(state.calls.values()) == 4 + lost
    assert result.progress.cost == pytest.approx(4 * PRICE)


@pytest.mark.parametrize("point", ["kept_reply", "put"])
def test_a_reply_that_turns_up_is_counted_once(tmp_path: Path, point: str) -> None:
    """A budget for these images is enough (the mark of open calls is a quarter too high), and not one for another."""
    folder = corpus(tmp_path / "c", 2)
    with serving() as (url, state):
        process = start(folder, url, 1, 4 * PRICE, point, "2")
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        result = make(folder, url, price=PRICE, budget=4.3 * PRICE, concurrency=1)
    assert result.stopped is None
    assert sum(state.drawn.values()) == 4
    expect_whole(folder)


def kill_after(process: subprocess.Popen[str], state: State, drawn: int) -> None:
    """SIGKILL when the server has drawn this many images, or when the process has ended."""
    while process.poll() is None and sum(state.drawn.values()) < drawn:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    """What is asked for again after kills is at most what was in flight."""
    folder, concurrency = corpus(tmp_path / "c", 8), 4
    rng = np.random.default_rng(20260418)
    with serving(State(latency=0.15)) as (url, state):
        kills = 0
        for wanted in sorted(rng.integers(1, 14, 2)):
            process = start(folder, url, concurrency, 100.0)
            kill_after(process, state, int(wanted))
            kills += process.returncode == -signal.SIGKILL
        result = make(folder, url, price=PRICE, budget=100.0, concurrency=concurrency)
    assert kills >= 1
    assert result.stopped is None
    expect_whole(folder)
    assert sum(state.calls.values()) - 16 <= kills * concurrency
    assert max(state.calls.values()) <= 1 + kills
    assert len({call.split("-")[0] for call in state.calls}) == 1
    assert state.most_open <= concurrency * 2


@pytest.mark.slow
def test_the_budget_holds_over_kills(tmp_path: Path) -> None:
    """However often the process is killed, no more is drawn than the budget pays for."""
    folder, affordable = corpus(tmp_path / "c", 8), 6
    budget = affordable * PRICE
    with serving(State(latency=0.1)) as (url, state):
        for drawn in (2, 4):
            kill_after(start(folder, url, 2, budget), state, drawn)
        result = make(folder, url, price=PRICE, budget=budget, concurrency=2)
        again = make(folder, url, price=PRICE, budget=budget, concurrency=2)
    assert sum(state.drawn.values()) <= affordable
    assert result.stopped is not None
    assert again.stopped is not None
    assert result.stopped.key == again.stopped.key == "build_images.stopped_budget"
    kept = [row for row in read_log(folder) if row.status == "ok"]
    assert len(kept) <= sum(state.drawn.values())
    assert all((folder / row.facts["file"]).is_file() for row in kept)


def test_no_key_in_any_file(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2, {"c0-us": "BADREQUEST"})
    with serving() as (url, state):
        process = start(folder, url, 1, 10.0, "kept_reply", "2")
        process.communicate(timeout=60)
        held = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        make(folder, url, price=PRICE, budget=10.0)
        held += [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert state.headers[0]["x-goog-api-key"] == KEY
    assert not [data for data in held if KEY.encode() in data]
