"""A command that is killed at a named place; ``python -m tests.construction.kill_command PLACE WHEN COMMAND...``."""

from __future__ import annotations

import sys

from tests.construction.kill_freeze import killing

from voirdire.cli.main import run

if __name__ == "__main__":
    place, when, *words = sys.argv[1:]
    killing(place, when)
    sys.exit(run(words))
