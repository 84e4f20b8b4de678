"""Ready worlds: a general one for any number of pools, and one built like the paper's corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voirdire.scales import Scale
from voirdire.simulation.judges import Character, Condition, SharedNoise, named_character
from voirdire.simulation.pools import RaterPool, Stratum, scale_ends
from voirdire.simulation.world import FIVE, SideQuestion, World

CATEGORIES = ("food", "fashion", "architecture")
DEFAULT_JUDGES = {
    "sim-faithful": "faithful_neutral",
    "sim-compressed": "compressed",
    "sim-oriented": "oriented_a",
    "sim-constant": "constant",
}


def paired_world(
    items: int = 120,
    pools: Sequence[str] = ("us", "cn"),
    raters: int = 5,
    judges: Mapping[str, str | Character] | None = None,
    conditions: Sequence[Condition] = (Condition("neutral"),),
    scale: Scale = FIVE,
    layout: str = "crossed",
    repeats: int = 1,
) -> World:
    """Items of every pool's own culture in three categories: a pool likes its own and is divided on the others'.

    items : in all, spread over culture x category as evenly as they go
    judges : name -> name of a character, or a Character; by default four of different kinds

    >>> paired_world(items=60).n_items, paired_world(items=60, pools=["us", "cn", "in"]).pool_names
    (60, ('us', 'cn', 'in'))
    """
    cells = [(culture, category) for culture in pools for category in CATEGORIES]
    sizes = [items // len(cells) + (place < items % len(cells)) for place in range(len(cells))]
    strata = [_stratum(*cell, size, pools, scale) for cell, size in zip(cells, sizes, strict=True)]
    given = DEFAULT_JUDGES if judges is None else judges
    characters = {
        name: kind if isinstance(kind, Character) else named_character(kind, pools, scale)
        for name, kind in given.items()
    }
    people = tuple(RaterPool(pool, raters, noise=0.2 * _unit(scale) * 4, layout=layout) for pool in pools)
    side = four_questions(pools) if scale == FIVE else ()
    return World(
        tuple(strata), people, scale, side=side, judges=characters, conditions=tuple(conditions), repeats=repeats
    )


def four_questions(pools: Sequence[str]) -> tuple[SideQuestion, ...]:
    """Placement (5: the first pool's culture, 1: the last's), subjectivity (1: most subjective), recognizability.

    >>> [question.role for question in four_questions(["us", "cn"])]
    ['placement', 'subjectivity', 'recognizability']
    """
    last = max(len(pools) - 1, 1)
    place = {culture: 4.7 - 3.4 * rank / last for rank, culture in enumerate(pools)}
    known = {pool: {culture: 3.9 if culture == pool else 3.2 for culture in pools} for pool in pools}
    return (
        SideQuestion("q2", "placement", means=dict.fromkeys(pools, place), item_sd=0.4, rater_sd=0.5),
        SideQuestion("q3", "subjectivity", means={pool: dict.fromkeys(pools, 1.4) for pool in pools}),
        SideQuestion("q4", "recognizability", means=known, item_sd=0.6, rater_sd=0.6, gap_loading=0.4),
    )


def paper_world(judges: Mapping[str, str | Character] | None = None, times: int = 1) -> World:
    """A design like the paper's: 313 concept pairs of U.S. and Chinese imagery, two pools of five raters.

    The first pool is at odds with Chinese imagery, above all food, which the second finds good; both find American
    imagery good, the second with more spread. Constants are round numbers of our own, chosen to come near the
    paper's printed summaries; nothing here is the paper's data.

    times : that many times the items

    >>> paper_world().n_items
    626
    """
    pools = ("us", "cn")
    design = {
        ("us", "food", 147): ((5.2, 3.5), (0.5, 4.0), -0.5),
        ("us", "fashion", 64): ((5.2, 4.2), (0.6, 1.5), -0.3),
        ("us", "architecture", 102): ((5.3, 4.4), (0.6, 1.8), 0.0),
        ("cn", "food", 147): ((1.1, 5.2), (0.6, 1.2), 0.4),
        ("cn", "fashion", 64): ((1.9, 5.2), (1.7, 1.1), 0.4),
        ("cn", "architecture", 102): ((5.3, 4.3), (3.0, 0.5), 0.3),
    }
    strata = tuple(
        Stratum(culture, category, items * times, *values, shared_low=0.06)
        for (culture, category, items), values in design.items()
    )
    spread = (-0.2, -0.1, 0.0, 0.1, 0.2)
    people = tuple(RaterPool(pool, noise=0.8, severities=spread) for pool in pools)
    given = judges if judges is not None else {"judge": "faithful_neutral"}
    characters = {
        name: kind if isinstance(kind, Character) else named_character(kind, pools, FIVE)
        for name, kind in given.items()
    }
    return World(strata, people, side=four_questions(pools), judges=characters, name="simulated-paper-like")


def paper_grid(times: int = 1) -> World:
    """The paper-like world with six judges in ten conditions: 60 cells an item.

    >>> world = paper_grid()
    >>> len(world.judges), len(world.conditions)
    (6, 10)
    """
    kinds = [(0.7, 0.45), (0.7, 0.6), (0.5, 0.6), (0.65, 0.65), (0.6, 0.5), (0.7, 0.55)]
    judges = {
        f"sim-judge-{place + 1}": Character(offset=0.1 * place, scale=scale, weights=(1 - cn, cn), permissiveness=0.2)
        for place, (scale, cn) in enumerate(kinds)
    }
    base = paper_world(judges, times)
    origins = {name: ("us", "cn")[place // 3] for place, name in enumerate(judges)}
    return World(
        base.strata,
        base.pools,
        side=base.side,
        judges=judges,
        origins=origins,
        conditions=ten_conditions(),
        noise=SharedNoise(every=0.5, judge=0.3, condition=0.2),
        name=base.name,
    )


def ten_conditions() -> tuple[Condition, ...]:
    """Neutral, and personas of both pools in two details, each in two languages.

    >>> [condition.name for condition in ten_conditions()][:3]
    ['neutral_en', 'neutral_zh', 'basic_us_en']
    """
    made = [Condition(f"neutral_{lang}", _factors("none", "none", lang)) for lang in ("en", "zh")]
    for detail, amount in (("basic", 0.2), ("advanced", 0.25)):
        for persona in ("us", "cn"):
            for lang in ("en", "zh"):
                name, factors = f"{detail}_{persona}_{lang}", _factors(persona, detail, lang)
                made.append(Condition(name, factors, offset=-0.2, pull={persona: amount}))
    return tuple(made)


def factorial(
    personas: Sequence[str], details: Sequence[str], languages: Sequence[str], shift: float
) -> tuple[Condition, ...]:
    """A neutral condition and one for each persona and detail, in each language.

    shift : weight that a persona moves to the pool of its name. Without personas, details and languages: neutral alone.

    >>> [condition.name for condition in factorial(["us"], [], ["en", "zh"], 0.2)]
    ['neutral_en', 'neutral_zh', 'us_en', 'us_zh']
    """
    made = []
    for persona in (None, *personas):
        for detail in details if persona and details else (None,):
            for language in languages or (None,):
                factors = {"persona": persona or "none"} if personas else {}
                factors |= {"detail": detail or "none"} if details else {}
                factors |= {"language": language} if language else {}
                name = "_".join(part for part in (persona or "neutral", detail, language) if part)
                made.append(Condition(name, factors, pull={persona: shift} if persona else {}))
    return tuple(made)


def _factors(persona: str, detail: str, language: str) -> dict[str, str]:
    return {"persona": persona, "detail": detail, "language": language}


def _unit(scale: Scale) -> float:
    low, high = scale_ends(scale)
    return (high - low) / 4


def _stratum(culture: str, category: str, items: int, pools: Sequence[str], scale: Scale) -> Stratum:
    low, unit = scale_ends(scale)[0], _unit(scale)
    means = tuple(low + unit * (3.4 if pool == culture else 1.4) for pool in pools)
    sds = tuple(unit * (0.9 if pool == culture else 1.2) for pool in pools)
    return Stratum(culture, category, items, means, sds, correlation=0.2, shared_low=0.08)
