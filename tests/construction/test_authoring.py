from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.building import TEAM, build_text, make, pair, pairs, row, write_rows

from voirdire.construction.authoring import add, assign, move, reassign, text_digest, write
from voirdire.construction.build_file import read_build_file
from voirdire.construction.checks import check_concepts
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import read_history
from voirdire.construction.schedule import assigned
from voirdire.construction.standing import MOVES, STATES, Standing, standings
from voirdire.errors import InputError, UsageError, VoirdireError
from voirdire.texts import has

NOTES = {"review": "Ask about the occasion.", "reject": "Everybody knows it."}


def step(folder: Path, action: str, by: str, concept: str = "tea", **more: Any) -> Standing:
    more = {"note": NOTES.get(action, ""), "reason": "uncontested" if action == "reject" else "", **more}
    return move(folder, action, concept, by, **more)


def through(folder: Path, *steps: tuple[str, str]) -> Standing:
    for action, by in steps:
        if action == "revise":
            write(folder, "tea", by, prompts={"en": f"Asked anew, {len(read_history(folder).events)}?"})
        told = step(folder, action, by)
    return told


REVIEWED = (("submit", "ana"), ("review", "bo"))
AGAIN = ("reviewed", "revised", "accepted")
ACCEPTED = (*REVIEWED, ("revise", "ana"), ("accept", "bo"))


def test_the_whole_way(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea", "rice"))
    told = through(tmp_path, *REVIEWED, ("revise", "ana"), ("review", "bo"), ("revise", "ana"), ("accept", "bo"))
    assert (told.state, told.author, told.reviewer, told.reviews) == ("accepted", "ana", "bo", 2)
    assert (told.writers, told.waiting, told.by) == (("ana",), "", "bo")
    events = [event for event in read_history(tmp_path).events if event["kind"] == "authoring"]
    assert [event["action"] for event in events] == ["submit", "review", "revise", "review", "revise", "accept"]
    assert [event["state"] for event in events] == ["drafted", "reviewed", "revised", "reviewed", "revised", "accepted"]
    asked = [event["text"]["us"]["prompt"]["en"] for event in events if "text" in event]
    assert len(set(asked)) == 3
    assert told.text["cn"]["realisation"] == "tea as it is known in cn"
    assert standings(read_history(tmp_path))["rice"].waiting == "bo"


def refused(key: str, doing: Callable[[], Any], *named: str) -> VoirdireError:
    with pytest.raises((UsageError, InputError)) as caught:
        doing()
    assert caught.value.key == key
    for lang in ("en", "zh"):
        assert all(name in caught.value.message(lang) for name in named)
    return caught.value


@pytest.mark.parametrize("before", [(), REVIEWED[:1], REVIEWED, ACCEPTED[:3], ACCEPTED, (*REVIEWED, ("reject", "bo"))])
@pytest.mark.parametrize("action", list(MOVES))
@pytest.mark.parametrize("by", TEAM)
def test_every_move_from_every_state(tmp_path: Path, before: tuple[tuple[str, str], ...], action: str, by: str) -> None:
    """Against the table of the guide, written out once more."""
    make(tmp_path, pairs("tea"))
    state = through(tmp_path, *before).state if before else "open"
    allowed = {
        "open": {("submit", "ana")},
        "drafted": {("submit", "ana"), ("review", "bo"), ("reject", "bo"), ("reject", "ana")},
        "reviewed": {("revise", "ana"), ("accept", "bo"), ("reject", "bo"), ("reject", "ana")},
        "revised": {("revise", "ana"), ("review", "bo"), ("accept", "bo"), ("reject", "bo"), ("reject", "ana")},
        "accepted": {("revise", "ana"), ("reject", "bo"), ("reject", "ana")},
        "rejected": set(),
    }
    events = read_history(tmp_path).events
    if action == "revise" and by == "ana" and state != "rejected":
        write(tmp_path, "tea", "ana", prompts={"en": "Another question?"})
        events = read_history(tmp_path).events
    if (action, by) in allowed[state]:
        assert step(tmp_path, action, by).state == MOVES[action].end
        return
    with pytest.raises(UsageError) as caught:
        step(tmp_path, action, by)
    assert caught.value.key in ("authoring.move_illegal", "authoring.not_yours")
    told = str(caught.value)
    assert "tea" in told and by in told and action in told  # noqa: PT018
    assert all(f"{name} (" in told for name, who in allowed[state] if caught.value.key == "authoring.move_illegal")
    assert read_history(tmp_path).events == events


@dataclass
class Model:
    """The protocol told once more, without files: state, whether the text changed since it was handed in."""

    state: str = "open"
    dirty: bool = False
    moves: list[str] = field(default_factory=list)

    def does(self, action: str, by: str, noted: bool) -> bool:
        if action == "write":
            possible = by == "ana" and self.state != "rejected"
            self.dirty = self.dirty or possible
            return possible
        person = {"submit": "ana", "revise": "ana", "review": "bo", "accept": "bo"}.get(action)
        possible = {
            "submit": self.state in ("open", "drafted"),
            "review": self.state in ("drafted", "revised") and not self.dirty and noted,
            "revise": (self.state == "reviewed" and noted) or (self.dirty and self.state in AGAIN),
            "accept": self.state in ("reviewed", "revised") and not self.dirty,
            "reject": self.state not in ("open", "rejected") and noted,
        }[action] and (by == person if person else by in ("ana", "bo"))
        if possible:
            self.state = {"submit": "drafted", "review": "reviewed", "revise": "revised"}.get(action, f"{action}ed")
            self.dirty = self.dirty and action not in ("submit", "revise")
            self.moves.append(action)
        return possible


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["submit", "review", "revise", "accept", "reject", "write", "write"]),
            st.sampled_from(["ana", "bo", "bo", "ana", "chen"]),
            st.booleans(),
        ),
        max_size=14,
    )
)
def test_any_steps_of_anyone(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bool]]) -> None:
    """The same is possible as in the model, what is impossible changes nothing, and the history tells it all."""
    folder = make(tmp_path_factory.mktemp("steps"), pairs("tea"))
    model = Model()

    def take(place: int, action: str, by: str, noted: bool) -> None:
        if action == "write":
            write(folder, "tea", by, prompts={"en": f"Question {place}?"})
        else:
            step(folder, action, by, note="Said." if noted else "")

    for place, taken in enumerate(steps):
        if model.does(*taken):
            take(place, *taken)
        else:
            with pytest.raises(UsageError):
                take(place, *taken)
        found = standings(read_history(folder)).get("tea", Standing("tea"))
        assert found.state == model.state
        assert found.reviews == model.moves.count("review")
    told = [event["action"] for event in read_history(folder).of_kind("authoring")]
    assert told == model.moves


def test_names_are_known_in_any_case(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"), build_text(team=["Ana", "Bo", "Chen"]))
    assert step(tmp_path, "submit", " ana ").by == "Ana"
    refused("authoring.person_unknown", lambda: step(tmp_path, "review", "dee"), "dee", "Ana, Bo, Chen")
    refused("authoring.concept_unknown", lambda: step(tmp_path, "review", "bo", "te"), "te", "tea")
    refused("authoring.action_unknown", lambda: step(tmp_path, "approve", "bo"), "approve", "accept")


def test_what_has_to_be_said(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"))
    through(tmp_path, *REVIEWED[:1])
    refused("authoring.note_missing", lambda: step(tmp_path, "review", "bo", note=" "), "review")
    refused("authoring.note_missing", lambda: step(tmp_path, "reject", "bo", note=""), "reject")
    refused("authoring.reason_unknown", lambda: step(tmp_path, "reject", "bo", reason="boring"), "boring", "stereotype")
    refused("authoring.reason_unknown", lambda: step(tmp_path, "reject", "bo", reason=""), "factual")
    refused("authoring.reason_pointless", lambda: step(tmp_path, "review", "bo", reason="factual"), "factual")
    for unfit in ("a" * 4001, "a\x1b[31m", "a\ud800"):
        refused("authoring.note_unfit", lambda note=unfit: step(tmp_path, "review", "bo", note=note))
    told = step(tmp_path, "review", "bo", note='好 <b>"new"</b>\n{field}')
    assert told.note == '好 <b>"new"</b>\n{field}'
    through(tmp_path, ("reject", "bo"))
    assert standings(read_history(tmp_path))["tea"].reason == "uncontested"


def test_a_text_that_cannot_be_handed_in(tmp_path: Path) -> None:
    make(tmp_path, [row("tea", "us"), row("tea", "cn", prompt_en="Another?")])
    error = refused("build.finding.question_differs", lambda: step(tmp_path, "submit", "ana"), "3", "Another?")
    assert error.fields["file"] == str(tmp_path / "concepts.csv")
    make(tmp_path, [row("tea", "us")])
    refused("build.finding.culture_missing", lambda: step(tmp_path, "submit", "ana"), "cn")
    assert list(read_history(tmp_path).of_kind("authoring")) == []


def test_a_text_that_changed_behind_the_reviewer(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"))
    through(tmp_path, *REVIEWED[:1])
    looked_at = text_digest(read_concepts(tmp_path).items)
    write_rows(tmp_path, pair("tea", prompt_en="Is it any good?"))
    refused("authoring.text_changed", lambda: step(tmp_path, "review", "bo"), "tea", "submit tea", "ana")
    step(tmp_path, "submit", "ana")
    refused("authoring.text_moved", lambda: step(tmp_path, "review", "bo", seen=looked_at), "tea")
    step(tmp_path, "review", "bo", seen=text_digest(read_concepts(tmp_path).items))
    refused("authoring.nothing_changed", lambda: step(tmp_path, "revise", "ana"), "tea")
    assert step(tmp_path, "revise", "ana", note="It is meant so.").state == "revised"
    write_rows(tmp_path, pair("tea", prompt_en="Is it any good?", prompt_zh="好吗？"))
    refused("authoring.text_changed", lambda: step(tmp_path, "accept", "bo"), "revise tea")
    write_rows(tmp_path, pair("tea", prompt_en="Is it any good?", alt_en="A cup of tea", split="test"))
    assert step(tmp_path, "accept", "bo").state == "accepted"
    write_rows(tmp_path, pair("tea", prompt_en="Is it any good?", split="pilot"))
    refused("authoring.nothing_changed", lambda: step(tmp_path, "revise", "ana", note="Again."), "tea")


def test_writing(tmp_path: Path) -> None:
    make(tmp_path, [row("tea", "us", prompt_en="Old?"), row("tea", "cn"), *pair("rice")])
    made = write(
        tmp_path,
        "tea",
        "ana",
        category="drink",
        realisations={"cn": '一杯茶, "热"'},
        prompts={"en": "New?", "zh": "新？"},
    )
    us, cn, rice, _ = made.items
    assert us.prompts == cn.prompts == {"en": "New?", "zh": "新？"}
    assert (us.category, cn.category, rice.category) == ("drink", "drink", "food")
    assert (us.realisation, cn.realisation) == ("tea as it is known in us", '一杯茶, "热"')
    event = read_history(tmp_path).events[-1]
    assert (event["kind"], event["action"], event["by"]) == ("text", "write", "ana")
    assert event["text"]["prompt"] == {"en": "New?", "zh": "新？"}
    assert event["instead_of"] == {
        "category": "food", "realisation": {"cn": "tea as it is known in cn"},
        "prompt": {"en": "Old?", "zh": "你会喜欢tea吗？"},
    }  # fmt: skip
    refused("authoring.not_yours", lambda: write(tmp_path, "tea", "bo", category="x"), "bo", "ana")
    refused("authoring.culture_unknown", lambda: write(tmp_path, "tea", "ana", realisations={"jp": "x"}), "jp")
    refused("authoring.language_unknown", lambda: write(tmp_path, "tea", "ana", prompts={"fr": "x"}), "fr")
    for unfit in ("", "  ", "a\x00", "a" * 4001, "\udcff"):
        refused("authoring.text_unfit", lambda text=unfit: write(tmp_path, "tea", "ana", prompts={"en": text}), "en")
        refused("authoring.text_unfit", lambda text=unfit: write(tmp_path, "tea", "ana", category=text), "category")
    assert read_concepts(tmp_path).items == made.items
    through(tmp_path, ("submit", "ana"), ("reject", "bo"))
    refused("authoring.finished", lambda: write(tmp_path, "tea", "ana", category="x"), "tea")


def test_adding(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"))
    told = add(tmp_path, "rice", "chen", "food")
    assert (told.author, told.reviewer, told.state) == ("bo", "chen", "open")
    assert [item.id for item in read_concepts(tmp_path).items][2:] == ["rice-us", "rice-cn"]
    refused("build.concepts.new_known", lambda: add(tmp_path, "Rice", "chen", "food"), "Rice")
    refused("build.concepts.new_unsafe", lambda: add(tmp_path, "../rice", "chen", "food"), "../rice")
    refused("authoring.text_unfit", lambda: add(tmp_path, "hat", "chen", ""), "category")
    refused("authoring.person_unknown", lambda: add(tmp_path, "hat", "dee", "food"), "dee")
    assert len(read_concepts(tmp_path).items) == 4


def test_other_hands(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea", "rice"))
    through(tmp_path, *REVIEWED)
    refused("authoring.reviews_own", lambda: reassign(tmp_path, "tea", "chen", "bo", "bo"), "bo")
    refused("authoring.reviews_own", lambda: reassign(tmp_path, "tea", "chen", "bo", "ana"), "ana")
    refused("authoring.person_unknown", lambda: reassign(tmp_path, "tea", "chen", "dee", "ana"), "dee")
    told = reassign(tmp_path, "tea", "chen", "chen", "bo", note="Ana is away.")
    assert (told.author, told.reviewer, told.state, told.writers) == ("chen", "bo", "reviewed", ("ana",))
    refused("authoring.not_yours", lambda: step(tmp_path, "revise", "ana", note="x"), "ana", "chen")
    through(tmp_path, ("revise", "chen"), ("accept", "bo"))
    refused("authoring.finished", lambda: reassign(tmp_path, "tea", "chen", "ana", "bo"), "tea")


def test_nobody_reviews_what_they_typed_and_others_handed_in(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea", "rice"))
    write(tmp_path, "tea", "ana", prompts={"en": "Asked by me?"})
    refused("authoring.reviews_own", lambda: reassign(tmp_path, "tea", "ana", "chen", "ana"), "ana")
    reassign(tmp_path, "tea", "chen", "bo", "chen")
    write(tmp_path, "tea", "bo", prompts={"en": "Asked by both?"})
    assert reassign(tmp_path, "tea", "chen", "ana", "chen").writers == ("ana", "bo")
    refused("authoring.reviews_own", lambda: reassign(tmp_path, "tea", "chen", "chen", "bo"), "bo")
    assert reassign(tmp_path, "rice", "chen", "chen", "bo").writers == (), "who wrote nothing may become its reviewer"


def test_people_of_the_table_are_checked_when_they_are_assigned(tmp_path: Path) -> None:
    make(tmp_path, [*pairs("tea"), *pair("rice", author="ana", reviewer="ana")])
    refused("build.finding.reviews_own", lambda: assign(tmp_path), "ana")
    make(tmp_path, [*pairs("tea"), *pair("rice", author="ana", reviewer="chen")])
    assert [(one.author, one.reviewer) for one in assign(tmp_path)] == [("ana", "bo"), ("ana", "chen")]
    assert assign(tmp_path) == ()


def test_two_authors_are_too_few(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"), build_text(team=["ana", "bo"]))
    refused("authoring.authors_few", lambda: step(tmp_path, "submit", "ana"), "2", "3")
    refused("authoring.authors_few", lambda: add(tmp_path, "rice", "ana", "food"))
    assert len(read_concepts(tmp_path).items) == 2


def test_at_once(tmp_path: Path) -> None:
    """Many who do the same at the same moment: one of them does it, the others are told."""
    make(tmp_path, pairs(*(f"c{number}" for number in range(4))))
    assign(tmp_path)
    for number, found in enumerate(standings(read_history(tmp_path)).values()):
        assert (found.author, found.reviewer)[0] == TEAM[number % 3]
        step(tmp_path, "submit", found.author, found.concept)
        step(tmp_path, "review", found.reviewer, found.concept)
    people = {name: one.reviewer for name, one in assigned(read_history(tmp_path)).items()}

    def accept(number: int) -> str:
        concept = f"c{number % 4}"
        try:
            return step(tmp_path, "accept", people[concept], concept).state
        except UsageError as error:
            return error.key

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(accept, range(24)))
    assert sorted(told) == ["accepted"] * 4 + ["authoring.move_illegal"] * 20


def test_descriptions_of_images_are_text_that_is_reviewed(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"))
    through(tmp_path, *ACCEPTED)
    asked = read_concepts(tmp_path).items[0].prompts["en"]
    told = pair("tea", prompt_en=asked, alt_en="A cup of tea")
    write_rows(tmp_path, told)

    def found() -> list[str]:
        checked = check_concepts(build, read_concepts(tmp_path), standings(read_history(tmp_path)))
        return [one.kind for one in checked.findings if one.kind in ("alt_unreviewed", "changed_since")]

    build = read_build_file(tmp_path)
    assert found() == ["alt_unreviewed"]
    assert step(tmp_path, "revise", "ana").state == "revised"
    assert step(tmp_path, "accept", "bo").text["us"]["alt"] == {"en": "A cup of tea"}
    assert found() == []
    write_rows(tmp_path, pair("tea", prompt_en=asked, alt_en="A foreign mess"))
    assert found() == ["changed_since"]


@pytest.mark.parametrize("full", ["concepts.os.fsync", "history._write_all"])
def test_what_cannot_be_written_is_not_told(tmp_path: Path, full: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where table or history finds no room, both stay as they were, and nothing else is left."""
    make(tmp_path, pairs("tea"))
    assign(tmp_path)
    was = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"voirdire.construction.{full}", fail)
    refused("build.history.unwritable", lambda: write(tmp_path, "tea", "ana", category="drinks"), "No space left")
    refused("build.history.unwritable", lambda: add(tmp_path, "hat", "ana", "clothes"), "No space left")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == was


PROGRAM = """
import sys
from voirdire.construction.authoring import move, write
folder = sys.argv[1]
move(folder, "submit", "tea", "ana")
move(folder, "review", "tea", "bo", note="More.")
for number in range(100000):
    write(folder, "tea", "ana", prompts={"en": f"Question {number}?", "zh": f"问题 {number}？"})
    move(folder, "revise", "tea", "ana")
    print(number, flush=True)
    move(folder, "review", "tea", "bo", note=f"Again {number}.")
"""


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """After kill -9 the table is whole, the history says where the concept stands, and the next step goes on."""
    make(tmp_path, pairs("tea"))
    running = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    told = [int(running.stdout.readline()) for _ in range(12)]
    running.kill()
    running.communicate()
    concepts, found = read_concepts(tmp_path), standings(read_history(tmp_path))["tea"]
    assert len(concepts.items) == 2
    assert concepts.items[0].prompts == concepts.items[1].prompts
    handed_in = int(found.text["us"]["prompt"]["en"].split()[1].rstrip("?"))
    assert handed_in >= told[-1]
    assert found.state in ("revised", "reviewed")
    if found.state == "revised":
        step(tmp_path, "review", "bo")
    step(tmp_path, "revise", "ana", note="Done.")
    assert step(tmp_path, "accept", "bo").state == "accepted"


def test_every_state_and_reason_has_words() -> None:
    assert all(has(f"authoring.state.{state}", lang) for state in STATES for lang in ("en", "zh"))


def test_errors_name_the_state_in_words(tmp_path: Path) -> None:
    make(tmp_path, pairs("tea"))
    with pytest.raises(UsageError) as caught:
        move(tmp_path, "accept", "tea", "bo")
    assert (caught.value.key, caught.value.fields["state"]) == ("authoring.move_illegal", "open")
    assert "because it is not written." in str(caught.value)
    assert "状态是 未编写。" in caught.value.message("zh")
    move(tmp_path, "submit", "tea", "ana")
    move(tmp_path, "reject", "tea", "bo", reason="factual", note="It can be looked up.")
    with pytest.raises(UsageError) as caught:
        write(tmp_path, "tea", "ana", category="x")
    assert "状态是 已否决，" in caught.value.message("zh")
