"""What raters answered in a pilot, read for screening: evaluations, subjectivity, and the checklist."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.annotation.study_defaults import USABLE
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.regimes import left_aside, of_items
from voirdire.construction.same_answers import marks_of
from voirdire.construction.screening_checklist import CHECKLISTS, Told, apart, from_corpus, from_table, said
from voirdire.corpus.corpus import Corpus, Note, Question
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.scales import Scale
from voirdire.tables import read_table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """The answers to one question, one entry an answer.

    item, rater, pool : (R,) numbers, items and pools by their places in the pilot; value : (R,) the answer
    """

    question: str
    scale: Scale
    item: Ints
    rater: Ints
    pool: Ints
    value: npt.NDArray[np.float64]

    def of_items(self, places: Sequence[int]) -> Answers:
        """The answers to some items."""
        order, start = self._by_item
        parts = [order[start[place] : start[place + 1]] for place in places if place + 1 < len(start)]
        rows = np.concatenate([np.empty(0, np.int64), *parts])
        return Answers(self.question, self.scale, self.item[rows], self.rater[rows], self.pool[rows], self.value[rows])

    def counts(self, places: Sequence[int], pools: int) -> Ints:
        """(pools, items) how many answers some items have."""
        here = self.of_items(places)
        at = np.searchsorted(np.asarray(places), here.item)
        return np.bincount(here.pool * len(places) + at, minlength=pools * len(places)).reshape(pools, -1)

    @cached_property
    def _by_item(self) -> tuple[Ints, Ints]:
        """Rows in the order of their items, and where each item begins in it."""
        order = np.argsort(self.item, kind="stable")
        last = int(self.item.max(initial=-1)) + 2
        return order, np.searchsorted(self.item[order], np.arange(last))


@dataclass(frozen=True, slots=True)
class Pilot:
    """A pilot.

    items : of the concepts, in the order of the table; pools : who rates
    evaluation, subjectivity : the questions of these roles; checklist : 1 where a rater calls the item a stereotype
    votes : item id -> answer to the question what is wrong -> raters who gave it
    raters : the ids of all who answered, the checklist too; digests : of the tables that were read
    marks : concept -> marks of its answers, by which they are known again among the ratings of a corpus
    """

    items: tuple[ConceptItem, ...]
    pools: tuple[str, ...]
    evaluation: Answers
    subjectivity: Answers | None = None
    checklist: Answers | None = None
    votes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    raters: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def concepts(self) -> dict[str, tuple[int, ...]]:
        """Concepts of which an item was answered -> places of their items."""
        asked = [one for one in (self.evaluation, self.subjectivity, self.checklist) if one is not None]
        seen = {int(place) for one in asked for place in np.unique(one.item)}
        found: dict[str, list[int]] = {}
        for place, item in enumerate(self.items):
            found.setdefault(item.concept, []).append(place)
        return {concept: tuple(places) for concept, places in found.items() if seen & set(places)}


def read_pilot(
    concepts: Concepts,
    options: CorpusOptions,
    *,
    question: str | None = None,
    checklist: Any = None,
    further: Collection[str] = (),
) -> Pilot:
    """Read the answers of a pilot; the items are those of the concepts, answers to others are left out and counted.

    options : with the ratings (a table, or a folder with ``corpus.toml``) and how they are read
    question : the evaluation question, where its role does not name it
    checklist : a table item_id, rater_id, [pool], [question], rating with answers to ``usable`` or ``stereotype``;
        None where the ratings hold them
    further : ids of items of further regimes, whose ratings are left aside and counted

    Raises InputError, naming file, row, column and value, where no answer belongs to a concept and for an answer of
    the checklist that is none of those it knows; UsageError for a question that there is not.
    """
    rated, beside = apart(of_items(expand_corpus(options), [item.id for item in concepts.items], further))
    corpus = read_corpus(rated)
    file = str(options.ratings) if isinstance(options.ratings, (str, Path)) else "DataFrame"
    if corpus.ratings.is_empty():
        raise InputError("screening.none_rated", file=file)
    places = {item.id: place for place, item in enumerate(concepts.items)}
    asked = _evaluation(corpus, question)
    given = beside if checklist is None else read_table(checklist)
    told = from_corpus(corpus) if given is None else from_table(given, corpus, places, rated.mapping, further)
    return Pilot(
        concepts.items,
        corpus.pools,
        _answers(corpus, asked, places),
        _answers(corpus, found, places) if (found := _with_role(corpus, "subjectivity")) else None,
        _checklist(told, places, corpus.pools),
        _votes(told),
        tuple(pl.concat([corpus.ratings["rater_id"], told.frame["rater_id"]]).unique().sort()),
        (*(one.digest for one in corpus.intake if one.digest), *((told.digest,) if told.digest else ())),
        (*corpus.notes, *left_aside(corpus), *told.notes),
        marks_of(corpus.ratings, asked.id, concepts.items),
    )


def _evaluation(corpus: Corpus, wanted: str | None) -> Question:
    """The question that pairs are screened by. Raises UsageError for one that there is not."""
    free = [one for one in corpus.questions if one.id not in CHECKLISTS]
    if wanted is not None:
        found = next((one for one in free if one.id == wanted), None)
        if found is None:
            raise UsageError("material.question_unknown", value=wanted, known=", ".join(one.id for one in free))
        return found
    if not free:
        raise UsageError("material.question_unknown", value="-", known=", ".join(one.id for one in corpus.questions))
    return _with_role(corpus, "evaluation") or free[0]


def _with_role(corpus: Corpus, role: str) -> Question | None:
    return next((one for one in corpus.questions if one.role == role), None)


def _answers(corpus: Corpus, question: Question, places: Mapping[str, int]) -> Answers:
    frame = corpus.ratings.filter(pl.col("question") == question.id)
    return _numbered(frame, question.id, question.scale, places, corpus.pools, anonymous=corpus.anonymous_raters)


def _numbered(
    frame: pl.DataFrame,
    question: str,
    scale: Scale,
    places: Mapping[str, int],
    pools: Sequence[str],
    *,
    anonymous: bool = False,
) -> Answers:
    """Answers as arrays; raters of two pools are two raters, and slots that mean nothing across items as many."""
    keys = ["pool", "rater_id", *(["item_id"] if anonymous else [])]
    rater = frame.select(pl.struct(keys).rank("dense") - 1).to_series().to_numpy().astype(np.int64)
    item = np.array([places[name] for name in frame["item_id"]], dtype=np.int64)
    pool = np.array([pools.index(name) for name in frame["pool"]], dtype=np.int64)
    return Answers(question, scale, item, rater, pool, frame["value"].to_numpy().astype(float))


def _checklist(told: Told, places: Mapping[str, int], pools: Sequence[str]) -> Answers | None:
    """Whether a rater calls an item a stereotype: by the question that asks it alone where it was asked."""
    asked = [name for name in reversed(CHECKLISTS) if (told.frame["question"] == name).any()]
    if not asked:
        return None
    frame = told.frame.filter(pl.col("question") == asked[0])
    hit = said(frame, asked[0])
    return _numbered(
        frame.with_columns(value=hit.cast(pl.Float64)),
        asked[0],
        Scale("nominal", 0, 1, ("no", "yes"), "yes"),
        places,
        pools,
    )


def _votes(told: Told) -> dict[str, dict[str, int]]:
    frame = told.frame.filter(pl.col("question") == USABLE).group_by("item_id", "label").len()
    found: dict[str, dict[str, int]] = {}
    for item, label, count in frame.sort("item_id", "label").iter_rows():
        found.setdefault(item, {})[label] = count
    return found
