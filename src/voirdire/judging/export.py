"""The tables of a run, from its ledger: judgments.parquet, judges.csv, conditions.csv.

Rows are read in portions and written to a file beside, which replaces the old one when it is whole: memory does not
grow with the number of cells, and a kill leaves either the old table or the new one.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.judging.ledger import PLANNED
from voirdire.judging.nouns import BASE_DESIGN
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import iso, write_whole

PORTION = 1_000
"""Rows held at once as Python objects."""
GROUP = 4_000
"""Rows held at once while the table is put together, and in a row group of the file."""
JUDGMENTS = "judgments.parquet"

SCHEMA: dict[str, Any] = {
    "item_id": pl.String, "judge": pl.String, "condition": pl.String, "design": pl.String, "question": pl.String,
    "repeat": pl.Int64, "rating": pl.Float64, "status": pl.String, "attempts": pl.Int64, "reply": pl.String,
    "reasoning": pl.String, "served_model": pl.String, "served_by": pl.String, "tokens_in": pl.Int64,
    "tokens_out": pl.Int64, "tokens_cached": pl.Int64, "tokens_reasoning": pl.Int64, "cost_usd": pl.Float64,
    "seconds": pl.Float64, "at": pl.String, "condition_digest": pl.String, "prompt_digest": pl.String,
    "image_sha256": pl.String, "image_width": pl.Int64, "image_height": pl.Int64, "sent_width": pl.Int64,
    "sent_height": pl.Int64, "flags": pl.String, "demonstrations": pl.String,
}  # fmt: skip
"""The columns of judgments.parquet, in order. ``design`` is left out where no condition has one.

rating : empty unless status is ok; conditions that ask the scale reversed are mapped back (low + high - k)
reply, reasoning, served_model, served_by, seconds, at, prompt_digest : of the cell's last call
image_*, sent_* : of the item's image, empty where the condition shows none (its description, or nothing)
flags, demonstrations : empty where there are none; demonstrations are ``id=level`` in the order shown, with levels of
    the question's own scale, like ``rating`` (a condition that asks the scale reversed shows low + high - level)
attempts : calls made; tokens_*, cost_usd : of all of them, empty where no call has a number
"""

_CELLS = f"""
SELECT i.name, j.name, k.facts ->> 'name', k.facts ->> 'design', q.name, c.repeat,
  CASE WHEN k.facts ->> 'reversed' THEN coalesce(i.facts ->> 'low', q.facts ->> 'low')
    + coalesce(i.facts ->> 'high', q.facts ->> 'high') - o.rating ELSE o.rating END,
  coalesce(o.status, 'pending'), coalesce(a.number, 0), a.text, a.reasoning, g.served, g.served_by,
  {{sums}}, a.seconds, a.at,
  k.facts ->> 'digest', a.prompt, {{image}}, nullif(w.flags, ''), nullif(w.demonstrations, '')
FROM cell c JOIN item i ON i.id = c.item JOIN condition k ON k.id = c.condition JOIN question q ON q.id = c.question
  JOIN judge j ON j.id = c.judge LEFT JOIN outcome o ON o.cell = c.id
  LEFT JOIN attempt a ON a.cell = c.id AND a.number = (SELECT max(b.number) FROM attempt b WHERE b.cell = c.id)
  LEFT JOIN origin g ON g.id = a.origin
  LEFT JOIN shown w ON w.item = c.item AND w.condition = c.condition AND w.question = c.question
WHERE o.cell IS NOT NULL OR ({PLANNED} AND c.judge IN (SELECT id FROM judge WHERE planned))
ORDER BY c.judge, c.item, c.condition, c.question, c.repeat
""".format(
    sums=", ".join(
        f"(SELECT sum({name}) FROM attempt b WHERE b.cell = c.id)"
        for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost")
    ),
    image=", ".join(
        f"CASE WHEN coalesce(k.facts ->> 'image', 'file') = 'file' THEN i.facts ->> '{name}' END"
        for name in ("image_sha256", "image_width", "image_height", "sent_width", "sent_height")
    ),
)


@steady
def export(folder: Path) -> list[Path]:
    """Write the tables of a run into its folder; the files written.

    Cells that are planned and have no outcome have the status ``pending``. Raises InputError where there is no run.
    """
    with reading(folder) as db:
        return [_judgments(db, folder), _judges(db, folder), _conditions(db, folder)]


def _judgments(db: sqlite3.Connection, folder: Path) -> Path:
    target = folder / JUDGMENTS
    beside = folder / f".{JUDGMENTS}.{os.getpid()}"
    designs = _designs(db) != {BASE_DESIGN}
    beside.mkdir(exist_ok=True)
    try:
        for place, rows in enumerate(_portions(db.execute(_CELLS))):
            frame = _frame(rows)
            (frame if designs else frame.drop("design")).write_parquet(beside / f"{place:06d}.parquet")
        whole = beside / "whole"
        pl.scan_parquet(sorted(beside.glob("*.parquet"))).sink_parquet(whole, row_group_size=GROUP)
        whole.replace(target)
    finally:
        shutil.rmtree(beside)
    return target


def _portions(rows: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    """Rows in portions; at least one, so that a run without cells has a table too."""
    portion = rows.fetchmany(PORTION)
    yield portion
    while len(portion) == PORTION:
        portion = rows.fetchmany(PORTION)
        if portion:
            yield portion


def _frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    at = list(SCHEMA).index("at")
    shown = [(*row[:at], None if row[at] is None else iso(row[at]), *row[at + 1 :]) for row in rows]
    return pl.DataFrame(shown, schema=SCHEMA, orient="row").with_columns(
        pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in ("reasoning", "served_by")
    )


def _designs(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT facts ->> 'design' FROM condition")}


def _judges(db: sqlite3.Connection, folder: Path) -> Path:
    """One row a judge, with its covariates."""
    target = folder / "judges.csv"
    write_whole(target, judges_table(db).write_csv())
    return target


def judges_table(db: sqlite3.Connection) -> pl.DataFrame:
    """One row a judge, with its covariates."""
    return _table(
        {"judge": name, **json.loads(facts).get("covariates", {})}
        for name, facts in db.execute("SELECT name, facts FROM judge ORDER BY id")
    )


def _conditions(db: sqlite3.Connection, folder: Path) -> Path:
    """One row a condition and design, with its factors."""
    designs = _designs(db) != {BASE_DESIGN}
    rows = []
    for (facts,) in db.execute("SELECT facts FROM condition ORDER BY id"):
        known = json.loads(facts)
        design = {"design": known["design"]} if designs else {}
        rows.append({"condition": known["name"], **design, **known["factors"], **design})
    target = folder / "conditions.csv"
    write_whole(target, _table(rows).write_csv())
    return target


def _table(rows: Iterable[dict[str, str]]) -> pl.DataFrame:
    held = list(rows)
    names = list(dict.fromkeys(name for row in held for name in row))
    columns = {name: [row.get(name) for row in held] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
