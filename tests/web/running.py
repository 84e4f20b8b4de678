"""The service for tests: in this process for requests, as a program of its own for browsers."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.web.people import Visitor

from voirdire.annotation.batches import batch, create_batch, set_open
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.web.application import make_application
from voirdire.web.service import Service, open_service
from voirdire.web.serving import prepare
from voirdire.web.settings import Settings

START_SECONDS = 120.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Here:
    """A service and its links. ``url`` is where it answers."""

    url: str
    database: Database
    batch: int = 1
    visitors: list[Visitor] = field(default_factory=list)

    def visitor(self) -> Visitor:
        """Somebody who asks this service, with cookies of their own."""
        self.visitors.append(Visitor(self.url))
        return self.visitors[-1]

    def close(self) -> None:
        """Break off all connections."""
        for visitor in self.visitors:
            visitor.http.close()
        self.database.dispose()

    def link(self, pool: str, *, people: int | None = None) -> str:
        """A new link into a pool."""
        _, token = invite(self.database, self.batch, pool, most_raters=people, now=time.time())
        return f"{self.url}/join/{token}"

    def new_batch(self) -> None:
        """Go on with a batch of its own, like the first."""
        first = batch(self.database, 1)
        self.batch = create_batch(self.database, first.spec, time.time()).id

    def open(self, is_open: bool) -> None:
        """Open or close the batch."""
        set_open(self.database, self.batch, is_open, time.time())


class InProcess:
    """The application behind a web server in a thread."""

    def __init__(self, corpus: Path, database: str, **more: Any) -> None:
        self.port = int(more.pop("port", 0)) or free_port()
        settings = Settings(corpus=str(corpus), database=database, port=self.port, **more)
        self.ready = prepare(settings, time.time())
        self.service: Service = open_service(self.ready.settings)
        self.app = make_application(self.service)
        config = uvicorn.Config(self.app, host="127.0.0.1", port=self.port, log_level="error", ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.here = Here(f"http://127.0.0.1:{self.port}", self.service.database)

    def __enter__(self) -> InProcess:
        self.thread.start()
        wait_for(self.here.url)
        return self

    def __exit__(self, *_: object) -> None:
        self.here.close()
        self.server.should_exit = True
        self.thread.join(10)


class Program:
    """``voirdire annotate`` as a program of its own."""

    def __init__(self, corpus: Path, database: str, log: Path, *arguments: str) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "voirdire", "annotate", str(corpus), "--database", database]
        self.command = [*command, "--port", str(self.port), *arguments]
        self.log = log
        self.here = Here(f"http://127.0.0.1:{self.port}", Database.open(database))

    def __enter__(self) -> Program:
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                self.command, stdout=file, stderr=file, env={**os.environ, "COLUMNS": "300"}
            )
        wait_for(self.here.url, self.process, self.log)
        return self

    def __exit__(self, *_: object) -> None:
        self.here.close()
        self.process.terminate()
        self.process.wait(20)

    @property
    def lead_link(self) -> str:
        """The link of the lead's pages, as the program printed it."""
        found = re.search(r"http://\S+/lead/enter#\S+", self.log.read_text(encoding="utf-8"))
        assert found is not None
        return found[0]


def wait_for(url: str, process: subprocess.Popen[bytes] | None = None, log: Path | None = None) -> None:
    """Until the service answers."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            raise RuntimeError(log.read_text(encoding="utf-8") if log else "")
        try:
            httpx.get(f"{url}/static/site.css", timeout=2)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(url)
