"""From the cell of an ``image`` column to a file: inside the corpus folder, or an error that says why not."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

IMAGES = "images"
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|data:")


class NotHere(Exception):  # noqa: N818 - the reader turns it into an error with row and column
    """A cell that names no file of the corpus; ``why`` is the last part of a key of the catalogue."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class ImageFolder:
    """Finds the files that image cells name.

    A cell is a path relative to the corpus folder or to its ``images/`` folder, or the sha256 of a file of
    ``images/``. The file that is found lies inside the corpus folder after every symbolic link is followed.

    >>> ImageFolder(Path(".")).find("../secret.png")
    Traceback (most recent call last):
    voirdire.corpus.image_paths.NotHere: image_outside
    """

    folder: Path
    _digests: dict[str, Path] | None = field(default=None, repr=False)

    def find(self, cell: str) -> Path:
        """The file, with links followed. Raises NotHere."""
        if _ADDRESS.match(cell):
            raise NotHere("image_address")
        digest = _DIGEST.fullmatch(cell)
        if not stays_inside(cell):
            raise NotHere("image_outside")
        found = [path for path in (self.folder / cell, self.folder / IMAGES / cell) if _is_file(path)]
        if found:
            return inside(found[0], self.folder)
        if digest is None:
            raise NotHere("image_missing")
        try:
            return inside(self._by_digest()[digest[1].lower()], self.folder)
        except KeyError:
            raise NotHere("image_digest_unknown") from None

    def _by_digest(self) -> dict[str, Path]:
        if self._digests is None:
            files = sorted(path for path in (self.folder / IMAGES).rglob("*") if _is_file(path))
            here = [path for path in files if is_inside(path, self.folder)]
            self._digests = {file_sha256(path): path for path in reversed(here)}
        return self._digests


def stays_inside(cell: str) -> bool:
    r"""Whether a path's spelling is relative and never goes up: ``/a``, ``C:\a``, ``a/../b`` are not.

    >>> [stays_inside(cell) for cell in ("a.png", "images/a.png", "/a.png", "C:\\a.png", "a/../b.png", "a\0.png")]
    [True, True, False, False, False, False]
    """
    path = PureWindowsPath(cell)
    return "\0" not in cell and not path.drive and not path.root and ".." not in path.parts


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a file lies inside a folder when every symbolic link is followed."""
    return path.resolve().is_relative_to(folder.resolve())


def inside(path: Path, folder: Path) -> Path:
    """The path with links followed. Raises NotHere where it leaves the folder."""
    if not is_inside(path, folder):
        raise NotHere("image_outside")
    return path.resolve()


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that the file system cannot hold
        return False
