"""Ratings that are the answers by which pairs were screened are known again."""

from __future__ import annotations

import polars as pl

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import History
from voirdire.construction.same_answers import MOST, marks_of, same_answers
from voirdire.corpus.screened import screening_notes
from voirdire.texts import text

NAMES = [f"c{place}" for place in range(12)]
ITEMS = [ConceptItem(f"{name}-{culture}", name, "food", culture, name) for name in NAMES for culture in ("us", "cn")]


def answers(raters: range, shift: int = 0, question: str = "q1") -> pl.DataFrame:
    rows = [
        (item.id, f"r{rater}", question, float((place * 7 + rater * 3 + shift) % 5))
        for place, item in enumerate(ITEMS)
        for rater in raters
    ]
    return pl.DataFrame(rows, schema=["item_id", "rater_id", "question", "value"], orient="row")


def history(marks: object) -> History:
    return History(({"kind": "screened", "at": "", "by": "", "concept": "", "question": "q1", "answers": marks},))


def test_the_same_answers_are_known_alone_and_among_others() -> None:
    pilot = answers(range(6))
    marks = marks_of(pilot, "q1", ITEMS)
    assert {len(one) for one in marks.values()} == {MOST}
    screened = history(marks)
    assert same_answers(pilot, ITEMS, screened) == 12
    assert same_answers(pl.concat([pilot, answers(range(50, 60)), answers(range(6), 1, "q2")]), ITEMS, screened) == 12
    assert same_answers(pilot.filter(pl.col("item_id").str.starts_with("c3-")), ITEMS, screened) == 0
    assert same_answers(pilot.head(pilot.height // 2), ITEMS[:12], screened) == 6


def test_other_people_and_people_who_are_only_numbered_alike_are_not() -> None:
    screened = history(marks_of(answers(range(6)), "q1", ITEMS))
    assert same_answers(answers(range(50, 60)), ITEMS, screened) == 0
    assert same_answers(answers(range(6), shift=1), ITEMS, screened) == 0
    assert same_answers(answers(range(6), question="q2"), ITEMS, screened) == 0


def test_a_history_that_says_nothing_or_something_else() -> None:
    for marks in (None, [], {"c1": "x"}, {"c1": []}, {"gone": ["00000000"]}):
        assert same_answers(answers(range(3)), ITEMS, history(marks)) == 0
    for told in ("12", -1, 0, None):
        assert screening_notes({"same_ratings": told}) == ()
    assert [note.kind for note in screening_notes({"same_ratings": 12})] == ["warning"]


def test_a_pair_that_was_kept_all_the_same_is_told_in_words() -> None:
    """No name of a measure as the history has it; whoever holds the lead's secret is the lead."""
    row = {"concept": "tea", "suggested": "drop", "reasons": ["gap", "pile"], "decided": "keep", "why": "they differ"}
    rows = [{**row, "by": "lead"}, {**row, "by": "ana", "suggested": "undecided"}]
    notes = screening_notes({"overruled": rows})
    told = [text(note.key, "en", **note.fields) for note in notes]
    assert told == [
        "'tea' is kept although the screening suggested to drop it. Decided by the lead: they differ",
        "'tea' is kept although the screening left it undecided. Decided by ana: they differ",
    ]
    chinese = [text(note.key, "zh", **note.fields) for note in notes]
    assert ["负责人" in one for one in chinese] == [True, False]
    assert not any("lead" in one or "gap" in one for one in chinese)
