"""A world as a TOML file: what is simulated, described rather than programmed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from voirdire.errors import InputError, UsageError
from voirdire.scales import LEVELS, PAIRWISE, Scale
from voirdire.simulation.calibration import calibrated
from voirdire.simulation.judges import Character, Condition, SharedNoise, named_character
from voirdire.simulation.pools import LAYOUTS, RaterPool, Stratum
from voirdire.simulation.presets import four_questions, paired_world
from voirdire.simulation.spec_table import SpecTable
from voirdire.simulation.world import FIVE, SideQuestion, World

PLAIN = {"offset": None, "scale": None, "permissiveness": None, "noise": 0.0, "sway": None}
SHARES = ("malformed", "refused", "absent")
SIMULATED = tuple(level for level in LEVELS if level != PAIRWISE)


@dataclass(frozen=True)
class Spec:
    """A world that was read from a file, and its seed (0 where the file names none)."""

    world: World
    seed: int


def read_spec(path: Path | str) -> Spec:
    """Read a specification.

    Raises InputError for a file that is not TOML and UsageError (``simulation.spec.*``), which names the key, for
    content that makes no world. Pools with a wanted reliability and a wanted divergence are calibrated.
    """
    file = Path(path)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("simulation.spec.no_file", file=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("simulation.spec.not_toml", file=str(path), why=str(error)) from error
    top = SpecTable(table, file.name)
    world = _world(top)
    seed = top.whole("seed", 0)
    top.done()
    return Spec(world, seed)


def _world(top: SpecTable) -> World:
    scale = _scale(top)
    pools, wanted = _pools(top)
    names = tuple(pool.name for pool in pools)
    strata = _strata(top, names, scale)
    cultures = tuple(dict.fromkeys(stratum.culture for stratum in strata))
    covariate, groups = _groups(top, names, cultures)
    judges, origins = _judges(top, names, cultures, scale, covariate)
    noise = top.inner("noise")
    shared = SharedNoise(*(noise.number(part, 0.0, 0.0) for part in ("every", "judge", "condition")))
    noise.done()
    world = World(
        strata,
        pools,
        scale,
        main=top.text("main", "q1"),
        side=_questions(top, names, cultures, scale),
        judges=judges,
        origins=origins,
        covariate=covariate,
        groups=groups,
        conditions=_conditions(top, "condition", names, cultures) or (Condition("neutral"),),
        designs=_conditions(top, "design", names, cultures),
        noise=shared,
        repeats=top.whole("repeats", 1, 1),
        contrast=top.number("contrast", 1.0, 0.0),
        name=top.text("name", "simulated"),
    )
    return calibrated(world, wanted, top.number("divergence", None, 0.0))


def _scale(top: SpecTable) -> Scale:
    if not top.has("scale"):
        return FIVE
    table = top.inner("scale")
    level, labels = table.text("level", "ordinal", SIMULATED), table.texts("labels")
    positive = table.text("positive") if table.has("positive") else None
    low, high = table.number("low"), table.number("high")
    table.done()
    if level == "nominal":
        if len(labels) != 2 or positive not in labels:
            raise UsageError("simulation.spec.two_labels", file=top.file)
        other = next(label for label in labels if label != positive)
        return Scale("nominal", labels=(other, positive), positive=positive)
    if low is None or high is None or not low < high:
        raise UsageError("simulation.spec.ends", file=top.file)
    return Scale(level, low, high)


def _pools(top: SpecTable) -> tuple[tuple[RaterPool, ...], dict[str, float]]:
    pools: list[RaterPool] = []
    wanted: dict[str, float] = {}
    for table in top.tables("pool"):
        name, severities = table.text("name"), table.has("severities")
        raters = table.whole("raters", 5, 1)
        if name in {pool.name for pool in pools}:
            raise UsageError("simulation.spec.twice", file=top.file, entry=table.place, value=name)
        pools.append(
            RaterPool(
                name,
                raters,
                noise=table.number("noise", 0.8, 1e-6),
                severity_sd=table.number("severity_sd", 0.2, 0.0),
                severities=table.for_each("severities", tuple(map(str, range(raters)))) if severities else None,
                layout=table.text("layout", "crossed", LAYOUTS),
                share=table.number("share", 1.0, 1e-6, 1.0),
            )
        )
        if table.has("reliability"):
            wanted[name] = float(table.number("reliability", None, 0.0, 1.0))
        table.done()
    if len(pools) < 2:
        raise UsageError("simulation.spec.pools", file=top.file)
    return tuple(pools), wanted


def _strata(top: SpecTable, pools: tuple[str, ...], scale: Scale) -> tuple[Stratum, ...]:
    tables = top.tables("stratum")
    if top.has("items") and tables:
        raise UsageError("simulation.spec.items_and_strata", file=top.file)
    if top.has("items"):
        return paired_world(top.whole("items", None, len(pools)), pools, judges={}, scale=scale).strata
    if not tables:
        raise UsageError("simulation.spec.no_items", file=top.file)
    return tuple(_stratum(table, pools) for table in tables)


def _stratum(table: SpecTable, pools: tuple[str, ...]) -> Stratum:
    means = table.for_each("means", pools)
    if means is None:
        raise table.missing("means")
    stratum = Stratum(
        table.text("culture"),
        table.text("category", "items"),
        table.whole("items", None, 1),
        means,
        table.for_each("sds", pools) or (1.0,) * len(pools),
        table.number("correlation", 0.0, -1 / (len(pools) - 1) + 1e-6, 1.0 - 1e-9),
        table.number("shared_low", 0.0, 0.0, 1.0),
    )
    table.done()
    return stratum


def _questions(
    top: SpecTable, pools: tuple[str, ...], cultures: tuple[str, ...], scale: Scale
) -> tuple[SideQuestion, ...]:
    tables = top.tables("question")
    if not tables:
        own = set(cultures) <= set(pools) and scale == FIVE
        return four_questions(pools) if own and top.flag("four_questions", top.has("items")) else ()
    return tuple(_question(table, pools, cultures) for table in tables)


def _question(table: SpecTable, pools: tuple[str, ...], cultures: tuple[str, ...]) -> SideQuestion:
    means_table = table.inner("means")
    means = {}
    for pool in pools:
        given = means_table.for_each(pool, cultures)
        if given is None:
            raise means_table.missing(pool)
        means[pool] = dict(zip(cultures, given, strict=True))
    means_table.done()
    question = SideQuestion(
        table.text("id"),
        table.text("role") if table.has("role") else None,
        _scale(table),
        means,
        table.number("item_sd", 0.5, 0.0),
        table.number("rater_sd", 0.6, 1e-6),
        table.number("gap_loading", 0.0, -1.0, 1.0),
    )
    table.done()
    return question


def _groups(top: SpecTable, pools: tuple[str, ...], cultures: tuple[str, ...]) -> tuple[str, tuple[Condition, ...]]:
    table = top.inner("covariate")
    name = table.text("name", "origin")
    levels = _conditions(table, "level", pools, cultures)
    table.done()
    return name, levels


def _conditions(top: SpecTable, key: str, pools: tuple[str, ...], cultures: tuple[str, ...]) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for table in top.tables(key):
        condition = Condition(
            table.text("name"),
            table.labels("factors"),
            offset=table.number("offset", 0.0),
            scale=table.number("scale", 1.0, 0.0),
            pull=table.numbers("pull", pools),
            image=table.numbers("image", cultures),
        )
        table.done()
        if condition.name in {other.name for other in found}:
            raise UsageError("simulation.spec.twice", file=top.file, entry=table.place, value=condition.name)
        found.append(condition)
    return tuple(found)


def _judges(
    top: SpecTable, pools: tuple[str, ...], cultures: tuple[str, ...], scale: Scale, covariate: str
) -> tuple[dict[str, Character], dict[str, str]]:
    judges: dict[str, Character] = {}
    origins: dict[str, str] = {}
    for table in top.tables("judge"):
        name = table.text("name")
        if name in judges:
            raise UsageError("simulation.spec.twice", file=top.file, entry=table.place, value=name)
        judges[name] = _character(table, pools, cultures, scale)
        if table.has(covariate):
            origins[name] = table.text(covariate)
        table.done()
    if not judges:
        raise UsageError("simulation.spec.judges", file=top.file)
    return judges, origins


def _character(table: SpecTable, pools: tuple[str, ...], cultures: tuple[str, ...], scale: Scale) -> Character:
    base = named_character(table.text("character", "faithful_neutral"), pools, scale)
    changed = {name: table.number(name, None, least) for name, least in PLAIN.items()}
    changed |= {name: table.number(name, None, 0.0, 1.0) for name in SHARES}
    changed |= {name: table.number(name) for name in ("floor", "ceiling", "center")}
    changed = {name: float(value) for name, value in changed.items() if value is not None}
    weights = table.for_each("weights", pools)
    uniform = table.flag("random", base.uniform)
    character = replace(base, **changed, weights=weights or base.weights, uniform=uniform)
    if sum(getattr(character, name) for name in SHARES) > 1:
        raise UsageError("simulation.spec.shares", file=table.file, entry=table.place)
    return replace(character, image=table.numbers("image", cultures) or base.image)
