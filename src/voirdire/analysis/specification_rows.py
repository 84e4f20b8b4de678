"""T, W and delta of every judge of one question under every definition of section 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context, Mask, scale_codes, scale_reason, subset
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import nothing
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.orientation.fits import Strata, Variant, reason_of, slice_fits
from voirdire.analysis.experiment.orientation.selected import clustered_definition, ratings_behind, ratio
from voirdire.analysis.judge_rows import ON_ANY_SCALE
from voirdire.analysis.panels import build_panel
from voirdire.analysis.rows import Table
from voirdire.analysis.specifications import (
    CHOICES,
    DELTA,
    SPECIFICATIONS,
    TILT,
    WEIGHT,
    Specification,
    View,
    combinations_of,
    half_step,
    specifications,
    subsets,
    view_of,
)
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array, Features
from voirdire.stats.resampling import block_sums, item_weights, percentile

Weights = npt.NDArray[np.uint8]
Ends = tuple[Array, Array]
MOST_KEPT = 20_000_000
TOLD = {name: SPECIFICATIONS[name] for name in (*CHOICES, "main")}


def specification_rows(experiment: Experiment, tell: Callable[[float], None] | None = None) -> pl.DataFrame:
    """Every definition of every judge between every detailed pair, with the columns of ``SPECIFICATIONS``.

    A judge's cells are those of the first block: without demonstrations where there are some. Intervals of T and delta
    are percentile intervals over draws of items, the same draws for all definitions on the same items; those of W are
    Fieller sets with items as clusters.

    tell : called with the share done
    """
    curve = _Curve(experiment)
    curve.compute(tell or _silent)
    return curve.frame()


def main_of(statistic: str, consensus: str = "mean", min_gap: float = 0.0) -> Specification:
    """The definition that the audit prints.

    >>> main_of("delta").params
    'consensus=mean,anchors=in,pools=raw,correction=no'
    """
    correction = "yes" if statistic == WEIGHT else "no"
    return Specification(consensus, min_gap if statistic == TILT else None, "in", "raw", correction, "all")


def _silent(share: float) -> None:
    """Tell nobody."""


class _Curve:
    """The definitions of one question.

    weights : draws of items, by their label and the items
    """

    def __init__(self, experiment: Experiment) -> None:
        self.context, self.corpus = experiment.context, experiment.corpus
        judged, design = experiment.judged, experiment.design
        block = design.blocks[0]
        cells = np.flatnonzero(block.mask)
        self.judges, self.block = design.judges, block.name
        self.matrix: Array = np.array([design.mask(judge=judge)[cells] for judge in self.judges], dtype=float)
        self.other = self.matrix @ judged.rank_only[cells] > 0
        self.judged = replace(judged, cube=judged.cube[cells], rank_only=judged.rank_only[cells], n_cells=len(cells))
        self.gaps = tuple(dict.fromkeys((0.0, half_step(self.context.panel), self.context.options.min_gap)))
        self.strata = Strata.of(self.corpus, self.context.panel)
        self.table = Table(self.context.table.source)
        self.told: list[dict[str, Any]] = []
        self.weights: dict[tuple[str, bytes], Weights] = {}

    def compute(self, tell: Callable[[float], None]) -> None:
        """Every view of every pair, on every subset of the items."""
        views = [(pair, way) for pair in self.context.detail for way in combinations_of(self.context.panel)]
        for place, (pair, way) in enumerate(views):
            tell(place / len(views))
            view = self._view(self._context(way[0]), pair, way)
            for anchors, kept in view.kept().items():
                for name, items in subsets(self.context).items():
                    self._items(pair, view, anchors, name, kept & items)

    def frame(self) -> pl.DataFrame:
        """The rows with a column for every choice."""
        rows = self.table.frame().hstack(pl.DataFrame(self.told, schema=TOLD))
        return rows.select(list(SPECIFICATIONS))

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

        return view_of(context, self.judged.cube, pair, way, better)

    def _items(self, pair: tuple[int, int], view: View, anchors: str, name: str, items: Mask) -> None:
        """Every statistic of a view on the items of a subset."""
        weights = self._drawn(name if anchors == "in" else f"{name}/{anchors}", items)
        for statistic in (TILT, DELTA):
            for chosen in specifications(statistic, view, self.gaps, anchors, name):
                drawn = self._additive(statistic, pair, view, chosen, items, weights)
                self._write(statistic, pair, chosen, drawn, _ends(drawn.draws, self.context.options.level))
        for chosen in specifications(WEIGHT, view, self.gaps, anchors, name):
            self._write(WEIGHT, pair, chosen, *self._orientation(pair, view, items))

    def _drawn(self, label: str, items: Mask) -> Weights:
        """The draws of these items, kept unless they are large."""
        key = (label, items.tobytes())
        if (known := self.weights.get(key)) is not None:
            return known
        drawn = item_weights(int(items.sum()), self.context.options.draws, self.context.rng("items", label))
        if drawn.size <= MOST_KEPT:
            self.weights[key] = drawn
        return drawn

    def _orientation(self, pair: tuple[int, int], view: View, items: Mask) -> tuple[Drawn, Ends]:
        """W of every judge, its slopes the means over the judge's cells, with its ends."""
        variant = Variant(raw=view.correction == "no", standardise=view.pools == "standardised")
        fits = slice_fits(view.context, self.judged, self.strata, pair, items, variant)
        found = ratio(fits, self.matrix, fits.direction(p1=1), fits.direction(p0=1, p1=1))
        drawn = Drawn(found.values, found.reasons, np.empty((len(self.matrix), 0)), ratings_behind(fits, self.matrix))
        return drawn, (found.low, found.high)

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
        draws = declared.numbers(tuple(block_sums(weights, summed)))
        reasons[self.matrix @ view.constant > 0] = "constant_judge"
        if declared.scale not in ON_ANY_SCALE:
            reasons[self.other] = "other_scale"
        values[[why is not None for why in reasons]] = np.nan
        return Drawn(values, reasons, draws, summed[declared.n_of].sum(-1))

    def _write(self, statistic: str, pair: tuple[int, int], chosen: Specification, drawn: Drawn, ends: Ends) -> None:
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
        self.told += [{**asdict(chosen), "main": chosen == self._main(statistic)}] * len(self.judges)

    def _main(self, statistic: str) -> Specification:
        """What the audit prints; of labels without order the one definition that there is."""
        main = main_of(statistic, self.context.options.consensus, self.context.options.min_gap)
        nominal = self.context.panel.question.scale.nominal
        return replace(main, consensus="mean", correction="no") if nominal else main


def _ends(draws: Array, level: float) -> Ends:
    """The ends of percentile intervals; NaN without draws."""
    none = np.full(len(draws), np.nan)
    return percentile(draws, level) if draws.shape[1] else (none, none)
