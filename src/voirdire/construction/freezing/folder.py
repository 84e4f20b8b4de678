"""The folder of a frozen corpus: written beside its place, moved there in one step when it is whole."""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from voirdire.construction.imaging.files import sync_folder
from voirdire.corpus.frozen import DIGESTS, FROZEN, MANIFEST, PREFIX, digest_of_settings, file_digest
from voirdire.errors import InputError, UsageError
from voirdire.judging.toml_text import toml_text

LOCK = "freeze.lock"
IMAGES = "images"
CHUNK = 1 << 20


@contextmanager
def only_freeze(folder: Path) -> Iterator[None]:
    """Hold a folder that is being built against a second freeze. Raises UsageError where one is at work."""
    try:
        lock = (folder / LOCK).open("ab")
    except OSError as error:
        raise UsageError("freeze.out.unwritable", file=str(folder), why=error.strerror or str(error)) from error
    with lock:
        _lock(lock, folder)
        yield


@contextmanager
def held_folder(target: Path, source: Path) -> Iterator[Path]:
    """An empty folder beside the target to write into; nothing is left of it, unless ``put_in_place`` moved it.

    source : the folder that is being built; what a killed freeze of it left beside the target is taken away
    Raises UsageError where the target is a file or holds files, and where it cannot be written.
    """
    place = target.resolve()
    _check(target, place, source)
    held = beside(place, source)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if held.exists():
            shutil.rmtree(held)
        held.mkdir()
        yield held
    except OSError as error:
        if error.filename is None or Path(str(error.filename)).is_relative_to(place.parent):
            raise UsageError("freeze.out.unwritable", file=str(target), why=error.strerror or str(error)) from error
        raise
    finally:
        shutil.rmtree(held, ignore_errors=True)


def beside(place: Path, source: Path) -> Path:
    """The folder beside a place in which a freeze of a source is written, until it is moved there."""
    mark = hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:12]
    return place.parent / f".{place.name}.freezing-{mark}"


def put_in_place(held: Path, target: Path) -> None:
    """Move a finished folder to its place; from then on it is there, also after a loss of power."""
    place = target.resolve()
    for path in held.rglob("*"):
        sync_folder(path)
    sync_folder(held)
    if place.is_dir():
        place.rmdir()
    held.rename(place)
    sync_folder(place.parent)


def copy_images(images: Mapping[str, tuple[Path, str]], held: Path, progress: Any = None) -> dict[str, str]:
    """Copy images; item id -> path in the folder.

    images : item id -> file and sha256
    Raises InputError for a file that is no longer the one that was looked at.
    """
    found = {}
    if images:
        (held / IMAGES).mkdir()
    for done, (item, (source, sha256)) in enumerate(images.items(), start=1):
        data = source.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InputError("freeze.out.image_changed", file=str(source))
        found[item] = f"{IMAGES}/{item}{source.suffix}"
        (held / found[item]).write_bytes(data)
        if progress is not None:
            progress("images", done / len(images))
    return found


def digests_of(held: Path) -> dict[str, str]:
    """File -> digest, of every file of a folder but ``corpus.toml``."""
    files = sorted(path for path in held.rglob("*") if path.is_file())
    named = {path.relative_to(held).as_posix(): path for path in files}
    return {name: file_digest(path) for name, path in named.items() if name != MANIFEST}


def write_manifest(held: Path, top: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Write ``corpus.toml``; gives the digest of the frozen corpus, empty where ``[frozen]`` is not among the parts.

    top : entries that stand before the first table; parts : tables and lists of tables
    """
    content = manifest_text(top, parts)
    digest = ""
    if FROZEN in parts:
        digest = digest_of_settings(tomllib.loads(content))
        content = manifest_text(top, {**parts, FROZEN: {**parts[FROZEN], "digest": digest}})
    (held / MANIFEST).write_text(content, encoding="utf-8", newline="\n")
    return digest


def manifest_text(top: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """The text of ``corpus.toml``; parts that are empty are left out.

    >>> print(manifest_text({"name": "tea"}, {"read": {}, "frozen": {"version": "1.0"}}))
    name = "tea"
    <BLANKLINE>
    [frozen]
    version = "1.0"
    <BLANKLINE>
    """
    kept = {name: value for name, value in parts.items() if value}
    return toml_text({"top": top}).removeprefix("[top]\n") + "\n" + toml_text(kept)


def image_digests(digests: Mapping[str, str]) -> dict[str, str]:
    """The digests of the images among those of all files."""
    return {name: digest for name, digest in digests.items() if name.startswith(f"{IMAGES}/")}


def table_digests(digests: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The digests of tables, and one of all images together."""
    found = {name: digest for name, digest in digests.items() if name.split(".")[0] in names}
    images = "\n".join(f"{name} {digest}" for name, digest in sorted(image_digests(digests).items()))
    return found | {IMAGES: f"{PREFIX}{hashlib.sha256(images.encode()).hexdigest()}"}


def _check(target: Path, place: Path, source: Path) -> None:
    if target.is_symlink() or (place.exists() and not place.is_dir()):
        raise UsageError("freeze.out.is_file", file=str(target))
    found = sorted(path.name for path in place.iterdir()) if place.is_dir() else []
    if found:
        raise UsageError("freeze.out.not_empty", file=str(target), found=", ".join(found[:5]))
    if place.is_relative_to(source.resolve() / IMAGES) or place == source.resolve():
        raise UsageError("freeze.out.inside", file=str(target))


def _lock(lock: IO[bytes], folder: Path) -> None:
    try:
        import fcntl
    except ImportError as error:
        raise UsageError("build.history.no_locks", file=str(folder)) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UsageError("freeze.out.locked", file=str(folder)) from error


def set_digests(parts: Mapping[str, Any], frozen: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """The parts of a manifest with those that make it a frozen one at their places."""
    return {**parts, FROZEN: dict(frozen), DIGESTS: dict(digests)}
