"""The files that Potato writes, as what one rater said of one item or on one page of a survey.

Version 2 keeps ``<user>/user_state.json`` and exports annotations.csv, .tsv, .jsonl and .parquet, with
phase_responses beside them; before, it wrote ``<user>/annotated_instances.jsonl`` and a table of all,
annotated_instances.csv, .tsv, .jsonl or .json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import cell, utc
from voirdire.exchange.importers.records import ID, Record, delimited_records, json_records, jsonl_records

STATE, OLD, NEW, PHASES = "user_state.json", "annotated_instances", "annotations", "phase_responses"
LABELS, SURVEYS = "instance_id_to_label_to_value", "phase_to_page_to_label_to_value"
TIMES, ORIGIN = "instance_id_to_behavioral_data", "origin"
ENDS = (".jsonl", ".json", ".parquet", ".tsv", ".csv")
AFTER = ("prestudy", "poststudy")
"""Phases whose answers tell of the rater; the others hold consent, instructions and practice."""

COLUMNS = ("annotator_origin", "annotator_origin_detail", "engine_purpose", "engine_request")
SIDE = ("._spans", "._room", "._room_id")
_SPENT = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")

Stored = dict[str, dict[str, Any]]


@dataclass
class Said:
    """What a rater said of one item, or on a page of a survey.

    stored : scheme -> label -> value; survey : it tells of the rater
    machine : the rater is a tool or a model; legacy : it was stored before version 2
    latest : scheme -> the label that was chosen last, where that is kept
    """

    who: str
    item: str
    place: Record
    stored: Stored
    more: dict[str, Any] = field(default_factory=dict)
    shown: str | None = None
    survey: bool = False
    machine: bool = False
    legacy: bool = False
    latest: Mapping[str, str] = field(default_factory=dict)


def files_of(path: Path) -> list[Path]:
    """The files to read of a folder, or the file itself: what each user left, else the first table of all.

    Raises InputError for a folder without any.
    """
    if not path.is_dir():
        return [path]
    inner = path / "annotation_output"
    folder = inner if inner.is_dir() else path
    found = [one / name for one in (folder, *sorted(folder.iterdir())) for name in (STATE, f"{OLD}.jsonl")]
    found = [one for one in found if one.is_file() and one.parent != folder] or [one for one in found if one.is_file()]
    for stem in (OLD, NEW):
        tables = [folder / f"{stem}{end}" for end in ENDS if (folder / f"{stem}{end}").is_file()]
        if not found and tables:
            phases = folder / f"{PHASES}{tables[0].suffix}"
            found = [tables[0], *([phases] if phases.is_file() else [])]
    if not found:
        raise InputError("potato.empty", file=str(path))
    return found


def said_in(path: Path, schemes: Sequence[str], account: Account) -> Iterator[Said]:
    """Everything that a file holds. schemes : the names of those that are told, by which columns are taken apart."""
    if path.suffix == ".parquet":
        yield from _table(*_parquet(path), schemes, account, whole=True)
    elif path.suffix in (".csv", ".tsv"):
        yield from _table(*delimited_records(path, account), schemes, account)
    elif path.suffix == ".jsonl" or path.stem == OLD:
        for record in jsonl_records(path, account):
            with account.record(record):
                found = list(_line(record))
                yield from found
    else:
        yield from _state(path, account)


def pairs(record: Record, name: str) -> Stored:
    """The labels of an item: pairs of ``{schema, name}`` and a value, or an object of schema -> label -> value."""
    value = record.value.get(name)
    if isinstance(value, Mapping):
        found = {str(scheme): values for scheme, values in value.items()}
        wrong = next((scheme for scheme, values in found.items() if not isinstance(values, Mapping)), None)
        if wrong is not None:
            raise record.inside(name).error("importing.field_kind", wrong, found[wrong], wanted=dict)
        return {scheme: _nested(values) for scheme, values in found.items()}
    stored: Stored = {}
    for entry in record.may(name, list) or []:
        whole = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict)
        if not whole or not isinstance(entry[0].get("schema"), str) or not isinstance(entry[0].get("name"), str):
            raise record.error("potato.pair", name, entry)
        stored.setdefault(entry[0]["schema"], {})[entry[0]["name"]] = entry[1]
    return stored


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    inner = values.get("labels")
    return dict(inner) if isinstance(inner, Mapping) else {str(label): value for label, value in values.items()}


def _state(path: Path, account: Account) -> Iterator[Said]:
    """A user_state.json: every item on its own line, then the surveys."""
    for record in json_records(path, account):
        with account.record(record):
            who = record.need("user_id", ID)
            machine = (record.inside(ORIGIN).may("kind", str) or "human") != "human"
            times = record.inside(TIMES)
            surveys = list(_surveys(record, who))
            if not record.may(LABELS, dict):
                yield from surveys
                continue
            for part in json_records(path, account, (LABELS,), entries=True):
                with account.record(part):
                    stored = pairs(Record({part.key: part.value}, part.file, part.line, LABELS), part.key)
                    told = times.inside(part.key)
                    spent = told.may("total_time_ms", float)
                    more = {"seconds": spent / 1000 if spent else _spent(told), "at": _at(told)}
                    yield Said(who, part.key, part, stored, more, machine=machine, latest=_latest(told))
            yield from surveys


def _surveys(record: Record, who: str) -> Iterator[Said]:
    for phase in AFTER:
        pages = record.inside(SURVEYS).inside(phase)
        for page in pages.value:
            yield Said(who, page, record, pairs(pages, page), survey=True)


def _at(told: Record) -> str | None:
    end = told.may("session_end", float)
    return utc(end if end is not None else told.may("session_start", float))


def _latest(told: Record) -> dict[str, str]:
    """Scheme -> the label that was chosen last."""
    changes = [part for part in told.each("annotation_changes") if part.value.get("action") == "select"]
    changes.sort(key=lambda part: part.may("timestamp", float) or 0)
    return {part.need("schema_name", str): part.may("label_name", str) or "" for part in changes}


def _spent(told: Record) -> int | None:
    """Seconds of ``Time spent: 0d 0h 1m 5s``."""
    found = _SPENT.search(told.may("time_string", str) or "")
    if not found:
        return None
    days, hours, minutes, seconds = map(int, found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _line(record: Record) -> Iterator[Said]:
    """A line of annotated_instances.jsonl, of annotations.jsonl, or of phase_responses.jsonl."""
    record.may("user_id", ID)
    if "phase" in record.value:
        yield from _phase(record)
    elif "label_annotations" in record.value:
        mine = "user_id" not in record.value
        who = Path(record.file).resolve().parent.name if mine else record.need("user_id", ID)
        item = record.need("id" if mine and "instance_id" not in record.value else "instance_id", ID)
        more = {"seconds": _spent(record.inside("behavioral_data"))}
        text = record.may("displayed_text", str)
        page = item.endswith(".html")
        yield Said(who, item, record, pairs(record, "label_annotations"), more, text, survey=page, legacy=True)
    else:
        kind = record.inside("annotator_origin").may("kind", str) or "human"
        record.need("labels", dict)
        who, item = record.need("user_id", ID), record.need("instance_id", ID)
        yield Said(who, item, record, pairs(record, "labels"), machine=kind != "human")


def _phase(record: Record) -> Iterator[Said]:
    dropped = record.value.get("hidden") in (True, "True") or record.value.get("superseded") in (True, "True")
    if record.need("phase", str) in AFTER and not dropped:
        scheme, label = record.need("schema", str), record.may("label_name", str) or ""
        stored = {scheme: {label: record.value.get("value")}}
        yield Said(record.need("user_id", ID), record.may("page", str) or "", record, stored, survey=True)


def _parquet(path: Path) -> tuple[tuple[str, ...], Iterator[Record]]:
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError("input.file_damaged", file=str(path), value=str(error)) from error
    rows = (Record(row, str(path), number) for number, row in enumerate(table.iter_rows(named=True), start=1))
    return tuple(table.columns), rows


def _table(
    columns: Sequence[str], records: Iterator[Record], schemes: Sequence[str], account: Account, *, whole: bool = False
) -> Iterator[Said]:
    """A wide table. whole : a column holds the answer to a scheme, not one of its labels."""
    old = any(":::" in name for name in columns)
    known = {"user", "user_id", "instance_id", "displayed_text", *COLUMNS}
    named = {name: _column(name, schemes, old, whole) for name in columns if name not in known}
    who = "user" if "user" in columns else "user_id"
    for record in records:
        with account.record(record):
            if "phase" in columns:
                found = list(_phase(record))
            else:
                stored: Stored = {}
                for column, (scheme, label) in named.items():
                    if record.value[column] is not None and not column.endswith(SIDE):
                        stored.setdefault(scheme, {})[label or ""] = record.value[column]
                one = Said(record.need(who, ID), record.need("instance_id", ID), record, stored, legacy=old)
                one.shown = cell(record.value.get("displayed_text"))
                one.survey = old and one.item.endswith(".html")
                one.machine = record.value.get(COLUMNS[0]) not in (None, "human")
                found = [one]
            yield from found


def _column(name: str, schemes: Sequence[str], old: bool, whole: bool) -> tuple[str, str | None]:
    """Scheme and label of a column: apart by ``:::``, or by the first full stop behind the name of a known scheme."""
    if old:
        scheme, _, label = name.partition(":::")
        return scheme, label
    longest = max((one for one in schemes if name == one or name.startswith(f"{one}.")), key=len, default=None)
    if longest is None and whole:
        return name, None
    scheme = longest if longest is not None else name.partition(".")[0]
    return scheme, name[len(scheme) + 1 :] or None
