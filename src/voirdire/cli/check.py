"""``voirdire check``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text

ProfilePath = Annotated[Path, typer.Argument(help="cli.option.profile", metavar="PROFILE")]
PolicyPath = Annotated[Path, typer.Option("--policy", help="cli.option.policy", metavar="FILE")]
COLUMNS = ("requirement", "limit", "place", "number", "items", "outcome", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "check", check, "cli.check")


def check(
    ctx: typer.Context, profile: ProfilePath, policy: PolicyPath, json: o.Json = False, lang: o.Lang = None
) -> None:
    from voirdire.app.check import check as run_check
    from voirdire.app.check import summary

    language = ctx.find_object(str) or "en"
    result = run_check(profile, policy)
    if json:
        show.json({"command": "check", **document(result)})
    else:
        columns = [text(f"policy.column.{column}", language) for column in COLUMNS]
        show.out(show.table(columns, [row(check, language) for check in result.checks]))
        show.out("")
        show.out(summary(result, language))
    raise typer.Exit(result.exit_code)


def document(result: Any) -> dict[str, Any]:
    """The result for machines: outcome, exit code and every check with its numbers."""
    return {
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "checks": [asdict(check) for check in result.checks],
    }


def row(check: Any, lang: str) -> list[str]:
    """One check as a line of the table."""
    from voirdire.app.check import words

    return list(words(check, lang))
