"""What judges said of the items of one question, put together so that numbers of every item come at once.

Shapes: J judges, I items, S statuses, N points. A point is all that one judge said of one item at one value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.corpus.corpus import Coded, CodedQuestion, Judgments
from voirdire.stats.features import Array

Ints = npt.NDArray[np.int64]
STATUSES = ("malformed", "refused", "error", "pending", "missing", "out_of_scale")
"""How a judgment without a rating ended, in the order in which they are shown."""
CONTROL = "control/"
"""How the names of a run's control judges begin."""
ROWS: dict[str, Any] = {
    "item_id": pl.String, "judge": pl.String, "condition": pl.String, "repeat": pl.Int64, "value": pl.Float64,
    "status": pl.String,
}  # fmt: skip
"""The columns that :func:`said_of_rows` reads."""


@dataclass(frozen=True)
class Said:
    """The judgments of one question over I items.

    judge, item, value, weight : (N,) a judge, an item, a rating and how many cells gave it; the repeats of a cell
        share its weight, as they do in an audit
    asked : (J, I) how many judgments there are, with and without a rating; status : (J, S, I) how many of them ended
        in each of ``STATUSES``
    rank_only : judges that answer on a scale that nobody declared; controls : judges known to be control judges,
        beside those that are called so
    """

    judges: tuple[str, ...]
    judge: Ints
    item: Ints
    value: Array
    weight: Array
    asked: npt.NDArray[np.int32]
    status: npt.NDArray[np.int32]
    rank_only: frozenset[str] = frozenset()
    controls: frozenset[str] = frozenset()

    @property
    def n_items(self) -> int:
        """How many items there are, judged or not."""
        return self.asked.shape[1]

    def per_judge(self, numbers: Array) -> tuple[Array, Array]:
        """(J, I) sums over cells of a number per point (N,), and how many cells those are; NaN does not count."""
        use = ~np.isnan(numbers)
        place = self.judge[use] * self.n_items + self.item[use]
        shape, size = (len(self.judges), self.n_items), len(self.judges) * self.n_items
        top = np.bincount(place, numbers[use] * self.weight[use], size).reshape(shape)
        bottom = np.bincount(place, self.weight[use], size).reshape(shape)
        return np.asarray(top, dtype=float), np.asarray(bottom, dtype=float)

    def comparable(self) -> npt.NDArray[np.bool_]:
        """(J,) whether a judge answers on the question's scale."""
        return np.array([judge not in self.rank_only for judge in self.judges], dtype=bool)

    def counted(self) -> npt.NDArray[np.bool_]:
        """(J,) whether a judge counts where several are taken together: control judges count by their names alone."""
        return np.array([not self.is_control(judge) for judge in self.judges], dtype=bool)

    def is_control(self, judge: str) -> bool:
        """Whether a judge is a control judge of a run (``control/constant_4``)."""
        return judge in self.controls or judge.startswith(CONTROL)

    def only(self, points: npt.NDArray[np.bool_]) -> Said:
        """Some points (N,) alone; what was asked stays."""
        return replace(
            self, judge=self.judge[points], item=self.item[points], value=self.value[points], weight=self.weight[points]
        )

    def on_ranges(self, low: Array, extent: Array) -> Said:
        """The ratings as places from 0 to 1 in the items' own ranges (I,); those of items without one are left out."""
        value = (self.value - low[self.item]) / extent[self.item]
        return replace(self, value=value).only(np.isfinite(value))


def said_of_rows(
    rows: pl.DataFrame, items: pl.Series, *, judges: Sequence[str] = (), rank_only: Collection[str] = ()
) -> Said:
    """What stands in a table of judgments of one question (the columns ``ROWS``).

    items : (I,) ids; rows of other items are left out
    judges : their order; others follow in the order of their first rows

    >>> rows = pl.DataFrame([["a", "m", "-", 1, 4.0, "ok"], ["a", "m", "-", 2, 5.0, "ok"],
    ...                      ["b", "m", "-", 1, None, "refused"]], schema=ROWS, orient="row")
    >>> said = said_of_rows(rows, pl.Series(["a", "b"]))
    >>> said.value.tolist(), said.weight.tolist(), said.asked.tolist()
    ([4.0, 5.0], [0.5, 0.5], [[2, 1]])
    """
    index = pl.DataFrame({"item_id": items.cast(pl.String)}).with_row_index("item")
    found = [str(name) for name in rows["judge"].cast(pl.String).unique(maintain_order=True)]
    names = tuple(dict.fromkeys([*(name for name in judges if name in set(found)), *found]))
    codes = {name: place for place, name in enumerate(names)}
    coded = rows.select(
        pl.col("item_id").cast(pl.String),
        pl.col("judge").cast(pl.String).replace_strict(codes, default=None, return_dtype=pl.Int64),
        pl.col("condition").cast(pl.String),
        "value",
        pl.col("status").cast(pl.String),
    ).join(index, on="item_id", how="inner", maintain_order="left")
    judge, item, value, weight = _points(coded)
    shape = (len(names), len(STATUSES), len(items))
    status = np.zeros(shape, dtype=np.int32)
    ended = coded.filter(pl.col("status").is_in(STATUSES)).with_columns(
        place=pl.col("status").replace_strict({name: s for s, name in enumerate(STATUSES)}, return_dtype=pl.Int64)
    )
    np.add.at(status, tuple(ended[name].to_numpy() for name in ("judge", "place", "item")), 1)
    asked = np.zeros((len(names), len(items)), dtype=np.int32)
    np.add.at(asked, (coded["judge"].to_numpy(), coded["item"].to_numpy()), 1)
    return Said(names, judge, item, value, weight, asked, status, frozenset(rank_only) & set(names))


def _points(coded: pl.DataFrame) -> tuple[Ints, Ints, Array, Array]:
    rated = coded.filter(pl.col("value").is_not_null())
    weighted = rated.with_columns(weight=1.0 / pl.len().over("judge", "condition", "item"))
    points = weighted.group_by("judge", "item", "value").agg(pl.col("weight").sum()).sort("judge", "item", "value")
    return (
        points["judge"].to_numpy().astype(np.int64),
        points["item"].to_numpy().astype(np.int64),
        points["value"].to_numpy().astype(float),
        points["weight"].to_numpy().astype(float),
    )


def said_of_judgments(judgments: Judgments, question: str, items: pl.Series) -> Said | None:
    """What judgments say of one question; None where they do not answer it."""
    if question not in judgments.questions:
        return None
    rank_only = {judge for judge, asked in judgments.rank_only if asked == question}
    judges = judgments.judges["judge"].cast(pl.String).to_list()
    if isinstance(judgments.rows, Coded):
        said = _said_of_codes(judgments.rows, question, judgments.cells, items, judges, rank_only)
    else:
        rows = judgments.rows.filter(pl.col("question") == question)
        said = said_of_rows(rows, items, judges=judges, rank_only=rank_only)
    return replace(said, controls=_controls(judgments.judges))


def _controls(judges: pl.DataFrame) -> frozenset[str]:
    """The judges of which the judges table of a run says that their provider is ``control``."""
    if "provider" not in judges.columns:
        return frozenset()
    return frozenset(judges.filter(pl.col("provider") == "control")["judge"].cast(pl.String))


def _said_of_codes(
    held: Coded, question: str, cells: pl.DataFrame, items: pl.Series, judges: Sequence[str], rank_only: Collection[str]
) -> Said:
    """A cell at a time: the codes of all cells are never turned into numbers at once."""
    coded = held.questions[question]
    of_cell = cells["judge"].cast(pl.String).gather(coded.cells).to_list()
    present = set(of_cell)
    names = tuple(name for name in judges if name in present)
    order = {name: place for place, name in enumerate(names)}
    at = places(held.items, items)
    size, n_values = len(items), len(coded.values)
    weights = np.zeros((len(names), size, n_values))
    asked = np.zeros((len(names), size), dtype=np.int32)
    status = np.zeros((len(names), len(STATUSES), size), dtype=np.int32)
    place_of = [STATUSES.index(name) if name in STATUSES else -1 for name in coded.statuses]
    here = at >= 0
    for cell, name in enumerate(of_cell):
        j = order[name]
        _add_cell(coded, cell, here, at, weights[j])
        ended = coded.status[cell][here]
        asked[j, at[here]] += (ended > 0).sum(1).astype(np.int32)
        for code, s in enumerate(place_of):
            if s >= 0:
                status[j, s, at[here]] += (ended == code).sum(1).astype(np.int32)
    judge, item, value = np.nonzero(weights)
    return Said(
        names, judge, item, coded.values[value], weights[judge, item, value], asked, status, frozenset(rank_only)
    )


def _add_cell(coded: CodedQuestion, cell: int, here: npt.NDArray[np.bool_], at: Ints, weights: Array) -> None:
    """Add what one cell says to the weights (I, L) of its judge."""
    codes = coded.codes[cell][here]
    rated = codes >= 0
    if codes.shape[1] == 1:
        only = rated[:, 0]
        weights[at[here][only], codes[only, 0]] += 1.0
        return
    each = np.repeat((1.0 / np.maximum(rated.sum(1), 1))[:, None], codes.shape[1], axis=1)
    rows = np.repeat(at[here][:, None], codes.shape[1], axis=1)
    np.add.at(weights, (rows[rated], codes[rated].astype(np.int64)), each[rated])


def places(of: pl.Series, among: pl.Series) -> Ints:
    """Where the ids of one list stand in another, -1 where they do not."""
    index = pl.DataFrame({"item_id": among.cast(pl.String)}).with_row_index("place")
    joined = pl.DataFrame({"item_id": of.cast(pl.String)}).join(index, on="item_id", how="left", maintain_order="left")
    return joined["place"].cast(pl.Int64).fill_null(-1).to_numpy()
