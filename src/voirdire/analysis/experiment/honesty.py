"""What a reader must know beside the numbers: rows that warn (the issue's honesty checks; section 4).

``pseudo_replication`` and ``winners_curse`` read rows that are there already; ``tilt_noise`` and
``minimum_detectable`` are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from voirdire.analysis.context import context_reason
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.analysis.experiment.derived import culture_slices
from voirdire.analysis.experiment.design import ALL, Block, Experiment
from voirdire.analysis.experiment.noise import redrawn_tilts
from voirdire.analysis.experiment.orientation.selected import selected_w
from voirdire.analysis.rows import PLACE, Table
from voirdire.stats.features import Array

MAGNITUDE = 1.0
POWER, SIGNIFICANCE = 0.8, 0.05
SMALLEST_P = 1e-300
CELLS_P, ITEMS_P = "_cells_p", "_items_p"
Row = Mapping[str, Any]


def add_honesty(experiment: Experiment) -> None:
    """Every row of this module."""
    _add_pseudo_replication(experiment)
    _add_winners_curse(experiment)
    block = experiment.design.blocks[0]
    judges, matrix = _judges(experiment, block)
    for name, mask in culture_slices(experiment.context).items():
        sums = SliceSums(experiment, name, mask)
        for pair in experiment.context.detail:
            tilt, delta = (sums.statistic(statistic, pair, matrix) for statistic in ("tilt", "delta"))
            for of, drawn in (("tilt", tilt), ("delta", delta)):
                error, reasons = item_errors(sums, drawn)
                _add_detectable(sums, pair, of, (error, reasons, drawn.n), judges, block)
            w = selected_w(experiment, name, mask, pair, matrix)
            _add_detectable(sums, pair, "orientation.w", (w.error, list(w.reasons), w.n), judges, block)
            _add_noise(sums, pair, tilt, judges, matrix, block)


def _judges(experiment: Experiment, block: Block) -> tuple[list[str], Array]:
    """``*`` and each judge of a block, and the matrix (S, C)."""
    design = experiment.design
    masks = {ALL: block.mask} | {judge: design.mask(block.mask, judge=judge) for judge in design.judges}
    masks = {judge: mask for judge, mask in masks.items() if mask.any()}
    return list(masks), np.stack(list(masks.values())).astype(float)


# ---- labels over rows that exist


def rows_of(table: Table, statistics: Sequence[str], question: str) -> Iterator[Row]:
    """The collected rows of some statistics of a question."""
    wanted = set(statistics)
    names = ("statistic", "params", *PLACE, "value", "low", "high", "n")
    columns = [table.columns[name] for name in names]
    for place, (statistic, asked) in enumerate(zip(table.columns["statistic"], table.columns["question"], strict=True)):
        if statistic in wanted and asked == question:
            yield {name: column[place] for name, column in zip(names, columns, strict=True)}


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("params", *PLACE))


def magnitudes_apart(p_cells: float, p_items: float) -> float:
    """How many orders of magnitude two p values differ, those below 1e-300 counted as that.

    >>> round(magnitudes_apart(1e-9, 1e-4), 6)
    5.0
    """
    return abs(float(np.log10(max(p_cells, SMALLEST_P)) - np.log10(max(p_items, SMALLEST_P))))


def _add_pseudo_replication(experiment: Experiment) -> None:
    """``pseudo_replication``: yes where a test over cells and that over items differ by more than a magnitude."""
    context = experiment.context
    question = context.panel.question.id
    names = {name for name in context.table.columns["statistic"] if name.endswith(CELLS_P)}
    for name in sorted(names):
        partner = name.removesuffix(CELLS_P) + ITEMS_P
        by_items = {_key(row): row["value"] for row in rows_of(context.table, [partner], question)}
        for row in list(rows_of(context.table, [name], question)):
            p_items = by_items.get(_key(row))
            if row["value"] is None or p_items is None:
                continue
            apart = magnitudes_apart(row["value"], p_items)
            context.table.add(
                "pseudo_replication",
                None,
                labels="yes" if apart > MAGNITUDE else "no",
                n=row["n"],
                definition=context.definition(test=name, beside=partner, magnitudes=MAGNITUDE),
                params=row["params"],
                **{place: row[place] for place in PLACE},
            )


def _add_winners_curse(experiment: Experiment) -> None:
    """``winners_curse``: yes where the raw minimum lies below the interval of the cross-fitted value."""
    context = experiment.context
    question = context.panel.question.id
    fitted = {_key(row): row for row in rows_of(context.table, ["best_mae.cross_fitted"], question)}
    for row in list(rows_of(context.table, ["best_mae.value"], question)):
        beside = fitted.get(_key(row))
        if row["value"] is None or beside is None or beside["low"] is None:
            continue
        context.table.add(
            "winners_curse",
            None,
            labels="yes" if row["value"] < beside["low"] else "no",
            n=row["n"],
            definition=context.definition(raw="best_mae.value", beside="best_mae.cross_fitted", end="low"),
            params=row["params"],
            **{place: row[place] for place in PLACE},
        )


# ---- what the corpus can tell


def item_errors(sums: SliceSums, drawn: Drawn) -> tuple[Array, list[str | None]]:
    """The sd of each value's draws of items (S,), NaN with a reason where fewer than two draws are defined."""
    draws = drawn.draws[:, : sums.n_draws]
    error = np.full(len(drawn.values), np.nan)
    enough = ((~np.isnan(draws)).sum(1) > 1) & ~np.isnan(drawn.values)
    if enough.any():
        error[enough] = np.nanstd(draws[enough], axis=1, ddof=1)
    reasons = [None if known else why or "no_draws" for known, why in zip(enough, drawn.reasons, strict=True)]
    return error, reasons


def detectable(error: Array) -> Array:
    """The smallest effect found with power 0.8 by a two-sided test at 0.05: (z_.975 + z_.8) standard errors.

    >>> detectable(np.array([0.1])).round(4)
    array([0.2802])
    """
    from scipy.special import ndtri

    return np.asarray((ndtri(1 - SIGNIFICANCE / 2) + ndtri(POWER)) * error)


def _add_detectable(
    sums: SliceSums,
    pair: tuple[int, int],
    of: str,
    errors: tuple[Array, list[str | None], Array],
    judges: list[str],
    block: Block,
) -> None:
    """errors : standard errors over items (S,), the reasons where there is none, and n."""
    context = sums.experiment.context
    error, reasons, n = errors
    told = {"error": "item_clustered"} if of == "orientation.w" else {"error": "sd_of_item_draws", **_draws(sums)}
    context.table.add(
        "minimum_detectable",
        detectable(error),
        params=f"of={of}",
        reasons=[context_reason(context, reason, pair) for reason in reasons],
        n=np.rint(n).astype(int),
        definition=context.definition(power=POWER, significance=SIGNIFICANCE, sides=2, **told),
        question=context.panel.question.id,
        judge=judges,
        condition=block.name,
        slice=sums.name,
        **context.names(pair),
    )


def _draws(sums: SliceSums) -> dict[str, Any]:
    options = sums.experiment.context.options
    return {"draws": options.draws, "seed": options.seed}


def _add_noise(
    sums: SliceSums, pair: tuple[int, int], tilt: Drawn, judges: list[str], matrix: Array, block: Block
) -> None:
    """``tilt_noise``: how far new rater noise moves T; ``.narrower``: is half of T's item interval less than that?"""
    from scipy.special import ndtri

    context = sums.experiment.context
    noise = redrawn_tilts(sums, pair, matrix, context.rng("tilt_noise", sums.name))
    reasons = [context_reason(context, own or why, pair) for own, why in zip(tilt.reasons, noise.reasons, strict=True)]
    known = np.array([reason is None for reason in reasons])
    shift = np.where(known, noise.mean - tilt.values, np.nan)
    moved = np.sqrt(shift**2 + noise.sd**2)
    place: dict[str, Any] = {
        "n": np.rint(tilt.n).astype(int),
        "question": context.panel.question.id,
        "judge": judges,
        "condition": block.name,
        "slice": sums.name,
        **context.names(pair),
    }
    told: dict[str, Any] = {"of": "tilt", "noise": "normal_s2_over_n", "redraws": noise.redraws}
    told |= {"seed": context.options.seed, "min_gap": context.options.min_gap}
    for name, values in (("tilt_noise", moved), ("tilt_noise.sd", np.where(known, noise.sd, np.nan))):
        context.table.add(name, values, reasons=reasons, definition=context.definition(**told), **place)
    context.table.add("tilt_noise.shift", shift, reasons=reasons, definition=context.definition(**told), **place)
    half = float(ndtri((1 + context.options.level) / 2)) * item_errors(sums, tilt)[0]
    kept = np.flatnonzero(~np.isnan(half) & ~np.isnan(moved))
    if kept.size:
        place |= {"n": place["n"][kept], "judge": [judges[s] for s in kept]}
        told |= {"half_width": "z_sd_of_item_draws", "level": context.options.level, "draws": context.options.draws}
        labels = ["yes" if half[s] < moved[s] else "no" for s in kept]
        context.table.add("tilt_noise.narrower", None, labels=labels, definition=context.definition(**told), **place)
