"""Label Studio's JSON export: tasks, each with the annotations of several raters and the predictions of models.

The shape is that of labelstud.io/guide/task_format and of ``label_studio_sdk`` 2.1.2 (Apache-2.0), whose converter
writes the other exports too: JSON-MIN, CSV and TSV have a row an annotation, without the marks of ground truth. The
files of a target storage hold one annotation with its task inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.answer_rows import Control, Given, Rows
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.labelstudio_config import read_config
from voirdire.exchange.importers.labelstudio_items import Items
from voirdire.exchange.importers.labelstudio_results import answers_of
from voirdire.exchange.importers.records import ID, Record, head_columns, head_of, head_record, json_records
from voirdire.exchange.importers.said_sides import say_sides
from voirdire.exchange.importers.tables import utc

CANCELLED, GROUND_TRUTH = "cancelled", "ground_truth"
DRAFT = "labelstudio.left.draft"
CONFIG, PREDICTIONS, ITEM, SIDES = "config", "predictions", "item_id", ("a", "b")
UNNAMED = "predictions"
"""The judge of predictions that name no version of a model."""


def recognise(path: Path) -> Recognition:
    """Tasks with annotations; the exports that hold less, and tasks without annotations, are explained."""
    names = set(head_columns(path))
    if {"annotator", "annotation_id", "lead_time"} <= names:
        return nearly("labelstudio.merged")
    record = head_record(path)
    if not isinstance(record, dict):
        return NO
    if {"annotator", "annotation_id", "lead_time"} <= set(record):
        return nearly("labelstudio.merged")
    if isinstance(record.get("completions"), list) and "data" in record:
        return nearly("labelstudio.old")
    data, task = record.get("data"), record.get("task")
    if isinstance(record.get("annotations"), list) and isinstance(data, dict):
        return YES
    if isinstance(task, dict) and isinstance(record.get("result"), list) and isinstance(task.get("data"), dict):
        return YES
    if isinstance(data, dict) and (isinstance(record.get("predictions"), list) or set(record) <= {"id", "data"}):
        return nearly("labelstudio.tasks")
    head = head_of(path)
    known = ('"annotations"', '"completed_by"', '"from_name"')
    return YES if "data" not in record and all(name in head for name in known) else NO


@dataclass
class _Export:
    """What was read so far: the answers of annotations and of predictions."""

    options: ImportOptions
    account: Account
    items: Items
    rated: list[Given] = field(default_factory=list)
    predicted: list[Given] = field(default_factory=list)

    def answered(self, part: Record, item: str, who: str, more: Mapping[str, Any]) -> Given:
        """The answers of an annotation or prediction."""
        given = Given(item, who, part, dict(more))
        answers_of(part.each("result"), given, self.account, texts=self.options.with_text_of_raters)
        return given


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The answers of every task of the files."""
    controls: dict[str, Control] = {}
    for file in (options.setting(CONFIG) or "").split(","):
        controls |= read_config(Path(file.strip())) if file.strip() else {}
    export = _Export(options, account, Items(options.mapping.get(ITEM), options.pool_column))
    for path in paths:
        for record in json_records(path, account):
            with account.record(record):
                _task(record, export)
    return _tables(export, controls)


def _task(record: Record, export: _Export) -> None:
    """A task, or an annotation with its task inside; what it says is kept once all of it could be read."""
    record.may("id", ID)  # what is no object says so here
    inner = "result" in record.value and "annotations" not in record.value
    task = record.inside("task") if inner else record
    item, row, more = export.items.of(task)
    parts = [record] if inner else record.each("annotations")
    rated = [given for part in parts for given in _annotation(part, item, more, export)]
    for part in _listed(task, "drafts", DRAFT, export.account):
        _leave(part, DRAFT, export.account)
    predicted = _predictions(task, item, export)
    export.items.keep(item, row, task)
    export.rated += rated
    export.predicted += predicted


def _listed(task: Record, name: str, reason: str, account: Account) -> Iterator[Record]:
    """The objects of a list; numbers in their place, ids of what is not in the export, are counted as left out."""
    listed = task.may(name, list) or []
    if listed and all(isinstance(one, int) for one in listed):
        account.read(len(listed))
        account.left(reason, len(listed), at=task)
        return
    yield from task.each(name)


def _leave(part: Record, reason: str, account: Account) -> None:
    count = max(1, len(part.may("result", list) or []))
    account.read(count)
    account.left(reason, count, at=part)


def _annotation(part: Record, item: str, more: Mapping[str, Any], export: _Export) -> list[Given]:
    """What an annotation answers; nothing where it is left out."""
    found: list[Given] = []
    with export.account.record(part):
        cancelled = part.may("was_cancelled", bool) or False
        truth = part.may("ground_truth", bool) or False
        for name, marked in ((CANCELLED, cancelled), (GROUND_TRUTH, truth)):
            if marked and name not in export.options.keep:
                _leave(part, f"labelstudio.left.{name}", export.account)
                return []
        who = _person(part)
        status = CANCELLED if cancelled else GROUND_TRUTH if truth else "submitted"
        told = {"status": status, "seconds": part.may("lead_time", float)}
        told |= {"at": utc(part.may("created_at", str)), "updated_at": utc(part.may("updated_at", str))}
        found.append(export.answered(part, item, f"{GROUND_TRUTH}:{who}" if truth else who, {**more, **told}))
    return found


def _person(part: Record) -> str:
    """The id of who annotated; where only an address is told, the address, which becomes r1, r2, ... later."""
    if not isinstance(part.value.get("completed_by"), dict):
        return str(part.need("completed_by", ID))
    person = part.inside("completed_by")
    return str(person.need("id" if person.value.get("id") is not None else "email", ID))


def _predictions(task: Record, item: str, export: _Export) -> list[Given]:
    wanted = export.options.flag(PREDICTIONS, default=True)
    reason = "labelstudio.left.prediction_id" if wanted else "labelstudio.left.prediction"
    found = []
    for part in _listed(task, "predictions", reason, export.account):
        with export.account.record(part):
            if wanted:
                found.append(export.answered(part, item, part.may("model_version", ID) or UNNAMED, {}))
            else:
                _leave(part, reason, export.account)
    return found


def _tables(export: _Export, controls: Mapping[str, Control]) -> Tables:
    rows = Rows("labelstudio", controls, export.account)
    rows.learn([*export.rated, *export.predicted])
    rows.rate(export.rated)
    rows.judge(export.predicted)
    notes = list(rows.notes())
    drawn = sum(given.place.value.get("parent_prediction") is not None for given in export.rated)
    if drawn:
        notes.append(Note("labelstudio.note.drawn", {"count": drawn}, "warning"))
    named = tuple(name for name in map(export.options.mapping.get, SIDES) if name)
    if rows.pairwise and not export.items.sided(named or rows.sides):
        notes.append(Note("labelstudio.note.sides", {}, "warning"))
    say_sides(rows.ratings, export.items.rows.values())
    return rows.tables(export.items.frame(), tuple(notes))


IMPORTER = Importer(
    "labelstudio",
    "labelstudio.title",
    recognise,
    read=read,
    settings={CONFIG: "labelstudio.settings.config", PREDICTIONS: "labelstudio.settings.predictions"},
    maps={ITEM: "labelstudio.maps.item_id", **dict.fromkeys(SIDES, "labelstudio.maps.sides")},
    keeps={CANCELLED: "labelstudio.keeps.cancelled", GROUND_TRUTH: "labelstudio.keeps.ground_truth"},
)
