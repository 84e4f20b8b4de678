"""A freeze that is killed at a named place; run as a program by the tests."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.construction.freeze_world import freeze


def killing(place: str, when: str) -> None:
    """Make a function end this process as it begins, or when it is done."""
    module, name = place.rsplit(":", 1)
    owner: Any = importlib.import_module(module)
    for part in name.split(".")[:-1]:
        owner = getattr(owner, part)
    last = name.rsplit(".", 1)[-1]
    whole = getattr(owner, last)

    def dying(*args: Any, **options: Any) -> Any:
        if when == "after":
            whole(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, last, dying)


if __name__ == "__main__":
    folder, out, rated, place, when = sys.argv[1:]
    killing(place, when)
    freeze(Path(folder), Path(out), Path(rated), version="1.0")
