"""Images as judges get them: checked once, sent byte for byte, encoded once for the cells that share them."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pybase64

from voirdire.corpus.image_paths import is_inside
from voirdire.corpus.pictures import Broken, Picture, Resized, look_at, resized
from voirdire.errors import InputError, UsageError

MAX_BYTES = 20 * 2**20
MAX_PIXELS = 50_000_000
CACHE_BYTES = 24 * 2**20
SMALLEST_SIDE = 16


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What is known of an image file, and of what is sent for it.

    sha256 : of the file as it lies in the corpus, whatever is sent
    media_type : of what is sent, by its bytes
    width, height : pixels stored in the file; n_bytes : of the file
    sent_width, sent_height, sent_bytes, sent_sha256 : of what is sent; equal to the file's without a resize
    """

    sha256: str
    media_type: str
    width: int
    height: int
    n_bytes: int
    sent_width: int
    sent_height: int
    sent_bytes: int
    sent_sha256: str


@dataclass(frozen=True, slots=True)
class Encoded:
    """An image ready for a request body: base64 without line breaks."""

    base64: bytes
    media_type: str


class ImageStore:
    """The images of a run.

    Every image is read, verified and measured once (``check`` does it for all before a run), and encoded once as
    long as its base64 stays among the most recently used ``cache_bytes``. Memory is that, a few hundred bytes of
    facts an image, and while checking one image a thread.

    folder : images must lie inside it when links are followed; also : further folders (of a grid's cue images)
    max_bytes, max_pixels : larger files are refused; the pixels are read from the header, before anything is decoded
    resize : longest side in pixels to which larger images are scaled down, or None: bytes are sent unchanged.
        Only a resized image differs from the file that raters saw, so this is logged with every judgment
    """

    def __init__(
        self,
        folder: Path,
        *,
        also: Sequence[Path] = (),
        max_bytes: int = MAX_BYTES,
        max_pixels: int = MAX_PIXELS,
        resize: int | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if resize is not None and resize < SMALLEST_SIDE:
            raise UsageError("material.resize_small", value=resize, limit=SMALLEST_SIDE)
        self.folder = folder
        self.also = tuple(also)
        self.max_bytes = max_bytes
        self.max_pixels = max_pixels
        self.resize = resize
        self.cache_bytes = cache_bytes
        self.cached_bytes = 0
        self._facts: dict[Path, ImageFacts] = {}
        self._owners: dict[Path, str] = {}
        self._cache: OrderedDict[Path, Encoded] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, paths: Iterable[Path], progress: Callable[[int], None] | None = None) -> None:
        """Read, verify and measure all images that are not known yet. Raises InputError for the first bad one.

        paths : files, or a mapping of files to the item that shows each, for errors (``Material.images()``)
        progress : called with the number of images done
        """
        if isinstance(paths, Mapping):
            self._owners.update(paths)
        wanted = [path for path in dict.fromkeys(paths) if path not in self._facts]
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as threads:
            for done, _ in enumerate(threads.map(self.facts, wanted), start=1):
                if progress is not None:
                    progress(done)

    def facts(self, path: Path) -> ImageFacts:
        """What is known of an image; verified when it is asked for the first time. Raises InputError."""
        known = self._facts.get(path)
        if known is None:
            known = self._facts[path] = self._looked_at(path)
        return known

    def sha256(self, path: Path) -> str:
        """sha256 of the file as it lies in the corpus."""
        return self.facts(path).sha256

    def encoded(self, path: Path) -> Encoded:
        """The image in base64. Raises InputError, also when the file is no longer the one that was checked."""
        with self._lock:
            kept = self._cache.get(path)
            if kept is not None:
                self._cache.move_to_end(path)
                return kept
        facts = self.facts(path)
        data = self._read(path)
        if hashlib.sha256(data).hexdigest() != facts.sha256:
            raise self._error("image_changed", path)
        sent = self._smaller(path, data).data if facts.sent_sha256 != facts.sha256 else data
        made = Encoded(pybase64.b64encode(sent), facts.media_type)
        self._keep(path, made)
        return made

    def forget(self) -> None:
        """Let go of what is encoded, when nobody will be asked for a while; facts stay."""
        with self._lock:
            self._cache.clear()
            self.cached_bytes = 0
        _give_back()

    def _keep(self, path: Path, made: Encoded) -> None:
        size = len(made.base64)
        with self._lock:
            if path in self._cache or size > self.cache_bytes:
                return
            self._cache[path] = made
            self.cached_bytes += size
            while self.cached_bytes > self.cache_bytes:
                _, dropped = self._cache.popitem(last=False)
                self.cached_bytes -= len(dropped.base64)

    def _looked_at(self, path: Path) -> ImageFacts:
        data = self._read(path)
        try:
            picture = look_at(data, self.max_pixels)
        except Broken as fault:
            raise self._error(fault.why, path, **fault.fields) from fault
        digest = hashlib.sha256(data).hexdigest()
        if self.resize is None or max(picture.width, picture.height) <= self.resize:
            return _facts(digest, len(data), picture, Resized(data, picture), digest)
        small = self._smaller(path, data)
        self._keep(path, Encoded(pybase64.b64encode(small.data), small.picture.media_type))
        return _facts(digest, len(data), picture, small, hashlib.sha256(small.data).hexdigest())

    def _smaller(self, path: Path, data: bytes) -> Resized:
        try:
            return resized(data, self.resize or MAX_PIXELS, self.max_pixels)
        except Broken as fault:
            raise self._error(fault.why, path, **fault.fields) from fault

    def _read(self, path: Path) -> bytes:
        if not any(is_inside(path, folder) for folder in (self.folder, *self.also)):
            raise self._error("image_stray", path)
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise self._error("image_unreadable", path, value=os.strerror(errno.EISDIR))
            if status.st_size > self.max_bytes:
                raise self._error("image_heavy", path, count=status.st_size, limit=self.max_bytes)
            with path.open("rb") as file:
                return file.read(status.st_size)
        except OSError as error:
            raise self._error("image_unreadable", path, value=error.strerror or str(error)) from error

    def _error(self, key: str, path: Path, **fields: Any) -> InputError:
        return InputError(f"material.{key}", file=str(path), item=self._owners.get(path, path.name), **fields)


def _facts(digest: str, n_bytes: int, picture: Picture, sent: Resized, sent_digest: str) -> ImageFacts:
    return ImageFacts(
        digest,
        sent.picture.media_type,
        picture.width,
        picture.height,
        n_bytes,
        sent.picture.width,
        sent.picture.height,
        len(sent.data),
        sent_digest,
    )


def _give_back() -> None:
    """Hand freed memory back to the system; glibc would keep it between the pieces that are still in use.

    Source: malloc_trim(3), Linux manual pages. Other C libraries have no such call, and nothing happens.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
