"""Test, demonstration, pilot, rejected: which concept is used for what. The members of a pair stay together.

The demonstration split is chosen by what the pools answered: for each pool and culture of the items it needs at least
one item at each level, where an item's level is its pool's mean rating, rounded as the judges' demonstrations round it.
Concepts are taken one after another, always one that fills the most places that are still empty, and those that turn
out not to be needed are given back; equally good ones are chosen between by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from voirdire.construction.build_file import SplitPlan
from voirdire.construction.concepts import ConceptItem
from voirdire.errors import UsageError
from voirdire.scales import Scale
from voirdire.simulation.controls import round_to_level

TEST, DEMONSTRATION, PILOT, REJECTED = "test", "demonstration", "pilot", "rejected"

Cell = tuple[str, str, int]
"""Pool, culture of the item, level."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What the pools answered to one question.

    consensus : pool -> item id -> mean rating; levels : of the scale, ascending
    """

    question: str
    consensus: Mapping[str, Mapping[str, float]]
    levels: tuple[int, ...]

    def level(self, pool: str, item: str) -> int | None:
        """The level at which a pool puts an item; None where it did not rate it."""
        value = self.consensus.get(pool, {}).get(item)
        if value is None:
            return None
        return int(round_to_level([value], Scale("ordinal", self.levels[0], self.levels[-1]))[0])


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many demonstration items stand at a pool, culture and level, and how many with those of the test split."""

    pool: str
    culture: str
    level: int
    items: int
    available: int


@dataclass(frozen=True, slots=True)
class Split:
    """concept -> its split, in the order of the concepts.

    coverage : of every pool, culture and level, empty without ratings; per_level : the items wanted in each
    waiting : concepts that are not accepted yet, and so have no split
    """

    splits: Mapping[str, str]
    coverage: tuple[Coverage, ...] = ()
    per_level: int = 1
    waiting: tuple[str, ...] = field(default=())

    @property
    def missing(self) -> tuple[Coverage, ...]:
        """Where demonstrations are missing."""
        return tuple(one for one in self.coverage if one.items < self.per_level)

    def counts(self) -> dict[str, int]:
        """split -> concepts."""
        found = Counter(self.splits.values())
        return {name: found[name] for name in (TEST, DEMONSTRATION, PILOT, REJECTED)}


def split_concepts(
    concepts: Mapping[str, Sequence[ConceptItem]],
    plan: SplitPlan,
    rng: np.random.Generator,
    *,
    rated: Rated | None = None,
    rejected: Iterable[str] = (),
    reopened: Iterable[str] = (),
    waiting: Iterable[str] = (),
    again: bool = False,
) -> Split:
    """Split concepts; the same concepts, plan, ratings and state of the generator give the same split.

    rejected : concepts that were rejected, beside those that the table calls so
    reopened : concepts that the table calls rejected and that are so no longer
    waiting : concepts that are not to be split yet; again : whether splits that the table has are made anew
    Pilot concepts, and demonstrations beyond those that the levels need, are spread over the categories.
    Raises UsageError where fewer concepts are there than pilot and demonstration want.

    >>> tea = {f"t{n}": [ConceptItem(f"t{n}-us", f"t{n}", "food", "us", "tea")] for n in range(5)}
    >>> split_concepts(tea, SplitPlan(pilot=1, demonstration=2), np.random.default_rng(0)).counts()
    {'test': 2, 'demonstration': 2, 'pilot': 1, 'rejected': 0}
    """
    again_open = set(reopened)
    given = {name: "" if name in again_open else items[0].split for name, items in concepts.items()}
    made, idle = _kept(given, set(rejected), set(waiting), again)
    category = {name: items[0].category for name, items in concepts.items()}
    order = [name for name in rng.permutation(sorted(concepts)).tolist() if name not in made and name not in idle]
    pilot = max(0, plan.pilot - Counter(made.values())[PILOT])
    made |= dict.fromkeys(_spread(order, category, pilot, plan), PILOT)
    order = [name for name in order if name not in made]
    shown = [name for name in concepts if made.get(name) == DEMONSTRATION]
    chosen = [] if rated is None else _cover(order, concepts, rated, plan.per_level, shown)
    covering = set(chosen)
    rest = [name for name in order if name not in covering]
    chosen += _spread(rest, category, max(0, plan.demonstration - len(shown) - len(chosen)), plan)
    made |= dict.fromkeys(chosen, DEMONSTRATION)
    made |= {name: TEST for name in order if name not in made}
    splits = {name: made[name] for name in concepts if name in made}
    found = () if rated is None else coverage(splits, concepts, rated)
    return Split(splits, found, plan.per_level, idle)


def _kept(
    given: Mapping[str, str], rejected: set[str], waiting: set[str], again: bool
) -> tuple[dict[str, str], tuple[str, ...]]:
    """concept -> the split that stands already; and those that are not to be split yet. given : as the table says."""
    out = rejected | {name for name, split in given.items() if split == REJECTED}
    idle = tuple(name for name in given if name in waiting - out)
    stands = {} if again else {name: split for name, split in given.items() if split and name not in idle}
    return stands | {name: REJECTED for name in given if name in out}, idle


def _spread(order: Sequence[str], category: Mapping[str, str], count: int, plan: SplitPlan) -> list[str]:
    """The first concepts of each category, as many as its share of the concepts asks for (largest remainders)."""
    if count > len(order):
        raise UsageError("build.split.too_few", pilot=plan.pilot, demonstration=plan.demonstration, count=len(order))
    if count == 0:
        return []
    sizes = Counter(category[name] for name in order)
    exact = {name: count * size / len(order) for name, size in sizes.items()}
    quota = {name: int(share) for name, share in exact.items()}
    for name in sorted(sizes, key=lambda one: quota[one] - exact[one])[: count - sum(quota.values())]:
        quota[name] += 1
    chosen: list[str] = []
    for name in order:
        if quota[category[name]] > 0:
            quota[category[name]] -= 1
            chosen.append(name)
    return chosen


def _cover(
    order: Sequence[str],
    concepts: Mapping[str, Sequence[ConceptItem]],
    rated: Rated,
    per_level: int,
    shown: Sequence[str],
) -> list[str]:
    """Concepts of ``order`` that fill every place that can be filled, beside those that are shown already."""
    cells = {name: _cells(concepts[name], rated) for name in (*order, *shown)}
    here: Counter[Cell] = sum((cells[name] for name in shown), Counter())
    chosen: list[str] = []
    left = list(order)
    while left:
        gains = [sum(min(count, max(0, per_level - here[cell])) for cell, count in cells[one].items()) for one in left]
        best = int(np.argmax(gains))
        if gains[best] == 0:
            break
        chosen.append(left.pop(best))
        here += cells[chosen[-1]]
    for name in list(chosen):
        if all(here[cell] - count >= per_level for cell, count in cells[name].items()):
            here -= cells[name]
            chosen.remove(name)
    return chosen


def _cells(items: Sequence[ConceptItem], rated: Rated) -> Counter[Cell]:
    placed = ((pool, item.culture, rated.level(pool, item.id)) for item in items for pool in rated.consensus)
    return Counter((pool, culture, level) for pool, culture, level in placed if level is not None)


def coverage(
    splits: Mapping[str, str],
    concepts: Mapping[str, Sequence[ConceptItem]],
    rated: Rated,
) -> tuple[Coverage, ...]:
    """How many demonstrations stand at each pool, culture and level. splits : concept -> its split."""
    cells = {name: _cells(concepts[name], rated) for name in concepts}
    shown: Counter[Cell] = sum((cells[name] for name, split in splits.items() if split == DEMONSTRATION), Counter())
    there: Counter[Cell] = sum(
        (cells[name] for name, split in splits.items() if split in (TEST, DEMONSTRATION)), Counter()
    )
    cultures = dict.fromkeys(item.culture for items in concepts.values() for item in items)
    return tuple(
        Coverage(pool, culture, level, shown[pool, culture, level], there[pool, culture, level])
        for pool in rated.consensus
        for culture in cultures
        for level in rated.levels
    )
