"""``annotation.toml`` as it stands: questions, pools, screening, gold and numbers, each with its place."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from voirdire.annotation.nouns import Asked, Gold, PoolPlan, Screening, Texts
from voirdire.annotation.study_checks import check_unique
from voirdire.annotation.study_defaults import VERDICTS
from voirdire.annotation.study_entries import Entries, Where
from voirdire.annotation.study_pools import read_pool
from voirdire.annotation.study_questions import read_options, read_question
from voirdire.errors import InputError

KINDS: tuple[Literal["one"], Literal["many"]] = ("one", "many")
NUMBERS = {"raters_per_item": (1, 1000), "items_per_rater": (1, 100_000), "repeats": (0, 1000), "seed": (0, 2**63 - 1)}
"""Whole numbers of a study, each with the least and the most that it can be."""

LEASES = (1, 10_080)
EVERY_POOL = "*"
"""Stands for the pools of the study where ``accept`` names none."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file says, with places; empty where it says nothing."""

    name: str = ""
    questions: tuple[tuple[Asked, Where], ...] = ()
    pools: tuple[tuple[PoolPlan, Where], ...] = ()
    screening: tuple[tuple[Screening, Where], ...] = ()
    gold: tuple[tuple[Gold, Where], ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)
    pilot: dict[str, Texts] = field(default_factory=dict)


def read_parts(path: Path) -> Parts:
    """Read a file. Raises InputError for what cannot stand in it; how the parts fit each other is not looked at."""
    top = Entries(Where(str(path)), _parsed(path))
    name = top.text("name")
    pools = tuple((read_pool(one), one.where) for one in top.tables("pools"))
    check_unique([(pool.name, where) for pool, where in pools], "name")
    questions = tuple((read_question(one), one.where) for one in top.tables("questions"))
    check_unique([(asked.id, where) for asked, where in questions], "id")
    screening = tuple((_screening(one), one.where) for one in top.tables("screening"))
    check_unique([(asked.id, where) for asked, where in screening], "id")
    gold = tuple((_gold(one), one.where) for one in top.tables("gold"))
    check_unique([(f"{one.item_id} / {one.question}", where) for one, where in gold], "item, question")
    numbers, pilot = _numbers(top), _pilot(top)
    top.close()
    return Parts(name, questions, pools, screening, gold, numbers, pilot)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError("study.file_unreadable", file=str(path), value=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("input.toml_broken", file=str(path), value=str(error)) from error


def _numbers(top: Entries) -> dict[str, Any]:
    found: dict[str, Any] = {name: top.whole(name, ends) for name, ends in NUMBERS.items() if top.has(name)}
    if top.has("lease_minutes"):
        lease = top.number("lease_minutes")
        if lease is None or not LEASES[0] <= lease <= LEASES[1]:
            raise top.where.error("number_range", entry="lease_minutes", value=lease, low=LEASES[0], high=LEASES[1])
        found["lease_minutes"] = lease
    return found


def _pilot(top: Entries) -> dict[str, Texts]:
    """Own wordings of a pilot's question and of its answers."""
    entries = top.inner("pilot")
    found = {name: entries.texts(name) for name in ("text", *VERDICTS) if entries.has(name)}
    entries.close()
    return {name: dict(texts) for name, texts in found.items()}


def _screening(entries: Entries) -> Screening:
    asked = Screening(
        id=entries.name("id"),
        options=read_options(entries),
        text=entries.texts("text"),
        kind="many" if entries.choice("kind", KINDS, "one") == "many" else "one",
        accept=_accepted(entries),
        all_of=entries.flag("all_of", default=False),
        keep=entries.flag("keep", default=False),
    )
    entries.close()
    if len(asked.options) < 2:
        raise entries.where.error("options_few", count=len(asked.options))
    if asked.all_of and asked.kind == "one":
        raise entries.where.error("all_of_one")
    return asked


def _accepted(entries: Entries) -> dict[str, tuple[str, ...]]:
    """pool -> values; a bare list is meant for every pool."""
    if not entries.has("accept"):
        return {}
    given = entries.table["accept"]
    if isinstance(given, dict):
        return {pool: entries.values(f"accept.{pool}", value) for pool, value in given.items()}
    return {EVERY_POOL: entries.values("accept", given)}


def _gold(entries: Entries) -> Gold:
    item, question = entries.needed("item"), entries.needed("question")
    if not entries.has("accept"):
        raise entries.where.error("key_missing", value="accept")
    given = entries.table["accept"]
    gold = Gold(item, question, entries.values("accept", given if isinstance(given, list) else [given]))
    entries.close()
    return gold
