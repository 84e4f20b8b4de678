"""The Alternative Annotator Test: annotations of people and of LLMs, an object of annotator -> instance -> label.

``human_annotations.json`` and ``llm_annotations.json`` have the same shape, and ``prompts.json`` is an object of
instance -> text_id, str_prompt, chat_prompt: the readme and data of github.com/nitaytech/AltTest (commit cc1d1f4). An
object of instance -> label, as the function of the test takes it, is one LLM.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import JUDGMENTS, PANDAS_MISSING, cell
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.judged import NONE, row
from voirdire.exchange.importers.published import columns
from voirdire.exchange.importers.records import Record, head_of, json_records
from voirdire.exchange.importers.tables import RATINGS, frame

ABSENT = PANDAS_MISSING - {"None"}
"""Labels that say that there is none; ``None`` may be a label, as JSON has null."""

PEOPLE, MODELS, PROMPTS = "human_annotations", "llm_annotations", "prompts"
_TEXT = r'"(?:[^"\\]|\\.)*"'
_NESTED = re.compile(rf"\s*\{{\s*{_TEXT}\s*:\s*\{{\s*({_TEXT})\s*:")
_FLAT = re.compile(rf"\s*\{{\s*{_TEXT}\s*:\s*(?:{_TEXT}|-?[\d.]+|null|true|false)\s*[,}}]")
_PROMPT = ("text_id", "str_prompt", "chat_prompt")


@dataclass
class _Found:
    ratings: list[dict[str, Any]] = field(default_factory=list)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)


def recognise(path: Path) -> Recognition:
    """Files called as in the repository and of that shape; prompts alone are explained."""
    if path.suffix != ".json" or not path.is_file():
        return NO
    head = head_of(path)
    if _is_prompts(head):
        return nearly("research.alttest.only_prompts")
    named = PEOPLE in path.stem or MODELS in path.stem
    return YES if named and (_NESTED.match(head) or (MODELS in path.stem and _FLAT.match(head))) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Annotations of people as ratings, of LLMs as judgments; prompts as the items' texts."""
    asked = options.setting("question", default="label") or "label"
    models = [name.strip() for name in (options.setting("judges", default="") or "").split(",") if name.strip()]
    found = _Found()
    for path in paths:
        head = head_of(path)
        if _is_prompts(head):
            found.items += _prompts(path, account)
        elif _FLAT.match(head):
            _labels(Record(_flat(path, account), str(path), 1, key=path.stem), asked, True, found, account)
        else:
            judged = _judged(path, models)
            for record in json_records(path, account, entries=True):
                _labels(record, asked, judged, found, account)
    return Tables(
        ratings=frame(found.ratings, RATINGS) if found.ratings else None,
        judgments=frame(found.judgments, JUDGMENTS) if found.judgments else None,
        items=frame(found.items, ("item_id", "text")) if found.items else None,
    )


def _is_prompts(head: str) -> bool:
    match = _NESTED.match(head)
    return match is not None and match[1].strip('"') in _PROMPT


def _judged(path: Path, models: Sequence[str]) -> bool:
    """Whether a file holds annotations of LLMs: the file does not say it, its name does."""
    if path.name in models or MODELS in path.stem:
        return True
    if models or PEOPLE in path.stem:
        return False
    raise InputError("research.alttest.whose", file=str(path), value=path.name)


def _flat(path: Path, account: Account) -> dict[str, Any]:
    return {record.key: record.value for record in json_records(path, account, entries=True)}


def _labels(record: Record, asked: str, judged: bool, found: _Found, account: Account) -> None:
    """The labels of one annotator; each is a record of its own, in the line where the annotator begins."""
    with account.record(record):
        if not isinstance(record.value, dict):
            raise record.error("importing.field_kind", record.key, record.value, wanted=dict)
    for instance, label in record.value.items() if isinstance(record.value, dict) else ():
        with account.record(record):
            account.read()
            if isinstance(label, list | dict):
                raise record.error("importing.field_kind", f"{record.key}.{instance}", label, wanted=str)
            value = cell(label)
            if value is None or value.strip() in ABSENT:
                account.left(MISSING, at=record)
                continue
            account.took()
            if judged:
                cells = {"item_id": instance, "judge": record.key, "condition": NONE}
                found.judgments.append(row(cells, asked, value))
            else:
                cells = {"item_id": instance, "rater_id": record.key}
                found.ratings.append({**cells, "question": asked, "rating": value})


def _prompts(path: Path, account: Account) -> list[dict[str, Any]]:
    made = []
    for record in json_records(path, account, entries=True):
        with account.record(record):
            record.may("text_id", object)
            plain = {name: one for name, one in record.value.items() if not isinstance(one, list | dict)}
            text = plain.pop("str_prompt", None)
            made.append({"item_id": record.key, "text": text, **columns(plain)})
    return made


IMPORTER = Importer(
    "alttest",
    "research.alttest.title",
    recognise,
    read=read,
    settings={"question": "research.alttest.settings.question", "judges": "research.alttest.settings.judges"},
)
