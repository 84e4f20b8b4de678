"""One small number for the answer of every item in every slot, growing as slots, items and answers come."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Table = npt.NDArray[np.unsignedinteger[Any]]


class Grown:
    """A table of unsigned numbers (rows, columns), 0 where nothing was put, that grows as it is asked for more."""

    def __init__(self, columns: int) -> None:
        self._held: Table = np.zeros((0, columns), dtype=np.uint8)
        self.shape = (0, columns)

    @property
    def table(self) -> Table:
        """(rows, columns) as far as they are in use."""
        return self._held[: self.shape[0], : self.shape[1]]

    @property
    def flat(self) -> Table:
        """All of it as one row, for the places of :meth:`places`."""
        return self._held.reshape(-1)

    def places(self, rows: Ints, columns: Ints, most: int) -> Ints:
        """Where in :attr:`flat` these rows and columns are; there is room for them and for numbers up to ``most``."""
        shape = (max(self.shape[0], int(rows.max()) + 1), max(self.shape[1], int(columns.max()) + 1))
        dtype = np.promote_types(np.min_scalar_type(most), self._held.dtype)
        room = self._held.shape
        if shape[0] > room[0] or shape[1] > room[1] or dtype != self._held.dtype:
            wanted = [
                have if need <= have else max(need, have * 3 // 2) for need, have in zip(shape, room, strict=True)
            ]
            larger = np.zeros(wanted, dtype=dtype)
            larger[: self.shape[0], : self.shape[1]] = self.table
            self._held = larger
        self.shape = shape
        return rows * self._held.shape[1] + columns


class AnswerCube(Grown):
    """Answers (slots, items): the answer's number + 1, a byte each up to 254 answers.

    rows : how many rows were put into it

    >>> cube = AnswerCube(3)
    >>> cube.put(np.array([0, 1]), np.array([2, 0]), np.array([0, 1])), cube.table.tolist()
    (None, [[0, 0, 1], [2, 0, 0]])
    >>> cube.put(np.array([0, 1]), np.array([0, 0]), np.array([0, 0]))
    1
    """

    def __init__(self, n_items: int) -> None:
        super().__init__(n_items)
        self.rows = 0

    @property
    def filled(self) -> int:
        """How many answers it holds."""
        return int(np.count_nonzero(self.table))

    def put(self, slots: Ints, items: Ints, answers: Ints, keep: str = "stop") -> int | None:
        """Put the answers of rows into it, in their order.

        keep : which answer stays where there are several, ``first`` or ``last``; with ``stop`` the first row that comes
            to a place that is taken is given back, and nothing is put
        """
        flat = self.places(slots, items, int(answers.max()) + 1)
        held = self.flat
        if keep == "stop":
            taken = held[flat] != 0
            if taken.any() or self._alike(flat):
                return int((taken | ~pl.Series(flat).is_first_distinct().to_numpy()).argmax())
        if keep == "first":
            flat, answers = flat[::-1], answers[::-1]
            free = held[flat] == 0
            flat, answers = flat[free], answers[free]
        held[flat] = (answers + 1).astype(held.dtype)
        self.rows += len(slots)
        return None

    def _alike(self, flat: Ints) -> bool:
        """Whether any of these places, all of which are free, are the same: marks are counted."""
        held = self.flat
        held[flat] = 1
        marked = self.filled - self.rows
        held[flat] = 0
        return marked < len(flat)


class Numbering(Grown):
    """Numbers the rows of one cell and item as repeats, and gives every cell and number a slot.

    slots : (cell, number from 1) in the order of the slots; repeated : rows of cells and items with more than one
    """

    def __init__(self, n_items: int) -> None:
        super().__init__(n_items)
        self.slots: dict[tuple[int, int], int] = {}

    def slot(self, cells: Ints, items: Ints) -> Ints:
        """The slot of every row, in their order."""
        within = pl.DataFrame({"cell": cells, "item": items}).select(pl.int_range(pl.len()).over("cell", "item"))
        flat = self.places(cells, items, int(self.table.max(initial=0)) + len(cells))
        number = self.flat[flat].astype(np.int64) + within.to_series().to_numpy() + 1
        np.maximum.at(self.flat, flat, number.astype(self._held.dtype))
        pairs, place = np.unique(np.stack([cells, number]), axis=1, return_inverse=True)
        slots = [self.slots.setdefault((cell, n), len(self.slots)) for cell, n in pairs.T.tolist()]
        return np.array(slots, dtype=np.int64)[place.reshape(-1)]

    @property
    def repeated(self) -> int:
        """How many rows are of cells and items that have more than one."""
        return int(self.table[self.table > 1].sum())
