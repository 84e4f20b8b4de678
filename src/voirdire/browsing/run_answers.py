"""What a run's ledger says of the items, read beside the process that writes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.browsing.said import ROWS
from voirdire.corpus.corpus import Corpus, Judgments, Question
from voirdire.corpus.judged import OF_A_RUN
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.reading import read_judgments
from voirdire.judging.export import judges_table
from voirdire.judging.nouns import BASE_DESIGN
from voirdire.judging.reading import log_of, reading, steady
from voirdire.judging.run_folder import LEDGER
from voirdire.scales import Scale

MOST_SHOWN = 20_000
"""Letters of a reply that are shown; the ledger holds them all."""
MOST_TRIES = 60
"""Calls whose texts are read at once."""

_CELLS = """
SELECT c.item, c.judge, c.condition, c.repeat, o.rating, o.status FROM cell c
LEFT JOIN outcome o ON o.cell = c.id WHERE c.question = (SELECT id FROM question WHERE name = ?)
ORDER BY c.judge, c.item, c.condition, c.repeat
"""
_ATTEMPTS = """
WITH p AS (
  SELECT c.id, c.judge, c.condition, c.question, c.repeat, a.number FROM cell c JOIN attempt a ON a.cell = c.id
  WHERE c.judge IN (SELECT id FROM judge WHERE :judge IS NULL OR name = :judge)
    AND c.item = (SELECT id FROM item WHERE name = :item)
  ORDER BY c.judge, c.question, c.condition, c.repeat, a.number LIMIT :count OFFSET :start
)
SELECT j.name, p.condition, q.name, p.repeat, a.number, a.kind, a.at, a.seconds, a.status, substr(a.text, 1, :most),
  length(a.text), substr(a.reasoning, 1, :most), length(a.reasoning), substr(a.note, 1, :most),
  g.served, a.tokens_in, a.tokens_out, a.cost
FROM p JOIN attempt a ON a.cell = p.id AND a.number = p.number JOIN judge j ON j.id = p.judge
JOIN question q ON q.id = p.question LEFT JOIN origin g ON g.id = a.origin
ORDER BY p.judge, p.question, p.condition, p.repeat, p.number
"""
_COUNTS = """
SELECT j.name, count(*) FROM cell c JOIN attempt a ON a.cell = c.id JOIN judge j ON j.id = c.judge
WHERE c.judge IN (SELECT id FROM judge) AND c.item = (SELECT id FROM item WHERE name = ?) GROUP BY j.id ORDER BY j.id
"""


@dataclass(frozen=True, slots=True)
class Try:
    """One call of one cell and what came of it; every text is untrusted.

    text, reasoning, note : what the judge said, what it thought where that is kept apart, why the call failed; cut at
        ``MOST_SHOWN`` letters, ``longer`` then
    status : of the HTTP response; served : the model that answered; at : seconds since the epoch
    """

    judge: str
    condition: str
    question: str
    repeat: int
    number: int
    kind: str
    at: float | None
    seconds: float | None
    status: int | None
    text: str
    reasoning: str
    note: str
    served: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    longer: bool = False


def stamp_of_run(folder: Path) -> tuple[tuple[int, int], ...]:
    """What changes whenever the ledger grows."""
    return tuple(_stamp(file) for file in (folder / LEDGER, log_of(folder / LEDGER)))


def _stamp(file: Path) -> tuple[int, int]:
    """Of a file that may go away at any moment."""
    try:
        state = file.stat()
    except FileNotFoundError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


@steady
def questions_of_run(folder: Path) -> tuple[Question, ...]:
    """The questions that a run asks, with the ends of their scales. Raises InputError where it cannot be read."""
    with reading(folder) as db:
        rows = db.execute("SELECT name, facts FROM question ORDER BY id").fetchall()
    return tuple(Question(str(name), _scale(json.loads(facts))) for name, facts in rows)


def _scale(facts: Mapping[str, Any]) -> Scale:
    low, high = facts.get("low"), facts.get("high")
    return Scale("ordinal", None if low is None else float(low), None if high is None else float(high))


def rows_of_run(folder: Path, question: str) -> pl.DataFrame:
    """Every judgment of a question (the columns of :data:`~voirdire.browsing.said.ROWS`), pending ones among them.

    A cell that a later plan left out and that never ended is not among them, as in the exported table. Ratings of
    conditions that ask the scale reversed are turned back. Raises InputError where it cannot be read.
    """
    return _cells(folder, question)[0].rename({"named": "condition"}).select(list(ROWS))


def judgments_of_run(folder: Path, question: str, corpus: Corpus, options: JudgmentOptions) -> Judgments | None:
    """What the exported table would be read as beside a corpus; None where the run did not ask the question.

    options : how judgments are read; of a run that is its judges, their scales, and answers that mean none
    Raises InputError where it cannot be read.
    """
    rows, judges = _cells(folder, question)
    if rows.is_empty():
        return None
    design = ("design",) if rows["design"].ne(BASE_DESIGN).any() else ()
    frame = rows.select(
        "item_id", "judge", pl.col("bare").alias("condition"), *design, pl.lit(question).alias("question"), "repeat",
        pl.col("value").alias("rating"), "status", *(pl.lit("-").alias(name) for name in OF_A_RUN),
    )  # fmt: skip
    known = set(rows["judge"])
    scales = tuple(entry for entry in options.judge_scale if "=" not in entry or entry.rpartition("=")[0] in known)
    own = JudgmentOptions(
        frame,
        judges=judges if options.judges is None else options.judges,
        factors=tuple(name for name in options.factors if name in design),
        judge_scale=scales,
        missing_labels=options.missing_labels,
    )
    return read_judgments(own, corpus)


@steady
def _cells(folder: Path, question: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The judgments of a question in the order of the exported table, and the table of the judges.

    Conditions are ``named`` as an audit names them; ``bare`` and ``design`` are their parts.
    """
    kinds = {"item": pl.Int64, "judge": pl.Int64, "cond": pl.Int64, "repeat": pl.Int64, "value": pl.Float64}
    with reading(folder) as db:
        cells = db.execute(_CELLS, (question,)).fetchall()
        tables = {noun: _nouns(db, noun) for noun in ("item", "judge", "condition")}
        asked = db.execute("SELECT planned, facts FROM question WHERE name = ?", (question,)).fetchone()
        repeats = db.execute("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'repeats'").fetchone()
        judges = judges_table(db)
    if asked is None:
        parts = dict.fromkeys(("named", "bare", "design"), pl.String)
        return pl.DataFrame(schema=ROWS | parts).drop("condition"), judges
    frame = pl.DataFrame(cells, schema={**kinds, "status": pl.String}, orient="row")
    frame = _joined(frame, tables, json.loads(asked[1]))
    planned = pl.lit(bool(asked[0])) & (pl.col("repeat") <= (repeats[0] if repeats else 1))
    planned = planned & pl.col("item_planned") & pl.col("judge_planned") & pl.col("cond_planned")
    kept = frame.filter(pl.col("status").is_not_null() | planned)
    status = pl.col("status").fill_null("pending")
    return kept.select("item_id", "judge", "named", "bare", "design", "repeat", "value", status), judges


def _joined(frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame], asked: Mapping[str, Any]) -> pl.DataFrame:
    items, judges, conditions = tables["item"], tables["judge"], tables["condition"]
    sides = (
        ("item", items.select("id", "low", "high", item_id="name", item_planned="planned")),
        ("judge", judges.select("id", judge_name="name", judge_planned="planned")),
        ("cond", conditions.select("id", "reversed", "bare", "design", named="name", cond_planned="planned")),
    )
    for key, side in sides:
        frame = frame.join(side, left_on=key, right_on="id", how="left", maintain_order="left")
    ends = [pl.coalesce(name, pl.lit(asked.get(name), pl.Float64)) for name in ("low", "high")]
    value = pl.when("reversed").then(ends[0] + ends[1] - pl.col("value")).otherwise("value")
    return frame.with_columns(value=value, judge=pl.col("judge_name"))


def _nouns(db: sqlite3.Connection, noun: str) -> pl.DataFrame:
    """id, name, planned, and what numbers need of the facts; conditions are named as an audit names them."""
    rows = []
    for key, name, planned, facts in db.execute(f"SELECT id, name, planned, facts FROM {noun} ORDER BY id"):
        known = json.loads(facts) if facts else {}
        rows.append((key, name, bool(planned), known))
    names = [row[1] for row in rows]
    if noun == "condition":
        names = list(_conditions([(row[0], row[1], row[3]) for row in rows]).values())
    return pl.DataFrame(
        {
            "id": pl.Series([row[0] for row in rows], dtype=pl.Int64),
            "name": pl.Series(names, dtype=pl.String),
            "planned": pl.Series([row[2] for row in rows], dtype=pl.Boolean),
            "low": pl.Series([_end(row[3], "low") for row in rows], dtype=pl.Float64),
            "high": pl.Series([_end(row[3], "high") for row in rows], dtype=pl.Float64),
            "reversed": pl.Series([bool(row[3].get("reversed")) for row in rows], dtype=pl.Boolean),
            "bare": pl.Series([str(row[3].get("name", row[1])) for row in rows], dtype=pl.String),
            "design": pl.Series([str(row[3].get("design", BASE_DESIGN)) for row in rows], dtype=pl.String),
        }
    )


def _end(facts: Mapping[str, Any], name: str) -> float | None:
    return None if facts.get(name) is None else float(facts[name])


def _conditions(rows: list[tuple[int, str, Mapping[str, Any]]]) -> dict[int, str]:
    """Number -> name as in the judgments of an audit: with the design ``base`` where any condition has another one."""
    designs = any(facts.get("design", BASE_DESIGN) != BASE_DESIGN for _, _, facts in rows)
    return {
        key: f"{name}/{BASE_DESIGN}" if designs and facts.get("design", BASE_DESIGN) == BASE_DESIGN else name
        for key, name, facts in rows
    }


@steady
def counts_of_run(folder: Path, item: str) -> dict[str, int]:
    """Judge -> how many calls there are about an item. Raises InputError."""
    with reading(folder) as db:
        return {str(name): int(count) for name, count in db.execute(_COUNTS, (item,))}


@steady
def tries_of_run(folder: Path, item: str, judge: str | None = None, start: int = 0) -> list[Try]:
    """Calls about an item, of one judge or of all: ``MOST_TRIES`` of them from a place on.

    They come in the order of judges, questions, conditions, repeats. Raises InputError.
    """
    wanted = {"item": item, "judge": judge, "start": start, "count": MOST_TRIES, "most": MOST_SHOWN}
    with reading(folder) as db:
        facts = db.execute("SELECT id, name, facts FROM condition ORDER BY id").fetchall()
        names = _conditions([(key, name, json.loads(told)) for key, name, told in facts])
        rows = db.execute(_ATTEMPTS, wanted).fetchall()
    return [_try(row, names) for row in rows]


def _try(row: tuple[Any, ...], conditions: Mapping[int, str]) -> Try:
    judge, condition, question, repeat, number, kind, at, seconds, status = row[:9]
    text, n_text, reasoning, n_reasoning, note, served, tokens_in, tokens_out, cost = row[9:]
    longer = max(n_text or 0, n_reasoning or 0) > MOST_SHOWN
    return Try(
        judge, conditions[condition], question, repeat, number, kind, at, seconds, status, text or "", reasoning or "",
        note or "", served or "", tokens_in, tokens_out, cost, longer,
    )  # fmt: skip
