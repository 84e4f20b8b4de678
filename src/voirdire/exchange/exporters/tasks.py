"""Exporters whose files ask people for ratings: they get the items and what is asked, and nothing of raters.

What is asked of whom is the study of the corpus, as ``voirdire annotate`` asks it: annotation.toml, else the questions
table and the cultures of the items. An exporter of this kind is registered as ``TaskExporter`` in the group
``voirdire.exporters``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.nouns import NOT_APPLICABLE, Asked, PoolPlan, Study
from voirdire.annotation.study_file import FILE, find_study
from voirdire.annotation.study_questions import levels, questions_table
from voirdire.annotation.wording import said
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.intake import some, with_rows
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.shown import place_of
from voirdire.errors import InputError
from voirdire.exchange.importers.labelstudio_items import OURS
from voirdire.exchange.release import Release
from voirdire.exchange.release_images import Collector, ReleaseImage
from voirdire.exchange.release_tables import rated_pools
from voirdire.exchange.told import Told, read_told

Progress = Callable[[str, float], None]
TEST = "test"
COMMENT = "comment"
"""What follows the name of a question in the name of the field for a comment on it."""


@dataclass(frozen=True, slots=True)
class Task:
    """An item as one pool sees it. image : its path in the export; empty texts where it has none."""

    item: str
    text: str
    prompt: str
    image: str


@dataclass(frozen=True)
class Material:
    """What is put to raters.

    folder : of the corpus; items : the test items, with the paths of their images in the export
    questions : what is asked, as a questions table that takes the answers back
    """

    folder: Path
    shown: Shown
    study: Study
    told: Told
    items: pl.DataFrame
    questions: pl.DataFrame
    images: tuple[ReleaseImage, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def release(self) -> Release:
        """As a release that has no raters."""
        return Release(self.told, {"items": self.items, "questions": self.questions}, self.images, notes=self.notes)

    @property
    def projects(self) -> Iterator[tuple[PoolPlan, str]]:
        """Every pool with each of the languages in which it may read."""
        for plan in self.study.pools:
            for language in plan.languages:
                yield plan, language

    def tasks(self, plan: PoolPlan, language: str) -> list[Task]:
        """The items for a pool in a language. Raises InputError where one has nothing to be shown."""
        images = dict(self.items.select("item_id", "image").iter_rows()) if "image" in self.items.columns else {}
        found = []
        for name in self.items["item_id"]:
            item = self.shown.items[name]
            task = Task(name, said(item.texts, language), said(item.prompts, language), images.get(name) or "")
            if not (task.text or task.prompt or task.image):
                told = {"item": name, "language": language, "pool": plan.name}
                raise InputError("release.task_nothing_shown", file=str(self.folder), **told)
            found.append(task)
        return found


@dataclass(frozen=True)
class TaskExporter:
    """An exporter of this kind. write : called with the material, an empty folder and the language of its README."""

    write: Callable[[Material, Path, str], None]


def read_material(corpus: Path, progress: Progress | None = None) -> Material:
    """The test items of a corpus folder, and what its study asks of them; ratings need not be there.

    Raises InputError and UsageError as ``voirdire annotate`` does: an item with nothing to look at, an image outside
    the folder, questions without a scale, items with scales of their own, no pool.
    """
    shown = read_shown(corpus)
    found = find_study(corpus, shown, pools=_rated_pools(corpus, shown))
    wanted = shown.of_splits(TEST)
    table = place_of(shown.source).table
    rows = {item: table.row(row) for item, row in with_rows(table.frame).select("item_id", "_row").iter_rows()}
    images = Collector(shown.folder, table.file, rows).collect(
        shown.table.filter(pl.col("item_id").is_in(list(wanted))), progress
    )
    located = [Note("release.note.located", {"images": some(images.located)}, "warning")] if images.located else []
    questions = _with_missing(questions_table(found.study.questions), found.study)
    notes = (*shown.notes, *found.notes, *located)
    return Material(corpus, shown, found.study, read_told(corpus), images.items, questions, images.files, notes)


def project_name(plan: PoolPlan, language: str, taken: set[str]) -> str:
    """A name that every file system takes, whatever the pool is called."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", plan.name).strip("-").lower()[:40] or "pool"
    wanted = f"project-{plain}-{re.sub(r'[^A-Za-z0-9-]', '', language)}"
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    taken.add(name)
    return name


def worded_field(number: int) -> str:
    """The field of a task that holds the words of a question."""
    return f"{OURS}question_{number}"


def wording(asked: Asked, task: Task, language: str) -> str:
    """The question as it is put: the item's own prompt where it stands in the place of the question."""
    own = task.prompt if asked.of_item else ""
    return own or said(asked.text, language) or asked.text.get("en", "") or asked.id


def choices(asked: Asked, language: str) -> list[tuple[str, str]]:
    """Value and words of every answer that can be chosen, ends with their words; empty where a number is typed."""
    words = {option.value: said(option.text, language) for option in asked.options}
    values = levels(asked)
    ends = {0: said(asked.low_end, language), len(values) - 1: said(asked.high_end, language)}
    made = []
    for place, value in enumerate(values):
        told = words.get(value) or ends.get(place, "")
        plain = asked.widget == "choice"
        made.append((value, (told or value) if plain else f"{value} – {told}" if told else value))
    return made


def _with_missing(table: pl.DataFrame, study: Study) -> pl.DataFrame:
    """The questions table with the answer that says that a question does not apply."""
    open_to = [asked.id for asked in study.questions if asked.not_applicable]
    if not open_to:
        return table
    missing = pl.when(pl.col("question").is_in(open_to)).then(pl.lit(NOT_APPLICABLE))
    return table.with_columns(missing.alias("missing"))


def _rated_pools(corpus: Path, shown: Shown) -> tuple[str, ...]:
    """The pools that rated before, where neither annotation.toml nor the cultures of the items name any."""
    if shown.cultures or not corpus.is_dir() or (shown.folder / FILE).is_file():
        return ()
    return rated_pools(expand_corpus(CorpusOptions(corpus), rated=False))
