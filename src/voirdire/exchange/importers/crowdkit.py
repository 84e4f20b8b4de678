"""Tables of Crowd-Kit: one row a label, ``task, worker, label``; comparisons ``worker, left, right, label``.

The shapes are those that crowdkit.aggregation and crowdkit.datasets of Crowd-Kit 1.4 (Apache-2.0) take and give:
``task, worker, label`` for classification (before 1.0 ``performer`` for ``worker``), ``worker, left, right, label`` for
pairwise comparisons, where ``label`` is the one of the two that won, and ``task`` with ``true_label`` for true labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.columns import normal
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import PANDAS_MISSING
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.records import ID, Record, delimited_records, head_columns
from voirdire.exchange.importers.said_sides import say_sides
from voirdire.exchange.importers.tables import RATINGS, frame, question

TASK, WORKER, LABEL, LEFT, RIGHT = "task", "worker", "label", "left", "right"
TIES = ("tie", "draw", "equal", "both", "平")
NAMES = {TASK: (TASK,), WORKER: (WORKER, "performer"), LABEL: (LABEL,), LEFT: (LEFT,), RIGHT: (RIGHT,)}
TRUE = ("true_label", "gt", "ground_truth")
TEXTS = ("text", "output", "segmentation")


def recognise(path: Path) -> Recognition:
    """Labels and comparisons by the names of their columns; texts and segmentations are explained."""
    names = {normal(name) for name in head_columns(path)}
    if not names & {*NAMES[WORKER]}:
        return NO
    if {TASK, LABEL} <= names or {LEFT, RIGHT, LABEL} <= names:
        return YES
    return nearly("crowdkit.texts") if TASK in names and names & {*TEXTS} else NO


@dataclass
class _Pairs:
    """Pairs of things and the ids of their items; the order in which a pair first occurs is kept."""

    ids: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, left: str, right: str) -> tuple[str, bool]:
        """The item of two things, and whether they stand the other way round in it."""
        if (right, left) in self.ids:
            return self.ids[right, left], True
        if (left, right) not in self.ids:
            name = f"{left} | {right}"
            used = set(self.ids.values())
            number = 2
            while name in used:
                name, number = f"{left} | {right} #{number}", number + 1
            self.ids[left, right] = name
        return self.ids[left, right], False

    def items(self) -> list[dict[str, Any]]:
        """The items table."""
        return [{"item_id": item, "a": left, "b": right} for (left, right), item in self.ids.items()]


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Labels or comparisons, and files of true labels beside them."""
    asked = options.setting("question", default=LABEL) or LABEL
    rows: list[dict[str, Any]] = []
    truths: dict[str, dict[str, Any]] = {}
    pairs, notes = _Pairs(), []
    for path in paths:
        columns, records = delimited_records(path, account)
        names = _columns(path, columns, options)
        if WORKER not in names:
            truths |= _truths(records, names, columns, path)
            notes.append(Note("crowdkit.true_labels", {"file": path.name, "count": len(truths)}))
        elif LEFT in names:
            rows += _compared(records, names, asked, pairs, account)
        else:
            rows += _labelled(records, names, asked, account)
    if pairs.ids and any("shown_first" not in row for row in rows):
        raise InputError("crowdkit.mixed", file=", ".join(map(str, paths)))
    say_sides(rows, pairs.items())
    items = pairs.items() or list(truths.values())
    questions = [question(asked, "pairwise", labels=("a", "b", "tie"))] if pairs.ids else []
    return Tables(
        ratings=frame(rows, RATINGS),
        items=frame(items, ("item_id",)) if items else None,
        questions=frame(questions) if questions else None,
        notes=tuple(notes),
    )


def _columns(path: Path, columns: Sequence[str], options: ImportOptions) -> dict[str, str]:
    """Our name of a column -> the file's. Raises InputError where one that is needed is missing."""
    found = {}
    for ours, theirs in NAMES.items():
        mapped = options.mapping.get(ours)
        known = [mapped] if mapped else [name for name in columns if normal(name) in theirs]
        if mapped and mapped not in columns:
            raise InputError("crowdkit.columns", file=str(path), value=mapped, known=", ".join(columns))
        if known:
            found[ours] = known[0]
    compared = LEFT in found or RIGHT in found
    truth = WORKER not in found and TASK in found and any(normal(name) in (*TRUE, LABEL) for name in columns)
    needed = (TASK,) if truth else (WORKER, LEFT, RIGHT, LABEL) if compared else (TASK, WORKER, LABEL)
    lacking = [name for name in needed if name not in found]
    if lacking:
        raise InputError("crowdkit.columns", file=str(path), value=", ".join(lacking), known=", ".join(columns))
    return {ours: theirs for ours, theirs in found.items() if ours in needed}


def _truths(
    records: Iterable[Record], names: dict[str, str], columns: Sequence[str], path: Path
) -> dict[str, dict[str, Any]]:
    """Task -> its true label, which no statistic ever uses."""
    column = next((name for name in columns if normal(name) in (*TRUE, LABEL)), None)
    if column is None:
        raise InputError("crowdkit.columns", file=str(path), value=TRUE[0], known=", ".join(columns))
    return {
        task: {"item_id": task, "true_label": record.value[column]}
        for record in records
        if (task := record.need(names[TASK], ID))
    }


def _labelled(records: Iterable[Record], names: dict[str, str], asked: str, account: Account) -> list[dict[str, Any]]:
    rows = []
    for record in records:
        with account.record(record):
            account.read()
            row = {"item_id": record.need(names[TASK], ID), "rater_id": record.need(names[WORKER], ID)}
            label = record.may(names[LABEL], str)
            if label is None or label in PANDAS_MISSING:
                account.left(MISSING, at=record)
                continue
            account.took()
            more = {name: value for name, value in record.value.items() if name not in names.values()}
            rows.append({**row, "question": asked, "rating": label, **more})
    return rows


def _compared(
    records: Iterable[Record], names: dict[str, str], asked: str, pairs: _Pairs, account: Account
) -> list[dict[str, Any]]:
    """Votes for the first thing of the item (a), for the second (b), or a tie; the left thing is shown first."""
    rows = []
    for record in records:
        with account.record(record):
            account.read()
            left, right, rater = (record.need(names[name], ID) for name in (LEFT, RIGHT, WORKER))
            if left == right:
                raise record.error("crowdkit.same", names[RIGHT], right)
            label = record.may(names[LABEL], str)
            if label is None or label in PANDAS_MISSING:
                account.left(MISSING, at=record)
                continue
            vote = _vote(record, names[LABEL], label, left, right)
            item, turned = pairs.of(left, right)
            account.took()
            shown = "b" if turned else "a"
            if turned and vote != "tie":
                vote = "a" if vote == "b" else "b"
            rows.append({"item_id": item, "rater_id": rater, "question": asked, "rating": vote, "shown_first": shown})
    return rows


def _vote(record: Record, name: str, label: str, left: str, right: str) -> str:
    if label in (left, right):
        return "a" if label == left else "b"
    sides = {LEFT: "a", RIGHT: "b", **dict.fromkeys(TIES, "tie")}
    if label.casefold() not in sides:
        raise record.error("crowdkit.winner", name, label, left=left, right=right)
    return sides[label.casefold()]


IMPORTER = Importer(
    "crowdkit",
    "crowdkit.title",
    recognise,
    read=read,
    settings={"question": "crowdkit.settings.question"},
    maps=dict.fromkeys(NAMES, "crowdkit.maps.column"),
)
