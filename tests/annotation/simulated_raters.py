"""Raters as the rules on careless work should see them: careful ones, straight-liners, speeders, random clickers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from voirdire.annotation.flags import Record
from voirdire.annotation.nouns import Asked

QUESTIONS = tuple(Asked(f"q{k}", "buttons", low=1, high=5) for k in range(1, 5))


def careful_pool(rng: np.random.Generator, raters: int = 6, items: int = 40, pool: str = "us") -> list[Record]:
    """Raters who look: the item, their own severity and some noise decide; one in fifty gold items is missed."""
    worth = rng.normal(0, 0.9, (len(QUESTIONS), items)) + rng.normal(3.2, 0.4, (len(QUESTIONS), 1))
    severity = rng.normal(0, 0.4, (raters, len(QUESTIONS), 1))
    levels = _levels(worth + severity + rng.normal(0, 0.7, (raters, len(QUESTIONS), items)))
    again = _levels(worth + severity + rng.normal(0, 0.7, (raters, len(QUESTIONS), items)))
    speed = rng.lognormal(np.log(20), 0.35, raters)
    records = []
    for k in range(raters):
        order = rng.permutation(items)
        twice = rng.choice(items, 6, replace=False)
        records.append(
            Record(
                f"{pool}{k}",
                pool,
                answers={q.id: [str(v) for v in levels[k, place, order]] for place, q in enumerate(QUESTIONS)},
                seconds=list(speed[k] * rng.lognormal(0, 0.4, items)),
                gold=list(rng.random(3) >= 0.02),
                repeats={
                    q.id: [(str(levels[k, place, item]), str(again[k, place, item])) for item in twice]
                    for place, q in enumerate(QUESTIONS)
                },
            )
        )
    return with_others(records)


def with_others(records: list[Record]) -> list[Record]:
    """The records with what the others of the pool answered."""
    return [
        Record(r.rater, r.pool, r.answers, _shares([o for o in records if o is not r and o.pool == r.pool]),
               r.seconds, r.gold, r.repeats)
        for r in records
    ]  # fmt: skip


def changed(records: list[Record], place: int, **fields) -> list[Record]:
    """The records with one rater who does otherwise."""
    old = records[place]
    parts = {name: getattr(old, name) for name in ("rater", "pool", "answers", "seconds", "gold", "repeats")}
    new = Record(**{**parts, **fields})
    return with_others([*records[:place], new, *records[place + 1 :]])


def clicked(rng: np.random.Generator, items: int = 40, repeats: int = 6) -> dict:
    """Answers at random, to repeated items too."""
    answers = {q.id: [str(v) for v in rng.integers(1, 6, items)] for q in QUESTIONS}
    pairs = {q.id: [(str(a), str(b)) for a, b in rng.integers(1, 6, (repeats, 2))] for q in QUESTIONS}
    return {"answers": answers, "repeats": pairs}


def _levels(worth: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(worth), 1, 5).astype(int)


def _shares(others: list[Record]) -> dict[str, dict[str, float]]:
    found = {}
    for question in QUESTIONS:
        counts = Counter(answer for other in others for answer in other.answers[question.id])
        found[question.id] = {answer: count / counts.total() for answer, count in counts.items()}
    return found
