"""Where the images of a corpus lie: ``images/<regime>/<item id>.<kind>``, written so that a kill leaves no half.

An image that is drawn anew replaces the file; the old one is moved to ``image-run/replaced/``, never deleted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from voirdire.corpus.image_paths import IMAGES, file_sha256

RUN = "image-run"
REPLACED = "replaced"
KINDS: Mapping[str, str] = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}
"""The kind is that of the bytes, whatever was asked for."""

_HALF = re.compile(r"\.(?:images\.jsonl|contact-sheet-[\w.-]+\.html|[\w.-]+\.(?:png|jpg|webp|gif))\.\d+")


def regime_folder(folder: Path, regime: str) -> Path:
    """The folder of a regime's images."""
    return folder / IMAGES / regime


def image_file(folder: Path, regime: str, item: str) -> Path | None:
    """The image of an item in a regime, or None. ``item`` and ``regime`` are checked names.

    >>> image_file(Path("nowhere"), "generated", "tea-us") is None
    True
    """
    found = _candidates(regime_folder(folder, regime), item)
    return found[0] if found else None


def put(folder: Path, regime: str, item: str, data: bytes, media_type: str, sha256: str) -> Path:
    """Write an item's image through to the disk; another one that it had is moved aside."""
    place = regime_folder(folder, regime)
    place.mkdir(parents=True, exist_ok=True)
    target = place / f"{item}{KINDS[media_type]}"
    for old in _candidates(place, item):
        digest = file_sha256(old)
        if old == target and digest == sha256:
            return target
        aside = folder / RUN / REPLACED / regime / f"{item}-{digest[:16]}{old.suffix}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        old.replace(aside)
    write_through(target, data)
    return target


def put_back(folder: Path, regime: str, item: str, sha256: str) -> None:
    """Put an image that was moved aside into its place again, where another one, or none, lies there now."""
    place = regime_folder(folder, regime)
    for kind in KINDS.values():
        aside = folder / RUN / REPLACED / regime / f"{item}-{sha256[:16]}{kind}"
        if aside.is_file():
            media_type = next(name for name, ending in KINDS.items() if ending == kind)
            if not any(file_sha256(path) == sha256 for path in _candidates(place, item)):
                put(folder, regime, item, aside.read_bytes(), media_type, sha256)


def sweep(folder: Path, regime: str) -> None:
    """Take away what a kill left half written. Only who holds the run folder may do so."""
    for place in (folder, regime_folder(folder, regime)):
        for path in place.glob(".*"):
            if _HALF.fullmatch(path.name):
                path.unlink()


def write_through(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, or not at all, and outlives a loss of power."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _candidates(place: Path, item: str) -> list[Path]:
    return [path for kind in KINDS.values() if (path := place / f"{item}{kind}").is_file()]
