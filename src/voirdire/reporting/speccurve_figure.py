"""The specification curve drawn: every definition of each judge, and one judge's definitions in order.

Nothing is computed here but the order of the values. A definition has the colour of the pool that its whole interval
speaks for, and is grey where the interval reaches the middle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from voirdire.analysis.naming import levels_of
from voirdire.analysis.specifications import DELTA, STATISTICS, TILT, WEIGHT, ZERO
from voirdire.reporting.access import View
from voirdire.reporting.figures import GREY, INK, PALE, POOLS, data, finish
from voirdire.reporting.spoken import DESCRIPTION, spoken
from voirdire.reporting.words import Words
from voirdire.texts import text

CHOICES = ("correction", "pools", "consensus", "anchors", "min_gap", "subset")
OPEN = "open"
TOWARDS_SECOND = {TILT: -1, DELTA: 1, WEIGHT: 1}
"""The sign, off the middle, with which a statistic speaks for the second pool."""
WIDTH, ROW, LANE = 250, 30, 15
MOST_LANES = 30
W_ENDS = (-0.5, 1.5)


def overview(
    frame: pl.DataFrame,
    lang: str,
    pair: tuple[str, str],
    *,
    paint: Mapping[str, str] | None = None,
    width: int = WIDTH,
) -> Any | None:
    """Every definition of every judge of one question and pair: a panel for T, W and delta each.

    frame : the rows of a SpecificationCurve; those of other pairs are left out. None without a value.
    paint : colours of the two pools; width : of a panel, in pixels
    """
    alt = _altair()
    sides = _sides(pair, lang)
    points = _points(_of(frame, pair), sides, lang)
    shown = [name for name in STATISTICS if any(point["statistic"] == name for point in points)]
    if not points:
        return None
    judges = list(dict.fromkeys(point["judge"] for point in points))
    colours = _colours(pair, sides, paint)
    panels = [
        _panel([point for point in points if point["statistic"] == name], name, judges, colours, lang, first=not place)
        for place, name in enumerate(shown)
    ]
    panels = [panel.properties(width=width) for panel in panels]
    return finish(alt.hconcat(*panels, spacing=18))


def curve(
    frame: pl.DataFrame,
    lang: str,
    pair: tuple[str, str],
    judge: str,
    statistic: str,
    *,
    paint: Mapping[str, str] | None = None,
) -> Any | None:
    """One judge's definitions in the order of their values, with the choices behind each below. None without any."""
    alt = _altair()
    rows = _of(frame, pair).filter((pl.col("judge") == judge) & (pl.col("statistic") == statistic))
    sides = _sides(pair, lang)
    given = _points(rows, sides, lang)
    levels = {choice: list(dict.fromkeys(point[choice] for point in given)) for choice in CHOICES}
    points = sorted(given, key=lambda point: point["value"])
    if not points:
        return None
    for rank, point in enumerate(points):
        point["rank"] = rank
    colours = _colours(pair, sides, paint)
    width = max(420, min(900, 4 * len(points)))
    x = alt.X("rank:Q", axis=None, scale=alt.Scale(domain=[-1, len(points)], nice=False))
    top = _values(points, statistic, x, colours, lang).properties(width=width, height=210)
    below = _lanes(points, levels, x, colours, lang).properties(width=width)
    return finish(alt.vconcat(top, below, spacing=8).resolve_scale(x="shared"))


def choice_name(choice: str, lang: str) -> str:
    """A choice in words (``consensus``)."""
    return text(f"speccurve.choice.{choice}", lang)


def level_name(choice: str, level: str | float | None, lang: str) -> str:
    """What was chosen, in words; a subset by its column and level."""
    if level is None:
        return text("speccurve.level.none", lang)
    if choice == "min_gap":
        gap = float(level)
        return (
            text("speccurve.level.min_gap.some", lang, gap=f"{gap:g}")
            if gap
            else text("speccurve.level.min_gap.none", lang)
        )
    if choice == "subset":
        named = ", ".join(f"{column}: {value}" for column, value in levels_of(str(level)))
        return text("speccurve.level.subset.all", lang) if level == "all" else View.clean(named)
    return text(f"speccurve.level.{choice}.{level}", lang)


def statistic_name(statistic: str, lang: str) -> str:
    """A statistic in words."""
    return text(f"speccurve.statistic.{statistic.replace('.', '_')}", lang)


def _altair() -> Any:
    import altair as alt

    return alt


def _of(frame: pl.DataFrame, pair: tuple[str, str]) -> pl.DataFrame:
    return frame.filter((pl.col("pool") == pair[0]) & (pl.col("pool_b") == pair[1]))


def _sides(pair: tuple[str, str], lang: str) -> dict[str, str]:
    a, b = (text("speccurve.figure.nearer", lang, pool=View.clean(pool)) for pool in pair)
    return {"a": a, "b": b, OPEN: text("speccurve.figure.open", lang)}


def _points(rows: pl.DataFrame, sides: Mapping[str, str], lang: str) -> list[dict[str, Any]]:
    """The defined values, each with the side that its interval speaks for and a place of its own in the row."""
    points: list[dict[str, Any]] = []
    seen: dict[tuple[str, str], int] = {}
    for row in rows.filter(pl.col("value").is_not_null()).iter_rows(named=True):
        key = (row["judge"], row["statistic"])
        seen[key] = seen.get(key, 0) + 1
        low, high = _end(row, "low"), _end(row, "high")
        kept = {name: row[name] for name in ("statistic", "value", "main", *CHOICES)}
        place = {"judge": View.clean(row["judge"]), "spread": (seen[key] * 0.618034) % 1.0}
        side = sides[_side(row)]
        points.append({**kept, **place, "low": low, "high": high, "side": side, **_said(row, lang)})
    return points


def _said(row: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """What the mark of a definition says: judge, statistic, what was chosen, value and interval."""
    chosen = "; ".join(f"{choice_name(choice, lang)}: {level_name(choice, row[choice], lang)}" for choice in CHOICES)
    words = Words(lang)
    value, low, high = (
        None if row[name] is None else words.number(row["statistic"], row[name])
        for name in ("value", "low", "high")
    )  # fmt: skip
    interval = f"[{low}, {high}]" if low is not None and high is not None else ""
    return spoken([row["judge"], statistic_name(row["statistic"], lang), chosen], value or "", interval)


def _end(row: Mapping[str, Any], end: str) -> float:
    """An end of the interval as drawn: the value itself where there is none or it is unbounded."""
    found = row[end]
    return float(row["value"] if found is None or math.isinf(found) else found)


def _side(row: Mapping[str, Any]) -> str:
    """``a`` or ``b`` for a pool, ``open`` where the interval reaches the middle or there is none."""
    zero = ZERO[row["statistic"]]
    if row["low"] is None or row["low"] <= zero <= row["high"]:
        return OPEN
    return "b" if (row["low"] - zero) * TOWARDS_SECOND[row["statistic"]] > 0 else "a"


def _colours(pair: tuple[str, str], sides: Mapping[str, str], paint: Mapping[str, str] | None) -> Any:
    alt = _altair()
    given = paint or {}
    shades = [given.get(pair[0], POOLS[0]), given.get(pair[1], POOLS[1]), GREY]
    scale = alt.Scale(domain=list(sides.values()), range=shades)
    return alt.Color("side:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", labelLimit=400))


def _panel(
    points: list[dict[str, Any]], statistic: str, judges: Sequence[str], colours: Any, lang: str, *, first: bool
) -> Any:
    """All definitions of one statistic, a row for each judge, the main one as a bar with its interval."""
    alt = _altair()
    axis = alt.Axis(labelLimit=200, ticks=False, domain=False, labels=first)
    y = alt.Y("judge:N", sort=list(judges), scale=alt.Scale(domain=list(judges)), title=None, axis=axis)
    x = alt.X("value:Q", title=statistic_name(statistic, lang), scale=_scale(points, statistic))
    middle = alt.Chart(data([{"value": ZERO[statistic]}])).mark_rule(color=PALE, aria=False)
    middle = middle.encode(x=x)
    said = alt.Description(DESCRIPTION)
    offset = alt.YOffset("spread:Q", scale=alt.Scale(domain=[-0.35, 1.35]))
    layers = []
    for whole in (False, True):
        chosen = [point for point in points if (point["subset"] == "all") == whole]
        every = alt.Chart(data(chosen))
        marks = every.mark_point(size=22, opacity=0.7, filled=whole, strokeWidth=1)
        layers.append(marks.encode(x=x, y=y, yOffset=offset, color=colours, description=said))
    main = alt.Chart(data([point for point in points if point["main"]]))
    rule = main.mark_rule(strokeWidth=1.5, color=INK, aria=False).encode(x=alt.X("low:Q"), x2="high:Q", y=y)
    mark = main.mark_point(shape="diamond", size=90, filled=True, color=INK, opacity=1)
    mark = mark.encode(x=x, y=y, description=said)
    return alt.layer(middle, *layers, rule, mark).properties(height=max(50, ROW * len(judges)))


def _scale(points: Sequence[Mapping[str, Any]], statistic: str) -> Any:
    """The axis of a statistic; values of W far outside 0 to 1 (of small subsets) stand at its edge."""
    alt = _altair()
    if statistic != WEIGHT:
        return alt.Scale(zero=False, nice=True)
    values = [point[name] for point in points for name in ("low", "high") if point["main"]]
    values += [point["value"] for point in points] + [ZERO[WEIGHT]]
    domain = [max(min(values), W_ENDS[0]), min(max(values), W_ENDS[1])]
    return alt.Scale(zero=False, nice=False, clamp=True, domain=domain)


def _values(points: list[dict[str, Any]], statistic: str, x: Any, colours: Any, lang: str) -> Any:
    alt = _altair()
    y = alt.Y("value:Q", title=statistic_name(statistic, lang), scale=_scale(points, statistic))
    middle = alt.Chart(data([{"value": ZERO[statistic]}])).mark_rule(color=GREY, aria=False).encode(y=y)
    every = alt.Chart(data(points))
    rules = every.mark_rule(opacity=0.35, aria=False).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colours)
    said = alt.Description(DESCRIPTION)
    dots = every.mark_circle(size=18, opacity=1).encode(x=x, y=y, color=colours, description=said)
    main = alt.Chart(data([point for point in points if point["main"]]))
    mark = main.mark_point(shape="diamond", size=110, filled=True, color=INK, opacity=1)
    mark = mark.encode(x=x, y=y, description=said)
    return alt.layer(middle, rules, dots, mark)


def _lanes(points: list[dict[str, Any]], choices: Mapping[str, list[Any]], x: Any, colours: Any, lang: str) -> Any:
    """Below the curve, a lane for each level of each choice that varies; a mark where a definition has it."""
    alt = _altair()
    order: list[str] = []
    marks: list[dict[str, Any]] = []
    for choice, levels in choices.items():
        if len(levels) < 2:
            continue
        for level in levels[: MOST_LANES - len(order)]:
            lane = f"{choice_name(choice, lang)}: {level_name(choice, level, lang)}"
            order.append(lane)
            marks += [
                {"rank": point["rank"], "lane": lane, "side": point["side"]}
                for point in points
                if point[choice] == level
            ]
    axis = alt.Axis(labelLimit=260, ticks=False, domain=False)
    y = alt.Y("lane:N", sort=order, title=None, axis=axis)
    base = alt.Chart(data(marks)).mark_tick(thickness=2, height=9, aria=False)
    return base.encode(x=x, y=y, color=colours).properties(height=max(40, LANE * len(order)))
