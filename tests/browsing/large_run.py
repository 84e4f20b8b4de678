"""A large ledger, written at once."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np

from voirdire.judging.ledger import Ledger

REPLY = json.dumps({"rating": 4, "explanation": "words " * 12})


def large_run(folder: Path, *, items: int, judges: int = 25, ended: float = 0.9) -> None:
    """12 conditions, the first ``ended`` of the cells asked; a few failed, malformed, refused."""
    folder.mkdir(parents=True)
    conditions = [
        (f"{persona}_{lang}{end}", "-", json.dumps({"name": f"{persona}_{lang}", "design": design, "language": lang}))
        for persona, lang, (design, end) in product(
            ("neutral", "us", "cn"), ("en", "zh"), (("base", ""), ("aa", "/aa"))
        )
    ]
    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.register(
            {
                "item": [(f"i{number}", "-", "{}") for number in range(items)],
                "question": [("q1", "-", "{}")],
                "condition": conditions,
                "judge": [(f"m{number}", "-", '{"provider": "openai"}') for number in range(judges)],
            },
            repeats=1,
            meta={"corpus": "large", "grid": "large"},
            session="{}",
        )
        count = int(items * judges * len(conditions) * ended)
        kinds = np.random.default_rng(0).choice(
            ("ok", "malformed", "refused", "error"), count, p=(0.97, 0.01, 0.01, 0.01)
        )
        with ledger.writing() as db:
            db.executemany(
                "INSERT INTO attempt VALUES (?, 1, ?, ?, 0.5, '-', 200, ?, '', '', NULL, 900, 30, 0, 0, 0.0004)",
                (
                    (cell, "server" if kind == "error" else str(kind), 1000.0 + cell / 60, REPLY)
                    for cell, kind in enumerate(kinds, start=1)
                ),
            )
            db.executemany(
                "INSERT INTO outcome VALUES (?, ?, ?, 1)",
                ((cell, str(kind), 4.0 if kind == "ok" else None) for cell, kind in enumerate(kinds, start=1)),
            )
