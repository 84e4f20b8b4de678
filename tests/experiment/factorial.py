"""A small factorial run and its judgments as plain rows, so that every effect can be computed by a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from tests.analysis import builders

from voirdire.analysis.evaluate import contexts_of, judged_cells, source_of
from voirdire.analysis.experiment.design import Experiment, read_design
from voirdire.analysis.profile import Profile
from voirdire.analysis.rows import Table
from voirdire.corpus.corpus import Corpus, Judgments

CULTURES = ("us", "cn")
CATEGORIES = ("food", "arch")
PERSONAS = ("none", "us", "cn")
LANGUAGES = ("en", "zh")
DESIGNS = ("base", "aa")
ORIGIN = {"j0": "us", "j1": "us", "j2": "cn"}


@dataclass(frozen=True)
class Row:
    """One judgment with what is known of its item, judge and condition."""

    item: int
    judge: str
    condition: str
    rating: float
    levels: Mapping[str, str]


@dataclass(frozen=True)
class Factorial:
    """Items in cultures and categories, pools of three raters or more, judges by persona, language, detail and design.

    lost : share of judgments missing at random; drop : cells that were not run
    """

    seed: int = 0
    n_items: int = 24
    n_raters: int = 3
    pools: tuple[str, ...] = ("us", "cn")
    lost: float = 0.0
    drop: Callable[[str, Mapping[str, str]], bool] = lambda judge, levels: False
    judge: Callable[[np.random.Generator, str, Mapping[str, str], np.ndarray], np.ndarray] | None = None
    cultures: tuple[str, ...] = CULTURES
    languages: tuple[str, ...] = LANGUAGES
    designs: tuple[str, ...] = DESIGNS
    judges: Mapping[str, str] = field(default_factory=lambda: ORIGIN)

    @cached_property
    def raters(self) -> dict[str, np.ndarray]:
        """Pool -> (items, 3) ratings."""
        rng = np.random.default_rng([self.seed, 1])
        return {
            pool: np.clip(
                rng.integers(1, 6, (self.n_items, 1)) + rng.integers(-1, 2, (self.n_items, self.n_raters)), 1, 5
            )
            for pool in self.pools
        }

    @cached_property
    def consensus(self) -> dict[str, np.ndarray]:
        """Pool -> (items,) mean."""
        return {pool: ratings.mean(1) for pool, ratings in self.raters.items()}

    def culture(self, item: int) -> str:
        """A third of the items is of the first culture, so that strata are unbalanced."""
        return self.cultures[0] if item % 3 == 0 else self.cultures[1 + item % (len(self.cultures) - 1)]

    def category(self, item: int) -> str:
        """Every other pair of items is food."""
        return CATEGORIES[item // 2 % 2]

    def conditions(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Names and levels: a persona is basic or advanced, none has no detail."""
        for design in self.designs:
            for persona in PERSONAS:
                for detail in ("none",) if persona == "none" else ("basic", "advanced"):
                    for language in self.languages:
                        levels = {"persona": persona, "detail": detail, "language": language, "design": design}
                        yield "_".join(levels.values()), levels

    @cached_property
    def rows(self) -> list[Row]:
        """The judgments that exist."""
        rng = np.random.default_rng([self.seed, 2])
        rows = []
        for judge in self.judges:
            for condition, levels in self.conditions():
                if self.drop(judge, levels):
                    continue
                ratings = self._ratings(rng, judge, levels)
                kept = rng.random(self.n_items) >= self.lost
                rows += [
                    Row(item, judge, condition, float(ratings[item]), {"origin": self.judges[judge], **levels})
                    for item in np.flatnonzero(kept)
                ]
        return rows

    def _ratings(self, rng: np.random.Generator, judge: str, levels: Mapping[str, str]) -> np.ndarray:
        us, cn = self.consensus[self.pools[0]], self.consensus[self.pools[1]]
        if self.judge is not None:
            return self.judge(rng, judge, levels, np.stack([us, cn]))
        weight = {"none": 0.5, "us": 0.3, "cn": 0.75}[levels["persona"]]
        latent = (1 - weight) * us + weight * cn + rng.normal(0, 0.8, self.n_items)
        return np.clip(np.rint(latent), 1, 5)

    def tables(self) -> tuple[Corpus, Judgments]:
        """The corpus and its judgments."""
        given = [
            (f"i{item:03}", f"{pool}{k}", pool, float(value))
            for pool, ratings in self.raters.items()
            for item, values in enumerate(ratings)
            for k, value in enumerate(values)
        ]
        places = range(self.n_items)
        items = pl.DataFrame(
            {
                "item_id": [f"i{item:03}" for item in places],
                "culture": [self.culture(item) for item in places],
                "category": [self.category(item) for item in places],
            }
        )
        judged = [(f"i{row.item:03}", row.judge, row.condition, 0, row.rating, "ok") for row in self.rows]
        known = dict(self.conditions())
        factors = {
            name: {condition: levels[name] for condition, levels in known.items()}
            for name in ("persona", "detail", "language", "design")
        }
        corpus = builders.corpus(given, pools=self.pools, items=items)
        return corpus, builders.judgments(judged, factors=factors, covariates={"origin": dict(self.judges)})

    def run(self, *parts: Callable[[Experiment], None], **options: Any) -> pl.DataFrame:
        """The rows of some parts of the experiment's analysis, checked."""
        corpus, judgments = self.tables()
        table = Table(source_of(corpus, judgments))
        (context,) = contexts_of(corpus, replace(builders.QUICK, **options), table)
        judged = judged_cells(context, corpus, judgments)
        design = read_design(judgments, judged, context.pools, context.options)
        for part in parts:
            part(Experiment(context, judged, design, corpus, {}))
        frame = table.frame()
        builders.check(Profile(frame, {}, None, None))
        return frame

    def within(self, row: Row, slice_name: str) -> bool:
        """Whether a row is of a slice (``all``, ``culture=cn``, ``culture=cn&category=food``)."""
        known = {"culture": self.culture(row.item), "category": self.category(row.item)}
        parts = [] if slice_name == "all" else [part.split("=") for part in slice_name.split("&")]
        return all(known[column] == level for column, level in parts)

    def select(self, slice_name: str = "all", judge: str = "*", **levels: str) -> list[Row]:
        """The rows of a slice, of a judge, covariate level or all, with these levels of factors."""
        wanted = dict(levels)
        if "=" in judge:
            wanted |= dict([judge.split("=")])
        return [
            row
            for row in self.rows
            if self.within(row, slice_name)
            and (judge == "*" or "=" in judge or row.judge == judge)
            and all(row.levels[name] == level for name, level in wanted.items())
        ]

    def tilt(self, rows: list[Row], a: str = "us", b: str = "cn") -> float:
        """T by a loop."""
        values = []
        for row in rows:
            first, second = self.consensus[a][row.item], self.consensus[b][row.item]
            if abs(first - second) > 1e-9:
                values.append(np.clip((2 * row.rating - first - second) / (first - second), -1, 1))
        return float(np.mean(values))

    def mae(self, rows: list[Row], pool: str) -> float:
        """MAE by a loop."""
        return float(np.mean([abs(row.rating - self.consensus[pool][row.item]) for row in rows]))

    def pearson(self, rows: list[Row], pool: str) -> float:
        """Pearson of one cell."""
        return float(np.corrcoef([row.rating for row in rows], [self.consensus[pool][row.item] for row in rows])[0, 1])


def found(frame: pl.DataFrame, statistic: str, **place: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Rows of a statistic at a place by judge, condition and slice."""
    rows = frame.filter(pl.col("statistic") == statistic, *(pl.col(name) == value for name, value in place.items()))
    by_place = {(row["judge"], row["condition"], row["slice"]): row for row in rows.iter_rows(named=True)}
    assert len(by_place) == rows.height
    return by_place


def undefined(frame: pl.DataFrame, statistic: str) -> set[str | None]:
    """Why the rows of a statistic have no value; None for those that have one."""
    return set(frame.filter(pl.col("statistic") == statistic)["undefined"])
