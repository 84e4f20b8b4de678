"""``voirdire export``: a release of a corpus, its cells, or the profile of an audit, in one of the registered forms."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire import plugins
from voirdire.errors import UsageError
from voirdire.exchange.exporters.contract import Cells, Exporter, Source, exporter_of
from voirdire.exchange.exporters.tasks import TaskExporter, read_material
from voirdire.exchange.new_folder import new_folder
from voirdire.exchange.pseudonyms import SECRET_BYTES
from voirdire.exchange.release import Release, ReleaseOptions, build_release

if TYPE_CHECKING:
    from voirdire.analysis.profile import Profile
    from voirdire.app.run_inputs import RunInputs
    from voirdire.corpus.corpus import Note

Progress = Callable[[str, float], None]
VALIDITY = "validity"
"""The folder of a frozen corpus that holds the profile of its validity report."""


@dataclass(frozen=True)
class Exported:
    """A release that was written, and its files below the folder."""

    release: Release
    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True)
class ExportedCells:
    """Cells that were written: how many, the files below the folder, what a reader should know."""

    folder: Path
    count: int
    repeats: int
    files: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def source_of(form: str) -> Source:
    """What an exporter is given: a release, cells or a profile. Raises UsageError for an exporter that there is not."""
    return exporter_of(plugins.load(plugins.EXPORTERS, form)).source


def export(
    form: str,
    corpus: Path,
    out: Path,
    options: ReleaseOptions | None = None,
    lang: str = "en",
    *,
    progress: Progress | None = None,
) -> Exported:
    """Write the release of a corpus folder into a new folder; it is there whole or not at all.

    form : the name of an exporter: ``csv``, ``parquet``, ``hf``, ``croissant``, or one that a package registers. One
        that asks for ratings (``labelstudio``) gets the items and the study, and nothing of raters
    lang : of the datasheet

    The key of the pseudonyms is drawn here and kept nowhere. Raises UsageError and InputError as ``build_release``
    does, and UsageError for a folder that holds files.
    """
    write = plugins.load(plugins.EXPORTERS, form)
    options = options or ReleaseOptions()
    if isinstance(write, Exporter):
        raise UsageError("exporting.source", form=form, source=write.source, wanted="release")
    if isinstance(write, TaskExporter) and options != ReleaseOptions():
        raise UsageError("release.task_options", form=form)
    with new_folder(out) as folder:
        if isinstance(write, TaskExporter):
            material = read_material(corpus, progress)
            write.write(material, folder, lang)
            release = material.release
        else:
            release = build_release(corpus, options, secrets.token_bytes(SECRET_BYTES), progress)
            write(release, folder, lang)
    return Exported(release, out, _files(out))


def export_cells(
    form: str,
    corpus: Path,
    out: Path,
    lang: str = "en",
    *,
    grids: Sequence[str | Path] = (),
    questions: Sequence[str] = (),
    repeats: int | None = None,
    progress: Progress | None = None,
) -> ExportedCells:
    """Write the cells of a corpus and a grid for another tool into a new folder.

    grids : names or files, by default the neutral one; questions, repeats : instead of the grid's own

    Raises UsageError and InputError for everything that ``voirdire run`` would refuse before it asks anybody.
    """
    from voirdire.app.run_inputs import DEFAULT_GRID, RunOptions, read_run
    from voirdire.judging.nouns import JudgeSpec

    write = _exporter(form, "cells").write
    asked = RunOptions((JudgeSpec(form, form, form),), grids=tuple(grids) or (DEFAULT_GRID,))
    inputs = read_run(corpus, replace(asked, questions=tuple(questions), repeats=repeats), progress)
    plan = inputs.plan
    with new_folder(out) as folder:
        write(Cells(plan, _consensus(inputs)), folder, lang)
    return ExportedCells(out, plan.size // plan.repeats, plan.repeats, _files(out), inputs.notes)


def _consensus(inputs: RunInputs) -> dict[str, dict[str, dict[str, float]]]:
    """Every pool's consensus on the items that are asked about, where people have rated them."""
    from voirdire.corpus.reading import read_corpus
    from voirdire.judging.asked import held_out_consensus

    reading = inputs.reading
    items = [item.id for item in inputs.plan.items]
    return {} if reading.ratings is None else held_out_consensus(read_corpus(reading), items)


def export_profile(form: str, source: Path, out: Path, lang: str = "en") -> Path:
    """Write the profile of an audit in a form of one file; it is there whole or not at all.

    source : as for ``export_pdf``

    Raises InputError where there is no profile, and UsageError where the file cannot be written.
    """
    write = _exporter(form, "profile").write
    return _written(out, write(_profile(source), lang).encode("utf-8"))


def _exporter(form: str, source: Source) -> Exporter:
    found = exporter_of(plugins.load(plugins.EXPORTERS, form))
    if found.source != source:
        raise UsageError("exporting.source", form=form, source=found.source, wanted=source)
    return found


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def export_pdf(source: Path, out: Path, lang: str = "en") -> Path:
    """Write the report of an audit as a PDF; the file is there whole or not at all.

    source : a profile.json, the folder of an audit, or a frozen corpus, whose validity report is meant; out : the file

    Raises InputError where there is no profile, and UsageError where Typst or a font is missing, and where the file
    cannot be written.
    """
    from voirdire.reporting.pdf import render_pdf

    if out.is_dir():
        raise UsageError("exporting.out_is_folder", file=str(out))
    return _written(out, render_pdf(_profile(source), lang))


def _profile(source: Path) -> Profile:
    """The profile that a profile.json, the folder of an audit or a frozen corpus holds."""
    from voirdire.analysis.profile import Profile
    from voirdire.corpus.folder import frozen_folder
    from voirdire.corpus.frozen import MANIFEST

    if (source / MANIFEST).is_file():
        frozen_folder(source)
    return Profile.load(source / VALIDITY if (source / VALIDITY).is_dir() else source)


def _written(out: Path, page: bytes) -> Path:
    from voirdire.judging.run_folder import write_whole

    if out.is_dir():
        raise UsageError("exporting.out_is_folder", file=str(out))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, page)
    except OSError as error:
        raise UsageError("exporting.unwritable", file=str(out), why=error.strerror or str(error)) from error
    return out
