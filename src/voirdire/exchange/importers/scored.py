"""What exports of scores share, in which people, models and programs scored the same things: ratings and judgments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import JUDGMENTS, RATINGS, cell, frame
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.jsonwalk import DECODER
from voirdire.exchange.importers.judged import Naming
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import (
    Record,
    delimited_records,
    head_columns,
    head_of,
    head_record,
    json_records,
    jsonl_records,
)

HUMAN, MODEL, PROGRAM = "human", "model", "program"
TAKE, PROGRAMS = ("both", "ratings", "judgments"), ("leave", "judge", "rater")
SETTINGS: Mapping[str, str] = {
    **judged.SETTINGS,
    "take": "scored.settings.take",
    "programs": "scored.settings.programs",
}
LEFT_PROGRAM, LEFT_TAKE = "scored.left.program", "scored.left.take"


@dataclass(frozen=True)
class Score:
    """One score.

    by : who gave it: human, model or program; who : the id of that person, or the name of the judge
    left : why it is left out whatever it says; None for most
    scorer : what gave a score that is one of several of an object; about : what is said of the item, to know it again
    """

    item: str | None
    by: str
    who: str | None
    question: str
    value: Any
    status: str = judged.OK
    at: str | None = None
    raw: str | None = None
    comment: str | None = None
    left: str | None = None
    scorer: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)


Tell = Callable[[Record], list[Score]]


def read_scores(
    paths: Sequence[Path],
    records: Iterator[Record],
    tell: Tell,
    options: ImportOptions,
    account: Account,
    shared: frozenset[str] = frozenset(),
) -> Tables:
    """Ratings of people and judgments of models, of records that a format tells apart.

    shared : names of scores that stand behind those of their scorers, as several give one (``shared_scores``)
    """
    naming = Naming.of(options, item="{item}", judge="{judge}", condition=judged.NONE)
    made = _Made(
        naming,
        options.setting("take", TAKE, "both") or "both",
        options.setting("programs", PROGRAMS, "leave") or "leave",
        options.with_text_of_raters,
        judged.known_items(options, f"{{file}} {naming.item}"),
    )
    for record in records:
        with account.record(record):
            scores = [_apart(score, shared) for score in tell(record)]
            found = [(score, made.take_in(record, score, account)) for score in scores]
            made.add(found)
    if naming.scores or naming.questions:
        judged.check_scores(naming, made.names, ", ".join(map(str, paths)))
    return made.tables()


def shared_scores(records: Iterator[Record], tell: Tell) -> frozenset[str]:
    """Names of scores that several scorers give; what is broken is passed over, as reading will say it."""
    account, pairs = Account(skip_broken=True), set[tuple[str, str]]()
    for record in records:
        with account.record(record):
            pairs |= {(score.scorer or score.question, score.question) for score in tell(record)}
    return judged.shared_names(pairs)


def _apart(score: Score, shared: frozenset[str]) -> Score:
    name = judged.told_apart(score.scorer or score.question, score.question, shared)
    return score if name == score.question else replace(score, question=name)


@dataclass
class _Made:
    """Rows as they come."""

    naming: Naming
    take: str
    programs: str
    with_text: bool
    items: Known
    ratings: list[dict[str, Any]] = field(default_factory=list)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    comments: int = 0

    def take_in(self, record: Record, score: Score, account: Account) -> dict[str, Any] | None:
        """The row of a score, counted; None where it is left out."""
        account.read()
        human = self._human(score)
        reason = self._left(score, human)
        if reason is not None:
            account.left(reason, at=record)
            return None
        account.took()
        known = {**record.value, "item": score.item, "judge": score.who, "file": Path(record.file).name}
        question = self.naming.question(score.question)
        if not human:
            where = self.naming.cell_of(known, record)
            self.items.keep(where["item_id"], score.about, record)
            return judged.row(where, question, score.value, score.status, raw=score.raw)
        if score.who is None:
            raise record.error("scored.no_rater")
        item = self.naming.item_of(known, record)
        row = {"item_id": item, "rater_id": score.who, "question": question, "rating": score.value}
        return {**row, "at": score.at, "comment": score.comment if self.with_text else None}

    def add(self, found: Sequence[tuple[Score, dict[str, Any] | None]]) -> None:
        """The rows of a record that turned out whole."""
        for score, row in found:
            self.names.append(score.question)
            if row is None:
                continue
            self.comments += "rater_id" in row and score.comment is not None and not self.with_text
            (self.ratings if "rater_id" in row else self.judgments).append(row)

    def tables(self) -> Tables:
        """The tables; the same cell again is a further repeat, as nothing in these exports numbers them."""
        seen: dict[tuple[Any, ...], int] = {}
        for row in self.judgments:
            place = tuple(row[name] for name in ("item_id", "judge", "condition", "question"))
            row["repeat"] = seen[place] = seen.get(place, 0) + 1
        notes = [Note("scored.note.comments", {"count": self.comments})] if self.comments else []
        return Tables(
            ratings=frame(self.ratings, RATINGS) if self.ratings else None,
            judgments=frame(self.judgments, JUDGMENTS) if self.judgments else None,
            notes=tuple(notes),
        )

    def _human(self, score: Score) -> bool:
        return score.by == HUMAN or (score.by == PROGRAM and self.programs == "rater")

    def _left(self, score: Score, human: bool) -> str | None:
        if score.left is not None:
            return score.left
        if score.by == PROGRAM and self.programs == "leave":
            return LEFT_PROGRAM
        if self.take == ("judgments" if human else "ratings"):
            return LEFT_TAKE
        if not self.naming.wanted(score.question):
            return judged.NOT_ASKED
        return MISSING if human and cell(score.value) is None else None


def records_of(paths: Sequence[Path], account: Account, holder: str = "data") -> Iterator[Record]:
    """Records of files: a JSON array, an object that holds one under ``holder``, JSONL, or a csv."""
    for path in paths:
        head = head_of(path, 4096).lstrip()
        if head[:1] not in ("[", "{"):
            yield from delimited_records(path, account)[1]
        elif head[:1] == "[":
            yield from json_records(path, account)
        elif ".jsonl" in path.suffixes or ".ndjson" in path.suffixes or holder not in fields_of(path, holder):
            yield from jsonl_records(path, account)
        else:
            yield from json_records(path, account, (holder,))


def fields_of(path: Path, holder: str = "data") -> set[str]:
    """The fields of the first record of a file, for recognising it; ``holder`` too where records stand in it."""
    head = head_record(path)
    if not isinstance(head, dict):
        return set(head_columns(path))
    text = head_of(path)
    held = re.match(rf'\s*\{{\s*"{holder}"\s*:\s*\[\s*', text)
    if held is None:
        return set(head)
    try:
        first = DECODER.raw_decode(text, held.end())[0]
    except (ValueError, RecursionError):
        first = None
    return {*head, holder, *(first if isinstance(first, dict) else ())}
