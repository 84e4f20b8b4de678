"""Feedback of LangSmith, as its client lists it: ``client.list_feedback(...)`` written as a JSON array or JSONL.

The fields are those of ``Feedback`` of the package langsmith 0.15.1 (MIT), which made the fixtures: ``id``, ``run_id``,
``key``, ``score``, ``value``, ``comment``, ``created_at`` and ``feedback_source`` (``type``, ``user_id``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.judged import scores_in
from voirdire.exchange.importers.records import ID, Record, head_columns
from voirdire.exchange.importers.scored import (
    HUMAN,
    MODEL,
    PROGRAM,
    SETTINGS,
    Score,
    fields_of,
    read_scores,
    records_of,
    shared_scores,
)

SOURCES = {"app": HUMAN, "model": MODEL, "auto_eval": MODEL, "api": PROGRAM}


def recognise(path: Path) -> Recognition:
    """Feedback by its fields; a csv of it cannot be read back."""
    if not {"run_id", "key", "score", "feedback_source"} <= fields_of(path):
        return NO
    return nearly("langsmith.csv") if head_columns(path) else YES


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Feedback of people in the app as ratings, of evaluators as judgments."""
    shared = shared_scores(records_of(paths, Account(skip_broken=True)), _tell)
    made = read_scores(paths, records_of(paths, account), _tell, options, account, shared)
    return replace(made, personal_ids=True)


def _tell(record: Record) -> list[Score]:
    source = record.inside("feedback_source")
    kind = source.need("type", str)
    if kind not in SOURCES:
        raise source.error("scored.source", "type", kind, known=", ".join(SOURCES))
    by = SOURCES[kind]
    value = record.value.get("score")
    given = record.value.get("value") if value is None else value
    key, comment = record.need("key", str), record.may("comment", str)
    who = source.may("user_id", ID) if by != MODEL else kind
    return [
        Score(
            record.need("run_id", ID), by, who or (kind if by == PROGRAM else None), name, one,
            at=utc(record.value.get("created_at")), raw=comment if by != HUMAN else None, comment=comment,
            scorer=key,
        )
        for name, one in scores_in(key, given).items()
    ]  # fmt: skip


IMPORTER = Importer("langsmith", "langsmith.title", recognise, read=read, settings=dict(SETTINGS))
