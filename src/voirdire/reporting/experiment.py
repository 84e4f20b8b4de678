"""The sections on a factorial run: ratings by culture, best conditions, variance, personas, factors, demonstrations.

A section is there only where the profile holds its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from voirdire.analysis.naming import levels_of
from voirdire.reporting import design_tables as designs
from voirdire.reporting import experiment_tables as tables
from voirdire.reporting import figures_experiment as charts
from voirdire.reporting.access import ALL, Row
from voirdire.reporting.best_table import best
from voirdire.reporting.blocks import Figure, Folded, Section, Text
from voirdire.reporting.experiment_tables import Pair, between, covariate_levels, first_block, persona_levels, within
from voirdire.reporting.grid import Builder, Grid

Found = Grid | None | Sequence[Grid]
PULLED = ("tilt", "orientation.w")
MOST_JUDGES = 12
OPEN = ("icl-tilt", "icl-mean-rating")


def sections(b: Builder) -> list[Section]:
    """Every section that these rows allow, in the order of the paper."""
    makers = (ratings, best_conditions, variance, personas, factors, demonstrations, gaps, recognizability, regimes)
    return [section for make in makers if (section := make(b)).blocks]


def _section(b: Builder, name: str, blocks: Iterable[Any]) -> Section:
    """A section with its introduction, empty where it has no block."""
    section = Section(name, b.words.x(f"section.{name}"), 3)
    kept = [block for block in blocks if block is not None]
    if kept:
        section.blocks = [Text((b.words.x(f"intro.{name}"),)), *kept]
    return section


def _each(b: Builder, make: Callable[[Pair], Found]) -> list[Grid]:
    """The tables of every pair that is shown in full, named by its place where there are several."""
    pairs = b.view.pairs(b.question)
    grids: list[Grid] = []
    for number, pair in enumerate(pairs):
        found = make(pair)
        end = f"-{number + 1}" if len(pairs) > 1 else ""
        grids += [replace(grid, id=f"{grid.id}{end}") for grid in ([found] if isinstance(found, Grid) else found or [])]
    return grids


def _folded(b: Builder, key: str, grids: Sequence[Grid]) -> list[Folded]:
    return [Folded(b.words.x(f"fold.{key}"), tuple(grids))] if grids else []


def _figure(
    builder: Builder, name: str, chart: Any | None, key: str, heads: tuple[str, ...], column: str, **fields: str
) -> list[Figure]:
    """A chart, and the headings of the table of its marks."""
    if chart is None:
        return []
    words = builder.words
    caption, alt = words.x(f"figure.{key}", **fields), words.x(f"figure.{key}_alt", **fields)
    return [Figure(name, chart, caption, alt, heads=heads, column=column)]


def ratings(b: Builder) -> Section:
    """Mean ratings of pools and judges by culture of the items; delta by culture and category."""
    w, block = b.words, first_block(b)
    cultures = b.view.cultures(b.question, "mean_rating")
    groups = _groups(b)
    found: list[tuple[str, str, str, Row | None]] = []
    for part in cultures:
        level = levels_of(part)[0][1]
        for pool in b.view.pools_of(b.question):
            row = b.view.row("consensus_mean", question=b.question, pool=pool, slice=part)
            found.append(("", level, w.t("pool_panel", pool=pool), row))
        for who in groups:
            row = b.view.row("mean_rating", question=b.question, judge=who, condition=block, slice=part)
            found.append(("", level, w.group(who), row))
    chart = charts.series(found, b.view, w, w.statistic("mean_rating"), b.width) if cultures else None
    heads = (w.t("head.by"), w.t("head.slice"), w.t("head.level"))
    blocks = _figure(b, "ratings", chart, "ratings", heads, w.statistic("mean_rating"))
    for number, pair in enumerate(b.view.pairs(b.question)):
        chart, name = _delta(b, pair, groups), f"delta-{number + 1}"
        heads = (w.t("head.judge"), w.t("head.slice"), w.t("head.level"))
        blocks += _figure(b, name, chart, "delta", heads, w.statistic("delta"), a=pair[0], b=pair[1])
    return _section(b, "ratings", blocks)


def _groups(b: Builder) -> list[str]:
    """The judges of each level of the first covariate, or all judges together."""
    first = next(iter(b.view.meta.get("covariates") or []), None)
    levels = [name for name in covariate_levels(b) if levels_of(name)[0][0] == first]
    measured = [name for name in levels if b.view.has("mean_rating", question=b.question, judge=name)]
    return measured or [ALL]


def _delta(b: Builder, pair: Pair, groups: Sequence[str]) -> Any | None:
    """Delta in each category within each culture."""
    w, block = b.words, first_block(b)
    found = []
    for part in (name for name in b.view.slices if "&" in name):
        (column, culture), (_, category) = levels_of(part)[:2]
        for who in groups:
            place = {"question": b.question, "judge": who, "condition": block, "slice": part}
            found.append(
                (f"{column}: {culture}", category, w.group(who), b.view.row("delta", **between(pair), **place))
            )
    return charts.series(found, b.view, w, w.x("figure.delta_axis", a=pair[0], b=pair[1]), b.width, zero=True)


def best_conditions(b: Builder) -> Section:
    """The best condition of each judge, within the baseline and over every configuration."""
    block = first_block(b)
    blocks: list[Any] = list(_each(b, lambda pair: best(b, pair, block, "best")))
    if block != ALL:
        blocks += _folded(b, "best_any", _each(b, lambda pair: best(b, pair, ALL, "best-any")))
    blocks.append(tables.kappa(b))
    return _section(b, "best", blocks)


def variance(b: Builder) -> Section:
    """Where the variance of delta lies, and what a covariate of the judges shifts."""
    blocks: list[Any] = list(_each(b, lambda pair: tables.r2(b, pair)))
    found = _each(b, lambda pair: tables.origin(b, pair))
    more = [grid for grid in found if grid.id.startswith(("origin-whole", "origin-conditions"))]
    blocks += [*(grid for grid in found if grid not in more), *_folded(b, "origin", more)]
    return _section(b, "variance", blocks)


def personas(b: Builder) -> Section:
    """What personas do: T of each judge under each, the pull of each, own-pool error, and the low items."""
    blocks: list[Any] = []
    for number, pair in enumerate(b.view.pairs(b.question)):
        name, chart = f"personas-{number + 1}", _persona_chart(b, pair)
        heads = (b.words.t("head.judge"), b.words.t("head.condition"), b.words.t("head.slice"))
        blocks += _figure(b, name, chart, "personas", heads, b.words.statistic("tilt"), a=pair[0], b=pair[1])
    pulls = _each(b, lambda pair: [grid for of in PULLED if (grid := tables.pulls(b, pair, of))])
    few = len(b.view.judges) <= MOST_JUDGES
    blocks += [*(grid for grid in pulls if few), tables.persona_match(b, whole=True)]
    further = [*(grid for grid in pulls if not few), tables.persona_match(b, whole=False), tables.floor_gap(b)]
    blocks += _folded(b, "personas", [grid for grid in further if grid])
    return _section(b, "personas", blocks)


def _persona_chart(b: Builder, pair: Pair) -> Any | None:
    w, block = b.words, first_block(b)
    found = []
    for part in b.view.cultures(b.question) or ["all"]:
        for judge in b.view.judges:
            for name, pool in persona_levels(b):
                place = {"question": b.question, "judge": judge, "slice": part, "condition": within(name, block)}
                row = b.view.row("tilt", **between(pair), **place)
                found.append((w.slice(part), w.judge(judge), w.selection(name), pool, row))
    return charts.personas(b.view, w, pair, found)


def factors(b: Builder) -> Section:
    """What language, detail and other factors move."""
    blocks: list[Any] = []
    for statistic in designs.FACTORS:
        blocks += designs.factor_effects(b, statistic)
    return _section(b, "factors", blocks)


def demonstrations(b: Builder) -> Section:
    """What demonstrations change: use of the scale, T, errors, and whether personas and covariates differ in it."""
    blocks: list[Any] = list(_each(b, lambda pair: designs.levels(b, pair)))
    found = [*_each(b, lambda pair: designs.changes(b, pair, whole=True)), *designs.changes_of_use(b, whole=True)]
    shown = [grid for grid in found if grid.id.startswith(OPEN)]
    groups = [*_each(b, lambda pair: designs.changes(b, pair, whole=False)), *designs.changes_of_use(b, whole=False)]
    blocks += [*shown, *_folded(b, "icl_changes", [grid for grid in found if grid not in shown])]
    blocks += _folded(b, "icl_groups", groups)
    blocks += _folded(b, "icl_tests", designs.tests(b))
    crossed = _each(b, lambda pair: designs.crossed(b, pair)) if blocks else []
    blocks += _folded(b, "icl_crossed", [*crossed, *_each(b, lambda pair: designs.covariate_gaps(b, pair))])
    return _section(b, "demonstrations", blocks)


def gaps(b: Builder) -> Section:
    """Delta against the pools' gap, beside the control judges."""
    return _section(b, "gaps", _each(b, lambda pair: designs.gap_correlation(b, pair)))


def recognizability(b: Builder) -> Section:
    """T in thirds of recognizability."""
    blocks: list[Any] = list(_each(b, lambda pair: designs.bins(b, pair, "tilt")))
    blocks += _folded(b, "bins_w", _each(b, lambda pair: designs.bins(b, pair, "orientation.w")))
    return _section(b, "recognizability", blocks)


def regimes(b: Builder) -> Section:
    """The same items as two kinds of images."""
    return _section(b, "regimes", _each(b, lambda pair: designs.regimes(b, pair)))
