"""``voirdire demo``."""

from __future__ import annotations

from pathlib import Path

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "demo", demo, "cli.demo")


def demo(
    ctx: typer.Context,
    draws: o.Draws = None,
    seed: o.Seed = None,
    out: o.Out = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.demo import demo as run_demo
    from voirdire.cli.finish import Reader, finish

    language = ctx.find_object(str) or "en"
    reader = Reader(language, quiet=json)
    asked = {name: value for name, value in (("draws", draws), ("seed", seed)) if value is not None}
    with show.Progress(language) as progress:
        written = run_demo(out or Path("voirdire-demo"), language, progress=progress, told=reader, **asked)
    finish(written, "demo", json)
