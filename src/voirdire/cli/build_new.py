"""``voirdire build new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text


def _option(name: str, metavar: str) -> Any:
    key = name.removeprefix("--")
    return typer.Option(name, help=f"cli_build.option.{key}", rich_help_panel="cli_build.panel.begin", metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Name = Annotated[str, _option("--name", "NAME")]
Cultures = Annotated[o.Words, _option("--culture", "NAME=LANG")]
Languages = Annotated[o.Words, _option("--language", "LANG")]
Authors = Annotated[o.Words, _option("--author", "NAME")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "new", new, "cli_build.new")


def new(
    ctx: typer.Context,
    folder: Dir,
    name: Name = "",
    culture: Cultures = None,
    language: Languages = None,
    author: Authors = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_new import build_new

    spoken = ctx.find_object(str) or "en"
    files = build_new(
        folder, name=name, cultures=culture or (), languages=language or (), authors=author or (), lang=spoken
    )
    if json:
        written = {key: str(file) for key, file in files.items()}
        show.json({"command": "build new", "folder": str(folder), "files": written})
        return
    key = "cli_build.begun_by" if author else "cli_build.begun"
    show.out(text(key, spoken, folder=show.pasted(folder)))
