"""A session of translations as a process that can be killed.

``python -m tests.construction.kill_translations FOLDER URL CONCURRENCY BUDGET PRICES``
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.construction.translation_world import translate

if __name__ == "__main__":
    folder, url, concurrency, budget, prices = sys.argv[1:]
    spending = {"budget": float(budget), "prices": Path(prices)}
    ended = translate(Path(folder), url, concurrency=int(concurrency), back=True, **spending)
    print(ended.stopped)
