"""Item by item, what an audit compared: the tables that stand beside a profile.

They hold the items, every pool's consensus and every judgment on the scale on which they were compared, so that the
numbers of a profile can be looked into and two audits compared item by item. No row of a single rater stands in them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.panels import Cells
from voirdire.corpus.corpus import Note
from voirdire.stats.features import PoolArrays
from voirdire.stats.level_cube import LevelCube

FOLDER = "compared"
ITEMS, CONSENSUS, JUDGMENTS, SHARES = "items.parquet", "consensus.parquet", "judgments.parquet", "shares.parquet"
FILES = (ITEMS, CONSENSUS, JUDGMENTS, SHARES)
MOST_JUDGMENTS = 20_000_000
CONSENSUS_COLUMNS = {
    "question": pl.String,
    "item_id": pl.String,
    "pool": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
    "s2": pl.Float64,
}
JUDGMENT_COLUMNS = {
    "question": pl.String,
    "item_id": pl.String,
    "judge": pl.String,
    "condition": pl.String,
    "repeat": pl.Int64,
    "rating": pl.Float64,
    "status": pl.String,
}
SHARE_COLUMNS = {
    "question": pl.String,
    "item_id": pl.String,
    "pool": pl.String,
    "label": pl.String,
    "share": pl.Float64,
}


@dataclass(frozen=True)
class Asked:
    """One question: the ids of its items (I,), its pools, and its judges' cells where there are any."""

    question: str
    item_ids: pl.Series
    pools: tuple[str, ...]
    arrays: PoolArrays
    labels: tuple[str, ...] = ()
    cells: Cells | None = None


@dataclass(frozen=True)
class ItemTables:
    """What an audit compared, made into tables when they are written.

    items : the items table as it was read; asked : the questions in their order
    """

    items: pl.DataFrame
    asked: tuple[Asked, ...]

    def consensus(self) -> pl.DataFrame:
        """question, item_id, pool, value, n (null where unknown), s2 (variance of the ratings; null where unknown)."""
        return pl.concat([pl.DataFrame(schema=CONSENSUS_COLUMNS), *(_consensus(asked) for asked in self.asked)])

    def judgments(self) -> pl.DataFrame:
        """question, item_id, judge, condition, repeat, rating, status.

        A row for every rating, and one with the status for every judgment without one. Names are categories.
        """
        parts = [_judgments(asked.question, asked.item_ids, asked.cells) for asked in self.asked if asked.cells]
        return pl.concat(parts) if parts else pl.DataFrame(schema=JUDGMENT_COLUMNS)

    def shares(self) -> pl.DataFrame:
        """question, item_id, pool, label, share of the pool's raters, of questions whose labels have no order."""
        parts = [_shares(asked) for asked in self.asked if asked.arrays.shares is not None]
        return pl.concat([pl.DataFrame(schema=SHARE_COLUMNS), *parts])

    def write(self, directory: Path) -> None:
        """Write the tables below ``directory/compared``; the file of shares only where a question has them."""
        folder = directory / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        tables = {ITEMS: _texts(self.items), CONSENSUS: self.consensus(), JUDGMENTS: self.judgments()}
        shares = self.shares()
        for name, frame in (tables | ({} if shares.is_empty() else {SHARES: shares})).items():
            part = folder / f".{name}.part"
            frame.write_parquet(part)
            part.replace(folder / name)


def item_tables(
    items: pl.DataFrame, contexts: Sequence[Context], cells: Mapping[str, Cells], *, wanted: bool = True
) -> tuple[ItemTables | None, tuple[Note, ...]]:
    """The tables of an audit, or None with a note where they are too large; None without a note where not wanted."""
    if not wanted:
        return None, ()
    count = sum(int(_told(part).sum()) for part in cells.values())
    if count > MOST_JUDGMENTS:
        return None, (Note("audit.note.compared_large", {"count": count, "most": MOST_JUDGMENTS}),)
    ids = items["item_id"].cast(pl.String)
    asked = tuple(_asked(context, ids, cells.get(context.panel.question.id)) for context in contexts)
    return ItemTables(items, asked), ()


def remove_tables(directory: Path) -> None:
    """Remove the tables of an earlier audit, which are not those of the profile that is about to be written."""
    folder = directory / FOLDER
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder)


def _asked(context: Context, ids: pl.Series, cells: Cells | None) -> Asked:
    panel = context.panel
    labels = panel.question.scale.labels
    return Asked(panel.question.id, ids.gather(panel.item_rows), panel.pools, panel.arrays, labels, cells)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    kinds = (pl.Categorical, pl.Enum)
    return frame.with_columns(pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if kind in kinds)


def _consensus(asked: Asked) -> pl.DataFrame:
    arrays = asked.arrays
    pool, item = np.nonzero(arrays.has)
    return pl.DataFrame(
        {
            "question": pl.repeat(asked.question, len(pool), dtype=pl.String, eager=True),
            "item_id": asked.item_ids.gather(item),
            "pool": pl.Series(asked.pools, dtype=pl.String).gather(pool),
            "value": arrays.mean[pool, item],
            "n": pl.Series(arrays.n[pool, item]).fill_nan(None).cast(pl.Int64),
            "s2": pl.Series(arrays.s2[pool, item]).fill_nan(None),
        },
        schema=CONSENSUS_COLUMNS,
    )


def _shares(asked: Asked) -> pl.DataFrame:
    shares = asked.arrays.shares
    if shares is None:
        return pl.DataFrame(schema=SHARE_COLUMNS)
    known = np.broadcast_to(asked.arrays.has[..., None], shares.shape) & ~np.isnan(shares)
    pool, item, label = np.nonzero(known)
    return pl.DataFrame(
        {
            "question": pl.repeat(asked.question, len(pool), dtype=pl.String, eager=True),
            "item_id": asked.item_ids.gather(item),
            "pool": pl.Series(asked.pools, dtype=pl.String).gather(pool),
            "label": pl.Series(asked.labels, dtype=pl.String).gather(label),
            "share": shares[pool, item, label],
        },
        schema=SHARE_COLUMNS,
    )


def _told(cells: Cells) -> npt.NDArray[np.bool_]:
    """(C, I, R) the rows of a table of judgments: every rating, and the first repeat of what has a status alone."""
    rows = cells.held.codes >= 0 if isinstance(cells.held, LevelCube) else ~np.isnan(cells.held)
    absent = cells.reasons.index("absent") if "absent" in cells.reasons else -1
    rows[:, :, 0] |= (cells.status != 0) & (cells.status != absent)
    return rows


def _judgments(question: str, item_ids: pl.Series, cells: Cells) -> pl.DataFrame:
    cell, item, repeat = np.nonzero(_told(cells))
    if isinstance(cells.held, LevelCube):
        rating = np.append(cells.held.values, np.nan)[cells.held.codes[cell, item, repeat]]
    else:
        rating = cells.held[cell, item, repeat]
    return pl.DataFrame(
        {
            "question": _named([question], np.zeros(len(cell), dtype=np.int64)),
            "item_id": _named(item_ids.to_list(), item),
            "judge": _named(cells.frame["judge"].cast(pl.String).to_list(), cell),
            "condition": _named(cells.frame["condition"].cast(pl.String).to_list(), cell),
            "repeat": repeat + 1,
            "rating": pl.Series(rating).fill_nan(None),
            "status": _named(list(cells.reasons), cells.status[cell, item]),
        }
    )


def _named(names: list[str], places: npt.NDArray[np.integer[Any]]) -> pl.Series:
    """Names by their places, each name held once."""
    return pl.Series(names, dtype=pl.Categorical).gather(places)
