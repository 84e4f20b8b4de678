"""A simulated world: which items, pools, questions, judges and conditions there are, and one draw of its people.

The draw keeps arrays (for studies) and planted truth; ``tables`` turns it into the tables that an audit reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from voirdire.scales import Scale
from voirdire.simulation.judges import Character, Condition, SharedNoise, judge_items, planted
from voirdire.simulation.pools import (
    Floats,
    Ints,
    RaterPool,
    Stratum,
    apart,
    draw_latent,
    draw_severities,
    draw_utilities,
    expected_rating,
    rate,
    rate_nominal,
)

FIVE = Scale("ordinal", 1, 5)


@dataclass(frozen=True)
class SideQuestion:
    """A question beside the main one.

    means : pool -> culture -> latent mean. An empty mapping makes a nominal question of its labels.
    item_sd : sd of the item's effect, shared by the pools
    rater_sd : sd of a rating around it
    gap_loading : -1..1, correlation of the item's effect with the pools' widest gap on the main question, negated:
        at 0.4 items that split the pools are less recognizable
    agreement : of a nominal question, the pools' correlation
    """

    id: str
    role: str | None = None
    scale: Scale = FIVE
    means: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    item_sd: float = 0.5
    rater_sd: float = 0.6
    gap_loading: float = 0.0
    agreement: float = 0.5


@dataclass(frozen=True)
class World:
    """What is simulated. The main question is the one that judges answer.

    contrast : factor on the differences of the pools' latent opinions of an item: 0 makes pools of one mind
    judges : name -> character; origins : judge -> its level of the ``covariate``
    groups : what a level of the covariate does to its judges (by the level's name)
    conditions, designs : every judge answers under each condition with each design of demonstrations; without
        designs the judgments have no such column
    repeats : judgments of each cell
    """

    strata: tuple[Stratum, ...]
    pools: tuple[RaterPool, ...]
    scale: Scale = FIVE
    main: str = "q1"
    side: tuple[SideQuestion, ...] = ()
    judges: Mapping[str, Character] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    covariate: str = "origin"
    groups: tuple[Condition, ...] = ()
    conditions: tuple[Condition, ...] = (Condition("neutral"),)
    designs: tuple[Condition, ...] = ()
    noise: SharedNoise = field(default_factory=SharedNoise)
    repeats: int = 1
    contrast: float = 1.0
    name: str = "simulated"

    @property
    def settings(self) -> tuple[tuple[Condition, Condition | None], ...]:
        """Every condition with every design, in the order of the judgments; None where there are no designs."""
        designs: tuple[Condition | None, ...] = self.designs or (None,)
        return tuple((condition, design) for condition in self.conditions for design in designs)

    def planted(self, judge: str, condition: Condition, design: Condition | None = None) -> Character:
        """A judge as it is in one setting: its own character, moved by its group, the condition and the design.

        >>> from voirdire.simulation.judges import Character, Condition
        >>> world = World((), (RaterPool("us"), RaterPool("cn")), judges={"a": Character()}, origins={"a": "x"},
        ...               groups=(Condition("x", offset=0.2),))
        >>> world.planted("a", Condition("us", pull={"us": 0.3})).offset
        0.2
        """
        character = self.judges[judge]
        group = next((group for group in self.groups if group.name == self.origins.get(judge)), None)
        for step in (group, condition, design):
            if step is not None:
                character = planted(character, step, self.pool_names)
        return character

    @property
    def pool_names(self) -> tuple[str, ...]:
        """Names of the pools in order."""
        return tuple(pool.name for pool in self.pools)

    @property
    def n_items(self) -> int:
        """Items over all strata."""
        return sum(stratum.items for stratum in self.strata)


@dataclass(frozen=True)
class Humans:
    """One draw of items and people.

    strata : (items,) place of the item's stratum; cultures : (items,) names
    latent, expected : (items, K) latent opinions and planted consensuses (estimands free of sampling)
    ratings : question -> per pool (items, raters) ratings, NaN where a rater was not asked
    """

    world: World
    strata: Ints
    cultures: npt.NDArray[np.str_]
    latent: Floats
    expected: Floats
    ratings: Mapping[str, tuple[Floats, ...]]

    def consensus(self, question: str | None = None) -> Floats:
        """Mean ratings (K, items) as observed; NaN where a pool has no rating of the item."""
        asked = self.ratings[question or self.world.main]
        counts = np.stack([np.sum(~np.isnan(block), axis=1) for block in asked])
        sums = np.stack([np.nansum(block, axis=1) for block in asked])
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True)
class Verdicts:
    """What the judges gave: ratings (judges, settings, repeats, items), NaN where none, and codes of STATUSES."""

    ratings: Floats
    status: npt.NDArray[np.int8]


def draw_humans(world: World, rng: np.random.Generator) -> Humans:
    """Draw items and every pool's ratings of every question.

    >>> from voirdire.simulation.presets import paired_world
    >>> humans = draw_humans(paired_world(items=12), np.random.default_rng(0))
    >>> humans.latent.shape, humans.ratings["q1"][0].shape
    ((12, 2), (12, 5))
    """
    strata = np.repeat(np.arange(len(world.strata)), [stratum.items for stratum in world.strata])
    cultures = np.array([stratum.culture for stratum in world.strata])[strata]
    latent = apart(draw_latent(world.strata, world.scale, rng), world.contrast)
    blocks, expected = [], []
    for place, pool in enumerate(world.pools):
        severities = draw_severities(pool, len(latent), rng)
        blocks.append(rate(latent[:, place], severities, pool, world.scale, rng))
        expected.append(expected_rating(latent[:, place], pool, severities, world.scale))
    truth = np.stack(expected, axis=1)
    ratings = {world.main: tuple(blocks)}
    for question in world.side:
        answers = _side(question, world, cultures, truth, rng)
        pairs = zip(answers, blocks, strict=True)
        ratings[question.id] = tuple(np.where(np.isnan(asked), np.nan, given) for given, asked in pairs)
    return Humans(world, strata, cultures, latent, truth, ratings)


def draw_judges(humans: Humans, rng: np.random.Generator) -> Verdicts:
    """Every judge's ratings of the main question in every condition and design.

    >>> from voirdire.simulation.presets import paired_world
    >>> world = paired_world(items=12, judges={"a": "faithful_neutral", "b": "constant:4"})
    >>> rng = np.random.default_rng(0)
    >>> draw_judges(draw_humans(world, rng), rng).ratings[1, 0, 0].tolist() == [4.0] * 12
    True
    """
    world, items = humans.world, len(humans.expected)
    shape = (len(world.judges), len(world.settings), world.repeats, items)
    ratings, status = np.empty(shape), np.empty(shape, dtype=np.int8)
    every = world.noise.every * rng.standard_normal(items)
    by_setting = world.noise.condition * rng.standard_normal((len(world.settings), items))
    for j, judge in enumerate(world.judges):
        own = every + world.noise.judge * rng.standard_normal(items)
        for c, setting in enumerate(world.settings):
            there = world.planted(judge, *setting)
            for k in range(world.repeats):
                ratings[j, c, k], status[j, c, k] = judge_items(
                    humans.expected, humans.cultures, there, world.scale, rng, own + by_setting[c]
                )
    return Verdicts(ratings, status)


def _side(
    question: SideQuestion, world: World, cultures: npt.NDArray[np.str_], truth: Floats, rng: np.random.Generator
) -> tuple[Floats, ...]:
    items = len(truth)
    if not question.means:
        utilities = draw_utilities(items, len(question.scale.labels), len(world.pools), question.agreement, rng)
        return tuple(rate_nominal(utilities[p], pool.raters, rng) for p, pool in enumerate(world.pools))
    effect = _item_effect(question.gap_loading, truth, rng) * question.item_sd
    blocks = []
    for pool in world.pools:
        latent = np.array([question.means[pool.name][str(culture)] for culture in cultures]) + effect
        rater = RaterPool(pool.name, pool.raters, noise=question.rater_sd, severity_sd=0.0, layout=pool.layout)
        blocks.append(rate(latent, np.zeros((items, pool.raters)), rater, question.scale, rng))
    return tuple(blocks)


def _item_effect(loading: float, truth: Floats, rng: np.random.Generator) -> Floats:
    gap = truth.max(axis=1) - truth.min(axis=1)
    spread = float(gap.std())
    centred = (gap - gap.mean()) / spread if spread > 0 else np.zeros(len(gap))
    effect: Floats = -loading * centred + np.sqrt(1 - loading**2) * rng.standard_normal(len(gap))
    return effect
