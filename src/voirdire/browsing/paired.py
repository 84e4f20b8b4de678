"""A difference between two audits with an interval of its own: items that both compared are drawn together.

Every statistic that is a function of sums over items is computed on both sides by the audit's own code, first on each
side's own items (which must give the audit's estimate again), then on the items that count on both sides. A draw of
items weighs both sides alike, so that what items share cancels out. Shapes: I items, C cells, D draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Mask, subset
from voirdire.analysis.judge_rows import best_constants
from voirdire.browsing.material import Material
from voirdire.statistic import REGISTRY, Statistic
from voirdire.stats.features import FEATURES, Array, Features
from voirdire.stats.resampling import block_sums, item_weights, percentile

MOST_LEVELS = 40
MOST_ROWS = 4000
MOST_COUNTED = 64
SAME = 1e-9
BEYOND = ("ceiling.", "position.", "preferred_share")
"""Statistics that need single raters or the order of presentation, which the tables do not hold."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spot:
    """A number of one side: its statistic, pool or pair (by name), and the selection of cells (empty: pools alone)."""

    statistic: str
    params: str
    pools: tuple[str, ...]
    judge: str = ""
    condition: str = ""


@dataclass(frozen=True)
class Difference:
    """The second value less the first.

    own : both values on each side's own items; joint : both on the items that count on both sides, and how many
    counted : how many items count on each side; value, low, high : the difference and its interval
    why : why there is no difference (key of a reason); why_open : why it has no interval
    """

    own: tuple[float | None, float | None] = (None, None)
    joint: tuple[float | None, float | None] = (None, None)
    items: int = 0
    counted: tuple[int, int] = (0, 0)
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str | None = None
    why_open: str | None = None

    @property
    def same_items(self) -> bool:
        """Whether every item that counts on one side counts on the other."""
        return self.counted == (self.items, self.items)


def additive(spot: Spot) -> Statistic | str:
    """The statistic of a number, or the key of the reason why two of it cannot be compared item by item."""
    if spot.statistic.startswith(BEYOND):
        return "not_held"
    return REGISTRY.get((spot.statistic, spot.params), "not_sums")


class Part:
    """Some items of one side, and the sums of its features over them."""

    def __init__(self, side: Material, places: Ints, slice_name: str) -> None:
        self.side = side
        self.arrays = subset(side.arrays, places)
        self.places = places
        self.slice = slice_name
        self._of_cells: dict[bytes, Features] = {}
        self._counted: dict[bytes, Array] = {}

    @property
    def cube(self) -> Array:
        """(C, I, R) the ratings of these items."""
        return self.side.cube[:, self.places]

    @cached_property
    def levels(self) -> Array:
        """The distinct ratings of these items."""
        given = self.cube
        return np.unique(given[~np.isnan(given)])

    @cached_property
    def codes(self) -> Ints:
        """(C, I) the place of every rating among the levels; after the last where there is none."""
        given = self.cube[..., 0]
        missing = np.isnan(given)
        return np.where(missing, self.levels.size, np.searchsorted(self.levels, np.where(missing, 0.0, given)))

    @property
    def by_level(self) -> bool:
        """Whether features are looked up by level: one rating a cell, and few levels."""
        return self.side.cube.shape[2] == 1 and self.levels.size <= MOST_LEVELS

    @cached_property
    def of_levels(self) -> Features:
        """The features of judges that always give one level, and of one that never answers."""
        rows = np.append(self.levels, np.nan)
        return self._features(np.broadcast_to(rows[:, None], (rows.size, len(self.places))).copy())

    @cached_property
    def constants(self) -> Array:
        """(K, I) what the best constant judge of each pool rates."""
        return best_constants(self.side.context, self.arrays, self.slice)

    def rows(self, name: str, target: tuple[int, ...], cells: Ints | None) -> Array:
        """(C, I) a feature of these cells, or (1, I) of a pool or pair."""
        if cells is None or FEATURES[name][0] in ("pool", "pair"):
            return self.of_pools.get(name, target)
        if not self.by_level:
            key = cells.tobytes()
            if key not in self._of_cells:
                self._of_cells = {key: self._features(self.cube[cells])}
            return self._of_cells[key].get(name, target)
        table = np.broadcast_to(self.of_levels.get(name, target), (self.levels.size + 1, len(self.places)))
        return np.take_along_axis(table, self.codes[cells], axis=0)

    def totals(self, name: str, target: tuple[int, ...], cells: Ints) -> Array:
        """(1, I) a feature summed over cells: one that is the same for all counts once for each."""
        if not self.by_level or FEATURES[name][0] in ("pool", "pair"):
            block = self.rows(name, target, cells)
            return block.sum(0, keepdims=True) if len(block) == len(cells) else block * len(cells)
        return np.asarray((self._counts(cells) * self.of_levels.get(name, target)).sum(0, keepdims=True))

    def _counts(self, cells: Ints) -> Array:
        """(L, I) how many of the cells gave each level, and none of them."""
        key = cells.tobytes()
        if key not in self._counted:
            if len(self._counted) >= MOST_COUNTED:
                self._counted.clear()
            codes, size = self.codes[cells], self.levels.size + 1
            self._counted[key] = np.stack([(codes == level).sum(0) for level in range(size)]).astype(float)
        return self._counted[key]

    @cached_property
    def of_pools(self) -> Features:
        """The features of the pools alone."""
        return Features(self.arrays, min_gap=self.side.options.min_gap)

    def _features(self, cube: Array) -> Features:
        return Features(self.arrays, cube, min_gap=self.side.options.min_gap, constants=self.constants)


@dataclass
class Task:
    """One number on both sides: the rows of its features over the joint items, to be drawn with those of others."""

    statistic: Statistic
    blocks: tuple[tuple[Array, ...], tuple[Array, ...]]
    found: Difference
    sums: list[Array] = field(default_factory=list)


class Pairing:
    """Two sides on one slice.

    seed, draws : of the draws of items; by default those of the first audit
    """

    def __init__(
        self, first: Material, second: Material, slice_name: str, *, seed: int | None = None, draws: int | None = None
    ) -> None:
        self.sides = (first, second)
        self.slice = slice_name
        self.options = first.options
        self.draws = first.options.draws if draws is None else draws
        own = [np.flatnonzero(_mask(side, slice_name)) for side in self.sides]
        names = [{side.ids[place]: place for place in places} for side, places in zip(self.sides, own, strict=True)]
        self.common = sorted(names[0].keys() & names[1].keys())
        self.only = (len(own[0]) - len(self.common), len(own[1]) - len(self.common))
        self.own = tuple(Part(side, places, slice_name) for side, places in zip(self.sides, own, strict=True))
        joint = [np.array([known[name] for name in self.common], dtype=np.int64) for known in names]
        self.joint = tuple(
            mine if not left else Part(side, places, slice_name)
            for mine, left, side, places in zip(self.own, self.only, self.sides, joint, strict=True)
        )
        self.rng = _rng(first, slice_name, seed)

    @cached_property
    def weights(self) -> npt.NDArray[np.uint8]:
        """(D, I) how often every common item is drawn: the draws of the audit where it has the same items and seed."""
        return item_weights(len(self.common), self.draws if len(self.common) > 1 else 0, self.rng)

    def differences(self, wanted: Sequence[tuple[Spot, Spot, float | None, float | None]]) -> list[Difference]:
        """The difference of each two numbers, given with the values that the audits printed."""
        made = [self._prepare(*each) for each in wanted]
        tasks = [task for task in made if isinstance(task, Task)]
        self._draw([task for task in tasks if task.found.why_open is None])
        return [self._finish(task) if isinstance(task, Task) else task for task in made]

    def _prepare(self, first: Spot, second: Spot, *printed: float | None) -> Task | Difference:
        statistic = additive(first)
        if isinstance(statistic, str):
            return Difference(why=statistic)
        if None in printed:
            return Difference(why="undefined_alone")
        if any(statistic.scale not in side.codes for side in self.sides):
            return Difference(why="not_sums")  # on this scale another estimator has the name
        places = [self._place(side, spot) for side, spot in zip(self.sides, (first, second), strict=True)]
        if any(place is None for place in places):
            return Difference(why="not_found")
        if not self.common:
            return Difference(why="no_common")
        own, counted, blocks, counts = [], [], [], []
        for place, mine, joint, value in zip(places, self.own, self.joint, printed, strict=True):
            assert place is not None
            rows = _rows(mine, statistic, *place)
            again = _value(statistic, [part.sum(-1) for part in rows])
            if not _equal(again, value):
                return Difference(why="not_reproduced")
            own.append(again)
            counted.append(int((rows[statistic.n_of] > 0).any(0).sum()))
            shared = rows if joint is mine else _rows(joint, statistic, *place)
            blocks.append(shared)
            counts.append((shared[statistic.n_of] > 0).any(0))
        both = counts[0] & counts[1]
        if not both.all():
            blocks = [tuple(np.where(both, part, 0.0) for part in rows) for rows in blocks]
        joint_values = [_value(statistic, [part.sum(-1) for part in rows]) for rows in blocks]
        found = Difference(
            (own[0], own[1]), (joint_values[0], joint_values[1]), int(both.sum()), (counted[0], counted[1])
        )
        return Task(statistic, (blocks[0], blocks[1]), self._point(found, statistic))

    def _place(self, side: Material, spot: Spot) -> tuple[tuple[int, ...], Ints | None] | None:
        """The pools by their places, and the cells; None where this side does not know them."""
        if not set(spot.pools) <= set(side.context.pools):
            return None
        target = tuple(side.context.pools.index(pool) for pool in spot.pools)
        if not spot.judge:
            return target, None
        cells = side.cells(spot.judge, spot.condition)
        return None if cells is None else (target, cells)

    def _point(self, found: Difference, statistic: Statistic) -> Difference:
        if not found.items:
            return replace(found, why="no_common")
        if found.joint[0] is None or found.joint[1] is None:
            return replace(found, why="undefined", why_open="undefined")
        return replace(found, value=found.joint[1] - found.joint[0], why_open=self._why_open(statistic, found.items))

    def _why_open(self, statistic: Statistic, items: int) -> str | None:
        if statistic.interval == "none":
            return "no_interval"
        if any(side.draws_raters for side in self.sides):
            return "raters_drawn"
        if items < 2:
            return "one_item"
        return None if self.draws else "no_draws"

    def _draw(self, tasks: Sequence[Task]) -> None:
        """Sum the features of all tasks under every draw, by few products."""
        waiting: list[Task] = []
        rows = 0
        for task in tasks:
            waiting.append(task)
            rows += sum(len(block) for side in task.blocks for block in side)
            if rows > MOST_ROWS:
                self._product(waiting)
                waiting, rows = [], 0
        self._product(waiting)

    def _product(self, tasks: Sequence[Task]) -> None:
        sums = iter(block_sums(self.weights, [block for task in tasks for side in task.blocks for block in side]))
        for task in tasks:
            task.sums = [_numbers(task.statistic, [next(sums) for _ in side]) for side in task.blocks]

    def _finish(self, task: Task) -> Difference:
        if not task.sums:
            return task.found
        draws = task.sums[1] - task.sums[0]
        low, high = (float(end[0]) for end in percentile(draws[None], self.options.level))
        if np.isnan(low):
            return replace(task.found, why_open="unstable_draws")
        return replace(task.found, low=low, high=high)


def _mask(side: Material, slice_name: str) -> Mask:
    return side.context.slices.get(slice_name, np.zeros(len(side.ids), dtype=bool))


def _rng(side: Material, slice_name: str, seed: int | None) -> np.random.Generator:
    """The generator that the audit drew the items of this slice with, or the same with another seed."""
    context = side.context
    if seed is not None:
        context = replace(context, options=replace(context.options, seed=seed))
    return context.rng("items", slice_name)


def _rows(part: Part, statistic: Statistic, target: tuple[int, ...], cells: Ints | None) -> tuple[Array, ...]:
    """The features of a statistic: summed over the cells where sums are pooled, else one row a cell."""
    if cells is None or statistic.across == "mean_of_cells":
        return tuple(part.rows(name, target, cells) for name in statistic.features)
    return tuple(part.totals(name, target, cells) for name in statistic.features)


def _value(statistic: Statistic, sums: Sequence[Array]) -> float | None:
    values, _ = statistic.values(tuple(np.atleast_1d(part) for part in _even(sums)))
    return None if np.isnan(values).any() else float(values.mean())


def _numbers(statistic: Statistic, sums: Sequence[Array]) -> Array:
    """(D,) the statistic under every draw: the mean of its cells, NaN where one of them has none."""
    return np.asarray(statistic.numbers(tuple(_even(sums))).mean(0))


def _even(sums: Sequence[Array]) -> list[Array]:
    """Sums with as many cells each."""
    size = max(len(part) for part in sums)
    return [np.broadcast_to(part, (size, *part.shape[1:])) for part in sums]


def _equal(again: float | None, printed: float | None) -> bool:
    if again is None or printed is None:
        return False
    return abs(again - printed) <= SAME * max(1.0, abs(printed))
