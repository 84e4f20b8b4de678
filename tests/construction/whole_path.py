"""The whole way of a small corpus, from pairs of concepts to a release and an audit, by the commands a team gives."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.construction.mock_images import KEY as IMAGE_KEY
from tests.construction.mock_translator import KEY as TRANSLATOR_KEY

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, finish, work
from voirdire.annotation.batches import create_batch
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.annotation.nouns import Batch, BatchSpec, Given, Rater
from voirdire.annotation.raters import join
from voirdire.annotation.study_defaults import USABLE, for_pilot
from voirdire.cli.main import run
from voirdire.web.serving import prepare
from voirdire.web.settings import Settings, default_database

ROOT = Path(__file__).resolve().parents[2]
TEAM = ("ana", "bo", "chen")
NOW = 1_800_000_000.0
KINDS = {
    "meal": "good", "gift": "good", "wedding": "good", "breakfast": "good", "garden": "good", "kitchen": "good",
    "market": "good", "toast": "good", "distance": "factual", "sunset": "uncontested", "dragon": "stereotype",
    "queue": "withdrawn",
}  # fmt: skip
"""Concept -> what is planted in it; the reviewer rejects the withdrawn one before anybody rates it."""
QUESTIONS = {
    "meal": "How suitable is this meal for a celebration?", "gift": "How welcome would this present be to a host?",
    "wedding": "How moving is this marriage ceremony?", "breakfast": "How good a start into a working day is this?",
    "garden": "How restful would an hour in this place be?", "kitchen": "How practical is this room for a cook?",
    "market": "How much would you enjoy shopping here?", "toast": "How polite is this way of raising a glass?",
    "distance": "How far away is the top of the tower?", "sunset": "How beautiful do you find these colours?",
    "dragon": "How lively does this parade look?", "queue": "How patient are these people?",
}  # fmt: skip
SHOWN = {
    "meal": ("roast turkey with gravy", "steamed fish and dumplings"), "gift": ("a bottle of wine", "a box of fruit"),
    "wedding": ("a bride in white in a chapel", "red robes and tea for the elders"),
    "breakfast": ("pancakes and syrup", "soy milk and fried dough"), "garden": ("a lawn with roses", "rocks by a pond"),
    "kitchen": ("an island under copper pans", "a wok on a gas flame"), "dragon": ("floats", "a paper beast on poles"),
    "market": ("farm stands on a square", "stalls in a night street"), "sunset": ("a desert road", "rice terraces"),
    "toast": ("glasses held high", "the rim of a cup held low"), "distance": ("an obelisk", "a pagoda far off"),
    "queue": ("people before a bakery", "passengers at a gate"),
}  # fmt: skip
"""Concept -> what its two images show."""
CATEGORIES = {name: ("food", "places")[place % 2] for place, name in enumerate(KINDS)}
REVISED = {"gift": "How welcome would this present be to your host?"}
"""Concept -> its question after the review."""
BOTH = ("--regime", "generated", "--regime", "second")
EXPECTED = {"factual": "drop", "uncontested": "drop", "stereotype": "drop", "good": "keep"}
PRICE = 0.25
PRICES = '[[price]]\nmodel = "compatible/*"\ninput = 100\noutput = 1000\n'
CALL = (100 * 100 + 50 * 1000) / 1e6
"""What a translation costs at the mock by these prices."""
ENVIRONMENT = {"GEMINI_API_KEY": IMAGE_KEY, "VOIRDIRE_API_KEY": TRANSLATOR_KEY}
_KEYS = count()


def printed(*args: object, code: int = 0) -> str:
    """What a command prints; it must end with this exit code."""
    out, problems = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(problems):
        ended = run([str(arg) for arg in args])
    assert ended == code, f"{args}: {ended}\n{out.getvalue()}\n{problems.getvalue()}"
    return out.getvalue()


def told(*args: object, code: int = 0) -> Any:
    return json.loads(printed(*args, "--json", code=code))


def started(*args: object) -> subprocess.Popen[str]:
    """The command as a process of its own, which can be killed."""
    command = [sys.executable, "-m", "voirdire", *map(str, args)]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


def killed_when(process: subprocess.Popen[str], reached: Callable[[], bool], wait: float = 0.0) -> bool:
    """SIGKILL so many seconds after something is reached; whether the process was still at work."""
    while process.poll() is None and not reached():
        time.sleep(0.002)
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def begun(folder: Path) -> None:
    """``build new`` without a concept, with a price of images and what a release says."""
    people = [part for name in TEAM for part in ("--author", name)]
    told("build", "new", folder, "--culture", "us=en", "--culture", "cn=zh", "--name", "small-things", *people)
    table = pl.read_csv(folder / "concepts.csv")
    table.clear().write_csv(folder / "concepts.csv")
    settings = (folder / "build.toml").read_text("utf-8")
    settings = settings.replace("# price = 0.134", f"price = {PRICE}").replace("demonstration = 0", "demonstration = 2")
    assert f"price = {PRICE}" in settings
    (folder / "build.toml").write_text(settings + RELEASE, encoding="utf-8")


def by_commands(folder: Path) -> None:
    """The concepts and their questions, and the protocol with a revision and a rejection."""
    for name, category in CATEGORIES.items():
        told("build", "author", folder, "add", name, "--by", TEAM[0], "--category", category)
    for one in told("build", "author", folder)["concepts"]:
        _write(folder, one["concept"], one["author"], one["reviewer"])


RELEASE = """
[release]
title = "Small things"
authors = ["Ana", "Bo", "Chen"]
published = 2026-11-30
url = "https://example.org/small-things"
citation = "Ana, Bo and Chen, 2026"

[[pool]]
name = "us"
title = "People of the United States"
recruited = "A program"

[[pool]]
name = "cn"
title = "People of mainland China"
recruited = "A program"
"""


def _write(folder: Path, name: str, author: str, reviewer: str) -> None:
    def step(action: str, by: str, *more: str) -> Any:
        return told("build", "author", folder, action, name, "--by", by, *more)

    us, cn = SHOWN[name]
    shown = ("--realisation", f"us={us}", "--realisation", f"cn={cn}")
    step("write", author, *shown, "--question", f"en={QUESTIONS[name]}")
    step("submit", author)
    if name == "queue":
        step("reject", reviewer, "--reason", "stereotype", "--note", "Only the clothes differ.")
        return
    step("review", reviewer, "--note", "Say whose present." if name in REVISED else "Good.")
    if name in REVISED:
        step("write", author, "--question", f"en={REVISED[name]}")
        step("revise", author)
    step("accept", reviewer)


def images(folder: Path, url: str) -> tuple[object, ...]:
    """The command that draws the images."""
    return ("build", "images", folder, "--base-url", url, "--concurrency", "2")


def second_images(folder: Path, url: str) -> tuple[object, ...]:
    """The command that draws four pairs in another regime, in the wire format of another provider."""
    other = ("--provider", "compatible", "--model", "m", "--regime", "second", "--subset", "4")
    return (*images(folder, url), *other)


def study(folder: Path) -> None:
    """The items table and the questions, written by voirdire and then changed by hand: no Chinese words yet."""
    told("build", "items", folder)
    told("annotate", folder / "items.csv", "--init", "--pool", "us=en", "--pool", "cn=zh")
    written = (folder / "annotation.toml").read_text("utf-8").splitlines()
    ends = [row for row in written if row in ('low_end.zh = "一点也不"', 'high_end.zh = "非常"')]
    assert len(ends) == 2
    (folder / "annotation.toml").write_text("\n".join(row for row in written if row not in ends), encoding="utf-8")


def translation(folder: Path, url: str) -> tuple[object, ...]:
    """The command that translates."""
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    spending = ("--prices", folder / "prices.toml", "--concurrency", "2")
    return ("build", "translate", folder, "--judge", "compatible/m", "--base-url", url, *spending)


def verified(folder: Path, corrected: Mapping[str, str]) -> list[str]:
    """A bilingual person goes through all texts; the names of those that were not verified before."""
    status = told("build", "verify", folder, "--status")["texts"]
    names = [one["text_id"] for one in status if one["state"] in ("proposed", "unverified", "changed")]
    for name in names:
        words = ("--text", corrected[name]) if name in corrected else ()
        told("build", "verify", folder, name, "--by", "dai", *words)
    return names


@dataclass(frozen=True)
class Crowd:
    """Raters of both pools who answer by what is planted.

    raters : of each pool; noise : sd of a rating around what its pool thinks
    """

    raters: int
    noise: float = 0.45
    seed: int = 0


def parts(item: str) -> tuple[str, str, str]:
    """Concept, culture, and regime of an item; of the main regime an empty one."""
    name, _, regime = item.partition(".")
    concept, _, culture = name.rpartition("-")
    return concept, culture, regime


def opinion(item: str, pool: str) -> float:
    """What a pool thinks of an item: good pairs are liked at home and not abroad, uncontested ones alike by both."""
    name, culture, _ = parts(item)
    place = list(KINDS).index(name)
    if KINDS[name] == "uncontested":
        return 3.6
    own = 1.0 if culture == pool else -1.0
    return 3.0 + own + (0.25 if pool == "us" else 0.15) * ((place % 3) - 1)


def answers(item: str, pool: str, crowd: Crowd, rater: int) -> dict[str, str]:
    """What the rater of this number answers, whatever the order in which items come."""
    name, culture, regime = parts(item)
    kind, place = KINDS[name], list(KINDS).index(name)
    rng = np.random.default_rng([crowd.seed, rater, place, culture == "us", pool == "us", *map(ord, regime)])
    means = {"q1": opinion(item, pool), "q2": 4.7 if culture == "us" else 1.3, "q4": 3.6}
    means["q3"] = 4.7 if kind == "factual" else 1.5
    found = {q: str(int(np.clip(round(m + rng.normal(0, crowd.noise)), 1, 5))) for q, m in means.items()}
    bad = kind == "stereotype" and rng.random() < 0.95
    return {**found, USABLE: "stereotype" if bad else "usable"}


def rated(folder: Path, kind: str, split: Sequence[str], crowd: Crowd) -> int:
    """The service is made ready, the lead makes a batch, and simulated people join and answer; the batch's number."""
    table = folder / "items.csv"
    settings = Settings(str(table), default_database(table), raters_per_item=crowd.raters)
    ready = prepare(settings, NOW, accept_changes=True)
    database = Database.open(settings.database)
    try:
        wanted = ready.shown.of_splits(*split)
        asked = replace(ready.study, raters_per_item=crowd.raters)
        asked = for_pilot(asked) if kind == "pilot" else asked
        pairs = {item: ready.shown.pairs[item] for item in wanted}
        batch = create_batch(database, BatchSpec(kind, asked, wanted, kind, pairs), NOW)  # type: ignore[arg-type]
        for pool in ("us", "cn"):
            _pool(database, batch, pool, crowd)
    finally:
        database.dispose()
    return batch.id


def _pool(database: Database, batch: Batch, pool: str, crowd: Crowd) -> None:
    link, _ = invite(database, batch.id, pool, now=NOW)
    language = batch.spec.study.pool(pool).languages[0]
    for number in range(crowd.raters):
        rater = join(database, link, language=language, attributes={}, passed=True, now=NOW)
        _answer_all(database, rater, batch, crowd, number)


def _answer_all(database: Database, rater: Rater, batch: Batch, crowd: Crowd, number: int) -> None:
    assign(database, rater.id, NOW + 1)
    for one in work(database, rater.id):
        values = answers(one.item_id, rater.pool, crowd, number)
        for asked in batch.spec.study.questions:
            key = f"key-{next(_KEYS):020d}"
            given = Given(key, one.id, asked.id, values[asked.id], language=rater.language, seconds=8.0)
            save(database, rater.id, given, NOW + 60)
    finish(database, rater.id, NOW + 90)


def exported(folder: Path, batch: int, out: Path) -> Path:
    told("annotate", folder / "items.csv", "--export", out, "--batch", batch)
    return out


def screened(folder: Path, pilot: Path) -> dict[str, str]:
    """Concept -> what the screening suggests; all suggestions are confirmed by a person."""
    found = told("build", "screen", folder, "--ratings", pilot)
    verdicts = {one["concept"]: one["verdict"] for one in found["pairs"]}
    for name, verdict in verdicts.items():
        told("build", "decide", folder, name, verdict, "--by", "ana")
    return verdicts


def screened_and_split(folder: Path, pilot: Path) -> dict[str, str]:
    """As ``screened``; then the splits, and the items of both regimes as raters see them from now on."""
    verdicts = screened(folder, pilot)
    told("build", "split", folder)
    told("build", "items", folder, *BOTH)
    return verdicts


def freeze(folder: Path, ratings: Path, out: Path) -> tuple[object, ...]:
    """The command that freezes."""
    version = ("--version", "1.0", "--draws", "100")
    return ("build", "freeze", folder, "--ratings", ratings, "--out", out, *BOTH, *version)
