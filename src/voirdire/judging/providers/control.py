"""Control judges through the runner: what a judge reaches that looks at nothing, or only at the pools.

Named as in ``voirdire.simulation.controls``: ``control/constant_4``, ``control/random``, ``control/copy_us``,
``control/copy_us_rounded``, ``control/midpoint_us_cn`` and ``control/midpoint_us_cn_rounded``. ``control/constant``
is the middle level.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

from voirdire.corpus.options import CorpusOptions
from voirdire.errors import UsageError
from voirdire.judging.nouns import Call, CallFailed, JudgeSpec, Reply
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.providers.kit import Kit

READING = "control.reading"
"""Key of ``Kit.shared`` under which the run says how the ratings are read (CorpusOptions), where it is known."""

Rate = Callable[[Call], float]
Consensus = Mapping[tuple[str, str, str], float]
"""(pool, question, item) -> the mean of the pool's ratings."""


class ControlJudge:
    """A judge that needs no prompt: ``rate`` gives the rating of a call, or raises CallFailed.

    The rating does not depend on the direction in which a condition asks the scale.
    """

    def __init__(self, name: str, rate: Rate, settings: Mapping[str, Any]) -> None:
        self.name = name
        self.lane = "control"
        self.settings = settings
        self._rate = rate

    async def ask(self, call: Call) -> Reply:
        """The rating. Raises CallFailed of kind ``request`` where a pool has no consensus for the item."""
        return Reply(rating=call.as_asked(self._rate(call)), cost=0.0)

    async def close(self) -> None:
        """Nothing to give back."""


def make(spec: JudgeSpec, kit: Kit) -> ControlJudge:
    """The control judge of a name. Raises UsageError for an unknown one, with those that the corpus allows."""
    if spec.parameters:
        raise UsageError("cli_run.control.parameters", judge=spec.name, names=", ".join(map(str, spec.parameters)))
    settings = {"control": spec.model, "seed": kit.seed}
    if spec.model == "random":
        return ControlJudge(spec.name, random_rate(spec.name, kit.seed), settings)
    if spec.model == "constant" or spec.model.startswith("constant_"):
        return ControlJudge(spec.name, constant_rate(spec), settings)
    if not spec.model.startswith(("copy_", "midpoint_")):
        raise _unknown(spec, ())
    reading: CorpusOptions = kit.shared.get(READING, CorpusOptions(kit.material.folder))
    if reading.ratings is None:
        raise UsageError("cli_run.control.no_ratings", judge=spec.name)
    consensus = read_consensus(reading)
    return ControlJudge(spec.name, _pool_rate(spec, consensus), settings)


def constant_rate(spec: JudgeSpec) -> Rate:
    """Always the level after ``constant_``; without one the middle level, of an even number the lower middle.

    Raises UsageError when what follows is no whole number; a call whose scale lacks the level fails.
    """
    wanted = spec.model.removeprefix("constant").removeprefix("_")
    try:
        level = int(wanted) if wanted else None
    except ValueError as error:
        raise _unknown(spec, ()) from error

    def rate(call: Call) -> float:
        if level is None:
            return float(sorted(call.levels)[(len(call.levels) - 1) // 2])
        if level not in call.levels:
            raise CallFailed("request", text("cli_run.control.level", level=level, known=_listed(call.levels)))
        return float(level)

    return rate


def random_rate(name: str, seed: int) -> Rate:
    """A level drawn for every cell: the same whatever the order of the cells and however often one is asked."""
    import numpy as np

    def rate(call: Call) -> float:
        cell = (name, call.item.id, call.condition, call.design, call.question, str(call.repeat))
        digest = hashlib.sha256("\0".join((str(seed), *cell)).encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:16], "big"))
        return float(call.levels[rng.integers(len(call.levels))])

    return rate


def read_consensus(reading: CorpusOptions) -> dict[tuple[str, str, str], float]:
    """Mean rating of every pool for every question and item; a pool's own means are taken as they are."""
    import polars as pl

    from voirdire.corpus.reading import read_corpus

    corpus = read_corpus(reading)
    keys = ["pool", "question", "item_id"]
    means = corpus.ratings.group_by(keys).agg(pl.col("value").mean())
    rows = [*corpus.aggregates.select(*keys, "value").drop_nulls().iter_rows(), *means.drop_nulls().iter_rows()]
    return {(pool, question, item): float(value) for pool, question, item, value in rows}


def _pool_rate(spec: JudgeSpec, consensus: Consensus) -> Rate:
    kind, _, named = spec.model.partition("_")
    pools = sorted({pool for pool, _, _ in consensus})
    known: dict[str, tuple[str, ...]] = {pool: (pool,) for pool in pools}
    if kind == "midpoint":
        known = {f"{a}_{b}": (a, b) for a, b in permutations(pools, 2)}
    rounded = named not in known and named.endswith("_rounded")
    name = named.removesuffix("_rounded") if rounded else named
    if name not in known:
        raise _unknown(spec, pools)
    return _mean_rate(known[name], rounded, consensus)


def _mean_rate(pools: tuple[str, ...], rounded: bool, consensus: Consensus) -> Rate:
    from voirdire.scales import Scale
    from voirdire.simulation.controls import round_to_level

    def rate(call: Call) -> float:
        values = [consensus.get((pool, call.question, call.item.id)) for pool in pools]
        missing = [pool for pool, value in zip(pools, values, strict=True) if value is None]
        if missing:
            raise CallFailed("request", text("cli_run.control.no_consensus", pool=missing[0], item=call.item.id))
        mean = sum(value for value in values if value is not None) / len(pools)
        scale = Scale("ordinal", min(call.levels), max(call.levels))
        return float(round_to_level([mean], scale)[0]) if rounded else mean

    return rate


def _unknown(spec: JudgeSpec, pools: list[str] | tuple[()]) -> UsageError:
    known = ["constant", "constant_LEVEL", "random"]
    known += [f"copy_{pool}" for pool in pools or ("POOL",)]
    if not pools:
        known.append("midpoint_POOL_POOL")
    elif len(pools) > 1:
        known.append(f"midpoint_{pools[0]}_{pools[1]}")
    return UsageError("cli_run.control.unknown", judge=spec.name, value=spec.model, known=", ".join(known))


def _listed(levels: tuple[int, ...]) -> str:
    return ", ".join(map(str, levels))
