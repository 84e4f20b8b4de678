"""Drawing in a process of its own, for a program that answers others while it draws.

The renderer keeps Python's lock from its first line to its last: within a server every other answer would wait. The
process is started when something is first drawn, goes with the program, and is begun anew where it died.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

Task = Callable[..., Any]
LOOK = 0.5
"""Seconds between looks whether the program is ending."""


class Helper:
    """One process that does one thing after another.

    >>> Helper().ask(abs, -3)
    3
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[BaseProcess, Connection] | None = None

    def ask(self, task: Task, *given: Any) -> Any:
        """What a function of a module gives for these arguments; an error of it is raised here.

        Where the process cannot be started or dies the function is called in this process.
        """
        with self._lock:
            try:
                answer, error = self._asked(task, given)
            except (OSError, EOFError):
                self._drop()
                return task(*given)
        if error is not None:
            raise error
        return answer

    def _asked(self, task: Task, given: tuple[Any, ...]) -> tuple[Any, Exception | None]:
        held = self._held
        if held is None or not held[0].is_alive():
            self._drop()
            held = self._held = _start()
        held[1].send((task, given))
        while not held[1].poll(LOOK):
            # The interpreter waits for its threads before it ends the processes that it started.
            if not threading.main_thread().is_alive():
                raise SystemExit
        answer: tuple[Any, Exception | None] = held[1].recv()
        return answer

    def _drop(self) -> None:
        if self._held is not None:
            process, line = self._held
            line.close()
            process.terminate()
            process.join(1)
            self._held = None


def _start() -> tuple[BaseProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there,), daemon=True, name="voirdire-drawing")
    process.start()
    there.close()
    return process, here


def _work(line: Connection) -> None:
    """Answer until the other end is closed. Ctrl-C is for the program that asked, which ends this process too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task, given = line.recv()
        except (EOFError, OSError):
            return
        line.send(_done(task, given))


def _done(task: Task, given: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        return task(*given), None
    except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
        return None, error
