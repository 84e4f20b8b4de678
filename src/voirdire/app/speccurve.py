"""``voirdire speccurve``: every reasonable definition of T, W and delta, and whether the sign survives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from voirdire.app.audit import check_folder, publish
from voirdire.app.inputs import Listener, Progress, read_inputs
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.analysis.speccurve import SpecificationCurve

REPORT, CURVE, SUMMARY = "speccurve.html", "speccurve.csv", "summary.csv"


@dataclass(frozen=True)
class WrittenCurve:
    """A specification curve that was written to a folder; report is the file to open first."""

    curve: SpecificationCurve
    folder: Path
    report: Path
    files: tuple[Path, ...]


def speccurve(
    ratings: Any = None,
    judgments: Any = None,
    *,
    progress: Progress | None = None,
    told: Listener | None = None,
    **options: Any,
) -> SpecificationCurve:
    """T, W and delta of each judge under every reasonable definition.

    Parameters
    ----------
    ratings, judgments, options : as for ``audit``; ``consensus`` and ``min_gap`` name the main definition

    Raises UsageError without judgments, and what ``audit`` raises.
    """
    from voirdire.analysis.speccurve import speccurve as compute

    inputs = read_inputs({"ratings": ratings, "judgments": judgments, **options})
    if inputs.judgments is None:
        raise UsageError("speccurve.error.no_judgments")
    if told is not None:
        told(inputs.told)
    return compute(inputs.corpus, inputs.judgments, inputs.options, progress)


def speccurve_to(
    out: Path, lang: str = "en", *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> WrittenCurve:
    """Compute and write the page, the tables and the figures to a folder, in a language."""
    check_folder(out)
    curve = speccurve(progress=progress, told=told, **options)
    if progress is not None:
        progress("report", 0.97)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".voirdire-", dir=out) as held:
            _write(curve, Path(held), lang)
            files = publish(Path(held), out, last=REPORT)
    except OSError as error:
        raise UsageError("app.out_unwritable", file=str(out), why=error.strerror or str(error)) from error
    return WrittenCurve(curve, out, out / REPORT, tuple(sorted(files)))


def _write(curve: SpecificationCurve, folder: Path, lang: str) -> None:
    from voirdire.analysis.profile import spreadsheet_safe
    from voirdire.reporting.drawing import can_draw_chinese
    from voirdire.reporting.files import write_charts
    from voirdire.reporting.markdown import markdown
    from voirdire.reporting.render import html
    from voirdire.reporting.speccurve_page import page

    report = page(curve, lang)
    english = page(curve, "en") if lang != "en" and not can_draw_chinese() else None
    spreadsheet_safe(curve.frame).write_csv(folder / CURVE)
    spreadsheet_safe(curve.summary()).write_csv(folder / SUMMARY)
    (folder / "speccurve.md").write_text(markdown(report), encoding="utf-8")
    (folder / REPORT).write_text(html(report), encoding="utf-8")
    write_charts(report, english, folder / "figures")
