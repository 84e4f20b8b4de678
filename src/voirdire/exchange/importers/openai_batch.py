"""Output and error files of OpenAI's batch API, one line a request; the file of requests may be given beside them.

The shape is that of ``BatchRequestOutput`` of OpenAI's API description: ``custom_id``, ``response`` (``status_code``,
``body``) and ``error`` (``code``, ``message``). The bodies are those of chat completions (``choices``) and of responses
(``output``), by the types of the package openai 2.x. A line of the file of requests has ``custom_id``, ``method``,
``url`` and ``body``. The reply is read by voirdire's own parser, as strictly as in a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import frame
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.custom_ids import CustomIds
from voirdire.exchange.importers.judged import lookup
from voirdire.exchange.importers.openai_bodies import Reply, replies_of
from voirdire.exchange.importers.records import ID, Record, head_record, jsonl_records
from voirdire.judging.parsing import read_reply

RETRIED = "openai_batch.left.retried"
NEVER_RUN = ("batch_expired", "batch_cancelled", "batch_canceled")
QUESTION, AS_GIVEN, EVERY = "rating", "none", "*"


def recognise(path: Path) -> Recognition:
    """Lines with an id of one's own and a response; a file of requests alone holds no answer."""
    head = head_record(path)
    if not isinstance(head, dict) or "custom_id" not in head:
        return NO
    if {"method", "url"} <= set(head):
        return nearly("openai_batch.requests")
    return YES if "response" in head or "error" in head else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The reply to every request, or why there is none."""
    lines, requests = _lines(paths, account)
    if not lines:
        raise InputError("openai_batch.requests", file=", ".join(map(str, paths)))
    made = _Made(CustomIds.of(options), options, requests, _only_model(lines, requests))
    counts = _counting(lines)
    for line in lines:
        with account.record(line):
            if _failure(line)[0] is not None and line is not counts[line.value["custom_id"]]:
                account.read()
                account.left(RETRIED, at=line)
                continue
            rows = made.rows_of(line)
            made.rows += judged.take(account, rows)
    answered = {str(line.value["custom_id"]) for line in lines}
    for request in (request for name, request in requests.items() if name not in answered):
        with account.record(request):
            rows = made.waiting(request)
            made.rows += judged.take(account, rows)
    return judged.judged_tables(made.rows, {}, conditions=made.conditions())


@dataclass
class _Made:
    """Makes rows of lines.

    model : of every request, where there is only one
    """

    ids: CustomIds
    options: ImportOptions
    requests: Mapping[str, Record]
    model: str | None
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    factors: dict[str, dict[str, str]] = field(default_factory=dict)
    levels: dict[str, tuple[int, ...]] = field(init=False)
    as_given: bool = field(init=False)

    def __post_init__(self) -> None:
        self.as_given = self.options.setting("scale") == AS_GIVEN
        self.levels = {} if self.as_given else judged.levels_of(self.options)

    def rows_of(self, line: Record) -> list[dict[str, Any]]:
        """The rows of a line: one a choice."""
        where, question, repeat = self._cell(line, lookup(line.value, "response.body.model"))
        status, why = _failure(line)
        if status is not None:
            return [judged.row(where, question, status=status, repeat=repeat, raw=why)]
        found = replies_of(line.inside("response").inside("body"))
        if len(found) > 1 and "repeat" in self.ids.names:
            raise line.error("openai_batch.choices", "response.body.choices", len(found))
        return [self._row(where, question, repeat + reply.index, reply) for reply in found]

    def waiting(self, request: Record) -> list[dict[str, Any]]:
        """The row of a request that has no line yet."""
        where, question, repeat = self._cell(request, None)
        return [judged.row(where, question, status=judged.PENDING, repeat=repeat)]

    def conditions(self) -> pl.DataFrame | None:
        """What the ids say of each condition, where they have names of their own."""
        told = [{"condition": name, **factors} for name, factors in self.factors.items() if factors]
        return frame(told, ("condition",)) if told else None

    def _row(self, where: Mapping[str, str], question: str, repeat: int, reply: Reply) -> dict[str, Any]:
        if self.as_given:
            status = judged.REFUSED if reply.refusal is not None or reply.finish == "filter" else judged.OK
            return judged.row(where, question, reply.text.strip(), status, repeat, raw=reply.text or reply.refusal)
        levels = self.levels.get(question) or self.levels.get(EVERY)
        if levels is None:
            raise UsageError("openai_batch.scale_missing", question=question)
        reading = read_reply(reply.text, levels, refusal=reply.refusal, finish=reply.finish)
        return judged.row(where, question, reading.rating, reading.kind, repeat, raw=reply.text or reply.refusal)

    def _cell(self, line: Record, model: Any) -> tuple[dict[str, str], str, int]:
        """Item, judge and condition of a line, its question and repeat. Raises InputError."""
        found = self.ids.parts(line)
        request = self.requests.get(str(line.value["custom_id"]))
        asked = lookup(request.value, "body.model") if request is not None else None
        judge = found.get("judge") or self.options.setting("judge") or model or asked or self.model
        if judge is None:
            raise line.error("openai_batch.no_judge", "response.body.model")
        own = {name: value for name, value in found.items() if name not in self.ids.KNOWN}
        parts = [found["condition"]] if "condition" in found else []
        condition = ", ".join([*parts, *(f"{name}={value}" for name, value in own.items())])
        condition = condition or self.options.setting("condition") or judged.NONE
        self.factors.setdefault(condition, own)
        question = found.get("question") or self._question()
        where = {"item_id": found["item"], "judge": str(judge), "condition": condition}
        return where, question, int(found.get("repeat", "1"))

    def _question(self) -> str:
        """The question where the ids do not name it: the only one of the questions table, or the setting."""
        named = [name for name in self.levels if name != EVERY]
        return self.options.setting("question") or (named[0] if len(named) == 1 else QUESTION)


def _lines(paths: Sequence[Path], account: Account) -> tuple[list[Record], dict[str, Record]]:
    """Lines of output and error files, and requests by their ids."""
    lines: list[Record] = []
    requests: dict[str, Record] = {}
    for path in paths:
        for record in jsonl_records(path, account):
            with account.record(record):
                name = record.need("custom_id", ID)
                if "method" in record.value:
                    requests[name] = record
                else:
                    _failure(record)
                    lines.append(record)
    return lines, requests


def _counting(lines: Sequence[Record]) -> dict[Any, Record]:
    """Id -> the line that counts where requests were sent again: the last reply, else the last failure."""
    ordered = sorted(lines, key=lambda line: _failure(line)[0] is None)
    return {line.value["custom_id"]: line for line in ordered}


def _only_model(lines: Sequence[Record], requests: Mapping[str, Record]) -> str | None:
    """The model of all of them, where there is one only."""
    models = {lookup(line.value, "response.body.model") for line in lines}
    models |= {lookup(request.value, "body.model") for request in requests.values()}
    found = [model for model in models if isinstance(model, str)]
    return found[0] if len(found) == 1 else None


def _failure(line: Record) -> tuple[str | None, str | None]:
    """A status and what was said, where there is no reply."""
    error = line.inside("error").value or line.inside("response").inside("body").inside("error").value
    said = str(error.get("message") or error.get("code") or "") or None
    if error.get("code") in NEVER_RUN:
        return judged.PENDING, said
    if error or line.inside("response").value.get("status_code") != 200:
        return judged.ERROR, said
    return None, None


IMPORTER = Importer(
    "openai-batch",
    "openai_batch.title",
    recognise,
    read=read,
    side="judgments",
    settings={
        "custom_id": "openai_batch.settings.custom_id",
        "scale": "openai_batch.settings.scale",
        "question": "openai_batch.settings.question",
        "judge": "openai_batch.settings.judge",
        "condition": "openai_batch.settings.condition",
    },
)
