"""The report as one self-contained HTML file: no script, no address that is fetched, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.assemble import build
from voirdire.reporting.blocks import Figure, Report
from voirdire.reporting.grid import Entry, Grid
from voirdire.reporting.templating import HTML_LANG, environment
from voirdire.reporting.words import Words

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BLUE, ORANGE = (0, 114, 178), (213, 94, 0)


def render_html(profile: ProfileLike, lang: str = "en", images: Path | str | None = None) -> str:
    """The report of a profile as one HTML page.

    images : the folder that the items' image paths are relative to; only files inside it are embedded
    """
    return html(build(profile, lang, images))


def html(report: Report) -> str:
    """A built report as HTML."""
    template = environment("voirdire.reporting").get_template("report.html.jinja")
    page = template.render(
        report=report,
        t=report.words.t,
        html_lang=HTML_LANG.get(report.lang, report.lang),
        policy=POLICY,
        **_helpers(),
    )
    return CONTROL.sub("\ufffd", page)


def fragment(profile: ProfileLike, words: Words, grids: Sequence[Grid]) -> str:
    """The verdicts and some tables as a piece of HTML, without a page around it."""
    from voirdire.reporting.assemble import summary

    section = summary(View(profile), words)
    bare = [replace(grid, columns=tuple(replace(column, footnote=None) for column in grid.columns)) for grid in grids]
    template = environment("voirdire.reporting").get_template("notebook.html.jinja")
    return CONTROL.sub("\ufffd", template.render(section=section, grids=bare, t=words.t, **_helpers()))


def _helpers() -> dict[str, Any]:
    return {
        "kind": kind,
        "clean": View.clean,
        "paint": paint,
        "tint": lambda _: "",
        "leads": leads,
        "drawn": _drawn,
        "style": _style(),
    }


def paint(entry: Entry) -> str:
    """The style of a coloured cell: white to blue, or orange to blue through white.

    >>> from voirdire.reporting.grid import Entry
    >>> paint(Entry("0", heat=0.0))
    'background:rgb(255,255,255)'
    """
    if entry.heat is None:
        return ""
    strength = min(1.0, abs(entry.heat)) * 0.75
    end = ORANGE if entry.diverging and entry.heat < 0 else BLUE
    mixed = [round(255 + (channel - 255) * strength) for channel in end]
    return f"background:rgb({','.join(map(str, mixed))})"


def leads(grid: Grid) -> list[list[list[int]]]:
    """For each group and row, how many rows each heading cell spans; 0 where the one above covers it."""
    spans = []
    for _, lines in grid.groups:
        block = [[1] * len(grid.heads) for _ in lines]
        for column in range(len(grid.heads) - 1):
            start = 0
            for row in range(1, len(lines)):
                if lines[row].heads[: column + 1] == lines[start].heads[: column + 1]:
                    block[start][column] += 1
                    block[row][column] = 0
                else:
                    start = row
        spans.append(block)
    return spans


def kind(block: Any) -> str:
    """What a block is, as the templates call it."""
    return type(block).__name__.lower()


def _drawn(figure: Figure) -> Any:
    from markupsafe import Markup

    from voirdire.reporting.drawing import inline_svg

    return Markup(inline_svg(figure.spec, figure.name))


@cache
def _style() -> Any:
    from markupsafe import Markup

    return Markup(files("voirdire.reporting").joinpath("templates/report.css").read_text(encoding="utf-8"))
