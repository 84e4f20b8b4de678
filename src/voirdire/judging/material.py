"""What judges are run on: items, questions, and the held-out items from which demonstrations are drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.frozen import Frozen
from voirdire.corpus.intake import merged
from voirdire.corpus.itemtable import ItemTable, item_scales, leave_out_other_levels, read_items
from voirdire.corpus.options import CorpusOptions, Source
from voirdire.corpus.reading import read_corpus
from voirdire.corpus.shown import Item
from voirdire.errors import InputError, UsageError
from voirdire.judging.asked import (
    Asked,
    evaluation_of,
    held_out_consensus,
    levels_of,
    rated_questions,
    unrated_questions,
)
from voirdire.judging.nouns import AskedQuestion
from voirdire.judging.shown import check_scales, check_shown, found_in, languages_of
from voirdire.tables import is_frame

__all__ = ["Consensus", "Material", "levels_of", "read_material"]

Consensus = Mapping[str, Mapping[str, float]]
"""pool -> item id -> the mean of the pool's ratings."""

LEFT_OUT = ("pilot", "rejected")


@dataclass(frozen=True, slots=True)
class Material:
    """What judges are run on.

    folder : where the images are; name : of the corpus
    items : the test items (``split`` empty or ``test``), in the order of the table
    held_out : the items whose split is ``demonstration``
    questions : every question that can be put to a judge; evaluation : id of the one that is asked by default
    languages : those in which every test item can be asked; ``("und",)`` where no column names a language
    consensuses : question id -> pool -> held-out item id -> mean rating; empty without ratings of held-out items
    digest : sha256 over items, questions and consensuses, independent of the order of rows; files are not in it
    frozen : which version it is, where the corpus is frozen
    """

    folder: Path
    name: str
    items: tuple[Item, ...]
    held_out: tuple[Item, ...] = ()
    questions: tuple[AskedQuestion, ...] = ()
    evaluation: str = ""
    languages: tuple[str, ...] = ()
    consensuses: Mapping[str, Consensus] = field(default_factory=dict)
    digest: str = ""
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()
    frozen: Frozen | None = None

    @property
    def consensus(self) -> Consensus:
        """pool -> held-out item id -> mean rating on the evaluation question."""
        return self.consensuses.get(self.evaluation, {})

    def question(self, name: str) -> AskedQuestion:
        """The question of this id. KeyError when there is none."""
        return {question.id: question for question in self.questions}[name]

    def levels(self, question: AskedQuestion, item: Item) -> tuple[int, ...]:
        """The integers that rate an item: of its own scale where it has one."""
        return levels_of(item.scale or question.scale, question.id)

    def images(self) -> dict[Path, str]:
        """Every image file -> the first item that shows it, test items before held-out ones."""
        shown: dict[Path, str] = {}
        for item in (*self.items, *self.held_out):
            if item.image is not None:
                shown.setdefault(item.image, item.id)
        return shown


def read_material(
    source: Source,
    *,
    items: Source = None,
    questions: Source = None,
    ratings: Source = None,
    raters: Source = None,
    low: float | None = None,
    high: float | None = None,
    question: str | None = None,
    shown: bool = True,
    reading: CorpusOptions | None = None,
) -> Material:
    """Read what judges are run on.

    source : a corpus folder (``corpus.toml``), or an items table; image cells are relative to the folder that
        holds it
    items, questions, ratings, raters : tables beside or instead of those in the folder; all but items may be absent
    low, high : the scale of questions that nothing else declares. Without a questions table and without ratings
        there is one question, ``rating``, from 1 to 5 by default
    question : the question to ask by default, instead of the one whose role is evaluation or the first
    shown : whether judges look at the items. False for replay and control judges alone: then items need neither
        wording nor content, and images are not looked for
    reading : everything else that is said of the tables (mapping, pools, missing labels, ...)

    Raises InputError, with file, row, column and value, for: an item without question, image and text, an empty or
    repeated id, an unknown split, an image that is missing or lies outside the folder, a scale without whole numbers.

    >>> import polars as pl
    >>> made = read_material(pl.DataFrame({"item_id": ["a"], "text": ["Tea with milk"], "prompt.en": ["Is it usual?"]}))
    >>> made.items[0].texts, made.languages, made.questions[0].id, str(made.questions[0].scale)
    ({'und': 'Tea with milk'}, ('en',), 'rating', 'ordinal:1:5')
    """
    given = {"items": items, "questions": questions, "ratings": ratings, "raters": raters, "low": low, "high": high}
    folder, options = _located(source, reading, {name: value for name, value in given.items() if value is not None})
    table = read_items(options, LEFT_OUT)
    corpus = read_corpus(options, LEFT_OUT) if options.ratings is not None else None
    asked = rated_questions(corpus, options) if corpus else unrated_questions(options, table)
    made = _made(folder, options.name or folder.name, table, asked, evaluation_of(asked, question), shown)
    if corpus is not None:
        held_out = [item.id for item in made.held_out]
        beside = merged([*corpus.notes, *made.notes])
        made = replace(made, consensuses=held_out_consensus(corpus, held_out), intake=corpus.intake, notes=beside)
    return replace(made, digest=_digest(made), frozen=options.frozen)


def _made(folder: Path, name: str, table: ItemTable, asked: Asked, evaluation: str, shown: bool) -> Material:
    """Items and questions; what the pools answered comes after."""
    question = asked.questions[evaluation]
    scale = question.scale
    levels_of(scale, evaluation)
    table = leave_out_other_levels(table)
    own = {} if scale.labels else item_scales(table, scale.level, scale.low, scale.high)
    found = found_in(table, folder if shown else None, own)
    check_scales(table, found)
    told = check_shown(table, found, question) if shown else ()
    return Material(
        folder,
        name,
        found.test,
        found.held_out,
        tuple(asked.questions.values()),
        evaluation,
        languages_of(found.test, question),
        intake=table.intake,
        notes=merged([*table.notes, *asked.notes, *told]),
    )


def _located(source: Source, reading: CorpusOptions | None, given: Mapping[str, Any]) -> tuple[Path, CorpusOptions]:
    """The folder of the images, and the options of every table."""
    options = reading or CorpusOptions(None)
    if is_frame(source) or not Path(source).is_dir():
        if "items" in given:
            raise UsageError(
                "material.items_twice", value=str(source) if not is_frame(source) else type(source).__name__
            )
        folder = Path.cwd() if is_frame(source) else Path(source).resolve().parent
        return folder, replace(options, items=source, **given)
    beside = {name: value for name, value in given.items() if name != "ratings"}
    found = expand_corpus(replace(options, ratings=source, **beside), rated=False)
    if "ratings" in given:
        found = replace(found, ratings=given["ratings"], frozen=None)
    if found.items is None:
        raise InputError("material.no_items", file=str(source))
    return Path(source).resolve(), found


def _digest(material: Material) -> str:
    """sha256 over the items, the questions and the consensuses; the order of rows does not count."""
    told = {
        "items": {item.id: _plain(item, material.folder) for item in material.items},
        "held_out": {item.id: _plain(item, material.folder) for item in material.held_out},
        "questions": {asked.id: [str(asked.scale), dict(asked.text)] for asked in material.questions},
        "evaluation": material.evaluation,
        "consensuses": material.consensuses,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _plain(item: Item, folder: Path) -> list[Any]:
    image = "" if item.image is None else item.image.relative_to(folder).as_posix()
    worded = [dict(item.prompts), dict(item.texts), dict(item.alts)]
    return [*worded, image, item.pair, item.culture, item.category, str(item.scale or "")]
