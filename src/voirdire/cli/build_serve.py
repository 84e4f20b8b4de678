"""``voirdire build serve``: the authoring protocol as pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import annotate, show
from voirdire.cli import options as o
from voirdire.cli.build import add
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.web.authoring_application import Ready

Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="cli_build_serve.option.database",
        rich_help_panel="cli_build_serve.panel.service",
        metavar="URL",
    ),
]


def register(group: typer.Typer) -> None:
    """Add the command to the group."""
    add(group, "serve", serve, "cli_build_serve")


def serve(
    ctx: typer.Context,
    folder: Dir,
    database: DatabaseUrl = None,
    host: annotate.Host = "127.0.0.1",
    port: annotate.Port = 8765,
    public_url: annotate.PublicUrl = "",
    trusted_proxy: annotate.TrustedProxy = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    spoken = ctx.find_object(str) or "en"
    annotate.check_installed()
    from voirdire.web import serving
    from voirdire.web.authoring_application import database_of, prepare
    from voirdire.web.settings import Settings

    settings = Settings(
        str(folder),
        database or database_of(folder),
        host=host,
        port=port,
        public_url=public_url,
        trusted_proxies=",".join(trusted_proxy or ()),
        lang=spoken,
    )
    serving.refuse(settings, 1)
    ready = prepare(settings)
    if json:
        show.json(_document(ready))
    else:
        show.out("\n".join(_lines(ready, spoken)))
    serving.serve(settings, 1, "voirdire.web.authoring_application")


def _document(ready: Ready) -> dict[str, Any]:
    """What stands ready, for machines."""
    return {
        "command": "build serve",
        "url": ready.settings.url,
        "lead_link": ready.lead_link,
        "database": ready.settings.shown_database,
        "corpus": ready.build.name,
        "concepts": ready.concepts,
        "authors": list(ready.build.authors),
    }


def _lines(ready: Ready, lang: str) -> list[str]:
    authors = text("report.list_separator", lang).join(map(show.clean, ready.build.authors))
    about = text(
        "cli_build_serve.about", lang, name=show.clean(ready.build.name), count=ready.concepts, authors=authors
    )
    link = text("cli_build_serve.link", lang, link=ready.lead_link)
    return [about, "", link, text("cli_build_serve.stop", lang, link=annotate.next_link(lang))]
