"""The specification curve: T, W and delta of each judge under many definitions, and whether the sign survives.

A number that speaks for one pool under one definition and for the other under the next is no finding. The definitions
are those of section 4; the choices of the audit are the main one, marked in the result.
Source: Simonsohn, Simmons and Nelson, Specification curve analysis, Nature Human Behaviour 4 (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context, Mask, scale_codes, scale_reason, subset
from voirdire.analysis.engine import Drawn, load_plugins
from voirdire.analysis.evaluate import contexts_of, judged_cells, judged_questions, source_of
from voirdire.analysis.experiment.contrasts import nothing
from voirdire.analysis.experiment.design import read_design
from voirdire.analysis.judge_rows import ON_ANY_SCALE, Judged
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.panels import build_panel
from voirdire.analysis.rows import Table
from voirdire.analysis.specifications import (
    DELTA,
    TILT,
    ZERO,
    Specification,
    View,
    combinations_of,
    half_step,
    specifications,
    subsets,
    view_of,
)
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.statistic import REGISTRY
from voirdire.stats.features import TIE, Array, Features
from voirdire.stats.resampling import item_weights, percentile, weighted_sums

Progress = Callable[[str, float], None]
Weights = npt.NDArray[np.uint8]
CHOICES = ("consensus", "min_gap", "anchors", "pools", "correction", "subset")
GROUP = ("question", "pool", "pool_b", "judge", "condition", "statistic")
TOLD = dict.fromkeys(CHOICES, pl.String) | {"min_gap": pl.Float64, "main": pl.Boolean}
SPREAD: Mapping[str, Callable[[Array], Any]] = {"lowest": np.min, "median": np.median, "highest": np.max}
SURVIVES, ON_ALL_ITEMS, CHANGES, UNDECIDED, UNDEFINED = "survives", "all_items", "changes", "undecided", "undefined"


@dataclass(frozen=True)
class SpecificationCurve:
    """Every definition's value for each judge and ordered pair of pools.

    frame : question, judge, condition (the block of cells that was taken), pool, pool_b, statistic (``tilt``,
        ``delta``, ``orientation.w``), consensus, min_gap (null where it does not apply), anchors, pools, correction,
        subset, value, low, high, undefined, n (items x cells), main (the definition of the audit), signature
    simulated : whether nobody rated the corpus
    """

    frame: pl.DataFrame
    name: str = ""
    simulated: bool = False

    def summary(self) -> pl.DataFrame:
        """One row a judge, pair and statistic: does the sign of the main definition survive?

        main, main_low, main_high ; lowest, median, highest over definitions ; defined and undefined: how many ;
        agree : definitions on the main one's side of 0 (of 1/2 for W) ; against : definitions whose whole interval
        lies on the other side ; agree_all_items, defined_all_items : the same without the subsets of items ;
        verdict : ``survives`` (every definition agrees), ``all_items`` (every definition on all items agrees, a subset
        does not), ``changes``, ``undecided`` (the main interval reaches the middle), ``undefined``
        """
        rows = [_summary(group) for _, group in self.frame.group_by(GROUP, maintain_order=True)]
        return pl.DataFrame(rows, infer_schema_length=None)


def speccurve(
    corpus: Corpus,
    judgments: Judgments,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> SpecificationCurve:
    """Compute every definition of every judge, over the cells without demonstrations where there are some.

    Intervals are percentile intervals over draws of items, the same draws for all definitions on the same items.
    Raises what ``evaluate`` raises.
    """
    options = options or AuditOptions()
    load_plugins()
    contexts = contexts_of(corpus, options, Table(source_of(corpus, judgments)))
    names = judged_questions(contexts, judgments)
    frames = []
    for place, context in enumerate(context for context in contexts if context.panel.question.id in names):
        curve = _Curve(context, corpus, judgments)
        curve.compute(_part(progress, place, len(names)))
        frames.append(curve.frame())
    return SpecificationCurve(pl.concat(frames), corpus.name, corpus.simulated)


def _part(progress: Progress | None, place: int, of: int) -> Callable[[float], None]:
    """Tells the share done of one question among several."""

    def tell(share: float) -> None:
        if progress is not None:
            progress("judges", (place + share) / of)

    return tell


@dataclass
class _Curve:
    """The definitions of one question."""

    context: Context
    corpus: Corpus
    judgments: Judgments
    told: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.judged: Judged = judged_cells(self.context, self.corpus, self.judgments)
        design = read_design(self.judgments, self.judged, self.context.pools, self.context.options)
        block = design.blocks[0]
        self.judges, self.block = design.judges, block.name
        width = self.judged.n_cells
        masks = [design.mask(block.mask, judge=judge)[:width] for judge in self.judges]
        self.matrix: Array = np.array(masks, dtype=float)
        self.other = self.matrix @ self.judged.rank_only[:width] > 0
        self.gaps = tuple(dict.fromkeys((0.0, half_step(self.context.panel), self.context.options.min_gap)))
        self.table = Table(self.context.table.source)

    def compute(self, tell: Callable[[float], None]) -> None:
        """Every view of every pair, on every subset of the items."""
        views = [(pair, way) for pair in self.context.detail for way in combinations_of(self.context.panel)]
        for place, (pair, way) in enumerate(views):
            tell(place / len(views))
            view = self._view(pair, way)
            for anchors, kept in view.kept().items():
                for name, items in subsets(self.context).items():
                    self._items(pair, view, anchors, name, kept & items)

    def frame(self) -> pl.DataFrame:
        """The rows with a column for every choice."""
        rows = self.table.frame().hstack(pl.DataFrame(self.told, schema=TOLD))
        places = ["question", "judge", "condition", "pool", "pool_b", "statistic"]
        return rows.select(*places, *CHOICES, "value", "low", "high", "undefined", "n", "main", "signature")

    def _view(self, pair: tuple[int, int], way: tuple[str, str, str]) -> View:
        options, panel = self.context.options, self.context.panel
        if way[0] != options.consensus:
            panel = build_panel(self.corpus, panel.question, consensus=way[0], min_raters=options.min_raters)
        return view_of(self.context, panel.arrays, self.judged.cube[: self.judged.n_cells], pair, way)

    def _items(self, pair: tuple[int, int], view: View, anchors: str, name: str, items: Mask) -> None:
        """Every statistic of a view on the items of a subset."""
        label = name if anchors == "in" else f"{name}/{anchors}"
        weights = item_weights(int(items.sum()), self.context.options.draws, self.context.rng("items", label))
        for statistic in (TILT, DELTA):
            for chosen in specifications(statistic, view, self.gaps, anchors, name):
                self._write(statistic, pair, chosen, self._additive(statistic, pair, view, chosen, items, weights))

    def _additive(
        self, statistic: str, pair: tuple[int, int], view: View, chosen: Specification, items: Mask, weights: Weights
    ) -> Drawn:
        """T or delta of every judge with its draws."""
        codes, declared = scale_codes(self.context.panel), REGISTRY[statistic, ""]
        reason = view.undefined if declared.scale in codes else scale_reason(declared.scale, codes)
        if reason is not None:
            return nothing(len(self.matrix), reason)
        arrays = view.beyond(chosen.min_gap or 0.0)
        features = Features(subset(arrays, items), view.cube[:, items])
        summed = [self.matrix @ features.get(part, pair) for part in declared.features]
        values, reasons = declared.values(tuple(part.sum(-1) for part in summed))
        draws = declared.numbers(tuple(weighted_sums(weights, part) for part in summed))
        reasons[self.matrix @ view.constant > 0] = "constant_judge"
        if declared.scale not in ON_ANY_SCALE:
            reasons[self.other] = "other_scale"
        values[[why is not None for why in reasons]] = np.nan
        return Drawn(values, reasons, draws, summed[declared.n_of].sum(-1))

    def _write(self, statistic: str, pair: tuple[int, int], chosen: Specification, drawn: Drawn) -> None:
        options, low, high = self.context.options, *percentile(drawn.draws, self.context.options.level)
        missing = np.isnan(drawn.values)
        self.table.add(
            statistic,
            drawn.values,
            params=chosen.params,
            reasons=drawn.reasons,
            low=np.where(missing, np.nan, low),
            high=np.where(missing, np.nan, high),
            n=np.rint(drawn.n).astype(int),
            definition=self.context.definition("percentile", consensus=chosen.consensus, repeats="mean_of_errors"),
            question=self.context.panel.question.id,
            judge=self.judges,
            condition=self.block,
            slice=chosen.subset,
            **self.context.names(pair),
        )
        main = chosen == main_of(statistic, options.consensus, options.min_gap)
        self.told += [{**asdict(chosen), "main": main}] * len(self.judges)


def main_of(statistic: str, consensus: str = "mean", min_gap: float = 0.0) -> Specification:
    """The definition that the audit prints.

    >>> main_of("delta").params
    'consensus=mean,anchors=in,pools=raw,correction=no'
    """
    return Specification(consensus, min_gap if statistic == TILT else None, "in", "raw", "no", "all")


def _summary(group: pl.DataFrame) -> dict[str, Any]:
    """The row of one judge, pair and statistic."""
    first = group.row(0, named=True)
    zero = ZERO[first["statistic"]]
    known = group.filter(pl.col("value").is_not_null())
    main = group.filter("main").row(0, named=True)
    values = known["value"].to_numpy()
    side = 0.0 if main["value"] is None else float(np.sign(main["value"] - zero))
    agrees = np.sign(np.where(np.abs(values - zero) <= TIE, zero, values) - zero) == side
    on_all = (known["subset"] == "all").to_numpy()
    ends = known.select(pl.col("high") - zero, pl.col("low") - zero).to_numpy()
    against = (ends[:, 0] < 0) if side > 0 else (ends[:, 1] > 0)
    return {
        **{name: first[name] for name in GROUP},
        **{f"main{end}": main[name] for end, name in (("", "value"), ("_low", "low"), ("_high", "high"))},
        **{name: _of(values, function) for name, function in SPREAD.items()},
        "defined": len(values),
        "undefined": group.height - len(values),
        "agree": int(agrees.sum()),
        "against": int(against.sum()),
        "defined_all_items": int(on_all.sum()),
        "agree_all_items": int(agrees[on_all].sum()),
        "verdict": _verdict(main, zero, agrees, on_all),
    }


def _of(values: Array, function: Callable[[Array], Any]) -> float | None:
    return float(function(values)) if values.size else None


def _verdict(main: Mapping[str, Any], zero: float, agrees: Mask, on_all: Mask) -> str:
    if main["value"] is None:
        return UNDEFINED
    reaches = main["low"] is not None and main["low"] <= zero <= main["high"]
    if reaches or abs(main["value"] - zero) <= TIE:
        return UNDECIDED
    if agrees.all():
        return SURVIVES
    return ON_ALL_ITEMS if agrees[on_all].all() else CHANGES
