"""``voirdire export``: a corpus as a release, in one of the registered forms."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from voirdire import plugins
from voirdire.errors import UsageError
from voirdire.exchange.new_folder import new_folder
from voirdire.exchange.pseudonyms import SECRET_BYTES
from voirdire.exchange.release import Release, ReleaseOptions, build_release

Progress = Callable[[str, float], None]
VALIDITY = "validity"
"""The folder of a frozen corpus that holds the profile of its validity report."""


@dataclass(frozen=True)
class Exported:
    """A release that was written, and its files below the folder."""

    release: Release
    folder: Path
    files: tuple[str, ...]


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

    form : the name of an exporter: ``csv``, ``parquet``, ``hf``, ``croissant``, or one that a package registers
    lang : of the datasheet

    The key of the pseudonyms is drawn here and kept nowhere. Raises UsageError and InputError as ``build_release``
    does, and UsageError for a folder that holds files.
    """
    write = plugins.load(plugins.EXPORTERS, form)
    with new_folder(out) as folder:
        release = build_release(corpus, options or ReleaseOptions(), secrets.token_bytes(SECRET_BYTES), progress)
        write(release, folder, lang)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return Exported(release, out, tuple(files))


def export_pdf(source: Path, out: Path, lang: str = "en") -> Path:
    """Write the report of an audit as a PDF; the file is there whole or not at all.

    source : a profile.json, the folder of an audit, or a frozen corpus, whose validity report is meant; out : the file

    Raises InputError where there is no profile, and UsageError where Typst or a font is missing, and where the file
    cannot be written.
    """
    from voirdire.analysis.profile import Profile
    from voirdire.corpus.folder import frozen_folder
    from voirdire.corpus.frozen import MANIFEST
    from voirdire.judging.run_folder import write_whole
    from voirdire.reporting.pdf import render_pdf

    if out.is_dir():
        raise UsageError("pdf.out_is_folder", file=str(out))
    if (source / MANIFEST).is_file():
        frozen_folder(source)
    profile = Profile.load(source / VALIDITY if (source / VALIDITY).is_dir() else source)
    page = render_pdf(profile, lang)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, page)
    except OSError as error:
        raise UsageError("pdf.unwritable", file=str(out), why=error.strerror or str(error)) from error
    return out
