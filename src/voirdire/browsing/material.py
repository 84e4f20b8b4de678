"""A question of an audit as arrays again, from the item-level tables beside its profile.

What is computed from them goes through the same code as the audit: its features, its statistics, its slices and
selections, and its draws of items. Shapes: K pools, I items, C cells, R repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context, Mask, scale_codes
from voirdire.analysis.evaluate import columns_of_things
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.panels import Panel
from voirdire.analysis.rows import Table
from voirdire.analysis.selections import Selections, item_slices, select
from voirdire.browsing.compared import Compared
from voirdire.corpus.corpus import Corpus, Judgments, Question
from voirdire.scales import Scale
from voirdire.stats.agreement import anchor_classes
from voirdire.stats.features import Array, Features, PoolArrays, ScaleCuts, cuts_of

NOTHING = Selections((), (), np.zeros((0, 0)), np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))


@dataclass(frozen=True)
class Material:
    """One question of an audit.

    ids : (I,) its items, sorted, as the audit has them; context : pools, options and slices, without single raters
    cube : (C, I, R) ratings of the judges' cells, NaN where there is none; selections : of the C cells, by their names
    repeats : (C, I, R) which repeat each rating is of
    """

    ids: tuple[str, ...]
    context: Context
    cube: Array
    selections: Selections
    repeats: npt.NDArray[np.int64]

    @property
    def arrays(self) -> PoolArrays:
        """The pools."""
        return self.context.panel.arrays

    @property
    def options(self) -> AuditOptions:
        """The options of the audit."""
        return self.context.options

    @property
    def draws_raters(self) -> bool:
        """Whether the audit's intervals draw raters too, of whom these tables tell nothing."""
        return self.options.resample != "items" and not self.context.panel.question.scale.nominal

    @property
    def codes(self) -> frozenset[str]:
        """Which declared needs of statistics the question meets."""
        return scale_codes(self.context.panel)

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """(C,) judge and condition of every cell."""
        names = [("", "")] * len(self.cube)
        for place in np.flatnonzero(self.selections.full):
            for cell in np.flatnonzero(self.selections.matrix[place]):
                names[cell] = (self.selections.judges[place], self.selections.conditions[place])
        return tuple(names)

    def cells(self, judge: str, condition: str) -> np.ndarray | None:
        """The cells of a selection by the names that it has in the estimates; None where it is not known."""
        for place, names in enumerate(zip(self.selections.judges, self.selections.conditions, strict=True)):
            if names == (judge, condition):
                return np.flatnonzero(self.selections.matrix[place])
        return None


def material(meta: Mapping[str, Any], compared: Compared, question: str) -> Material | None:
    """The arrays of a question from the meta data of a profile and its tables; None where they do not hold it."""
    told = next((entry for entry in meta["questions"] if entry["id"] == question), None)
    consensus = compared.consensus.filter(pl.col("question") == question)
    judged = compared.judgments.filter(pl.col("question") == question)
    if told is None or consensus.is_empty():
        return None
    asked = Question(question, _scale(told), told.get("role"))
    pools = tuple(pool["name"] for pool in meta["pools"])
    ids = pl.concat([consensus["item_id"], judged["item_id"]]).unique().sort()
    index = pl.DataFrame({"item_id": ids, "item": np.arange(len(ids))})
    normalised = bool(told.get("normalised"))
    arrays = _pool_arrays(consensus, compared.shares, index, pools, asked, normalised)
    context = _context(meta, compared, asked, ids, pools, arrays, normalised)
    cube, repeats, selections = _cells(meta, judged, index, context.options)
    return Material(tuple(ids), context, cube, selections, repeats)


def _scale(told: Mapping[str, Any]) -> Scale:
    labels, missing = tuple(told.get("labels") or ()), tuple(told.get("missing") or ())
    return Scale(told["level"], told.get("low"), told.get("high"), labels, told.get("positive"), missing)


def _pool_arrays(
    consensus: pl.DataFrame,
    shares: pl.DataFrame,
    index: pl.DataFrame,
    pools: tuple[str, ...],
    asked: Question,
    normalised: bool,
) -> PoolArrays:
    shape = (len(pools), index.height)
    here = consensus.join(index, on="item_id").filter(pl.col("pool").is_in(list(pools)))
    where = (_codes(here["pool"], pools), here["item"].to_numpy())
    mean, n, s2 = np.full(shape, np.nan), np.zeros(shape), np.full(shape, np.nan)
    mean[where], s2[where] = (
        here[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in ("value", "s2")
    )
    n[where] = here["n"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    cuts = ScaleCuts(0.0, 1.0) if normalised else cuts_of(asked.scale)
    if not asked.scale.nominal:
        return PoolArrays(mean, n, s2, cuts)
    table = np.full((*shape, len(asked.scale.labels)), np.nan)
    told = shares.filter(pl.col("question") == asked.id).join(index, on="item_id")
    places = (_codes(told["pool"], pools), told["item"].to_numpy(), _codes(told["label"], asked.scale.labels))
    table[places] = told["share"].to_numpy()
    return PoolArrays(mean, n, s2, cuts, table)


def _codes(names: pl.Series, known: tuple[str, ...]) -> np.ndarray:
    codes = {name: place for place, name in enumerate(known)}
    return names.replace_strict(codes, return_dtype=pl.Int64).to_numpy()


def _context(
    meta: Mapping[str, Any],
    compared: Compared,
    asked: Question,
    ids: pl.Series,
    pools: tuple[str, ...],
    arrays: PoolArrays,
    normalised: bool,
) -> Context:
    rows = pl.DataFrame({"item_id": ids}).join(
        compared.items.select(pl.col("item_id").cast(pl.String)).with_row_index("row"), on="item_id", how="left"
    )["row"]
    item_rows = rows.cast(pl.Int64).to_numpy()
    empty = np.zeros((*arrays.mean.shape, 0))
    ranges = (np.zeros(len(ids)), np.ones(len(ids))) if normalised else None
    panel = Panel(asked, item_rows, pools, arrays, empty, np.empty(0), (), frozenset(), ranges, anonymous=True)
    named = (meta.get("detail_pairs_by_question") or {}).get(asked.id) or meta.get("detail_pairs") or []
    detail = tuple((pools.index(a), pools.index(b)) for a, b in named)
    options = options_of(meta)
    slices = _slices(compared.items, panel, detail, options)
    return Context(panel, options, Table({}), tuple(combinations(range(len(pools)), 2)), detail, slices)


def _slices(
    items: pl.DataFrame, panel: Panel, detail: tuple[tuple[int, int], ...], options: AuditOptions
) -> dict[str, Mask]:
    nobody = pl.DataFrame({"question": []}, schema={"question": pl.String})
    corpus = Corpus(items, (panel.question,), panel.pools, nobody, nobody)
    slices = item_slices(corpus, panel.item_rows, options.slices, things=columns_of_things(corpus))
    if len(detail) == 1 and "levels" in scale_codes(panel):
        classes = anchor_classes(Features(panel.arrays), *detail[0])
        slices |= {f"anchor={name}": mask for name, mask in classes.items() if mask.any()}
    return slices


def options_of(meta: Mapping[str, Any]) -> AuditOptions:
    """The options of an audit from the meta data of its profile; those it does not know have their defaults."""
    known = {field.name for field in fields(AuditOptions)}
    given = {name: _tuples(value) for name, value in meta.get("options", {}).items() if name in known}
    return AuditOptions(**given)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value


def _cells(
    meta: Mapping[str, Any], judged: pl.DataFrame, index: pl.DataFrame, options: AuditOptions
) -> tuple[Array, npt.NDArray[np.int64], Selections]:
    """(C, I, R) ratings of the cells that occur, which repeats they are, and the selections of cells by their names."""
    if judged.is_empty():
        return np.zeros((0, index.height, 1)), np.zeros((0, index.height, 1), dtype=np.int64), NOTHING
    factors, covariates = tuple(meta["factors"]), tuple(meta["covariates"])
    names = ["judge", "condition", *factors]
    cells = pl.DataFrame(
        [{name: entry.get(name) for name in names} for entry in meta["cells"]], dict.fromkeys(names, pl.String)
    )
    seen = judged.select("judge", "condition").unique()
    cells = cells.join(seen, on=["judge", "condition"], how="semi", maintain_order="left")
    keys = cells.select("judge", "condition").with_row_index("cell")
    here = judged.filter(pl.col("rating").is_not_null()).join(index, on="item_id").join(keys, on=["judge", "condition"])
    here = here.with_columns(place=pl.col("repeat").rank("ordinal").over("cell", "item").cast(pl.Int64) - 1)
    cube = np.full((cells.height, index.height, int(np.max(here["place"].to_numpy(), initial=0)) + 1), np.nan)
    repeats = np.zeros(cube.shape, dtype=np.int64)
    places = tuple(here[name].to_numpy() for name in ("cell", "item", "place"))
    cube[places], repeats[places] = here["rating"].to_numpy(), here["repeat"].to_numpy()
    judges = pl.DataFrame(
        [
            {"judge": name, **{key: values.get(key) for key in covariates}}
            for name, values in meta["judges_covariates"].items()
        ],
        dict.fromkeys(["judge", *covariates], pl.String),
    )
    told = Judgments(judged.clear(), cells, judges, factors, tuple(meta.get("key_factors", ())), covariates)
    return cube, repeats, select(told, cells, options.selects)
