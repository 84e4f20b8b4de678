"""``voirdire view``: the reading room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.annotate import check_installed
from voirdire.cli.build import add
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.browsing.library import Library

Folders = Annotated[list[Path] | None, typer.Argument(help="cli_view.option.folders", metavar="DIR...")]
Port = Annotated[
    int | None,
    typer.Option("--port", help="cli_view.option.port", rich_help_panel="cli_view.panel.room", metavar="N"),
]
Open = Annotated[bool, typer.Option("--open", help="cli_view.option.open", rich_help_panel="cli_view.panel.room")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "view", view, "cli_view")


def view(
    ctx: typer.Context,
    folders: Folders = None,
    port: Port = None,
    open: Open = False,
    ratings: o.Ratings = None,
    judgments: o.Judgments = None,
    items: o.Items = None,
    raters: o.Raters = None,
    questions: o.Questions = None,
    judges: o.Judges = None,
    conditions: o.Conditions = None,
    map: o.Map = None,
    question_columns: o.QuestionColumns = None,
    rater_columns: o.RaterColumns = None,
    pool_columns: o.PoolColumns = None,
    question_name: o.QuestionName = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    level: o.Level = None,
    scale: o.ScaleOption = None,
    labels: o.Labels = None,
    positive: o.Positive = None,
    missing_label: o.MissingLabel = None,
    aggregate: o.Aggregate = None,
    anonymous_raters: o.AnonymousRaters = False,
    encoding: o.Encoding = None,
    duplicates: o.Duplicates = None,
    two_pools: o.TwoPools = None,
    unknown_items: o.UnknownItems = None,
    out_of_scale: o.OutOfScale = None,
    factors: o.Factors = None,
    judge_columns: o.JudgeColumns = None,
    judge_name: o.JudgeName = None,
    judged_question: o.JudgedQuestion = None,
    judge_scale: o.JudgeScale = None,
    duplicate_judgments: o.DuplicateJudgments = None,
    json: o.Json = False,
    lang: o.Lang = None,
    config: o.Config = None,
) -> None:
    from voirdire.app.view import view as open_library
    from voirdire.cli.config import collect
    from voirdire.cli.finish import Reader

    spoken = ctx.find_object(str) or "en"
    check_installed()
    from voirdire.web.room.application import free_port, serve_room

    given = {name: value for name, value in ctx.params.items() if name not in ("folders", "port", "open")}
    number = free_port(port)
    library = open_library(folders or (), told=Reader(spoken, quiet=json), **collect(given))
    address = f"http://127.0.0.1:{number}/"

    def ready() -> None:
        if json:
            show.json({"command": "view", "url": address, **document(library, spoken)})
        else:
            show.out("\n".join(lines(library, address, spoken)))
        if open:
            typer.launch(address)

    serve_room(library, port=number, lang=spoken, ready=ready)


def document(library: Library, lang: str) -> dict[str, Any]:
    """What is open, for machines: names in addresses, and the folders."""
    notes = [text(note.key, lang, **note.fields) for note in library.notes]
    shelves = [
        {"name": one.slug, "kind": one.kind, "items": len(one.ids), "folder": str(one.folder)}
        for one in library.shelves
    ]
    runs = [{"name": one.slug, "folder": str(one.folder)} for one in library.runs]
    audits = [{"name": one.slug, "folder": str(one.folder)} for one in library.audits]
    return {"items": shelves, "runs": runs, "audits": audits, "notes": notes}


def lines(library: Library, address: str, lang: str) -> list[str]:
    """What is open, where, and how to stop."""
    told = [
        text("cli_view.shelf", lang, name=show.clean(one.title), count=f"{len(one.ids):,}") for one in library.shelves
    ]
    told += [text("cli_view.run", lang, name=show.clean(one.title)) for one in library.runs]
    told += [text("cli_view.audit", lang, name=show.clean(one.title)) for one in library.audits]
    told += [show.clean(text(note.key, lang, **note.fields)) for note in library.notes]
    return [*told, "", text("cli_view.open", lang, address=address), text("cli_view.stop", lang)]
