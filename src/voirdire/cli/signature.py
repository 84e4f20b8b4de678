"""``voirdire signature explain`` and ``voirdire signature diff``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add, new_group
from voirdire.texts import text

One = Annotated[str, typer.Argument(help="cli.option.signature", metavar="SIGNATURE")]
First = Annotated[str, typer.Argument(help="cli.option.first", metavar="FIRST")]
Second = Annotated[str, typer.Argument(help="cli.option.second", metavar="SECOND")]


def register(app: typer.Typer) -> None:
    """Add the group and its two commands."""
    group = new_group("cli.signature.help")
    add(group, "explain", explain, "cli.signature.explain")
    add(group, "diff", diff, "cli.signature.diff")
    app.add_typer(group, name="signature")


def explain(ctx: typer.Context, signature: One, json: o.Json = False, lang: o.Lang = None) -> None:
    from voirdire.app.signature import explain as run_explain

    language = ctx.find_object(str) or "en"
    parts = run_explain(signature, language)
    if json:
        show.json({"command": "signature explain", "parts": [asdict(part) for part in parts]})
        return
    columns = [text(f"signature.column.{column}", language) for column in ("part", "key", "value", "words")]
    show.out(show.table(columns, [[part.part, part.key, part.value, part.words] for part in parts]))


def diff(ctx: typer.Context, first: First, second: Second, json: o.Json = False, lang: o.Lang = None) -> None:
    from voirdire.app.signature import diff as run_diff

    language = ctx.find_object(str) or "en"
    compared = run_diff(first, second, language)
    if json:
        show.json({"command": "signature diff", **asdict(compared)})
        return
    if not compared.differences:
        show.out(text("signature.equal", language))
        return
    columns = [text(f"signature.column.{column}", language) for column in ("part", "key", "first", "second", "words")]
    rows = [[d.part, d.key, d.first or "-", d.second or "-", d.words] for d in compared.differences]
    show.out(show.table(columns, rows))
    show.out(text("signature.same" if compared.same_definition else "signature.other", language))
