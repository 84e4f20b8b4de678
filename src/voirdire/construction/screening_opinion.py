"""A judge's second opinion on stereotypes: asked like any judge, shown beside the raters, deciding nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import ConceptItem, replace_table
from voirdire.construction.imaging.files import image_file
from voirdire.construction.regimes import check_regime
from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES, text

OPINION_ITEMS = "screening-opinion.csv"
OPINION_RUNS = "screening-opinions"
SATURATED = 4
"""From this level of 1 to 5 on, a judge is said to call an item a stereotype."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge said.

    ratings : item -> 1 (no stock symbols) to 5 (nothing but stock symbols); unanswered : items without an answer
    described : items that it knows by their description alone, as they have no image
    """

    judge: str
    ratings: Mapping[str, float] = field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    described: tuple[str, ...] = ()

    def largest(self, items: Sequence[str]) -> float | None:
        """The largest rating of some items, None where there is none."""
        known = [self.ratings[item] for item in items if item in self.ratings]
        return max(known) if known else None


def language_of(build: BuildFile) -> str:
    """The language in which a judge is asked: the first of the corpus in which there is the question.

    >>> language_of(BuildFile("build.toml", "tea", "0.1", "", ("pt-BR", "zh"), ()))
    'zh'
    """
    return next((code for code in build.languages if code in LANGUAGES), LANGUAGES[0])


def image_of(folder: Path, regime: str, item: str) -> Path | None:
    """The image of an item in a regime, or None. Raises UsageError for a regime that is no name of a folder.

    >>> image_of(Path("nowhere"), "generated", "tea-us") is None
    True
    """
    check_regime(regime)
    return image_file(folder, regime, item)


def write_items(
    folder: Path, build: BuildFile, items: Sequence[ConceptItem], regime: str
) -> tuple[Path, tuple[str, ...]]:
    """Write the items as a judge is asked about them; the file, and the items that have no image.

    Raises UsageError where an item has neither an image nor a realisation in words.
    """
    language, rows, described = language_of(build), [], []
    for item in items:
        image = image_of(folder, regime, item.id)
        if image is None and not item.realisation:
            raise UsageError("screening.opinion_nothing", value=item.id, regime=regime)
        shown = "" if image is None else image.relative_to(folder).as_posix()
        described += [item.id] if image is None else []
        row = {"item_id": item.id, f"prompt.{language}": text("screening.opinion.question", language)}
        rows.append(row | {"image": shown, "text": "" if image else item.realisation})
    path = folder / OPINION_ITEMS
    table = pl.DataFrame(rows)
    replace_table(path, table.select(name for name in table.columns if (table[name] != "").any()))
    return path, tuple(described)


def run_folder(folder: Path, judge: str, regime: str) -> Path:
    """Where the answers of a judge about a regime are kept.

    >>> run_folder(Path("mine"), "openai/gpt 5", "generated").parent.name
    'screening-opinions'
    """
    digest = hashlib.sha256(f"{judge}\n{regime}".encode()).hexdigest()[:8]
    return folder / OPINION_RUNS / f"{_UNSAFE.sub('-', judge).strip('.-')[:48]}-{digest}"


def read_opinion(judge: str, judgments: pl.DataFrame, described: Sequence[str] = ()) -> Opinion:
    """What a judge said, from the judgments of its run.

    >>> rows = pl.DataFrame({"item_id": ["tea-us", "tea-cn"], "status": ["ok", "refused"], "rating": [4.0, None]})
    >>> opinion = read_opinion("a/b", rows)
    >>> opinion.ratings, opinion.unanswered, opinion.largest(["tea-us", "tea-cn"])
    ({'tea-us': 4.0}, ('tea-cn',), 4.0)
    """
    told = dict(judgments.filter(pl.col("status") == "ok").select("item_id", "rating").sort("item_id").iter_rows())
    lacking = judgments.filter(pl.col("status") != "ok")["item_id"].unique().sort().to_list()
    return Opinion(judge, told, tuple(lacking), tuple(described))
