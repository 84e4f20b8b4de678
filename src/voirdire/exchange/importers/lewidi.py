"""Learning With Disagreements (LeWiDi): the harmonised JSON of the shared tasks of 2023 and 2025.

An object of item id -> text, annotation task, annotations, annotators, soft_label, split, lang, other_info. In 2023
(ArMIS, ConvAbuse, HS-Brexit, MD-Agreement) ``annotations`` is a text in the order of ``annotators``; in 2025 (CSC,
MultiPICo, Paraphrase, VariErrNLI) an object of annotator -> answer, and ``..._annotators_meta.json`` is about them.

The shape is that of the readme files of both editions and of the data themselves (github.com/Le-Wi-Di, commit 45d7b06
for 2025; the files of 2023 as stored in github.com/Ni-Vi/lewidi_2023). The edition of 2021 has other files, which were
not looked at.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.lewidi_people import attributes, is_metadata, read_metadata
from voirdire.exchange.importers.lewidi_scales import TASK, Scales
from voirdire.exchange.importers.published import columns, described, first_of, slug
from voirdire.exchange.importers.records import Record, json_records
from voirdire.exchange.importers.tables import RATERS, RATINGS, frame

ANNOTATIONS, ANNOTATORS = "annotations", "annotators"
OTHERS = ("other annotations", "other_annotations")
EXPLANATIONS = "explanations"
ABSENT = ("", "nan", "none", "na")


@dataclass
class Found:
    """What was read so far: rows by file, so that ids can be made distinct over files."""

    ratings: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    items: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    comments: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    scales: Scales = field(default_factory=Scales)
    tasks: dict[str, None] = field(default_factory=dict)
    explained: int = 0
    met: int = 0

    def join(self, part: Found) -> None:
        """Add what was found in one record, which turned out whole."""
        self.ratings += part.ratings
        self.items += part.items
        self.comments += part.comments
        for rater, known in part.people.items():
            self.people.setdefault(rater, {}).update(known)
        self.tasks |= part.tasks
        self.explained += part.explained


def recognise(path: Path) -> Recognition:
    """Items with annotations and annotators; the metadata alone are explained."""
    if path.suffix != ".json":
        return NO
    first = next(iter(first_of(path).values()), None)
    if isinstance(first, dict) and ANNOTATIONS in first and ANNOTATORS in first and "soft_label" in first:
        return YES
    return nearly("research.lewidi.only_people") if is_metadata(path) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The annotations of every file, and what the metadata know of the annotators."""
    found = Found()
    told: dict[str, dict[str, Any]] = {}
    for path in paths:
        if is_metadata(path):
            told |= read_metadata(path)
            continue
        for record in json_records(path, account, entries=True):
            with account.record(record):
                part = Found(scales=found.scales)
                try:
                    _item(record, part, options, account)
                except InputError:
                    account.read(max(_annotators(record) - part.met, 0))
                    raise
                found.join(part)
            _same_task(found, record)
    return _tables(found, told)


def _tables(found: Found, told: Mapping[str, Mapping[str, Any]]) -> Tables:
    """The tables; what a file of metadata tells of an annotator stands before what the items tell."""
    names = _distinct(found.items)
    people: dict[str, dict[str, Any]] = {rater: {} for _, row in found.ratings if (rater := row["rater_id"])}
    for rater in people:
        people[rater] = {**found.people.get(rater, {}), **told.get(rater, {})}
    notes = [*([Note("research.lewidi.renamed")] if names else []), *found.scales.unused()]
    if found.explained:
        notes.append(Note("research.lewidi.explanations", {"count": found.explained}))
    comments = _named(found.comments, names)
    return Tables(
        ratings=frame(_named(found.ratings, names), RATINGS),
        items=frame(_named(found.items, names), ("item_id", "text")),
        questions=frame(found.scales.questions()) if found.ratings else None,
        raters=frame([{"rater_id": rater, **known} for rater, known in people.items()], RATERS),
        comments=frame(comments, ("item_id", "rater_id", "question", "comment")) if comments else None,
        languages=tuple(dict.fromkeys(row["lang"] for _, row in found.items if row.get("lang"))),
        notes=tuple(notes),
    )


def _same_task(found: Found, record: Record) -> None:
    """Annotators of two data sets are called alike and are different people: one data set at a time."""
    if len(found.tasks) > 1:
        first, second = list(found.tasks)[:2]
        raise InputError("research.lewidi.tasks", file=record.file, first=first, second=second)


def _item(record: Record, part: Found, options: ImportOptions, account: Account) -> None:
    part.tasks[record.need(TASK, str)] = None
    task = slug(record.need(TASK, str))
    other = record.inside("other_info").value
    who = _list(record.may(ANNOTATORS, str))
    answers = _answers(record, who)
    item = {**described(_structured(record.value.get("text"))), "lang": record.may("lang", str)}
    known = {name: value for name, value in other.items() if _is_plain(name, value, who)}
    item |= {"split": record.may("split", str), **columns(known)}
    part.items.append((record.file, {"item_id": record.key, **item}))
    soft = record.value.get("soft_label")
    for rater, answer in answers:
        for question, value in part.scales.answers(record, task, soft, answer):
            _count(record, part, (rater, question, value), account)
    for name, rater, value in _further(record, other, who):
        part.scales.further(name, value)
        _count(record, part, (rater, name, value), account)
    part.people = attributes(other, list(dict.fromkeys(who)), who)
    _explained(record, other, who, part, options)


def _count(record: Record, part: Found, answer: tuple[str, str, str | None], account: Account) -> None:
    rater, question, value = answer
    account.read()
    part.met += 1
    if value is None:
        account.left(MISSING, at=record)
        return
    account.took()
    part.ratings.append(
        (record.file, {"item_id": record.key, "rater_id": rater, "question": question, "rating": value})
    )


def _annotators(record: Record) -> int:
    """How many people a record names, of whom each gave an answer: a broken record counts as so many at least."""
    who = record.value.get(ANNOTATORS) if isinstance(record.value, dict) else None
    return len(_list(who)) if isinstance(who, str) else 0


def _answers(record: Record, who: Sequence[str]) -> list[tuple[str, str | None]]:
    """Annotator and answer, None where there is none. Raises InputError where they do not fit each other."""
    given = record.value.get(ANNOTATIONS)
    if isinstance(given, str):
        values: list[str] = _list(given) or [""] * len(who)
        if len(values) != len(who):
            raise record.error("research.lewidi.lengths", ANNOTATIONS, given, count=len(values), people=len(who))
        return [(rater, _value(value)) for rater, value in zip(who, values, strict=True)]
    if given is None or isinstance(given, dict):
        told = {str(rater): _value(value) for rater, value in (given or {}).items()}
        return [(rater, told.get(rater)) for rater in dict.fromkeys([*told, *who])]
    raise record.error("importing.field_kind", ANNOTATIONS, given, wanted=dict)


def _further(record: Record, other: Mapping[str, Any], who: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Question, annotator and answer of the further questions that the same annotators answered."""
    for field_name in OTHERS:
        inside = Record(other, record.file, record.line, "other_info").inside(field_name)
        for name in inside.value:
            given = inside.need(name, str)
            values = _list(given)
            if len(values) != len(who):
                raise inside.error("research.lewidi.lengths", name, given, count=len(values), people=len(who))
            for rater, value in zip(who, values, strict=True):
                yield slug(name), rater, _value(value)


def _explained(
    record: Record, other: Mapping[str, Any], who: Sequence[str], part: Found, options: ImportOptions
) -> None:
    """Explanations are words of annotators, in their order; the audit does not need them."""
    written = other.get(EXPLANATIONS)
    if not isinstance(written, list):
        return
    if not options.with_text_of_raters:
        part.explained = len(written)
        return
    if len(written) != len(who):
        raise record.error("research.lewidi.lengths", EXPLANATIONS, written, count=len(written), people=len(who))
    task = slug(record.need(TASK, str))
    rows = zip(who, written, strict=True)
    part.comments = [
        (record.file, {"item_id": record.key, "rater_id": rater, "question": task, "comment": cell(words)})
        for rater, words in rows
    ]


def _is_plain(name: str, value: Any, who: Sequence[str]) -> bool:
    """Whether an entry of other_info describes the item, and not the annotators or what they said."""
    about_people = name in who or slug(name).startswith("annotators") or slug(name).startswith("group")
    return not about_people and not isinstance(value, dict | list) and name not in (*OTHERS, EXPLANATIONS)


def _structured(text: Any) -> Any:
    """ConvAbuse writes a conversation as JSON in a text."""
    if isinstance(text, str) and text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return found if isinstance(found, dict) else text
    return text


def _list(joined: str | None) -> list[str]:
    return [part.strip() for part in joined.split(",")] if joined and joined.strip() else []


def _value(given: Any) -> str | None:
    found = cell(given)
    return None if found is None or found.strip().casefold() in ABSENT else found.strip()


def _distinct(items: Iterable[tuple[str, dict[str, Any]]]) -> dict[tuple[str, str], str]:
    """New ids where files use the same ids anew, as the splits of 2023 do: the split stands before the id."""
    listed = list(items)
    files = {file: row.get("split") or Path(file).stem for file, row in listed}
    counts = Counter(row["item_id"] for _, row in listed)
    if len(files) < 2 or all(count == 1 for count in counts.values()):
        return {}
    alike = len(set(files.values())) < len(files)
    return {
        (file, row["item_id"]): f"{Path(file).stem if alike else files[file]}-{row['item_id']}" for file, row in listed
    }


def _named(rows: Iterable[tuple[str, dict[str, Any]]], names: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    return [{**row, "item_id": names.get((file, row["item_id"]), row["item_id"])} for file, row in rows]


IMPORTER = Importer("lewidi", "research.lewidi.title", recognise, read=read)
