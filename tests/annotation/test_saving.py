from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Row, event, select
from tests.annotation.studies import batch_of, complete, given, joined, rate_all

from voirdire.annotation.answers import BadValue, Closed, Deleted, KeyReused, NotYours, save
from voirdire.annotation.assignments import assign, finish, work
from voirdire.annotation.batches import set_open
from voirdire.annotation.database import Database
from voirdire.annotation.nouns import Assignment, Batch, Given
from voirdire.annotation.raters import delete_rater, rater
from voirdire.annotation.schema import events


@pytest.fixture
def batch(db: Database) -> Batch:
    return batch_of(db, 4)


@pytest.fixture
def who(db: Database, batch: Batch) -> str:
    found = joined(db, batch)
    assign(db, found, 0.0)
    return found


@pytest.fixture
def first(db: Database, who: str) -> Assignment:
    return work(db, who)[0]


def history(db: Database, rater_id: str, kind: str = "answer") -> list[Row[Any]]:
    with db.reading() as connection:
        found = select(events).where(events.c.rater_id == rater_id, events.c.kind == kind).order_by(events.c.id)
        return list(connection.execute(found))


def values(db: Database, rater_id: str) -> dict[str, str]:
    return {name: answer.value for name, answer in work(db, rater_id)[0].answers.items()}


def test_an_assignment_is_done_when_every_required_question_has_a_value(
    db: Database, who: str, first: Assignment
) -> None:
    one = save(db, who, given(first.id, "q1", "4"), 1.0)
    assert (one.applied, one.state, one.done, one.total) == (True, "open", 0, 4)
    two = save(db, who, given(first.id, "q2", "-2"), 2.0)
    assert (two.state, two.done, two.total) == ("done", 1, 4)
    three = save(db, who, given(first.id, "why", "because"), 3.0)
    assert (three.state, three.done) == ("done", 1)
    assert work(db, who)[0].state == "done"


def test_an_answer_can_be_changed_and_taken_back(db: Database, who: str, first: Assignment) -> None:
    complete(db, who, first, 1.0)
    save(db, who, given(first.id, "q1", "5"), 2.0)
    assert values(db, who) == {"q1": "5", "q2": "0"}
    undone = save(db, who, given(first.id, "q1", None), 3.0)
    assert (undone.applied, undone.state, undone.done) == (True, "open", 0)
    assert values(db, who) == {"q2": "0"}
    assert [(event.question, event.value, event.at) for event in history(db, who)] == [
        ("q1", "3", 1.0),
        ("q2", "0", 1.0),
        ("q1", "5", 2.0),
        ("q1", None, 3.0),
    ]


def test_taking_back_an_optional_answer_leaves_the_assignment_done(db: Database, who: str, first: Assignment) -> None:
    complete(db, who, first, 1.0)
    save(db, who, given(first.id, "why", "because"), 2.0)
    assert save(db, who, given(first.id, "why", None), 3.0).state == "done"


def test_taking_back_what_was_never_answered_changes_nothing(db: Database, who: str, first: Assignment) -> None:
    saved = save(db, who, given(first.id, "q1", None), 1.0)
    assert (saved.state, saved.done, values(db, who)) == ("open", 0, {})


def test_an_answer_is_kept_with_its_comment_language_and_times(db: Database, who: str, first: Assignment) -> None:
    save(db, who, given(first.id, "q1", "4", comment="too salty", language="en", seconds=7.5), 11.0)
    answer = work(db, who)[0].answers["q1"]
    assert (answer.comment, answer.language, answer.seconds, answer.answered_at) == ("too salty", "en", 7.5, 11.0)


def test_an_answer_without_a_language_has_that_of_the_rater(db: Database, batch: Batch) -> None:
    who = joined(db, batch, "cn")
    assign(db, who, 0.0)
    save(db, who, given(work(db, who)[0].id, "q1", "4"), 1.0)
    assert work(db, who)[0].answers["q1"].language == "zh"


def test_the_same_answer_sent_again_is_applied_once(db: Database, who: str, first: Assignment) -> None:
    sent = given(first.id, "q1", "4")
    assert save(db, who, sent, 1.0).applied
    again = save(db, who, sent, 2.0)
    assert (again.applied, again.state, again.total) == (False, "open", 4)
    assert len(history(db, who)) == 1
    assert work(db, who)[0].answers["q1"].answered_at == 1.0


def test_an_answer_that_arrives_again_after_a_later_one_does_not_undo_it(
    db: Database, who: str, first: Assignment
) -> None:
    old = given(first.id, "q1", "1")
    save(db, who, old, 1.0)
    save(db, who, given(first.id, "q1", "5"), 2.0)
    assert not save(db, who, old, 3.0).applied
    assert values(db, who)["q1"] == "5"


def test_a_key_is_refused_for_another_answer(db: Database, who: str, first: Assignment) -> None:
    sent = given(first.id, "q1", "1")
    save(db, who, sent, 1.0)
    changes: tuple[dict[str, Any], ...] = (
        {"value": "2"}, {"question": "q2"}, {"comment": "x"}, {"value": None}, {"assignment": work(db, who)[1].id},
    )  # fmt: skip
    for change in changes:
        with pytest.raises(KeyReused):
            save(db, who, replace(sent, **change), 2.0)
    assert values(db, who) == {"q1": "1"}


def test_raters_do_not_share_keys(db: Database, batch: Batch, who: str, first: Assignment) -> None:
    other = joined(db, batch)
    assign(db, other, 0.0)
    sent = given(first.id, "q1", "1")
    save(db, who, sent, 1.0)
    assert save(db, other, replace(sent, assignment=work(db, other)[0].id), 1.0).applied


def test_an_assignment_of_another_rater_is_refused(db: Database, batch: Batch, first: Assignment) -> None:
    other = joined(db, batch)
    with pytest.raises(NotYours):
        save(db, other, given(first.id, "q1", "1"), 1.0)
    assert history(db, other) == []


def test_an_unknown_assignment_is_refused(db: Database, who: str, first: Assignment) -> None:
    for name in ("nothing", "", "a\0b", "x' OR 1=1", "\ud800", "a" * 65, f"{first.id} "):
        with pytest.raises(NotYours):
            save(db, who, given(name, "q1", "1"), 1.0)


REFUSED = (
    ("q1", "0"), ("q1", "6"), ("q1", "3.0"), ("q1", " 3"), ("q1", ""), ("q1", "٣"), ("q1", "not_applicable"),
    ("q1", "a\0"), ("q2", "-3"), ("q2", "nan"), ("why", ""), ("why", "  "), ("why", "a\0"), ("why", "\udcff"),
    ("why", "a" * 5001), ("q9", "1"), ("q1\0", "1"),
)  # fmt: skip


def test_a_value_that_the_question_does_not_take_is_refused(db: Database, who: str, first: Assignment) -> None:
    for question, value in REFUSED:
        with pytest.raises(BadValue):
            save(db, who, given(first.id, question, value), 1.0)
    assert (values(db, who), history(db, who)) == ({}, [])


PARTS: tuple[dict[str, Any], ...] = (
    {"question": "q2", "comment": "none asked"}, {"comment": "a\0"}, {"comment": "a" * 5001}, {"language": "zh"},
    {"language": "x\0"}, {"seconds": -1.0}, {"seconds": float("nan")}, {"seconds": float("inf")}, {"key": "short"},
    {"key": "a" * 65}, {"key": "a" * 15 + "é"}, {"key": "a" * 16 + "\n"},
)  # fmt: skip


def test_a_part_of_an_answer_that_cannot_be_is_refused(db: Database, who: str, first: Assignment) -> None:
    for part in PARTS:
        with pytest.raises(BadValue):
            save(db, who, replace(given(first.id, "q1", "1"), **part), 1.0)
    assert (values(db, who), history(db, who)) == ({}, [])


def test_refusals_say_what_the_question_takes(db: Database, who: str, first: Assignment) -> None:
    with pytest.raises(BadValue, match=r"“9” is no answer to the question “q2”\. It takes: -2, -1, 0, 1, 2, not_appl"):
        save(db, who, given(first.id, "q2", "9"), 1.0)


def test_a_question_may_not_apply(db: Database, who: str, first: Assignment) -> None:
    save(db, who, given(first.id, "q1", "1"), 1.0)
    assert save(db, who, given(first.id, "q2", "not_applicable"), 1.0).state == "done"


def test_a_closed_batch_refuses_and_goes_on_when_it_is_opened_again(
    db: Database, batch: Batch, who: str, first: Assignment
) -> None:
    before = given(first.id, "q1", "1")
    save(db, who, before, 1.0)
    set_open(db, batch.id, False, 2.0)
    with pytest.raises(Closed):
        save(db, who, given(first.id, "q1", "2"), 3.0)
    assert not save(db, who, before, 3.0).applied
    with pytest.raises(KeyReused):
        save(db, who, replace(before, value="2"), 3.0)
    assert assign(db, joined_before(db, batch), 3.0) == 0
    set_open(db, batch.id, True, 4.0)
    assert save(db, who, given(first.id, "q1", "2"), 5.0).applied


def joined_before(db: Database, batch: Batch) -> str:
    set_open(db, batch.id, True, 3.0)
    who = joined(db, batch)
    set_open(db, batch.id, False, 3.0)
    return who


def test_a_rater_who_finished_may_still_change_an_answer(db: Database, who: str) -> None:
    rate_all(db, who)
    finish(db, who, 2.0)
    first = work(db, who)[0]
    assert save(db, who, given(first.id, "q1", "5"), 3.0).state == "done"


def test_a_deleted_rater_is_refused(db: Database, who: str, first: Assignment) -> None:
    delete_rater(db, who, 1.0)
    with pytest.raises(Deleted):
        save(db, who, given(first.id, "q1", "5"), 2.0)


def test_a_rater_who_never_was_is_refused(db: Database, first: Assignment) -> None:
    for name in ("nobody", "", "a\0", "\ud800"):
        with pytest.raises(Deleted):
            save(db, name, given(first.id, "q1", "5"), 2.0)


def test_saving_renews_the_lease(db: Database, who: str, first: Assignment) -> None:
    save(db, who, given(first.id, "q1", "5"), 100.0)
    found = rater(db, who)
    assert found is not None
    assert found.seen_at == 100.0


def test_saving_takes_few_statements(db: Database, who: str, first: Assignment) -> None:
    save(db, who, given(first.id, "q1", "1"), 1.0)
    seen: list[str] = []
    event.listen(db._engine, "before_cursor_execute", lambda *args: seen.append(args[2]))
    save(db, who, Given("k" * 16, first.id, "q1", "2"), 2.0)
    assert len([one for one in seen if not one.startswith("BEGIN")]) == 4
