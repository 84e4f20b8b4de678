"""Releases taken back: every table and image is checked against corpus.toml and written as a corpus folder of csv.

Each reader is called with the one folder of a release and an empty folder, where it leaves a corpus folder
(corpus.toml and its tables). An exporter is called with a release, an empty folder and a language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.errors import InputError, UsageError
from voirdire.exchange.manifest import MARK, README, file_digest, manifest_text, read_manifest
from voirdire.exchange.release_images import is_safe_path
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.tabular import table_path
from voirdire.exchange.told import MANIFEST

LISTED = 8

TableReader = Callable[[str, Path], bytes]


def read_csv(files: Sequence[Path], folder: Path) -> None:
    """Take a csv release back: the same bytes, once their digests are found right."""
    release = one_folder(files, "csv")
    take_back(release, folder, read_manifest(release, "csv"), lambda _, path: path.read_bytes(), "csv")


def read_parquet(files: Sequence[Path], folder: Path) -> None:
    """Take a Parquet release back, as csv."""
    release = one_folder(files, "parquet")
    take_back(release, folder, read_manifest(release, "parquet"), lambda _, path: as_csv(parquet(path)), "parquet")


def one_folder(files: Sequence[Path], form: str) -> Path:
    """The one folder that a release is. Raises UsageError for anything else, InputError for a folder that is none."""
    if len(files) == 1 and not files[0].exists():
        raise InputError("input.file_missing", file=str(files[0]))
    if len(files) != 1 or not files[0].is_dir():
        raise UsageError("release.one_folder", form=form, value=", ".join(map(str, files)) or "-")
    if not (files[0] / MANIFEST).is_file():
        found = sorted(path.name for path in files[0].iterdir())
        listed = ", ".join(found[:LISTED]) + (", …" if len(found) > LISTED else "")
        raise InputError("release.no_release", file=str(files[0]), wanted=MANIFEST, found=listed or "-", form=form)
    return files[0]


def take_back(release: Path, folder: Path, settings: Mapping[str, Any], read: TableReader, ending: str) -> None:
    """Write the tables, images and corpus.toml of a release that has its tables as files of one ending.

    read : a table's name and file -> the bytes of its csv
    """
    for name in settings["contents"]:
        path = release / table_path(name, ending)
        if not path.is_file():
            raise InputError("release.table_missing", file=str(path), table=name)
        keep_table(name, read(name, path), folder, settings, path)
    for image, known in images_of(settings, release).items():
        source = release / image
        keep_image(image, source.read_bytes() if source.is_file() else b"", folder, known, release)
    finish(release, folder, settings)


def keep_table(name: str, data: bytes, folder: Path, settings: Mapping[str, Any], source: Path) -> None:
    """Write a table's csv. Raises InputError where it is not the one that was released."""
    found, known = f"sha256:{hashlib.sha256(data).hexdigest()}", str(settings["contents"][name])
    if found != known:
        raise InputError("release.table_differs", file=str(source), table=name, found=found, known=known)
    target = folder / table_path(name, "csv")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)


def keep_image(path: str, data: bytes, folder: Path, known: str, source: Path) -> None:
    """Write an image. Raises InputError for a path that is not safe and for bytes that were not released."""
    if not is_safe_path(path):
        raise InputError("release.image_path", file=str(source), value=path)
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != known:
        raise InputError("release.image_differs", file=str(source), image=path, known=known)
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def finish(release: Path, folder: Path, settings: Mapping[str, Any]) -> None:
    """Write README.md as it came, and corpus.toml with the digests of what was written."""
    readme = release / README
    if not readme.resolve().is_relative_to(release.resolve()):
        raise InputError("release.readme_leads_out", file=str(readme))
    if readme.is_file():
        (folder / README).write_bytes(readme.read_bytes())
    images = images_of(settings, release)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    digests = {name: file_digest(folder / name) for name in files if name not in {README, MANIFEST, *images}}
    changed = dict(settings) | {MARK: {**settings[MARK], "format": "csv"}, "digests": digests}
    (folder / MANIFEST).write_text(manifest_text(changed), encoding="utf-8", newline="\n")


def parquet(file: Path) -> pl.DataFrame:
    """A Parquet table. Raises InputError when it is damaged."""
    try:
        return pl.read_parquet(file, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("input.file_damaged", file=str(file), value=str(error)[:200]) from error


def images_of(settings: Mapping[str, Any], release: Path) -> dict[str, str]:
    """Path -> digest of every image. Raises InputError for a path that is not safe."""
    images = settings.get("images", {})
    for path in images:
        if not is_safe_path(path):
            raise InputError("release.image_path", file=str(release / MANIFEST), value=str(path))
    return {str(path): str(known) for path, known in images.items()}
