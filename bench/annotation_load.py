"""Raters at once on the annotation service: what saving an answer takes, and whether any answer is lost or doubled.

``python bench/annotation_load.py`` starts a PostgreSQL of its own in a temporary folder and `voirdire annotate` with
four workers, lets 200 simulated raters of two pools join, rate and finish over HTTP, and compares the database with
what the raters were told. See bench/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
import psutil
import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.annotation.postgres import Cluster  # noqa: E402
from tests.web.load import POOLS, Crowd, Found, found_in, text_corpus  # noqa: E402

from voirdire.annotation.database import Database  # noqa: E402
from voirdire.annotation.invitations import invite  # noqa: E402

QUESTIONS = 4
VARIANTS = ("quiet", "worker", "database", "paced")
"""quiet : nothing happens; worker : one worker is killed in the middle; database : PostgreSQL is restarted in the
middle; paced : raters pause between answers."""

Hook = Callable[[int], Awaitable[None]]


@dataclass(frozen=True)
class Size:
    """raters : of both pools together; each rates ``each`` items of which every pool rates ``wanted`` times."""

    raters: int
    each: int
    wanted: int

    @property
    def items(self) -> int:
        """So many that every place is taken when all are done."""
        return self.raters // len(POOLS) * self.each // self.wanted

    @property
    def answers(self) -> int:
        """How many answers all give."""
        return self.raters * self.each * QUESTIONS


@dataclass(frozen=True)
class Times:
    """Quantiles in milliseconds, the longest, and how many came in a second."""

    p50: float
    p95: float
    p99: float
    longest: float
    rate: float

    @classmethod
    def of(cls, seconds: Sequence[float], wall: float) -> Times:
        """From the seconds of each."""
        cuts = statistics.quantiles(seconds, n=100, method="inclusive")
        told = (cuts[49], cuts[94], cuts[98], max(seconds))
        return cls(*(round(1000 * value, 2) for value in told), round(len(seconds) / wall, 1))


@dataclass(frozen=True)
class Outcome:
    """What came of a variant. again : answers that were sent more than once; troubles : replies and faults, counted."""

    variant: str
    seconds: float
    bare: Times
    saving: Times
    again: int
    troubles: dict[str, int]
    found: Found
    workers: int


async def bare(url: str, connections: int, count: int, pause: float) -> Times:
    """Insert rows like answers, one for each transaction, by so many connections at once."""
    row = ("x" * 16, "q1", "3", "", "en", 3.0, 1.8e9)
    seconds: list[float] = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as first:
        await first.execute(
            "CREATE TABLE bare (id bigserial PRIMARY KEY, assignment text NOT NULL, question text NOT NULL, value text "
            "NOT NULL, comment text NOT NULL, language text NOT NULL, seconds float8 NOT NULL, at float8 NOT NULL)"
        )
    insert = (
        "INSERT INTO bare (assignment, question, value, comment, language, seconds, at) VALUES (%s,%s,%s,%s,%s,%s,%s)"
    )

    async def one(number: int) -> None:
        rng = random.Random(number)
        async with await psycopg.AsyncConnection.connect(url) as connection:
            for _ in range(count // connections):
                if pause:
                    await asyncio.sleep(rng.expovariate(1 / pause))
                began = time.perf_counter()
                await connection.execute(insert, row)
                await connection.commit()
                seconds.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(connections):
            group.create_task(one(number))
    wall = time.perf_counter() - began
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as last:
        await last.execute("DROP TABLE bare")
    return Times.of(seconds, wall)


class Service:
    """`voirdire annotate` as a program."""

    def __init__(self, corpus: Path, database: str, workers: int, size: Size, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        numbers = ["--raters-per-item", str(size.wanted), "--items-per-rater", str(size.each)]
        command = [sys.executable, "-m", "voirdire", "annotate", str(corpus), "--database", database, *numbers]
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "--port", str(port), "--workers", str(workers)], stdout=file, stderr=file, env=os.environ
            )
        self._wait(workers)

    def workers(self) -> list[psutil.Process]:
        """The processes that answer."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if any("spawn_main" in part for part in child.cmdline())]

    def _wait(self, workers: int) -> None:
        """Until so many processes are there (one alone answers itself) and one of them answers."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                answered = httpx.get(f"{self.url}/static/site.css", timeout=5).status_code == 200
            except httpx.TransportError:
                answered = False
            if answered and len(self.workers()) >= (workers if workers > 1 else 0):
                return
            time.sleep(0.2)
        raise RuntimeError(self.log.read_text(encoding="utf-8", errors="replace")[-3000:])

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            for process in [*psutil.Process(self.process.pid).children(recursive=True), self.process]:
                process.kill()


def hook_of(variant: str, at: int, service: Service, cluster: Cluster) -> Hook | None:
    """What happens when so many answers were saved."""

    async def kill_worker(count: int) -> None:
        if count == at:
            victim = service.workers()[0]
            os.kill(victim.pid, signal.SIGKILL)
            print(f"  killed worker {victim.pid} after {count} answers", flush=True)

    async def restart_database(count: int) -> None:
        if count == at:
            began = time.perf_counter()
            await asyncio.to_thread(cluster.restart)
            print(f"  restarted the database after {count} answers in {time.perf_counter() - began:.1f} s", flush=True)

    return {"worker": kill_worker, "database": restart_database}.get(variant)


def run(variant: str, size: Size, workers: int, pause: float, cluster: Cluster, work: Path) -> Outcome:
    """One variant, on a database of its own."""
    url = cluster.fresh()
    paced = pause if variant == "paced" else 0.0
    inserted = asyncio.run(bare(url, size.raters, size.answers // (5 if paced else 1), paced))
    corpus = text_corpus(work / variant, size.items)
    service = Service(corpus, url, workers, size, work / f"{variant}.log")
    database = Database.open(url)
    try:
        tokens = {pool: invite(database, 1, pool, now=time.time())[1] for pool in POOLS}
        links = {pool: f"{service.url}/join/{token}" for pool, token in tokens.items()}
        crowd = Crowd(service.url, links, size.raters, paced, hook_of(variant, size.answers // 2, service, cluster))
        asyncio.run(crowd.run())
        standing = len(service.workers())
        found = found_in(database, crowd.sent, size.items, size.wanted)
    finally:
        database.dispose()
        service.stop()
        cluster.drop(url)
    saving = Times.of([one.seconds for one in crowd.sent], crowd.seconds)
    again = sum(one.attempts > 1 for one in crowd.sent)
    return Outcome(variant, round(crowd.seconds, 1), inserted, saving, again, dict(crowd.troubles), found, standing)


def table(outcomes: Sequence[Outcome]) -> str:
    """What came of all variants."""
    titles = (
        "variant", "answers", "lost", "doubled", "over", "under", "saving p50 / p95 / p99 ms",
        "bare insert p50 / p95 / p99 ms", "ratio p50 / p95 / p99", "longest ms", "answers/s", "sent again", "s",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for one in outcomes:
        saving, bare_times, found = one.saving, one.bare, one.found
        pairs = [(getattr(saving, name), getattr(bare_times, name)) for name in ("p50", "p95", "p99")]
        ratios = " / ".join(f"{ours / theirs:.1f}" for ours, theirs in pairs)
        ours, theirs = (" / ".join(f"{pair[side]:.1f}" for pair in pairs) for side in (0, 1))
        lines.append(
            f"| {one.variant} | {found.kept} | {found.lost} | {found.doubled} | {found.over} | {found.under} | "
            f"{ours} | {theirs} | {ratios} | {saving.longest:.0f} | {saving.rate:.0f} | {one.again} | "
            f"{one.seconds:.0f} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--each", type=int, default=25, help="items that a rater rates")
    parser.add_argument("--wanted", type=int, default=5, help="raters of each pool that an item gets")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between answers of a rater (paced)")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS[:3]))
    parser.add_argument("--json", type=Path, help="keep the numbers in this file")
    options = parser.parse_args()
    size = Size(options.raters, options.each, options.wanted)
    if size.raters // len(POOLS) * size.each % size.wanted or size.items < size.each:
        parser.error("raters / 2 * each must be a multiple of wanted, and give at least as many items as a rater rates")
    work, outcomes = Path(tempfile.mkdtemp(prefix="voirdire-load-")), []
    cluster = Cluster(max_connections="400")
    try:
        cluster.start()
        for variant in options.variants:
            print(f"{variant}: {size.raters} raters, {size.items} items, {size.answers} answers", flush=True)
            outcomes.append(run(variant, size, options.workers, options.pause, cluster, work))
            print(f"  {outcomes[-1]}", flush=True)
    finally:
        cluster.remove()
        shutil.rmtree(work)
    print(f"\n{platform.python_version()}, {os.cpu_count()} cores, {options.workers} workers\n\n{table(outcomes)}")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=1), encoding="utf-8")
    return 0 if all(fine(one, size) for one in outcomes) else 1


def fine(outcome: Outcome, size: Size) -> bool:
    """Whether every answer is there, once, and every item has all its raters and no more."""
    return outcome.found.fine and outcome.found.kept == size.answers


if __name__ == "__main__":
    sys.exit(main())
