"""Hugging Face data sets on disk: lists of ratings in a row an item, or a row a rating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.datasets_files import Part, first_records, is_data_set, parts_of
from voirdire.exchange.importers.datasets_shape import ITEM, RATER, RATING, Shape, check_columns, shape_of
from voirdire.exchange.importers.datasets_spread import check_reused, spread
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import Record
from voirdire.exchange.importers.tables import ITEMS, RATINGS, frame, question
from voirdire.exchange.told import MANIFEST

UNLABELLED = "-1"
MINE = ("annotator", "rater", "worker")
"""Beginnings of the names of lists that say something of each rater of a row."""


@dataclass
class Found:
    """What was read so far.

    labels : question -> names of its ClassLabel; known : what is compared where an item comes again
    rows : split -> rows of the files before, by which rows of the next file are numbered on
    starts : file -> where its ratings begin; missing : what means no answer
    below : how often -1 was taken, which is no answer in data sets with names of labels
    """

    ratings: list[dict[str, Any]] = field(default_factory=list)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    rows: Counter[str] = field(default_factory=Counter)
    starts: dict[str, int] = field(default_factory=dict)
    numbered: bool = False
    missing: tuple[str, ...] = ()
    below: int = 0


def recognise(path: Path) -> Recognition:
    """A folder of ``save_to_disk``, or Parquet or Arrow whose columns are known; JSONL has to be named."""
    if not is_data_set(path) or (path / MANIFEST).is_file():
        return NO
    rows, _ = first_records(path)
    if rows and shape_of(rows, ImportOptions()) is not None:
        return YES
    return nearly("datasets.columns", known=", ".join(rows[0]) if rows else "-") if path.is_dir() else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The ratings of every split, or of the one that is asked for."""
    wanted = options.setting("split")
    asked = options.setting("missing", default="") or ""
    found = Found(missing=tuple(one.strip() for one in asked.split(",") if one.strip()))
    parts = [part for path in paths for part in parts_of(path)]
    splits = sorted({part.split for part in parts})
    if wanted is not None and wanted not in splits:
        raise InputError("datasets.split", file=", ".join(map(str, paths)), value=wanted, known=", ".join(splits))
    chosen = [part for part in parts if wanted in (None, part.split)]
    shapes = [_part(part, options, account, found) for part in chosen]
    _check_layouts(chosen, shapes)
    slots = any(shape.rater is None for shape in shapes)
    notes = [_said(shape) for shape in dict.fromkeys(shapes)] + ([Note("datasets.slots")] if slots else [])
    if found.numbered:
        notes.append(Note("datasets.numbered"))
    if found.below:
        notes.append(Note("datasets.below", {"count": found.below}, "warning"))
    questions = [_question(name, labels) for name, labels in found.labels.items() if labels]
    if shapes and not shapes[0].lists:
        return _long(found, questions, notes, options)
    return Tables(
        ratings=frame(found.ratings, RATINGS),
        items=frame(found.items.values(), ITEMS),
        questions=frame(questions) if questions else None,
        notes=tuple(notes),
        read={"anonymous_raters": True} if slots else {},
    )


def _check_layouts(parts: Sequence[Part], shapes: Sequence[Shape]) -> None:
    """Raises InputError where a row is an item in one file and a rating in another: what follows is not the same."""
    other = next((place for place, shape in enumerate(shapes) if shape.lists != shapes[0].lists), None)
    if other is None:
        return
    lists, rows = (0, other) if shapes[0].lists else (other, 0)
    raise InputError("datasets.layouts_differ", lists=str(parts[lists].file), rows=str(parts[rows].file))


def _part(part: Part, options: ImportOptions, account: Account, found: Found) -> Shape:
    rows, _ = first_records(part.file)
    shape = shape_of(rows, options)
    file = str(part.file)
    if shape is not None:
        check_columns(shape, rows, options, file)
    if shape is None:
        next(part.records(account), None)  # what cannot be read at all says so itself
        raise InputError("datasets.columns", file=file, known=", ".join(rows[0]) if rows else "-")
    for name in shape.ratings:
        labels = part.labels(shape.holder, name) if shape.holder else part.labels(name)
        if found.labels.setdefault(name, labels) != labels:
            raise InputError("datasets.labels_differ", file=file, field=name)
    last, found.starts[file] = 0, len(found.ratings)
    for record in part.records(account):
        last = record.line
        with account.record(record):
            item = _item(record, shape, part, found)
            made = list(_answers(record, shape, item, found, account))
            if shape.lists:
                _described(record, shape, item, part, found)
            found.ratings += made
    found.rows[part.split] += last
    return shape


def _item(record: Record, shape: Shape, part: Part, found: Found) -> str:
    """The item's id; where there is none the number of the row, behind the name of its split."""
    if shape.item is not None:
        value = record.value.get(shape.item) if isinstance(record.value, dict) else None
        return str(value) if isinstance(value, int) else str(record.need(shape.item, str))
    found.numbered = True
    number = found.rows[part.split] + record.line
    return f"{part.split}-{number}" if part.split else str(number)


def _answers(record: Record, shape: Shape, item: str, found: Found, account: Account) -> Iterator[dict[str, Any]]:
    """The rows of a record, every one counted."""
    for number, entry in enumerate(_entries(record, shape), start=1):
        rater = str(number) if shape.rater is None else entry.value.get(shape.rater)
        account.read(len(shape.ratings))
        if rater is None or isinstance(rater, list | dict):
            raise entry.error("importing.field_missing", shape.rater or RATER, known=", ".join(map(str, entry.value)))
        more = _further(entry.value, (shape.rater, *shape.ratings))
        for name in shape.ratings:
            value = _value(entry, name, found.labels.get(name, ()))
            if cell(value) is None or cell(value) in found.missing:
                account.left(MISSING, at=record)
                continue
            found.below += cell(value) == UNLABELLED
            account.took()
            yield {"item_id": item, "rater_id": rater, "question": name, "rating": value, **more}


def _further(values: Mapping[str, Any], taken: Sequence[str | None]) -> dict[str, Any]:
    """The other fields of an object, without the bytes of images; our own names are left free."""
    return {
        f"{name}_given" if name in (*RATINGS, "pool") else name: value
        for name, value in values.items()
        if name not in taken and not (isinstance(value, dict) and "bytes" in value)
    }


def _entries(record: Record, shape: Shape) -> list[Record]:
    """What each rater of a record says, as an object each."""
    if not shape.lists:
        values = {name: value for name, value in record.value.items() if name != shape.item}
        return [Record(values, record.file, record.line)]
    held = record.value.get(shape.holder) if shape.holder else None
    if isinstance(held, list):
        return record.each(shape.holder)
    columns = record.may(shape.holder, dict) or {} if shape.holder else _lists(record, shape)
    names = [name for name in (shape.rater, *shape.ratings) if name]
    sizes = {name: len(columns[name]) for name in names if isinstance(columns.get(name), list)}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise record.error("datasets.lengths", names[-1], value=shown)
    size = next(iter(sizes.values()), 0)
    told = {name: cells for name, cells in columns.items() if isinstance(cells, list) and len(cells) == size}
    rows = [{name: cells[place] for name, cells in told.items()} for place in range(size)]
    return [Record(row, record.file, record.line, f"[{place}]") for place, row in enumerate(rows)]


def _lists(record: Record, shape: Shape) -> dict[str, Any]:
    """The lists of ratings and raters, and those that say something of each rater."""
    wanted = {name for name in (shape.rater, *shape.ratings) if name}
    for name in wanted:
        record.may(name, list)
    return {name: cells for name, cells in record.value.items() if name in wanted or name.startswith(MINE)}


def _value(entry: Record, name: str, labels: Sequence[str]) -> Any:
    """A rating as it is given; a ClassLabel by its name, and its -1 as missing."""
    value = entry.value.get(name)
    if isinstance(value, list | dict):
        raise entry.error("importing.field_kind", name, value, wanted=float)
    if not labels or isinstance(value, str) or value is None:
        return value
    if value == -1:
        return None
    if not isinstance(value, int) or not 0 <= value < len(labels):
        raise entry.error("datasets.label", name, value, known=", ".join(labels))
    return labels[value]


def _described(record: Record, shape: Shape, item: str, part: Part, found: Found) -> None:
    """What a row an item says of the item."""
    further = _further(record.value, tuple(shape.used))
    kept = {name: value for name, value in further.items() if shape.holder or not name.startswith(MINE)}
    found.known.keep(item, kept, record)
    found.items.setdefault(item, {"item_id": item, **({"split": part.split} if part.split else {}), **kept})


def _long(found: Found, questions: list[Mapping[str, Any]], notes: list[Note], options: ImportOptions) -> Tables:
    """Further columns of rows a rating go to the items or raters that they describe, else they stay."""
    ends = [*found.starts.values(), len(found.ratings)][1:]
    parts = [found.ratings[start:end] for start, end in zip(found.starts.values(), ends, strict=True)]
    if len(parts) > 1 and not found.numbered:
        check_reused(dict(zip(found.starts, parts, strict=True)))
    made = spread(found.ratings, with_texts=options.with_text_of_raters)
    if made.texts:
        notes.append(Note("datasets.texts", {"columns": ", ".join(made.texts)}))
    return Tables(
        ratings=made.ratings,
        items=made.items,
        raters=made.raters,
        questions=frame(questions) if questions else None,
        notes=tuple(notes),
    )


def _question(name: str, labels: Sequence[str]) -> Mapping[str, Any]:
    """A ClassLabel is nominal. Which of two labels counts as 1 its numbers do not say: the reader knows it, or asks."""
    return question(name, "nominal", labels=labels)


def _said(shape: Shape) -> Note:
    inner = f"{shape.holder}." if shape.holder else ""
    fields = {"item": shape.item or "-", "rater": inner + shape.rater if shape.rater else "-"}
    ratings = ", ".join(inner + name for name in shape.ratings)
    return Note("datasets.shape_lists" if shape.lists else "datasets.shape_rows", {**fields, "ratings": ratings})


IMPORTER = Importer(
    "datasets",
    "datasets.title",
    recognise,
    read=read,
    settings={"split": "datasets.settings.split", "missing": "datasets.settings.missing"},
    maps={ITEM: "datasets.maps.item_id", RATER: "datasets.maps.rater_id", RATING: "datasets.maps.rating"},
)
