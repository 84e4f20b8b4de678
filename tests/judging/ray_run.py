"""``python -m tests.judging.ray_run ITEMS RUN URL KILL_AFTER``: a run on a two-node local Ray cluster.

One node is killed (its raylet and workers, without notice) when both have delivered KILL_AFTER steps; 0 = never.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_UV_RUN_RUNTIME_ENV="0", RAY_DEDUP_LOGS="0")

import orjson
import ray
from ray.cluster_utils import Cluster
from tests.judging.batch_world import judges_of, plan_of

from voirdire.judging.executors.blueprint import Environment
from voirdire.judging.executors.fleet import Fleet, Member
from voirdire.judging.executors.ray import RayHandle, run_on_ray
from voirdire.judging.executors.shard import News
from voirdire.judging.limits import Limits
from voirdire.judging.run_folder import RunFolder

NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
CONCURRENCY = 8
LOST: list[str] = []


async def main(items: Path, run: Path, url: str, kill_after: int) -> dict[str, Any]:
    cluster = Cluster(initialize_head=True, head_node_args=NODE, shutdown_at_exit=False)
    other = cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        plan = plan_of(items, url, ["openai"])
        judges = judges_of(plan)
        with RunFolder(run) as home:
            home.register(plan, judges)
            limits = {judge.name: Limits(concurrency=CONCURRENCY, backoff=0.05, backoff_cap=0.2) for judge in judges}
            begin_together(2)
            delivered = count_deliveries()
            killing = asyncio.create_task(_kill(cluster, other, delivered, kill_after))
            summary = await run_on_ray(plan, judges, home.ledger, limits=limits, signals=False)
            killed = await killed_by(killing)
        return {
            "done": summary.progress.done,
            "stopped": str(summary.stopped or ""),
            "killed": killed,
            "delivered": sorted(delivered.values()),
            "lost": LOST,
        }
    finally:
        ray.shutdown()
        cluster.shutdown()


def count_deliveries() -> Counter[str]:
    """Steps that each shard has delivered, by the shard's name."""
    delivered: Counter[str] = Counter()
    hear = Fleet._hear

    async def counted(fleet: Fleet, member: Member, news: News) -> None:
        delivered[member.handle.name] += len(news.steps)
        fleet.lost = LOST
        await hear(fleet, member, news)

    Fleet._hear = counted  # type: ignore[method-assign]
    return delivered


def begin_together(count: int) -> None:
    """No shard is dealt cells before all have begun, so that all are at work when one is killed."""
    barrier = asyncio.Barrier(count)
    begin = RayHandle.begin

    async def together(handle: RayHandle, environment: Environment) -> None:
        await begin(handle, environment)
        await barrier.wait()

    RayHandle.begin = together  # type: ignore[method-assign]


async def _kill(cluster: Cluster, node: Any, delivered: Counter[str], after: int) -> bool:
    """Kill the node when both have delivered so many steps."""
    while after:
        await asyncio.sleep(0.01)
        if len(delivered) == 2 and min(delivered.values()) >= after:
            await asyncio.to_thread(cluster.remove_node, node, allow_graceful=False)
            return True
    return False


async def killed_by(task: asyncio.Task[bool]) -> bool:
    """Whether the node was killed before the run had ended."""
    if not task.done():
        task.cancel()
        return False
    return task.result()


if __name__ == "__main__":
    print(orjson.dumps(asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))).decode())
