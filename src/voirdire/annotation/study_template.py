"""An ``annotation.toml`` to begin with: what is asked without the file, the paper's screening, and what else can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.nouns import Asked, PoolPlan, Study
from voirdire.annotation.study_checks import readers
from voirdire.annotation.study_defaults import four_questions, with_usual_texts
from voirdire.annotation.study_file import FILE
from voirdire.annotation.study_languages import for_readers, missing_texts
from voirdire.annotation.study_pools import own_language, pools_named, pools_of_cultures, usual_language
from voirdire.annotation.study_questions import levels
from voirdire.annotation.study_screening import usual_screening
from voirdire.annotation.study_table import questions_of_table
from voirdire.annotation.study_writing import (
    array,
    comment_lines,
    commented,
    pool_lines,
    question_lines,
    screening_lines,
    string,
)
from voirdire.annotation.wording import from_catalogue, said
from voirdire.texts import text

STUDY_FILE = FILE
UNNAMED = ("pool-1", "pool-2")
"""Pools of the template where the items have no cultures; they are to be renamed."""


def study_template(
    corpus: Path | str, shown: Shown | None = None, *, pools: Sequence[str] = (), lang: str = "en"
) -> str:
    """The text of an ``annotation.toml`` for a corpus, with comments.

    Read again, it gives the study that the corpus has without a file, with screening. Where a corpus has none without
    a file, what is missing is proposed: two pools, a question for items that have none.

    shown : what ``read_shown`` read of the corpus, when it was read already
    pools : as in ``read_study``; lang : of the comments

    >>> import tempfile
    >>> table = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = table.write_text(chr(10).join(["item_id,culture,prompt.en,text", "a,us,Is it usual?,Milk tea"]))
    >>> study_template(table).splitlines()[-1]
    '# accept = ["5"]'
    """
    shown = shown or read_shown(corpus)
    study = proposed_study(shown, pools)
    parts = [_head(study, lang), _pools(study, lang), _questions(study, lang), _screening(study, lang)]
    return "\n\n".join("\n".join(part) for part in (*parts, _gold(study, shown, lang))) + "\n"


def proposed_study(shown: Shown, given: Sequence[str] = ()) -> Study:
    """The study that the template describes. given : pools as in ``read_study``."""
    plans = tuple(with_usual_texts(plan) for plan in _plans(shown, given))
    questions = tuple(asked for asked, _ in questions_of_table(shown)) or four_questions(shown.cultures)
    asked = tuple(_with_text(one, plans, shown) for one in questions)
    return for_readers(Study(shown.name, asked, plans, usual_screening(plans)))


def _plans(shown: Shown, given: Sequence[str]) -> tuple[PoolPlan, ...]:
    if given:
        return pools_named(given, {}, shown)
    if shown.cultures:
        return pools_of_cultures(shown, own_language)
    return tuple(PoolPlan(name, (usual_language(name, shown),)) for name in UNNAMED)


def _with_text(asked: Asked, plans: Sequence[PoolPlan], shown: Shown) -> Asked:
    """The question with a proposed wording, where items have no question of their own and it has no text."""
    languages = {reader.language for reader in readers(plans)}
    items = [item for item in shown.items.values() if item.split != "rejected"]
    worded = asked.text or all(said(item.prompts, language) for item in items for language in languages)
    return asked if not asked.of_item or worded else replace(asked, text=from_catalogue("study.question.evaluation"))


def _head(study: Study, lang: str) -> Iterator[str]:
    yield from comment_lines(text("study.template.head", lang))
    missing = missing_texts(study)
    if missing:
        yield from comment_lines(text("study.template.missing", lang))
        yield from comment_lines("\n".join(missing))
    yield f"name = {string(study.name)}"
    numbers = {
        "raters_per_item": study.raters_per_item,
        "items_per_rater": 50,
        "repeats": study.repeats,
        "lease_minutes": int(study.lease_minutes),
        "seed": study.seed,
    }
    for name, value in numbers.items():
        yield ""
        yield from comment_lines(text(f"study.template.{name}", lang))
        line = f"{name} = {value}"
        yield f"# {line}" if name == "items_per_rater" else line


def _pools(study: Study, lang: str) -> Iterator[str]:
    yield from comment_lines(text("study.template.pools", lang))
    for place, pool in enumerate(study.pools):
        yield from ("", *pool_lines(pool)) if place else pool_lines(pool)
        yield '# completion_code = "…"'
        yield '# completion_url = "https://…"'


def _questions(study: Study, lang: str) -> Iterator[str]:
    yield from comment_lines(text("study.template.questions", lang))
    for place, asked in enumerate(study.questions):
        yield from ("", *question_lines(asked)) if place else question_lines(asked)
    yield ""
    yield from comment_lines(text("study.template.remark", lang))
    yield from commented(question_lines(_remark()))


def _screening(study: Study, lang: str) -> Iterator[str]:
    yield from comment_lines(text("study.template.screening", lang))
    for place, asked in enumerate(study.screening):
        yield from ("", *screening_lines(asked)) if place else screening_lines(asked)


def _gold(study: Study, shown: Shown, lang: str) -> Iterator[str]:
    yield from comment_lines(text("study.template.gold", lang))
    asked = next((one for one in reversed(study.questions) if levels(one)), None)
    gold = ["[[gold]]", f"item = {string(next(iter(shown.items)))}"]
    if asked is not None:
        gold += [f"question = {string(asked.id)}", f"accept = {array(levels(asked)[-1:])}"]
    yield from commented(gold)


def _remark() -> Asked:
    return Asked("remark", "text", level="nominal", text=from_catalogue("study.question.remark"), required=False)
