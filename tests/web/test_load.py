"""Raters at once over HTTP: nothing is lost, nothing counts twice, every item gets all its raters and no more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.web.load import POOLS, Crowd, found_in, text_corpus
from tests.web.running import free_port, wait_for

from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite

RATERS, EACH, WANTED = 20, 4, 5
ITEMS = RATERS // len(POOLS) * EACH // WANTED
ANSWERS = RATERS * EACH * 4


class Restarting:
    """The service as a program that can be killed and started again on the same port."""

    def __init__(self, corpus: Path, database: str, log: Path) -> None:
        self.port = free_port()
        numbers = ["--raters-per-item", str(WANTED), "--items-per-rater", str(EACH), "--port", str(self.port)]
        self.command = [sys.executable, "-m", "voirdire", "annotate", str(corpus), "--database", database, *numbers]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(self.command, stdout=file, stderr=file)
        wait_for(self.url, self.process, self.log)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(20)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


@pytest.mark.slow
def test_twenty_raters_at_once_lose_nothing_while_the_service_is_killed_twice(
    database_url: str, tmp_path: Path
) -> None:
    service = Restarting(text_corpus(tmp_path / "corpus", ITEMS), database_url, tmp_path / "log")
    database = Database.open(database_url)

    async def kill(count: int) -> None:
        if count in (ANSWERS // 4, ANSWERS // 2):
            await asyncio.to_thread(service.kill)
            await asyncio.to_thread(service.start)

    try:
        tokens = {pool: invite(database, 1, pool, now=time.time())[1] for pool in POOLS}
        links = {pool: f"{service.url}/join/{token}" for pool, token in tokens.items()}
        crowd = Crowd(service.url, links, RATERS, hook=kill)
        asyncio.run(crowd.run())
        found = found_in(database, crowd.sent, ITEMS, WANTED)
    finally:
        database.dispose()
        service.stop()
    assert found.fine, found
    assert found.kept == len(crowd.sent) == ANSWERS
    assert crowd.troubles
