"""The mock as a process of its own: the command, and a way to start and ask it from a test."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import orjson
from tests.mock_provider.plan import Behaviour, typed

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Spawned:
    """A running mock process."""

    url: str
    pid: int

    def stats(self) -> dict[str, Any]:
        return self.get("stats")

    def seen(self) -> dict[str, int]:
        return self.get("seen")

    def get(self, name: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/admin/{name}", timeout=30) as reply:
            return orjson.loads(reply.read())

    def configure(self, **settings: Any) -> None:
        self._post("configure", settings)

    def reset(self, **settings: Any) -> None:
        self._post("reset", settings)

    def _post(self, name: str, settings: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self.url}/admin/{name}", orjson.dumps(settings), method="POST")
        with urllib.request.urlopen(request, timeout=30):
            pass


@contextmanager
def spawn(behaviour: Behaviour | None = None, *, port: int = 0, cpu: int | None = None) -> Iterator[Spawned]:
    """A mock process for the length of a ``with``."""
    command = [sys.executable, "-m", "tests.mock_provider", "--port", str(port)]
    if cpu is not None:
        command += ["--cpu", str(cpu)]
    for name, value in asdict(behaviour or Behaviour()).items():
        command += [f"--{name.replace('_', '-')}", str(int(value) if isinstance(value, bool) else value)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Spawned(process.stdout.readline().strip(), process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def main(arguments: list[str] | None = None) -> None:
    """Serve until SIGTERM; the first line of standard output is the address."""
    parser = argparse.ArgumentParser(prog="python -m tests.mock_provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cpu", type=int, help="keep to this processor")
    for field in fields(Behaviour):
        kind = int if isinstance(field.default, bool) else type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    options = vars(parser.parse_args(arguments))
    port, cpu = options.pop("port"), options.pop("cpu")
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    asyncio.run(_serve(Behaviour(**typed(options)), port))


async def _serve(behaviour: Behaviour, port: int) -> None:
    from tests.mock_provider.server import MockProvider

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with MockProvider(behaviour, port=port) as mock:
        print(mock.url, flush=True)
        await stop.wait()
