"""The study of a corpus: ``annotation.toml``, or what follows from the corpus where there is no such file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import Asked, Gold, PoolPlan, Screening, Study
from voirdire.annotation.study_checks import (
    check_gold,
    check_items,
    check_question_texts,
    check_questions,
    check_screening,
    check_text,
    check_unique,
)
from voirdire.annotation.study_defaults import four_questions, with_usual_texts
from voirdire.annotation.study_entries import Entries, Where
from voirdire.annotation.study_pools import pools_named, pools_of_cultures, read_pool
from voirdire.annotation.study_questions import read_options, read_question
from voirdire.annotation.study_table import questions_of_table
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError

FILE = "annotation.toml"
KINDS = ("one", "many")
MOST = {"raters_per_item": 1000, "items_per_rater": 100_000, "repeats": 1000, "seed": 2**63 - 1}
LEAST = {"raters_per_item": 1, "items_per_rater": 1, "repeats": 0, "seed": 0}
LEASES = (1, 10_080)
EVERY_POOL = "*"


@dataclass(frozen=True, slots=True)
class StudyRead:
    """A study, where it was read from (None = no file), and what to say about it."""

    study: Study
    file: Path | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the file says, with places; empty where it says nothing."""

    name: str = ""
    questions: tuple[tuple[Asked, Where], ...] = ()
    pools: tuple[tuple[PoolPlan, Where], ...] = ()
    screening: tuple[tuple[Screening, Where], ...] = ()
    gold: tuple[tuple[Gold, Where], ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)


def read_study(
    corpus: Path | str,
    shown: Shown,
    *,
    file: Path | None = None,
    pools: Sequence[str] = (),
    raters_per_item: int | None = None,
    items_per_rater: int | None = None,
    repeats: int | None = None,
    seed: int | None = None,
) -> Study:
    """The study of a corpus.

    Parameters
    ----------
    corpus : its folder, or its items table
    shown : what ``read_shown`` read of it
    file : instead of ``annotation.toml`` in the corpus folder; it must be there
    pools : ``us=en``, ``cn=zh,en``: instead of the pools of the file, whose texts a pool of the same name keeps
    raters_per_item, items_per_rater, repeats, seed : instead of the file's

    Raises InputError that names file, place, entry and value for everything that is not as it can be, and UsageError
    for the options.

    >>> import tempfile
    >>> from voirdire.annotation.material import read_shown
    >>> table = Path(tempfile.mkdtemp()) / "items.csv"
    >>> rows = ["item_id,culture,prompt,text", "a,us,Is it usual?,Milk tea", "b,cn,Is it usual?,Green tea"]
    >>> _ = table.write_text(chr(10).join(rows))
    >>> study = read_study(table, read_shown(table), repeats=1)
    >>> [pool.name for pool in study.pools], [asked.id for asked in study.questions]
    (['us', 'cn'], ['q1', 'q2', 'q3', 'q4'])
    """
    options = {
        "raters_per_item": raters_per_item,
        "items_per_rater": items_per_rater,
        "repeats": repeats,
        "seed": seed,
    }
    return find_study(corpus, shown, file=file, pools=pools, numbers=options).study


def find_study(
    corpus: Path | str,
    shown: Shown,
    *,
    file: Path | None = None,
    pools: Sequence[str] = (),
    numbers: dict[str, int | None] | None = None,
) -> StudyRead:
    """As ``read_study``, with the file that was read and what to say about the study."""
    found = file or (shown.folder / FILE if (shown.folder / FILE).is_file() else None)
    where = Where(str(found or corpus))
    parts = _Parts() if found is None else _read(found)
    given = {name: value for name, value in (numbers or {}).items() if value is not None}
    _check_options(given)
    plans = _pools(parts, pools, shown)
    questions, notes = _questions(parts, shown)
    names = [plan.name for plan, _ in plans]
    parts = replace(parts, screening=tuple((_for_pools(one, names), place) for one, place in parts.screening))
    study = Study(
        name=parts.name or shown.name,
        questions=tuple(asked for asked, _ in questions),
        pools=tuple(plan for plan, _ in plans),
        screening=tuple(asked for asked, _ in parts.screening),
        gold=tuple(gold for gold, _ in parts.gold),
        **{**parts.numbers, **given},
    )
    if study.items_per_rater is not None and study.repeats > study.items_per_rater:
        raise where.error("repeats_many", value=study.repeats, limit=study.items_per_rater)
    told = _check(study, replace(parts, questions=questions, pools=plans), shown, where)
    return StudyRead(study, found, (*notes, *told))


def _pools(parts: _Parts, given: Sequence[str], shown: Shown) -> tuple[tuple[PoolPlan, Where], ...]:
    places = {pool.name: where for pool, where in parts.pools}
    if given:
        plans = pools_named(given, {pool.name: pool for pool, _ in parts.pools}, shown)
    else:
        plans = tuple(pool for pool, _ in parts.pools) or pools_of_cultures(shown)
    return tuple((with_usual_texts(plan), places.get(plan.name, Where("--pool", plan.name))) for plan in plans)


def _questions(parts: _Parts, shown: Shown) -> tuple[tuple[tuple[Asked, Where], ...], tuple[Note, ...]]:
    if parts.questions:
        return parts.questions, ()
    of_table = questions_of_table(shown)
    if of_table:
        bare = [asked.id for asked, _ in of_table if asked.role == "placement" and not asked.low_end]
        return of_table, tuple(Note("study.note.no_ends", {"question": name}, "warning") for name in bare)
    made = four_questions(shown.cultures)
    told = () if len(shown.cultures) == 2 else (Note("study.note.no_placement", {"count": len(shown.cultures)}),)
    return tuple((asked, Where(FILE, asked.id)) for asked in made), told


def _check(study: Study, parts: _Parts, shown: Shown, where: Where) -> tuple[Note, ...]:
    known = [*(pool.name for pool in study.pools), *(pool.name for pool, _ in parts.pools)]
    check_questions(parts.questions, where)
    for asked, place in parts.questions:
        check_question_texts(asked, place, study.pools)
    for pool, place in parts.pools:
        check_text(pool.consent, "consent", place, (pool,), needed=True)
        check_text(pool.welcome, "welcome", place, (pool,))
        check_text(pool.title, "title", place, (pool,))
    for screening, place in parts.screening:
        check_screening(screening, place, study.pools, known)
    questions = {asked.id: asked for asked in study.questions}
    for gold, place in parts.gold:
        check_gold(gold, place, questions, shown)
    return check_items(study.questions, study.pools, shown)


def _check_options(given: dict[str, int]) -> None:
    for name, value in given.items():
        if not LEAST[name] <= value <= MOST[name]:
            option = "--" + name.replace("_", "-")
            raise UsageError("study.option_range", option=option, value=value, low=LEAST[name], high=MOST[name])


def _read(path: Path) -> _Parts:
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
    numbers = _numbers(top)
    top.close()
    return _Parts(name, questions, pools, screening, gold, numbers)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError("study.file_unreadable", file=str(path), value=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("input.toml_broken", file=str(path), value=str(error)) from error


def _numbers(top: Entries) -> dict[str, Any]:
    found: dict[str, Any] = {name: top.whole(name, 0, LEAST[name], MOST[name]) for name in LEAST if top.has(name)}
    if top.has("lease_minutes"):
        lease = top.number("lease_minutes")
        if lease is None or not LEASES[0] <= lease <= LEASES[1]:
            raise top.where.error("number_range", entry="lease_minutes", value=lease, low=LEASES[0], high=LEASES[1])
        found["lease_minutes"] = lease
    return found


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


def _for_pools(asked: Screening, pools: Sequence[str]) -> Screening:
    if EVERY_POOL not in asked.accept:
        return asked
    return replace(asked, accept=dict.fromkeys(pools, asked.accept[EVERY_POOL]))


def _gold(entries: Entries) -> Gold:
    item, question = entries.needed("item"), entries.needed("question")
    if not entries.has("accept"):
        raise entries.where.error("key_missing", value="accept")
    given = entries.table["accept"]
    gold = Gold(item, question, entries.values("accept", given if isinstance(given, list) else [given]))
    entries.close()
    return gold
