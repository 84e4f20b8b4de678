"""Numbers per item whose mean over items is a statistic: the unit of the item bootstrap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PerItem:
    """One number per item; the statistic is the mean over the items where it exists.

    values : (..., I), 0 where the item does not count
    valid : (..., I) whether the item counts
    n_left_out : items that were rated but cannot count (for example one rater where two are needed)

    ``values`` and ``valid`` are the numerators and denominators of an item bootstrap with weights w:
    ``(w @ values) / (w @ valid)``.

    >>> loss = PerItem(np.array([1.0, 0.0, 3.0]), np.array([True, False, True]))
    >>> float(loss.mean()), int(loss.n)
    (2.0, 2)
    """

    values: Array
    valid: Mask
    n_left_out: int = 0

    @classmethod
    def of(cls, values: Array, n_left_out: int = 0) -> PerItem:
        """From values with NaN where the item does not count."""
        valid = ~np.isnan(values)
        return cls(np.where(valid, values, 0.0), valid, n_left_out)

    @property
    def n(self) -> npt.NDArray[np.int64]:
        """(...) how many items count."""
        return np.asarray(self.valid.sum(-1), dtype=np.int64)

    def mean(self, weights: Array | None = None) -> Array:
        """(...) mean over the items that count; NaN where there are none. ``weights`` (I,) or (draws, I) weigh the
        items: the result is then (..., draws).
        """
        if weights is None:
            top, bottom = self.values.sum(-1), self.valid.sum(-1).astype(float)
        else:
            top, bottom = self.values @ weights.T, self.valid.astype(float) @ weights.T
        return over(top, bottom)


def over(top: npt.ArrayLike, bottom: npt.ArrayLike) -> Array:
    """top / bottom, NaN where bottom is 0.

    >>> over([1.0, 1.0], [2, 0])
    array([0.5, nan])
    """
    below = np.asarray(bottom, dtype=float)
    result: Array = np.asarray(top, dtype=float) / np.where(below == 0, np.nan, below)
    return result
