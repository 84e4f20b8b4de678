"""Rows of ratings, judgments and questions from answers to named questions: for Label Studio and Argilla.

A question from which one choice is made is one question. One from which several may be chosen becomes a question for
each choice, ``question: choice``, answered yes or no: several labels of one rater are no rating on any scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import Tables
from voirdire.exchange.importers.records import Record
from voirdire.exchange.importers.tables import RATINGS, frame, question

VOTES = ("a", "b", "tie")
JUDGED = ("item_id", "judge", "question", "rating", "status")
COMMENTS = ("item_id", "rater_id", "question", "written")
MOST_LEVELS = 11
RATING, CHOICES, NUMBER, PAIRWISE, TEXT = "rating", "choices", "number", "pairwise", "textarea"


@dataclass(frozen=True)
class Control:
    """A question as the tool's settings have it, and the scale of its answers as far as they tell it.

    labels : what the choices are called in the export, or the levels of a rating that are no whole numbers in a row
    multiple : several may be chosen; sides : of a pairwise question, the data fields of the left and the right thing
    text : its wording by language, where the language is known
    """

    name: str
    kind: str
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    multiple: bool = False
    sides: tuple[str, ...] = ()
    text: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """One answer. value : a number or a label; of choices, every label that was chosen."""

    question: str
    kind: str
    value: Any


@dataclass
class Given:
    """What one rater or judge said of one item.

    more : further columns of its rows; seen : names of the questions that something is said of
    """

    item: str
    who: str
    place: Record
    more: dict[str, Any] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


class Rows:
    """The rows, made after everything was read: only then it is known which labels there are.

    form : whose sentences are used, such as ``labelstudio``
    controls : what the tool's settings say of the questions, by name; empty where none are given
    """

    def __init__(self, form: str, controls: Mapping[str, Control], account: Account) -> None:
        self.form, self.controls, self.account = form, controls, account
        self.kinds: dict[str, str] = {name: one.kind for name, one in controls.items()}
        self.labels: dict[str, dict[str, None]] = {
            name: dict.fromkeys(one.labels) for name, one in controls.items() if one.kind == CHOICES
        }
        self.multiple = {name for name, one in controls.items() if one.multiple}
        self.ratings: list[dict[str, Any]] = []
        self.judgments: list[dict[str, Any]] = []
        self.comments: list[dict[str, Any]] = []

    @property
    def pairwise(self) -> bool:
        """Whether a question asks for votes between two things."""
        return PAIRWISE in self.kinds.values()

    @property
    def sides(self) -> tuple[str, ...]:
        """The data fields that the two things stand in, as the config tells them."""
        return next((one.sides for one in self.controls.values() if one.kind == PAIRWISE), ())

    def learn(self, everything: Sequence[Given]) -> None:
        """See which questions there are, and which labels."""
        for given in everything:
            for answer in given.answers:
                self.kinds.setdefault(answer.question, answer.kind)
                if answer.kind == CHOICES:
                    self.labels.setdefault(answer.question, {}).update(dict.fromkeys(answer.value))
                    if len(answer.value) > 1:
                        self.multiple.add(answer.question)

    def rate(self, rated: Sequence[Given], asked: Mapping[str, None] | None = None) -> None:
        """The rows of what raters said, and the places that they left empty.

        asked : the questions that everybody was asked; without it those that somebody answered in the same file
        """
        by_file: dict[str, dict[str, None]] = {}
        for given in rated:
            by_file.setdefault(given.place.file, {}).update(dict.fromkeys(sorted(given.seen)))
        for given in rated:
            self._rate(given, by_file[given.place.file] if asked is None else asked)

    def _rate(self, given: Given, asked: Mapping[str, None]) -> None:
        """The rows of what a rater said of an item; asked : questions that are, beside those of the settings."""
        who = {"item_id": given.item, "rater_id": given.who}
        for answer in given.answers:
            if answer.kind == TEXT:
                self.account.took()
                told = {"question": answer.question, "written": answer.value}
                self.comments.append({**who, **told, "answered_at": given.more.get("at")})
                continue
            for name, value in self._spread(answer):
                shown = {"shown_first": VOTES[0]} if answer.kind == PAIRWISE else {}
                self.ratings.append({**who, **given.more, "question": name, "rating": value, **shown})
        for name in {**dict.fromkeys(self.controls), **asked}:
            if name not in given.seen and self.kinds.get(name, TEXT) != TEXT:
                places = len(self.labels[name]) if name in self.multiple else 1
                self.account.read(places)
                self.account.left(MISSING, places, at=given.place)

    def judge(self, predicted: Sequence[Given]) -> None:
        """The rows of what models said."""
        for given in predicted:
            for answer in given.answers:
                if answer.kind == TEXT:
                    self.account.left(f"{self.form}.left.text", at=given.place)
                    continue
                for name, value in self._spread(answer):
                    row = {"item_id": given.item, "judge": given.who, "question": name, "rating": value, "status": "ok"}
                    self.judgments.append({**row, **given.more})
        self._number()

    def tables(self, items: pl.DataFrame, notes: tuple[Note, ...]) -> Tables:
        """All that was found."""
        questions = list(self._questions())
        return Tables(
            ratings=frame(self.ratings, RATINGS) if self.ratings or not self.judgments else None,
            items=items,
            questions=frame(questions) if questions else None,
            judgments=frame(self.judgments, JUDGED) if self.judgments else None,
            comments=frame(self.comments, COMMENTS) if self.comments else None,
            notes=notes,
        )

    def notes(self) -> Iterator[Note]:
        """What the reader should know of the scales."""
        open_ends = [name for name, kind in self.kinds.items() if kind == RATING and name not in self.controls]
        if open_ends:
            yield Note(f"{self.form}.note.scale", {"questions": ", ".join(open_ends)}, "warning")
        several = sorted(name for name in self.multiple if self.labels.get(name))
        if several:
            yield Note(f"{self.form}.note.multiple", {"questions": ", ".join(several)})
        if self.judgments:
            judges = dict.fromkeys(row["judge"] for row in self.judgments)
            yield Note(f"{self.form}.note.judged", {"count": len(self.judgments), "judges": ", ".join(judges)})

    def _spread(self, answer: Answer) -> Iterator[tuple[str, Any]]:
        """Question and rating of every row of an answer, counted as taken."""
        if answer.kind != CHOICES:
            self.account.took()
            yield answer.question, answer.value
        elif answer.question not in self.multiple:
            self.account.took()
            yield answer.question, answer.value[0]
        else:
            labels = self.labels[answer.question]
            self.account.read(len(labels) - 1)
            self.account.took(len(labels))
            for label in labels:
                yield f"{answer.question}: {label}", "yes" if label in answer.value else "no"

    def _number(self) -> None:
        """Number the answers of a judge that gave several, and say nothing where none did."""
        counts: dict[tuple[str, ...], int] = {}
        for row in self.judgments:
            key = (row["item_id"], row["judge"], row["question"])
            row["repeat"] = counts[key] = counts.get(key, -1) + 1
        if not any(counts.values()):
            for row in self.judgments:
                del row["repeat"]

    def _questions(self) -> Iterator[dict[str, Any]]:
        """Every question, with what is known of its scale."""
        for name, kind in self.kinds.items():
            control = self.controls.get(name, Control(name, kind))
            worded: dict[str, Any] = {"text": control.text}
            if kind == PAIRWISE:
                yield question(name, "pairwise", labels=VOTES, **worded)
            elif name in self.multiple:
                for label in self.labels[name]:
                    told = {language: f"{said}: {label}" for language, said in control.text.items()}
                    yield question(f"{name}: {label}", "nominal", labels=("no", "yes"), positive="yes", text=told)
            elif kind == CHOICES and control.labels:
                yield _choices(name, tuple(self.labels[name]), worded)
            elif kind == RATING and control.labels:
                yield question(name, "ordinal", labels=control.labels, **worded)
            elif kind in (RATING, NUMBER) and None not in (control.low, control.high):
                level = "ordinal" if kind == RATING else "interval"
                yield question(name, level, control.low, control.high, **worded)
            elif kind != TEXT:
                yield question(name, **worded)


def _choices(name: str, labels: Sequence[str], worded: Mapping[str, Any]) -> dict[str, Any]:
    """Whole numbers in a row are an ordinal scale; labels without an order otherwise."""
    whole = [int(label) for label in labels if label.lstrip("-").isascii() and label.lstrip("-").isdigit()]
    whole.sort()
    in_row = len(whole) == len(labels) > 1 and all(b - a == 1 for a, b in pairwise(whole))
    if in_row and len(labels) <= MOST_LEVELS:
        return question(name, "ordinal", whole[0], whole[-1], **worded)
    return question(name, "nominal", labels=labels, **worded)
