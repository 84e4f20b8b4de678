"""Potato (davidjurgens/potato): what each annotator stored, and its exports.

The shapes are those of ``potato-annotation`` 2.12.1 (GPL-3.0-or-later): user_state_management.py writes
user_state.json, export/tabular_exporter.py and parquet_exporter.py the tables. Those of version 1 are read off
flask_server.py and the example projects of the repository before 2.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.answer_rows import Given, Rows
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.labelstudio_items import Items
from voirdire.exchange.importers.platforms import any_identity
from voirdire.exchange.importers.potato_answers import Reader, attributes, controls_of
from voirdire.exchange.importers.potato_files import LABELS, Said, files_of, said_in
from voirdire.exchange.importers.potato_schemes import Answers, Scheme, read_config, read_types, schemes_of
from voirdire.exchange.importers.prolific import not_approved
from voirdire.exchange.importers.records import (
    ID,
    Record,
    delimited_records,
    head_columns,
    head_record,
    json_records,
    jsonl_records,
)
from voirdire.exchange.importers.said_sides import say_sides
from voirdire.exchange.importers.tables import RATERS, frame

CONFIG, ITEMS, TYPES = "config", "items", "types"
TEST, MACHINE, RETURNED = "test", "machine", "returned"
TESTING, PRESTUDY = "_testing_", "prestudy"
"""What version 1 puts into the ids of attention checks and of items of its entrance test."""

CONFIGS, DATA = ("config.yaml", "config.json"), "items.jsonl"
"""What stands beside annotation_output in a project that ``voirdire export potato`` wrote."""

NO_RATING = ("consent", "instruction")


def recognise(path: Path) -> Recognition:
    """States of users and exports, by their fields and columns; a folder that holds some."""
    if path.is_dir():
        try:
            return YES if files_of(path) else NO
        except InputError:
            return NO
    names = _columns(path)
    if names[:3] == ("user_id", "phase", "page"):
        return nearly("potato.phases_alone")
    if names[:2] == ("user", "instance_id") and (len(names) == 2 or "displayed_text" in names):
        return YES
    if names[:2] == ("instance_id", "user_id") and path.stem == "annotations":
        return YES
    record = head_record(path)
    if not isinstance(record, dict):
        return NO
    if {"user_id", "phase", "page", "schema"} <= set(record):
        return nearly("potato.phases_alone")
    state = "user_id" in record and (LABELS in record or "instance_id_ordering" in record)
    old = "label_annotations" in record and ({"id", "instance_id"} & set(record))
    return YES if state or old or {"instance_id", "user_id", "labels", "spans"} <= set(record) else NO


def _columns(path: Path) -> tuple[str, ...]:
    if path.suffix != ".parquet":
        return head_columns(path)
    import polars as pl

    try:
        return tuple(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError):
        return ()


@dataclass
class _Export:
    """What was read so far. items : by path, the items of each project, and what each is called in it."""

    options: ImportOptions
    told: dict[str, Scheme]
    items: Items
    said: list[Said] = field(default_factory=list)
    surveys: list[Said] = field(default_factory=list)
    own: list[tuple[int, dict[str, tuple[str, dict[str, Any]]]]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every rater's answers, their surveys, and the items as far as they are told."""
    id_field, own_ids = options.mapping.get("item_id", "id"), "item_id" in options.mapping
    export = _Export(options, {}, Items(id_field, options.pool_column, own_ids=own_ids))
    given = options.setting(CONFIG)
    for file in (given or "").split(","):
        export.told |= (read_config(Path(file.strip())) or {}) if file.strip() else {}
    shared = [_data(Path(file.strip()), export) for file in (options.setting(ITEMS) or "").split(",") if file.strip()]
    common = {item: row for found in shared for item, row in found.items()}
    for path in paths:
        _project(path, common, export, account)
    export.told |= read_types(options.setting(TYPES))
    return _tables(export, account)


def _project(path: Path, common: Mapping[str, Any], export: _Export, account: Account) -> None:
    """A folder or file: its config and items where they stand beside the annotations, then the annotations."""
    items = dict(common)
    if path.is_dir() and not export.options.setting(CONFIG):
        found = next((path / name for name in CONFIGS if (path / name).is_file()), None)
        told = read_config(found, must=False) if found is not None else {}
        if told is None:
            export.notes.append(Note("potato.note.yaml", {"file": str(found)}, "warning"))
        export.told |= told or {}
    if path.is_dir() and (path / DATA).is_file():
        items |= _data(path / DATA, export)
    for file in files_of(path):
        for said in said_in(file, tuple(export.told), account):
            if said.survey:
                export.surveys.append(said)
                continue
            export.said.append(said)
            if said.item in items:
                said.item, more = items[said.item]
                said.more, said.shown = {**more, **said.more}, None


def _data(path: Path, export: _Export) -> dict[str, tuple[str, dict[str, Any]]]:
    """A file of items: what Potato calls each -> its id, and what it says of each of its ratings."""
    key, words = export.options.mapping.get("item_id", "id"), export.options.mapping.get("text", "text")
    found = {}
    for record in _records(path):
        name = record.need(key, ID)
        data = {"text" if one == words else one: value for one, value in record.value.items()}
        task = Record({"id": name, "data": data}, record.file, record.line)
        item, row, more = export.items.of(task)
        row.pop("id", None)
        export.items.keep(item, row, task)
        _sides(export, item, data)
        found[name] = (item, more)
    return found


def _sides(export: _Export, item: str, data: Mapping[str, Any]) -> None:
    """The two things of a comparison: columns that are named, or a list of two."""
    named = [export.options.mapping.get(side, "") for side in ("a", "b")]
    listed = next((value for value in data.values() if isinstance(value, list) and len(value) == 2), None)
    if all(name in data for name in named):
        export.items.rows[item] |= {"a": data[named[0]], "b": data[named[1]]}
    elif listed is not None:
        export.items.rows[item] |= {"a": listed[0], "b": listed[1]}


def _records(path: Path) -> Iterable[Record]:
    """Potato reads a file of one object a line under the ending .json as well."""
    if path.suffix in (".csv", ".tsv"):
        return delimited_records(path, Account())[1]
    with_lines = path.suffix == ".jsonl" or isinstance(head_record(path), dict)
    return jsonl_records(path, Account()) if with_lines else json_records(path, Account())


def _tables(export: _Export, account: Account) -> Tables:
    refused = not_approved(export.options.raters)
    wanted = [said for said in export.said if not _left_out(said, export.options, account, refused)]
    schemes = schemes_of(export.told, _stored(wanted, export))
    reader = Reader(schemes, account, texts=export.options.with_text_of_raters)
    rows = Rows("potato", controls_of(schemes), account)
    given = []
    for said in wanted:
        with account.record(said.place):
            one = Given(said.item, said.who, said.place, said.more)
            one.answers = list(reader.answers(said))
            one.seen = {*said.stored, *(answer.question for answer in one.answers)}
            given.append(one)
    rows.learn(given)
    rows.rate(given, dict.fromkeys(sorted({answer.question for one in given for answer in one.answers})))
    say_sides(rows.ratings, export.items.rows.values())
    raters, notes = _people(export)
    found = rows.tables(export.items.frame(), (*export.notes, *rows.notes(), *notes, *_doubts(schemes, rows, export)))
    who = dict.fromkeys(one.who for one in given)
    people = frame(({"rater_id": name, **raters.get(name, {})} for name in who), RATERS) if raters else None
    items = found.items if export.items.rows else None
    return replace(found, items=items, raters=people, personal_ids=any_identity(who))


def _stored(wanted: Iterable[Said], export: _Export) -> dict[str, Answers]:
    """Scheme -> all that is stored for it; the texts that were shown are kept on the way."""
    answers: dict[str, Answers] = {}
    for said in wanted:
        if said.shown is not None:
            export.items.rows.setdefault(said.item, {"item_id": said.item})["text"] = said.shown
        for name, values in said.stored.items():
            answers.setdefault(name, Answers()).stored.append((said.place, values, said.legacy))
    return answers


def _doubts(schemes: Mapping[str, Scheme], rows: Rows, export: _Export) -> Iterator[Note]:
    guessed = [f"{name} ({one.kind})" for name, one in schemes.items() if not one.told]
    if guessed:
        yield Note("potato.note.kinds", {"schemes": ", ".join(guessed)})
    if rows.pairwise and not any("a" in row for row in export.items.rows.values()):
        yield Note("potato.note.sides", {}, "warning")


def _left_out(said: Said, options: ImportOptions, account: Account, refused: Collection[str]) -> bool:
    """Whether all that was said is left out: by a machine, by somebody who returned it, or on an attention check."""
    test = said.legacy and (TESTING in said.item or PRESTUDY in said.item)
    for name, found in ((MACHINE, said.machine), (RETURNED, said.who in refused), (TEST, test)):
        if found and name not in options.keep:
            account.read(max(1, len(said.stored)))
            account.left(f"potato.left.{name}", max(1, len(said.stored)), at=said.place)
            return True
    return False


def _people(export: _Export) -> tuple[dict[str, dict[str, str]], list[Note]]:
    """Rater -> what the surveys say of them, and how much was left out."""
    raters: dict[str, dict[str, str]] = {}
    written = 0
    for said in export.surveys:
        if not any(word in said.item.casefold() for word in NO_RATING):
            found, left = attributes(said, texts=export.options.with_text_of_raters)
            raters.setdefault(said.who, {}).update(found)
            written += left
    told = sum(len(found) for found in raters.values())
    notes = [Note("potato.note.survey", {"count": told, "raters": len(raters)})] if told else []
    notes += [Note("potato.note.written", {"count": written})] if written else []
    return raters if told else {}, notes


IMPORTER = Importer(
    "potato",
    "potato.title",
    recognise,
    read=read,
    settings={name: f"potato.settings.{name}" for name in (CONFIG, ITEMS, TYPES)},
    maps={name: f"potato.maps.{name}" for name in ("item_id", "text", "a", "b")},
    keeps={name: f"potato.keeps.{name}" for name in (TEST, MACHINE, RETURNED)},
)
