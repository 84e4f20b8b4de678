"""``voirdire simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import LocalCommand
from voirdire.texts import text

ItemCount = Annotated[int, typer.Option("--items", help="simulation.help.items", metavar="N")]
Pools = Annotated[str, typer.Option("--pools", help="simulation.help.pools", metavar="A,B")]
RaterCount = Annotated[int, typer.Option("--raters", help="simulation.help.raters", metavar="N")]
JudgeOption = Annotated[o.Words, typer.Option("--judge", help="simulation.help.judge", metavar="NAME=CHARACTER")]
SeedOption = Annotated[int, typer.Option("--seed", help="simulation.help.seed", metavar="N")]
OutOption = Annotated[Path, typer.Option("--out", help="simulation.help.out", metavar="DIR")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate", cls=LocalCommand, help="simulation.help.command")(simulate)


def simulate(
    ctx: typer.Context,
    items: ItemCount = 120,
    pools: Pools = "us,cn",
    raters: RaterCount = 5,
    judge: JudgeOption = None,
    seed: SeedOption = 0,
    out: OutOption = Path("voirdire-simulated"),
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.simulate import simulate as run_simulate

    files = run_simulate(out, items=items, pools=pools, raters=raters, judges=judge or (), seed=seed)
    if json:
        written = {name: str(path) for name, path in files.items()}
        show.json({"command": "simulate", "folder": str(out), "files": written})
        return
    language = ctx.find_object(str) or "en"
    show.out(text("simulation.help.done", language, count=len(files), file=show.clean(out)))
