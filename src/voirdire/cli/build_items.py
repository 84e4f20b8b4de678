"""``voirdire build items``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.texts import text

SHOWN = 10

Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Regime = Annotated[
    list[str] | None,
    typer.Option("--regime", help="cli_build.option.regime", rich_help_panel="cli_build.panel.items", metavar="NAME"),
]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "items", items, "cli_build.items")


def items(ctx: typer.Context, folder: Dir, regime: Regime = None, json: o.Json = False, lang: o.Lang = None) -> None:
    from voirdire.app.build_items import build_items

    spoken = ctx.find_object(str) or "en"
    made = build_items(folder, **({"regime": regime} if regime else {}))
    if json:
        told = {"file": str(made.file), "items": made.items, "rejected": made.rejected, "lacking": made.lacking}
        told |= {"further": dict(made.further)}
        show.json({"command": "build items", **told})
        return
    tell_notes(made.notes, spoken)
    if made.lacking:
        names = show.clean(", ".join(made.lacking[:SHOWN]))
        show.out(
            text(
                "cli_build.items_lacking",
                spoken,
                count=len(made.lacking),
                items=names,
                regime=(regime or ["generated"])[0],
            )
        )
    for name, count in made.further.items():
        show.out(text("regimes.items.further", spoken, regime=name, count=count))
    told = {"file": show.pasted(made.file), "count": made.items, "rejected": made.rejected}
    show.out(text("cli_build.items_written", spoken, **told))
