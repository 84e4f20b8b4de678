"""Argilla 2: the records of a data set as JSON, nested or flattened, as a folder, or as a Hugging Face data set.

What responses are asked for is said by the settings; without them the kinds of questions are read off the answers,
which is said. Suggestions become judgments of the agents that made them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.exchange.free_text import is_free_text
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.answer_rows import CHOICES, RATING, TEXT, Answer, Control, Given, Rows
from voirdire.exchange.importers.argilla_files import (
    RANKING,
    SPAN,
    Source,
    is_folder,
    read_settings,
    settings_beside,
    sources_of,
)
from voirdire.exchange.importers.argilla_records import Said, item_of, responses_of, suggestions_of
from voirdire.exchange.importers.cells import ITEMS, cell, frame
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.datasets_files import first_records, is_data_set
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import Record, head_record

SUBMITTED, DRAFT, DISCARDED = "submitted", "draft", "discarded"
STATES = (SUBMITTED, DRAFT, DISCARDED)
SETTINGS, LANGUAGE, SUGGESTIONS = "settings", "language", "suggestions"


def recognise(path: Path) -> Recognition:
    """A folder with settings, and records by their fields; data sets of version 1 are explained."""
    if path.is_dir() and is_folder(path):
        return YES
    if is_data_set(path):
        rows, _ = first_records(path, 1)
        record: Any = rows[0] if rows else None
    else:
        record = None if path.is_dir() else head_record(path)
    if not isinstance(record, dict):
        return NO
    if any(name.endswith(".responses.users") for name in record) and "id" in record:
        return YES
    nested = {"id", "fields", "metadata", "suggestions"} <= set(record)
    if nested and isinstance(record["id"], list):
        return nearly("argilla.columns")
    if nested and isinstance(record["suggestions"], dict):
        return YES
    old = "external_id" in record and any(name.endswith("-suggestion") for name in record)
    return nearly("argilla.old") if old else NO


@dataclass
class _Read:
    """What was read so far; answers are sorted into kinds once all of them are known."""

    options: ImportOptions
    account: Account
    controls: dict[str, Control] = field(default_factory=dict)
    items: Known = field(default_factory=lambda: Known("argilla.item_twice"))
    rated: list[Given] = field(default_factory=list)
    suggested: list[Given] = field(default_factory=list)
    told_states: bool = True


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The responses and suggestions of every record."""
    found = _Read(options, account)
    language, named = options.setting(LANGUAGE), options.setting(SETTINGS)
    files = [Path(named)] if named else [file for file in map(settings_beside, paths) if file is not None]
    for file in files:
        found.controls |= read_settings(file, language)
    for source in (one for path in paths for one in sources_of(path)):
        for record in source.records(account):
            with account.record(record):
                _record(record, source, found)
    kinds, everything = _kinds(found), (*found.rated, *found.suggested)
    several = {one.question for given in everything for one in given.answers if isinstance(one.value, list)}
    for given in everything:
        _sort(given, kinds, found)
    return _tables(found, kinds, several)


def _record(record: Record, source: Source, found: _Read) -> None:
    record.may("id", object)  # what is no object says so here
    item, row = item_of(record)
    rated: dict[str, Given] = {}
    for said, part in responses_of(record):
        found.account.read()
        _check(said, part, found.controls)
        if said.status is not None and said.status not in STATES:
            raise part.error("argilla.status", "status", said.status, known=", ".join(STATES))
        if said.status in (DRAFT, DISCARDED) and said.status not in found.options.keep:
            found.account.left(f"argilla.left.{said.status}", at=part)
            continue
        more = {} if said.status is None else {"status": said.status}
        given = rated.setdefault(said.who, Given(item, said.who, record, more))
        given.answers.append(Answer(said.question, "", said.value))
        found.told_states &= said.status is not None
    suggested = list(_suggestions(record, item, source, found))
    found.items.keep(item, {"item_id": item, **row}, record)
    found.rated += rated.values()
    found.suggested += suggested


def _suggestions(record: Record, item: str, source: Source, found: _Read) -> list[Given]:
    wanted = found.options.flag(SUGGESTIONS, default=True)
    judged: dict[str, Given] = {}
    for said, part in suggestions_of(record):
        named = Said(said.question, said.who, source.label(said.question, said.value))
        if named.value is None:
            continue
        found.account.read()
        if not wanted:
            found.account.left("argilla.left.suggestion", at=part)
            continue
        _check(named, part, found.controls)
        given = judged.setdefault(named.who, Given(item, named.who, record))
        given.answers.append(Answer(named.question, "", named.value))
    return list(judged.values())


def _check(said: Said, part: Record, controls: Mapping[str, Control]) -> None:
    """Raises InputError for a value that the settings do not allow."""
    control, value = controls.get(said.question), said.value
    if control is None or value is None or control.kind not in (RATING, CHOICES):
        return
    levels = control.labels
    if control.kind == RATING and control.low is not None and control.high is not None:
        levels = tuple(str(level) for level in range(int(control.low), int(control.high) + 1))
    given = value if control.multiple and isinstance(value, list) else [value]
    if any(cell(one) not in levels for one in given):
        where = Record({}, part.file, part.line, part.field or said.question)
        raise where.error("argilla.option", "", value, question=said.question, known=", ".join(levels))


def _kinds(found: _Read) -> dict[str, str]:
    """The kind of every question: as the settings say, else as the answers look."""
    values: dict[str, list[Any]] = {}
    for given in (*found.rated, *found.suggested):
        for answer in given.answers:
            values.setdefault(answer.question, []).append(answer.value)
    return {
        name: found.controls[name].kind if name in found.controls else _looks(name, [one for one in listed if one])
        for name, listed in values.items()
    }


def _looks(name: str, values: Sequence[Any]) -> str:
    """What answers look like. Lists that always hold the same labels in some order are rankings."""
    if any(isinstance(value, dict) or (isinstance(value, list) and _holds_objects(value)) for value in values):
        return SPAN
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        sets = {tuple(sorted(map(str, value))) for value in lists}
        return RANKING if len(sets) == 1 and len(lists[0]) > 1 and len({tuple(one) for one in lists}) > 1 else CHOICES
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return RATING
    written = is_free_text(pl.Series(name, [cell(value) for value in values], dtype=pl.String))
    return TEXT if written else CHOICES


def _holds_objects(value: list[Any]) -> bool:
    return any(isinstance(one, dict) for one in value)


def _sort(given: Given, kinds: Mapping[str, str], found: _Read) -> None:
    """Give every answer its kind; what no scale holds is counted as left out."""
    answers, given.answers = given.answers, []
    for answer in answers:
        kind, value = kinds[answer.question], answer.value
        given.seen.add(answer.question)
        if value is None or value in ("", []):
            found.account.left(MISSING, at=given.place)
        elif kind in (SPAN, RANKING):
            found.account.left("argilla.left.kind", at=given.place)
        elif kind == TEXT and not found.options.with_text_of_raters:
            found.account.left("argilla.left.text", at=given.place)
        else:
            several = [str(one) for one in value] if isinstance(value, list) else [str(cell(value))]
            given.answers.append(Answer(answer.question, kind, several if kind == CHOICES else value))


def _tables(found: _Read, kinds: Mapping[str, str], several: set[str]) -> Tables:
    scaled = {name: control for name, control in found.controls.items() if control.kind in (RATING, CHOICES, TEXT)}
    rows = Rows("argilla", scaled, found.account)
    rows.learn([*found.rated, *found.suggested])
    rows.multiple |= {name for name in several if kinds[name] == CHOICES and name not in scaled}
    rows.rate(found.rated)
    rows.judge(found.suggested)
    notes = list(rows.notes())
    if found.rated and not found.told_states:
        notes.append(Note("argilla.note.states", {}, "warning"))
    guessed = [f"{name}: {kind}" for name, kind in kinds.items() if name not in found.controls]
    if guessed:
        notes.append(Note("argilla.note.kinds", {"questions": ", ".join(guessed)}, "warning"))
    return rows.tables(frame(found.items.rows.values(), ITEMS), tuple(notes))


IMPORTER = Importer(
    "argilla",
    "argilla.title",
    recognise,
    read=read,
    settings={
        SETTINGS: "argilla.settings.settings",
        LANGUAGE: "argilla.settings.language",
        SUGGESTIONS: "argilla.settings.suggestions",
    },
    keeps={DRAFT: "argilla.keeps.draft", DISCARDED: "argilla.keeps.discarded"},
)
