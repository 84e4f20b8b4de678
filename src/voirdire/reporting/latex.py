"""The tables of pools and judges in LaTeX, for a paper: set and escaped by great-tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.blocks import Report
from voirdire.reporting.grid import Entry, Grid
from voirdire.reporting.words import Words

if TYPE_CHECKING:
    from great_tables import GT

KEPT = ("pools", "pairs", "gap", "judges", "scale", "glance", "r2", "designs", "floor-gap", "regimes")
KEPT_FROM = (
    "best", "parts-", "pull-", "origin-", "r2-", "designs-", "icl-", "persona-match", "gap-correlation", "bins-",
    "regimes-", "language-effect", "detail-effect", "factor-effect", "speccurve-",
)  # fmt: skip
HIGH, LOW, BREAK, CLOSE, BOLD, END = "\x1c", "\x1d", "\x1e", "\x1f", "\x0e", "\x0f"
SIGNS: dict[str, str | int | None] = {
    "\u2212": "$-$",
    "\u221e": r"$\infty$",
    "\u25cf": r"$\bullet$",
    "\u25d0": r"$\odot$",
    "\u25cb": r"$\circ$",
    "\u2192": r"$\rightarrow$",
    "\u202f": r"\,",
    "\ufffd": "?",
    HIGH: r"\begin{tabular}[t]{@{}r@{}}",
    LOW: r"\begin{tabular}[b]{@{}r@{}}",
    BREAK: r"\\{}",
    CLOSE: r"\end{tabular}",
    BOLD: r"\textbf{",
    END: "}",
}
FITTED = (
    (r"\caption*{", r"\caption{"),
    (
        r"\begin{tabular*}{\linewidth}{@{\extracolsep{\fill}}",
        r"\centering\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{\begin{tabular}{",
    ),
    (r"\end{tabular*}", r"\end{tabular}}"),
)
FONT = "8pt"
GROUP = "group"
WIDTH = 16


def latex_tables(profile: ProfileLike, lang: str = "en") -> dict[str, str]:
    """The tables of pools and judges as LaTeX, by name (``q1-pools``)."""
    from voirdire.reporting.assemble import build

    return tables_of(build(profile, lang))


def tables_of(report: Report) -> dict[str, str]:
    """The tables of a built report that a paper needs."""
    return {grid.id: latex(grid, report.words) for grid in report.grids() if _kept(grid.id)}


def _kept(name: str) -> bool:
    kind = name.partition("-")[2]
    of_experiment = kind.startswith(KEPT_FROM) and not kind.endswith("-cells")
    return kind in KEPT or of_experiment or (kind.startswith("pair-") and kind.count("-") == 1)


def latex(grid: Grid, words: Words) -> str:
    r"""One table as a ``table`` environment with booktabs rules, a numbered caption, and no wider than the page.

    great-tables has no numbered caption, no line break in a cell, and no way to fit a wide table; and it leaves signs
    that pdflatex does not know. All four are put right in its output. No text can look like what is replaced: a
    backslash of a text is ``\textbackslash{}`` there, and the characters that stand for a stack of lines are control
    characters, which no cleaned text has.
    """
    tex = str(_table(grid, words).as_latex())
    for theirs, ours in FITTED:
        tex = tex.replace(theirs, ours, 1)
    return f"% {words.t('latex.needs')}\n{tex.translate(str.maketrans(SIGNS))}"


def _table(grid: Grid, words: Words) -> GT:
    from great_tables import GT

    heads = [f"head{place}" for place in range(len(grid.heads))]
    columns = [f"column{place}" for place in range(len(grid.columns))]
    titles = [*map(_line, grid.heads), *(_stack(wrap(_line(column.title), WIDTH), LOW) for column in grid.columns)]
    grouped = any(title for title, _ in grid.groups)
    table = (
        GT(_cells(grid, words, heads + columns), groupname_col=GROUP if grouped else None)
        .tab_header(_line(grid.caption))
        .tab_options(table_font_size=FONT)
        .cols_label({name: _exact(title) for name, title in zip(heads + columns, titles, strict=True)})
        .cols_align("left", heads)
        .cols_align("right", columns)
    )
    if not grouped:
        table = table.cols_hide(GROUP)
    return _below(_spanned(table, grid, columns), grid)


def _cells(grid: Grid, words: Words, names: list[str]) -> pl.DataFrame:
    """The rows as texts, with the heading of their group (a heading without words is that of the judges)."""
    rows = [
        (*map(_line, line.heads), *map(_entry, line.entries), _line(title or words.t("fact.judges")))
        for title, lines in grid.groups
        for line in lines
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys([*names, GROUP], pl.String), orient="row")


def _spanned(table: GT, grid: Grid, columns: list[str]) -> GT:
    start = 0
    for title, width in grid.grouped_columns:
        if title:
            table = table.tab_spanner(_exact(_line(title)), columns=columns[start : start + width], id=f"span{start}")
        start += width
    return table


def _below(table: GT, grid: Grid) -> GT:
    """Reasons and notes; as source notes, since great-tables has no footnotes in LaTeX."""
    for note in (*(f"({mark}) {reason}." for mark, reason in grid.reasons), *grid.notes):
        table = table.tab_source_note(_line(note))
    return table


def _entry(entry: Entry) -> str:
    """A value above its interval; a word in short lines."""
    mark = f" ({entry.mark})" if entry.mark else ""
    lines = wrap(_line(entry.text + mark), WIDTH, break_long_words=False) if not entry.numeric else [entry.text + mark]
    below = wrap(_line(entry.interval), 2 * WIDTH, break_long_words=False)
    return _stack([*lines, *below], strong=entry.strong)


def _stack(lines: Iterable[str], start: str = HIGH, *, strong: bool = False) -> str:
    kept = [line for line in map(_line, lines) if line]
    if kept and strong:
        kept[0] = f"{BOLD}{kept[0]}{END}"
    return start + BREAK.join(kept) + CLOSE if len(kept) > 1 else "".join(kept)


def _line(value: Any) -> str:
    return " ".join(View.clean(value).split())


def _exact(value: str) -> Any:
    """A heading that is set as it is: in plain text great-tables would take ``{{x^2}}`` for a unit of measurement."""
    from great_tables import html

    return html(escape(value))
