"""Ratings on a scale of few levels as a cube of bytes, and sums of what depends on the item and the level alone.

A judge's rating of an item enters an additive statistic through a table of item and level: its error against a
consensus, its share of T, whether it is low. Sums of such tables over items are taken for all cells at once.
Shapes: C cells, I items, L levels, F tables, R repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.stats.features import FEATURES, MOST_HELD, Array, Features, PoolArrays

Codes = npt.NDArray[np.int8]
LeaveOneOut = Callable[[Array], tuple[Array, Array]]
MOST_LEVELS = 127
BLOCK = 50_000


@dataclass(frozen=True)
class LevelCube:
    """Ratings as places in a list of levels.

    codes : (C, I, R) place in ``values``, -1 where there is no rating; values : (L,) what the levels stand for,
        at most 127
    """

    codes: Codes
    values: Array

    @classmethod
    def of(cls, ratings: npt.ArrayLike) -> LevelCube | None:
        """The cube of (C, I) or (C, I, R) ratings, NaN where there is none; None where there are over 127 values.

        >>> cube = LevelCube.of([[1.0, 5.0, np.nan], [5.0, 1.0, 1.0]])
        >>> cube.codes[..., 0].tolist(), cube.values.tolist()
        ([[0, 1, -1], [1, 0, 0]], [1.0, 5.0])
        """
        given = np.asarray(ratings, dtype=float)
        given = given[..., None] if given.ndim == 2 else given
        known = ~np.isnan(given)
        values = np.unique(given[known])
        if values.size > MOST_LEVELS:
            return None
        codes = np.full(given.shape, -1, dtype=np.int8)
        codes[known] = np.searchsorted(values, given[known])
        return cls(codes, values)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.codes)

    @property
    def n_repeats(self) -> int:
        """How often a cell may have rated an item."""
        return self.codes.shape[2]

    def ratings(self) -> Array:
        """(C, I, R) the ratings themselves, NaN where there is none: eight times as large."""
        levels = np.append(self.values, np.nan)
        return np.asarray(levels[self.codes])

    def counts(self) -> npt.NDArray[np.int64]:
        """(C, L) how often every cell gave each level.

        >>> LevelCube.of([[1.0, 5.0, np.nan], [5.0, 1.0, 1.0]]).counts().tolist()
        [[1, 1], [2, 1]]
        """
        size = self.values.size
        return np.stack([np.bincount(cell.ravel() + 1, minlength=size + 1)[1:] for cell in self.codes])

    def sums(self, tables: npt.ArrayLike) -> Array:
        """(F, C) sums over items of tables (F, I, L): an item's entry at the level that the cell gave it.

        Missing ratings add nothing. With repeats an item adds the mean over those that there are. Entries are finite.

        >>> cube = LevelCube.of([[1.0, 5.0], [5.0, np.nan]])
        >>> cube.sums([[[0.5, 3.5], [2.0, 2.0]]]).tolist()
        [[2.5, 3.5]]
        """
        given = np.asarray(tables, dtype=float)
        total = np.zeros((len(given), self.n_cells))
        by_level = [np.ascontiguousarray(given[:, :, level].T) for level in range(self.values.size)]
        step = max(1, BLOCK // max(self.n_cells, 1))
        for start in range(0, self.codes.shape[1], step):
            part = slice(start, start + step)
            for level, share in enumerate(self._shares(part)):
                total += (share @ by_level[level][part]).T
        return total

    def _shares(self, items: slice) -> list[Array]:
        """L arrays (C, i): the share of a cell's repeats of each item that gave the level."""
        codes = self.codes[:, items]
        if self.n_repeats == 1:
            return [(codes[..., 0] == level).astype(float) for level in range(self.values.size)]
        n = np.maximum((codes >= 0).sum(-1), 1)
        return [(codes == level).sum(-1) / n for level in range(self.values.size)]

    def gather(self, table: Array) -> Array:
        """(C, I) entries of one table (L + 1, I) at the levels given, its last row where there is no rating.

        For one repeat; ValueError for more.
        """
        if self.n_repeats != 1:
            raise ValueError("one repeat only")  # noqa: TRY003
        n_items = table.shape[1]
        flat, places = np.ascontiguousarray(table).ravel(), np.arange(n_items)
        found = np.empty(self.codes.shape[:2])
        for cell, codes in enumerate(self.codes[..., 0]):
            rows = np.where(codes < 0, self.values.size, codes).astype(np.intp) * n_items
            np.take(flat, rows + places, out=found[cell])
        return found

    def on_items(self, items: npt.NDArray[np.bool_]) -> LevelCube:
        """The cube on some of the items, by a mask (I,)."""
        return LevelCube(self.codes[:, items], self.values)


class LevelFeatures(Features):
    """The features of cells on a scale of few levels, looked up in those of one judge for each level.

    What a cell with one rating an item adds depends on the item and the level alone, so the features of L constant
    judges (and of one without a rating) hold those of any number of cells. They are the same numbers, by the same
    code. Further cells, which are on no level, come behind them.

    levels : one repeat; others : (O, I, R) or None; loo : what gives the errors against leave-one-out consensuses
    """

    def __init__(
        self,
        pools: PoolArrays,
        levels: LevelCube,
        others: Array | None = None,
        *,
        min_gap: float = 0.0,
        constants: Array | None = None,
        loo: LeaveOneOut | None = None,
    ) -> None:
        super().__init__(pools, None, min_gap=min_gap, constants=constants)
        self.levels = levels
        constant = np.append(levels.values, np.nan)[:, None, None] * np.ones((1, levels.codes.shape[1], 1))
        self.of_levels = self._plain(constant, loo)
        self.others = None if others is None else self._plain(others, loo)

    def _plain(self, cube: Array, loo: LeaveOneOut | None) -> Features:
        errors = None if loo is None else loo(cube)
        return Features(self.pools, cube, min_gap=self.min_gap, constants=self.constants, loo=errors)

    @property
    def cube(self) -> Array:
        """(C, I, R) the ratings of all cells, made when it is asked for."""
        own = self.levels.ratings()
        if self.others is None:
            return own
        others = self.others.ratings
        whole = np.full((len(own) + len(others), *others.shape[1:]), np.nan)
        whole[: len(own), :, :1], whole[len(own) :] = own, others
        return whole

    def get(self, name: str, target: tuple[int, ...] = ()) -> Array:
        """The feature ``name``; nothing but the small table of the levels is kept."""
        table = self.of_levels.get(name, target)
        if FEATURES[name][0] in ("pool", "pair"):
            return table
        own = self.levels.gather(table)
        return own if self.others is None else np.concatenate([own, self.others.get(name, target)])

    def totals(self, names: Sequence[str], target: tuple[int, ...] = ()) -> tuple[Array, ...]:
        """(C,) the sum over items of each of these features, by one group-by of all of them."""
        tables = np.stack([self.of_levels.get(name, target).T for name in names])
        without = tables[..., -1]
        sums = self.levels.sums(tables[..., :-1] - without[..., None]) + without.sum(1, keepdims=True)
        self.of_levels.forget()
        if self.others is None:
            return tuple(sums)
        return tuple(np.concatenate(part) for part in zip(sums, self.others.totals(names, target), strict=True))

    def blocks(self) -> Iterator[Features]:
        """Parts of the cells, of a size that memory allows, and then the further cells."""
        step = max(1, MOST_HELD // max(self.levels.codes.shape[1], 1))
        for start in range(0, self.levels.n_cells, step):
            part = copy(self)
            part.levels = LevelCube(self.levels.codes[start : start + step], self.levels.values)
            part.others = None
            yield part
        if self.others is not None:
            yield from self.others.blocks()

    def forget(self) -> None:
        """Drop what is kept (memory)."""
        self.of_levels.forget()
        if self.others is not None:
            self.others.forget()
