"""What parts of a study must have of each other: languages of the pools, questions of the items, answers of gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import NOT_APPLICABLE, Asked, Gold, PoolPlan, Screening, Study, Texts
from voirdire.annotation.study_entries import Where, listed
from voirdire.annotation.study_questions import levels
from voirdire.annotation.wording import said
from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import Item
from voirdire.scales import WITHOUT_ORDER


@dataclass(frozen=True, slots=True)
class Reader:
    """A pool and one of its languages: every text must be there for it."""

    pool: str
    language: str


def readers(pools: Sequence[PoolPlan]) -> tuple[Reader, ...]:
    """Every pool with each of its languages."""
    return tuple(Reader(pool.name, language) for pool in pools for language in pool.languages)


def check_unique(named: Sequence[tuple[str, Where]], entry: str) -> None:
    """Refuse a name that was there before."""
    seen: dict[str, Where] = {}
    for name, where in named:
        if name in seen:
            raise where.error("name_twice", entry=entry, value=name, first=seen[name].place)
        seen[name] = where


def check_questions(questions: Sequence[tuple[Asked, Where]], file: Where) -> None:
    """Refuse a study in which nothing is rated, or nothing has to be."""
    asked = [one for one, _ in questions]
    if not any(one.widget != "text" for one in asked):
        raise file.error("nothing_rated")
    if not any(one.required for one in asked):
        raise file.error("nothing_required")


def check_question_texts(asked: Asked, where: Where, pools: Sequence[PoolPlan]) -> None:
    """Refuse a question with words that some pool could not read; those of an item are looked for by the items."""
    texts = {"text": asked.text, "help": asked.help, "low_end": asked.low_end, "high_end": asked.high_end}
    for name, given in texts.items():
        check_text(given, name, where, pools, needed=name == "text" and not asked.of_item)
    for place, option in enumerate(asked.options, start=1):
        check_text(option.text, f"options {place}: text", where, pools)


def check_text(texts: Texts, name: str, where: Where, pools: Sequence[PoolPlan], needed: bool = False) -> None:
    """Refuse a text that is there in some languages of the pools and not in others."""
    if not texts and not needed:
        return
    for reader in readers(pools):
        if not said(texts, reader.language):
            raise where.error("text_missing", entry=name, language=reader.language, pool=reader.pool)


def check_screening(asked: Screening, where: Where, pools: Sequence[PoolPlan], known: Sequence[str]) -> None:
    """Refuse a screening question that cannot be read, that nobody could pass, or of pools that there are not.

    known : pools of the study and of its file
    """
    check_text(asked.text, "text", where, pools, needed=True)
    for place, option in enumerate(asked.options, start=1):
        check_text(option.text, f"options {place}: text", where, pools)
    values = [option.value for option in asked.options]
    for pool, accepted in asked.accept.items():
        if pool not in known:
            raise where.unknown("accept", pool, known)
        for value in accepted:
            if value not in values:
                raise where.unknown(f"accept.{pool}", value, values)


def check_gold(gold: Gold, where: Where, questions: Mapping[str, Asked], corpus: Shown) -> None:
    """Refuse gold whose item, question or answer there is not."""
    if gold.item_id not in corpus.items:
        raise where.unknown("item", gold.item_id, list(corpus.items))
    if gold.question not in questions:
        raise where.unknown("question", gold.question, list(questions))
    asked = questions[gold.question]
    if not levels(asked):
        raise where.error("gold_typed", value=asked.id)
    known = (*levels(asked), *([NOT_APPLICABLE] if asked.not_applicable else []))
    for value in gold.accept:
        if value not in known:
            raise where.unknown("accept", value, known)


def check_items(study: Study, corpus: Shown) -> tuple[Note, ...]:
    """Refuse items that some pool could not be asked about or could not read; say which descriptions are missing.

    Items of the split ``rejected`` are not looked at, unless they are gold.
    """
    pools, golden = study.pools, {gold.item_id for gold in study.gold}
    items = [item for item in corpus.items.values() if item.split != "rejected" or item.id in golden]
    for asked in study.questions:
        if asked.of_item:
            _check_prompts(asked, items, pools, corpus)
            _check_scales(asked, items, corpus)
    for item in items:
        for reader in readers(pools):
            if item.texts and not said(item.texts, reader.language):
                where = {"language": reader.language, "pool": reader.pool, "value": ""}
                raise corpus.error("item_text_missing", item.id, f"text.{reader.language}", **where)
    return tuple(_descriptions(items, pools, corpus))


def _check_prompts(asked: Asked, items: Sequence[Item], pools: Sequence[PoolPlan], corpus: Shown) -> None:
    """An item's own prompt goes before the question's text, so it must be there in every language that is read."""
    bare = bool(asked.text) or any(item.prompts for item in items)
    for item in items:
        for reader in readers(pools):
            if not said(item.prompts or asked.text, reader.language):
                where = {"language": reader.language, "pool": reader.pool, "question": asked.id, "value": ""}
                key = "item_prompt_missing" if bare else "no_prompts"
                raise corpus.error(key, item.id, f"prompt.{reader.language}", **where)


def _check_scales(asked: Asked, items: Sequence[Item], corpus: Shown) -> None:
    """All items are asked on one scale."""
    for item in items:
        own = item.scale
        if own is None:
            continue
        ends = (asked.low if own.low is None else own.low, asked.high if own.high is None else own.high)
        other = (own.level in WITHOUT_ORDER) != (asked.level in WITHOUT_ORDER)
        if other or ends != (asked.low, asked.high):
            told = {"value": str(own), "question": asked.id}
            raise corpus.error("item_scale", item.id, "min" if own.low is not None else "max", **told)


def _descriptions(items: Sequence[Item], pools: Sequence[PoolPlan], corpus: Shown) -> Iterator[Note]:
    pictured = [item for item in items if item.image is not None]
    for language in dict.fromkeys(reader.language for reader in readers(pools)):
        without = [item.id for item in pictured if not said(item.alts, language)]
        if without:
            told = {"count": len(without), "language": language, "items": listed(without[:5])}
            yield Note("study.note.no_description", {"file": corpus.name, **told}, "warning")
