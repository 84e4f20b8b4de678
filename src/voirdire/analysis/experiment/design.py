"""What the columns of a factorial run mean: personas, languages, demonstrations, and which cells match.

A factor gets its part by its name or by ``factor_roles``; a persona speaks for the pool of its name or of ``personas``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.experiment.persona_levels import NOTHING, read_personas
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.naming import level_name, levels_of
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.selections import is_crossed
from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.errors import UsageError

Mask = npt.NDArray[np.bool_]
ALL, BLANK = "*", "-"
ROLES: Mapping[str, tuple[str, ...]] = {
    "persona": ("persona", "personas", "perspective", "identity"),
    "language": ("language", "lang", "prompt_language"),
    "detail": ("detail", "persona_detail"),
    "demonstrations": ("design", "demonstrations", "demonstration", "icl", "shots"),
}


@dataclass(frozen=True)
class Block:
    """Cells that are analysed together: one level of the demonstrations, or all cells.

    name : the condition of its rows (``design=base`` or ``*``); mask : (C,), False for controls
    level : the level of the demonstrations; None for all cells
    """

    name: str
    mask: Mask
    level: str | None = None


@dataclass(frozen=True)
class Design:
    """The factorial design of the cells of one question.

    persona, language, detail, demonstrations : the columns in these parts, None where there is none
    pool_of : level of the persona -> pool; neutral : its levels without a persona
    baseline : the level without demonstrations
    blocks : the baseline first
    frame : one row per real cell, in their order: judge, condition, factors, covariates (text), and ``_stem``, the
        condition without the levels of the extra key columns
    n_cells : C, with controls; key_factors : the extra key columns
    notes : what was concluded about the personas, or is missing
    """

    persona: str | None
    pool_of: Mapping[str, str]
    neutral: frozenset[str]
    language: str | None
    detail: str | None
    demonstrations: str | None
    baseline: str | None
    factors: tuple[str, ...]
    covariates: tuple[str, ...]
    blocks: tuple[Block, ...]
    frame: pl.DataFrame
    n_cells: int
    key_factors: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def judges(self) -> list[str]:
        """The judges, in order."""
        return self.frame["judge"].unique(maintain_order=True).to_list()

    @property
    def other_factors(self) -> tuple[str, ...]:
        """Factors without a part of their own."""
        known = {self.persona, self.language, self.detail, self.demonstrations}
        return tuple(name for name in self.factors if name not in known)

    @property
    def told(self) -> dict[str, Any]:
        """The design in words of JSON, for a profile's meta data: blocks and personas by the names of their rows."""
        levels = [] if self.persona is None else self.levels(self.persona)
        return {
            **{name: getattr(self, name) for name in ("persona", "language", "detail", "demonstrations", "baseline")},
            "personas": {level: self.pool_of[level] for level in levels if level in self.pool_of},
            "neutral": [level for level in levels if level in self.neutral],
            "other_factors": list(self.other_factors),
            "blocks": [block.name for block in self.blocks],
        }

    def levels(self, column: str) -> list[str]:
        """The levels of a factor or covariate that occur."""
        return [level for level in self.frame[column].unique(maintain_order=True).to_list() if level is not None]

    def mask(self, within: Mask | None = None, /, **levels: str) -> Mask:
        """(C,) real cells with these levels of columns (``judge="m", persona="us"``)."""
        found = np.zeros(self.n_cells, dtype=bool)
        found[: self.frame.height] = True
        for column, level in levels.items():
            found[: self.frame.height] &= (self.frame[column] == level).fill_null(False).to_numpy()
        return found if within is None else found & within

    def judge_axis(self) -> dict[str, Mask]:
        """The judges that an effect is given for: ``*``, each judge and each level of a covariate, with its cells."""
        axis = {ALL: self.mask(), **{name: self.mask(judge=name) for name in self.judges}}
        for covariate in self.covariates:
            for level in self.levels(covariate):
                axis[level_name(covariate, level)] = self.mask(None, **{covariate: level})
        return axis

    def persona_masks(self, within: Mask) -> dict[str, Mask]:
        """Pool -> the cells whose persona is of this pool; ``""`` -> those without a persona."""
        if self.persona is None:
            return {}
        masks: dict[str, Mask] = {}
        for level in self.levels(self.persona):
            pool = "" if level in self.neutral else self.pool_of.get(level)
            if pool is not None:
                mask = self.mask(within, **{self.persona: level})
                masks[pool] = masks[pool] | mask if pool in masks else mask
        return {pool: mask for pool, mask in masks.items() if mask.any()}

    def matched(self, factor: str, within: Mask) -> list[npt.NDArray[np.int64]]:
        """Groups of cells that are equal in judge and every other factor and differ in this one.

        The levels of an extra key column are matched within each condition, whose factors may be unknown.
        """
        rest = [name for name in ("judge", *self.factors) if name != factor]
        rest += ["_stem"] if factor in self.key_factors else []
        places = np.flatnonzero(within[: self.frame.height])
        frame = self.frame[places].with_columns(pl.Series("_place", places))
        groups = frame.group_by(rest, maintain_order=True).agg(pl.col("_place"))["_place"]
        return [np.array(group, dtype=np.int64) for group in groups.to_list() if len(group) > 1]


@dataclass(frozen=True)
class Experiment:
    """One question's factorial run.

    others : contexts of the questions by role (``recognizability``), where they were asked
    fits, kept : what its parts have computed for each other
    """

    context: Context
    judged: Judged
    design: Design
    corpus: Corpus
    others: Mapping[str, Context]
    fits: dict[Any, Any] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def cultures(self) -> dict[str, str]:
        """Level of the items' culture -> its slice."""
        names = [name for name in self.context.slices if name.startswith("culture=") and not is_crossed(name)]
        return {levels_of(name)[0][1]: name for name in names}


def read_design(judgments: Judgments, judged: Judged, pools: tuple[str, ...], options: AuditOptions) -> Design:
    """The design of the cells of a question.

    Raises UsageError for a role, column, persona level or pool that does not exist, and two roles of one column.
    """
    covered = judged.cells.frame.join(judgments.judges, on="judge", how="left", maintain_order="left")
    frame = covered.with_columns(pl.all().cast(pl.String))
    frame = frame.with_columns(_stem=_stems(frame, judgments.key_factors))
    factors = tuple(name for name in judgments.factors if frame[name].n_unique() > 1)
    parts = _parts(frame, factors, judgments.factors, options)
    persona = parts["persona"] or _names_pools(frame, factors, pools, set(parts.values()))
    frame = _blanks_named(frame, [persona, parts["demonstrations"]], judgments)
    personas = read_personas(frame, persona, pools, options)
    n_cells = len(judged.cube)
    demonstrations = parts["demonstrations"]
    baseline = _baseline(frame, demonstrations)
    return Design(
        persona,
        personas.pool_of,
        personas.neutral,
        parts["language"],
        parts["detail"],
        demonstrations,
        baseline,
        factors,
        tuple(name for name in judgments.covariates if frame[name].drop_nulls().n_unique() > 1),
        _blocks(frame, demonstrations, baseline, n_cells),
        frame,
        n_cells,
        tuple(judgments.key_factors),
        personas.notes,
    )


def _blanks_named(frame: pl.DataFrame, columns: list[str | None], judgments: Judgments) -> pl.DataFrame:
    """A blank persona or design of demonstrations as ``-``, as conditions are named: a cell without any.

    A condition that its table does not list is not blank but unknown, and keeps no level.
    """
    own = [pl.col(name).is_not_null() for name in judgments.factors if name not in judgments.key_factors]
    unlisted = any(note.key.endswith("conditions_unlisted") for note in judgments.notes)
    listed = pl.any_horizontal(own) if unlisted and own else pl.lit(True)
    for name in filter(None, columns):
        known = pl.lit(True) if name in judgments.key_factors else listed
        frame = frame.with_columns(
            pl.when(known).then(pl.col(name).fill_null(BLANK)).otherwise(pl.col(name)).alias(name)
        )
    return frame


def _stems(frame: pl.DataFrame, key_factors: tuple[str, ...]) -> pl.Series:
    """The conditions without the levels of the extra key columns, which stand behind them."""
    if not key_factors:
        return frame["condition"]
    tails = frame.select(
        pl.concat_str([pl.col(name).fill_null(BLANK) for name in key_factors], separator="/")
    ).to_series()
    stems = [name.removesuffix(tail).removesuffix("/") for name, tail in zip(frame["condition"], tails, strict=True)]
    return pl.Series(stems, dtype=pl.String)


def _parts(
    frame: pl.DataFrame, factors: tuple[str, ...], known: tuple[str, ...], options: AuditOptions
) -> dict[str, str | None]:
    given = dict(options.factor_roles)
    for role, named in given.items():
        if role not in ROLES:
            raise UsageError("audit.role_unknown", value=role, known=", ".join(ROLES))
        if named not in known:
            raise UsageError("audit.role_column", role=role, value=named, known=", ".join(known))
        if len(roles := [one for one, column in options.factor_roles if column == named]) > 1:
            raise UsageError("audit.role_twice", value=named, roles=", ".join(roles))
    parts: dict[str, str | None] = {}
    for role, wanted in ROLES.items():
        free = (name for like in wanted for name in factors if name.lower() == like and name not in given.values())
        column: str | None = given.get(role) or next(free, None)
        parts[role] = column if column is not None and frame[column].n_unique() > 1 else None
    return parts


def _names_pools(
    frame: pl.DataFrame, factors: tuple[str, ...], pools: tuple[str, ...], taken: set[str | None]
) -> str | None:
    """The first factor whose levels are named as two or more pools."""
    lower = {pool.lower() for pool in pools}
    for name in factors:
        if name not in taken and len({level.lower() for level in frame[name].drop_nulls()} & lower) > 1:
            return name
    return None


def _baseline(frame: pl.DataFrame, demonstrations: str | None) -> str | None:
    if demonstrations is None:
        return None
    levels = frame[demonstrations].drop_nulls().unique(maintain_order=True).to_list()
    return next((level for level in sorted(levels) if level.lower() in NOTHING), None)


def _blocks(frame: pl.DataFrame, demonstrations: str | None, baseline: str | None, n_cells: int) -> tuple[Block, ...]:
    every = np.zeros(n_cells, dtype=bool)
    every[: frame.height] = True
    if demonstrations is None:
        return (Block(ALL, every),)
    levels = frame[demonstrations].drop_nulls().unique(maintain_order=True).to_list()
    levels.sort(key=lambda level: (level != baseline, level if baseline is None else ""))
    blocks = []
    for level in levels:
        mask = np.zeros(n_cells, dtype=bool)
        mask[: frame.height] = (frame[demonstrations] == level).fill_null(False).to_numpy()
        blocks.append(Block(level_name(demonstrations, level), mask, level))
    return tuple(blocks)
