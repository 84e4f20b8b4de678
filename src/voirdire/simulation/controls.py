"""Control judges: what a judge reaches that looks at nothing, or only at the pools (estimators.md, section 2).

Every real judge stands beside them: what a constant also reaches is no finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from voirdire.scales import Scale
from voirdire.stats.votes import plurality_votes

PREFIX = "control:"
_TIE = 1e-9

Floats = npt.NDArray[np.float64]


def control_judges(
    consensus: npt.ArrayLike,
    pools: Sequence[str],
    scale: Scale,
    rng: np.random.Generator,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> dict[str, Floats]:
    """The ratings that every control judge gives to the items, by the judge's name.

    Parameters
    ----------
    consensus : (K, items) the pools' consensuses in the units of the question's scale, NaN where a pool has
        none. Of a nominal question either (K, items) the code of the plurality label or (K, items, labels) the
        pools' shares of the labels.
    pools : the K names of the pools
    scale : the question's scale. Without ends, the smallest and largest consensus take their place.
    rng : draws the random judge
    pairs : the pairs of pools that get a mid-point; by default every pair

    Returns
    -------
    name -> (items,) ratings. ``control:constant_<level>`` and ``control:random`` rate every item. Exact copies
    and mid-points are NaN where a consensus that they need is missing. ``_rounded`` ones give the nearest
    declared level, ties to the higher. Levels of an interval or ratio scale: constants stand at the low end,
    the quartiles and the high end, the random judge draws from the whole range, nothing is rounded. Nominal
    questions: constants are named by label, a copy gives the plurality label and a mid-point the label of the
    highest mean share (ties: the label declared first); there is no exact version of either. Pairwise votes have
    (items, votes) arrays instead: a control that is for either thing votes once for each, as repeats, so that none
    depends on which thing is the first. ``control:coin`` is for either thing, ``control:random`` also for a tie,
    ``control:constant_<tie>`` always for a tie; a copy gives every label that most votes are for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> made = control_judges([[1.0, 4.5], [2.0, np.nan]], ["us", "cn"], Scale("ordinal", 1, 5), rng)
    >>> made["control:constant_3"], made["control:copy_us_rounded"], made["control:midpoint_us_cn"]
    (array([3., 3.]), array([1., 5.]), array([1.5, nan]))
    """
    values = np.asarray(consensus, dtype=float)
    if values.ndim not in (2, 3) or len(values) != len(pools):
        raise ValueError("consensus is (pools, items), or (pools, items, labels) of a nominal question")  # noqa: TRY003
    wanted = list(combinations(pools, 2)) if pairs is None else list(pairs)
    if scale.pairwise:
        return {PREFIX + name: votes for name, votes in _votes(values, pools, wanted, scale).items()}
    made = _blind(values.shape[1], values, scale, rng)
    row = {pool: values[place] for place, pool in enumerate(pools)}
    made |= _nominal_copies(row, wanted) if scale.nominal else _copies(row, wanted, scale)
    return {PREFIX + name: ratings for name, ratings in made.items()}


def constant_levels(scale: Scale, low: float, high: float) -> dict[str, float]:
    """The level of every constant judge, by the end of its name.

    >>> constant_levels(Scale("interval", 0, 100), 0, 100)
    {'0': 0.0, '25': 25.0, '50': 50.0, '75': 75.0, '100': 100.0}
    >>> constant_levels(Scale("nominal", labels=("yes", "no", "both")), 0, 2)
    {'yes': 0.0, 'no': 1.0, 'both': 2.0}
    """
    if scale.nominal:
        return {label: float(code) for code, label in enumerate(scale.labels)}
    levels = scale.level_values or tuple(np.linspace(low, high, 5).tolist())
    return {f"{level:.12g}": float(level) for level in levels}


def round_to_level(values: npt.ArrayLike, scale: Scale) -> Floats:
    """The nearest declared level, ties to the higher; NaN stays. Scales without levels raise ValueError.

    >>> round_to_level([1.5, 2.4999, np.nan], Scale("ordinal", 1, 5))
    array([ 2.,  2., nan])
    """
    levels = scale.level_values
    if not levels:
        raise ValueError("an interval or ratio scale has no levels to round to")  # noqa: TRY003
    steps = np.floor(np.asarray(values, dtype=float) - levels[0] + 0.5 + _TIE)
    rounded: Floats = np.clip(levels[0] + steps, levels[0], levels[-1])
    return rounded


def permute_ratings(ratings: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """The judge's own ratings (items,) permuted over the items that it rated; NaN keep their place.

    >>> permute_ratings([1.0, np.nan, 1.0], np.random.default_rng(0))
    array([ 1., nan,  1.])
    """
    shuffled = np.array(ratings, dtype=float)
    rated = np.flatnonzero(~np.isnan(shuffled))
    shuffled[rated] = shuffled[rng.permutation(rated)]
    return shuffled


def _ends(values: Floats, scale: Scale) -> tuple[float, float]:
    seen = values[~np.isnan(values)]
    low = scale.low if scale.low is not None else float(seen.min(initial=np.inf))
    high = scale.high if scale.high is not None else float(seen.max(initial=-np.inf))
    return (low, high) if np.isfinite(low) and np.isfinite(high) and low <= high else (0.0, 0.0)


def _blind(items: int, values: Floats, scale: Scale, rng: np.random.Generator) -> dict[str, Floats]:
    low, high = _ends(values, scale)
    made = {f"constant_{name}": np.full(items, level) for name, level in constant_levels(scale, low, high).items()}
    levels = scale.level_values or (tuple(range(len(scale.labels))) if scale.nominal else ())
    drawn = np.asarray(levels, dtype=float)[rng.integers(len(levels), size=items)] if levels else None
    made["random"] = rng.uniform(low, high, items) if drawn is None else drawn
    return made


def _copies(row: dict[str, Floats], pairs: Sequence[tuple[str, str]], scale: Scale) -> dict[str, Floats]:
    exact = {f"copy_{pool}": ratings.copy() for pool, ratings in row.items()}
    exact |= {f"midpoint_{a}_{b}": (row[a] + row[b]) / 2 for a, b in pairs}
    if not scale.level_values:
        return exact
    return exact | {f"{name}_rounded": round_to_level(ratings, scale) for name, ratings in exact.items()}


def _nominal_copies(row: dict[str, Floats], pairs: Sequence[tuple[str, str]]) -> dict[str, Floats]:
    if next(iter(row.values())).ndim == 1:
        return {f"copy_{pool}_rounded": codes.copy() for pool, codes in row.items()}
    made = {f"copy_{pool}_rounded": _plurality(shares) for pool, shares in row.items()}
    return made | {f"midpoint_{a}_{b}_rounded": _plurality((row[a] + row[b]) / 2) for a, b in pairs}


def _votes(shares: Floats, pools: Sequence[str], pairs: Sequence[tuple[str, str]], scale: Scale) -> dict[str, Floats]:
    """Controls of pairwise votes, (items, votes) each; shares (K, items, labels)."""
    items = shares.shape[1]
    made = {f"constant_{label}": np.full((items, 1), 2.0) for label in scale.labels[2:]}
    made["coin"] = np.tile([0.0, 1.0], (items, 1))
    if scale.ties:
        made["random"] = np.tile([0.0, 1.0, 2.0], (items, 1))
    row = dict(zip(pools, shares, strict=True))
    made |= {f"copy_{pool}_rounded": plurality_votes(part) for pool, part in row.items()}
    return made | {f"midpoint_{a}_{b}_rounded": plurality_votes((row[a] + row[b]) / 2) for a, b in pairs}


def _plurality(shares: Floats) -> Floats:
    missing = np.isnan(shares).any(axis=1)
    best: Floats = np.argmax(np.round(np.where(np.isnan(shares), 0.0, shares), 9), axis=1).astype(float)
    best[missing] = np.nan
    return best
