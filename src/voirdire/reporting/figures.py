"""The charts: the judge between two pools, distances, distributions, slices, pool by pool.

Every value stands in the chart as data, never as an expression, so that a name cannot act. Colours are those of
Okabe and Ito, which people with colour vision deficiencies can tell apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from voirdire.reporting.access import Cell, Row, View
from voirdire.reporting.grid import Grid
from voirdire.reporting.spoken import DESCRIPTION, estimate, spoken
from voirdire.reporting.words import Words

FONTS = "'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Helvetica Neue', Arial, sans-serif"
POOLS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
INK, GREY, PALE = "#222222", "#767676", "#dddddd"
ROW_HEIGHT = 22
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")


def altair() -> Any:
    """Altair, imported when the first chart is drawn; its types are looser than the checker's."""
    import altair as alt

    return alt


def data(points: Sequence[dict[str, Any]]) -> Any:
    """Points as the data of a chart.

    A tuple, as lists are copied whole with every chart that is made of this one; put in afterwards, as what a
    constructor is given is checked point by point against a schema that allows any point.
    """
    made = altair().Data(values=())
    made["values"] = tuple(points)
    return made


def slug(name: str, place: int) -> str:
    """A name that is safe in a file's name; its place where nothing safe is left.

    >>> slug("q1", 0), slug("../../etc", 1), slug("问题", 2)
    ('q1', 'etc', '3')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:24] or str(place + 1)


def colour(view: View, pool: str) -> str:
    """The colour of a pool, the same in every figure."""
    for place, entry in enumerate(view.meta.get("pools", [])):
        if entry["name"] == pool:
            return POOLS[int(entry.get("color_index", place)) % len(POOLS)]
    return INK


def names_of(cells: Sequence[Cell], words: Words) -> dict[Cell, str]:
    """A name for each cell, different for each."""
    names: dict[Cell, str] = {}
    for cell in cells:
        name = words.cell(cell)
        while name in names.values():
            name += " "
        names[cell] = name
    return names


def points_of(
    found: Sequence[tuple[str, Row | None, dict[str, Any]]], words: Words, width: float | None = 4, *heads: str
) -> list[dict[str, Any]]:
    """Named estimates as data; a value without an interval is its own two ends, an undefined one is left out.

    heads : the further fields that a mark is called by after its name
    """
    points = []
    for name, row, more in found:
        if row is not None and row.value is not None:
            low = row.value if row.low is None else row.low
            high = row.value if row.high is None else row.high
            told = estimate([name.strip(), *(more[head] for head in heads)], row, words, width)
            points.append({"name": name, "value": row.value, "low": low, "high": high, **more, **told})
    return points


def tilt(
    view: View, words: Words, question: str, pair: tuple[str, str], cells: Sequence[Cell], controls: Sequence[Cell]
) -> Any | None:
    """T of each judge between the pools of a pair, with its interval; the control judges below in grey."""
    names = names_of([*cells, *controls], words)
    place = {"question": question, "pool": pair[0], "pool_b": pair[1]}
    points = points_of(
        [
            (names[cell], view.row("tilt", judge=cell.judge, condition=cell.condition, **place), {"kind": kind})
            for kind, members in (("judge", cells), ("control", controls))
            for cell in members
        ],
        words,
    )
    return _tilt_chart(points, list(names.values()), pair, view, words) if points else None


def _tilt_chart(points: list[dict[str, Any]], order: list[str], pair: tuple[str, str], view: View, words: Words) -> Any:
    alt = altair()

    x_title = words.t("figure.tilt_axis", a=pair[0], b=pair[1])
    shown = {point["name"] for point in points}
    order = [name for name in order if name in shown]
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[-1.02, 1.02], nice=False),
        title=x_title,
        axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="+.1f", grid=False),
    )
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False))
    zero = alt.Chart(data([{"value": 0}])).mark_rule(color=PALE, aria=False)
    zero = zero.encode(x=alt.X("value:Q", title=x_title))
    paint = alt.Color("kind:N", scale=alt.Scale(domain=["judge", "control"], range=[INK, GREY]), legend=None)
    base = alt.Chart(data(points)).encode(y=y, description=alt.Description(DESCRIPTION))
    interval = base.mark_rule(strokeWidth=2, aria=False).encode(
        x=alt.X("low:Q", title=x_title), x2="high:Q", color=paint
    )
    judges = (
        base.transform_filter("datum.kind === 'judge'")
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x=x, color=paint)
    )
    control = (
        base.transform_filter("datum.kind === 'control'")
        .mark_point(size=40, shape="diamond", opacity=1)
        .encode(x=x, color=paint)
    )
    layers = alt.layer(zero, *ends_of(pair, x_title, view, words), interval, judges, control)
    return finish(layers.properties(width=520, height=max(60, ROW_HEIGHT * len(order))))


def ends_of(pair: tuple[str, str], x_title: str, view: View, words: Words) -> list[Any]:
    """The two ends of T, marked with the pools' names in their colours."""
    alt = altair()
    ends = [{"value": -1, "pool": pair[1], "edge": "left"}, {"value": 1, "pool": pair[0], "edge": "right"}]
    marks = [
        alt.Chart(data([end]))
        .mark_rule(color=colour(view, str(end["pool"])), strokeWidth=2, aria=False)
        .encode(x=alt.X("value:Q", title=x_title))
        for end in ends
    ]
    labels = [
        alt.Chart(data([{**end, "label": words.t("figure.at_pool", pool=end["pool"])}]))
        .mark_text(
            align=align,
            baseline="bottom",
            dy=-6,
            fontWeight="bold",
            color=colour(view, str(end["pool"])),
            limit=220,
            aria=False,
        )
        .encode(x=alt.X("value:Q", title=x_title), y=alt.value(0), text="label:N")
        for end, align in zip(ends, ("left", "right"), strict=True)
    ]
    return [*marks, *labels]


def distance(
    view: View, words: Words, question: str, pools: Sequence[str], cells: Sequence[Cell], controls: Sequence[Cell]
) -> Any | None:
    """MAE of each judge against each pool, beside one left-out rater (dashed) and the best constant (dotted)."""
    names = names_of(cells, words)
    points = points_of(
        [
            (
                names[cell],
                view.row("mae", question=question, pool=pool, judge=cell.judge, condition=cell.condition),
                {"pool": pool},
            )
            for cell in cells
            for pool in pools
        ],
        words,
        view.width(question),
        "pool",
    )
    if not points:
        return None
    references = _references(view, words, question, pools, controls)
    return distance_chart(points, list(names.values()), pools, references, view, words, words.t("figure.mae_axis"))


def _references(
    view: View, words: Words, question: str, pools: Sequence[str], controls: Sequence[Cell]
) -> list[dict[str, Any]]:
    found = []
    for pool in pools:
        ceiling = view.row("ceiling.own", question=question, pool=pool)
        if ceiling is not None and ceiling.value is not None:
            found.append(reference("rater", words.statistic(ceiling.statistic), ceiling, words, view.width(question)))
        constants = [
            row
            for cell in controls
            if cell.judge.startswith("control:constant_")
            and (row := view.row("mae", question=question, pool=pool, judge=cell.judge, condition=cell.condition))
            and row.value is not None
        ]
        if constants:
            best = min(constants, key=lambda row: row.value or 0.0)
            found.append(reference("constant", words.judge(best.judge), best, words, view.width(question)))
    return found


def reference(kind: str, name: str, row: Row, words: Words, width: float | None) -> dict[str, Any]:
    """A line to hold a pool's points against. kind : rater (dashed) or constant (dotted)"""
    return {"pool": row.pool, "value": row.value, "kind": kind, **estimate([name, row.pool], row, words, width)}


def distance_chart(
    points: list[dict[str, Any]],
    order: list[str],
    pools: Sequence[str],
    references: list[dict[str, Any]],
    view: View,
    words: Words,
    x_title: str,
) -> Any:
    """A point with its interval for each judge and pool; lines at the references of kind rater and constant."""
    alt = altair()

    paint = alt.Color(
        "pool:N",
        scale=alt.Scale(domain=list(pools), range=[colour(view, pool) for pool in pools]),
        title=words.t("head.pool"),
    )
    shape = alt.Shape(
        "pool:N",
        scale=alt.Scale(domain=list(pools), range=[SHAPES[i % len(SHAPES)] for i in range(len(pools))]),
        title=words.t("head.pool"),
    )
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False))
    offset = alt.YOffset("pool:N", sort=list(pools))
    x = alt.X("value:Q", title=x_title, scale=alt.Scale(zero=True), axis=alt.Axis(grid=True, labelFlush=False))
    said = alt.Description(DESCRIPTION)
    base = alt.Chart(data(points)).encode(y=y, yOffset=offset, color=paint, description=said)
    layers = [
        alt.Chart(data([line for line in references if line["kind"] == kind]))
        .mark_rule(strokeDash=dash, strokeWidth=1.5)
        .encode(x=alt.X("value:Q", title=x_title), color=paint, description=said)
        for kind, dash in (("rater", [6, 4]), ("constant", [2, 3]))
        if any(line["kind"] == kind for line in references)
    ]
    interval = base.mark_rule(strokeWidth=2, aria=False).encode(x=alt.X("low:Q", title=x_title), x2="high:Q")
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, shape=shape)
    height = max(60, (10 + 14 * len(pools)) * len(order))
    return finish(alt.layer(*layers, interval, dots).properties(width=480, height=height))


def distributions(shares: list[dict[str, Any]], levels: Sequence[str], view: View, words: Words) -> Any | None:
    """Shares of the levels, a panel for each pool and judge. ``shares``: panel, pool ("" for judges), level, share."""
    alt = altair()

    if not shares:
        return None
    top = max(entry["share"] for entry in shares)
    panels: dict[str, list[dict[str, Any]]] = {}
    for entry in shares:
        told = spoken([entry["panel"], entry["level"]], f"{100 * entry['share']:.1f} %")
        panels.setdefault(entry["panel"], []).append({**entry, **told})
    x = alt.X("level:N", sort=list(levels), title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True, labelLimit=60))
    y = alt.Y(
        "share:Q",
        title=words.t("figure.share_axis"),
        scale=alt.Scale(domain=[0, top]),
        axis=alt.Axis(format=".0%", tickCount=4),
    )
    bars = [
        alt.Chart(data(entries), title=alt.Title(panel, limit=170, fontSize=12, anchor="start"))
        .mark_bar(color=colour(view, entries[0]["pool"]) if entries[0]["pool"] else GREY)
        .encode(x=x, y=y, description=alt.Description(DESCRIPTION))
        .properties(width=150, height=90)
        for panel, entries in panels.items()
    ]
    return finish(alt.concat(*bars, columns=min(4, len(bars)), spacing=20))


def heat(grid: Grid) -> Any | None:
    """A heat map of a table whose cells are coloured; the numbers stand in the cells."""
    alt = altair()

    columns = [column.title for column in grid.columns]
    rows = [line.heads[0] for line in grid.lines]
    cells = [
        {
            "row": line.heads[0],
            "column": title,
            "heat": entry.heat,
            "text": entry.text,
            **spoken([line.heads[0], title], entry.text, entry.interval),
        }
        for line in grid.lines
        for title, entry in zip(columns, line.entries, strict=True)
        if entry.text
    ]
    if not any(cell["heat"] is not None for cell in cells):
        return None
    diverging = any(entry.diverging for line in grid.lines for entry in line.entries)
    scale = (
        alt.Scale(domain=[-1, 0, 1], range=["#E08640", "#ffffff", "#4095C5"])
        if diverging
        else alt.Scale(domain=[0, 1], range=["#ffffff", "#4095C5"])
    )
    base = alt.Chart(data(cells)).encode(
        x=alt.X(
            "column:N",
            sort=columns,
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=160, domain=False, ticks=False),
        ),
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=260, domain=False, ticks=False)),
    )
    tiles = base.mark_rect(stroke="white").encode(
        color=alt.Color("heat:Q", scale=scale, legend=None), description=alt.Description(DESCRIPTION)
    )
    texts = base.mark_text(fontSize=11, color=INK, aria=False).encode(text="text:N")
    size = {"width": max(120, 64 * len(columns)), "height": max(40, ROW_HEIGHT * len(rows))}
    return finish((tiles + texts).properties(**size))


def finish(chart: Any) -> Any:
    """The house style: one font stack, no frame, quiet axes, room for fonts wider than the one that is measured."""
    padding = {"left": 20, "top": 6, "right": 12, "bottom": 6}
    chart = chart.configure(font=FONTS, background="white", padding=padding).configure_view(stroke=None)
    chart = chart.configure_axis(
        labelColor=INK,
        titleColor=INK,
        titleFontWeight="normal",
        gridColor="#eeeeee",
        domainColor=PALE,
        tickColor=PALE,
        labelFontSize=12,
        titleFontSize=12,
        labelFont=FONTS,
        titleFont=FONTS,
    )
    chart = chart.configure_legend(
        labelFont=FONTS, titleFont=FONTS, labelLimit=200, columnPadding=18, padding=5, orient="bottom"
    )
    return chart.configure_title(font=FONTS, color=INK)
