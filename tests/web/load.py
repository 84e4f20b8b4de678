"""Many raters at once who do over HTTP what the rater's page does, and what the database holds afterwards."""

from __future__ import annotations

import asyncio
import csv
import random
import re
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from sqlalchemy import func, select

from voirdire.annotation.database import Database
from voirdire.annotation.schema import answers, assignments, events, raters

POOLS = ("us", "cn")
WINDOW = 6
PATIENCE = 20.0
DONE = frozenset({200, 303})


def text_corpus(folder: Path, items: int) -> Path:
    """Text items of two cultures in pairs."""
    folder.mkdir(parents=True)
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item_id", "pair_id", "culture", "prompt.en", "prompt.zh", "text.en", "text.zh"])
        for k in range(items):
            worded = [f"How usual is this, {k}?", f"这有多常见，{k}？", f"Tea with milk, {k}", f"奶茶，{k}"]
            out.writerow([f"i{k:04d}", f"p{k // 2:04d}", POOLS[k % 2], *worded])
    (folder / "corpus.toml").write_text('name = "Load"\n', encoding="utf-8")
    return folder


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer that the service has said it saved.

    seconds : from the first attempt until then; attempts : how often it was sent; applied : what the last reply said
    """

    key: str
    assignment: str
    question: str
    value: str
    seconds: float
    attempts: int
    applied: bool


@dataclass
class Crowd:
    """Raters of both pools.

    links : pool -> address of its invitation; pause : mean seconds between two answers of a rater, 0 = none
    hook : is awaited whenever an answer was saved, with how many were so far
    """

    url: str
    links: Mapping[str, str]
    raters: int
    pause: float = 0.0
    hook: Callable[[int], Awaitable[None]] | None = None
    seed: int = 1
    sent: list[Sent] = field(default_factory=list)
    troubles: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    async def run(self) -> None:
        """Everybody joins, answers all they get, and finishes."""
        began = time.perf_counter()
        people = [(pool, number) for number in range(self.raters // len(POOLS)) for pool in POOLS]
        async with asyncio.TaskGroup() as group:
            for pool, number in people:
                group.create_task(self._rater(pool, number))
        self.seconds = time.perf_counter() - began

    async def _rater(self, pool: str, number: int) -> None:
        rng = random.Random(f"{self.seed} {pool} {number}")
        jar = aiohttp.CookieJar(unsafe=True)
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        async with aiohttp.ClientSession(self.url, cookie_jar=jar, timeout=timeout) as session:
            asker = Asker(session, rng, self.troubles)
            told = await self._join(asker, pool, number)
            total, questions = told["progress"]["total"], told["questions"]
            for start in range(1, total + 1, WINDOW):
                _, window = await asker.ask("GET", f"/api/items?start={start}&count={WINDOW}")
                for item in orjson.loads(window)["items"]:
                    for question in questions:
                        await self._answer(asker, item["assignment"], question["id"], str(rng.randint(1, 5)))
            await asker.ask("POST", "/api/finish", headers=asker.headers)
            await asker.ask("GET", "/done")

    async def _join(self, asker: Asker, pool: str, number: int) -> dict[str, Any]:
        """By the link, with an id of a recruiting platform, so that a lost reply makes no second rater."""
        link = f"{self.links[pool].removeprefix(self.url)}?PROLIFIC_PID={pool}-{number}"
        _, page = await asker.ask("GET", link)
        token = re.search(rb'name="csrf" value="(\w+)"', page)
        if token is not None:
            await asker.ask("POST", link, data={"csrf": token[1].decode(), "consent": "yes"})
        await asker.ask("GET", "/welcome")
        await asker.ask("GET", "/rate")
        told: dict[str, Any] = orjson.loads((await asker.ask("GET", "/api/session"))[1])
        asker.headers = {"x-csrf-token": told["csrf"], "content-type": "application/json"}
        return told

    async def _answer(self, asker: Asker, assignment: str, question: str, value: str) -> None:
        if self.pause:
            await asyncio.sleep(asker.rng.expovariate(1 / self.pause))
        key = secrets.token_urlsafe(18)
        body = {"key": key, "assignment": assignment, "question": question, "value": value, "seconds": 3.0}
        began = time.perf_counter()
        attempts, reply = await asker.ask("POST", "/api/answers", data=orjson.dumps(body), headers=asker.headers)
        seconds = time.perf_counter() - began
        applied = orjson.loads(reply)["applied"]
        self.sent.append(Sent(key, assignment, question, value, seconds, attempts, applied))
        if self.hook is not None:
            await self.hook(len(self.sent))


@dataclass
class Asker:
    """Sends a request until the service answers it, with the pauses of the page's script."""

    session: aiohttp.ClientSession
    rng: random.Random
    troubles: Counter[str]
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, method: str, path: str, **options: Any) -> tuple[int, bytes]:
        """How often it was sent, and the body. Raises RuntimeError for a refusal."""
        attempts = 0
        while True:
            attempts += 1
            wait = 0.0
            try:
                async with self.session.request(method, path, allow_redirects=False, **options) as reply:
                    body = await reply.read()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                self.troubles[type(error).__name__] += 1
            else:
                if reply.status in DONE:
                    return attempts, body
                self.troubles[str(reply.status)] += 1
                if reply.status < 500:
                    raise RuntimeError(method, path, reply.status, body[:500])
                wait = float(reply.headers.get("retry-after", 0))
            await asyncio.sleep(max(wait, min(30.0, 2 ** min(attempts, 5) / 2) * self.rng.uniform(0.8, 1.2)))


@dataclass(frozen=True, slots=True)
class Found:
    """What the database holds against what was said to be saved; all but ``kept`` must be 0.

    lost : answers said to be saved that are not there, or with another value
    doubled : answers in the history beyond one for each key; unknown : answers that nobody was told of
    over, under : items of a pool with more or fewer raters than wanted; unfinished : raters who have not finished
    surplus : assignments done beyond the wanted
    """

    kept: int
    lost: int
    doubled: int
    unknown: int
    over: int
    under: int
    unfinished: int
    surplus: int

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong."""
        return not any((self.lost, self.doubled, self.unknown, self.over, self.under, self.unfinished, self.surplus))


def found_in(database: Database, sent: Sequence[Sent], items: int, wanted: int) -> Found:
    """Compare the tables of answers, history and assignments with what raters were told."""
    with database.reading() as connection:
        rows = connection.execute(select(answers.c.assignment_id, answers.c.question, answers.c.value))
        kept = {(row.assignment_id, row.question): row.value for row in rows}
        history = Counter(connection.execute(select(events.c.key).where(events.c.kind == "answer")).scalars())
        done = (assignments.c.kind == "item") & (assignments.c.state == "done")
        held = select(assignments.c.pool, assignments.c.item_id, func.count().label("raters")).where(done)
        full = [row.raters for row in connection.execute(held.group_by(assignments.c.pool, assignments.c.item_id))]
        states = Counter(connection.execute(select(assignments.c.state)).scalars())
        people = Counter(connection.execute(select(raters.c.state)).scalars())
    said = {(one.assignment, one.question): one.value for one in sent}
    keys = {one.key for one in sent}
    return Found(
        kept=len(kept),
        lost=sum(kept.get(where) != value for where, value in said.items()) + sum(key not in history for key in keys),
        doubled=history.total() - len(history) + len(sent) - len(said),
        unknown=len(set(kept) - set(said)) + len(set(history) - keys),
        over=sum(count > wanted for count in full),
        under=len(POOLS) * items - sum(count >= wanted for count in full),
        unfinished=people.total() - people["finished"],
        surplus=states["surplus"],
    )
