"""How often the interval of a shift between languages holds what was planted: the table of explanation/equivalence.md.

``python docs/studies/equivalence.py [PILOTS]``
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from voirdire.construction.translation.shifts import Shift, shift_of

ITEMS, NOISE, OWN = 8, 0.5, 0.2
RATERS, SHIFTS = (3, 4, 6, 8, 12, 16, 20), (0.0, 0.25, 0.5)
Array = npt.NDArray[np.float64]


def pilot(rng: np.random.Generator, raters: int, shift: float) -> tuple[Array, Array, Array]:
    """Ratings in both languages, and whose they are, (raters * ITEMS,) each."""
    merit, own = rng.normal(3, 0.8, ITEMS), shift + rng.normal(0, OWN, (raters, 1))
    first, second = (
        np.clip(np.round(merit + rng.normal(0, NOISE, (raters, ITEMS)) + more), 1, 5) for more in (0.0, own)
    )
    return first.ravel(), second.ravel(), np.repeat(np.arange(raters), ITEMS)


def planted(rng: np.random.Generator, shift: float) -> float:
    """A shift on the rounded scale, from 80,000 raters."""
    means = []
    for _ in range(200):
        first, second, _ = pilot(rng, 400, shift)
        means.append(float((second - first).mean()))
    return float(np.mean(means))


def row(rng: np.random.Generator, raters: int, truths: dict[float, float], pilots: int) -> str:
    """A row of the table."""
    held, out, width, seen = [], [], [], []
    for shift, truth in truths.items():
        every = [shift_of(*pilot(rng, raters, shift)) for _ in range(pilots)]
        found: list[Shift] = [one for one in every if one.low is not None]
        ends = np.array([(one.low, one.high) for one in found], dtype=float)
        held.append(((ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9)).mean())
        out.append(((ends[:, 0] > 0) | (ends[:, 1] < 0)).sum() / pilots)
        width.append((ends[:, 1] - ends[:, 0]).mean())
        seen.append(np.mean([one.detectable for one in found if one.detectable is not None]))
    cells = (" / ".join(f"{value:.3f}" for value in values) for values in (held, out))
    return f"| {raters} | {' | '.join(cells)} | {width[0]:.2f} | {seen[0]:.2f} |"


def main(pilots: int = 400) -> None:
    """Print the table."""
    rng = np.random.default_rng(20261130)
    truths = {shift: planted(rng, shift) for shift in SHIFTS}
    for raters in RATERS:
        print(row(rng, raters, truths, pilots), flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
