"""corpus.toml of a release: what is told, how the ratings are read, and the digests by which it is known again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voirdire.corpus.belonging import JUDGED
from voirdire.corpus.equivalence import SECTION
from voirdire.corpus.folder import settings_of
from voirdire.corpus.frozen import ALLOWED, ORIGIN
from voirdire.corpus.screened import SECTION as SCREENING
from voirdire.errors import InputError
from voirdire.exchange.release import Release
from voirdire.exchange.release_tables import TABLES, table_digest
from voirdire.exchange.told import MANIFEST, read_told
from voirdire.judging.toml_text import toml_text
from voirdire.version import VERSION

MARK = "exported"
TOP = ("name", "version", "languages", "licence", "simulated")
PARTS = ("read", "release", "pool", ORIGIN, JUDGED, ALLOWED, SECTION, SCREENING, MARK, "contents", "images", "digests")
README = "README.md"
"""Not among the digests: whoever publishes a release may add to it."""


def write_manifest(release: Release, folder: Path, form: str, **more: Any) -> Path:
    """Write corpus.toml beside the files of a release, whose digests it records.

    more : further entries of ``[exported]``
    """
    file = folder / MANIFEST
    file.write_text(manifest(release, folder, form, more), encoding="utf-8", newline="\n")
    return file


def manifest(release: Release, folder: Path, form: str, more: Mapping[str, Any]) -> str:
    """The text of corpus.toml.

    ``[contents]`` has a table's sha256 as csv, ``[images]`` an image's, ``[digests]`` that of every other file.
    """
    told = release.told
    entries: dict[str, Any] = {"name": told.name, "version": told.version or None}
    entries |= {"languages": list(told.languages) or None, "licence": told.licence, "simulated": told.simulated or None}
    pools = [{"name": name, **facts} for name, facts in told.pools.items()]
    exported: dict[str, Any] = {"format": form, "voirdire": VERSION}
    if release.anonymity is not None:
        exported |= {"k": release.anonymity.k, "smallest_group": release.anonymity.smallest}
    return manifest_text(
        entries
        | {
            "read": dict(release.read),
            "release": dict(told.release),
            "pool": pools,
            ORIGIN: dict(told.origin),
            JUDGED: dict(release.judged),
            ALLOWED: [{"check": check, "reason": reason} for check, reason in told.allowed],
            SECTION: dict(told.equivalence),
            SCREENING: dict(told.screening),
            MARK: exported | dict(more),
            "contents": {name: table_digest(frame) for name, frame in release.tables.items()},
            "images": {image.path: f"sha256:{image.sha256}" for image in release.images},
            "digests": _file_digests(release, folder),
        }
    )


def read_manifest(folder: Path, form: str) -> dict[str, Any]:
    """corpus.toml of a release in a form. Raises InputError where it is of another one, or of none."""
    read_told(folder)
    settings = settings_of(folder)
    exported = settings.get(MARK)
    found = exported.get("format") if isinstance(exported, dict) else None
    if not isinstance(found, str) or found != form:
        raise InputError("release.not_this_form", file=str(folder / MANIFEST), form=form, found=str(found or "-"))
    contents = settings.get("contents")
    known = isinstance(contents, dict) and {"items", "ratings"} <= set(contents) <= set(TABLES)
    if not known:
        raise InputError("release.contents_missing", file=str(folder / MANIFEST), known=", ".join(TABLES))
    for name in ("read", "images"):
        if not isinstance(settings.get(name, {}), dict):
            fields = {"entry": name, "value": str(settings[name]), "known": f"[{name}]"}
            raise InputError("input.toml_entry", file=str(folder / MANIFEST), **fields)
    return {name: value for name, value in settings.items() if name in (*TOP, *PARTS)}


def manifest_text(settings: Mapping[str, Any]) -> str:
    """The text of corpus.toml: what stands before the first table, then the tables; empty ones are left out."""
    top = {name: settings.get(name) for name in TOP}
    parts = {name: settings[name] for name in PARTS if settings.get(name)}
    return toml_text({"top": top}).removeprefix("[top]\n") + "\n" + toml_text(parts)


def file_digest(file: Path) -> str:
    """``sha256:`` and the sha256 of a file's bytes."""
    with file.open("rb") as opened:
        return f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"


def _file_digests(release: Release, folder: Path) -> dict[str, str]:
    images = {image.path for image in release.images}
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: file_digest(folder / name) for name in files if name not in {MANIFEST, README, *images}}
