"""Power of a planned audit: what it could show, by formula and by simulated corpora.

A judge with the wanted effect is planted: one that leans to the second pool so far that its expected delta, T or W is
the wanted one. Each plan is then computed by the formulas of ``stats.power`` and, if asked for, simulated: drawn,
measured and tested as an audit does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import polars as pl

from voirdire.analysis.power_plan import plan_of
from voirdire.analysis.power_simulation import DELTA, WEIGHT, p_values, simulated_world
from voirdire.errors import UsageError
from voirdire.simulation.calibration import calibrated, planted_pools
from voirdire.simulation.judges import Character
from voirdire.simulation.presets import paired_world
from voirdire.simulation.world import World
from voirdire.stats.power import (
    Components,
    Noise,
    Orientation,
    Plan,
    components,
    detectable,
    orientation,
    power,
)

TILT = "tilt"
STATISTICS = (DELTA, TILT, WEIGHT)
LEAST_ITEMS = 12
MOST_ITEMS = 1_000_000
NEUTRAL = 0.5
_WEIGHT_ENDS = (-1.0, 2.0)
Progress = Callable[[str, float], None]
Row = dict[str, float | int | str | None]


@dataclass(frozen=True)
class PowerOptions:
    """What is planned.

    effects : (``delta`` | ``tilt`` | ``orientation``, value): a delta, a T or a W that is to be found
    items, raters, judges, repeats : every combination of them is a plan; raters are those of an item in each pool;
        delta and T are means over the judges, W is of each judge by itself
    reliability : of each pool's consensus with the first number of raters; divergence : rms gap of the pools
    slope, noise : of the judges: slope of their ratings on what they go by, and sd around it
    repeated : share of that variance which a judge repeats on an item; common : share that all judges share
    power, alpha : wanted power, and the level of the tests
    simulations : corpora drawn for each plan, 0 for formulas alone; seed : of the drawing
    world : items and pools of one's own (two pools); its strata keep their proportions. Its judges are not used.
    """

    effects: tuple[tuple[str, float], ...] = ((WEIGHT, 0.6),)
    items: tuple[int, ...] = (60, 120, 240, 480)
    raters: tuple[int, ...] = (5,)
    judges: tuple[int, ...] = (1,)
    repeats: tuple[int, ...] = (1,)
    reliability: float | None = 0.85
    divergence: float | None = 1.5
    slope: float = 0.6
    noise: float = 0.5
    repeated: float = 0.5
    common: float = 0.2
    power: float = 0.8
    alpha: float = 0.05
    simulations: int = 200
    seed: int = 0
    world: World | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for statistic, wanted in self.effects:
            if statistic not in STATISTICS:
                raise UsageError("power.error.statistic", value=statistic, known=", ".join(STATISTICS))
            if statistic == WEIGHT and not (0 < wanted < 1 and wanted != NEUTRAL):
                raise UsageError("power.error.weight", value=f"{wanted:g}")
        if not self.effects:
            raise UsageError("power.error.no_effect")
        least = {"items": LEAST_ITEMS, "raters": 1, "judges": 1, "repeats": 1}
        for name, low in least.items():
            values = getattr(self, name)
            if not values or min(values) < low:
                raise UsageError("power.error.least", option=name, least=low)
        shares = {"power": (0.0, 1.0), "alpha": (0.0, 1.0), "repeated": (-1e-9, 1.0), "common": (-1e-9, 1.0)}
        for name, (bottom, top) in shares.items():
            if not bottom < getattr(self, name) < top:
                raise UsageError("power.error.share", option=name, value=getattr(self, name))
        if self.common > self.repeated:
            raise UsageError("power.error.common", common=self.common, repeated=self.repeated)
        if self.noise <= 0 or self.slope <= 0 or self.simulations < 0:
            raise UsageError("power.error.positive")


@dataclass(frozen=True)
class PowerTable:
    """Power of every plan.

    plans : statistic, wanted (the effect asked for), raters, judges, repeats, items, reliability (of the pool that has
        less), expected (the planted judge's value in this plan), error (standard error), power (by formula), simulated,
        simulated_low, simulated_high (Wilson's 95 % interval), detectable (the smallest effect found with the wanted
        power: off 0, or W off 1/2)
    needed : statistic, wanted, raters, judges, repeats, items (the fewest that reach the wanted power by formula, null
        beyond a million)
    """

    plans: pl.DataFrame
    needed: pl.DataFrame
    options: PowerOptions
    divergence: float


def power_table(options: PowerOptions, progress: Progress | None = None) -> PowerTable:
    """The power of every plan.

    Raises UsageError for an effect that no judge of this kind has between these pools, and what calibration raises.
    """
    base = _base(options)
    places = list(product(options.effects, options.raters))
    plans: list[Row] = []
    needed: list[Row] = []
    for place, ((statistic, wanted), raters) in enumerate(places):
        study = _Study(options, base, statistic, wanted, raters)
        for judges, repeats in product(options.judges if statistic != WEIGHT else (1,), options.repeats):
            key: Row = {
                "statistic": statistic,
                "wanted": wanted,
                "raters": raters,
                "judges": judges,
                "repeats": repeats,
            }
            needed.append(key | {"items": study.needed(judges, repeats)})
            plans.extend(key | study.row(items, judges, repeats) for items in options.items)
        if progress is not None:
            progress("power", (place + 1) / len(places))
    spread = planted_pools(base).gap_rms
    return PowerTable(
        pl.DataFrame(plans, infer_schema_length=None), pl.DataFrame(needed, infer_schema_length=None), options, spread
    )


def _base(options: PowerOptions) -> World:
    """Items and pools, calibrated with the first number of raters."""
    world = options.world or paired_world(judges={})
    if len(world.pools) != 2:
        raise UsageError("power.error.two_pools", count=len(world.pools))
    if not world.scale.level_values:
        raise UsageError("power.error.levels")
    pools = tuple(replace(pool, raters=options.raters[0]) for pool in world.pools)
    world = replace(world, pools=pools, side=(), judges={}, conditions=world.conditions[:1], designs=())
    wanted = {} if options.reliability is None else {pool.name: options.reliability for pool in pools}
    return calibrated(world, wanted, options.divergence)


@dataclass(frozen=True)
class _Study:
    """One effect with one number of raters: the judge is set by the first number of raters, and stays the same."""

    options: PowerOptions
    base: World
    statistic: str
    wanted: float
    raters: int
    weights: tuple[float, float] = field(init=False)
    plan: Plan = field(init=False)
    found: Components | Orientation = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self._weights())
        object.__setattr__(self, "plan", plan_of(self.world, self.character, self.noise))
        object.__setattr__(self, "found", self._found())

    @property
    def noise(self) -> Noise:
        """The judges' noise in its three parts."""
        options = self.options
        shares = (options.common, options.repeated - options.common, 1 - options.repeated)
        return Noise(*(options.noise * float(np.sqrt(share)) for share in shares))

    @property
    def world(self) -> World:
        """The pools with this number of raters."""
        return replace(self.base, pools=tuple(replace(pool, raters=self.raters) for pool in self.base.pools))

    @property
    def character(self) -> Character:
        """The judge with the wanted effect."""
        return Character(scale=self.options.slope, weights=self.weights, noise=self.noise.fresh)

    def _weights(self) -> tuple[float, float]:
        """Weights of the pools that give the wanted effect with the first number of raters, by halving."""
        if self.statistic == WEIGHT:
            return 1 - self.wanted, self.wanted

        def reached(w: float) -> float:
            judge = Character(scale=self.options.slope, weights=(1 - w, w), noise=self.noise.fresh)
            return components(plan_of(self.base, judge, self.noise), self.statistic).expected

        low, high = _WEIGHT_ENDS
        ends = sorted((reached(low), reached(high)))
        if not ends[0] < self.wanted < ends[1]:
            told = {"value": f"{self.wanted:g}", "low": f"{ends[0]:.2f}", "high": f"{ends[1]:.2f}"}
            raise UsageError("power.error.unreachable", statistic=self.statistic, **told)
        rising = reached(high) > reached(low)
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (middle, high) if (reached(middle) < self.wanted) == rising else (low, middle)
        w = (low + high) / 2
        return 1 - w, w

    def _found(self) -> Components | Orientation:
        if self.statistic == WEIGHT:
            return orientation(self.plan, self.weights, self.options.slope)
        return components(self.plan, self.statistic)

    def errors(self, items: int, judges: int, repeats: int) -> tuple[float, float, float]:
        """The effect, how far its estimate moves, and the standard error that the test takes."""
        found = self.found
        if isinstance(found, Orientation):
            test = found.contrast_error(items)
            return found.contrast, test * float(np.sqrt(found.inflation(repeats))), test
        moves = float(np.sqrt(found.variance(items, judges, repeats)))
        return found.expected, moves, found.error(items, judges, repeats)

    def power(self, items: int, judges: int, repeats: int) -> float:
        """Power by formula."""
        return power(*self.errors(items, judges, repeats), self.options.alpha)

    def needed(self, judges: int, repeats: int) -> int | None:
        """The fewest items that reach the wanted power."""
        wanted, low, high = self.options.power, 1, MOST_ITEMS
        if self.power(high, judges, repeats) < wanted:
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.power(middle, judges, repeats) >= wanted else (middle + 1, high)
        return max(low, LEAST_ITEMS)

    def row(self, items: int, judges: int, repeats: int) -> Row:
        """The row of a plan."""
        effect, moves, test = self.errors(items, judges, repeats)
        least = detectable(moves, test, self.options.power, self.options.alpha)
        shown: Row = {"items": items}
        shown["reliability"] = min(planted_pools(self.world).reliability.values())
        if isinstance(self.found, Orientation):
            total = float(self.found.slopes.sum())
            shown |= {"expected": self.found.w, "error": self.found.w_error(items, repeats)}
            least = least / (2 * total)
        else:
            shown |= {"expected": effect, "error": test}
        shown |= {"power": self.power(items, judges, repeats), "detectable": least}
        return shown | self._simulated(items, judges, repeats)

    def _simulated(self, items: int, judges: int, repeats: int) -> Row:
        draws = self.options.simulations
        if draws == 0:
            return {"simulated": None, "simulated_low": None, "simulated_high": None}
        world = simulated_world(self.world, self.character, self.noise, items, judges, repeats)
        rng = np.random.default_rng([self.options.seed, items, self.raters, judges, repeats])
        hits = sum(p < self.options.alpha for p in p_values(world, self.statistic, draws, rng))
        low, high = wilson(hits, draws)
        return {"simulated": hits / draws, "simulated_low": low, "simulated_high": high}


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(80, 100)]
    [0.711, 0.867]
    """
    z, share = 1.959963984540054, hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return float(middle - half), float(middle + half)
