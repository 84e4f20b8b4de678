"""Small audits, opened side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from tests.browsing.pairs import made, side

from voirdire.browsing.library import Audit, Library
from voirdire.corpus.corpus import Corpus, Judgments

HOSTILE = "<img src=x onerror=alert(1)>"
JUDGES = {"steady": 0.3, "low": -0.6, HOSTILE: 0.35, "high": 0.9}


def covered(given: tuple[Corpus, Judgments]) -> tuple[Corpus, Judgments]:
    """The same with a covariate of the judges and a culture of the items, hostile too."""
    corpus, judgments = given
    items = corpus.items.with_columns(culture=pl.Series([("us", HOSTILE)[n % 2] for n in range(corpus.items.height)]))
    judges = judgments.judges.with_columns(origin=pl.Series(["us", "us", HOSTILE, HOSTILE]))
    return replace(corpus, items=items), replace(judgments, judges=judges, covariates=("origin",))


def library(folder: Path) -> Library:
    """Three audits: one, a new version on fewer items, and one without item-level tables."""
    audits = []
    for name, given in (
        ("first", covered(made(range(46), judges=JUDGES))),
        ("second", covered(made(range(4, 46), judges={**JUDGES, "steady": 0.9}, noise=1, lost={"low": (7,)}))),
    ):
        (folder / name).mkdir()
        opened = side(folder / name, given)
        audits.append(Audit(name, HOSTILE if name == "second" else name, folder / name, opened.profile))
    (folder / "bare").mkdir()
    return Library((), (), (*audits, Audit("bare", "bare", folder / "bare", audits[0].profile)))


def single(folder: Path) -> Library:
    """One audit of one pool."""
    corpus, judgments = made(range(8))
    kept = replace(corpus, pools=("us",), ratings=corpus.ratings.filter(pl.col("pool") == "us"))
    return Library((), (), (Audit("alone", "alone", folder, side(folder, (kept, judgments)).profile),))


def half_rated(folder: Path) -> Library:
    """An audit of two pools and two questions: pool cn rated only the early items, and nothing of the second."""
    corpus, judgments = made(range(12), conditions=("c0",))
    late = [f"i{n:02}" for n in range(6, 12)]
    items = corpus.items.with_columns(
        half=pl.when(pl.col("item_id").is_in(late)).then(pl.lit("late")).otherwise(pl.lit("early"))
    )
    of_us = pl.col("pool") == "us"
    first = corpus.ratings.filter(of_us | ~pl.col("item_id").is_in(late))
    second = corpus.ratings.filter(of_us).with_columns(question=pl.lit("q2"))
    questions = (*corpus.questions, replace(corpus.questions[0], id="q2"))
    corpus = replace(corpus, items=items, questions=questions, ratings=pl.concat([first, second]))
    table = judgments.table
    judgments = replace(judgments, rows=pl.concat([table, table.with_columns(question=pl.lit("q2"))]))
    opened = side(folder, (corpus, judgments), slices=("half",))
    return Library((), (), (Audit("partly", "partly", folder, opened.profile),))
