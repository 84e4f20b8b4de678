"""``voirdire build freeze``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.cli.config import collect
from voirdire.errors import UsageError
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_freeze import BuildFrozen

FAILED = 3
READING = (*o.RATED, "unknown_items")
ANALYSIS = ("gate_reliability", "draws", "seed")


def _option(name: str, metavar: str | None = None, panel: str = "freeze") -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"freeze.option.{key}", rich_help_panel=f"freeze.panel.{panel}", metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Ratings = Annotated[Path, _option("--ratings", "FILE")]
Out = Annotated[Path, _option("--out", "CORPUS")]
Version = Annotated[str | None, _option("--version", "V")]
Change = Annotated[str, _option("--change", "TEXT")]
Allow = Annotated[list[str] | None, _option("--allow", "CHECK=REASON")]
Regime = Annotated[list[str] | None, _option("--regime", "NAME")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "freeze", freeze, "freeze.command")


def freeze(
    ctx: typer.Context,
    folder: Dir,
    ratings: Ratings,
    out: Out,
    version: Version = None,
    change: Change = "",
    allow: Allow = None,
    regime: Regime = None,
    raters: o.Raters = None,
    questions: o.Questions = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    scale: o.ScaleOption = None,
    map: o.Map = None,
    missing_label: o.MissingLabel = None,
    unknown_items: o.UnknownItems = None,
    gate_reliability: o.GateReliability = None,
    draws: o.Draws = None,
    seed: o.Seed = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_freeze import build_freeze

    spoken = ctx.find_object(str) or "en"
    given: dict[str, Any] = {"version": version, "change": change, "allowed": _allowed(allow), "lang": spoken}
    if regime:
        given["regime"] = regime
    given["tables"] = collect({name: ctx.params[name] for name in READING})
    given["analysis"] = collect({name: ctx.params[name] for name in ANALYSIS})
    with show.Progress(spoken) as progress:
        made = build_freeze(folder, out, ratings=ratings, progress=progress, **given)
    if json:
        show.json(_document(made, spoken))
    else:
        _tell(made, spoken)
    if not made.done:
        raise typer.Exit(FAILED)


def _allowed(given: list[str] | None) -> dict[str, str]:
    found = {}
    for entry in given or ():
        check, mark, reason = entry.partition("=")
        if not mark:
            raise UsageError("freeze.allow.form", value=entry)
        found[check.strip()] = reason
    return found


def _document(made: BuildFrozen, lang: str) -> dict[str, Any]:
    told: dict[str, Any] = {"command": "build freeze", "ok": made.done, "version": made.version}
    told |= {"folder": str(made.out) if made.done else None, "digest": made.digest or None}
    told["failures"] = [
        {"check": one.check, "message": one.message(lang), "fields": dict(one.fields)} for one in made.failures
    ]
    told["allowed"] = [{"check": check, "reason": reason} for check, reason in made.allowed]
    told |= {"unused": list(made.unused), "counts": dict(made.counts), "validity": made.validity.as_dict()}
    return told | {"notes": [text(note.key, lang, **note.fields) for note in made.notes]}


def _tell(made: BuildFrozen, lang: str) -> None:
    tell_notes(made.notes, lang)
    for check, reason in made.allowed:
        show.out(text("freeze.said.allowed", lang, check=check, reason=show.clean(reason)))
    for check in made.unused:
        show.out(text("freeze.said.unused", lang, check=check))
    if not made.done:
        for one in made.failures:
            show.out(text("freeze.said.failure", lang, check=one.check, sentence=show.clean(one.message(lang))))
        checks = ", ".join(dict.fromkeys(one.check for one in made.failures))
        show.out(text("freeze.said.refused", lang, count=len(made.failures), checks=checks))
        return
    told = {"file": show.clean(made.out), "version": made.version, "digest": made.digest[:12]}
    show.out(text("freeze.said.done", lang, **told, **made.counts))
