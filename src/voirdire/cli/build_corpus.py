"""``voirdire build``: the commands that make a corpus, one module each."""

from __future__ import annotations

import typer

from voirdire.cli import (
    build_author,
    build_check,
    build_equivalence,
    build_freeze,
    build_images,
    build_items,
    build_new,
    build_screen,
    build_serve,
    build_split,
    build_translate,
)
from voirdire.cli.build import new_group


def register(app: typer.Typer) -> None:
    """Add the group and its commands."""
    group = new_group("cli_build.help")
    texts = (build_translate, build_equivalence)
    written = (build_new, build_check, build_author, build_serve)
    for module in (*written, build_images, *texts, build_items, build_screen, build_split, build_freeze):
        module.register(group)
    app.add_typer(group, name="build")
