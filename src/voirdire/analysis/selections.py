"""Selections of cells and slices of items: what a profile computes without being asked, and on request."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.naming import level_name, levels_of
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.errors import InputError, UsageError
from voirdire.stats.features import Array

CELLS_IN_SLICES = 60
LEAST_LEVELS, MOST_LEVELS = 2, 12
NEVER_SLICED = ("true_", "label_", "prompt", "text", "image", "alt.")
NOT_A_SLICE = frozenset({"item_id", "pair_id", "counterpart", "id", "min", "max", "level"})
ALL = "*"
_GIVEN = {"anchor": "anchor_given"}


@dataclass(frozen=True)
class Selections:
    """S selections of C cells.

    judges, conditions : (S,) how each is named; matrix : (S, C) 0/1; full : (S,) whether it is one full cell
    fine : (S,) full cells, and levels of a factor for one judge or within a level of an extra key column: what is
        left out of crossed slices, unless it was asked for
    """

    judges: tuple[str, ...]
    conditions: tuple[str, ...]
    matrix: Array
    full: npt.NDArray[np.bool_]
    fine: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.judges)

    def keep(self, mask: npt.NDArray[np.bool_]) -> Selections:
        """Some of the selections."""
        chosen = np.flatnonzero(mask)
        return Selections(
            tuple(self.judges[s] for s in chosen),
            tuple(self.conditions[s] for s in chosen),
            self.matrix[chosen],
            self.full[chosen],
            self.fine[chosen],
        )


def select(judgments: Judgments, cells: pl.DataFrame, asked: Iterable[str] = ()) -> Selections:
    """The selections of a profile.

    All cells; each judge and level of a covariate by each level of a factor (within each level of the extra key
    columns); every full cell; and the selections asked for.
    """
    covered = cells.join(judgments.judges, on="judge", how="left", maintain_order="left")
    covered = covered.with_columns(pl.col(judgments.key_factors).cast(pl.String).fill_null("-"))
    judge_axis = {ALL: pl.lit(True)}
    judge_axis |= {name: pl.col("judge") == name for name in _unique(covered, "judge")}
    covariates = _levels(covered, judgments.covariates)
    for name in judge_axis.keys() & covariates.keys():
        if covered.select((judge_axis[name] != covariates[name].fill_null(False)).any()).item():
            raise InputError("audit.selection_twice", judge=name, condition=ALL)
    judge_axis |= covariates
    coarse = {ALL: pl.lit(True), **_levels(covered, judgments.key_factors)}
    condition_axis = {**coarse, **_levels(covered, judgments.factors), **_nested(covered, judgments)}
    conditions = {name: pl.col("condition") == name for name in _unique(covered, "condition")}
    terms = [
        Term(j, c, je & ce, fine=c not in coarse and (j != ALL or "&" in c))
        for j, je in judge_axis.items()
        for c, ce in condition_axis.items()
    ]
    terms += [
        Term(j, c, judge_axis[j] & ce, full=j != ALL, fine=True)
        for c, ce in conditions.items()
        for j in [ALL, *_unique(covered, "judge")]
    ]
    wanted = [_asked(covered, term, judgments) for term in asked]
    names = {(term.judge, term.condition) for term in wanted}
    terms = [replace(term, fine=False) if (term.judge, term.condition) in names else term for term in terms]
    return _build(covered, [*terms, *wanted])


@dataclass(frozen=True)
class Term:
    """A selection before it is applied: its names on the two axes and the expression over cells."""

    judge: str
    condition: str
    expression: pl.Expr
    full: bool = False
    fine: bool = False


def _build(covered: pl.DataFrame, terms: list[Term]) -> Selections:
    columns = covered.select([term.expression.alias(str(place)) for place, term in enumerate(terms)])
    matrix = np.zeros((len(terms), covered.height))
    for place in range(len(terms)):
        matrix[place] = columns[str(place)].fill_null(False).to_numpy()
    seen: dict[tuple[str, str], int] = {}
    for place, term in enumerate(terms):
        if matrix[place].any():
            name = (term.judge, term.condition)
            if name in seen and (matrix[seen[name]] != matrix[place]).any():
                raise InputError("audit.selection_twice", judge=term.judge, condition=term.condition)
            if name not in seen or (term.full and not terms[seen[name]].full):
                seen[name] = place
    kept = [terms[place] for place in seen.values()]
    return Selections(
        tuple(term.judge for term in kept),
        tuple(term.condition for term in kept),
        matrix[list(seen.values())],
        np.array([term.full for term in kept], dtype=bool),
        np.array([term.fine for term in kept], dtype=bool),
    )


def _unique(frame: pl.DataFrame, column: str) -> list[str]:
    return frame[column].cast(pl.String).unique(maintain_order=True).to_list()


def _levels(frame: pl.DataFrame, columns: Iterable[str]) -> dict[str, pl.Expr]:
    return {
        level_name(column, level): pl.col(column).cast(pl.String) == level
        for column in columns
        for level in _unique(frame, column)
        if level is not None
    }


def _nested(frame: pl.DataFrame, judgments: Judgments) -> dict[str, pl.Expr]:
    inner = _levels(frame, (name for name in judgments.factors if name not in judgments.key_factors))
    outer = _levels(frame, judgments.key_factors)
    return {f"{i}&{o}": ie & oe for o, oe in outer.items() for i, ie in inner.items()}


def _asked(frame: pl.DataFrame, term: str, judgments: Judgments) -> Term:
    """The selection that ``judge=x&persona=us`` asks for."""
    judge_side: list[str] = []
    condition_side: list[str] = []
    expression = pl.lit(True)
    for column, level in levels_of(term):
        column = column.strip()
        known = ("judge", "condition", *judgments.factors, *judgments.covariates)
        if column not in known:
            raise UsageError("audit.select_unknown", value=term, column=column, known=", ".join(known))
        level = level if level in _unique(frame, column) else level.strip()
        if level not in _unique(frame, column):
            raise UsageError("audit.select_level", value=term, column=column, level=level)
        name = level if column in ("judge", "condition") else level_name(column, level)
        (judge_side if column == "judge" or column in judgments.covariates else condition_side).append(name)
        expression = expression & (pl.col(column).cast(pl.String) == level)
    return Term("&".join(judge_side) or ALL, "&".join(condition_side) or ALL, expression)


def item_slices(
    corpus: Corpus, rows: npt.NDArray[np.int64], asked: Iterable[str] = (), things: Container[str] = ()
) -> dict[str, npt.NDArray[np.bool_]]:
    """Slice name -> (I,) mask: ``all``, each level of a slicing column, and culture x category.

    things : columns that name the two things of a pairwise vote, which are sliced by when asked for only

    A column ``anchor`` of the items is called ``anchor_given``: the slices of anchor classes have that name.
    """
    items = corpus.items[rows]
    slices = {"all": np.ones(items.height, dtype=bool)}
    asked = tuple(asked)
    for column in asked:
        if column not in items.columns:
            raise UsageError("audit.slice_unknown", column=column, known=", ".join(items.columns))
    free = [column for column in items.columns if column not in things and slicing_column(items[column])]
    columns = [column for column in items.columns if column in asked or column in free]
    levels = {column: _level_masks(items[column]) for column in columns}
    for column, masks in levels.items():
        slices |= {level_name(_GIVEN.get(column, column), level): mask for level, mask in masks.items()}
    for culture, first in levels.get("culture", {}).items():
        for category, second in levels.get("category", {}).items():
            if (first & second).any():
                slices[f"{level_name('culture', culture)}&{level_name('category', category)}"] = first & second
    return slices


def is_crossed(name: str) -> bool:
    """Whether a slice is a level of culture within a level of category.

    >>> is_crossed("culture=cn&category=food"), is_crossed("category=food & drink")
    (True, False)
    """
    return name.startswith("culture=") and "&category=" in name


def slicing_column(column: pl.Series) -> bool:
    """Whether items are sliced by a column without being asked: 2 to 12 levels that are not numbers.

    >>> slicing_column(pl.Series("culture", ["us", "cn", "us"])), slicing_column(pl.Series("true_x", ["a", "b"]))
    (True, False)
    """
    name = column.name
    if name in NOT_A_SLICE or name.endswith("_id") or name.startswith(NEVER_SLICED):
        return False
    if column.dtype.is_numeric():
        return False
    levels = column.alias("level").cast(pl.String).drop_nulls().unique()
    if not LEAST_LEVELS <= levels.len() <= MOST_LEVELS:
        return False
    return levels.cast(pl.Float64, strict=False).null_count() > 0


def _level_masks(column: pl.Series) -> dict[str, npt.NDArray[np.bool_]]:
    texts = column.cast(pl.String)
    return {level: (texts == level).fill_null(False).to_numpy() for level in texts.drop_nulls().unique().sort()}
