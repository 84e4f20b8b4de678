"""Judgments read in pieces into a cube of bytes: memory follows items x cells, not rows.

Every row is reduced to three numbers: its item, its slot (cell, question and repeat) and its answer (text and
status). What is concluded from rows is concluded from the distinct slots and answers and their number, by the same
steps as for a table in memory, so that both ways of reading have one meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.answer_cube import AnswerCube, Numbering
from voirdire.corpus.cells import MAX_FACTOR_LEVELS, PROVENANCE, full_condition
from voirdire.corpus.coding import Coder, ItemCoder
from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.corpus.decoding import decode, kinds_of
from voirdire.corpus.intake import choice, note, refuse, some, warning
from voirdire.corpus.judgment_steps import (
    DUPLICATES,
    TARGETS,
    complete,
    conclude,
    judge_columns,
    names_alike,
    repeats,
    statuses,
    take_columns,
)
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.parts import Parts
from voirdire.errors import InputError
from voirdire.tables import Table, as_text

MOST_REPEATS = 1000
SLOT = ("judge", "condition", "question", "repeat")


def stream_judgments(parts: Parts, options: JudgmentOptions, corpus: Corpus) -> Judgments:
    """What ``read_judgments`` reads, from Parquet files in pieces. Raises the same errors, by file and row."""
    layout = _layout(parts, options)
    factors, told, filled = _unique_cells(layout, options, corpus)
    if filled.twice is not None:
        filled, more = _duplicates(layout, factors, options, corpus, filled)
    else:
        more = []
    slots = full_condition(filled.slots, factors, layout.table)
    lost = 0 if filled.numbering is not None else filled.cube.rows - filled.cube.filled
    kinds = kinds_of(slots, filled.answers.frame(), filled.cube, filled.items, lost, corpus)
    notes = [*layout.notes, *filled.notes], [*told, *names_alike(slots, layout.table), *more]
    judges = slots["judge"].unique(maintain_order=True).to_list()
    judgments, valued = conclude(kinds.frame, judges, factors, layout.table, options, corpus, notes)
    return replace(judgments, rows=decode(judgments, valued, kinds, slots, filled.cube, corpus))


@dataclass(frozen=True)
class Layout:
    """Which column is what, before any row is read.

    table : without rows, our names; wide : columns that hold a judge each; renames : the files' names -> ours
    repeats : text of the repeat column -> its number, None without such a column
    """

    parts: Parts
    table: Table
    renames: dict[str, str]
    wide: tuple[str, ...]
    repeats: dict[str | None, int] | None
    notes: tuple[Note, ...]

    @property
    def ours(self) -> tuple[str, ...]:
        """Our names of the columns that a row's place and answer need."""
        wanted = [*TARGETS, *self.wide]
        return tuple(name for name in self.renames.values() if name in wanted)

    def theirs(self, ours: Sequence[str]) -> list[str]:
        """The files' names of columns."""
        back = {name: theirs for theirs, name in self.renames.items()}
        return [back[name] for name in ours]

    def batches(self, factors: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Rows with our names: ``_row``, item_id, raw, and what there is of judge, condition, ..., and the factors."""
        ours = [*self.ours, *(name for name in factors if name not in self.ours)]
        values = self.theirs(["rating"]) if "rating" in self.ours else self.wide
        for batch in self.parts.batches(self.theirs(ours), values):
            frame = batch.rename({theirs: self.renames[theirs] for theirs in batch.columns if theirs != "_row"})
            if self.wide:
                rest = [name for name in frame.columns if name not in self.wide]
                frame = frame.unpivot(list(self.wide), index=rest, variable_name="judge", value_name="raw")
            yield frame.rename({"rating": "raw"}, strict=False)


def _layout(parts: Parts, options: JudgmentOptions) -> Layout:
    empty = pl.DataFrame(schema=dict.fromkeys(parts.columns, pl.String))
    files = [(start, str(part.path)) for part, start in zip(parts.files, parts.starts, strict=False)]
    given = Table(empty, str(parts.path), parts.digest, parts=files)
    table, notes = take_columns(given, options)
    if parts.starts[-1] == 0:
        raise InputError("input.file_no_rows", file=table.file)
    columns, if_numbers = judge_columns(table.frame.columns, options)
    if if_numbers and columns:
        raise InputError("input.part_judges_unnamed", file=table.file, value=table.shown_columns)
    if columns:
        rows, width = parts.starts[-1], len(columns)
        told = note("cells_counted", file=table.file, name="judge", columns=width, rows=rows, cells=rows * width)
        notes.append(told)
        beside = some(name for name in empty.columns if name not in columns)
        notes.append(note("wide_columns", file=table.name, count=len(columns), used=some(columns), beside=beside))
    else:
        names.require(table, "rating")
    renames = dict(zip(empty.columns, table.frame.columns, strict=True))
    layout = Layout(parts, table, renames, tuple(columns), None, tuple(notes))
    return replace(layout, repeats=_repeat_numbers(layout)) if "repeat" in layout.ours else layout


def _repeat_numbers(layout: Layout) -> dict[str | None, int]:
    """Number of every text of the repeat column, as for a table in memory."""
    column = layout.theirs(["repeat"])
    found = as_text(layout.parts.distinct(column[0]).rename({column[0]: "repeat"})).unique()
    if found.height > MOST_REPEATS:
        table = layout.table
        raise InputError("input.part_repeats", file=table.file, column=column[0], count=found.height, most=MOST_REPEATS)
    numbered, _ = repeats(found)
    return dict(zip(found["repeat"], numbered["repeat"], strict=True))


@dataclass(frozen=True)
class Twice:
    """A cell that was found twice: its slot and item, and the row where it was found again."""

    slot: int
    item: int
    row: int


@dataclass(frozen=True)
class Filled:
    """The rows of a stream as numbers.

    coder : of cells, with a slot for each unless ``numbering`` gives them more; answers : of raw and _given
    twice : what stopped the reading
    """

    cube: AnswerCube
    items: ItemCoder
    coder: Coder
    answers: Coder
    numbering: Numbering | None
    notes: tuple[Note, ...]
    twice: Twice | None

    @property
    def slots(self) -> pl.DataFrame:
        """One row a slot: judge, condition, question, repeat, factors, ``_row`` of the first."""
        frame = self.coder.frame()
        if self.numbering is None:
            return frame
        cells, numbers = zip(*self.numbering.slots, strict=True)
        return frame[list(cells)].with_columns(repeat=pl.Series(numbers, dtype=pl.Int64))


def _fill(
    layout: Layout, factors: Sequence[str], options: JudgmentOptions, corpus: Corpus, policy: str = "stop"
) -> Filled:
    """Read every row into a cube, or up to the first cell that is there twice."""
    told: list[Note] = []

    def slots(frame: pl.DataFrame) -> pl.DataFrame:
        given = frame.with_columns(item_id=pl.lit("-"), _column=pl.lit(None, pl.String))
        settled, notes = complete(given, layout.table, options, corpus)
        told.extend(one for one in notes if one not in told)
        if policy == "repeat" or layout.repeats is None:
            return settled.with_columns(repeat=pl.lit(1, pl.Int64))
        numbers = [layout.repeats[text] for text in settled["repeat"]]
        return settled.with_columns(repeat=pl.Series(numbers, dtype=pl.Int64))

    def answers(frame: pl.DataFrame) -> pl.DataFrame:
        return statuses(frame.with_columns(_column=pl.lit(None, pl.String)), layout.table)

    cell = [name for name in (*SLOT, *factors) if name != "repeat" or policy != "repeat"]
    items = ItemCoder(corpus.items["item_id"].cast(pl.String), layout.table)
    coder = Coder(cell, slots, [*SLOT, *(name for name in factors if name not in SLOT)])
    by_answer = Coder(["raw", "status"], answers, ["raw", "_given"])
    cube = AnswerCube(items.n_known)
    numbering = Numbering(items.n_known) if policy == "repeat" else None
    twice = None
    for batch in layout.batches(factors):
        item, slot, answer = items.codes(batch), coder.codes(batch), by_answer.codes(batch)
        slot = slot if numbering is None else numbering.slot(slot, item)
        again = cube.put(slot, item, answer, policy if numbering is None else "last")
        if again is not None:
            twice = Twice(int(slot[again]), int(item[again]), int(batch["_row"][again]))
            break
    return Filled(cube, items, coder, by_answer, numbering, tuple(told), twice)


def _unique_cells(
    layout: Layout, options: JudgmentOptions, corpus: Corpus
) -> tuple[tuple[str, ...], list[Note], Filled]:
    """The extra key columns: those named, or the fewest that make cells unique when they are not, and the cube."""
    first = _fill(layout, options.factors, options, corpus)
    if first.twice is None or options.factors:
        return options.factors, [], first
    taken = (*SLOT, *layout.ours, "item_id", "raw", "status")
    extra = [name for name in layout.table.frame.columns if name not in taken]
    free = [name for name in extra if names.normal(name) not in PROVENANCE]
    levels = {name: layout.parts.distinct(layout.theirs([name])[0]).height for name in free}
    candidates = [name for name, count in levels.items() if 2 <= count <= MAX_FACTOR_LEVELS]
    for size in (1, 2, 3):
        for chosen in combinations(candidates, size):
            filled = _fill(layout, chosen, options, corpus)
            if filled.twice is None:
                told = note("factors_found", file=layout.table.name, factors=", ".join(chosen))
                return chosen, [told], filled
    return (), [], first


def _duplicates(
    layout: Layout, factors: tuple[str, ...], options: JudgmentOptions, corpus: Corpus, filled: Filled
) -> tuple[Filled, list[Note]]:
    """Cells that stand there twice, as the options say."""
    policy = choice("duplicates", options.duplicates, DUPLICATES)
    if policy == "refuse" and filled.twice is not None:
        raise _judged_twice(layout, factors, filled, filled.twice)
    filled = _fill(layout, factors, options, corpus, policy)
    file = layout.table.name
    if filled.numbering is not None:
        return filled, [note("repeats_numbered", file=file, count=filled.numbering.repeated)]
    return filled, [warning("duplicates", count=filled.cube.rows - filled.cube.filled, policy=policy, file=file)]


def _judged_twice(layout: Layout, factors: tuple[str, ...], filled: Filled, twice: Twice) -> InputError:
    """The error for a cell that was found twice; its first row is looked for once more."""
    table = layout.table
    for batch in layout.batches(factors):
        here = (filled.items.codes(batch) == twice.item) & (filled.coder.codes(batch) == twice.slot)
        if here.any():
            break
    file, row = table.place(int(batch["_row"][int(here.argmax())]))
    cell = full_condition(filled.slots, factors, table).row(twice.slot, named=True)
    again = pl.DataFrame({"_row": [twice.row], "item_id": [filled.items.ids[twice.item]]})
    return refuse(
        "judged_twice", table, again, "item_id", judge=cell["judge"], condition=cell["condition"],
        question=cell["question"], earlier=row if file == table.place(twice.row)[0] else f"{row} ({file})",
    )  # fmt: skip
