"""Pilots with planted pairs: the worlds of the study, and small ones made by hand."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
from tests.construction.building import make, pairs

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.screening import Screening
from voirdire.construction.screening_pilot import Answers, Pilot
from voirdire.scales import Scale

FIVE = Scale("ordinal", 1, 5)
YES_NO = Scale("nominal", 0, 1, ("no", "yes"), "yes")


@cache
def study() -> ModuleType:
    """The script of the study."""
    path = Path(__file__).resolve().parents[2] / "docs" / "studies" / "screening.py"
    spec = importlib.util.spec_from_file_location("screening_study", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["screening_study"] = module
    spec.loader.exec_module(module)
    return module


def planted(seed: int = 1, raters: int = 5) -> tuple[Pilot, dict[str, str]]:
    module = study()
    return module.planted(module.Design(raters, module.SMALL), np.random.default_rng(seed))


def answers(question: str, scale: Scale, table: np.ndarray) -> Answers:
    """From a table (items, pools, raters), NaN where there is no answer."""
    item, pool, rater = np.nonzero(~np.isnan(table))
    return Answers(question, scale, item, pool * table.shape[2] + rater, pool, table[item, pool, rater])


def by_hand(
    evaluation: np.ndarray,
    subjectivity: np.ndarray | None = None,
    checklist: np.ndarray | None = None,
    *,
    pools: Sequence[str] = ("us", "cn"),
    concepts: Sequence[str] | None = None,
    scale: Scale = FIVE,
) -> Pilot:
    """A pilot from tables (items, pools, raters); the items of a pair stand one after the other."""
    count = len(evaluation)
    names = list(concepts or [f"c{place // 2}" for place in range(count)])
    items = tuple(ConceptItem(f"{name}-{place}", name, "food", str(place), "x") for place, name in enumerate(names))
    return Pilot(
        items,
        tuple(pools),
        answers("q1", scale, evaluation),
        None if subjectivity is None else answers("q3", FIVE, subjectivity),
        None if checklist is None else answers("usable", YES_NO, checklist),
    )


def shuffled(pilot: Pilot, rng: np.random.Generator) -> Pilot:
    """The same pilot with items, pools, raters and answers in another order."""
    order, pools = rng.permutation(len(pilot.items)), rng.permutation(len(pilot.pools))
    places, pool_places = np.argsort(order), np.argsort(pools)
    ids = rng.permutation(10_000)

    def moved(one: Answers | None) -> Answers | None:
        if one is None:
            return None
        rows = rng.permutation(len(one.item))
        parts = (places[one.item], ids[one.rater], pool_places[one.pool], one.value)
        return Answers(one.question, one.scale, *(part[rows] for part in parts))

    return replace(
        pilot,
        items=tuple(pilot.items[place] for place in order),
        pools=tuple(pilot.pools[place] for place in pools),
        evaluation=moved(pilot.evaluation),
        subjectivity=moved(pilot.subjectivity),
        checklist=moved(pilot.checklist),
    )


def thinned(pilot: Pilot, share: float, rng: np.random.Generator) -> Pilot:
    """The same pilot without some of its answers, so that items have different numbers of raters."""

    def some(one: Answers | None) -> Answers | None:
        if one is None:
            return None
        kept = rng.random(len(one.item)) >= share
        return Answers(one.question, one.scale, *(part[kept] for part in (one.item, one.rater, one.pool, one.value)))

    asked = {name: some(getattr(pilot, name)) for name in ("evaluation", "subjectivity", "checklist")}
    return replace(pilot, **asked)


def numbers(screening: Screening) -> dict[str, dict[str, tuple[object, ...]]]:
    """concept -> measure -> verdict and numbers, rounded."""
    return {
        pair.concept: {
            one.name: (one.verdict, one.undefined, one.n, *(_rounded(v) for v in (one.value, one.low, one.high)))
            for one in pair.measures
        }
        for pair in screening.pairs
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9) + 0.0


def folder_of(pilot: Pilot, place: Path) -> tuple[Path, Path, Path]:
    """A folder with the concepts, and the ratings and the checklist as tables."""
    from tests.construction.building import build_text, row

    rows = [row(item.concept, item.culture) for item in pilot.items]
    make(place, rows, build_text())
    ratings, checklist = place / "pilot.csv", place / "checklist.csv"
    asked = [one for one in (pilot.evaluation, pilot.subjectivity) if one is not None]
    pl.concat([long_table(pilot, one) for one in asked]).write_csv(ratings)
    if pilot.checklist is not None:
        told = long_table(pilot, pilot.checklist).drop("question", "pool")
        told.with_columns(pl.col("rating").replace_strict({1: "stereotype", 0: "usable"})).write_csv(checklist)
    questions = [("question", "role", "min", "max"), ("q1", "evaluation", 1, 5), ("q3", "subjectivity", 1, 5)]
    with (place / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(questions)
    return place, ratings, checklist


def long_table(pilot: Pilot, one: Answers) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "item_id": [pilot.items[place].id for place in one.item],
            "rater_id": [f"r{rater}" for rater in one.rater],
            "pool": [pilot.pools[place] for place in one.pool],
            "question": [one.question] * len(one.item),
            "rating": one.value.astype(int),
        }
    )


def plain(folder: Path, rows: Mapping[str, Sequence[object]]) -> Path:
    """A folder with one concept, and a table of ratings made of columns."""
    make(folder, pairs("tea"))
    pl.DataFrame(rows).write_csv(folder / "ratings.csv")
    return folder
