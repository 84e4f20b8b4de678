"""The numbers of a shelf's items, worked out once and again when a run has grown."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from voirdire.analysis.options import AuditOptions
from voirdire.analysis.selections import NOT_A_SLICE, slicing_column
from voirdire.browsing.item_distances import distance_numbers
from voirdire.browsing.item_filters import Filters, Order, matching, ordered
from voirdire.browsing.item_pools import ItemPools, pools_of_consensus, pools_of_corpus, ranges_of
from voirdire.browsing.item_table import Pair, item_facts, pair_numbers, question_numbers
from voirdire.browsing.library import Shelf
from voirdire.browsing.said import Said
from voirdire.browsing.sources import RunSource, Source, names_in, sources_of, together
from voirdire.corpus.corpus import Question
from voirdire.corpus.shown import WORDED, language_columns
from voirdire.scales import Scale

SEARCHED = tuple(kind for kind in WORDED if kind != "prompt")
MOST_FRAMES, MOST_BYTES = 12, 128_000_000
"""How many frames are kept, and how large all that belongs to one pair of pools alone may be."""
MOST_ORDERS = 8
MOST_DISTANCES = 4
"""How many frames of distances are kept."""
STILL = 3.0
"""Seconds for which the judgments of a growing run are not read again, for each ``QUICK`` that reading them took."""
QUICK = 0.25


@dataclass(frozen=True)
class Judged:
    """What judges said of one question. names : of each source's judges, as the source calls them -> as shown."""

    said: Said | None
    sources: tuple[Source, ...] = ()
    names: tuple[Mapping[str, str], ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """Every judge."""
        return () if self.said is None else self.said.judges


@dataclass(frozen=True)
class Kept:
    """The frame of a pair of pools. size : bytes of what it alone has; orders : rows in the orders asked for lately"""

    judged: Judged
    frame: pl.DataFrame
    size: int
    orders: OrderedDict[Order, pl.Series]


class ShelfNumbers:
    """The numbers of one shelf.

    told : the questions of an audit's profile, where the shelf is that of an audit alone (they hold its scales)
    Safe between threads: one works out what others wait for.
    """

    def __init__(self, shelf: Shelf, told: Sequence[Mapping[str, Any]] = ()) -> None:
        self.shelf = shelf
        self._told = {str(one["id"]): one for one in told}
        self._lock = threading.RLock()
        self._pools: dict[str, ItemPools | None] = {}
        self._judged: dict[str, tuple[float, tuple[object, ...], Judged]] = {}
        self._shared: dict[str, tuple[Judged, pl.DataFrame]] = {}
        self._frames: OrderedDict[tuple[str, Pair | None], Kept] = OrderedDict()
        self._distances: OrderedDict[tuple[str, int | None], tuple[Judged, pl.DataFrame]] = OrderedDict()

    @cached_property
    def ids(self) -> pl.Series:
        """(I,) item ids in the order of the shelf."""
        return self.shelf.table["item_id"].cast(pl.String)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Where judgments come from."""
        return sources_of(self.shelf)

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        """The questions that people or judges answered, by id: those of the ratings first."""
        found: dict[str, Question] = {}
        if self.shelf.corpus is not None:
            found = {question.id: question for question in self.shelf.corpus.questions}
        for name, one in self._told.items():
            found.setdefault(name, _question(one))
        for source in self.sources:
            asked = source.asked if isinstance(source, RunSource) else ()
            for question in asked:
                found.setdefault(question.id, question)
            for name in source.questions():
                found.setdefault(name, Question(name, Scale("interval")))
        return found

    @cached_property
    def judged_questions(self) -> tuple[str, ...]:
        """The questions that some judge answers."""
        answered = {name for source in self.sources for name in source.questions()}
        return tuple(name for name in self.questions if name in answered)

    @cached_property
    def slicing(self) -> Mapping[str, tuple[str, ...]]:
        """Column -> its levels, of the columns that items are sliced by and those that audits take for slices."""
        table = self.shelf.table
        asked = self.shelf.options.slices if self.shelf.options is not None else ()
        names = [name for name in table.columns if (name in asked or slicing_column(table[name])) and name != "split"]
        cells = {name: table[name].alias("level").cast(pl.String) for name in names}
        levels = {name: cell.drop_nulls().unique().sort().to_list() for name, cell in cells.items()}
        return {name: tuple(found) for name, found in levels.items() if name not in NOT_A_SLICE}

    @cached_property
    def facts(self) -> pl.DataFrame:
        """What is known of every item without ratings: see :func:`~voirdire.browsing.item_table.item_facts`."""
        table = self.shelf.table
        searched = [name for kind in SEARCHED for name in language_columns(table.columns, kind).values()]
        return item_facts(table, tuple(self.slicing), searched)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The parts of the corpus that items belong to."""
        return tuple(self.facts["split"].unique(maintain_order=True).to_list())

    @cached_property
    def n_pairs(self) -> int:
        """How many concept pairs there are."""
        return len(self.shelf.pairs)

    def pools(self, question: str) -> ItemPools | None:
        """The pools that rated a question; None where nobody did."""
        with self._lock:
            if question not in self._pools:
                self._pools[question] = self._read_pools(question)
            return self._pools[question]

    def _read_pools(self, question: str) -> ItemPools | None:
        corpus, asked = self.shelf.corpus, self.questions.get(question)
        if asked is None:
            return None
        if corpus is not None:
            if question not in {one.id for one in corpus.questions}:
                return None
            options = self.shelf.options or AuditOptions()
            return pools_of_corpus(corpus, asked, self.ids, consensus=options.consensus, min_raters=options.min_raters)
        if self.shelf.compared is None:
            return None
        rows = self.shelf.compared.consensus.filter(pl.col("question") == question)
        shares = self.shelf.compared.shares.filter(pl.col("question") == question)
        normalised = bool(self._told.get(question, {}).get("normalised"))
        return pools_of_consensus(rows, question, asked.scale, self.ids, shares=shares, normalised=normalised)

    def judged(self, question: str) -> Judged:
        """What judges said of a question, as of some seconds ago at most; the longer, the longer they take to read."""
        with self._lock:
            begun = time.monotonic()
            held = self._judged.get(question)
            if held is not None and begun < held[0]:
                return held[2]
            stamps = tuple(source.stamp() for source in self.sources)
            if held is None or held[1] != stamps:
                held = (0.0, stamps, self._read_judged(question))
            now = time.monotonic()
            self._judged[question] = (now + STILL * max(1.0, (now - begun) / QUICK), *held[1:])
            return held[2]

    def _read_judged(self, question: str) -> Judged:
        parts = [(source, source.said(question, self.ids)) for source in self.sources]
        known = [(source, said) for source, said in parts if said is not None]
        sources = tuple(source for source, _ in known)
        saids = [self._on_ranges(said, question) for _, said in known]
        names = names_in(sources, [said.judges for said in saids])
        shown = tuple(dict(zip(said.judges, own, strict=True)) for said, own in zip(saids, names, strict=True))
        return Judged(together(saids, names), sources, shown)

    def _on_ranges(self, said: Said, question: str) -> Said:
        """The judgments related to the items' own scales, where the pools are; those of an audit are already."""
        pools = self.pools(question)
        if pools is None or pools.ranges is None or self.shelf.corpus is None:
            return said
        return said.on_ranges(*ranges_of(self.shelf.corpus.item_scales, pools.scale, self.ids))

    def pairs(self, question: str) -> tuple[Pair, ...]:
        """Every pair of pools of a question, those that the audit was asked for first."""
        pools = self.pools(question)
        if pools is None:
            return ()
        count = len(pools.pools)
        asked = self.shelf.options.pairs if self.shelf.options is not None else ()
        first = [(pools.place(a), pools.place(b)) for a, b in asked if a in pools.pools and b in pools.pools and a != b]
        taken = {frozenset(pair) for pair in first}
        rest = [(a, b) for a in range(count) for b in range(a + 1, count) if frozenset((a, b)) not in taken]
        return (*first, *rest)

    def frame(self, question: str, pair: Pair | None) -> pl.DataFrame:
        """All numbers of all items: the columns of :mod:`voirdire.browsing.item_table`."""
        return self._kept(question, pair).frame

    def distances(self, question: str, judge: int | None) -> pl.DataFrame:
        """How far a judge, or all of them, is from every pool on every item: see ``distance_numbers``."""
        with self._lock:
            judged, key = self.judged(question), (question, judge)
            held = self._distances.get(key)
            if held is None or held[0] is not judged:
                found = distance_numbers(len(self.ids), self.pools(question), judged.said, judge)
                held = self._distances[key] = (judged, found)
            self._distances.move_to_end(key)
            while len(self._distances) > MOST_DISTANCES:
                self._distances.popitem(last=False)
            return held[1]

    def listed(self, question: str, pair: Pair | None, filters: Filters, order: Order) -> pl.DataFrame:
        """``n`` and ``pair_id`` of the items that meet the filters, in an order that is worked out once a frame."""
        kept = self._kept(question, pair)
        with self._lock:
            if order not in kept.orders:
                frame = kept.frame
                if order.pool is not None:
                    frame = frame.select("n").hstack(self.distances(question, order.judge))
                kept.orders[order] = ordered(frame, order)
            kept.orders.move_to_end(order)
            rows = kept.orders[order]
            while len(kept.orders) > MOST_ORDERS:
                kept.orders.popitem(last=False)
        return kept.frame.select("n", "pair_id")[rows].filter(matching(kept.frame, filters).gather(rows))

    def _kept(self, question: str, pair: Pair | None) -> Kept:
        with self._lock:
            judged = self.judged(question)
            held = self._frames.get((question, pair))
            if held is None or held.judged is not judged:
                own = pair_numbers(len(self.ids), self.pools(question), judged.said, pair)
                frame = pl.concat([self._of_question(question, judged), own], how="horizontal")
                held = self._frames[(question, pair)] = Kept(judged, frame, int(own.estimated_size()), OrderedDict())
            self._frames.move_to_end((question, pair))
            while len(self._frames) > 1 and (
                len(self._frames) > MOST_FRAMES or sum(one.size for one in self._frames.values()) > MOST_BYTES
            ):
                self._frames.popitem(last=False)
            return held

    def _of_question(self, question: str, judged: Judged) -> pl.DataFrame:
        """What the frames of all pairs share."""
        held = self._shared.get(question)
        if held is None or held[0] is not judged:
            for key in [key for key, kept in self._frames.items() if key[0] == question and kept.judged is not judged]:
                del self._frames[key]
            numbers = question_numbers(len(self.ids), self.pools(question), judged.said)
            held = self._shared[question] = (judged, pl.concat([self.facts, numbers], how="horizontal"))
        return held[1]


def _question(told: Mapping[str, Any]) -> Question:
    """A question as a profile describes it."""
    scale = Scale(
        str(told["level"]),
        told.get("low"),
        told.get("high"),
        tuple(told.get("labels") or ()),
        told.get("positive"),
        tuple(told.get("missing") or ()),
    )
    return Question(str(told["id"]), scale, told.get("role"), dict(told.get("text") or {}))
