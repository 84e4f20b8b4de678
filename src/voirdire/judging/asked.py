"""The questions that can be put to judges: their scales, their wordings, and what the pools answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.intake import some
from voirdire.corpus.itemtable import ItemTable
from voirdire.corpus.levels import MAX_ORDINAL_RANGE, Spec, scale_of_labels
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.questions import QuestionTable, read_questions, roles, spec_of
from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import AskedQuestion
from voirdire.scales import Scale
from voirdire.tables import Table

ASSUMED = (1.0, 5.0)
MAX_LEVELS = 1001


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions by id in order, their roles, and what to say about them."""

    questions: Mapping[str, AskedQuestion]
    roles: Mapping[str, str | None]
    notes: tuple[Note, ...] = ()


def levels_of(scale: Scale, question: str = "") -> tuple[int, ...]:
    """The integers that are ratings: every whole number from one end to the other, or the codes of two labels.

    A judge answers with one integer, whatever the level of measurement. Raises InputError for votes, for labels
    without order, for a scale without whole ends, and for one of more than 1001 numbers.

    >>> levels_of(Scale("ordinal", 1, 5)), levels_of(Scale("nominal", 0, 1, ("no", "yes"), "yes"))
    ((1, 2, 3, 4, 5), (0, 1))
    """
    if scale.pairwise:
        raise InputError("material.votes", question=question, value=some(scale.labels, 10))
    if scale.nominal:
        raise InputError("material.no_order", question=question, value=some(scale.labels, 10))
    if scale.low is None or scale.high is None:
        raise InputError("material.no_ends", question=question, value=str(scale))
    if not (float(scale.low).is_integer() and float(scale.high).is_integer()):
        raise InputError("material.ends_not_whole", question=question, value=str(scale))
    count = int(scale.high - scale.low) + 1
    if not 2 <= count <= MAX_LEVELS:
        raise InputError("material.too_many_levels", question=question, value=str(scale), count=count, limit=MAX_LEVELS)
    return tuple(range(int(scale.low), int(scale.high) + 1))


def rated_questions(corpus: Corpus, options: CorpusOptions) -> Asked:
    """Questions as the ratings have them, then those that are declared and that nobody has rated."""
    table = read_questions(options)
    found = {question.id: AskedQuestion(question.id, question.scale, question.text) for question in corpus.questions}
    role = {question.id: question.role for question in corpus.questions}
    more = [name for name in table.declared if name not in found]
    scales = {name: _declared_scale(name, table, options) for name in more}
    found |= {
        name: AskedQuestion(name, scale, table.declared[name].text)
        for name, scale in scales.items()
        if scale is not None
    }
    told = [Note("material.note.question_left_out", {"question": name}) for name in more if scales[name] is None]
    role |= {name: table.declared[name].role for name in more}
    order = [name for name in table.declared if name in found]
    order += [name for name in found if name not in order]
    return Asked({name: replace(found[name], role=role[name]) for name in order}, role, tuple(told))


def unrated_questions(options: CorpusOptions, items: ItemTable) -> Asked:
    """Questions as they are declared; without a questions table the single question ``rating``."""
    table = read_questions(options)
    if not table.declared:
        return _assumed(options, items)
    found: dict[str, AskedQuestion] = {}
    for name, declared in table.declared.items():
        scale = _declared_scale(name, table, options) or _items_scale(items)
        if scale is None:
            raise InputError("material.scale_unknown", file=table.table.file if table.table else "", question=name)
        found[name] = AskedQuestion(name, scale, declared.text)
    role, told = roles(list(found), table)
    with_roles = {name: replace(question, role=role[name]) for name, question in found.items()}
    return Asked(with_roles, role, (*table.notes, *told))


def evaluation_of(asked: Asked, wanted: str | None) -> str:
    """The question that is asked by default. Raises UsageError for one that is not there."""
    names = list(asked.questions)
    if wanted is not None and wanted not in names:
        raise UsageError("material.question_unknown", value=wanted, known=some(names, 20))
    return wanted or default_question({name: asked.roles.get(name) for name in names})


def default_question(roles: Mapping[str, str | None]) -> str:
    """The evaluation question, or the first where there is none. roles : of all questions, in order.

    >>> default_question({"q1": "recognition", "q2": "evaluation"}), default_question({"q1": None, "q2": None})
    ('q2', 'q1')
    """
    return next((name for name, role in roles.items() if role == "evaluation"), next(iter(roles)))


def held_out_consensus(corpus: Corpus, items: Sequence[str]) -> dict[str, dict[str, dict[str, float]]]:
    """question -> pool -> item -> mean of the pool's ratings, of the items named and rated."""
    here = pl.col("item_id").is_in(list(items))
    consensus: dict[str, dict[str, dict[str, float]]] = {
        question.id: {pool: {} for pool in corpus.pools} for question in corpus.questions if not question.scale.nominal
    }
    values = pl.concat(
        [part.select("question", "pool", "item_id", "value") for part in (corpus.ratings, corpus.aggregates)]
    )
    known = values.filter(here & pl.col("question").is_in(list(consensus)))
    grouped = known.group_by("question", "pool", "item_id").agg("value").sort("question", "pool", "item_id")
    for question, pool, item, ratings in grouped.iter_rows():
        consensus[question][pool][item] = math.fsum(ratings) / len(ratings)
    return {name: pools for name, pools in consensus.items() if any(pools.values())}


def _assumed(options: CorpusOptions, items: ItemTable) -> Asked:
    low = ASSUMED[0] if options.low is None else options.low
    high = ASSUMED[1] if options.high is None else options.high
    name = options.question_name
    declared = _scale_of(name, spec_of(name, QuestionTable(), options), None) or _items_scale(items)
    scale = declared or _numeric(Spec(options.level, low, high))
    told = Note("material.note.question_assumed", {"question": name, "scale": str(scale)})
    return Asked({name: AskedQuestion(name, scale)}, {name: None}, (told,))


def _declared_scale(name: str, table: QuestionTable, options: CorpusOptions) -> Scale | None:
    return _scale_of(name, spec_of(name, table, options), table.table)


def _scale_of(name: str, spec: Spec, table: Table | None) -> Scale | None:
    if spec.labels:
        return scale_of_labels(name, spec, table or Table(pl.DataFrame(), "--labels", ""))
    return None if spec.low is None or spec.high is None else _numeric(spec)


def _numeric(spec: Spec) -> Scale:
    low, high = spec.low, spec.high
    if low is None or high is None:
        raise ValueError("this scale has no ends")  # noqa: TRY003
    whole = float(low).is_integer() and float(high).is_integer() and high - low <= MAX_ORDINAL_RANGE
    return Scale(spec.level or ("ordinal" if whole else "interval"), low, high, missing=spec.missing)


def _items_scale(items: ItemTable) -> Scale | None:
    """The widest scale of the items' own, where they have any with both ends."""
    if items.scales is None:
        return None
    lows, highs = items.scales["low"].drop_nulls().to_list(), items.scales["high"].drop_nulls().to_list()
    return _numeric(Spec(None, min(lows), max(highs))) if lows and highs else None
