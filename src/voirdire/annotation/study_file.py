"""The study of a corpus: ``annotation.toml``, or what follows from the corpus where there is no such file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import Asked, PoolPlan, Screening, Study
from voirdire.annotation.study_checks import (
    check_gold,
    check_items,
    check_question_texts,
    check_questions,
    check_screening,
    check_text,
)
from voirdire.annotation.study_defaults import four_questions, with_usual_texts
from voirdire.annotation.study_entries import Where
from voirdire.annotation.study_languages import language_notes
from voirdire.annotation.study_parts import EVERY_POOL, NUMBERS, Parts, read_parts
from voirdire.annotation.study_pools import own_language, pools_named, pools_of_cultures
from voirdire.annotation.study_table import questions_of_table
from voirdire.annotation.wording import said
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES

FILE = "annotation.toml"


@dataclass(frozen=True, slots=True)
class StudyRead:
    """A study, where it was read from (None = no file), and what to say about it."""

    study: Study
    file: Path | None = None
    notes: tuple[Note, ...] = ()


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
    parts = Parts() if found is None else read_parts(found)
    given = {name: value for name, value in (numbers or {}).items() if value is not None}
    _check_options(given)
    plans = _pools(parts, pools, shown)
    questions, notes = _questions(parts, shown)
    _check_usual(plans, usual=not parts.questions and not shown.questions.declared)
    names = [plan.name for plan, _ in plans]
    whole = replace(
        parts,
        name=parts.name or shown.name,
        questions=questions,
        pools=plans,
        screening=tuple((_for_pools(one, names), place) for one, place in parts.screening),
        numbers={**parts.numbers, **given},
    )
    study = _study(whole)
    if study.items_per_rater is not None and study.repeats > study.items_per_rater:
        raise where.error("repeats_many", value=study.repeats, limit=study.items_per_rater)
    told = _check(whole, [*names, *(pool.name for pool, _ in parts.pools)], shown, where)
    proposed = pools_of_cultures(shown, own_language) if not pools and not parts.pools else ()
    return StudyRead(study, found, (*notes, *told, *language_notes(study, proposed)))


def _study(parts: Parts) -> Study:
    return Study(
        name=parts.name,
        questions=tuple(asked for asked, _ in parts.questions),
        pools=tuple(plan for plan, _ in parts.pools),
        screening=tuple(asked for asked, _ in parts.screening),
        gold=tuple(gold for gold, _ in parts.gold),
        pilot=parts.pilot,
        **parts.numbers,
    )


def _pools(parts: Parts, given: Sequence[str], shown: Shown) -> tuple[tuple[PoolPlan, Where], ...]:
    places = {pool.name: where for pool, where in parts.pools}
    if given:
        plans = pools_named(given, {pool.name: pool for pool, _ in parts.pools}, shown)
    else:
        plans = tuple(pool for pool, _ in parts.pools) or pools_of_cultures(shown)
    return tuple((with_usual_texts(plan), places.get(plan.name, Where("--pool", plan.name))) for plan in plans)


def _questions(parts: Parts, shown: Shown) -> tuple[tuple[tuple[Asked, Where], ...], tuple[Note, ...]]:
    if parts.questions:
        return parts.questions, ()
    of_table = questions_of_table(shown)
    if of_table:
        bare = [asked.id for asked, _ in of_table if asked.role == "placement" and not asked.low_end]
        return of_table, tuple(Note("study.note.no_ends", {"question": name}, "warning") for name in bare)
    made = four_questions(shown.cultures)
    told = () if len(shown.cultures) == 2 else (Note("study.note.no_placement", {"count": len(shown.cultures)}),)
    return tuple((asked, Where(FILE, asked.id)) for asked in made), told


def _check(parts: Parts, known: Sequence[str], shown: Shown, where: Where) -> tuple[Note, ...]:
    """How the parts fit each other and the corpus. known : pools of the study and of its file."""
    pools = tuple(pool for pool, _ in parts.pools)
    questions = {asked.id: asked for asked, _ in parts.questions}
    check_questions(parts.questions, where)
    for asked, place in parts.questions:
        check_question_texts(asked, place, pools)
    for pool, place in parts.pools:
        check_text(pool.consent, "consent", place, (pool,), needed=True)
        check_text(pool.welcome, "welcome", place, (pool,))
        check_text(pool.title, "title", place, (pool,))
    for screening, place in parts.screening:
        check_screening(screening, place, pools, known)
    for gold, place in parts.gold:
        check_gold(gold, place, questions, shown)
    return check_items(_study(parts), shown)


def _check_usual(plans: Sequence[tuple[PoolPlan, Where]], *, usual: bool) -> None:
    """Refuse the usual texts for raters who read another language. usual : whether the questions are the usual ones."""
    for pool, _ in plans:
        for language in pool.languages:
            if language.partition("-")[0] not in LANGUAGES and (usual or not said(pool.consent, language)):
                known = ", ".join(LANGUAGES)
                raise UsageError("study.usual_language", pool=pool.name, language=language, known=known)


def _check_options(given: dict[str, int]) -> None:
    for name, value in given.items():
        low, high = NUMBERS[name]
        if not low <= value <= high:
            option = "--" + name.replace("_", "-")
            raise UsageError("study.option_range", option=option, value=value, low=low, high=high)


def _for_pools(asked: Screening, pools: Sequence[str]) -> Screening:
    if EVERY_POOL not in asked.accept:
        return asked
    return replace(asked, accept=dict.fromkeys(pools, asked.accept[EVERY_POOL]))
