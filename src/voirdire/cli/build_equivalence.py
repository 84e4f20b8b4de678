"""``voirdire build equivalence``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_equivalence import Compared as Made
    from voirdire.construction.translation.equivalence import Compared, Equivalence
    from voirdire.construction.translation.shifts import Shift


def _option(name: str, metavar: str) -> Any:
    key = name.removeprefix("--")
    panel = "cli_equivalence.panel.pilot"
    return typer.Option(name, help=f"cli_equivalence.option.{key}", rich_help_panel=panel, metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Ratings = Annotated[Path, _option("--ratings", "FILE")]
Margin = Annotated[float | None, _option("--margin", "POINTS")]
Confidence = Annotated[float | None, _option("--confidence", "X")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "equivalence", equivalence, "cli_equivalence")


def equivalence(
    ctx: typer.Context,
    folder: Dir,
    ratings: Ratings,
    margin: Margin = None,
    confidence: Confidence = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_equivalence import build_equivalence

    spoken = ctx.find_object(str) or "en"
    made = build_equivalence(folder, ratings=ratings, margin=margin, confidence=confidence)
    if json:
        show.json(_document(made, spoken))
        return
    found = made.equivalence
    tell_notes(found.notes, spoken)
    show.out(text("cli_equivalence.rule", spoken, margin=f"{found.margin:g}", confidence=f"{100 * found.confidence:g}"))
    for one in found.compared:
        show.out("")
        for line in said(one, found, spoken):
            show.out(show.clean(line))
    show.out(text("cli_equivalence.where", spoken, table=show.clean(made.table)))


def said(one: Compared, found: Equivalence, lang: str) -> list[str]:
    """A comparison in plain words."""
    shift = one.shift
    names = {"question": one.question, "first": one.first, "second": one.second, "margin": f"{found.margin:g}"}
    pool = "" if one.pool == "*" else text("cli_equivalence.pool", lang, pool=one.pool)
    lines = [text("cli_equivalence.about", lang, **names, pool=pool, raters=shift.raters, items=one.items)]
    if shift.value is None:
        return [*lines, f"  {text(f'cli_equivalence.undefined.{shift.undefined}', lang, **names)}"]
    told = {"value": _signed(shift.value), "interval": _interval(shift, lang)}
    lines.append(f"  {text('cli_equivalence.shift', lang, **names, **told)}")
    if shift.no_interval is not None:
        return [*lines, f"  {text(f'cli_equivalence.undefined.{shift.no_interval}', lang, **names)}"]
    detectable = "-" if shift.detectable is None else f"{shift.detectable:.2f}"
    direction = "higher" if shift.value > 0 else "lower"
    words = text(f"cli_equivalence.finding.{one.finding}", lang, **names)
    if one.finding in ("shifted", "small"):
        words = f"{text(f'cli_equivalence.{direction}', lang, **names)} {words}"
    lines.append(f"  {words}")
    lines.append(f"  {text('cli_equivalence.detectable', lang, detectable=detectable)}")
    if one.stretch.low is not None and (one.stretch.low > 0 or (one.stretch.high or 0.0) < 0):
        told = {"value": _signed(one.stretch.value or 0.0), "interval": _interval(one.stretch, lang)}
        lines.append(f"  {text('cli_equivalence.stretch', lang, **names, **told)}")
    return lines


def _interval(shift: Shift, lang: str) -> str:
    if shift.low is None or shift.high is None:
        return text("cli_equivalence.no_interval", lang)
    ends = {"low": _signed(shift.low), "high": _signed(shift.high)}
    return text(f"cli_equivalence.interval_{shift.method}", lang, **ends)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def _document(made: Made, lang: str) -> dict[str, Any]:
    found = made.equivalence
    rows = [{**asdict(one), "said": said(one, found, lang)} for one in found.compared]
    notes = [text(note.key, lang, **note.fields) for note in found.notes]
    told = {"margin": found.margin, "confidence": found.confidence, "compared": rows, "notes": notes}
    return {"command": "build equivalence", **told, "table": str(made.table)}
