"""Scores of Langfuse: its batch export of the table of scores (CSV, JSON, JSONL), and ``GET /api/public/scores``.

The fields are those of the types of the package langfuse 5.0.4 (``id``, ``traceId``, ``observationId``, ``sessionId``,
``name``, ``value``, ``stringValue``, ``dataType``, ``source``, ``authorUserId``, ``comment``, ``timestamp``), and of
the export in Langfuse's own source (worker/src/features/database-read-stream, 2026), which has ``authorUserName`` for
``authorUserId``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.records import ID, Record
from voirdire.exchange.importers.scored import (
    HUMAN,
    MODEL,
    PROGRAM,
    SETTINGS,
    Score,
    fields_of,
    read_scores,
    records_of,
)

SOURCES = {"ANNOTATION": HUMAN, "EVAL": MODEL, "API": PROGRAM}
KINDS = ("NUMERIC", "CATEGORICAL", "BOOLEAN")
THINGS = ("observationId", "traceId", "sessionId", "datasetRunId")
AUTHORS = ("authorUserId", "authorUserName")


def recognise(path: Path) -> Recognition:
    """Scores by their fields."""
    return YES if {"name", "source", "dataType", "value", "traceId"} <= fields_of(path) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Annotations as ratings, scores of evaluators as judgments."""
    made = read_scores(paths, records_of(paths, account), _tell, options, account)
    return replace(made, personal_ids=True)


def _tell(record: Record) -> list[Score]:
    record.need("id", ID)
    source = record.need("source", str)
    if source not in SOURCES:
        raise record.error("scored.source", "source", source, known=", ".join(SOURCES))
    kind = record.may("dataType", str) or KINDS[0]
    value: Any = record.value.get("stringValue") if kind == "CATEGORICAL" else record.value.get("value")
    by = SOURCES[source]
    author = next((record.value[name] for name in AUTHORS if record.value.get(name)), None)
    item = next((record.value[name] for name in THINGS if record.value.get(name)), None)
    who = source if by == MODEL else author or (source if by == PROGRAM else None)
    return [
        Score(
            item, by, who, record.need("name", str), value, at=utc(record.value.get("timestamp")),
            raw=record.may("comment", str) if by != HUMAN else None, comment=record.may("comment", str),
            left=None if kind in KINDS else "langfuse.left.text",
        )
    ]  # fmt: skip


IMPORTER = Importer("langfuse", "langfuse.title", recognise, read=read, settings=dict(SETTINGS))
