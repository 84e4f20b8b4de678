"""``voirdire export``."""

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
OutOption = Annotated[Path, _option("--out", "DIR")]
Judged = Annotated[Path | None, _option("--judgments", "RUN")]
WithText = Annotated[bool, _option("--with-text-of-raters", None)]
RaterColumns = Annotated[o.Words, _option("--rater-columns", "C1,C2|none")]
RatingColumns = Annotated[o.Words, _option("--rating-columns", "C1,C2")]
AtLeast = Annotated[int | None, _option("--k", "N")]
Grids = Annotated[o.Words, _option("--grid", "NAME|FILE")]
Questions = Annotated[o.Words, _option("--questions", "Q1,Q2")]
Repeats = Annotated[int | None, _option("--repeats", "N")]
NONE, PDF = "none", "pdf"
OF_RELEASES = ("judgments", "with_text_of_raters", "rater_columns", "rating_columns", "k")
OF_CELLS = ("grid", "questions", "repeats")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export", cls=LocalCommand, help="release.help.export", epilog="release.help.export_example")(export)


def export(
    ctx: typer.Context,
    form: Format,
    corpus: Corpus,
    out: OutOption,
    judgments: Judged = None,
    with_text_of_raters: WithText = False,
    rater_columns: RaterColumns = None,
    rating_columns: RatingColumns = None,
    k: AtLeast = None,
    grid: Grids = None,
    questions: Questions = None,
    repeats: Repeats = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.exporting import export as run_export
    from voirdire.app.exporting import source_of
    from voirdire.exchange.anonymity import DEFAULT_K
    from voirdire.exchange.release import ReleaseOptions

    language = ctx.find_object(str) or "en"
    source = "profile" if form == PDF else source_of(form)
    _refuse(ctx, form, source)
    if source != "release":
        (_profile if source == "profile" else _cells)(ctx, form, corpus, out, language)
        return
    attributes = None if rater_columns is None else tuple(name for name in _named(rater_columns) if name != NONE)
    columns = tuple(name for name in _named(rating_columns) if name != NONE)
    options = ReleaseOptions(judgments, with_text_of_raters, attributes, columns, DEFAULT_K if k is None else k)
    with show.Progress(language) as progress:
        written = run_export(form, corpus, out, options, language, progress=progress)
    if json:
        show.json(_document(written, form))
        return
    for line in _said(written, language):
        show.out(line)


def _refuse(ctx: typer.Context, form: str, source: str) -> None:
    """UsageError for an option that means nothing for what an exporter is given."""
    known = {"release": OF_RELEASES, "cells": OF_CELLS}
    others = (name for other, names in known.items() for name in names if other != source)
    wrong = next((name for name in others if _given(ctx.params[name])), None)
    if wrong is not None:
        raise UsageError(f"exporting.option.{source}", option=f"--{wrong.replace('_', '-')}", form=form)


def _given(value: Any) -> bool:
    """Whether an option was given, numbers also as 0."""
    return bool(value) or type(value) is int


def _profile(ctx: typer.Context, form: str, source: Path, out: Path, lang: str) -> None:
    """The profile of an audit, or of a frozen corpus, as one file."""
    from voirdire.app.exporting import export_pdf, export_profile

    file = export_pdf(source, out, lang) if form == PDF else export_profile(form, source, out, lang)
    if ctx.params["json"]:
        show.json({"command": "export", "format": form, "file": str(file), "bytes": file.stat().st_size})
        return
    show.out(text("exporting.done.file", lang, file=show.clean(file)))


def _cells(ctx: typer.Context, form: str, corpus: Path, out: Path, lang: str) -> None:
    """The cells of a corpus and a grid."""
    from voirdire.app.exporting import export_cells
    from voirdire.cli.run_options import note_lines, notes_document

    grids, questions, repeats = (ctx.params[name] for name in OF_CELLS)
    asked = {"grids": tuple(grids or ()), "questions": _named(questions), "repeats": repeats}
    with show.Progress(lang) as progress:
        written = export_cells(form, corpus, out, lang, progress=progress, **asked)
    if ctx.params["json"]:
        told = {"cells": written.count, "repeats": written.repeats, "notes": notes_document(written.notes, lang)}
        files = {"folder": str(written.folder), "files": list(written.files)}
        show.json({"command": "export", "format": form, **files, **told})
        return
    for line in note_lines(written.notes, lang):
        show.out(line)
    counts = {"cells": written.count, "repeats": written.repeats}
    show.out(text("exporting.done.cells", lang, file=show.clean(written.folder), **counts))


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
    untold = _untold(written) if "ratings" in release.tables else []
    names = show.clean(text("report.list_separator", lang).join(untold))
    return [*lines, text("release.done.untold", lang, count=len(untold), names=names)] if untold else lines


def _untold(written: Exported) -> list[str]:
    """The entries of ``[release]``, and those of ``[[pool]]`` with their pool, that say nothing."""
    told = written.release.told.untold(written.release.pools)
    return [f"{pool}: {name}" if pool else name for pool, name in told]
