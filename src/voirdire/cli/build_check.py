"""``voirdire build check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_author import state_counts
from voirdire.cli.config import collect
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_check import BuildChecked
    from voirdire.corpus.corpus import Note

FAILED = 3
SHOWN = 10
"""Findings of one kind that are shown; ``--json`` has all."""


def _option(name: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--")
    return typer.Option(name, help=f"cli_build.option.{key}", rich_help_panel="cli_build.panel.check", metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Raters = Annotated[Path | None, _option("--raters", "FILE")]
Strict = Annotated[bool, _option("--strict")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "check", check, "cli_build.check")


def check(
    ctx: typer.Context,
    folder: Dir,
    raters: Raters = None,
    map: o.Map = None,
    strict: Strict = False,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_check import build_check

    spoken = ctx.find_object(str) or "en"
    found = build_check(folder, raters=raters, **collect({"map": map}))
    passed = found.passed(strict=strict)
    if json:
        show.json(_document(found, passed, spoken))
    else:
        _tell(found, spoken)
    if not passed:
        raise typer.Exit(FAILED)


def tell_notes(notes: Iterable[Note], lang: str) -> None:
    """Print notes, one a line."""
    for note in notes:
        show.out(show.clean(text(note.key, lang, **note.fields)))


def _document(found: BuildChecked, passed: bool, lang: str) -> dict[str, Any]:
    checked = found.checked
    findings = [
        {"kind": one.kind, "level": one.level, "message": one.message(lang), "fields": one.fields}
        for one in checked.findings
    ]
    counted = {"concepts": checked.concepts, "items": checked.items, "categories": checked.categories}
    counted |= {"languages": checked.languages, "states": checked.states}
    notes = [text(note.key, lang, **note.fields) for note in found.notes]
    return {"command": "build check", "ok": passed, **counted, "findings": findings, "notes": notes}


def _tell(found: BuildChecked, lang: str) -> None:
    build, checked = found.build, found.checked
    tell_notes(found.notes, lang)
    counts = {"concepts": checked.concepts, "items": checked.items}
    show.out(text("cli_build.about", lang, name=show.clean(build.name), version=build.version, **counts))
    if checked.categories:
        header = [text("cli_build.column.category", lang), *build.culture_names]
        rows = [
            [category, *(str(row.get(culture, 0)) for culture in build.culture_names)]
            for category, row in checked.categories.items()
        ]
        show.out(show.table(header, rows))
    asked = ", ".join(f"{language} {count}" for language, count in checked.languages.items())
    show.out(text("cli_build.languages", lang, languages=asked))
    if checked.states:
        show.out(text("cli_build.states", lang, states=state_counts(checked.states, lang)))
    _tell_findings(found, lang)


def _tell_findings(found: BuildChecked, lang: str) -> None:
    findings = found.checked.findings
    many, told = Counter(one.kind for one in findings), Counter[str]()
    for one in findings:
        told[one.kind] += 1
        if told[one.kind] <= SHOWN:
            show.out(text(f"cli_build.level.{one.level}", lang, sentence=show.clean(one.message(lang))))
        elif told[one.kind] == many[one.kind]:
            show.out(text("cli_build.more", lang, count=many[one.kind] - SHOWN))
    errors = len(found.checked.errors)
    key = "cli_build.failed" if errors else "cli_build.passed"
    show.out(text(key, lang, count=errors, warnings=len(findings) - errors))
