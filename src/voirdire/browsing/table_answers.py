"""Raw replies that stand in the file which judgments were read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from voirdire.browsing.run_answers import MOST_SHOWN, MOST_TRIES, Try
from voirdire.browsing.sources import Source, TableSource
from voirdire.corpus import columns as names
from voirdire.corpus.image_paths import file_sha256, is_inside, stays_inside
from voirdire.errors import VoirdireError
from voirdire.tables import read_table

REPLIES = ("raw_given", "reply", "raw_reply", "response_text", "output", "completion")
"""Columns that hold a judge's words, the first that is there; ``raw`` is called ``raw_given`` when it is read."""
REASONING = ("reasoning", "thinking", "rationale")
TARGETS = ("item_id", "judge", "condition", "question", "repeat", "rating", "status")
MOST_BYTES = 500_000_000


@dataclass
class TableAnswers:
    """The rows of a file of judgments with the words of the judges. file : its name"""

    file: str
    frame: pl.DataFrame = field(repr=False)

    def counts(self, item: str) -> dict[str, int]:
        """Judge -> how many replies there are about an item."""
        counted = self._of(item).group_by("judge", maintain_order=True).len()
        return {name or "": count for name, count in counted.select("judge", "len").iter_rows()}

    def of_item(self, item: str, judge: str | None = None, start: int = 0) -> tuple[Try, ...]:
        """Replies about an item, of one judge or of all: ``MOST_TRIES`` from a place on, in the order of the file."""
        rows = self._of(item)
        if judge is not None:
            rows = rows.filter(pl.col("judge").fill_null("") == judge)
        return tuple(_try(row) for row in rows.slice(start, MOST_TRIES).iter_rows(named=True))

    def _of(self, item: str) -> pl.DataFrame:
        rows = self.frame.filter(pl.col("item_id") == item)
        return rows if "judge" in rows.columns else rows.with_columns(judge=pl.lit(""))


def table_answers(source: Source, folder: Path) -> TableAnswers | None:
    """The replies of a table that was read from a file of this folder; None where there are none.

    The file must still be the one that was read (by its digest), and lie inside of the folder.
    """
    if not isinstance(source, TableSource) or not source.judgments.intake:
        return None
    told = source.judgments.intake[0]
    file = folder / told.file
    if not stays_inside(told.file) or not file.is_file() or not is_inside(file, folder):
        return None
    if file.stat().st_size > MOST_BYTES or file_sha256(file) != told.digest:
        return None
    try:
        return _read(file)
    except VoirdireError:
        return None


def _read(file: Path) -> TableAnswers | None:
    table, _ = names.take(read_table(file), "judgments", TARGETS, {})
    frame = table.frame
    reply = _first(frame.columns, REPLIES)
    if "item_id" not in frame.columns or reply is None:
        return None
    reasoning = _first(frame.columns, REASONING)
    extra = [name for name in ("design",) if name in frame.columns]
    kept = [name for name in (*TARGETS, *extra, "attempts") if name in frame.columns]
    worded = frame.select(
        *[pl.col(name).cast(pl.String) for name in kept],
        pl.col(reply).cast(pl.String).alias("_reply"),
        (pl.lit("") if reasoning is None else pl.col(reasoning).cast(pl.String)).alias("_reasoning"),
    )
    return TableAnswers(file.name, worded.filter(pl.col("_reply").is_not_null()))


def _first(columns: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((name for name in wanted if name in columns), None)


def _try(row: dict[str, str | None]) -> Try:
    reply, reasoning = row["_reply"] or "", row["_reasoning"] or ""
    condition = "/".join(part for part in (row.get("condition"), row.get("design")) if part) or "-"
    return Try(
        row.get("judge") or "",
        condition,
        row.get("question") or "",
        _whole(row.get("repeat"), 1),
        _whole(row.get("attempts"), 1),
        row.get("status") or "",
        None,
        None,
        None,
        reply[:MOST_SHOWN],
        reasoning[:MOST_SHOWN],
        "",
        longer=max(len(reply), len(reasoning)) > MOST_SHOWN,
    )


def _whole(cell: str | None, otherwise: int) -> int:
    return int(cell) if cell is not None and cell.isdigit() else otherwise
