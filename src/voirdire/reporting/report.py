"""The report of a profile: what the rest of the package calls."""

from __future__ import annotations

from pathlib import Path

from voirdire.reporting.access import ProfileLike
from voirdire.reporting.assemble import build
from voirdire.reporting.files import fallback_of, figures, table_csv, write_charts, write_figures
from voirdire.reporting.latex import latex_tables, tables_of
from voirdire.reporting.markdown import markdown, render_markdown
from voirdire.reporting.render import html, render_html
from voirdire.reporting.terminal import notebook, terminal

__all__ = [
    "build",
    "figures",
    "latex_tables",
    "notebook",
    "render_html",
    "render_markdown",
    "terminal",
    "write_figures",
    "write_report",
]


def write_report(
    profile: ProfileLike, directory: Path | str, lang: str = "en", images: Path | str | None = None
) -> list[Path]:
    """Write report.html, report.md, tables/ (CSV and LaTeX) and figures/ (SVG and PNG); gives the files written.

    images : the folder that the items' image paths are relative to; without it no image is read
    """
    folder = Path(directory)
    report = build(profile, lang, images)
    written = [_write(folder / "report.html", html(report)), _write(folder / "report.md", markdown(report))]
    written += [_write(folder / "tables" / f"{name}.tex", tex) for name, tex in tables_of(report).items()]
    written += [_write(folder / "tables" / f"{grid.id}.csv", table_csv(grid)) for grid in report.grids() if grid.id]
    return written + write_charts(report, fallback_of(profile, lang), folder / "figures")


def _write(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return file
