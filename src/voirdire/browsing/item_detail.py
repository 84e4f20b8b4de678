"""Everything that people and judges said of one item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from voirdire.browsing.item_pools import ItemPools
from voirdire.browsing.run_answers import Try, counts_of_run, tries_of_run
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.browsing.sources import RunSource
from voirdire.browsing.table_answers import TableAnswers
from voirdire.corpus.corpus import Corpus, Question
from voirdire.scales import Scale

MOST_LEVELS = 21
BINS = 10


@dataclass(frozen=True)
class Level:
    """An answer that people can give, or a range of numbers. count : None where only shares are known."""

    name: str
    count: int | None
    share: float


@dataclass(frozen=True)
class PoolAnswers:
    """A pool's answers to one question about one item.

    consensus : by the rule of the audit; None without one and for labels without order
    n : raters behind it, None where unknown; levels : empty where only the consensus is known
    """

    pool: str
    consensus: float | None
    n: int | None
    levels: tuple[Level, ...] = ()

    @property
    def has(self) -> bool:
        """Whether anything is known."""
        return self.consensus is not None or bool(self.levels)


@dataclass(frozen=True)
class Answer:
    """One judgment. value : None without a rating; status : ``ok`` or why there is none."""

    repeat: int
    value: float | None
    status: str


@dataclass(frozen=True)
class JudgeAnswers:
    """A judge's ratings of the item: condition -> its repeats, in the order of the judgments. mean : over cells."""

    judge: str
    conditions: Mapping[str, tuple[Answer, ...]]
    mean: float | None

    @property
    def without_rating(self) -> int:
        """How many judgments ended without a rating."""
        return sum(answer.value is None for answers in self.conditions.values() for answer in answers)


@dataclass(frozen=True)
class QuestionAnswers:
    """One question about one item. normalised : consensuses are places from 0 to 1 in the item's own range."""

    question: Question
    scale: Scale
    pools: tuple[PoolAnswers, ...]
    judges: tuple[JudgeAnswers, ...]
    normalised: bool = False

    @property
    def n_judgments(self) -> int:
        """How many judgments there are, with and without a rating."""
        return sum(len(answers) for judge in self.judges for answers in judge.conditions.values())


def answers_about(numbers: ShelfNumbers, item: str) -> tuple[QuestionAnswers, ...]:
    """What was said of an item, question by question; questions without any answer are left out."""
    place = numbers.shelf.places[item] - 1
    found = []
    for question in numbers.questions.values():
        scale = _scale_of(numbers, question, item)
        pools = numbers.pools(question.id)
        people = () if pools is None else tuple(_people(numbers, pools, scale, item, place))
        judges = tuple(_judges(numbers, question.id, item))
        if judges or any(pool.has for pool in people):
            normalised = pools is not None and pools.normalised
            found.append(QuestionAnswers(question, scale, people, judges, normalised))
    return tuple(found)


def _scale_of(numbers: ShelfNumbers, question: Question, item: str) -> Scale:
    """The item's own scale where it overrides that of the question."""
    corpus = numbers.shelf.corpus
    if corpus is None or question.scale.labels:
        return question.scale
    return corpus.item_scales.get(item, question.scale)


def _people(numbers: ShelfNumbers, pools: ItemPools, scale: Scale, item: str, place: int) -> list[PoolAnswers]:
    corpus, answers = numbers.shelf.corpus, {}
    if corpus is not None:
        answers = ratings_of(corpus, pools.question, item)
    levels = levels_of_scale(scale, [value for values in answers.values() for value in values])
    found = []
    for k, pool in enumerate(pools.pools):
        mean, n = pools.arrays.mean[k, place], pools.arrays.n[k, place]
        shares = None if pools.arrays.shares is None else pools.arrays.shares[k, place]
        told = _counted(levels, answers.get(pool, ()))
        if not told and shares is not None and not np.isnan(shares).any():
            told = tuple(Level(label, None, float(share)) for label, share in zip(scale.labels, shares, strict=True))
        known = not np.isnan(mean)
        consensus = float(mean) if known and not pools.scale.nominal else None
        found.append(PoolAnswers(pool, consensus, int(n) if known and not np.isnan(n) else None, told))
    return found


def ratings_of(corpus: Corpus, question: str, item: str) -> dict[str, tuple[float, ...]]:
    """Pool -> the ratings of its raters of one item, without their names."""
    rows = corpus.ratings.filter((pl.col("item_id") == item) & (pl.col("question") == question))
    grouped = rows.group_by("pool", maintain_order=True).agg(pl.col("value"))
    return {str(pool): tuple(values) for pool, values in grouped.select("pool", "value").iter_rows()}


@dataclass(frozen=True)
class Bin:
    """A level, or the numbers from ``low`` up to ``high`` (which belongs to the last bin alone)."""

    name: str
    low: float
    high: float
    last: bool = False

    def holds(self, value: float) -> bool:
        """Whether a rating belongs here."""
        if self.low == self.high:
            return abs(value - self.low) <= 1e-9
        return self.low <= value < self.high or (self.last and value == self.high)


def levels_of_scale(scale: Scale, values: Sequence[float]) -> tuple[Bin, ...]:
    """The levels of a scale, the values that occur where they are few, else ten equal ranges.

    >>> [level.name for level in levels_of_scale(Scale("ordinal", 1, 3), ())]
    ['1', '2', '3']
    >>> [level.name for level in levels_of_scale(Scale("interval", 0, 1), [0.25, 1.0])]
    ['0.25', '1']
    """
    declared = scale.level_values
    if declared and len(declared) <= MOST_LEVELS:
        names = scale.labels or tuple(f"{value:.10g}" for value in declared)
        return tuple(Bin(name, value, value) for name, value in zip(names, declared, strict=True))
    found = sorted(set(values))
    if len(found) <= MOST_LEVELS:
        return tuple(Bin(f"{value + 0.0:.10g}", value, value) for value in found)
    low = found[0] if scale.low is None else min(float(scale.low), found[0])
    high = found[-1] if scale.high is None else max(float(scale.high), found[-1])
    ends = np.linspace(low, high, BINS + 1)
    return tuple(
        Bin(f"{ends[b]:g}–{ends[b + 1]:g}", float(ends[b]), float(ends[b + 1]), b == BINS - 1) for b in range(BINS)
    )


def _counted(levels: Sequence[Bin], values: Sequence[float]) -> tuple[Level, ...]:
    if not values:
        return ()
    counts = [sum(level.holds(value) for value in values) for level in levels]
    return tuple(Level(level.name, count, count / len(values)) for level, count in zip(levels, counts, strict=True))


def _judges(numbers: ShelfNumbers, question: str, item: str) -> list[JudgeAnswers]:
    judged = numbers.judged(question)
    found: list[JudgeAnswers] = []
    for source, names in zip(judged.sources, judged.names, strict=True):
        rows = source.of_item(question, item)
        judges = dict.fromkeys(rows["judge"].to_list())
        found += [_answers(names.get(judge, judge), rows.filter(pl.col("judge") == judge)) for judge in judges]
    order = {name: place for place, name in enumerate(judged.judges)}
    return sorted(found, key=lambda judge: order.get(judge.judge, len(order)))


def _answers(judge: str, rows: pl.DataFrame) -> JudgeAnswers:
    conditions: dict[str, list[Answer]] = {}
    for condition, repeat, value, status in rows.select("condition", "repeat", "value", "status").iter_rows():
        conditions.setdefault(condition, []).append(Answer(repeat, value, status))
    cells = [[answer.value for answer in answers if answer.value is not None] for answers in conditions.values()]
    means = [sum(values) / len(values) for values in cells if values]
    ordered = {name: tuple(sorted(answers, key=lambda one: one.repeat)) for name, answers in conditions.items()}
    return JudgeAnswers(judge, ordered, sum(means) / len(means) if means else None)


@dataclass(frozen=True)
class Replies:
    """The calls of one source about an item.

    title : of the source; counts : judge -> how many calls there are
    read : the calls of a judge (None = of all of them), ``MOST_TRIES`` from a place on: texts are read when asked for
    """

    title: str
    counts: Mapping[str, int]
    read: Callable[[str | None, int], Sequence[Try]]


def replies_about(numbers: ShelfNumbers, item: str, tables: Mapping[int, TableAnswers | None]) -> tuple[Replies, ...]:
    """Raw replies and attempts: from ledgers, and from tables that hold them.

    tables : place of a source -> what its table holds of replies, None where it holds none (see ``table_answers``)
    """
    found = []
    for place, source in enumerate(numbers.sources):
        if isinstance(source, RunSource):
            found.append(
                Replies(source.title, counts_of_run(source.folder, item), partial(tries_of_run, source.folder, item))
            )
        elif (table := tables.get(place)) is not None:
            found.append(Replies(source.title, table.counts(item), partial(table.of_item, item)))
    return tuple(one for one in found if one.counts)
