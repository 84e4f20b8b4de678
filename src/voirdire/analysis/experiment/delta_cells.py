"""Per-cell delta of every item as the outcome of a regression, and covariates of judges as its regressors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Mask
from voirdire.analysis.experiment.design import Block, Design, Experiment
from voirdire.analysis.judge_rows import excluded_of, lacking_items
from voirdire.analysis.selections import Selections
from voirdire.signature import pairs
from voirdire.stats.features import Array, Features
from voirdire.stats.regression import ItemCube, dummies

TWO = 2


@dataclass(frozen=True)
class Regressor:
    """A covariate as numbers (C real cells), NaN where it is unknown.

    level : the level that is held against all others; None for a number, whose coefficient is per unit
    """

    covariate: str
    level: str | None
    values: Array

    @property
    def told(self) -> dict[str, str]:
        """``covariate`` and ``level``, as rows name them."""
        return {"covariate": self.covariate, **({} if self.level is None else {"level": self.level})}

    def params(self, **more: str) -> str:
        """The params of a row."""
        return pairs({**self.told, **more})


def regressors(design: Design, covariate: str) -> list[Regressor]:
    """A covariate that is a number; the second of two levels (in their order); each of more levels against the rest.

    None of a text whose levels are more than two and each of one judge: that is the judge by another name.
    """
    number = numbers_of(design, covariate)
    if number is not None:
        return [Regressor(covariate, None, number)]
    texts = design.frame[covariate]
    known = texts.is_not_null().to_numpy()
    levels = sorted(design.levels(covariate))
    by_judge = design.frame.select("judge", covariate).drop_nulls().unique()
    if len(levels) > TWO and by_judge.height == len(levels):
        return []
    told = levels[1:] if len(levels) == TWO else levels
    return [Regressor(covariate, level, _indicator(texts, level, known)) for level in told]


def numbers_of(design: Design, covariate: str) -> Array | None:
    """(C real cells) a covariate whose known levels are all numbers, NaN where it is unknown; None for a text."""
    texts = design.frame[covariate]
    numbers = texts.cast(pl.Float64, strict=False)
    if not numbers.is_finite().fill_null(False).filter(texts.is_not_null()).all():
        return None
    return numbers.fill_null(np.nan).to_numpy().astype(float)


def _indicator(texts: pl.Series, level: str, known: Mask) -> Array:
    return np.where(known, (texts == level).fill_null(False).to_numpy().astype(float), np.nan)


def regressed_slices(experiment: Experiment) -> dict[str, Mask]:
    """The slices in which regressions are fitted: all items, and each image culture."""
    slices = experiment.context.slices
    return {name: slices[name] for name in ("all", *experiment.cultures.values())}


class DeltaCells:
    """abs(r - m_a) - abs(r - m_b) of the real cells on every item, the mean over repeats."""

    def __init__(self, experiment: Experiment, pair: tuple[int, int]) -> None:
        context, judged = experiment.context, experiment.judged
        self.experiment, self.pair = experiment, pair
        self.frame = experiment.design.frame
        features = Features(context.panel.arrays, judged.cube[: judged.n_cells])
        self.totals = features.get("error_difference", pair)
        self.counts = features.get("judged", pair)
        self.usable: Mask = ~judged.rank_only[: judged.n_cells]

    def cells(self, block: Block) -> Mask:
        """(C real cells) of a block, less those on another scale."""
        return block.mask[: len(self.usable)] & self.usable

    def cube(self, cells: Mask, items: Mask) -> ItemCube:
        """The outcome of some cells on some items."""
        return ItemCube.of(self.totals[np.ix_(cells, items)], self.counts[np.ix_(cells, items)])

    def dummies(self, column: str, cells: Mask) -> tuple[Array, list[str]]:
        """Dummies of a column's levels for some cells."""
        return dummies(self.frame[column].filter(pl.Series(cells)).to_list())

    def excluded(self, block: Block, cells: Mask, items: Mask) -> str:
        """What of a block's judgments does not enter: missing ones, and those of cells left out, by reason."""
        judged = self.experiment.judged
        matrix = np.zeros((1, len(judged.cube)))
        matrix[0, : len(cells)] = cells
        none = np.zeros(1, dtype=bool)
        counted = excluded_of(judged, Selections(("*",), (block.name,), matrix, none, none), items)
        lacking = lacking_items(self.experiment.context, self.pair, items)[0]
        whole = block.mask[: len(cells)]
        left: Mapping[str, npt.NDArray[np.bool_]] = {
            "other_scale": whole & ~self.usable,
            "covariate_unknown": whole & self.usable & ~cells,
        }
        counts = {reason: int(self.counts[np.ix_(mask, items)].sum()) for reason, mask in left.items()}
        parts = [*counted.texts(lacking), *(f"{reason}={count}" for reason, count in counts.items() if count)]
        return ";".join(part for part in parts if part)

    def place(self, block: Block, name: str) -> dict[str, str]:
        """The place of a row about all judges of a block in a slice."""
        context = self.experiment.context
        return {
            "question": context.panel.question.id,
            "judge": "*",
            "condition": block.name,
            "slice": name,
            **context.names(self.pair),
        }
