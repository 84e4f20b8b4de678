"""Replay judges: a table of judgments answers instead of a model.

``replay/FILE`` or, of a table with several judges, ``replay/FILE#JUDGE``. Columns: item_id, condition, and rating or
reply; judge, design, question, repeat, reasoning and status where they exist. The judgments of a run can be replayed.
A reply is read anew, like a model's; a rating is taken as it stands, on the question's own scale. A cell that the
table lacks ends as ``error``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import BASE_DESIGN, Call, CallFailed, JudgeSpec, Reply
from voirdire.tables import Table, read_table
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.providers.kit import Kit

NEEDED = ("item_id", "condition")
READ = ("item_id", "condition", "design", "question", "repeat", "judge", "rating", "reply", "reasoning", "status")
STATUSES = ("ok", "malformed", "refused", "error", "pending")
FIRST_REPEAT = 1

Key = tuple[str, str, str, int]
"""item, full condition, question, repeat"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One row: what the table says about a cell; None where a cell is empty or a column is not there."""

    rating: str | None = None
    reply: str | None = None
    reasoning: str | None = None
    status: str | None = None


class ReplayJudge:
    """A judge that answers from recorded judgments."""

    def __init__(self, name: str, recorded: Mapping[Key, Recorded], settings: Mapping[str, Any]) -> None:
        self.name = name
        self.lane = "replay"
        self.settings = settings
        self._recorded = recorded

    async def ask(self, call: Call) -> Reply:
        """The recorded answer. Raises CallFailed of kind ``request`` for a cell that is not there or has none."""
        condition = call.condition if call.design == BASE_DESIGN else f"{call.condition}/{call.design}"
        found = self._recorded.get((call.item.id, condition, call.question, call.repeat))
        if found is None:
            raise CallFailed("request", text("cli_run.replay.lacks", file=self.settings["file"]))
        reply = replace(answer(found), cost=0.0)
        return reply if reply.rating is None else replace(reply, rating=call.as_asked(reply.rating))

    async def close(self) -> None:
        """Nothing to give back."""


def answer(found: Recorded) -> Reply:
    """A recorded row as a Reply; a rating that is no number is read like a reply, and so ends as malformed.

    >>> answer(Recorded(rating="4")).rating, answer(Recorded(reply="four")).text
    (4.0, 'four')
    """
    if found.status in ("error", "pending"):
        raise CallFailed("request", text("cli_run.replay.recorded", status=found.status))
    said = found.reply or ""
    if found.status == "refused":
        return Reply(text=said, refusal="recorded", reasoning=found.reasoning or "")
    if found.reply is not None or found.rating is None or found.status == "malformed":
        return Reply(text=said, reasoning=found.reasoning or "")
    try:
        rating = float(found.rating)
    except ValueError:
        return Reply(text=found.rating)
    return Reply(rating=rating) if math.isfinite(rating) else Reply(text=found.rating)


def make(spec: JudgeSpec, kit: Kit) -> ReplayJudge:
    """The judge that a table replays. Raises UsageError and InputError, naming file, row and column."""
    if spec.parameters:
        raise UsageError("cli_run.replay.parameters", judge=spec.name, names=", ".join(map(str, spec.parameters)))
    file, wanted = (spec.model, "") if Path(spec.model).is_file() else split_judge(spec.model)
    table = read_table(Path(file))
    judge, recorded = read_recorded(table, wanted or None, kit.material.evaluation)
    settings = {
        "file": table.name,
        "sha256": table.digest,
        "judge": judge,
        "rows": len(recorded),
        "digests": {"table": recorded_digest(recorded)},
    }
    return ReplayJudge(spec.name, recorded, settings)


def recorded_digest(recorded: Mapping[Key, Recorded]) -> str:
    """16 hex digits over what a table says of a judge, whatever the order of its rows.

    >>> a, b = ("a", "en", "q", 1), ("b", "en", "q", 1)
    >>> recorded_digest({a: Recorded("4"), b: Recorded("5")}) == recorded_digest({b: Recorded("5"), a: Recorded("4")})
    True
    """
    rows = sorted([*key, *astuple(row)] for key, row in recorded.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def split_judge(model: str) -> tuple[str, str]:
    """The file and the judge of ``FILE#JUDGE``; no judge where none is named.

    >>> split_judge("runs/j.csv#openai/gpt-4o"), split_judge("runs/j.csv")
    (('runs/j.csv', 'openai/gpt-4o'), ('runs/j.csv', ''))
    """
    file, _, judge = model.partition("#")
    return file, judge


def read_recorded(table: Table, wanted: str | None, question: str) -> tuple[str, dict[Key, Recorded]]:
    """The judge and its rows by cell.

    wanted : the judge, needed where the table has several; question : what rows without a question answer

    Raises InputError for missing columns, a cell recorded twice, a repeat that is no whole number or an unknown
    status, and when the judge is not there or not named.
    """
    columns = table.frame.columns
    missing = [name for name in NEEDED if name not in columns]
    if not {"rating", "reply"} & set(columns):
        missing.append("rating")
    if missing:
        raise InputError("cli_run.replay.column", file=table.file, column=missing[0], known=table.shown_columns)
    judge = _judge(table, wanted)
    recorded: dict[Key, Recorded] = {}
    for index, row in _rows(table, judge):
        key = _key(row, table, index, question)
        if key in recorded:
            raise InputError("cli_run.replay.twice", file=table.file, row=table.row(index), item=key[0], cell=key[1])
        recorded[key] = _recorded(row, table, index)
    return judge, recorded


def _judge(table: Table, wanted: str | None) -> str:
    if "judge" not in table.frame.columns:
        return wanted or ""
    known = table.frame["judge"].drop_nulls().unique(maintain_order=True).to_list()
    if wanted is None and len(known) == 1:
        return str(known[0])
    if wanted not in known:
        key = "cli_run.replay.which" if wanted is None else "cli_run.replay.no_judge"
        raise InputError(key, file=table.file, value=wanted or "", known=", ".join(map(str, known)))
    return str(wanted)


def _rows(table: Table, judge: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    names = [name for name in READ if name in table.frame.columns]
    for index, row in enumerate(table.frame.select(names).iter_rows(named=True)):
        if "judge" not in row or row["judge"] == judge:
            yield index, row


def _key(row: Mapping[str, str | None], table: Table, index: int, question: str) -> Key:
    for name in NEEDED:
        if row[name] is None:
            raise InputError("cli_run.replay.empty", file=table.file, row=table.row(index), column=name)
    design = row.get("design")
    condition = f"{row['condition']}/{design}" if design and design != BASE_DESIGN else str(row["condition"])
    repeat = row.get("repeat")
    try:
        number = FIRST_REPEAT if repeat is None else int(repeat)
    except ValueError as error:
        raise InputError("cli_run.replay.repeat", file=table.file, row=table.row(index), value=repeat) from error
    return str(row["item_id"]), condition, row.get("question") or question, number


def _recorded(row: Mapping[str, str | None], table: Table, index: int) -> Recorded:
    status = row.get("status")
    if status is not None and status not in STATUSES:
        known = ", ".join(STATUSES)
        raise InputError("cli_run.replay.status", file=table.file, row=table.row(index), value=status, known=known)
    return Recorded(row.get("rating"), row.get("reply"), row.get("reasoning"), status)
