"""Perceptual hashes: numbers that hardly change when an image is scaled, compressed or brightened.

dHash (N. Krawetz, "Kind of like that", 2013): signs of the differences of neighbouring pixels, 9 x 8 grey values.
pHash (C. Zauner, "Implementation and benchmarking of perceptual image hash functions", 2010): the lowest 8 x 8
coefficients of a cosine transform of 32 x 32 grey values, above or below their median.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE, LOW = 32, 8
D_LIMIT, P_LIMIT = 10, 10
"""Bits of 64 in which both hashes of near-duplicates may differ; measured in docs/howto/build-images.md."""

BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Hashes:
    """Both hashes of an image, 64 bits each."""

    d: int
    p: int

    def distance(self, other: Hashes) -> tuple[int, int]:
        """Bits that differ, of each hash.

        >>> Hashes(0b1011, 0).distance(Hashes(0b0010, 0))
        (2, 0)
        """
        return (self.d ^ other.d).bit_count(), (self.p ^ other.p).bit_count()


def hashes_of(image: Image) -> Hashes:
    """Both hashes of a decoded image without transparency, whatever its size."""
    grey = image.convert("L")
    return Hashes(_bits(_differences(grey)), _bits(_frequencies(grey)))


def near(hashes: Sequence[Hashes], limits: tuple[int, int] = (D_LIMIT, P_LIMIT)) -> Iterator[tuple[int, int, int]]:
    """(place, later place, bits that differ in both hashes together) of all near-duplicates.

    >>> list(near([Hashes(1, 1), Hashes(2**63, 1), Hashes((1 << 40) - 1, 0)]))
    [(0, 1, 2)]
    """
    d = np.array([one.d for one in hashes], dtype=np.uint64)
    p = np.array([one.p for one in hashes], dtype=np.uint64)
    for start in range(0, len(hashes), BLOCK):
        rows = slice(start, start + BLOCK)
        d_apart = np.bitwise_count(d[rows, None] ^ d[None, :])
        p_apart = np.bitwise_count(p[rows, None] ^ p[None, :])
        first, second = np.nonzero((d_apart <= limits[0]) & (p_apart <= limits[1]))
        for row, other in zip(first.tolist(), second.tolist(), strict=True):
            if other > row + start:
                yield row + start, other, int(d_apart[row, other]) + int(p_apart[row, other])


def _small(grey: Image, size: tuple[int, int]) -> npt.NDArray[np.float64]:
    from PIL.Image import Resampling

    return np.asarray(grey.resize(size, Resampling.LANCZOS), dtype=np.float64)


def _differences(grey: Image) -> npt.NDArray[np.bool_]:
    values = _small(grey, (LOW + 1, LOW))
    return values[:, 1:] > values[:, :-1]


def _frequencies(grey: Image) -> npt.NDArray[np.bool_]:
    basis = _cosines()
    low = (basis @ _small(grey, (SIDE, SIDE)) @ basis.T)[:LOW, :LOW]
    return low > np.median(low.ravel()[1:])


@cache
def _cosines() -> npt.NDArray[np.float64]:
    """The DCT-II of SIDE values as a matrix, shape (SIDE, SIDE)."""
    place = np.arange(SIDE)
    matrix = np.cos(np.pi * np.outer(place, 2 * place + 1) / (2 * SIDE)) * np.sqrt(2 / SIDE)
    matrix[0] /= np.sqrt(2)
    return matrix


def _bits(signs: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(signs.ravel()).tobytes(), "big")
