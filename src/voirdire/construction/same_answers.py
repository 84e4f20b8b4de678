"""Whether the ratings of a corpus are the answers by which its pairs were screened.

A gap between pools is overstated in the answers by which pairs with a gap were chosen. A screening keeps a few marks of
its answers for each concept; a freeze looks for them among the ratings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import History

EVENT, MARKS = "screened", "answers"
MOST = 6
"""Marks that are kept of a concept."""
LEAST_SHARE = 0.1
"""Of the concepts, from which it is told: single ones are the same by chance where raters are only numbered."""


def marks_of(ratings: pl.DataFrame, question: str, items: Iterable[ConceptItem]) -> dict[str, list[str]]:
    """Concept -> marks of some of its answers to a question, the same few for the same answers.

    ratings : item_id, rater_id, question, value

    >>> tea = ConceptItem("tea-us", "tea", "food", "us", "iced tea")
    >>> rated = pl.DataFrame({"item_id": ["tea-us"], "rater_id": ["r"], "question": ["q1"], "value": [3.0]})
    >>> marks_of(rated, "q1", [tea])
    {'tea': ['5bc80124']}
    """
    return {concept: sorted(found)[:MOST] for concept, found in _marks(ratings, question, items).items()}


def same_answers(ratings: pl.DataFrame, items: Iterable[ConceptItem], history: History) -> int:
    """Concepts whose ratings are those by which they were screened; 0 where it is a few of many."""
    listed = tuple(items)
    asked = {item.concept for item in listed}
    kept = {name: one for name, one in _kept(history).items() if name in asked}
    found = {
        question: _marks(ratings, question, listed)
        for question in dict.fromkeys(question for question, _ in kept.values())
    }
    same = sum(
        bool(marks) and len(marks & found[question].get(name, set())) >= len(marks) - len(marks) // MOST
        for name, (question, marks) in kept.items()
    )
    return same if same >= LEAST_SHARE * len(asked) else 0


def _kept(history: History) -> dict[str, tuple[str, set[str]]]:
    """Concept -> question and marks of its latest screening; what is of another form is passed over."""
    found: dict[str, tuple[str, set[str]]] = {}
    for event in history.of_kind(EVENT):
        told: Any = event.get(MARKS)
        for concept, marks in told.items() if isinstance(told, Mapping) else ():
            if isinstance(marks, list):
                found[concept] = (str(event.get("question", "")), set(map(str, marks)))
    return found


def _marks(ratings: pl.DataFrame, question: str, items: Iterable[ConceptItem]) -> dict[str, set[str]]:
    concepts = {item.id: item.concept for item in items}
    rated = ratings.filter(pl.col("question") == question, pl.col("item_id").is_in(list(concepts)))
    found: dict[str, set[str]] = {}
    for item, rater, value in rated.select("item_id", "rater_id", "value").drop_nulls().iter_rows():
        mark = hashlib.sha256(f"{item}\0{rater}\0{value:g}".encode()).hexdigest()[:8]
        found.setdefault(concepts[item], set()).add(mark)
    return found
