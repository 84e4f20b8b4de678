"""``python -m tests.judging.ray_run ITEMS RUN URL KILL_AFTER``: a run on a two-node local Ray cluster.

One node is killed (its raylet and workers, without notice) when the mock has seen KILL_AFTER calls; 0 = never.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_UV_RUN_RUNTIME_ENV="0", RAY_DEDUP_LOGS="0")

import orjson
import ray
from ray.cluster_utils import Cluster
from tests.judging.batch_world import judges_of, plan_of

from voirdire.judging.executors.ray import run_on_ray
from voirdire.judging.limits import Limits
from voirdire.judging.run_folder import RunFolder

NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
CONCURRENCY = 8


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
            killing = asyncio.create_task(_kill(cluster, other, url, kill_after))
            summary = await run_on_ray(plan, judges, home.ledger, limits=limits, signals=False)
            killed = await killed_by(killing)
        return {"done": summary.progress.done, "stopped": str(summary.stopped or ""), "killed": killed}
    finally:
        ray.shutdown()
        cluster.shutdown()


async def _kill(cluster: Cluster, node: Any, url: str, after: int) -> bool:
    while after:
        await asyncio.sleep(0.02)
        with urllib.request.urlopen(f"{url}/admin/stats", timeout=10) as reply:
            if orjson.loads(reply.read())["calls"] >= after:
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
