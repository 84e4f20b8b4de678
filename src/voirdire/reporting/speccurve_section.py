"""The section on the specification curve of a pair: does the sign of T, W and delta survive the definition?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from voirdire.analysis.survival import UNDEFINED, survival
from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Figure, Folded, Section, Text
from voirdire.reporting.figures import colour
from voirdire.reporting.grid import Builder
from voirdire.reporting.speccurve_figure import overview, statistic_name
from voirdire.reporting.speccurve_page import survival_grid
from voirdire.texts import text

MOST_JUDGES = 12
WIDTH = 165


def sections(b: Builder) -> list[Section]:
    """A section for each pair that has a defined value."""
    found = (_section(b, number, pair) for number, pair in enumerate(b.view.pairs(b.question)))
    return [section for section in found if section.blocks]


def _section(b: Builder, number: int, pair: tuple[str, str]) -> Section:
    lang, name = b.words.lang, f"speccurve-{number + 1}"
    pools = dict(zip("ab", map(View.clean, pair), strict=True))
    section = Section(name, text("speccurve.report.section", lang, **pools), 3)
    rows = b.view.profile.specifications.filter(question=b.question, pool=pair[0], pool_b=pair[1])
    if rows["value"].null_count() == rows.height:
        return section
    summary = survival(rows)
    judges = rows["judge"].unique(maintain_order=True).to_list()
    section.blocks += [Text((text("speccurve.report.intro", lang), text("speccurve.main_is", lang)))]
    section.blocks += _told(summary, len(judges), lang)
    section.blocks += _drawn(b, rows.filter(pl.col("judge").is_in(judges[:MOST_JUDGES])), name, pair, pools)
    if len(judges) > MOST_JUDGES:
        section.blocks.append(Text((text("speccurve.report.more", lang, count=len(judges) - MOST_JUDGES),), "note"))
    grid = survival_grid(summary, lang, name, pair=pair, width=b.width)
    section.blocks.append(Folded(text("speccurve.report.fold", lang), (grid,)))
    return section


def _told(summary: pl.DataFrame, judges: int, lang: str) -> list[Bullets | Folded]:
    """One sentence a judge; folded where there are many."""
    told = Bullets(tuple((judge, (sentence,)) for judge, sentence in sentences(summary, lang)), "verdicts")
    if judges <= MOST_JUDGES:
        return [told]
    return [Folded(text("speccurve.report.judges", lang, count=judges), (told,))]


def _drawn(
    b: Builder, rows: pl.DataFrame, name: str, pair: tuple[str, str], pools: Mapping[str, str]
) -> Iterator[Figure]:
    """Every definition of these judges."""
    paint = {pool: colour(b.view, pool) for pool in pair}
    chart = overview(rows, b.words.lang, pair, paint=paint, width=WIDTH)
    if chart is not None:
        caption = text("speccurve.figure.caption", b.words.lang, **pools)
        heads = (b.words.t("head.judge"), b.words.t("head.statistic"), text("speccurve.head.definition", b.words.lang))
        alt = text("speccurve.report.alt", b.words.lang, **pools)
        yield Figure(name, chart, caption, alt, heads=heads, column=b.words.t("head.value"))


def sentences(summary: pl.DataFrame, lang: str) -> Iterator[tuple[str, str]]:
    """For each judge of a pair one sentence: what becomes of the sign of T, W and delta.

    summary : as ``survival`` gives it
    """
    for (judge,), rows in summary.group_by("judge", maintain_order=True):
        parts = text("speccurve.report.join", lang).join(_part(row, lang) for row in rows.iter_rows(named=True))
        yield View.clean(judge), text("speccurve.report.sentence", lang, parts=parts)


def _part(row: Mapping[str, Any], lang: str) -> str:
    """What becomes of one sign, with how many definitions have it."""
    key = "part_undefined" if row["verdict"] == UNDEFINED else "part"
    return text(
        f"speccurve.report.{key}",
        lang,
        statistic=statistic_name(row["statistic"], lang),
        verdict=text(f"speccurve.verdict.{row['verdict']}", lang),
        agree=row["agree"],
        defined=row["defined"],
    )
