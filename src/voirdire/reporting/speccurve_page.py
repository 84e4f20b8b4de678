"""The page of a specification curve: whether each sign survives, the figures, and the table behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Figure, Folded, Report, Section, Text
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.speccurve_figure import curve as curve_figure
from voirdire.reporting.speccurve_figure import overview, statistic_name
from voirdire.reporting.words import DASH, Words
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.analysis.speccurve import SpecificationCurve

MOST_JUDGES = 12
COLUMNS = ("main", "range", "agree", "against", "verdict")


def page(curve: SpecificationCurve, lang: str = "en") -> Report:
    """The specification curve as a report in a language."""
    words = Words(lang)
    first = Section("verdicts", text("speccurve.section.verdicts", lang), 2)
    first.blocks += [Text((text("speccurve.intro", lang), text("speccurve.main_is", lang)))]
    summary = curve.summary()
    first.blocks += [Bullets(tuple(sentences(summary, lang)), "verdicts"), survival_grid(summary, lang)]
    first.blocks.append(Text((words.t("on_this_corpus"),), "note"))
    sections = [first]
    for place, (key, frame) in enumerate(curve.frame.group_by("question", "pool", "pool_b", maintain_order=True)):
        question, a, b = (View.clean(part) for part in key)
        title = text("speccurve.section.pair", lang, question=question, a=a, b=b)
        sections.append(
            Section(f"pair-{place + 1}", title, 2, list(_figures(frame, (str(key[1]), str(key[2])), lang, place)))
        )
    banner = words.t("simulated") if curve.simulated else ""
    title = text("speccurve.title", lang)
    if name := View.clean(curve.name):
        title = words.t("title_named", title=title, name=name)
    return Report(lang, title, text("speccurve.subtitle", lang), banner, _facts(curve, lang), sections, words)


def sentences(summary: pl.DataFrame, lang: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each judge, one sentence a pair and statistic."""
    for (judge,), rows in summary.group_by("judge", maintain_order=True):
        yield View.clean(judge), tuple(sentence(row, lang) for row in rows.iter_rows(named=True))


def sentence(row: Mapping[str, Any], lang: str) -> str:
    """What becomes of one sign, in words."""
    return text(
        "speccurve.sentence",
        lang,
        statistic=statistic_name(row["statistic"], lang),
        a=View.clean(row["pool"]),
        b=View.clean(row["pool_b"]),
        verdict=text(f"speccurve.verdict.{row['verdict']}", lang),
        agree=row["agree"],
        defined=row["defined"],
    )


def _facts(curve: SpecificationCurve, lang: str) -> list[tuple[str, str]]:
    blocks = curve.frame["condition"].unique(maintain_order=True).to_list()
    shown = ", ".join(text("speccurve.all_cells", lang) if block == "*" else View.clean(block) for block in blocks)
    per = curve.frame.group_by("question", "pool", "pool_b", "judge").len()["len"].max()
    return [(text("speccurve.fact.cells", lang), shown), (text("speccurve.fact.definitions", lang), str(per))]


def survival_grid(
    summary: pl.DataFrame,
    lang: str,
    name: str = "survival",
    *,
    pair: tuple[str, str] | None = None,
    width: float | None = 4,
) -> Grid:
    """The table behind the sentences: a row for each judge, pair and statistic.

    summary : as ``survival`` gives it; pair : the one pair of all rows, in the caption instead of a column
    width : of the scale
    """
    heads = ("judge", "pair", "statistic") if pair is None else ("judge", "statistic")
    columns = tuple(Column(text(f"speccurve.head.{head}", lang), numeric=head != "verdict") for head in COLUMNS)
    lines = tuple(_line(row, Words(lang), heads, width) for row in summary.iter_rows(named=True))
    titles = tuple(text(f"speccurve.head.{head}", lang) for head in heads)
    caption = text("speccurve.caption", lang)
    if pair is not None:
        caption = text("speccurve.report.caption", lang, a=View.clean(pair[0]), b=View.clean(pair[1]))
    return Grid(name, caption, titles, columns, (("", lines),))


def _line(row: Mapping[str, Any], words: Words, heads: tuple[str, ...], width: float | None) -> Line:
    known = {
        "judge": View.clean(row["judge"]),
        "pair": f"{View.clean(row['pool'])} / {View.clean(row['pool_b'])}",
        "statistic": statistic_name(row["statistic"], words.lang),
    }

    def shown(value: float | None) -> str:
        return DASH if value is None else words.number(row["statistic"], value, width)

    interval = "" if row["main_low"] is None else f"[{shown(row['main_low'])}, {shown(row['main_high'])}]"
    ends = {"low": shown(row["lowest"]), "high": shown(row["highest"])}
    entries = (
        Entry(shown(row["main"]), interval),
        Entry("" if row["lowest"] is None else text("speccurve.range", words.lang, **ends)),
        Entry(f"{row['agree']} / {row['defined']}"),
        Entry(str(row["against"])),
        Entry(text(f"speccurve.verdict.{row['verdict']}", words.lang), numeric=False),
    )
    return Line(tuple(known[head] for head in heads), entries)


def _figures(frame: pl.DataFrame, pair: tuple[str, str], lang: str, place: int) -> Iterator[Any]:
    a, b = (View.clean(pool) for pool in pair)
    chart = overview(frame, lang, pair)
    if chart is None:
        yield Text((text("speccurve.none", lang),))
        return
    caption = text("speccurve.figure.caption", lang, a=a, b=b)
    yield Figure(f"speccurve-{place + 1}", chart, caption, caption)
    judges = frame["judge"].unique(maintain_order=True).to_list()
    for rank, judge in enumerate(judges[:MOST_JUDGES]):
        figures = tuple(_curves(frame, pair, judge, lang, f"speccurve-{place + 1}-{rank + 1}"))
        yield Folded(text("speccurve.figure.of_judge", lang, judge=View.clean(judge)), figures)
    if len(judges) > MOST_JUDGES:
        yield Text((text("speccurve.figure.more", lang, count=len(judges) - MOST_JUDGES),))


def _curves(frame: pl.DataFrame, pair: tuple[str, str], judge: str, lang: str, name: str) -> Iterator[Figure]:
    a, b = (View.clean(pool) for pool in pair)
    for statistic in frame["statistic"].unique(maintain_order=True).to_list():
        chart = curve_figure(frame, lang, pair, judge, statistic)
        if chart is None:
            continue
        count = frame.filter(
            (pl.col("judge") == judge) & (pl.col("statistic") == statistic) & pl.col("value").is_not_null()
        ).height
        named = {"statistic": statistic_name(statistic, lang), "judge": View.clean(judge), "a": a, "b": b}
        caption = text("speccurve.figure.caption_of_judge", lang, count=count, **named)
        yield Figure(f"{name}-{statistic.split('.')[0]}", chart, caption, caption)
