"""``voirdire build author``: the steps of the authoring protocol, and where every concept stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.construction import authoring
from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import Event, read_history
from voirdire.construction.overview import overview
from voirdire.construction.standing import MOVES, Standing, text_of
from voirdire.construction.team import refuse_raters
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError

STATUS, HISTORY, ASSIGN, REASSIGN, ADD, WRITE = "status", "history", "assign", "reassign", "add", "write"
ACTIONS = (STATUS, ASSIGN, ADD, WRITE, *MOVES, REASSIGN, HISTORY)


@dataclass(frozen=True, slots=True)
class Authored:
    """Where concepts stand after a step.

    standings : in the order of the table; planned : concepts whose people are not fixed before the first step
    loads : person -> concepts to write and to review; counts : state -> concepts; events : asked for by ``history``
    text : of the one concept that was asked for, as the table has it now; digest : of that text
    """

    standings: tuple[Standing, ...]
    planned: tuple[str, ...] = ()
    loads: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()
    text: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


def build_author(
    folder: Path | str,
    action: str = STATUS,
    concept: str = "",
    *,
    by: str = "",
    note: str = "",
    reason: str = "",
    category: str | None = None,
    realisations: Mapping[str, str] | None = None,
    questions: Mapping[str, str] | None = None,
    author: str = "",
    reviewer: str = "",
    raters: Any = None,
) -> Authored:
    """Take a step of the authoring protocol, or tell where the concepts stand.

    action : one of ACTIONS; concept and by : who does it to which concept
    note, reason : what is said with it; category, realisations (by culture), questions (by language) : the text
    author, reviewer : of ``reassign``; raters : a table in which nobody of the team may stand

    Raises UsageError and InputError (keys ``authoring.*``, ``build.*``) for a step that cannot be taken.
    """
    _check(action, concept, by)
    build = read_build_file(folder)
    if raters is not None:
        refuse_raters(build.authors, raters)
    if action == ADD:
        authoring.add(folder, concept, by, category or "")
    elif action == WRITE:
        texts = {"category": category, "realisations": realisations, "prompts": questions}
        authoring.write(folder, concept, by, **texts)  # type: ignore[arg-type]
    elif action == REASSIGN:
        authoring.reassign(folder, concept, by, author, reviewer, note=note)
    elif action == ASSIGN:
        authoring.assign(folder)
    elif action in MOVES:
        authoring.move(folder, action, concept, by, note=note, reason=reason)
    told = _status(folder, build)
    if action == HISTORY:
        return replace(told, events=_events(folder, concept))
    if concept and action != STATUS:
        return replace(told, standings=tuple(one for one in told.standings if one.concept == concept))
    return told if action != STATUS else _asked_for(told, folder, concept, by)


def _status(folder: Path | str, build: BuildFile) -> Authored:
    """Where everything stands; people that the rotation would draw next are told beforehand."""
    history = read_history(folder)
    found = overview(build, read_concepts(folder), history)
    return Authored(found.standings, found.planned, found.loads, found.counts, notes=history.notes)


def _events(folder: Path | str, concept: str) -> tuple[Event, ...]:
    return tuple(event for event in read_history(folder).events if not concept or event["concept"] == concept)


def _asked_for(told: Authored, folder: Path | str, concept: str, by: str) -> Authored:
    """The concepts that were asked for: one, with its text, or those that wait for a person."""
    rows = told.standings
    if concept:
        rows = tuple(one for one in rows if one.concept == concept)
        if not rows:
            known = ", ".join(one.concept for one in told.standings[:5])
            raise UsageError("authoring.concept_unknown", value=concept, known=known or "-")
        items = read_concepts(folder).by_concept()[concept]
        told = replace(told, text=text_of(items), digest=authoring.text_digest(items))
    if by:
        rows = tuple(one for one in rows if one.waiting.casefold() == by.casefold())
    return replace(told, standings=rows)


def _check(action: str, concept: str, by: str) -> None:
    if action not in ACTIONS:
        raise UsageError("authoring.action_unknown", value=action, known=", ".join(ACTIONS))
    if action in (STATUS, HISTORY, ASSIGN):
        return
    if not concept:
        raise UsageError("authoring.concept_missing", action=action)
    if not by:
        raise UsageError("authoring.by_missing", action=action)
