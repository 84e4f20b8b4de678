"""Qualtrics' csv export of responses: three header rows, a column a question, a row a response.

The shape is that of qualtrics.com/support, "Understanding Your Dataset" and "Data Export Options": names, wordings, and
ImportIds as JSON with the time zone of dates; values as choice texts or as their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.platforms import any_identity
from voirdire.exchange.importers.prolific import not_approved
from voirdire.exchange.importers.qualtrics_columns import (
    PERSONAL,
    Column,
    Target,
    about,
    own,
    rater_column,
    read_columns,
    targets,
)
from voirdire.exchange.importers.records import ID, Record, head_columns, head_of, head_record
from voirdire.exchange.importers.tables import ITEMS, RATERS, RATINGS, frame, utc

ITEMS_TABLE, PATTERN, ABOUT, ZONE, BLANK = "items", "column", "about", "timezone", "missing"
UNFINISHED, PREVIEW, SPAM, RETURNED = "unfinished", "preview", "spam", "returned"
RATER = "rater_id"
PREVIEWS = ("1", "2", "9", "17", "survey preview", "survey test", "survey preview spam", "offline survey preview")
SPAMS = ("8", "9", "12", "40", "48", "spam", "imported spam", "survey preview spam", "offline survey spam", "ex spam")
DONE = ("1", "true")


def recognise(path: Path) -> Recognition:
    """A csv with ImportIds in its third row; exports without them, and the JSON export, are explained."""
    names = set(head_columns(path))
    if {"StartDate", "EndDate"} & names and {"ResponseId", "ResponseID", "Finished", "RecordedDate"} & names:
        return YES if "ImportId" in head_of(path) else nearly("qualtrics.headers")
    if '{""ImportId"":' in head_of(path):
        return YES
    record = head_record(path)
    return nearly("qualtrics.json") if isinstance(record, dict) and _is_response(record) else NO


def _is_response(record: Mapping[str, Any]) -> bool:
    listed = record.get("responses")
    first = listed[0] if isinstance(listed, list) and listed else record
    return isinstance(first, dict) and {"responseId", "values"} <= set(first)


@dataclass
class _Survey:
    """A file: its columns, what they are of, and what was read."""

    path: Path
    columns: Mapping[str, Column]
    targets: Mapping[str, Target]
    rater: str
    about: Sequence[str]
    zone: ZoneInfo | None
    rows: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    people: dict[str, dict[str, Any]] = field(default_factory=dict)


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The responses of every file."""
    refused = {} if RETURNED in options.keep else not_approved(options.raters)
    surveys = []
    for path in paths:
        columns, records = read_columns(path, account)
        rater = rater_column(columns, options.mapping.get(RATER), path)
        found = targets(columns, path, options.setting(ITEMS_TABLE), options.setting(PATTERN))
        named = [name.strip() for name in (options.setting(ABOUT) or "").split(",") if name.strip()]
        told = [name for name in about(columns, named, rater, path) if name not in found]
        survey = _Survey(path, columns, found, rater, told, _zone(columns, options.setting(ZONE)))
        for record in records:
            with account.record(record):
                _response(record, survey, options, account, refused)
        surveys.append(survey)
    return _tables(surveys)


def _response(
    record: Record, survey: _Survey, options: ImportOptions, account: Account, refused: Mapping[str, str]
) -> None:
    """The answers of a response, or the reason why all of them are left out."""
    reason = next((one for one in _reasons(record, survey) if one not in options.keep), None)
    if reason is None and record.value[survey.rater] in refused:
        reason = RETURNED
    if reason is not None:
        account.read(len(survey.targets))
        account.left(f"qualtrics.left.{reason}", len(survey.targets), at=record)
        return
    who = record.need(survey.rater, ID)
    rows, comments = _answers(record, survey, options, account)
    survey.rows += [{**row, "rater_id": who} for row in rows]
    survey.comments += [{**row, "rater_id": who} for row in comments]
    _person(record, survey, who, texts=options.with_text_of_raters)


def _answers(
    record: Record, survey: _Survey, options: ImportOptions, account: Account
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The ratings and the texts of a response."""
    at = _at(record, survey)
    blank = {one.strip() for one in (options.setting(BLANK) or "").split(",")}
    rows, comments = [], []
    for name, target in survey.targets.items():
        column, value = survey.columns[name], record.value[name]
        row = {"item_id": target.item, "question": target.question}
        account.read()
        if value is None or value in blank:
            account.left(MISSING, at=record)
        elif column.one_choice:
            account.left("qualtrics.left.several", at=record)
        elif not column.typed:
            account.took()
            rows.append({**row, "rating": value, "at": at})
        elif options.with_text_of_raters:
            account.took()
            comments.append({**row, "written": value, "answered_at": at})
        else:
            account.left("qualtrics.left.text", at=record)
    return rows, comments


def _reasons(record: Record, survey: _Survey) -> list[str]:
    """Why a response does not count, by what Qualtrics records of it."""
    status, channel, finished = (
        str(record.value.get(own(survey.columns, name) or "") or "").casefold()
        for name in ("status", "distributionChannel", "finished")
    )
    found = [PREVIEW] if status in PREVIEWS or channel in ("preview", "test") else []
    found += [SPAM] if status in SPAMS else []
    return [*found, *([UNFINISHED] if finished and finished not in DONE else [])]


def _person(record: Record, survey: _Survey, who: str, *, texts: bool) -> None:
    kept = [name for name in survey.about if texts or not survey.columns[name].typed]
    told = {name: record.value[name] for name in kept}
    for ours, theirs in (("duration_seconds", "duration"), ("survey_language", "userLanguage")):
        name = own(survey.columns, theirs)
        told |= {ours: record.value[name]} if name is not None else {}
    known = survey.people.setdefault(who, {"rater_id": who})
    known |= {name: value for name, value in told.items() if known.get(name) is None}


def _zone(columns: Mapping[str, Column], told: str | None) -> ZoneInfo | None:
    """The time zone of dates: as the header names it, or the user; None where nobody does."""
    named = next((column.told["timeZone"] for column in columns.values() if column.told.get("timeZone")), told)
    if named is None:
        return None
    try:
        return ZoneInfo("UTC" if named == "Z" else str(named))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError("qualtrics.zone", value=str(named)) from error


def _at(record: Record, survey: _Survey) -> str | None:
    """When a response was recorded, in UTC; None where it is no date, or nobody tells the time zone."""
    name = own(survey.columns, "endDate") or own(survey.columns, "recordedDate")
    try:
        found = datetime.fromisoformat(str(record.value.get(name or "")))
    except ValueError:
        return None
    if found.tzinfo is None and survey.zone is None:
        return None
    aware = found if found.tzinfo is not None else found.replace(tzinfo=survey.zone)
    return utc(aware.astimezone(UTC).isoformat())


def _tables(surveys: Sequence[_Survey]) -> Tables:
    rows = [row for survey in surveys for row in survey.rows]
    comments = [row for survey in surveys for row in survey.comments]
    people: dict[str, dict[str, Any]] = {}
    items: dict[str, dict[str, Any]] = {}
    for survey in surveys:
        for who, told in survey.people.items():
            people[who] = {**told, **people.get(who, {})}
        for target in survey.targets.values():
            told = {name: value for name, value in target.more.items() if value is not None}
            items[target.item] = {"item_id": target.item, **told, **items.get(target.item, {})}
    return Tables(
        ratings=frame(rows, RATINGS),
        raters=frame(people.values(), RATERS),
        items=frame(items.values(), ITEMS),
        comments=frame(comments, ("item_id", "rater_id", "question", "written")) if comments else None,
        notes=tuple(note for survey in surveys for note in _notes(survey)),
        personal_ids=any_identity(people),
    )


def _notes(survey: _Survey) -> list[Note]:
    file = str(survey.path)
    used = {*survey.targets, *survey.about, survey.rater}
    open_ones = [
        name for name, one in survey.columns.items() if one.asked and not (one.aside or one.typed) and name not in used
    ]
    dropped = [name for name, column in survey.columns.items() if column.id in PERSONAL]
    notes = [Note("qualtrics.note.rater", {"file": file, "column": survey.rater})]
    notes += [Note("qualtrics.note.personal", {"file": file, "columns": ", ".join(dropped)})] if dropped else []
    notes += [Note("qualtrics.note.unused", {"file": file, "columns": ", ".join(open_ones)})] if open_ones else []
    undated = survey.zone is None and (own(survey.columns, "endDate") or own(survey.columns, "recordedDate"))
    notes += [Note("qualtrics.note.zone", {"file": file}, "warning")] if undated else []
    return notes


IMPORTER = Importer(
    "qualtrics",
    "qualtrics.title",
    recognise,
    read=read,
    settings={name: f"qualtrics.settings.{name}" for name in (ITEMS_TABLE, PATTERN, ABOUT, ZONE, BLANK)},
    maps={RATER: "qualtrics.maps.rater_id"},
    keeps={name: f"qualtrics.keeps.{name}" for name in (UNFINISHED, PREVIEW, SPAM, RETURNED)},
)
