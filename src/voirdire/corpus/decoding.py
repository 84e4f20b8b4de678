"""From the numbers of a stream's rows to kinds of rows with their count, and to the coded judgments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.corpus.answer_cube import AnswerCube
from voirdire.corpus.coding import ItemCoder
from voirdire.corpus.corpus import Coded, CodedQuestion, Corpus, Judgments
from voirdire.corpus.intake import REASON

Ints = npt.NDArray[np.int64]
ABSENT = "absent"


@dataclass(frozen=True)
class Kinds:
    """Rows that are alike but for their item, as one row with their number ``_n``.

    slot, group, answer : (A,) of the first A rows of ``frame``; rows of items that the corpus does not have follow
    groups : (I,) group of every item of the corpus: items with the same scale of their own, -1 for those left out
    """

    frame: pl.DataFrame
    slot: Ints
    group: Ints
    answer: Ints
    groups: Ints


def kinds_of(
    slots: pl.DataFrame, answers: pl.DataFrame, cube: AnswerCube, items: ItemCoder, duplicates: int, corpus: Corpus
) -> Kinds:
    """The kinds of rows: a frame for ``conclude``.

    An item of a group stands for all of it; an item that the corpus does not have, or leaves out, has a row of its own.
    """
    groups, shown = _groups(items, corpus)
    counted = zip(*_counted(cube, groups, len(answers)), strict=True)
    slot, group, answer, count = (np.concatenate(part) for part in counted)
    known = slots[slot].with_columns(
        item_id=pl.Series([shown[place] for place in group], dtype=pl.String),
        raw=answers["raw"].gather(answer),
        _given=answers["_given"].gather(answer),
        _n=pl.Series(count),
        _reason=pl.lit(None, REASON),
        _column=pl.lit(None, pl.String),
    )
    parts = [known, *_strange(slots, cube, items, groups, known.schema)]
    if duplicates:
        row = {"_n": [duplicates], "_reason": ["duplicate"], "_row": [0]}
        parts.append(pl.DataFrame({name: row.get(name, [None]) for name in known.columns}, schema=known.schema))
    return Kinds(pl.concat(parts), slot, group, answer, groups[: items.n_known])


def _groups(items: ItemCoder, corpus: Corpus) -> tuple[Ints, list[str]]:
    """Group of every item, -1 for those that are not in the corpus or left out, and an item that shows each."""
    places: dict[Any, int] = {}
    shown: list[str] = []
    groups = np.full(len(items.ids), -1, dtype=np.int64)
    for place, item in enumerate(items.ids[: items.n_known]):
        if item in corpus.excluded_items and corpus.excluded_items[item] != "duplicate":
            continue
        scale = corpus.item_scales.get(item)
        own = None if scale is None else (scale.level, scale.low, scale.high)
        if own not in places:
            places[own] = len(shown)
            shown.append(item)
        groups[place] = places[own]
    return groups, shown


def _counted(cube: AnswerCube, groups: Ints, n_answers: int) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Slot, group, answer and count of the kinds of every slot."""
    nothing = np.zeros(0, dtype=np.int64)
    yield nothing, nothing, nothing, nothing
    width = cube.shape[1]
    usable = np.flatnonzero(groups[:width] >= 0)
    n_groups = int(groups.max(initial=-1)) + 1
    if not n_groups:
        return
    shift = None if n_groups == 1 else groups[usable] * (n_answers + 1)
    for slot, row in enumerate(cube.table):
        found = row if usable.size == width else row[usable]
        codes = found if shift is None else found + shift
        counts = np.bincount(codes, minlength=n_groups * (n_answers + 1)).reshape(n_groups, n_answers + 1)[:, 1:]
        group, answer = np.nonzero(counts)
        yield np.full(len(group), slot), group, answer, counts[group, answer]


def _strange(
    slots: pl.DataFrame, cube: AnswerCube, items: ItemCoder, groups: Ints, schema: pl.Schema
) -> list[pl.DataFrame]:
    """Rows of the items that are not in the corpus, an item each."""
    strange = np.flatnonzero(groups[: cube.shape[1]] < 0)
    if not strange.size:
        return []
    counts = np.zeros(strange.size, dtype=np.int64)
    for row in cube.table:
        counts += row[strange] != 0
    there = np.flatnonzero(counts)
    frame = slots.head(1).select(pl.all().repeat_by(len(there)).explode()) if there.size else slots.head(0)
    frame = frame.with_columns(
        item_id=pl.Series([items.ids[strange[place]] for place in there], dtype=pl.String),
        raw=pl.lit(None, pl.String),
        _given=pl.lit("ok"),
        _n=pl.Series(counts[there]),
        _reason=pl.lit(None, REASON),
        _column=pl.lit(None, pl.String),
    )
    return [frame.select(schema.names()).cast(dict(schema))]  # type: ignore[arg-type]


def decode(
    judgments: Judgments, valued: pl.DataFrame, kinds: Kinds, slots: pl.DataFrame, cube: AnswerCube, corpus: Corpus
) -> Coded:
    """The coded judgments. valued : the kinds with ``value`` and ``_status``, in their order."""
    rows = valued.head(len(kinds.slot)).select("question", "value", pl.col("_status").cast(pl.String))
    kept = rows.with_row_index("place").filter(pl.col("_status").is_not_null())
    cells = {key: place for place, key in enumerate(judgments.cells.select("judge", "condition").iter_rows())}
    decoder = _Decoder(kinds, slots, cube, cells)
    questions = {
        name: decoder.question(kept.filter(pl.col("question") == name))
        for name in kept["question"].unique(maintain_order=True)
    }
    return Coded(corpus.items["item_id"].cast(pl.String), questions)


@dataclass(frozen=True)
class _Decoder:
    kinds: Kinds
    slots: pl.DataFrame
    cube: AnswerCube
    cells: dict[tuple[str, str], int]

    def question(self, rows: pl.DataFrame) -> CodedQuestion:
        """rows : place among the kinds, value and status of the kinds of a question."""
        place = rows["place"].to_numpy()
        values = rows["value"].drop_nulls().unique().sort().to_numpy()
        statuses = (ABSENT, *sorted(rows["_status"].unique()))
        value_code = np.where(rows["value"].is_null(), -1, np.searchsorted(values, rows["value"].fill_null(0)))
        of_status = {name: n for n, name in enumerate(statuses)}
        status_code = np.array([of_status[name] for name in rows["_status"]])
        used = np.unique(self.kinds.slot[place])
        own = [self.cells[key] for key in self.slots[used].select("judge", "condition").iter_rows()]
        cells, repeats = sorted(set(own)), sorted(set(self.slots["repeat"].gather(used)))
        shape = (len(cells), len(self.kinds.groups), len(repeats))
        dtype = np.int8 if values.size <= 127 else np.int16 if values.size < 2**15 else np.int32
        codes, status = np.full(shape, -1, dtype=dtype), np.zeros(shape, dtype=np.uint8)
        for slot, cell in zip(used, own, strict=True):
            mine = np.flatnonzero(self.kinds.slot[place] == slot)
            at = cells.index(cell), slice(None), repeats.index(self.slots["repeat"][int(slot)])
            codes[at] = self._spread(int(slot), place[mine], value_code[mine], -1)
            status[at] = self._spread(int(slot), place[mine], status_code[mine], 0)
        return CodedQuestion(np.array(cells), tuple(repeats), codes, values, status, statuses)

    def _spread(self, slot: int, place: Ints, codes: Ints, nothing: int) -> Ints:
        """(I,) the codes of a slot's kinds at the items that have them."""
        groups, answer = self.kinds.groups, self.kinds.answer[place] + 1
        table = np.full((int(groups.max(initial=-1)) + 2, int(answer.max()) + 1), nothing)
        table[self.kinds.group[place], answer] = codes
        row = np.minimum(self.cube.table[slot, : len(groups)], table.shape[1] - 1)
        return np.asarray(table[groups, row])
