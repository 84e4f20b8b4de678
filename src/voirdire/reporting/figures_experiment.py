"""The charts of the experiment: what T is made of, W between two pools, and the paper's Figures 2, 3 and 4.

As in :mod:`figures` every value stands in the chart as data, and names never act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voirdire.reporting.access import Row, View
from voirdire.reporting.figures import GREY, INK, PALE, POOLS, ROW_HEIGHT, altair, colour, data, finish, points_of
from voirdire.reporting.headline import PARTS, Standing, faithful, split
from voirdire.reporting.spoken import DESCRIPTION, estimate
from voirdire.reporting.words import Words

PAINT = {"image": "#E69F00", "permissiveness": "#56B4E9", "orientation": "#009E73"}
EDGE = (-0.25, 1.25)
MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def decomposition(
    view: View, words: Words, question: str, pair: tuple[str, str], places: Mapping[str, Standing], parts: Sequence[str]
) -> Any | None:
    """The three parts of T stacked from 0 for each judge, with the base and the observed T marked; a panel a slice.

    places : shown name -> where its decomposition stands; parts : the slices
    """
    titles = {name: words.x(f"part.{name}") for name in (*PARTS, "base", "observed", "faithful")}
    panels: list[Panel] = []
    for part in parts:
        bars: list[dict[str, Any]] = []
        marks: list[dict[str, Any]] = []
        for name, here in places.items():
            found = split(view, question, here, part)
            said = {
                p: estimate([name.strip(), titles[p], words.slice(part)], row, words, 4)
                for p, row in found.items()
                if p in titles
            }
            told = {p: {"name": name, "value": found[p].value, **said[p]} for p in said}
            bars += [{**told[p], "part": titles[p]} for p in PARTS if p in found]
            marks += [{**told[p], "mark": titles[p]} for p in ("base", "observed") if p in found]
        if bars:
            zero = faithful(view, question, pair, part)
            panels.append((words.slice(part), bars, marks, None if zero is None else zero.value))
    return _decomposition_chart(panels, titles, pair, words) if panels else None


Panel = tuple[str, list[dict[str, Any]], list[dict[str, Any]], float | None]


def _decomposition_chart(
    panels: Sequence[Panel], titles: Mapping[str, str], pair: tuple[str, str], words: Words
) -> Any:
    """Panels side by side on one scale; names at the first only."""
    alt = altair()
    order = list(dict.fromkeys(bar["name"] for _, bars, _, _ in panels for bar in bars))
    ends = [limit for _, bars, marks, neutral in panels for limit in (*_limits(bars, marks), neutral or 0.0)]
    scale = alt.Scale(domain=[min(ends), max(ends)], nice=True)
    title = words.t("figure.tilt_axis", a=pair[0], b=pair[1])
    ticks = alt.Axis(format="+.2~f", grid=True, tickCount=6, labelFlush=False)
    x = alt.X("value:Q", stack="zero", title=title, scale=scale, axis=ticks)
    size = {"width": 520 if len(panels) == 1 else 280, "height": max(60, ROW_HEIGHT * len(order))}
    charts = []
    for place, (name, bars, marks, neutral) in enumerate(panels):
        axis = alt.Axis(labelLimit=220, ticks=False, domain=False, labels=place == 0)
        y = alt.Y("name:N", sort=order, title=None, axis=axis, scale=alt.Scale(domain=order))
        chart = alt.layer(*_zero_lines(neutral, title), *_parts(bars, marks, titles, (x, y), title))
        panel = alt.Title(name if len(panels) > 1 else "", anchor="start", fontSize=12)
        charts.append(chart.properties(title=panel, **size))
    return finish(alt.hconcat(*charts, spacing=32))


def _limits(bars: Sequence[dict[str, Any]], marks: Sequence[dict[str, Any]]) -> list[float]:
    """How far stacked bars and marks reach on both sides."""
    ends = [0.0, *(mark["value"] for mark in marks)]
    for name in {bar["name"] for bar in bars}:
        values = [bar["value"] for bar in bars if bar["name"] == name]
        ends += [sum(value for value in values if value > 0), sum(value for value in values if value < 0)]
    return ends


def _zero_lines(neutral: float | None, title: str) -> list[Any]:
    """T = 0, and T of a faithful neutral judge (dashed)."""
    alt = altair()
    lines = [({"value": 0}, [1, 0], INK)] + ([] if neutral is None else [({"value": neutral}, [4, 3], GREY)])
    return [
        alt.Chart(data([point]))
        .mark_rule(color=paint, strokeDash=dash, aria=False)
        .encode(x=alt.X("value:Q", title=title))
        for point, dash, paint in lines
    ]


def _parts(
    bars: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    titles: Mapping[str, str],
    axes: tuple[Any, Any],
    title: str,
) -> list[Any]:
    """The stacked parts and the two marks. axes : x and y."""
    alt = altair()
    x, y = axes
    names = [titles[part] for part in PARTS]
    color = alt.Color("part:N", scale=alt.Scale(domain=names, range=list(PAINT.values())), title=None, sort=names)
    ends = [titles["base"], titles["observed"]]
    shape = alt.Shape("mark:N", scale=alt.Scale(domain=ends, range=["square", "diamond"]), title=None)
    fill = alt.Fill("mark:N", scale=alt.Scale(domain=ends, range=["#ffffff", INK]), title=None)
    said = alt.Description(DESCRIPTION)
    stacked = alt.Chart(data(bars)).mark_bar(height=12).encode(y=y, x=x, color=color, description=said)
    points = (
        alt.Chart(data(marks))
        .mark_point(size=60, opacity=1, stroke=INK, strokeWidth=1.5)
        .encode(y=y, x=alt.X("value:Q", title=title), shape=shape, fill=fill, description=said)
    )
    return [stacked, points]


def weights(
    view: View, words: Words, question: str, pair: tuple[str, str], places: Mapping[str, Standing]
) -> Any | None:
    """W of each judge with its interval between the two pools; the middle is neutral."""
    rows: list[tuple[str, Row | None, dict[str, Any]]] = []
    for name, here in places.items():
        at = {"judge": here.cell.judge, "condition": here.cell.condition}
        rows.append((name, view.row("orientation.w", question=question, pool=pair[0], pool_b=pair[1], **at), {}))
    points = [
        {**p, **{key: min(max(p[key], EDGE[0]), EDGE[1]) for key in ("value", "low", "high")}}
        for p in points_of(rows, words)
    ]
    return _weights_chart(points, pair, view, words) if points else None


def _weights_chart(points: list[dict[str, Any]], pair: tuple[str, str], view: View, words: Words) -> Any:
    alt = altair()
    title = words.x("figure.w_axis", a=pair[0], b=pair[1])
    order = [point["name"] for point in points]
    scale = alt.Scale(domain=list(EDGE), nice=False)
    x = alt.X(
        "value:Q", title=title, scale=scale, axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f", grid=False)
    )
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False))
    ends = [
        alt.Chart(data([{"value": place, "label": pool}]))
        for place, pool in ((0, pair[0]), (1, pair[1]))
    ]  # fmt: skip
    rules = [
        end.mark_rule(color=colour(view, pool), strokeWidth=2, aria=False).encode(x=x)
        for end, pool in zip(ends, pair, strict=True)
    ]
    labels = [
        end.mark_text(
            baseline="bottom", dy=-6, fontWeight="bold", color=colour(view, pool), limit=200, aria=False
        ).encode(x=x, y=alt.value(0), text="label:N")
        for end, pool in zip(ends, pair, strict=True)
    ]
    middle = alt.Chart(data([{"value": 0.5}])).mark_rule(color=GREY, strokeDash=[4, 3], aria=False)
    middle = middle.encode(x=x)
    base = alt.Chart(data(points)).encode(y=y, description=alt.Description(DESCRIPTION))
    interval = base.mark_rule(strokeWidth=2, color=INK, aria=False).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    dots = base.mark_point(filled=True, size=70, opacity=1, color=INK).encode(x=x)
    layers = alt.layer(*rules, middle, *labels, interval, dots)
    return finish(layers.properties(width=520, height=max(60, ROW_HEIGHT * len(order))))


def series(
    found: Sequence[tuple[str, str, str, Row | None]],
    view: View,
    words: Words,
    title: str,
    width: float | None = 4,
    zero: bool = False,
) -> Any | None:
    """Values over the levels of the items, a line of points for each series: (panel, level, series, estimate).

    A series that is called as a pool has that pool's colour.
    """
    points = []
    for panel, level, name, row in found:
        points += points_of([(name, row, {"panel": panel, "level": level})], words, width, "panel", "level")
    if not points:
        return None
    return _series_chart(points, view, words, title, zero=zero)


def _series_chart(points: list[dict[str, Any]], view: View, words: Words, title: str, *, zero: bool) -> Any:
    alt = altair()
    names = list(dict.fromkeys(point["name"] for point in points))
    levels = list(dict.fromkeys(point["level"] for point in points))
    panels = list(dict.fromkeys(point["panel"] for point in points))
    pools = {words.t("pool_panel", pool=pool): colour(view, pool) for pool in view.pools}
    spare = [paint for paint in POOLS if paint not in pools.values()]
    paints = [pools.get(name) or spare[place % len(spare)] for place, name in enumerate(names)]
    shapes = alt.Scale(domain=names, range=[MARKS[place % len(MARKS)] for place in range(len(names))])
    ends = [point[key] for point in points for key in ("low", "high")] + ([0.0] if zero else [])
    y = alt.Y(
        "value:Q", title=title, scale=alt.Scale(domain=[min(ends), max(ends)], zero=zero), axis=alt.Axis(grid=True)
    )
    x = alt.X("level:N", sort=levels, title=None, axis=alt.Axis(labelAngle=0, labelLimit=120))
    offset = alt.XOffset("name:N", sort=names)
    color = alt.Color("name:N", scale=alt.Scale(domain=names, range=paints), title=None, sort=names)
    charts = []
    for panel in panels:
        here = [point for point in points if point["panel"] == panel]
        said = alt.Description(DESCRIPTION)
        base = alt.Chart(data(here)).encode(x=x, xOffset=offset, color=color, description=said)
        bars = base.mark_rule(strokeWidth=2, aria=False).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
        dots = base.mark_point(filled=True, size=70, opacity=1).encode(
            y=y, shape=alt.Shape("name:N", scale=shapes, title=None)
        )
        layers = [bars, dots]
        if zero:
            line = alt.Chart(data([{"value": 0}])).mark_rule(color=PALE, aria=False)
            layers.insert(0, line.encode(y="value:Q"))
        width = max(110, 26 * len(names)) * len({point["level"] for point in here})
        charts.append(
            alt.layer(*layers).properties(
                width=min(width, 420), height=240, title=alt.Title(panel, anchor="start", fontSize=12)
            )
        )
    return finish(alt.hconcat(*charts, spacing=24))


def personas(
    view: View,
    words: Words,
    pair: tuple[str, str],
    found: Sequence[tuple[str, str, str, str, Row | None]],
) -> Any | None:
    """T of each judge under each persona, a panel for each culture: (panel, judge, persona, pool or "", estimate)."""
    points = []
    for panel, judge, persona, pool, row in found:
        more = {"panel": panel, "persona": persona, "pool": pool}
        points += points_of([(judge, row, more)], words, 4, "persona", "panel")
    return _persona_chart(points, words.t("figure.tilt_axis", a=pair[0], b=pair[1]), view) if points else None


def _persona_chart(points: Sequence[dict[str, Any]], title: str, view: View) -> Any:
    """Panels side by side; judges' names at the first only."""
    alt = altair()
    kinds = list(dict.fromkeys((point["persona"], point["pool"]) for point in points))
    domain = [persona for persona, _ in kinds]
    paints = [colour(view, pool) if pool else GREY for _, pool in kinds]
    shapes = [MARKS[place % len(MARKS)] for place in range(len(kinds))]
    order = list(dict.fromkeys(point["name"] for point in points))
    color = alt.Color("persona:N", scale=alt.Scale(domain=domain, range=paints), title=None)
    shape = alt.Shape("persona:N", scale=alt.Scale(domain=domain, range=shapes), title=None)
    ticks = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="+.1f", grid=False)
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[-1, 1], nice=False), axis=ticks)
    size = {"width": 300, "height": max(60, (8 + 12 * len(kinds)) * len(order))}
    charts = []
    for place, panel in enumerate(dict.fromkeys(point["panel"] for point in points)):
        here = [point for point in points if point["panel"] == panel]
        labels = alt.Axis(labelLimit=220, ticks=False, domain=False, labels=place == 0)
        base = alt.Chart(data(here)).encode(
            y=alt.Y("name:N", sort=order, title=None, axis=labels),
            yOffset=alt.YOffset("persona:N", sort=domain),
            color=color,
            description=alt.Description(DESCRIPTION),
        )
        zero = alt.Chart(data([{"value": 0}])).mark_rule(color=PALE, aria=False)
        zero = zero.encode(x=alt.X("value:Q", title=title))
        bars = base.mark_rule(strokeWidth=2, aria=False).encode(x=alt.X("low:Q", title=title), x2="high:Q")
        dots = base.mark_point(filled=True, size=55, opacity=1).encode(x=x, shape=shape)
        panel_title = alt.Title(panel, anchor="start", fontSize=12)
        charts.append(alt.layer(zero, bars, dots).properties(title=panel_title, **size))
    return finish(alt.hconcat(*charts, spacing=20))
