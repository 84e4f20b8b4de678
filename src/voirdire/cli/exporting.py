"""``voirdire export`` and ``voirdire import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import LocalCommand
from voirdire.errors import UsageError
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.exporting import Exported


def _argument(name: str, metavar: str) -> Any:
    return typer.Argument(help=f"release.help.{name}", metavar=metavar)


def _option(name: str, metavar: str | None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"release.help.{key}", metavar=metavar)


Format = Annotated[str, _argument("format", "FORMAT")]
Corpus = Annotated[Path, _argument("corpus", "CORPUS")]
Files = Annotated[list[Path], _argument("files", "FILE...")]
OutOption = Annotated[Path, _option("--out", "DIR")]
Judged = Annotated[Path | None, _option("--judgments", "RUN")]
WithText = Annotated[bool, _option("--with-text-of-raters", None)]
RaterColumns = Annotated[o.Words, _option("--rater-columns", "C1,C2|none")]
RatingColumns = Annotated[o.Words, _option("--rating-columns", "C1,C2")]
AtLeast = Annotated[int, _option("--k", "N")]
NONE, PDF = "none", "pdf"


def register(app: typer.Typer) -> None:
    """Add both commands."""
    for name, function in (("export", export), ("import", take_in)):
        key = f"release.help.{name}"
        app.command(name, cls=LocalCommand, help=key, epilog=f"release.help.{name}_example")(function)


def export(
    ctx: typer.Context,
    form: Format,
    corpus: Corpus,
    out: OutOption,
    judgments: Judged = None,
    with_text_of_raters: WithText = False,
    rater_columns: RaterColumns = None,
    rating_columns: RatingColumns = None,
    k: AtLeast = 5,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.exporting import export as run_export
    from voirdire.exchange.release import ReleaseOptions

    language = ctx.find_object(str) or "en"
    if form == PDF:
        _pdf(ctx, corpus, out, language, json)
        return
    attributes = None if rater_columns is None else tuple(name for name in _named(rater_columns) if name != NONE)
    columns = tuple(name for name in _named(rating_columns) if name != NONE)
    options = ReleaseOptions(judgments, with_text_of_raters, attributes, columns, k)
    with show.Progress(language) as progress:
        written = run_export(form, corpus, out, options, language, progress=progress)
    if json:
        show.json(_document(written, form))
        return
    for line in _said(written, language):
        show.out(line)


def take_in(
    ctx: typer.Context, form: Format, files: Files, out: OutOption, json: o.Json = False, lang: o.Lang = None
) -> None:
    from voirdire.app.importing import take_in as run_import

    language = ctx.find_object(str) or "en"
    taken = run_import(form, files, out)
    if json:
        show.json({"command": "import", "format": form, "folder": str(out), "files": list(taken.files)})
        return
    counts = {"tables": len(taken.tables), "images": len(taken.images)}
    show.out(text("release.done.imported", language, file=show.pasted(out), **counts))


def _pdf(ctx: typer.Context, source: Path, out: Path, lang: str, json: bool) -> None:
    """The report of an audit, or of a frozen corpus, as a PDF."""
    from voirdire.app.exporting import export_pdf

    for name in ("judgments", "with_text_of_raters", "rater_columns", "rating_columns"):
        if ctx.params[name]:
            raise UsageError("pdf.option", option=f"--{name.replace('_', '-')}")
    file = export_pdf(source, out, lang)
    if json:
        show.json({"command": "export", "format": PDF, "file": str(file), "bytes": file.stat().st_size})
        return
    show.out(text("pdf.done", lang, file=show.clean(file)))


def _named(given: o.Words) -> tuple[str, ...]:
    return tuple(name.strip() for words in given or () for name in words.split(",") if name.strip())


def _document(written: Exported, form: str) -> dict[str, Any]:
    release = written.release
    known = release.anonymity
    return {
        "command": "export",
        "format": form,
        "folder": str(written.folder),
        "files": list(written.files),
        "tables": {name: frame.height for name, frame in release.tables.items()},
        "images": len(release.images),
        "anonymity": None if known is None else {"k": known.k, "smallest": known.smallest, "columns": known.columns},
        "left_out": [f"{table}.{column}" for table, column in release.left_out],
        "not_told": _untold(written),
        "notes": [{"key": note.key, "fields": note.fields, "kind": note.kind} for note in release.notes],
    }


def _said(written: Exported, lang: str) -> list[str]:
    release = written.release
    lines = []
    for note in release.notes:
        fields = {name: show.clean(value) for name, value in note.fields.items()}
        lines.append(text(f"cli.note.{note.kind}", lang, sentence=text(note.key, lang, **fields)))
    counts = {"tables": len(release.tables), "images": len(release.images)}
    lines.append(text("release.done.exported", lang, file=show.clean(written.folder), **counts))
    known = release.anonymity
    if known is not None and "raters" in release.tables:
        columns = {"columns": show.clean(", ".join(known.columns))} if known.columns else {}
        key = "release.done.group" if columns else "release.done.group_pool"
        lines.append(text(key, lang, smallest=known.smallest, k=known.k, **columns))
    if release.left_out:
        left = ", ".join(f"{table}.{column}" for table, column in release.left_out)
        lines.append(text("release.done.left_out", lang, columns=show.clean(left)))
    untold = _untold(written)
    names = show.clean(text("report.list_separator", lang).join(untold))
    return [*lines, text("release.done.untold", lang, count=len(untold), names=names)] if untold else lines


def _untold(written: Exported) -> list[str]:
    """The entries of ``[release]``, and those of ``[[pool]]`` with their pool, that say nothing."""
    told = written.release.told.untold(written.release.pools)
    return [f"{pool}: {name}" if pool else name for pool, name in told]
