"""A run that another process writes, as far as a gate lets it, and a reading room beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from tests.judging.kill_run import make_corpus
from tests.web.running import free_port

from voirdire.browsing.library import Library, Run, Shelf
from voirdire.cli.run_status import document
from voirdire.corpus.itemtable import read_items
from voirdire.corpus.options import CorpusOptions
from voirdire.judging.status import read_status
from voirdire.web.room.application import make_room

HOSTILE = "<img src=x onerror=alert(1)> </script><script>alert(2)</script> {{ 7919 * 7 }} \u202etxt"
JUDGES = f"""
import pathlib, time
GATE = pathlib.Path(__file__).with_name("gate")
calls = 0

def wait():
    global calls
    while calls >= int(GATE.read_text() or 0):
        time.sleep(0.01)
    calls += 1

def steady(item):
    wait()
    return 3

def poor(item, condition):
    number = int(item.id[1:])
    if number % 4 == 1:
        raise ValueError({HOSTILE!r})
    return "no rating <b>at all</b>" if number % 4 == 2 else 5
"""


class World:
    """A corpus, judges that ask for leave, and the run's folder. cells : 2 judges x 2 conditions x items"""

    def __init__(self, place: Path, items: int = 12) -> None:
        self.place, self.items, self.cells = place, items, 4 * items
        self.corpus, self.folder, self.judges = place / "corpus", place / "run", place / "judges.py"
        make_corpus(self.corpus, items)
        self.judges.write_text(JUDGES, encoding="utf-8")
        self.allow(0)

    def allow(self, calls: int) -> None:
        """Let the steady judge answer so many calls of a session."""
        beside = self.place / "gate.new"
        beside.write_text(str(calls))
        beside.replace(self.place / "gate")

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """``voirdire run``, in a process of its own."""
        command = [sys.executable, "-m", "voirdire", "run", str(self.corpus), "--out", str(self.folder)]
        for judge in ("steady", "poor"):
            command += ["--judge", f"python/{self.judges}:{judge}"]
        log = (self.place / "log").open("ab")
        process = subprocess.Popen([*command, "--grid", "neutral"], stdout=log, stderr=log)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
            log.close()

    def wait(self, reached: Callable[[dict[str, Any]], bool], seconds: float = 60.0) -> dict[str, Any]:
        """Wait until the run is so far; what ``voirdire run --status --json`` says then."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if (self.folder / "run.toml").is_file() and reached(told := self.status()):
                return told
            time.sleep(0.05)
        raise AssertionError((self.place / "log").read_text())

    def status(self) -> dict[str, Any]:
        """What ``voirdire run --status --json`` says."""
        told: dict[str, Any] = json.loads(json.dumps(document(read_status(self.folder))))
        return told

    def library(self, *, title: str = "tea & cake") -> Library:
        """The corpus and the run, as they stand in a reading room."""
        table = read_items(CorpusOptions(ratings=None, items=self.corpus / "items.csv"), ()).frame
        shelf = Shelf("corpus", "corpus", "corpus", self.corpus, self.corpus, table)
        return Library((shelf,), (Run("run", title, self.folder, "corpus"),))


def finished_world(place: Path) -> World:
    """A run that has ended, some of it in hostile words."""
    world = World(place)
    world.allow(1000)
    with world.running() as process:
        assert process.wait(60) == 0
    return world


class Serving:
    """A reading room behind a web server in a thread."""

    def __init__(self, library: Library) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        config = uvicorn.Config(
            make_room(library, port=port), host="127.0.0.1", port=port, log_level="error", ws="none"
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self) -> Serving:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering."""
        self.server.should_exit = True
        self.thread.join(10)
