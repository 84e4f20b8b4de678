"""Which levels lack a demonstration, of questions that have levels and of others."""

from __future__ import annotations

import polars as pl
import pytest

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.freezing.demonstrations import demonstrations_of
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus

ITEMS = (
    ConceptItem("tea-us", "tea", "food", "us", "iced tea", split="demonstration"),
    ConceptItem("tea-cn", "tea", "food", "cn", "green tea", split="demonstration"),
)


@pytest.mark.parametrize(("high", "levels"), [(5, {1, 3, 4, 5}), (10_000, set())])
def test_a_question_that_no_judge_could_answer_has_no_levels(high: int, levels: set[int]) -> None:
    """More than 1001 whole numbers are no levels; that is no reason not to freeze."""
    rows = [
        {"item_id": item.id, "rater_id": f"{pool}-{n}", "pool": pool, "question": "price", "rating": 1 + n}
        for item in ITEMS
        for pool in ("us", "cn")
        for n in range(2)
    ]
    corpus = read_corpus(CorpusOptions(pl.DataFrame(rows), low=0 if high > 5 else 1, high=high))
    told, notes = demonstrations_of(ITEMS, corpus, 1)
    lacking = told.get("demonstrations_lacking", ())
    assert {row["level"] for row in lacking} == levels
    assert [note.key for note in notes] == ["freezing.note.lacking"][: len(levels)]
