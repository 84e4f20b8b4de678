"""What numbers of one side of a comparison are made of: its answers to some items, and sums of features over them.

Shapes: K pools, I items, C cells, L levels, R repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Mask, subset
from voirdire.analysis.judge_rows import best_constants
from voirdire.browsing.material import Material
from voirdire.statistic import Statistic
from voirdire.stats.features import FEATURES, Array, Features

MOST_LEVELS = 40
MOST_COUNTED = 64
SHARED = frozenset({"arrays", "levels", "of_levels", "of_pools", "constants"})
"""What parts of the same items have in common, whatever their answers."""

Ints = npt.NDArray[np.int64]


class Part:
    """Some items of one side, and the sums of its features over them."""

    def __init__(self, side: Material, places: Ints, slice_name: str) -> None:
        self.side = side
        self.arrays = subset(side.arrays, places)
        self.places = places
        self.slice = slice_name
        self._of_cells: dict[bytes, Features] = {}
        self._counted: dict[bytes, Array] = {}
        self._answers: dict[bytes, Ints] = {}

    @cached_property
    def cube(self) -> Array:
        """(C, I, R) the ratings of these items."""
        return self.side.cube[:, self.places]

    def of_answers(self, cells: Ints, kept: Mask) -> Part:
        """The same items with some answers of some cells alone; kept : (C, I, R), of these cells."""
        _ = self.levels, self.of_pools, self.constants, self.by_level and self.of_levels  # shared by all such parts
        part = Part(self.side, self.places, self.slice)
        vars(part).update({name: value for name, value in vars(self).items() if name in SHARED})
        part.cube = np.where(kept, self.cube[cells], np.nan)
        return part

    def answers(self, cells: Ints) -> Ints:
        """(I,) how many answers these cells gave to each item."""
        key = cells.tobytes()
        if key not in self._answers:
            self._answers[key] = (~np.isnan(self.cube[cells])).sum((0, 2))
        return self._answers[key]

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


@dataclass(frozen=True, eq=False)
class Piece:
    """What one number of a side is made of: some items, its pools, and its cells (None: pools alone)."""

    part: Part
    target: tuple[int, ...]
    cells: Ints | None

    def rows(self, statistic: Statistic) -> tuple[Array, ...]:
        """The features of a statistic: summed over the cells where sums are pooled, else one row a cell."""
        if self.cells is None or statistic.across == "mean_of_cells":
            return tuple(self.part.rows(name, self.target, self.cells) for name in statistic.features)
        return tuple(self.part.totals(name, self.target, self.cells) for name in statistic.features)

    def answers(self, items: Mask) -> int:
        """How many answers the cells gave to some of the items."""
        return 0 if self.cells is None else int(self.part.answers(self.cells)[items].sum())

    def same_as(self, other: Piece) -> bool:
        """Whether these are the same answers to the same items."""
        if self.cells is None or other.cells is None:
            return self.part is other.part and self.cells is other.cells
        return self.part is other.part and np.array_equal(self.cells, other.cells)


def shared_answers(parts: tuple[Part, ...], cells: tuple[Ints, Ints]) -> tuple[tuple[Part, Ints], tuple[Part, Ints]]:
    """Two parts of the same items, cell by cell with the answers that both have; as they are where these are all."""
    first, second = (
        np.where(np.isnan(part.cube[mine]), -1 - place, part.side.repeats[mine][:, part.places])
        for place, (part, mine) in enumerate(zip(parts, cells, strict=True))
    )
    kept = np.zeros(first.shape, dtype=bool), np.zeros(second.shape, dtype=bool)
    for place in range(second.shape[-1]):
        same = first == second[..., place, None]
        kept[0][same] = True
        kept[1][..., place] = same.any(-1)
    made = [
        (part, mine)
        if (which == ~np.isnan(part.cube[mine])).all()
        else (part.of_answers(mine, which), np.arange(len(mine)))
        for part, mine, which in zip(parts, cells, kept, strict=True)
    ]
    return made[0], made[1]
