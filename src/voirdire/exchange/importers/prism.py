"""The PRISM Alignment data: a person's scores of the answers of models in their own conversation, and the survey.

``utterances.jsonl`` has one scored answer a line, ``conversations.jsonl`` the same scores inside conversation_history,
``survey.jsonl`` what is known of the people, as ``prepare_conversations.py`` and ``prepare_survey.py`` of
github.com/HannahKirk/prism-alignment (commit 2572ed9) write them. The later release on Hugging Face calls the
categories of religion and ethnicity ``simplified`` or ``categorised``; all three names are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import question
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.published import first_of, records_of
from voirdire.exchange.importers.records import ID, Record
from voirdire.exchange.importers.tables import RATERS, RATINGS, frame

QUESTION = "score"
UTTERANCE = frozenset(("utterance_id", "user_id", "model_response", "score"))
CONVERSATION = frozenset(("conversation_id", "user_id", "conversation_history"))
SURVEY = frozenset(("user_id", "location", "stated_prefs"))
PLAIN = (
    *("age", "gender", "employment_status", "education", "marital_status", "english_proficiency", "study_locale"),
    *("lm_familiarity", "lm_indirect_use", "lm_direct_use", "lm_frequency_use"),
)
CATEGORIES = ("simplified", "categorised", "gpt4_categorised")
KEPT = ("conversation_id", "interaction_id", "turn", "within_turn_id", "conversation_type", "model_name")
FURTHER = (*KEPT, "model_provider", "included_in_balanced_subset")


@dataclass
class _Found:
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    people: list[dict[str, Any]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)


def recognise(path: Path) -> Recognition:
    """Utterances or conversations; the survey alone is explained."""
    kind = _kind(path)
    return NO if kind is None else nearly("research.prism.only_survey") if kind == "survey" else YES


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Scores by utterance; people with what the survey knows of them and without what they wrote."""
    asked = options.setting("question", default=QUESTION) or QUESTION
    found = _Found()
    for path in paths:
        kind = _kind(path)
        if kind is None:
            raise InputError("research.prism.unknown", file=str(path))
        if kind != "survey":
            found.kinds[kind] = str(path)
        if len(found.kinds) > 1:
            raise InputError("research.prism.twice", file=", ".join(found.kinds.values()))
        for record in records_of(path, account):
            with account.record(record):
                part = _Found()
                _KINDS[kind](record, asked, part, account)
                found.rows += part.rows
                found.items += part.items
                found.people += part.people
    return _tables(found, asked)


def _tables(found: _Found, asked: str) -> Tables:
    """The tables; people who only answered the survey are left out."""
    rated = {row["rater_id"] for row in found.rows}
    people = [person for person in found.people if person["rater_id"] in rated]
    notes = [Note("research.prism.once", {}, "warning")]
    if found.people:
        notes.append(Note("research.prism.people", {"count": len(people), "others": len(found.people) - len(people)}))
    return Tables(
        ratings=frame(found.rows, RATINGS),
        items=frame(found.items, ("item_id", "text", "prompt")),
        questions=frame([question(asked, "interval", 1, 100, text={"en": "Score of the answer, 1 to 100"})]),
        raters=frame(people, RATERS) if people else None,
        notes=tuple(notes),
    )


def _kind(path: Path) -> str | None:
    names = set(first_of(path))
    kinds = {"utterances": UTTERANCE, "conversations": CONVERSATION, "survey": SURVEY}
    return next((kind for kind, wanted in kinds.items() if wanted <= names), None)


def _utterance(record: Record, asked: str, found: _Found, account: Account) -> None:
    value = record.value
    if not isinstance(value, dict):
        raise record.error("importing.field_kind", "", value, wanted=dict)
    item = {"item_id": record.need("utterance_id", ID), "prompt": value.get("user_prompt")}
    texts = {"text": record.may("model_response", str)}
    known = {name: value.get(name) for name in FURTHER}
    _score(record, record.need("user_id", ID), asked, {**item, **texts, **known}, found, account)


def _conversation(record: Record, asked: str, found: _Found, account: Account) -> None:
    """Every answer of a model; it is named by conversation, turn and place in the turn."""
    rater, name = record.need("user_id", ID), record.need("conversation_id", ID)
    prompts: dict[Any, Any] = {}
    about = {key: record.value.get(key) for key in ("conversation_id", "conversation_type")}
    for turn in record.each("conversation_history"):
        number = turn.need("turn", int)
        if turn.need("role", str) == "user":
            prompts[number] = turn.value.get("content")
            continue
        place = turn.need("within_turn_id", int)
        item = {"item_id": f"{name}-{number}-{place}", "text": turn.may("content", str)}
        known = {key: turn.value.get(key) for key in ("turn", "within_turn_id", "model_name", "model_provider")}
        _score(turn, rater, asked, {**item, "prompt": prompts.get(number), **about, **known}, found, account)


def _score(record: Record, rater: str, asked: str, item: Mapping[str, Any], found: _Found, account: Account) -> None:
    account.read()
    score = record.may("score", float)
    found.items.append(dict(item))
    if score is None:
        account.left(MISSING, at=record)
        return
    if not 1 <= score <= 100:
        raise record.error("research.prism.score", "score", score)
    account.took()
    row = {"item_id": item["item_id"], "rater_id": rater, "question": asked, "rating": score}
    found.rows.append({**row, "if_chosen": record.value.get("if_chosen")})


def _person(record: Record, asked: str, found: _Found, account: Account) -> None:  # noqa: ARG001
    """A person without what they wrote, when they answered and the ids of the study."""
    person = {"rater_id": record.need("user_id", ID), **{name: record.value.get(name) for name in PLAIN}}
    for name in ("religion", "ethnicity"):
        inside = record.inside(name)
        person[name] = next((inside.value[key] for key in CATEGORIES if inside.value.get(key) is not None), None)
    person |= {name: place for name, place in record.inside("location").value.items() if not isinstance(place, dict)}
    found.people.append(person)


_KINDS = {"utterances": _utterance, "conversations": _conversation, "survey": _person}

IMPORTER = Importer(
    "prism",
    "research.prism.title",
    recognise,
    read=read,
    settings={"question": "research.votes.settings.question"},
)
