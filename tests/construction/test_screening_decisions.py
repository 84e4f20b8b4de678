"""Suggestions and decisions in the history."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.construction.building import make, pairs
from tests.construction.pilots import by_hand, planted
from tests.construction.test_screening import tables

from voirdire.construction.authoring import move
from voirdire.construction.history import open_history, read_history
from voirdire.construction.screening import Screening, screen
from voirdire.construction.screening_decisions import decide, outcomes, record
from voirdire.construction.standing import standings
from voirdire.errors import UsageError

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def clock() -> datetime:
    return NOON


@pytest.fixture
def screening() -> Screening:
    return screen(planted(3)[0])


def named(screening: Screening, verdict: str) -> str:
    return next(pair.concept for pair in screening.pairs if pair.verdict == verdict)


def test_a_screening_is_told_once(tmp_path: Path, screening: Screening) -> None:
    first = record(tmp_path, screening)
    assert record(tmp_path, screening) == first
    assert len(read_history(tmp_path).events) == 1
    assert {name: one.verdict for name, one in first.items()} == {p.concept: p.verdict for p in screening.pairs}


def test_a_dropped_pair_is_confirmed(tmp_path: Path, screening: Screening) -> None:
    record(tmp_path, screening)
    concept = named(screening, "drop")
    found = decide(tmp_path, concept, "drop", "ana", clock=clock)
    assert (found.verdict, found.decided, found.by, found.at[:10]) == ("drop", "drop", "ana", "2026-05-04")
    event = read_history(tmp_path).events[-1]
    assert (event["action"], event["concept"], event["suggested"]) == ("confirm", concept, "drop")


def test_a_dropped_pair_is_overruled_for_a_reason(tmp_path: Path, screening: Screening) -> None:
    record(tmp_path, screening)
    concept = named(screening, "drop")
    with pytest.raises(UsageError, match="--why"):
        decide(tmp_path, concept, "keep", "ana", why="  ")
    found = decide(tmp_path, concept, "keep", "ana", why="the second pilot says otherwise")
    assert (found.verdict, found.suggested, found.why) == ("keep", "drop", "the second pilot says otherwise")
    assert read_history(tmp_path).events[-1]["action"] == "overrule"


def test_a_decision_is_taken_back(tmp_path: Path, screening: Screening) -> None:
    record(tmp_path, screening)
    concept = named(screening, "keep")
    with pytest.raises(UsageError, match="taken back"):
        decide(tmp_path, concept, "undecided", "bo", why="none")
    decide(tmp_path, concept, "drop", "bo", why="seen elsewhere")
    found = decide(tmp_path, concept, "undecided", "bo", why="seen elsewhere was wrong")
    assert (found.verdict, found.decided, found.by) == ("keep", None, "")
    assert outcomes(read_history(tmp_path))[concept] == found


def test_a_decision_outlives_a_new_screening_and_is_marked(tmp_path: Path) -> None:
    ratings, asked, marked = tables()
    marked[0] = 1
    record(tmp_path, screen(by_hand(ratings, asked, marked)))
    decide(tmp_path, "c0", "drop", "ana", clock=clock)
    marked[0] = 0
    found = record(tmp_path, screen(by_hand(ratings, asked, marked)))["c0"]
    assert (found.suggested, found.verdict, found.outdated) == ("keep", "drop", True)
    marked[0] = 1
    assert not record(tmp_path, screen(by_hand(ratings, asked, marked)))["c0"].outdated


@pytest.mark.parametrize(
    ("concept", "verdict", "by", "key"),
    [
        ("c0", "maybe", "ana", "verdict"),
        ("c0", "keep", "", "nobody"),
        ("c0", "keep", "a\nb", "nobody"),
        ("c0", "keep", "a" * 65, "nobody"),
        ("tea", "keep", "ana", "unknown"),
    ],
)
def test_what_is_no_decision(tmp_path: Path, concept: str, verdict: str, by: str, key: str) -> None:
    record(tmp_path, screen(by_hand(*tables())))
    before = (tmp_path / "history.jsonl").read_bytes()
    with pytest.raises(UsageError) as caught:
        decide(tmp_path, concept, verdict, by, why="x")
    assert caught.value.key == f"screening.decide.{key}"
    assert (tmp_path / "history.jsonl").read_bytes() == before


@pytest.mark.parametrize("why", ["x" * 2001, "\x1b[31mred", "half \udcff"])
def test_a_reason_has_an_end_and_is_text(tmp_path: Path, why: str) -> None:
    record(tmp_path, screen(by_hand(*tables())))
    with pytest.raises(UsageError) as caught:
        decide(tmp_path, "c0", "drop", "ana", why=why)
    assert caught.value.key == "screening.decide.long"


def test_authoring_and_screening_share_a_history(tmp_path: Path) -> None:
    make(tmp_path, pairs("c0"))
    move(tmp_path, "submit", "c0", "ana")
    record(tmp_path, screen(by_hand(*tables())))
    decide(tmp_path, "c0", "keep", "bo")
    history = read_history(tmp_path)
    assert standings(history)["c0"].state == "drafted"
    assert outcomes(history)["c0"].decided == "keep"


def test_a_torn_decision_is_not_counted(tmp_path: Path) -> None:
    record(tmp_path, screen(by_hand(*tables())))
    decide(tmp_path, "c0", "drop", "ana", why="seen")
    path = tmp_path / "history.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert outcomes(read_history(tmp_path))["c0"].decided is None
    assert decide(tmp_path, "c0", "drop", "bo", why="seen again").by == "bo"
    with open_history(tmp_path) as book:
        assert outcomes(book.history)["c0"].by == "bo"


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "screened"},
        {"kind": "screened", "pairs": ["c0"]},
        {"kind": "screened", "pairs": {"c0": "drop"}},
        {"kind": "screened", "pairs": {"c0": {"verdict": "perhaps"}}},
        {"kind": "screening_decision", "concept": "c0", "by": "bo", "verdict": "perhaps"},
        {"kind": "screening_decision", "concept": "c0", "by": "bo"},
    ],
)
def test_what_other_hands_wrote_is_no_verdict(tmp_path: Path, event: dict[str, object]) -> None:
    record(tmp_path, screen(by_hand(*tables())))
    before = outcomes(read_history(tmp_path))
    with open_history(tmp_path) as book:
        book.append(event)
    assert outcomes(read_history(tmp_path)) == before


def test_a_decision_answers_the_reasons_that_it_was_made_on(tmp_path: Path) -> None:
    def suggest(*reasons: str) -> None:
        with open_history(tmp_path) as book:
            book.append({"kind": "screened", "pairs": {"c0": {"verdict": "drop", "reasons": list(reasons)}}})

    suggest("gap")
    assert not decide(tmp_path, "c0", "keep", "ana", why="they differ at home").outdated
    suggest("stereotype")
    assert outcomes(read_history(tmp_path))["c0"].outdated
    suggest("gap")
    assert not outcomes(read_history(tmp_path))["c0"].outdated
