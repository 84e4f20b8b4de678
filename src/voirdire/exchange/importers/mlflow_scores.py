"""Assessments of MLflow's traces, and the table of ``mlflow.evaluate``.

Traces: ``mlflow.search_traces()`` written with ``to_json(orient="records")``, or a list of ``Trace.to_dict()``; each
has ``assessments`` as ``Assessment.to_dictionary`` of mlflow 3.17 (Apache-2.0) gives them, which made the fixtures:
``assessment_name``, ``trace_id``, ``source`` (``source_type`` HUMAN, LLM_JUDGE or CODE, ``source_id``), ``feedback``
(``value``, ``error``) or ``expectation``, ``valid``. The table is ``eval_results_table.json``: ``columns`` and
``data``, with a column ``NAME/v1/score`` for each metric that a model gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.records import ID, Record, head_columns, head_of, head_record, json_records
from voirdire.exchange.importers.scored import (
    HUMAN,
    MODEL,
    PROGRAM,
    SETTINGS,
    Score,
    read_scores,
    records_of,
    shared_scores,
)

SOURCES = {"HUMAN": HUMAN, "LLM_JUDGE": MODEL, "AI_JUDGE": MODEL, "CODE": PROGRAM}
_METRIC = re.compile(r"(?P<name>.+)/v[0-9]+/score")


def recognise(path: Path) -> Recognition:
    """Traces by their assessments, the table by its columns."""
    if {"trace_id", "assessments"} <= set(head_columns(path)):
        return nearly("mlflow.csv")
    head = head_record(path)
    if not isinstance(head, dict):
        return NO
    info = head.get("info")
    traces = "trace_id" in head and ("assessments" in head or '"assessments"' in head_of(path))
    return YES if traces or (isinstance(info, dict) and "assessments" in info) or _is_table(path) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Feedback of people as ratings, of models as judgments."""
    shared = shared_scores(_records(paths, Account(skip_broken=True)), _tell)
    made = read_scores(paths, _records(paths, account), _tell, options, account, shared)
    return replace(made, personal_ids=True)


def _is_table(path: Path) -> bool:
    head = head_record(path)
    columns = head.get("columns") if isinstance(head, dict) else None
    return isinstance(columns, list) and any(isinstance(name, str) and _METRIC.fullmatch(name) for name in columns)


def _records(paths: Sequence[Path], account: Account) -> Iterator[Record]:
    for path in paths:
        if _is_table(path):
            yield from _table(path, account)
        else:
            yield from records_of([path], account, "traces")


def _table(path: Path, account: Account) -> Iterator[Record]:
    """The rows of the table as records by column, with the number of each."""
    header = {part.key: part.value for part in json_records(path, Account(skip_broken=True), entries=True)}
    columns = [str(name) for name in header["columns"]]
    for number, row in enumerate(json_records(path, account, ("data",)), start=1):
        with account.record(row):
            if not isinstance(row.value, list) or len(row.value) != len(columns):
                count = len(row.value) if isinstance(row.value, list) else 1
                raise row.error("importing.row_ragged", "data", count, expected=len(columns))
            record = Record({**dict(zip(columns, row.value, strict=True)), "row": number}, row.file, row.line)
            yield record


def _tell(record: Record) -> list[Score]:
    metrics = {name: found["name"] for name in record.value if (found := _METRIC.fullmatch(name))}
    if metrics and "row" in record.value:
        about = _about(record.value)
        return [
            Score(
                str(record.value["row"]), MODEL, None, name, record.value[column],
                raw=record.value.get(f"{column.removesuffix('score')}justification"),
                about=about,
            )
            for column, name in metrics.items()
        ]  # fmt: skip
    holder = record.inside("info") if "info" in record.value else record
    trace = holder.need("trace_id", ID)
    return [score for one in holder.each("assessments") for score in _assessed(one, trace)]


def _about(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of the table says of the thing that was scored: its texts, without those of metrics."""
    return {name: value for name, value in row.items() if isinstance(value, str) and "/" not in name}


def _assessed(one: Record, trace: str) -> list[Score]:
    source = one.inside("source")
    kind = source.need("source_type", str)
    if kind not in SOURCES:
        raise source.error("scored.source", "source_type", kind, known=", ".join(SOURCES))
    by, name = SOURCES[kind], one.need("assessment_name", str)
    feedback = one.inside("feedback")
    item = one.may("span_id", ID) or one.may("trace_id", ID) or trace
    reason = one.may("rationale", str)
    told: dict[str, Any] = {"at": utc(one.value.get("create_time")), "comment": reason}
    if "feedback" not in one.value:
        return [Score(item, by, None, name, None, left="mlflow.left.expectation")]
    if one.value.get("valid") is False:
        return [Score(item, by, None, name, None, left="mlflow.left.overridden")]
    who = source.may("source_id", ID)
    error = feedback.inside("error").value
    if error and by != HUMAN:
        raw = error.get("error_message") or error.get("error_code")
        return [Score(item, by, who or kind, name, None, judged.ERROR, raw=raw)]
    raw = reason if by != HUMAN else None
    who = who or (None if by == HUMAN else kind)
    return [
        Score(item, by, who, score, value, raw=raw, scorer=name, **told)
        for score, value in judged.scores_in(name, feedback.value.get("value")).items()
    ]


IMPORTER = Importer("mlflow", "mlflow.title", recognise, read=read, settings={**SETTINGS, **judged.TEXTS})
