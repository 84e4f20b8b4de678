"""The authoring protocol: who may do what with a concept next, done under a lock and written into the history.

The same functions serve the command line and pages. ``by`` is a member of the team as ``build.toml`` names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from voirdire.construction import concepts as table
from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.checks import concept_findings
from voirdire.construction.concepts import ConceptItem, Concepts, is_text, read_concepts
from voirdire.construction.history import Book, Clock, Event, History, digest_of, open_history, utc_now
from voirdire.construction.schedule import Assignment, assign_new, refuse_few
from voirdire.construction.standing import (
    ACCEPTED,
    AUTHORING,
    MOVES,
    REASONS,
    REJECTED,
    REVISED,
    TEXT,
    WRITE,
    Standing,
    differs,
    standings,
    text_of,
    undescribed,
)
from voirdire.errors import InputError, UsageError
from voirdire.texts import text

NOTED = ("review", "reject")
"""Moves that must say something: what should change, or why."""

NOTE_LENGTH = 4000


class WrongStateError(UsageError):
    """A step that cannot be taken where the concept stands; ``state`` is told in words."""

    def message(self, lang: str = "en") -> str:
        """The sentence, with the state as pages name it."""
        words = text(f"authoring.state.{self.fields['state']}", lang)
        return UsageError(self.key, **{**self.fields, "state": words}).message(lang)


def move(
    folder: Path | str,
    action: str,
    concept: str,
    by: str,
    *,
    note: str = "",
    reason: str = "",
    seen: str | None = None,
    clock: Clock = utc_now,
) -> Standing:
    """Make a move of the protocol (``submit``, ``review``, ``revise``, ``accept``, ``reject``); where it then stands.

    note : what is said with it; needed for a review and a rejection, and for a revision that changes nothing
    reason : of a rejection, one of REASONS
    seen : digest of the text that the person looked at (``text_digest``); the move is refused when it is another now
    Raises UsageError, naming who, what and what is possible, for a move that is not: in this state, by this person,
    on a text that changed after it was handed in. Raises InputError for a text that cannot be handed in.
    """
    build = read_build_file(folder)
    if action not in MOVES:
        raise UsageError("authoring.action_unknown", value=action, known=", ".join(MOVES))
    _check_words(action, note, reason)
    with open_history(folder, clock) as book:
        before, items, fixed = _standing(book, build, concept)
        person = _member(build, by)
        now = text_of(items)
        _check_turn(before, action, person)
        _check_text(before, action, now, note, seen, build.source_language)
        if action in ("submit", "revise"):
            _check_ready(build, items)
        event: dict[str, Any] = {"kind": AUTHORING, "action": action, "concept": concept, "by": person}
        event |= {"state": MOVES[action].end, "note": note, "digest": digest_of(now)}
        event |= {"reason": reason} if action == "reject" else {}
        event |= {"text": now} if action in ("submit", "revise") else {}
        book.append(*fixed, event)
        return standings(book.history)[concept]


def assign(folder: Path | str, *, clock: Clock = utc_now) -> tuple[Assignment, ...]:
    """Give every concept that has none its author and reviewer; those that were assigned now."""
    build = read_build_file(folder)
    with open_history(folder, clock) as book:
        return _assign_new(book, build, read_concepts(folder))


def reassign(
    folder: Path | str, concept: str, by: str, author: str, reviewer: str, *, note: str = "", clock: Clock = utc_now
) -> Standing:
    """Put a concept into other hands, when someone left the team.

    Raises UsageError where it is finished, where author and reviewer are the same, and where the new reviewer wrote in
    it, handed in or not: nobody reviews their own.
    """
    build = read_build_file(folder)
    with open_history(folder, clock) as book:
        before, _, fixed = _standing(book, build, concept)
        person, author, reviewer = (_member(build, name) for name in (by, author, reviewer))
        if before.state in (ACCEPTED, REJECTED):
            raise WrongStateError("authoring.finished", concept=concept, state=before.state)
        if reviewer == author or reviewer in before.writers:
            raise UsageError("authoring.reviews_own", concept=concept, value=reviewer)
        book.append(*fixed, {**Assignment(concept, author, reviewer).event(person), "note": note})
        return standings(book.history)[concept]


def write(
    folder: Path | str,
    concept: str,
    by: str,
    *,
    category: str | None = None,
    realisations: Mapping[str, str] | None = None,
    prompts: Mapping[str, str] | None = None,
    seen: str | None = None,
    clock: Clock = utc_now,
) -> Concepts:
    """Change the text of a concept in ``concepts.csv``, as its author; it is not handed in by this.

    realisations : culture -> what is shown; prompts : language -> the question, the same for every culture
    seen : digest of the text that the person changed (``text_digest``); refused when it is another one now
    Raises UsageError for someone else, for a rejected concept, and for a culture or language that it does not have.
    """
    build = read_build_file(folder)
    with open_history(folder, clock) as book:
        before, items, fixed = _standing(book, build, concept)
        person = _member(build, by)
        if person != before.author:
            raise UsageError("authoring.not_yours", concept=concept, action="write", by=person, who=before.author)
        if before.state == REJECTED:
            raise WrongStateError("authoring.finished", concept=concept, state=before.state)
        _check_seen(concept, text_of(items), seen)
        _check_all(build, items, category, realisations or {}, prompts or {})
        changes = _cells(items, category, realisations or {}, prompts or {})
        told = {"category": category, "realisation": dict(realisations or {}), "prompt": dict(prompts or {})}
        event = {"kind": TEXT, "action": WRITE, "concept": concept, "by": person, "text": told}
        event |= {"instead_of": _replaced(items, told)}
        table.rewrite(folder, read_concepts(folder), changes, lambda: book.append(*fixed, event))
        return read_concepts(folder)


def add(folder: Path | str, concept: str, by: str, category: str, *, clock: Clock = utc_now) -> Standing:
    """Add a concept with an empty row for each culture; the rotation says who writes it.

    Raises UsageError for a name that cannot be part of a file name, for one that is there, and without a category.
    """
    build = read_build_file(folder)
    with open_history(folder, clock) as book:
        refuse_few(build.authors)
        person, concepts = _member(build, by), read_concepts(folder)
        _check_words_of("category", category)
        table.refuse_new(concepts, concept)
        event = {"kind": TEXT, "action": "add", "concept": concept, "by": person, "text": {"category": category}}
        cultures = build.culture_names
        table.add_rows(folder, concepts, concept, category, cultures, lambda: book.append(event))
        _assign_new(book, build, read_concepts(folder))
        return standings(book.history)[concept]


def text_digest(items: Sequence[ConceptItem]) -> str:
    """Digest of what is authored of a concept, to say which text a person looked at."""
    return digest_of(text_of(items))


def _assign_new(book: Book, build: BuildFile, concepts: Concepts) -> tuple[Assignment, ...]:
    made = _drawn(book, build, concepts)
    if made:
        book.append(*(one.event() for one in made))
    return made


def _drawn(book: Book, build: BuildFile, concepts: Concepts) -> tuple[Assignment, ...]:
    """The people of the concepts that have none yet; nothing is written."""
    by_concept = concepts.by_concept()
    made = assign_new(by_concept, build.authors, book.history)
    for one in made:
        items = by_concept[one.concept]
        for finding in concept_findings(build, items):
            if finding.kind in ("reviews_own", "person_unknown", "person_differs", "person_missing"):
                raise InputError(f"build.finding.{finding.kind}", **finding.fields)
    return made


def _replaced(items: Sequence[ConceptItem], told: Mapping[str, Any]) -> dict[str, Any]:
    """The texts that were written over, of which the history may know nothing: others write into the table too."""
    old: dict[str, Any] = {} if told["category"] is None else {"category": items[0].category}
    old["realisation"] = {one.culture: one.realisation for one in items if one.culture in told["realisation"]}
    old["prompt"] = {language: items[0].prompts.get(language, "") for language in told["prompt"]}
    return {name: value for name, value in old.items() if value}


def _standing(
    book: Book, build: BuildFile, concept: str
) -> tuple[Standing, tuple[ConceptItem, ...], tuple[Event, ...]]:
    """Where a concept stands, its items, and the events by which a step that is taken fixes people first."""
    refuse_few(build.authors)
    concepts = read_concepts(book.folder)
    by_concept = concepts.by_concept()
    if concept not in by_concept:
        near = get_close_matches(concept, by_concept, n=5) or list(by_concept)[:5]
        raise UsageError("authoring.concept_unknown", value=concept, known=", ".join(near) or "-")
    fixed = tuple(one.event() for one in _drawn(book, build, concepts))
    known = History((*book.history.events, *fixed))
    return standings(known)[concept], by_concept[concept], fixed


def _member(build: BuildFile, by: str) -> str:
    """A member of the team, spelt as ``build.toml`` spells them."""
    known = {name.casefold(): name for name in build.authors}
    name = known.get(by.strip().casefold())
    if name is None:
        raise UsageError("authoring.person_unknown", value=by, known=", ".join(build.authors) or "-")
    return name


def _check_words(action: str, note: str, reason: str) -> None:
    if action == "reject" and reason not in REASONS:
        raise UsageError("authoring.reason_unknown", value=reason or "-", known=", ".join(REASONS))
    if action != "reject" and reason:
        raise UsageError("authoring.reason_pointless", action=action, value=reason)
    if action in NOTED and not note.strip():
        raise UsageError("authoring.note_missing", action=action)
    if len(note) > NOTE_LENGTH or not is_text(note):
        raise UsageError("authoring.note_unfit", count=len(note), limit=NOTE_LENGTH)


def _check_turn(before: Standing, action: str, person: str) -> None:
    can = before.can()
    if action not in can:
        possible = "; ".join(f"{name} ({', '.join(people)})" for name, people in can.items()) or "-"
        fields = {"concept": before.concept, "action": action, "state": before.state, "by": person}
        raise WrongStateError("authoring.move_illegal", **fields, possible=possible)
    if person not in can[action]:
        who = ", ".join(can[action])
        raise UsageError("authoring.not_yours", concept=before.concept, action=action, by=person, who=who)
    if action in ("review", "accept") and person in before.writers:
        raise UsageError("authoring.reviews_own", concept=before.concept, value=person)


def _check_text(
    before: Standing, action: str, now: Mapping[str, Any], note: str, seen: str | None, language: str
) -> None:
    _check_seen(before.concept, now, seen)
    changed = differs(before.text, now)
    if action in ("review", "accept") and changed:
        again = "submit" if before.state == "drafted" else "revise"
        raise UsageError("authoring.text_changed", concept=before.concept, author=before.author, again=again)
    new = changed or bool(undescribed(before.text, now, language))
    if action == "revise" and not new and (before.state in (REVISED, ACCEPTED) or not note.strip()):
        raise UsageError("authoring.nothing_changed", concept=before.concept)


def _check_seen(concept: str, now: Mapping[str, Any], seen: str | None) -> None:
    if seen is not None and seen != digest_of(now):
        raise UsageError("authoring.text_moved", concept=concept)


def _check_ready(build: BuildFile, items: Sequence[ConceptItem]) -> None:
    for finding in concept_findings(build, items):
        raise InputError(f"build.finding.{finding.kind}", **finding.fields)


def _cells(
    items: Sequence[ConceptItem], category: str | None, realisations: Mapping[str, str], prompts: Mapping[str, str]
) -> dict[int, dict[str, str]]:
    """row -> column -> text of what was written; the question is the same in every row."""
    same = {f"prompt.{language}": value for language, value in prompts.items()}
    same |= {} if category is None else {"category": category}
    own = {item.row: realisations.get(item.culture) for item in items}
    return {row: same if shown is None else {**same, "realisation": shown} for row, shown in own.items()}


def _check_all(
    build: BuildFile,
    items: Sequence[ConceptItem],
    category: str | None,
    realisations: Mapping[str, str],
    prompts: Mapping[str, str],
) -> None:
    """Raise UsageError for what cannot be written, before anything is."""
    if category is not None:
        _check_words_of("category", category)
    known = {"culture": [item.culture for item in items], "language": list(build.languages)}
    for kind, given in (("culture", realisations), ("language", prompts)):
        for name, value in given.items():
            _check_written(kind, name, value, known[kind])


def _check_written(kind: str, name: str, value: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UsageError(f"authoring.{kind}_unknown", value=name, known=", ".join(known))
    _check_words_of(name, value)


def _check_words_of(name: str, value: str) -> None:
    if not value.strip() or len(value) > NOTE_LENGTH or not is_text(value):
        raise UsageError("authoring.text_unfit", name=name, limit=NOTE_LENGTH)
