"""A difference between two audits with an interval of its own: items that both compared are drawn together.

Every statistic that is a function of sums over items is computed on both sides by the audit's own code, first on each
side's own answers (which must give the audit's estimate again), then on those that count on both sides. A draw of
items weighs both sides alike, so that what items share cancels out.

Under the same conditions answers are paired (item, condition, repeat; judge where several), so that a refusal on one
side does not change the mix of the other. Other conditions share no answers: items are paired, each with the mean over
the cells of its side. Shapes: I items, C cells, R repeats, D draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Mask
from voirdire.browsing.material import Material
from voirdire.browsing.pieces import MOST_COUNTED, Ints, Part, Piece, shared_answers
from voirdire.statistic import REGISTRY, Statistic
from voirdire.stats.features import Array
from voirdire.stats.resampling import block_sums, item_weights, percentile

MOST_ROWS = 4000
SAME = 1e-9
SCOPE = frozenset({"scope", "in_scope"})
"""Features of statistics about answers that are lacking, of which answers in common say nothing."""

BEYOND = ("ceiling.", "position.", "preferred_share")
"""Statistics that need single raters or the order of presentation, which the tables do not hold."""


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

    own : both values on each side's own answers; joint : both on what counts on both sides, and on how many items
    counted : how many items count on each side; value, low, high : the difference and its interval
    answers : how many answers each side has of the items that count there; shared : how many of them are the same
        ones, None where items are paired
    why : why there is no difference (key of a reason); why_open : why it has no interval
    """

    own: tuple[float | None, float | None] = (None, None)
    joint: tuple[float | None, float | None] = (None, None)
    items: int = 0
    counted: tuple[int, int] = (0, 0)
    answers: tuple[int, int] = (0, 0)
    shared: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str | None = None
    why_open: str | None = None

    @property
    def changed(self) -> tuple[bool, bool]:
        """Whether the value of each side is another one on what counts on both sides."""
        first, second = (not _equal(mine, one) for mine, one in zip(self.joint, self.own, strict=True))
        return first, second

    @property
    def same_items(self) -> bool:
        """Whether every item that counts on one side counts on the other."""
        return self.counted == (self.items, self.items)


def additive(spot: Spot) -> Statistic | str:
    """The statistic of a number, or the key of the reason why two of it cannot be compared item by item."""
    if spot.statistic.startswith(BEYOND):
        return "not_held"
    return REGISTRY.get((spot.statistic, spot.params), "not_sums")


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
        self._shared: dict[tuple[bytes, bytes], tuple[tuple[Part, Ints], tuple[Part, Ints]]] = {}
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
        first_place, second_place = (
            self._place(side, spot) for side, spot in zip(self.sides, (first, second), strict=True)
        )
        if first_place is None or second_place is None:
            return Difference(why="not_found")
        if not self.common:
            return Difference(why="no_common")
        own = (Piece(self.own[0], *first_place), Piece(self.own[1], *second_place))
        rows = [piece.rows(statistic) for piece in own]
        values = [_value(statistic, [part.sum(-1) for part in each]) for each in rows]
        if not all(_equal(again, value) for again, value in zip(values, printed, strict=True)):
            return Difference(why="not_reproduced")
        pieces = self._same_answers(statistic, (first, second), own)
        paired = pieces is not None
        pieces = pieces or (replace(own[0], part=self.joint[0]), replace(own[1], part=self.joint[1]))
        blocks = [
            each if piece.same_as(mine) else piece.rows(statistic)
            for each, mine, piece in zip(rows, own, pieces, strict=True)
        ]
        counted = [np.asarray((each[statistic.n_of] > 0).any(0)) for each in rows]
        both: Mask = np.ones(len(self.common), dtype=bool)
        for block in blocks:
            both &= (block[statistic.n_of] > 0).any(0)
        if not both.all():
            blocks = [tuple(np.where(both, part, 0.0) for part in each) for each in blocks]
        joint = [_value(statistic, [part.sum(-1) for part in each]) for each in blocks]
        found = Difference(
            (values[0], values[1]),
            (joint[0], joint[1]),
            int(both.sum()),
            (int(counted[0].sum()), int(counted[1].sum())),
            (own[0].answers(counted[0]), own[1].answers(counted[1])),
            pieces[0].answers(both) if paired else None,
        )
        return Task(statistic, (blocks[0], blocks[1]), self._point(found, statistic))

    def _same_answers(
        self, statistic: Statistic, spots: tuple[Spot, Spot], own: tuple[Piece, Piece]
    ) -> tuple[Piece, Piece] | None:
        """Both sides with the answers alone that both gave; None where items are to be paired."""
        cells = None if SCOPE & set(statistic.features) else self._matched(spots, own)
        if cells is None:
            return None
        key = (cells[0].tobytes(), cells[1].tobytes())
        if key not in self._shared:
            if len(self._shared) >= MOST_COUNTED:
                self._shared.clear()
            self._shared[key] = shared_answers(self.joint, cells)
        (first, mine), (second, theirs) = self._shared[key]
        return Piece(first, own[0].target, mine), Piece(second, own[1].target, theirs)

    def _matched(self, spots: tuple[Spot, Spot], own: tuple[Piece, Piece]) -> tuple[Ints, Ints] | None:
        """The cells of both sides that are of one condition and judge; None where conditions or judges are others.

        Where each side is of one judge, these two are compared: then the condition alone must be the same.
        """
        first, second = (piece.cells for piece in own)
        if first is None or second is None or spots[0].condition != spots[1].condition:
            return None
        names = [[piece.part.side.names[cell] for cell in piece.cells] for piece in own if piece.cells is not None]
        if all(len({judge for judge, _ in named}) == 1 for named in names):
            names = [[("", condition) for _, condition in named] for named in names]
        elif spots[0].judge != spots[1].judge:
            return None
        known = dict(zip(names[1], second, strict=True))
        matched = [(cell, known[name]) for name, cell in zip(names[0], first, strict=True) if name in known]
        return (np.array([a for a, _ in matched]), np.array([b for _, b in matched])) if matched else None

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
