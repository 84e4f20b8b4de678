"""The specification curve: T, W and delta of each judge under many definitions, and whether the sign survives.

A number that speaks for one pool under one definition and for the other under the next is no finding. The definitions
are those of section 4; the choices of the audit are the main one, marked in the result.
Source: Simonsohn, Simmons and Nelson, Specification curve analysis, Nature Human Behaviour 4 (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context, Mask, scale_codes, scale_reason, subset
from voirdire.analysis.engine import Drawn, load_plugins
from voirdire.analysis.evaluate import contexts_of, judged_cells, judged_questions, source_of
from voirdire.analysis.experiment.contrasts import nothing
from voirdire.analysis.experiment.design import read_design
from voirdire.analysis.experiment.orientation.fits import Strata, Variant, reason_of, slice_fits
from voirdire.analysis.experiment.orientation.selected import clustered_definition, ratings_behind, ratio
from voirdire.analysis.judge_rows import ON_ANY_SCALE
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.panels import build_panel
from voirdire.analysis.rows import Table
from voirdire.analysis.specifications import (
    DELTA,
    STATISTICS,
    TILT,
    WEIGHT,
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
        judges = list(dict.fromkeys(row["judge"] for row in rows))
        pairs = list(dict.fromkeys((row["question"], row["pool"], row["pool_b"]) for row in rows))

        def place(row: Mapping[str, Any]) -> tuple[int, int, int]:
            pair = pairs.index((row["question"], row["pool"], row["pool_b"]))
            return pair, judges.index(row["judge"]), STATISTICS.index(row["statistic"])

        return pl.DataFrame(sorted(rows, key=place), infer_schema_length=None)


def speccurve(
    corpus: Corpus,
    judgments: Judgments,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> SpecificationCurve:
    """Compute every definition of every judge, over the cells without demonstrations where there are some.

    Intervals of T and delta are percentile intervals over draws of items, the same draws for all definitions on the
    same items; those of W are Fieller sets with items as clusters.
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
        judged = judged_cells(self.context, self.corpus, self.judgments)
        design = read_design(self.judgments, judged, self.context.pools, self.context.options)
        block = design.blocks[0]
        cells = np.flatnonzero(block.mask)
        self.judges, self.block = design.judges, block.name
        self.matrix: Array = np.array([design.mask(judge=judge)[cells] for judge in self.judges], dtype=float)
        self.other = self.matrix @ judged.rank_only[cells] > 0
        self.judged = replace(judged, cube=judged.cube[cells], rank_only=judged.rank_only[cells], n_cells=len(cells))
        self.gaps = tuple(dict.fromkeys((0.0, half_step(self.context.panel), self.context.options.min_gap)))
        self.strata = Strata.of(self.corpus, self.context.panel)
        self.table = Table(self.context.table.source)

    def compute(self, tell: Callable[[float], None]) -> None:
        """Every view of every pair, on every subset of the items."""
        views = [(pair, way) for pair in self.context.detail for way in combinations_of(self.context.panel)]
        for place, (pair, way) in enumerate(views):
            tell(place / len(views))
            context = self._context(way[0])
            view = self._view(context, pair, way)
            for anchors, kept in view.kept().items():
                for name, items in subsets(self.context).items():
                    self._items(context, pair, view, anchors, name, kept & items)

    def frame(self) -> pl.DataFrame:
        """The rows with a column for every choice."""
        rows = self.table.frame().hstack(pl.DataFrame(self.told, schema=TOLD))
        places = ["question", "judge", "condition", "pool", "pool_b", "statistic"]
        return rows.select(*places, *CHOICES, "value", "low", "high", "undefined", "n", "main", "signature")

    def _context(self, consensus: str) -> Context:
        """The question with this consensus."""
        options, panel = self.context.options, self.context.panel
        if consensus == options.consensus:
            return self.context
        panel = build_panel(self.corpus, panel.question, consensus=consensus, min_raters=options.min_raters)
        return replace(self.context, panel=panel, options=replace(options, consensus=consensus))

    def _view(self, context: Context, pair: tuple[int, int], way: tuple[str, str, str]) -> View:
        def better() -> tuple[Array | None, str | None]:
            every = np.ones(context.panel.n_items, dtype=bool)
            fits = slice_fits(context, self.judged, self.strata, pair, every)
            if (reason := reason_of(fits)) is not None:
                return None, reason
            mean = np.full_like(context.panel.arrays.mean, np.nan)
            mean[np.ix_(np.array(pair), fits.usable)] = fits.shrinkage.posterior().mean
            return mean, None

        return view_of(context, context.panel.arrays, self.judged.cube, pair, way, better)

    def _items(self, context: Context, pair: tuple[int, int], view: View, anchors: str, name: str, items: Mask) -> None:
        """Every statistic of a view on the items of a subset."""
        label = name if anchors == "in" else f"{name}/{anchors}"
        weights = item_weights(int(items.sum()), self.context.options.draws, self.context.rng("items", label))
        for statistic in (TILT, DELTA):
            for chosen in specifications(statistic, view, self.gaps, anchors, name):
                drawn = self._additive(statistic, pair, view, chosen, items, weights)
                self._write(statistic, pair, chosen, drawn, _ends(drawn.draws, self.context.options.level))
        self._orientation(context, pair, view, anchors, name, items)

    def _orientation(
        self, context: Context, pair: tuple[int, int], view: View, anchors: str, name: str, items: Mask
    ) -> None:
        """W of every judge, its slopes the means over the judge's cells."""
        variant = Variant(raw=view.correction == "no", standardise=view.pools == "standardised")
        fits = slice_fits(context, self.judged, self.strata, pair, items, variant)
        found = ratio(fits, self.matrix, fits.direction(p1=1), fits.direction(p0=1, p1=1))
        drawn = Drawn(found.values, found.reasons, np.empty((len(self.matrix), 0)), ratings_behind(fits, self.matrix))
        for chosen in specifications(WEIGHT, view, self.gaps, anchors, name):
            self._write(WEIGHT, pair, chosen, drawn, (found.low, found.high))

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

    def _write(
        self,
        statistic: str,
        pair: tuple[int, int],
        chosen: Specification,
        drawn: Drawn,
        ends: tuple[Array, Array],
    ) -> None:
        missing, method = np.isnan(drawn.values), "fieller" if statistic == WEIGHT else "percentile"
        define = self.context.definition if method == "percentile" else partial(clustered_definition, self.context)
        low, high = (np.where(missing, np.nan, end) for end in ends)
        self.table.add(
            statistic,
            drawn.values,
            params=chosen.params,
            reasons=drawn.reasons,
            low=low,
            high=high,
            n=np.rint(drawn.n).astype(int),
            definition=define(method, consensus=chosen.consensus),
            question=self.context.panel.question.id,
            judge=self.judges,
            condition=self.block,
            slice=chosen.subset,
            **self.context.names(pair),
        )
        main = chosen == main_of(statistic, self.context.options.consensus, self.context.options.min_gap)
        self.told += [{**asdict(chosen), "main": main}] * len(self.judges)


def _ends(draws: Array, level: float) -> tuple[Array, Array]:
    """The ends of percentile intervals; NaN without draws."""
    none = np.full(len(draws), np.nan)
    return percentile(draws, level) if draws.shape[1] else (none, none)


def main_of(statistic: str, consensus: str = "mean", min_gap: float = 0.0) -> Specification:
    """The definition that the audit prints.

    >>> main_of("delta").params
    'consensus=mean,anchors=in,pools=raw,correction=no'
    """
    correction = "yes" if statistic == WEIGHT else "no"
    return Specification(consensus, min_gap if statistic == TILT else None, "in", "raw", correction, "all")


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
