"""``voirdire export``: a corpus as a release, in one of the registered forms."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from voirdire import plugins
from voirdire.exchange.new_folder import new_folder
from voirdire.exchange.pseudonyms import SECRET_BYTES
from voirdire.exchange.release import Release, ReleaseOptions, build_release

Progress = Callable[[str, float], None]


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
