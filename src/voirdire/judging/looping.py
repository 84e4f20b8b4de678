"""Running asynchronous work from code that is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


def in_a_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end; in a thread of its own where a loop is running already, as in a notebook.

    >>> async def work():
    ...     return 4
    >>> in_a_loop(work())
    4
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: dict[str, Any] = {}

    def inside() -> None:
        try:
            outcome["value"] = asyncio.run(work)
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            outcome["error"] = error

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]
