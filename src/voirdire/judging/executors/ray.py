"""The grid on Ray: an actor a node asks a shard of the cells, the driver writes the ledger.

Meant for open-weight judges that are served on many machines: with ``base_url = "http://localhost:8000/v1"`` every
actor asks the server of its own node. Source: https://docs.ray.io/en/latest/ray-core/actors.html,
https://docs.ray.io/en/latest/ray-core/fault_tolerance/actors.html
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from voirdire.errors import UsageError
from voirdire.judging.executors.blueprint import Environment, blueprint_of
from voirdire.judging.executors.fleet import GRACE, Fleet, LostError
from voirdire.judging.executors.shard import News, Orders, Shard
from voirdire.judging.limits import Limits
from voirdire.judging.progress import Watch, take_over
from voirdire.judging.runner import Summary, Tariff

if TYPE_CHECKING:
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.nouns import Judge, JudgeSpec
    from voirdire.judging.plan import Plan

T = TypeVar("T")
OBJECT_STORE = 100_000_000
"""Bytes of shared memory of a cluster that this program starts itself: messages are small."""


async def run_on_ray(
    plan: Plan,
    judges: Sequence[Judge],
    ledger: Ledger,
    *,
    address: str | None = None,
    per_node: int = 1,
    cpus: float = 1.0,
    limits: Mapping[str, Limits] | None = None,
    tariffs: Mapping[str, Tariff] | None = None,
    watch: Watch | None = None,
    timeout: float = 120.0,
    environment: Mapping[str, str] | None = None,
    signals: bool = True,
    grace: float = GRACE,
) -> Summary:
    """Ask every pending cell of a plan that is registered in the ledger; the judges are closed at the end.

    Parameters
    ----------
    judges : the plan's, for their lanes; the actors make their own from the plan's specs
    address : of a Ray cluster, ``auto`` for the one of this machine, None to start one here
    per_node, cpus : actors on each node, and processors that each of them claims
    limits : by judge; concurrency is that of each actor, limits a minute are shared among all
    tariffs : by judge, for what calls cost; a hard budget is not kept across machines
    environment : where keys are; an actor's own environment goes first

    An actor that is lost gives its unfinished cells back, and the others ask them; what it had not told yet is asked
    again. Raises UsageError where Ray is not installed, a judge cannot be made on other machines, or no actor starts.
    """
    check_ray(plan.specs)
    ray = _ray()
    watch = watch or Watch()
    take_over(watch, judges, ledger)
    started_here = not ray.is_initialized()
    try:
        if started_here:
            _connect(ray, address)
        places = [node["NodeID"] for node in ray.nodes() if node["Alive"]] * per_node
        shared = _shared(plan, limits or {}, len(places))
        blueprint = blueprint_of(plan, shared, tariffs or {}, timeout)
        handles = [RayHandle(ray, blueprint, node, number, cpus) for number, node in enumerate(places)]
        keys = Environment.of(plan.specs, os.environ if environment is None else environment)
        concurrency = {judge: own.concurrency for judge, own in shared.items()}
        return await Fleet(plan, ledger, handles, watch, concurrency).run(keys, signals=signals, grace=grace)
    finally:
        for judge in judges:
            await judge.close()
        if started_here and ray.is_initialized():
            ray.shutdown()


def check_ray(specs: Iterable[JudgeSpec], *, own: Iterable[str] = (), budget: float | None = None) -> None:
    """Raise UsageError where a run cannot be spread over machines.

    own : names of judges that are objects of the program
    """
    if budget is not None:
        raise UsageError("executor.budget")
    for name in own:
        raise UsageError("executor.given", judge=name)
    for spec in specs:
        if spec.provider in _HERE_ONLY:
            raise UsageError("executor.judge", judge=spec.name, provider=spec.provider)


class RayHandle:
    """An actor on one node."""

    def __init__(self, ray: Any, blueprint: Any, node: str, number: int, cpus: float) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.name = f"{node[:8]}-{number}"
        self._ray = ray
        here = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ray.remote(Shard).options(num_cpus=cpus, max_restarts=0, max_task_retries=0, scheduling_strategy=here)
        self._actor = actor.remote(blueprint, number)

    async def begin(self, environment: Environment) -> None:
        """Make the judges there."""
        await self._reach(self._actor.begin.remote(environment))

    async def missing(self, paths: Sequence[Path]) -> list[Path]:
        """Those of these images that it lacks."""
        return await self._reach(self._actor.missing.remote(list(paths)))

    async def keep(self, path: Path, data: bytes) -> None:
        """Give it an image."""
        await self._reach(self._actor.keep.remote(path, data))

    async def exchange(self, orders: Orders) -> News:
        """Give orders, get news."""
        return await self._reach(self._actor.exchange.remote(orders))

    async def close(self) -> None:
        """End it."""
        await self._reach(self._actor.close.remote())
        self._ray.kill(self._actor)

    async def _reach(self, answer: Awaitable[T]) -> T:
        errors = self._ray.exceptions
        try:
            return await answer
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError as error:
            raise LostError(self.name) from error


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise UsageError("executor.no_ray") from error
    return ray


def _connect(ray: Any, address: str | None) -> None:
    quiet = {"log_to_driver": False, "configure_logging": False}
    try:
        if address is None:
            ray.init(object_store_memory=OBJECT_STORE, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError("executor.no_cluster", address=address or "-", why=str(error)[:300]) from error


def _shared(plan: Plan, limits: Mapping[str, Limits], actors: int) -> dict[str, Limits]:
    """Limits of each actor: its part of what may be asked in a minute."""
    found = {}
    for spec in plan.specs:
        own = limits.get(spec.name, Limits())
        rpm, tpm = own.requests_per_minute, own.tokens_per_minute
        found[spec.name] = replace(
            own,
            requests_per_minute=None if rpm is None else rpm / actors,
            tokens_per_minute=None if tpm is None else tpm / actors,
        )
    return found


_HERE_ONLY = ("replay", "control", "embedded")
