"""The images of a release: found inside the corpus folder, looked at, and given names that are safe everywhere."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from voirdire.corpus.image_paths import IMAGES, ImageFolder, NotHere
from voirdire.corpus.pictures import Broken, look_at
from voirdire.errors import InputError

MAX_PIXELS = 100_000_000
SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}
SAFE = re.compile(r"images/[A-Za-z0-9_][A-Za-z0-9._-]{0,120}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,120}){0,4}")
"""Paths that every file system and archive takes: no dot in front, nothing that goes up."""

_WINDOWS = re.compile(r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)|\.(/|$)")
_GPS = 0x8825
Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class ReleaseImage:
    """One image file: its path in the release, where it lies now, the sha256 of its bytes, its media type."""

    path: str
    source: Path
    sha256: str
    media_type: str


@dataclass(frozen=True)
class Images:
    """The images of all items.

    items : the items table with the new paths in its ``image`` column; located : paths of photographs that say where
        they were taken
    """

    items: pl.DataFrame
    files: tuple[ReleaseImage, ...] = ()
    located: tuple[str, ...] = ()


def is_safe_path(path: str) -> bool:
    """Whether a path stays in ``images/`` and every file system takes it.

    >>> [is_safe_path(path) for path in ("images/a-1.png", "images/../a.png", "a.png", "images/.a.png", "images/nul")]
    [True, False, False, False, False]
    """
    return bool(SAFE.fullmatch(path)) and not _WINDOWS.search(path)


@dataclass
class Collector:
    """Looks at the images of a corpus, each file once.

    folder : of the corpus; file : its items table, as errors name it; rows : item id -> its row there
    """

    folder: Path
    file: str
    rows: Mapping[str, int]
    found: dict[Path, ReleaseImage] = field(default_factory=dict)
    located: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def collect(self, items: pl.DataFrame, progress: Progress | None = None) -> Images:
        """Find and look at the image of every item.

        Raises InputError for a cell that names no image inside the folder: a file that is no picture is never taken
        into a release, whatever it is called.
        """
        if "image" not in items.columns or items["image"].null_count() == items.height:
            return Images(items)
        place = ImageFolder(self.folder)
        paths: list[str | None] = []
        for done, (item, cell) in enumerate(items.select("item_id", "image").iter_rows(), start=1):
            paths.append(None if cell is None else self._one(place, item, cell).path)
            if progress is not None:
                progress("images", done / items.height)
        with_paths = items.with_columns(pl.Series("image", paths, dtype=pl.String))
        return Images(with_paths, tuple(self.found.values()), tuple(self.located))

    def _one(self, place: ImageFolder, item: str, cell: str) -> ReleaseImage:
        try:
            source = place.find(cell)
        except NotHere as error:
            where = {"file": self.file, "row": self.rows.get(item, 1), "column": "image", "folder": str(self.folder)}
            raise InputError(f"material.{error.why}", value=cell, item=item, **where) from error
        if source not in self.found:
            self.found[source] = self._looked_at(source, item)
        return self.found[source]

    def _looked_at(self, source: Path, item: str) -> ReleaseImage:
        data = source.read_bytes()
        try:
            picture = look_at(data, MAX_PIXELS)
        except Broken as error:
            raise InputError(f"material.{error.why}", file=str(source), item=item, **error.fields) from error
        digest, suffix = hashlib.sha256(data).hexdigest(), SUFFIX[picture.media_type]
        path = _path(source, self.folder, digest, suffix)
        if path.casefold() in self._taken:
            path = f"{IMAGES}/{digest}{suffix}"
        self._taken.add(path.casefold())
        if _says_where(data):
            self.located.append(path)
        return ReleaseImage(path, source, digest, picture.media_type)


def write_images(images: Sequence[ReleaseImage], folder: Path) -> None:
    """Write the images below a folder. Raises InputError when a file is no longer the one that was looked at."""
    for image in images:
        target = folder / image.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(read_image(image))


def read_image(image: ReleaseImage) -> bytes:
    """The bytes of an image. Raises InputError when they are no longer those that were looked at."""
    data = image.source.read_bytes()
    if hashlib.sha256(data).hexdigest() != image.sha256:
        raise InputError("release.image_changed", file=str(image.source))
    return data


def _path(source: Path, folder: Path, digest: str, suffix: str) -> str:
    """The path below ``images/`` where it is safe and its ending is that of its bytes, else the digest."""
    inner = source.relative_to(folder.resolve()).as_posix()
    path = inner if inner.startswith(f"{IMAGES}/") else f"{IMAGES}/{inner}"
    right = Path(path).suffix.lower() in {suffix, ".jpeg" if suffix == ".jpg" else suffix}
    return path if right and is_safe_path(path) else f"{IMAGES}/{digest}{suffix}"


def _says_where(data: bytes) -> bool:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return bool(image.getexif().get_ifd(_GPS))
