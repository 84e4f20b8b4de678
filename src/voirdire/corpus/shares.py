"""Answer shares of pools that come without raters: item_id, pool, question, label, share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.intake import close, flag, refuse, with_rows
from voirdire.corpus.itemtable import ItemTable
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.ratings import flag_items
from voirdire.tables import read_table

COLUMNS = ["item_id", "pool", "question", "label", "share"]


@dataclass(frozen=True)
class Shares:
    """The shares, if a table of them was given."""

    frame: pl.DataFrame | None = None
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()


def read_shares(options: CorpusOptions, items: ItemTable, questions: Sequence[str]) -> Shares:
    """Read the table of answer shares; a share is between 0 and 1."""
    if options.shares is None:
        return Shares()
    table, notes = names.take(read_table(options.shares, options.encoding), "shares", COLUMNS, options.mapping)
    if "question" not in table.frame.columns:
        table_frame = table.frame.with_columns(question=pl.lit(questions[0]))
    else:
        table_frame = table.frame
    for column in COLUMNS:
        if column != "question":
            names.require(table, column)
    frame = with_rows(table_frame).with_columns(_share=pl.col("share").cast(pl.Float64, strict=False))
    frame = flag(frame, pl.col("share").is_null(), "missing")
    bad = frame.filter(pl.col("_reason").is_null() & ~pl.col("_share").is_between(0, 1).fill_null(False))
    if not bad.is_empty():
        raise refuse("share_broken", table, bad, "share")
    frame = flag_items(frame, items.excluded)
    frame = flag(frame, ~pl.col("item_id").is_in(items.frame["item_id"].implode()), "unknown_item")
    frame = flag(frame, ~pl.col("question").is_in(list(questions)), "unknown_question")
    used = frame.filter(pl.col("_reason").is_null()).with_columns(share="_share").select(COLUMNS)
    return Shares(used, (close(frame, table, "shares"),), tuple(notes))
