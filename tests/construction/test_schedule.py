from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.building import make, pair, write_rows

from voirdire.construction.authoring import move, write
from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import History, read_history
from voirdire.construction.schedule import Assignment, assign_new, assigned, loads
from voirdire.errors import InputError, UsageError


def concepts(*names: str, author: str = "", reviewer: str = "") -> dict[str, list[ConceptItem]]:
    return {
        name: [ConceptItem(f"{name}-us", name, "food", "us", name, author=author, reviewer=reviewer)] for name in names
    }


def after(history: History, made: tuple[Assignment, ...]) -> History:
    return History((*history.events, *(one.event() for one in made)))


def spread(counts: Counter[object], over: list[object]) -> int:
    found = [counts[one] for one in over]
    return max(found) - min(found)


@given(st.integers(3, 7), st.integers(0, 90))
def test_balanced_within_one_and_nobody_reviews_their_own(people: int, count: int) -> None:
    team = [f"p{number}" for number in range(people)]
    made = assign_new(concepts(*(f"c{number}" for number in range(count))), team, History())
    assert len(made) == count
    assert all(one.author != one.reviewer for one in made)
    assert spread(Counter(one.author for one in made), list(team)) <= 1
    assert spread(Counter(one.reviewer for one in made), list(team)) <= 1
    ordered = [(one, other) for one in team for other in team if one != other]
    met = Counter((one.author, one.reviewer) for one in made)
    assert spread(met, list(ordered)) <= 1
    assert all(abs(met[one, other] - met[other, one]) <= 1 for one, other in ordered)


@given(st.integers(3, 6), st.lists(st.integers(1, 9), max_size=8))
def test_concepts_that_come_later_go_on_with_the_rotation(people: int, portions: list[int]) -> None:
    """In any portions, the same people as all at once; what was assigned is not touched."""
    team = [f"p{number}" for number in range(people)]
    names = [f"c{number}" for number in range(sum(portions))]
    history, at = History(), 0
    for portion in portions:
        at += portion
        shown = names[:at][::-1] if portion % 2 else names[:at]
        new = [name for name in names[:at] if name not in assigned(history)]
        made = assign_new(concepts(*(sorted(shown, key=names.index))), team, history)
        assert [one.concept for one in made] == new
        history = after(history, made)
    assert list(assigned(history).values()) == list(assign_new(concepts(*names), team, History()))
    assert assign_new(concepts(*names), team, history) == ()


def test_another_team_begins_anew() -> None:
    history = after(History(), assign_new(concepts("a", "b"), ["ana", "bo", "chen"], History()))
    made = assign_new(concepts("a", "b", "c", "d"), ["ana", "bo", "chen", "dee"], history)
    assert [(one.concept, one.author, one.reviewer) for one in made] == [("c", "ana", "bo"), ("d", "bo", "chen")]


def test_people_that_the_table_names() -> None:
    listed = {**concepts("a"), **concepts("b", author="chen", reviewer="ana"), **concepts("c")}
    made = assign_new(listed, ["ana", "bo", "chen"], History())
    assert [(one.author, one.reviewer, one.place) for one in made] == [
        ("ana", "bo", 0),
        ("chen", "ana", None),
        ("bo", "chen", 1),
    ]
    again = assign_new({**listed, **concepts("d")}, ["ana", "bo", "chen"], after(History(), made))
    assert [(one.concept, one.place) for one in again] == [("d", 2)]


@pytest.mark.parametrize("team", [[], ["ana"], ["ana", "bo"]])
def test_two_people_are_too_few(team: list[str]) -> None:
    with pytest.raises(InputError, match=r"build\.toml"):
        assign_new(concepts("a"), team, History())
    assert assign_new(concepts("a", author="ana", reviewer="bo"), team, History())[0].reviewer == "bo"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=20))
def test_loads(people: list[tuple[str, str]]) -> None:
    found = loads(Assignment(str(place), *two) for place, two in enumerate(people))
    for name in "abc":
        wrote, reviewed = found.get(name, (0, 0))
        assert wrote == sum(author == name for author, _ in people)
        assert reviewed == sum(reviewer == name for _, reviewer in people)


def test_a_step_that_is_refused_fixes_nobody(tmp_path: Path) -> None:
    """An example that is deleted after a step that was refused has taken no place of the rotation."""
    make(tmp_path, [*pair("example", realisation=""), *pair("tea")])
    with pytest.raises(UsageError, match="ana"):
        write(tmp_path, "example", "bo", category="x")
    with pytest.raises(InputError):
        move(tmp_path, "submit", "example", "ana")
    assert read_history(tmp_path).events == ()
    write_rows(tmp_path, pair("tea"))
    assert move(tmp_path, "submit", "tea", "ana").reviewer == "bo"
    assert [event["kind"] for event in read_history(tmp_path).events] == ["assigned", "authoring"]
