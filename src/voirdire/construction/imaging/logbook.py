"""``images.jsonl``: one line for each image that was asked for, made of the ledger after every session.

A line holds: item_id, concept, category, culture, regime, status (ok, refused, malformed, error, pending), current,
file, sha256, bytes, width, height, media_type, provider, model, served_model, parameters, template, language, prompt,
revised_prompt, draw, batch, call, attempts, at, cost_usd, note. ``current`` is what was wanted last of an item in its
regime; the others are history. Nothing in it is made up: what nobody told is null.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.construction.imaging.files import RUN
from voirdire.construction.imaging.running import batch_of
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import iso, write_whole

LOG = "images.jsonl"
FILE_FACTS = ("file", "sha256", "bytes", "width", "height", "media_type", "revised_prompt")

_CELLS = """
SELECT i.facts, k.name, k.facts, j.facts, c.id, coalesce(o.status, 'pending'), coalesce(a.number, 0), a.at, a.text,
  a.note, g.served, (SELECT sum(b.cost) FROM attempt b WHERE b.cell = c.id)
FROM cell c JOIN item i ON i.id = c.item JOIN condition k ON k.id = c.condition JOIN judge j ON j.id = c.judge
  LEFT JOIN outcome o ON o.cell = c.id
  LEFT JOIN attempt a ON a.cell = c.id AND a.number = (SELECT max(b.number) FROM attempt b WHERE b.cell = c.id)
  LEFT JOIN origin g ON g.id = a.origin
ORDER BY coalesce(i.facts ->> 'session', 0), c.id
"""


@dataclass(frozen=True, slots=True)
class Logged:
    """One line of the log; facts : its further columns, by name."""

    item: str
    concept: str
    category: str
    culture: str
    regime: str
    status: str
    facts: dict[str, Any]
    current: bool = True

    def line(self) -> dict[str, Any]:
        """The line, as it is written."""
        own = {"item_id": self.item, "concept": self.concept, "category": self.category, "culture": self.culture}
        return own | {"regime": self.regime, "status": self.status, "current": self.current} | self.facts


@steady
def read_log(folder: Path) -> list[Logged]:
    """Every image that was asked for in a corpus that is being built, what was wanted last at the end; from its ledger.

    Raises InputError where no image was ever asked for.
    """
    with reading(folder / RUN) as db:
        (run_id,) = db.execute("SELECT value FROM meta WHERE key = 'run'").fetchone()
        rows = [_logged(row, str(run_id)) for row in db.execute(_CELLS)]
    newest = {(row.item, row.regime): place for place, row in enumerate(rows)}
    return [_with_current(row, newest[row.item, row.regime] == place) for place, row in enumerate(rows)]


def write_log(folder: Path, rows: Iterable[Logged]) -> Path:
    """Write ``images.jsonl`` in one step."""
    lines = [json.dumps(row.line(), ensure_ascii=False) for row in rows]
    path = folder / LOG
    write_whole(path, "".join(f"{line}\n" for line in lines))
    return path


def current(rows: Iterable[Logged], regime: str) -> dict[str, Logged]:
    """item id -> its current line in a regime."""
    return {row.item: row for row in rows if row.current and row.regime == regime}


def _logged(row: sqlite3.Row | tuple[Any, ...], run_id: str) -> Logged:
    item, regime, asked, maker = json.loads(row[0]), str(row[1]), json.loads(row[2])["asked"], json.loads(row[3])
    cell, status, attempts, at, text, note, served, cost = row[4:]
    kept = _kept(text) if status == "ok" else {}
    facts = {name: kept.get(name) for name in FILE_FACTS}
    facts |= {
        "provider": maker["provider"], "model": maker["model"] or None, "served_model": served or None,
        "parameters": asked.get("parameters"), "template": asked.get("template"), "language": asked.get("language"),
        "prompt": item["asked"], "draw": item["draw"], "batch": batch_of(run_id, regime),
        "call": f"{run_id}-{cell}-{attempts}" if attempts else None, "attempts": attempts,
        "at": None if at is None else iso(at), "cost_usd": cost,
        "note": None if status in ("ok", "pending") else _why(status, note, text),
    }  # fmt: skip
    return Logged(item["item"], item["concept"], item["category"], item["culture"], regime, status, facts)


def _with_current(row: Logged, newest: bool) -> Logged:
    return Logged(row.item, row.concept, row.category, row.culture, row.regime, row.status, row.facts, newest)


def _kept(text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with suppress(json.JSONDecodeError):
        found = json.loads(text or "{}")
    return found


def _why(status: str, note: str | None, text: str | None) -> str:
    """What was written down of an image that was not made: the provider's or the model's words, untrusted."""
    return ((note if status == "error" else text) or note or text or "")[:500]
