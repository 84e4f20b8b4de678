"""The page of a planned audit's power: how many items are needed, the figure, and the table of plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from voirdire.analysis.power import PowerTable
from voirdire.reporting.blocks import Figure, Report, Section, Text
from voirdire.reporting.figures import GREY, INK, POOLS, data, finish
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.words import DASH, Words
from voirdire.texts import text

KEYS = ("effect", "raters", "judges", "repeats", "items")
NUMBERS = ("reliability", "expected", "error", "power", "simulated", "detectable")
DIGITS = {"expected": 3, "error": 3, "detectable": 3}
MOST_COLUMNS, WIDTH, HEIGHT = 3, 260, 190
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 4]]


def page(table: PowerTable, lang: str = "en") -> Report:
    """The power of every plan as a report in a language."""
    words = Words(lang)
    options = table.options
    first = Section("verdicts", text("power.section.needed", lang), 2)
    first.blocks.append(Text(tuple(needed_sentences(table, lang))))
    first.blocks.append(Text((text("power.detectable", lang, power=_percent(options.power)),), "note"))
    picture = Section("figure", text("power.section.figure", lang), 2, [figure(table, lang)])
    plans = Section("plans", text("power.section.plans", lang), 2, [_grid(table, lang)])
    how = Section("how", text("power.section.how", lang), 2)
    how.blocks.append(Text((_assumed(table, lang), text("power.how.formula", lang), text("power.how.limits", lang))))
    facts = [
        (text("power.fact.divergence", lang), f"{table.divergence:.2f}"),
        (text("power.fact.alpha", lang), f"{options.alpha:g}"),
        (text("power.fact.simulations", lang), str(options.simulations)),
        (text("power.fact.seed", lang), str(options.seed)),
    ]
    sections = [first, picture, plans, how]
    return Report(lang, text("power.title", lang), text("power.subtitle", lang), "", facts, sections, words)


def needed_sentences(table: PowerTable, lang: str) -> Iterator[str]:
    """How many items each effect needs, for each number of raters, judges and repeats."""
    for row in table.needed.iter_rows(named=True):
        key = "power.needed.items" if row["items"] else "power.needed.none"
        people = {name: row[name] for name in ("raters", "judges", "repeats")}
        shown = f"{row['items'] or 0:,}".replace(",", "\u202f")
        yield text(key, lang, effect=effect_name(row, lang), items=shown, power=_percent(table.options.power), **people)


def effect_name(row: Mapping[str, Any], lang: str) -> str:
    """An effect in words."""
    return text(f"power.effect.{row['statistic']}", lang, value=f"{row['wanted']:g}")


def columns_of(table: PowerTable, lang: str) -> list[str]:
    """The headings of the table of plans; simulated power has a column where there is some."""
    return [text(f"power.head.{name}", lang) for name in (*KEYS, *_numbers(table))]


def lines_of(table: PowerTable, lang: str) -> list[list[str]]:
    """The cells of the table of plans."""
    return [
        [*_heads(row, lang), *(f"{entry.text} {entry.interval}".strip() for entry in _entries(row, table))]
        for row in table.plans.iter_rows(named=True)
    ]


def figure(table: PowerTable, lang: str) -> Figure:
    """Power over items, a panel for each effect: lines by formula, points with intervals by simulation."""
    caption = text("power.figure.caption" if table.options.simulations else "power.figure.caption_formula", lang)
    return Figure("power", _chart(table, lang), caption, caption)


def _numbers(table: PowerTable) -> tuple[str, ...]:
    return NUMBERS if table.options.simulations else tuple(name for name in NUMBERS if name != "simulated")


def _heads(row: Mapping[str, Any], lang: str) -> list[str]:
    return [effect_name(row, lang), *(str(row[name]) for name in KEYS[1:])]


def _entries(row: Mapping[str, Any], table: PowerTable) -> list[Entry]:
    return [_entry(row, name) for name in _numbers(table)]


def _entry(row: Mapping[str, Any], name: str) -> Entry:
    if row[name] is None:
        return Entry(DASH)
    interval = f"[{row['simulated_low']:.2f}, {row['simulated_high']:.2f}]" if name == "simulated" else ""
    return Entry(f"{row[name]:.{DIGITS.get(name, 2)}f}".replace("-", "\u2212"), interval)


def _grid(table: PowerTable, lang: str) -> Grid:
    heads, rest = tuple(columns_of(table, lang)[: len(KEYS)]), columns_of(table, lang)[len(KEYS) :]
    lines = tuple(
        Line(tuple(_heads(row, lang)), tuple(_entries(row, table))) for row in table.plans.iter_rows(named=True)
    )
    columns = tuple(Column(title) for title in rest)
    return Grid("power", text("power.caption", lang), heads, columns, (("", lines),))


def _assumed(table: PowerTable, lang: str) -> str:
    options = table.options
    told = {name: f"{getattr(options, name):g}" for name in ("slope", "noise")}
    shares = {name: _percent(getattr(options, name)) for name in ("repeated", "common")}
    return text("power.how.assumed", lang, divergence=f"{table.divergence:.2f}", **told, **shares)


def _percent(share: float) -> str:
    return f"{100 * share:g}\u202f%"


def _altair() -> Any:
    import altair as alt

    return alt


def _chart(table: PowerTable, lang: str) -> Any:
    alt = _altair()
    points = _points(table.plans, lang)
    plans = list(dict.fromkeys(point["plan"] for point in points))
    paint = alt.Color(
        "plan:N",
        scale=alt.Scale(domain=plans, range=[POOLS[k % len(POOLS)] for k in range(len(plans))]),
        legend=alt.Legend(title=None, orient="bottom", columns=2, labelLimit=360),
    )
    dashes = alt.StrokeDash(
        "plan:N", scale=alt.Scale(domain=plans, range=[DASHES[k % len(DASHES)] for k in range(len(plans))]), legend=None
    )
    x = alt.X("items:Q", title=text("power.head.items", lang), scale=alt.Scale(type="log", nice=False))
    panels = []
    for effect in dict.fromkeys(point["effect"] for point in points):
        here = [point for point in points if point["effect"] == effect]
        y = alt.Y("power:Q", title=text("power.head.power", lang), scale=alt.Scale(domain=[0, 1]))
        base = alt.Chart(data(here))
        wanted = alt.Chart(data([{"power": table.options.power}])).mark_rule(color=GREY, strokeDash=[4, 3])
        layers = [wanted.encode(y=y), base.mark_line(strokeWidth=2).encode(x=x, y=y, color=paint, strokeDash=dashes)]
        if table.options.simulations:
            bars = base.mark_rule(strokeWidth=1, opacity=0.7)
            layers.append(bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=paint))
            layers.append(base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y="simulated:Q", color=paint))
        title = alt.TitleParams(effect, anchor="start", fontSize=12, fontWeight="normal", color=INK)
        panels.append(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))
    return finish(alt.concat(*panels, columns=min(MOST_COLUMNS, len(panels)), spacing=24))


def _points(plans: pl.DataFrame, lang: str) -> list[dict[str, Any]]:
    varying = [name for name in ("raters", "judges", "repeats") if plans[name].n_unique() > 1]
    return [
        {
            "effect": effect_name(row, lang),
            "plan": text("power.list", lang).join(text(f"power.plan.{n}", lang, count=row[n]) for n in varying)
            or text("power.plan.only", lang),
            "items": row["items"],
            "power": row["power"],
            "simulated": row["simulated"],
            "low": row["simulated_low"],
            "high": row["simulated_high"],
        }
        for row in plans.iter_rows(named=True)
    ]
