"""The tables of pools and judges in LaTeX, for a paper."""

from __future__ import annotations

from typing import Any

from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.blocks import Report
from voirdire.reporting.grid import Column, Entry, Grid

REPLACED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "\u2212": "$-$", "\u221e": r"$\infty$",
    "\u2014": "---", "\u2013": "--", "\u202f": r"\,", "\u03b1": r"$\alpha$", "\u03ba": r"$\kappa$", "\u03c1": r"$\rho$",
    "\u0394": r"$\Delta$", "\u201c": "``", "\u201d": "''", "\u2019": "'", "\u00b7": r"$\cdot$", "[": "{[}", "]": "{]}",
}  # fmt: skip
KEPT = ("pools", "pairs", "gap", "judges", "scale")


def escape(value: Any) -> str:
    r"""Text that LaTeX sets as it is, in one line.

    >>> print(escape("50 % of a_b & \\cmd{x}"))
    50 \% of a\_b \& \textbackslash{}cmd\{x\}
    """
    return "".join(REPLACED.get(char, char) for char in " ".join(View.clean(value).split()))


def latex_tables(profile: ProfileLike, lang: str = "en") -> dict[str, str]:
    """The tables of pools and judges as LaTeX, by name (``q1-pools``)."""
    from voirdire.reporting.assemble import build

    return tables_of(build(profile, lang))


def tables_of(report: Report) -> dict[str, str]:
    """The tables of a built report that a paper needs."""
    chosen = [grid for grid in report.grids() if _kept(grid.id)]
    return {grid.id: latex(grid, report.words.t("latex.needs")) for grid in chosen}


def _kept(name: str) -> bool:
    kind = name.partition("-")[2]
    return kind in KEPT or (kind.startswith("pair-") and kind.count("-") == 1)


def latex(grid: Grid, needs: str) -> str:
    """One table as a ``table`` environment with booktabs rules."""
    width = len(grid.heads) + len(grid.columns)
    lines = [f"% {needs}", r"\begin{table}", r"\centering\footnotesize", rf"\caption{{{escape(grid.caption)}}}"]
    lines += [rf"\begin{{tabular}}{{{'l' * len(grid.heads)}{'r' * len(grid.columns)}}}", r"\toprule"]
    if grid.grouped_columns:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{escape(title)}}}" for title, span in grid.grouped_columns]
        lines.append(" & ".join([*([""] * len(grid.heads)), *spans]) + r" \\")
    lines.append(" & ".join([*map(escape, grid.heads), *map(_title, grid.columns)]) + r" \\")
    for title, block in grid.groups:
        lines.append(r"\midrule")
        if title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape(title)}}}}} \\")
        lines += [" & ".join([*map(escape, line.heads), *map(_entry, line.entries)]) + r" \\" for line in block]
    lines += [r"\bottomrule", r"\end{tabular}", *_below(grid), r"\end{table}"]
    return "\n".join(lines) + "\n"


def _title(column: Column) -> str:
    return escape(column.title)


def _entry(entry: Entry) -> str:
    mark = rf"\textsuperscript{{{entry.mark}}}" if entry.mark else ""
    return f"{escape(entry.text)}{mark} {escape(entry.interval)}".strip()


def _below(grid: Grid) -> list[str]:
    notes = [rf"\textsuperscript{{{mark}}} {escape(reason)}." for mark, reason in grid.reasons] + [
        escape(note) for note in grid.notes
    ]
    return [rf"\par\smallskip {note}" for note in notes]
