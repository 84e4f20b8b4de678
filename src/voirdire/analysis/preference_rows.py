"""Rows of pairwise votes that speak of one thing, or of the side that was shown first, over all items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.engine import compute
from voirdire.analysis.judge_rows import Judged, Writer, excluded_of
from voirdire.analysis.panels import Panel
from voirdire.analysis.pool_rows import add_results
from voirdire.analysis.rater_sampler import sampler_of
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.sides import thing_columns
from voirdire.signature import quote
from voirdire.statistic import REGISTRY, Statistic
from voirdire.stats.features import Array, Features
from voirdire.stats.preference import Votes

LEAST_ITEMS_OF_A_THING = 2
MOST_THINGS = 40
OF_POOL, OF_PAIR = "preferred_share", "preferred_share.gap"
OF_JUDGE, BESIDE_POOL = "preferred_share.judge", "preferred_share.difference"
BIAS, CONSISTENCY, EFFECT, RATERS = "position.bias", "position.consistency", "position.effect", "position.raters"


@dataclass(frozen=True)
class Things:
    """The things of a question's items: thing -> (I,) 1 where it is the first of the item, -1 the second, else 0.

    beyond : how many more there are than the 40 of the most items, which stand here
    """

    signs: Mapping[str, Array] = field(default_factory=dict)
    beyond: int = 0


def things_of(corpus: Corpus, panel: Panel) -> Things:
    """The things of two items or more, of more than 40 those of the most items; none of items that do not name them."""
    scale, items = panel.question.scale, corpus.items[panel.item_rows]
    columns = thing_columns(items.columns, scale) if scale.pairwise else None
    if columns is None:
        return Things()
    first, second = (items[column].cast(pl.String) for column in columns)
    differ = (first != second).fill_null(False)
    shown = pl.concat([side.filter(differ).rename("thing") for side in (first, second)]).drop_nulls()
    counts = shown.value_counts().filter(pl.col("count") >= LEAST_ITEMS_OF_A_THING)
    counts = counts.sort("count", "thing", descending=[True, False])
    signs = {}
    for thing in sorted(counts["thing"].head(MOST_THINGS)):
        places = [((side == thing) & differ).fill_null(False).to_numpy().astype(float) for side in (first, second)]
        signs[thing] = np.asarray(places[0] - places[1])
    return Things(signs, max(0, counts.height - MOST_THINGS))


def things_notes(things: Mapping[str, Things]) -> list[Note]:
    """Warnings of questions with more things than are looked at."""
    return [
        Note("audit.note.things_beyond", {"question": question, "most": MOST_THINGS, "count": found.beyond}, "warning")
        for question, found in things.items()
        if found.beyond
    ]


def _of_thing(name: str, thing: str) -> Statistic:
    return replace(REGISTRY[name, ""], params={"thing": quote(thing)})


def _every(panel: Panel) -> np.ndarray:
    return np.ones(panel.n_items, dtype=bool)


def add_preferences(context: Context, things: Things) -> None:
    """What every pool prefers by thing, how two pools differ in it, and whether raters favour the side shown first."""
    panel = context.panel
    if not panel.question.scale.pairwise:
        return
    sampler = sampler_of(context, "all", _every(panel))
    for thing, signs in things.signs.items():
        features = Features(panel.arrays, votes=Votes(thing=signs))
        for name, targets in ((OF_POOL, [(k,) for k in range(len(context.pools))]), (OF_PAIR, context.pairs)):
            for target in targets:
                results = compute([_of_thing(name, thing)], features, target, sampler)
                add_results(context, results, target, "all", sampler)
    raters, n_raters = _rater_sides(panel)
    features = Features(panel.arrays, votes=Votes(raters=raters, n_raters=n_raters))
    for k in range(len(context.pools)):
        add_results(context, compute([REGISTRY[RATERS, ""]], features, (k,), sampler), (k,), "all", sampler)


def _rater_sides(panel: Panel) -> tuple[Array, Array]:
    """(K, I) votes for the thing shown first less those for the other, and votes of which the order is known."""
    shape = (len(panel.pools), panel.n_items)
    total, known = np.zeros(shape), np.zeros(shape)
    for k, rows in enumerate(panel.rows):
        if rows.shown is None:
            continue
        side = ~np.isnan(rows.shown)
        sign = np.array([1.0, -1.0, 0.0])[rows.value.astype(int)] * np.nan_to_num(rows.shown)
        total[k] = np.bincount(rows.item, sign, panel.n_items)
        known[k] = np.bincount(rows.item, side, panel.n_items)
    return total, known


def add_judged_preferences(context: Context, judged: Judged, things: Things) -> None:
    """What each judge prefers by thing beside every pool, and whether it favours the side that it is shown first."""
    panel = context.panel
    if not panel.question.scale.pairwise:
        return
    mask = _every(panel)
    selections = judged.in_slice("all")
    writer = Writer(
        context,
        judged,
        selections,
        "all",
        mask,
        excluded_of(judged, selections, mask),
        sampler_of(context, "all", mask),
    )
    cube = judged.cube[: judged.n_cells]
    for statistics, votes in _spoken_of(judged, things.signs, cube):
        features = Features(panel.arrays, cube, votes=votes)
        for name, statistic in statistics.items():
            beside = name in (BESIDE_POOL, EFFECT)
            for target in [(k,) for k in range(len(context.pools))] if beside else [()]:
                matrix = selections.matrix[:, : judged.n_cells]
                writer.add(compute([statistic], features, target, writer.sampler, matrix), target)
            features.forget()


def _spoken_of(
    judged: Judged, things: Mapping[str, Array], cube: Array
) -> Iterator[tuple[dict[str, Statistic], Votes]]:
    """The statistics of each thing, then those of the side shown first, with what they need."""
    for thing, signs in things.items():
        yield {name: _of_thing(name, thing) for name in (OF_JUDGE, BESIDE_POOL)}, Votes(thing=signs)
    shown = np.full(cube.shape, np.nan)
    given = judged.cells.shown
    if given is not None:
        shown[:, :, : given.shape[2]] = given
    yield {name: REGISTRY[name, ""] for name in (BIAS, CONSISTENCY, EFFECT)}, Votes(shown=shown)
