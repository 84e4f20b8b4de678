"""Item by item, what an audit compared: the tables that stand beside a profile.

They hold the items, every pool's consensus and every judgment on the scale on which they were compared, so that the
numbers of a profile can be looked into and two audits compared item by item. No id of a rater and no free text stands
in them, yet ratings can be told from them: where one rater of a pool rated an item, its consensus is that rating, and
where two did, consensus and variance give both. ``--no-compared`` leaves the tables out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.panels import Panel
from voirdire.corpus.corpus import Coded, CodedQuestion, Judgments, Note

FOLDER = "compared"
ITEMS, CONSENSUS, JUDGMENTS, SHARES = "items.parquet", "consensus.parquet", "judgments.parquet", "shares.parquet"
OF = "tables.json"
"""Says which profile the tables belong to."""

FILES = (OF, ITEMS, CONSENSUS, JUDGMENTS, SHARES)
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
    """One question: its panel, the ids of its items (I,), and the judgments where it was judged."""

    panel: Panel
    item_ids: pl.Series
    judgments: Judgments | None = None

    @property
    def question(self) -> str:
        """Its id."""
        return self.panel.question.id

    def count(self) -> int:
        """How many judgments of its items there are."""
        if self.judgments is None:
            return 0
        rows = self.judgments.rows
        if isinstance(rows, Coded):
            return int(np.count_nonzero(rows.questions[self.question].status[:, self.panel.item_rows]))
        here = pl.col("item_id").cast(pl.String).is_in(self.item_ids.to_list())
        return rows.filter(pl.col("question") == self.question, here).height


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

        A row for every judgment with the repeat as it was numbered; those without a rating say why. Names are
        categories.
        """
        parts = [_judgments(asked, asked.judgments) for asked in self.asked if asked.judgments]
        return pl.concat(parts) if parts else pl.DataFrame(schema=JUDGMENT_COLUMNS)

    def shares(self) -> pl.DataFrame:
        """question, item_id, pool, label, share of the pool's raters, of questions whose labels have no order."""
        parts = [_shares(asked) for asked in self.asked if asked.panel.arrays.shares is not None]
        return pl.concat([pl.DataFrame(schema=SHARE_COLUMNS), *parts])

    def write(self, directory: Path, profile: str) -> None:
        """Write the tables below ``directory/compared``; the file of shares only where a question has them.

        profile : digest of the profile that they belong to, which ``tables.json`` says
        """
        folder = directory / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        tables = {ITEMS: _texts(self.items), CONSENSUS: self.consensus(), JUDGMENTS: self.judgments()}
        shares = self.shares()
        for name, frame in (tables | ({} if shares.is_empty() else {SHARES: shares})).items():
            part = folder / f".{name}.part"
            frame.write_parquet(part)
            part.replace(folder / name)
        (folder / OF).write_text(json.dumps({"profile": profile}) + "\n", encoding="utf-8")


def item_tables(
    items: pl.DataFrame, contexts: Sequence[Context], judgments: Judgments | None, judged: Sequence[str], wanted: bool
) -> tuple[ItemTables | None, tuple[Note, ...]]:
    """The tables of an audit, or None with a note where they are too large; None without a note where not wanted.

    judged : the questions whose judgments were compared
    """
    if not wanted:
        return None, ()
    ids = items["item_id"].cast(pl.String)
    panels = [context.panel for context in contexts]
    said = dict.fromkeys(judged, judgments)
    asked = tuple(Asked(panel, ids.gather(panel.item_rows), said.get(panel.question.id)) for panel in panels)
    count = sum(one.count() for one in asked)
    if count > MOST_JUDGMENTS:
        return None, (Note("audit.note.compared_large", {"count": count, "most": MOST_JUDGMENTS}),)
    return ItemTables(items, asked), ()


def remove_tables(directory: Path) -> None:
    """Remove the tables of an earlier audit, which are not those of the profile that is about to be written."""
    folder = directory / FOLDER
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    kinds = (pl.Categorical, pl.Enum)
    return frame.with_columns(pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if kind in kinds)


def _consensus(asked: Asked) -> pl.DataFrame:
    arrays = asked.panel.arrays
    pool, item = np.nonzero(arrays.has)
    return pl.DataFrame(
        {
            "question": pl.repeat(asked.question, len(pool), dtype=pl.String, eager=True),
            "item_id": asked.item_ids.gather(item),
            "pool": pl.Series(asked.panel.pools, dtype=pl.String).gather(pool),
            "value": arrays.mean[pool, item],
            "n": pl.Series(arrays.n[pool, item]).fill_nan(None).cast(pl.Int64),
            "s2": pl.Series(arrays.s2[pool, item]).fill_nan(None),
        },
        schema=CONSENSUS_COLUMNS,
    )


def _shares(asked: Asked) -> pl.DataFrame:
    shares = asked.panel.arrays.shares
    if shares is None:
        return pl.DataFrame(schema=SHARE_COLUMNS)
    known = np.broadcast_to(asked.panel.arrays.has[..., None], shares.shape) & ~np.isnan(shares)
    pool, item, label = np.nonzero(known)
    return pl.DataFrame(
        {
            "question": pl.repeat(asked.question, len(pool), dtype=pl.String, eager=True),
            "item_id": asked.item_ids.gather(item),
            "pool": pl.Series(asked.panel.pools, dtype=pl.String).gather(pool),
            "label": pl.Series(asked.panel.question.scale.labels, dtype=pl.String).gather(label),
            "share": shares[pool, item, label],
        },
        schema=SHARE_COLUMNS,
    )


def _judgments(asked: Asked, judgments: Judgments) -> pl.DataFrame:
    """The judgments of a question's items by cell, item and repeat, on the scale on which they were compared."""
    rows = judgments.rows
    if isinstance(rows, Coded):
        found = _decoded(asked, rows.questions[asked.question])
    else:
        found = _joined(asked, rows, judgments.cells)
    rating = pl.col("rating")
    if asked.panel.ranges is not None:
        low, extent = (pl.Series(end).gather(found["item"]) for end in asked.panel.ranges)
        rating = (rating - low) / extent
    return found.select(
        _named([asked.question], np.zeros(found.height, dtype=np.int64)).alias("question"),
        _named(asked.item_ids.to_list(), found["item"].to_numpy()).alias("item_id"),
        *(
            _named(judgments.cells[name].cast(pl.String).to_list(), found["cell"].to_numpy()).alias(name)
            for name in ("judge", "condition")
        ),
        pl.col("repeat").cast(pl.Int64),
        rating,
        pl.col("status").cast(pl.Categorical),
    )


def _joined(asked: Asked, rows: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """cell (row of ``cells``), item, repeat, rating, status of the rows of a table."""
    items = pl.DataFrame({"item_id": asked.item_ids}).with_row_index("item")
    keys = cells.select("judge", "condition").with_row_index("cell")
    here = rows.filter(pl.col("question") == asked.question).with_columns(pl.col("item_id").cast(pl.String))
    both = here.join(items, on="item_id").join(keys, on=["judge", "condition"])
    return both.sort("cell", "item", "repeat").select(
        "cell", "item", "repeat", pl.col("value").alias("rating"), "status"
    )


def _decoded(asked: Asked, coded: CodedQuestion) -> pl.DataFrame:
    """The same of judgments that were read in pieces."""
    status = coded.status[:, asked.panel.item_rows]
    cell, item, repeat = np.nonzero(status)
    values = np.append(coded.values, np.nan)[coded.codes[:, asked.panel.item_rows][cell, item, repeat]]
    return pl.DataFrame(
        {
            "cell": coded.cells[cell],
            "item": item,
            "repeat": np.asarray(coded.repeats, dtype=np.int64)[repeat],
            "rating": pl.Series(values).fill_nan(None),
            "status": _named(list(coded.statuses), status[cell, item, repeat]),
        }
    )


def _named(names: list[str], places: npt.NDArray[np.integer[Any]]) -> pl.Series:
    """Names by their places, each name held once."""
    return pl.Series(names, dtype=pl.Categorical).gather(places)
