"""DICES-350 and DICES-990: a row a rater and conversation, with a column for every question and who the rater is.

The columns are those of ``350/README.md`` and ``990/README.md`` of github.com/google-research-datasets/dices-dataset;
``rater_education``, ``phase`` and ``rater_raw_race`` (``rater_race_raw`` in 990) are not in them; the loader of
TensorFlow Datasets has them, and they are read where they are there. The four answers to the first question are worded
as in that loader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import question, utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.known import PERSON, Known
from voirdire.exchange.importers.published import first_of
from voirdire.exchange.importers.records import ID, Record, delimited_records
from voirdire.exchange.importers.tables import RATERS, RATINGS, frame

WANTED = frozenset(("rater_id", "item_id", "context", "response", "Q_overall"))
ANSWERS = ("Yes", "No", "Unsure")
WHOLE = "Q1_whole_conversation_evaluation"
WHOLE_ANSWERS = (
    "None of the above - it is in English, it makes sense, and I am familiar with the topic",
    "It is nonsensical (repetitive, incomprehensible, gibberish)",
    "I am not familiar with the topic of the conversation",
    "It is in a language other than English",
)
ITEMS = ("context", "response", "degree_of_harm", "harm_type")
GOLD = "safety_gold"
WORDS = ("rater_raw_race", "rater_race_raw", "safety_gold_reason")
MILLISECONDS = 10**11
"""Numbers of seconds since 1970 are below this until the year 5138; above it they are milliseconds."""


@dataclass
class _Found:
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: Known = field(default_factory=Known)
    people: Known = field(default_factory=lambda: Known(PERSON))
    columns: Sequence[str] = ()
    labels: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)


def recognise(path: Path) -> Recognition:
    """A csv with the columns of DICES."""
    return YES if path.suffix != ".json" and set(first_of(path)) >= WANTED else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The answers to every question, or to those of --set questions."""
    wanted = [name.strip() for name in (options.setting("questions", default="") or "").split(",") if name.strip()]
    found = _Found()
    for path in paths:
        columns, records = delimited_records(path, account)
        if found.columns and set(columns) != set(found.columns):
            raise InputError("research.dices.several", file=", ".join(map(str, paths)))
        found.columns = columns
        asked = [name for name in columns if name.startswith("Q")]
        wrong = next((name for name in wanted if name not in asked), None)
        if wrong is not None:
            raise InputError("research.dices.question", file=str(path), value=wrong, known=", ".join(asked))
        found.words += [name for name in WORDS if name in columns and name not in found.words]
        for record in records:
            with account.record(record):
                _row(record, asked, wanted or asked, found, account)
    notes = [Note("research.dices.polarity")]
    if found.words:
        notes.append(Note("research.dices.words", {"columns": ", ".join(found.words)}))
    if any("true_safety_gold" in item for item in found.items.rows.values()):
        notes.append(Note("research.dices.gold"))
    return Tables(
        ratings=frame(found.rows, RATINGS),
        items=frame(found.items.rows.values(), ("item_id", "text")),
        questions=frame([_question(name, labels) for name, labels in found.labels.items()]),
        raters=frame(found.people.rows.values(), RATERS),
        notes=tuple(notes),
    )


def _row(record: Record, asked: Sequence[str], wanted: Sequence[str], found: _Found, account: Account) -> None:
    account.read(len(asked))
    rater, item, value = record.need("rater_id", ID), record.need("item_id", ID), record.value
    rows = []
    for name in asked:
        answer = value.get(name)
        if name not in wanted:
            account.left("research.dices.left.question")
        elif answer is None or answer.casefold() in ("nan", "na"):
            account.left(MISSING, at=record)
        elif name != WHOLE and answer not in ANSWERS:
            raise record.error("research.dices.answer", name, answer, known=", ".join(ANSWERS))
        else:
            account.took()
            rows.append({"item_id": item, "rater_id": rater, "question": name, "rating": answer} | _times(value))
    for row in rows:
        known = found.labels.setdefault(row["question"], [])
        known += [row["rating"]] if row["rating"] not in known else []
    person = {"rater_id": rater, **_person(value)}
    found.people.check(rater, person, record)
    found.items.keep(item, {"item_id": item, **_item(value)}, record)
    found.people.keep(rater, person, record)
    found.rows += rows


def _item(value: Mapping[str, str | None]) -> dict[str, Any]:
    """The conversation with its last answer as the text; the expert's label where no number uses it."""
    text = "\n".join(part for part in (value.get("context"), value.get("response")) if part)
    gold = {f"true_{GOLD}": value[GOLD]} if GOLD in value else {}
    return {"text": text, **{name: value.get(name) for name in ITEMS}, **gold}


def _person(value: Mapping[str, str | None]) -> dict[str, Any]:
    known = {name.removeprefix("rater_"): value[name] for name in value if name.startswith("rater_")}
    known = {name: one for name, one in known.items() if name not in ("id", "raw_race", "race_raw")}
    return {**known, **({"phase": value["phase"]} if "phase" in value else {})}


def _times(value: Mapping[str, str | None]) -> dict[str, Any]:
    took, moment = value.get("answer_time_ms"), value.get("answer_timestamp")
    seconds = float(took) / 1000 if took and took.isdecimal() else None
    number = int(moment) if moment and moment.isdecimal() else None
    at = None if number is None else utc(number, 0.001 if number >= MILLISECONDS else 1.0)
    return {"seconds": seconds, "at": at}


def _question(name: str, labels: Sequence[str]) -> dict[str, Any]:
    if name == WHOLE:
        others = sorted(label for label in labels if label not in WHOLE_ANSWERS)
        return question(name, "nominal", labels=(*WHOLE_ANSWERS, *others))
    return question(name, "nominal", labels=ANSWERS, positive="Yes", text={"en": _words(name)})


def _words(name: str) -> str:
    """What a column asks, as the readme has it for every one of them."""
    about = name.partition("_")[2].removesuffix("overall").strip("_").replace("_", " ")
    return "Is the last response unsafe?" if not about else f"Is the last response unsafe because of this: {about}?"


IMPORTER = Importer(
    "dices",
    "research.dices.title",
    recognise,
    read=read,
    settings={"questions": "research.dices.settings.questions"},
)
