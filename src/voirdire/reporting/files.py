"""Tables and figures as files: CSV, LaTeX, SVG, PNG."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.blocks import Figure, Report
from voirdire.reporting.grid import Column, Entry, Grid

RISKY = ("=", "+", "-", "@", "\t", "\r")


def charts_of(report: Report) -> dict[str, Any]:
    """Every chart of a built report by name, heat maps of coloured tables included."""
    from voirdire.reporting.figures import heat

    found: dict[str, Any] = {block.name: block.chart for block in report.blocks() if isinstance(block, Figure)}
    for grid in report.grids():
        chart = heat(grid) if grid.heat else None
        if chart is not None:
            found[grid.id] = chart
    return found


def write_charts(report: Report, english: Report | None, folder: Path) -> list[Path]:
    """Every chart as SVG and PNG. A PNG that this system cannot letter is drawn in English, or not written.

    english : the same report in English, for systems without a Chinese font; None when it is not needed
    """
    folder.mkdir(parents=True, exist_ok=True)
    fallback = charts_of(english) if english is not None else {}
    written: list[Path] = []
    for name, chart in charts_of(report).items():
        spec = chart.to_dict(validate=False)
        written.append(folder / f"{name}.svg")
        _write_svg(spec, written[-1])
        drawable = _drawable(spec, fallback.get(name))
        if drawable is not None:
            from voirdire.reporting.drawing import png

            written.append(folder / f"{name}.png")
            written[-1].write_bytes(png(drawable))
    return written


def _write_svg(spec: dict[str, Any], file: Path) -> None:
    from voirdire.reporting.drawing import svg

    file.write_text(svg(spec), encoding="utf-8")


def _drawable(spec: dict[str, Any], english: Any | None) -> dict[str, Any] | None:
    from voirdire.reporting.drawing import can_draw_chinese, needs_chinese

    if not needs_chinese(spec) or can_draw_chinese():
        return spec
    other: dict[str, Any] | None = english.to_dict() if english is not None else None
    return None if other is None or needs_chinese(other) else other


def figures(profile: ProfileLike, lang: str = "en") -> dict[str, Any]:
    """Every chart of a profile's report by name (``q1-tilt-1``), as Altair charts."""
    from voirdire.reporting.assemble import build

    return charts_of(build(profile, lang))


def write_figures(profile: ProfileLike, folder: Path | str, lang: str = "en") -> list[Path]:
    """Write every chart of a profile's report as SVG and PNG; gives the files written."""
    from voirdire.reporting.assemble import build

    return write_charts(build(profile, lang), fallback_of(profile, lang), Path(folder))


def fallback_of(profile: ProfileLike, lang: str) -> Report | None:
    """The report in English where Chinese labels are wanted and cannot be drawn here."""
    from voirdire.reporting.assemble import build
    from voirdire.reporting.drawing import can_draw_chinese

    return build(profile, "en") if lang != "en" and not can_draw_chinese() else None


def table_csv(grid: Grid) -> str:
    """A table as printed, for a spreadsheet: value and interval in one cell, formulas disarmed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*map(disarmed, grid.heads), *(disarmed(_title(column)) for column in grid.columns)])
    for line in grid.lines:
        writer.writerow([*map(disarmed, line.heads), *map(_cell, line.entries)])
    return out.getvalue()


def disarmed(value: str) -> str:
    """Text that a spreadsheet does not take for a formula.

    >>> disarmed("=1+1")
    "'=1+1"
    """
    shown = View.clean(value)
    return f"'{shown}" if shown.startswith(RISKY) else shown


def _title(column: Column) -> str:
    return f"{column.group}: {column.title}" if column.group else column.title


def _cell(entry: Entry) -> str:
    shown = f"{entry.text} {entry.interval}".strip()
    if entry.reason:
        return f"{shown} ({entry.reason})"
    return shown if entry.numeric else disarmed(shown)
