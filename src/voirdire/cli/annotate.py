"""``voirdire annotate``."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.errors import UsageError
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.annotation.material import Shown
    from voirdire.corpus.corpus import Note
    from voirdire.web.serving import FirstBatch, Ready
    from voirdire.web.settings import Settings

FIRSTS: tuple[FirstBatch, ...] = ("rating", "pilot", "none")
DATABASE_VARIABLE = "VOIRDIRE_DATABASE"
NEEDED = ("fastapi", "uvicorn", "multipart", "itsdangerous", "sqlalchemy", "alembic", "psycopg")


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(
        name, help=f"cli_annotate.option.{key}", rich_help_panel=f"cli_annotate.panel.{panel}", metavar=metavar
    )


Corpus = Annotated[Path, typer.Argument(help="cli_annotate.option.corpus", metavar="CORPUS")]
StudyFile = Annotated[Path | None, _option("--study", "study", "FILE")]
Init = Annotated[bool, _option("--init", "study")]
Pools = Annotated[o.Words, _option("--pool", "study", "NAME=LANG[,LANG]")]
RatersPerItem = Annotated[int | None, _option("--raters-per-item", "study", "N")]
ItemsPerRater = Annotated[int | None, _option("--items-per-rater", "study", "N")]
Repeats = Annotated[int | None, _option("--repeats", "study", "N")]
Seed = Annotated[int | None, _option("--seed", "study", "N")]
DatabaseUrl = Annotated[str | None, _option("--database", "service", "URL")]
AcceptChanges = Annotated[bool, _option("--accept-changes", "service")]
First = Annotated[str, _option("--first", "service", "rating|pilot|none")]
Host = Annotated[str, _option("--host", "service", "ADDRESS")]
Port = Annotated[int, _option("--port", "service", "N")]
PublicUrl = Annotated[str, _option("--public-url", "service", "URL")]
TrustedProxy = Annotated[o.Words, _option("--trusted-proxy", "service", "ADDRESS")]
Workers = Annotated[int, _option("--workers", "service", "N")]
Export = Annotated[Path | None, _option("--export", "export", "DIR")]
BatchId = Annotated[int | None, _option("--batch", "export", "ID")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "annotate", annotate, "cli.annotate")


def annotate(
    ctx: typer.Context,
    corpus: Corpus,
    study: StudyFile = None,
    init: Init = False,
    pool: Pools = None,
    raters_per_item: RatersPerItem = None,
    items_per_rater: ItemsPerRater = None,
    repeats: Repeats = None,
    seed: Seed = None,
    database: DatabaseUrl = None,
    accept_changes: AcceptChanges = False,
    first: First = "rating",
    host: Host = "127.0.0.1",
    port: Port = 8765,
    public_url: PublicUrl = "",
    trusted_proxy: TrustedProxy = None,
    workers: Workers = 1,
    export: Export = None,
    batch: BatchId = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    language = ctx.find_object(str) or "en"
    check_installed()
    _refuse_unbuilt(corpus)
    wanted = _first(first)
    if init:
        _write_template(corpus, tuple(pool or ()), language, as_json=json)
        return
    settings = _settings(ctx.params, language)
    if export is not None:
        _export(settings, export, batch, language, as_json=json)
        return
    start = {"accept_changes": accept_changes, "first": wanted}
    _serve(settings, workers, language, start, as_json=json)


def _refuse_unbuilt(corpus: Path) -> None:
    """Raise UsageError where the items of a corpus that is being built were not made yet."""
    from voirdire.construction.build_file import BUILD_FILE

    if not corpus.exists() and (corpus.parent / BUILD_FILE).is_file():
        raise UsageError("cli_annotate.no_items", file=str(corpus), folder=show.pasted(corpus.parent))


def check_installed() -> None:
    """Raise UsageError where what the service needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError("cli_annotate.not_installed", missing=", ".join(missing))


def _first(given: str) -> FirstBatch:
    """What the first batch is to be. Raises UsageError for something else."""
    for known in FIRSTS:
        if given == known:
            return known
    raise UsageError("cli_annotate.first_unknown", value=given, known=", ".join(FIRSTS))


def _settings(params: dict[str, Any], lang: str) -> Settings:
    from voirdire.web.settings import Settings, default_database

    corpus: Path = params["corpus"]
    return Settings(
        str(corpus),
        params["database"] or os.environ.get(DATABASE_VARIABLE) or default_database(corpus),
        str(params["study"] or ""),
        tuple(params["pool"] or ()),
        params["raters_per_item"],
        params["items_per_rater"],
        params["repeats"],
        params["seed"],
        params["host"],
        params["port"],
        params["public_url"],
        ",".join(params["trusted_proxy"] or ()),
        lang,
    )


def _write_template(corpus: Path, pools: tuple[str, ...], lang: str, *, as_json: bool) -> None:
    from voirdire.annotation.material import read_shown
    from voirdire.annotation.study_languages import missing_texts
    from voirdire.annotation.study_template import STUDY_FILE, proposed_study, study_template

    folder = corpus if corpus.is_dir() else corpus.parent
    file = folder / STUDY_FILE
    shown = _named(read_shown(corpus), folder)
    written = study_template(corpus, shown, pools=pools, lang=lang)
    missing = missing_texts(proposed_study(shown, pools))
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(written)
    except FileExistsError as error:
        raise UsageError("cli_annotate.study_exists", file=str(file)) from error
    if as_json:
        show.json({"command": "annotate", "study": str(file), "texts_missing": missing})
        return
    show.out(text("cli_annotate.study_written", lang, file=show.clean(file), corpus=show.pasted(corpus)))
    if missing:
        show.err(show.lines(text("cli_annotate.texts_missing", lang, missing="\n".join(missing))))


def _named(shown: Shown, folder: Path) -> Shown:
    """What is shown, under the name of the corpus that is being built where it lies in the folder of one."""
    from voirdire.construction.build_file import BUILD_FILE, read_build_file

    return replace(shown, name=read_build_file(folder).name) if (folder / BUILD_FILE).is_file() else shown


def _export(settings: Settings, folder: Path, batch: int | None, lang: str, *, as_json: bool) -> None:
    from voirdire.annotation.export import VERDICTS
    from voirdire.construction.build_file import BUILD_FILE
    from voirdire.web.serving import export_batch

    def warn(note: Note) -> None:
        show.err(show.clean(text(note.key, lang, **note.fields)))

    files = export_batch(settings, folder, batch, warn)
    if as_json:
        written = {path.name: str(path) for path in files}
        show.json({"command": "annotate", "folder": str(folder), "files": written})
    else:
        beside = Path(settings.corpus) if Path(settings.corpus).is_dir() else Path(settings.corpus).parent
        pilot = VERDICTS in [path.name for path in files] and (beside / BUILD_FILE).is_file()
        told = {"count": len(files), "folder": show.pasted(folder), "corpus": show.pasted(beside)}
        show.out(text("cli_annotate.exported_pilot" if pilot else "cli_annotate.exported", lang, **told))


def _serve(settings: Settings, workers: int, lang: str, start: Mapping[str, Any], *, as_json: bool) -> None:
    from voirdire.web.serving import prepare, refuse, serve

    refuse(settings, workers)
    with show.Progress(lang) as progress:

        def told(done: int, total: int) -> None:
            progress("read", done / total)

        ready = prepare(settings, time.time(), told, **start)
    if as_json:
        show.json(document(ready))
    else:
        show.out("\n".join(lines(ready, lang)))
    serve(settings, workers)


def document(ready: Ready) -> dict[str, Any]:
    """What stands ready, for machines."""
    return {
        "command": "annotate",
        "url": ready.settings.url,
        "lead_link": ready.lead_link,
        "database": ready.settings.shown_database,
        "study": ready.study.name,
        "corpus": ready.shown.name,
        "items": len(ready.shown.items),
        "pools": [pool.name for pool in ready.study.pools],
        "questions": [question.id for question in ready.study.questions],
        "batches": ready.known,
    }


def lines(ready: Ready, lang: str) -> list[str]:
    """What stands ready, the lead's link, and how to stop."""
    told = document(ready)
    joined = {
        name: text("report.list_separator", lang).join(show.clean(one) for one in told[name])
        for name in ("pools", "questions")
    }
    about = text("cli_annotate.about", lang, name=_called(ready, lang), count=told["items"], **joined)
    made = text(
        f"cli_annotate.{_standing(ready)}", lang, count=ready.known, database=show.clean(ready.settings.shown_database)
    )
    notes = [text(note.key, lang, **note.fields) for note in ready.notes]
    link = text("cli_annotate.link", lang, link=ready.lead_link)
    return [about, *map(show.clean, notes), made, "", link, text("cli_annotate.stop", lang, link=next_link(lang))]


def next_link(lang: str) -> str:
    """What becomes of the lead's link at the next start."""
    from voirdire.web.serving import LEAD_VARIABLE

    return text("cli_annotate.link_kept" if os.environ.get(LEAD_VARIABLE) else "cli_annotate.link_new", lang)


def _standing(ready: Ready) -> str:
    """Whether this start made a batch, of which kind, and whether there is one at all."""
    if ready.made is not None:
        return "first_pilot" if ready.made.spec.kind == "pilot" else "first"
    return "again" if ready.known else "no_batch"


def _called(ready: Ready, lang: str) -> str:
    """The study's name, with the corpus beside it where that has another."""
    study, corpus = show.clean(ready.study.name), show.clean(ready.shown.name)
    return study if study == corpus else text("lead.title_study", lang, study=study, corpus=corpus)
