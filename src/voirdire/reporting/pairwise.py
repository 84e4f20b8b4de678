"""Questions that ask for votes between two things: who prefers what, agreement, and the side shown first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voirdire.reporting import figures
from voirdire.reporting.access import Cell, Row, View
from voirdire.reporting.blocks import Figure, Folded, Section, Text
from voirdire.reporting.grid import Builder, Column, Grid, Line, Member, Spec
from voirdire.reporting.words import Words
from voirdire.signature import quote

MOST_JUDGES = 12
Members = Callable[[Sequence[Cell]], tuple[list[str], list[Member]]]
BIAS, CONSISTENCY, EFFECT = "position.bias", "position.consistency", "position.effect"


def things(b: Builder) -> list[str]:
    """The things that votes are between, those first that the first pool prefers most often."""
    found: dict[str, float] = {}
    for row in b.view.rows("preferred_share", question=b.question, slice="all"):
        thing = b.words.setting(row.params, "thing")
        found.setdefault(thing, -1.0 if row.value is None else row.value)
    return sorted(found, key=lambda thing: (-found[thing], thing))


def _grid(b: Builder, name: str, caption: str, groups: Sequence[tuple[str, Sequence[Spec]]], note: str) -> Grid | None:
    """A row for each thing, in groups that have a title and columns of their own, alike in number and headings."""
    names = things(b)
    blocks: list[tuple[str, tuple[Line, ...]]] = []
    columns: tuple[Column, ...] = ()
    for title, specs in groups:
        lines = []
        for thing in names:
            rows = [_row(b, spec, thing) for spec in specs]
            if any(row is not None for row in rows):
                entries = tuple(b.entry(row, spec) for row, spec in zip(rows, specs, strict=True))
                lines.append(Line((View.clean(thing),), entries))
        first = next((row for thing in names if (row := _row(b, specs[0], thing)) is not None), None)
        if lines and first is not None:
            blocks.append((title, tuple(lines)))
            columns = columns or tuple(_column(b, spec, names) for spec in specs)
    if not blocks:
        return None
    marks = {entry.mark: entry.reason for _, lines in blocks for line in lines for entry in line.entries if entry.mark}
    return Grid(
        name, caption, (b.words.v("head.thing"),), columns, tuple(blocks), (note,), tuple(sorted(marks.items()))
    )


def _row(b: Builder, spec: Spec, thing: str) -> Row | None:
    return b.view.row(spec.statistic, params=f"thing={quote(thing)}", question=b.question, **spec.place)


def _column(b: Builder, spec: Spec, names: Sequence[str]) -> Column:
    row = next((row for thing in names if (row := _row(b, spec, thing)) is not None), None)
    footnote = None if row is None else b.footnotes.number(row)
    return Column(spec.title, spec.group, b.words.help(spec.statistic), footnote, statistic=spec.statistic)


def preferred(b: Builder, name: str = "things") -> Grid | None:
    """What each pool prefers, thing by thing, and how much two pools differ in it."""
    w = b.words
    specs = [Spec("preferred_share", title=pool, place={"pool": pool}) for pool in b.view.pools_of(b.question)]
    specs += [
        Spec("preferred_share.gap", title=w.v("head.less", a=a, b=c), place={"pool": a, "pool_b": c})
        for a, c in b.view.pairs(b.question)
    ]
    return _grid(b, name, w.v("caption.things"), [("", specs)], w.v("note.things"))


def judged(b: Builder, cells: Sequence[Cell]) -> Grid | None:
    """What each judge prefers, thing by thing, beside every pool."""
    w = b.words
    groups = []
    for cell in cells:
        place = {"judge": cell.judge, "condition": cell.condition}
        specs = [Spec("preferred_share.judge", title=w.v("head.judge_share"), place=place)]
        specs += [
            Spec("preferred_share.difference", title=w.v("head.less_pool", pool=pool), place={**place, "pool": pool})
            for pool in b.view.pools_of(b.question)
        ]
        groups.append((w.cell(cell), specs))
    return _grid(b, "things-judges", w.v("caption.judged"), groups, w.v("note.things"))


def of_pools(b: Builder) -> list[Section]:
    """Who prefers what."""
    grid = preferred(b)
    return [] if grid is None else [Section("things", b.words.v("section.things"), 3, [grid])]


def of_judges(b: Builder, cells: Sequence[Cell], members: Members) -> list[Section]:
    """What judges prefer, and whether the side that they are shown first matters.

    members : gives headings and rows of cells, as the tables of judges have them
    """
    w, sections = b.words, []
    grid = judged(b, cells[:MOST_JUDGES])
    if grid is not None:
        block: Any = grid if len(grid.lines) <= MOST_JUDGES else Folded(w.v("fold.judged"), (grid,))
        sections.append(Section("things-judged", w.v("section.judged"), 3, [Text((w.v("intro.judged"),)), block]))
    columns = [Spec(BIAS), Spec(CONSISTENCY)]
    columns += [Spec(EFFECT, group=pool, place={"pool": pool}) for pool in b.view.pools_of(b.question)]
    heads, rows = members(cells)
    sides = b.table("position", w.v("caption.position"), heads, columns, [("", rows)])
    if sides is not None:
        sections.append(Section("position", w.v("section.position"), 3, [Text((w.v("intro.position"),)), sides]))
    return sections


def agreement_figure(b: Builder, pools: Sequence[str], cells: Sequence[Cell]) -> Figure | None:
    """Agreement of each judge with each pool beside the best possible and that of the pool's own raters."""
    w = b.words
    names = figures.names_of(cells, w)
    points = figures.points_of(
        [
            (names[cell], b.view.row("agreement", question=b.question, pool=pool, **_place(cell)), {"pool": pool})
            for cell in cells
            for pool in pools
        ],
        w,
        b.width,
        "pool",
    )
    if not points:
        return None
    references = [
        figures.reference(kind, w.statistic(statistic), row, w, b.width)
        for pool in pools
        for kind, statistic in (("rater", "agreement.human"), ("constant", "agreement.best"))
        if (row := b.view.row(statistic, question=b.question, pool=pool)) is not None and row.value is not None
    ]
    chart = figures.distance_chart(
        points, list(names.values()), pools, references, b.view, w, w.v("figure.agreement_axis")
    )
    alt = w.v("figure.agreement_alt", pools=w.list(list(pools)))
    heads = (w.t("head.judge"), w.t("head.pool"))
    return Figure("agreement", chart, w.v("figure.agreement"), alt, heads=heads, column=w.statistic("agreement"))


def _place(cell: Cell) -> dict[str, str]:
    return {"judge": cell.judge, "condition": cell.condition}


def numbers(view: View, words: Words, place: dict[str, str]) -> list[str]:
    """Agreement with its interval, the best that was possible, and that of the pool's own raters."""
    pool = {"question": place["question"], "pool": place["pool"]}
    found = []
    for statistic, where in (("agreement", place), ("agreement.best", pool), ("agreement.human", pool)):
        row = view.row(statistic, **where)
        if row is not None and row.value is not None:
            value = words.number(statistic, row.value)
            interval = words.interval(row) if statistic == "agreement" else ""
            found.append(words.v(f"number.{statistic.replace('.', '_')}", value=f"{value} {interval}".rstrip()))
    return found


def delta(view: View, words: Words, place: dict[str, str]) -> str:
    """How much more often a judge disagrees with the first pool than with the second; empty where unknown."""
    row = view.row("delta", **place)
    if row is None or row.value is None:
        return ""
    value = f"{words.number('delta', row.value, 1.0)} {words.interval(row, 1.0)}".rstrip().replace(" ", "\u00a0")
    return words.v("number.delta", a=place["pool"], b=place["pool_b"], value=value)
