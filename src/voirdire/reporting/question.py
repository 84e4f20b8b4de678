"""The sections of one question: its pools, then its judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from voirdire.reporting import decomposition, experiment, figures, pairwise, speccurve_section, tables, verdicts
from voirdire.reporting.access import Cell, View
from voirdire.reporting.blocks import Bullets, Figure, Folded, Items, Section, Text
from voirdire.reporting.grid import Builder, Column, Entry, Grid, Line, Member
from voirdire.reporting.items import cards

MOST_ROWS = 60
MOST_FOLDED = 800


def pool_sections(b: Builder) -> list[Section]:
    """Are these pools good references, and do they differ?"""
    w = b.words
    section = Section("pools", w.t("section.pools"), 3)
    sentences = verdicts.pool_sentences(b.view, w, b.question)
    if sentences:
        section.blocks.append(Bullets((("", tuple(sentences)),)))
    section.blocks += [
        grid
        for grid in (tables.pools(b), tables.preferences(b), *tables.pairs(b), tables.roles(b), tables.role_tests(b))
        if grid
    ]
    sections = [section, *(pairwise.of_pools(b) if b.view.votes(b.question) else ())]
    if b.view.many_pools:
        matrix = Section("matrix", w.t("section.matrix"), 3)
        for name in ("cross_pool_mad", "cross_pool_tv", "cross_pool_pearson"):
            grid = tables.matrix(b, name)
            if grid:
                matrix.blocks.append(grid)
        if matrix.blocks:
            chosen = w.list([f"{a} / {c}" for a, c in b.view.pairs(b.question)])
            matrix.blocks.append(Text((w.t("detail_pairs", pairs=chosen),), "note"))
            sections.append(matrix)
    return sections


def judge_sections(b: Builder, folder: Path | None) -> list[Section]:
    """Whose judgment does each judge approximate?"""
    votes = b.view.votes(b.question)
    found = [
        *parts_of_tilt(b),
        against(b),
        *between_pools(b),
        *(answers_to_votes(b) if votes else speccurve_section.sections(b)),
        distributions(b),
        scale_use(b),
        slices(b),
        *experiment.sections(b),
        *splitting_items(b, folder),
    ]
    return [section for section in found if section.blocks]


def parts_of_tilt(b: Builder) -> list[Section]:
    """What T of each judge is made of, a section for each pair."""
    return [] if b.view.votes(b.question) else decomposition.sections(b)


def answers_to_votes(b: Builder) -> list[Section]:
    """What judges prefer, where a question asks for votes between two things."""
    return pairwise.of_judges(b, b.view.main_cells(), _members(b)) if b.view.votes(b.question) else []


def between_pools(b: Builder) -> list[Section]:
    """Each judge between two pools, a section for each pair."""
    cells = b.view.main_cells()
    return [
        _pair(b, number, pair, cells, b.view.pair_controls(b.question, pair))
        for number, pair in enumerate(b.view.pairs(b.question))
    ]


def splitting_items(b: Builder, folder: Path | None) -> list[Section]:
    """The items that split two pools most, a section for each pair."""
    return [_items(b, number, pair, folder) for number, pair in enumerate(b.view.pairs(b.question))]


def _members(b: Builder) -> Callable[[Sequence[Cell]], tuple[list[str], list[Member]]]:
    """The headings and rows of a table of judges."""
    return lambda cells: (tables.cell_heads(b, cells), tables.cell_members(b, cells, cells))


def against(b: Builder) -> Section:
    """Each judge against every pool."""
    w, cells, controls = b.words, b.view.main_cells(), b.view.controls(b.question)
    section = Section("judges", w.t("section.judges"), 3)
    pools = b.view.pools_of(b.question)
    few = (len(cells) + len(controls)) * len(pools) <= MOST_ROWS
    main = tables.against_pools(b, cells, controls if few else (), "judges", w.t("caption.judges"))
    if main is None:
        return section
    shown = tables.detail_pools(b)
    votes = b.view.votes(b.question)
    figure = pairwise.agreement_figure(b, shown, cells) if votes else _distance_figure(b, shown, cells, controls)
    section.blocks += [figure] if figure is not None else []
    section.blocks += [Text((w.v("intro.judges") if votes else w.t("judges_intro"),)), main]
    if not few:
        grid = tables.against_pools(b, (), controls, "judges-controls", w.t("caption.controls"))
        section.blocks += _folded(b, w.t("fold.controls"), grid)
    detail = b.view.detail_cells()
    if detail:
        grid = tables.against_pools(b, detail, (), "judges-cells", w.t("caption.judges_cells"))
        section.blocks += _folded(b, w.t("fold.cells", count=len(detail)), grid)
    return section


def _distance_figure(
    b: Builder, shown: Sequence[str], cells: Sequence[Cell], controls: Sequence[Cell]
) -> Figure | None:
    w = b.words
    chart = figures.distance(b.view, w, b.question, shown, cells, controls)
    if chart is None:
        return None
    alt, heads = w.t("figure.mae_alt", pools=w.list(list(shown))), (w.t("head.judge"), w.t("head.pool"))
    return Figure("mae", chart, w.t("figure.mae"), alt, heads=heads, column=w.statistic("mae"))


def _folded(b: Builder, summary: str, *grids: Grid | None) -> list[Any]:
    shown = [grid for grid in grids if grid]
    if not shown:
        return []
    rows = sum(len(grid.lines) for grid in shown)
    if rows > MOST_FOLDED:
        return [Text((b.words.t("too_many_rows", rows=rows, summary=summary),), "note")]
    return [Folded(summary, tuple(shown))]


def _pair(b: Builder, number: int, pair: tuple[str, str], cells: Sequence[Cell], controls: Sequence[Cell]) -> Section:
    w, names = b.words, {"a": pair[0], "b": pair[1]}
    place = f"pair-{number + 1}"
    section = Section(place, w.t("section.pair", **names), 3)
    grid = tables.pair_table(b, pair, cells, controls, place)
    if grid is None:
        return section
    intro = w.v("intro.pair", **names) if b.view.votes(b.question) else w.t("pair_intro", **names)
    section.blocks.append(Text((intro, *_gate_words(b, pair)), "plain"))
    chart = figures.tilt(b.view, w, b.question, pair, cells, controls)
    if chart is not None:
        caption, alt = w.t("figure.tilt", **names), w.t("figure.tilt_alt", **names)
        heads, column = (w.t("head.judge"),), w.statistic("tilt")
        section.blocks.append(Figure(f"tilt-{number + 1}", chart, caption, alt, heads=heads, column=column))
    section.blocks.append(grid)
    details = tables.pair_details(b, pair, cells, f"{place}-details")
    if details is not None:
        parts = w.list(tables.detail_parts(w, details))
        section.blocks += _folded(b, w.t("fold.pair_details", parts=parts), details)
    detail = b.view.detail_cells()
    if detail:
        cells_grid = tables.pair_table(b, pair, detail, (), f"{place}-cells")
        section.blocks += _folded(b, w.t("fold.cells", count=len(detail)), cells_grid)
    return section


def _gate_words(b: Builder, pair: tuple[str, str]) -> list[str]:
    """A tilt never stands without the outcome of the gate."""
    w = b.words
    outcomes = [
        f"{View.clean(pool)}: {w.label('gate', row.label)}"
        for pool in pair
        if (row := b.view.row("gate", question=b.question, pool=pool)) and row.label
    ]
    row = b.view.row("gate.divergent", question=b.question, pool=pair[0], pool_b=pair[1])
    if row and row.label:
        outcomes.append(w.t(f"divergent.{row.label}", a=pair[0], b=pair[1]))
    return [w.t("gate_beside_tilt", outcomes="; ".join(outcomes))] if outcomes else []


def distributions(b: Builder) -> Section:
    """How often each level is given, by every pool and every judge, and how far these are apart."""
    w, cells = b.words, b.view.main_cells()
    title = w.v("section.distributions") if b.view.votes(b.question) else w.t("section.distributions")
    section = Section("distributions", title, 3)
    shares, levels = shares_of(b, cells)
    chart = figures.distributions(shares, levels, b.view, w) if len(levels) > 1 else None
    if chart is not None:
        data = _shares_grid(b, shares, levels)
        section.blocks.append(
            Figure("distributions", chart, w.t("figure.distributions"), w.t("figure.distributions_alt"), data)
        )
    grid = tables.distances(b, cells)
    if grid:
        section.blocks.append(grid)
    return section


def shares_of(b: Builder, cells: Sequence[Cell]) -> tuple[list[dict[str, Any]], list[str]]:
    """The shares of the levels of every pool and shown judge, and the levels in order."""
    frame = b.view.profile.distributions
    found: dict[tuple[str, str], dict[str, float]] = {}
    levels: dict[str, None] = {}
    wanted = {cell.judge for cell in cells}
    exact = {(cell.judge, cell.condition) for cell in cells}
    rows = [row for row in frame.iter_rows(named=True) if row["question"] == b.question]
    direct = {(row["name"], row["condition"]) for row in rows} & exact
    for row in rows:
        levels.setdefault(row["level"])
        if row["kind"] == "judge":
            has_direct = any(judge == row["name"] for judge, _ in direct)
            skip = (row["name"], row["condition"]) not in direct if has_direct else row["condition"] == "*"
            if row["name"] not in wanted or skip:
                continue
        counts = found.setdefault((row["kind"], row["name"]), {})
        counts[row["level"]] = counts.get(row["level"], 0.0) + _weight(row)
    shares = [entry for (kind, name), counts in found.items() for entry in _panel(b, kind, name, counts)]
    shares.sort(key=lambda entry: not entry["pool"])
    return shares, _ordered(list(levels))


def _weight(row: dict[str, Any]) -> float:
    return float(row["count"]) if row.get("count") is not None else float(row["share"] or 0.0)


def _panel(b: Builder, kind: str, name: str, counts: dict[str, float]) -> list[dict[str, Any]]:
    total = sum(counts.values())
    panel = b.words.t("pool_panel", pool=name) if kind == "pool" else b.words.judge(name)
    pool = name if kind == "pool" else ""
    return [
        {"panel": panel, "pool": pool, "level": level, "share": count / total}
        for level, count in counts.items()
        if total
    ]


def _ordered(levels: list[str]) -> list[str]:
    try:
        return sorted(levels, key=float)
    except ValueError:
        return levels


def _shares_grid(b: Builder, shares: list[dict[str, Any]], levels: Sequence[str]) -> Grid:
    panels: dict[str, dict[str, float]] = {}
    for entry in shares:
        panels.setdefault(entry["panel"], {})[entry["level"]] = entry["share"]
    lines = tuple(
        Line((panel,), tuple(Entry(f"{100 * found.get(level, 0.0):.1f} %") for level in levels))
        for panel, found in panels.items()
    )
    columns = tuple(Column(View.clean(level), b.words.t("head.level")) for level in levels)
    return Grid("shares", b.words.t("caption.shares"), (b.words.t("head.by"),), columns, (("", lines),))


def scale_use(b: Builder) -> Section:
    """How each judge uses the scale."""
    w, cells, controls = b.words, b.view.main_cells(), b.view.controls(b.question)
    votes = b.view.votes(b.question)
    section = Section("scale", w.v("section.answers") if votes else w.t("section.scale"), 3)
    caption = w.v("caption.answers") if votes else w.t("caption.scale")
    grid = tables.scale_use(b, cells, controls, "scale", caption)
    if grid is None:
        return section
    intro = () if votes else (Text((w.t("scale_intro"),)),)
    section.blocks += [*intro, grid]
    detail = b.view.detail_cells()
    if detail:
        cells_grid = tables.scale_use(b, detail, (), "scale-cells", caption)
        section.blocks += _folded(b, w.t("fold.cells", count=len(detail)), cells_grid)
    return section


def slices(b: Builder) -> Section:
    """T and MAE in every slice, as heat maps."""
    section = Section("slices", b.words.t("section.slices"), 3)
    maps = tables.slice_maps(b, b.view.main_cells())
    if maps:
        section.blocks += [Text((b.words.t("slices_intro"),)), *maps]
    return section


def _items(b: Builder, number: int, pair: tuple[str, str], folder: Path | None) -> Section:
    w = b.words
    section = Section(f"items-{number + 1}", w.t("section.items", a=pair[0], b=pair[1]), 3)
    found = cards(b.view, w, b.question, pair, folder, b.width)
    if found:
        section.blocks += [Text((w.t("items_intro", count=len(found)),)), Items(tuple(found))]
    return section
