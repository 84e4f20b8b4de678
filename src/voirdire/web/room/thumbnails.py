"""Pictures of items: small copies made when they are asked for, and the files themselves.

Nothing is shown that is not a png, jpeg, webp or gif by its bytes, or that has more pixels than ``MOST_PIXELS``. What
cannot be shown is a plain grey picture among the small ones, and not there otherwise. A few kilobytes can hold a very
large picture: more than ``MOST_DECODED`` pixels are not decoded, so that such a picture has no small copy and is sent
as it lies, and of more than ``LARGE`` one picture is decoded at a time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from voirdire.browsing.library import NotThere, Shelf
from voirdire.corpus.image_paths import NotHere
from voirdire.corpus.pictures import MEDIA_TYPES, Broken, Resized, look_at, pixels_for_copy, small_copy
from voirdire.web.room.service import Room

SIDE, LARGE_SIDE = 320, 1600
MOST_PIXELS = 80_000_000
MOST_DECODED = 25_000_000
LARGE = 10_000_000
MOST_BYTES = 80_000_000
KEPT_BYTES = 48_000_000
MOST_FAILED = 10_000
AT_ONCE = 2
SECONDS = 300
WEBP = MEDIA_TYPES["WEBP"]
ALONE = threading.Lock()
"""Held while a large picture is decoded."""


class TooLarge(Exception):  # noqa: N818 - no error: the picture is shown as it lies
    """A picture that would take too much memory to decode."""


@dataclass(frozen=True)
class Shown:
    """Bytes and what they are."""

    data: bytes
    media_type: str


@dataclass
class Thumbnails:
    """Small copies in memory, up to a number of bytes; those not asked for longest go first. Safe between threads.

    What could not be made is remembered too, until the file changes: whether it can be shown as it lies.
    """

    most: int = KEPT_BYTES
    _kept: OrderedDict[tuple[str, int, int], bytes] = field(default_factory=OrderedDict, repr=False)
    _failed: OrderedDict[tuple[str, int, int], bool] = field(default_factory=OrderedDict, repr=False)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _making: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE), repr=False)

    def of(self, file: Path) -> bytes | None:
        """The small copy of a file; None where it cannot be shown."""
        key = (str(file), *state_of(file))
        with self._lock:
            if key in self._failed:
                return None
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._making:
            try:
                made = _copied(_bytes(file), SIDE).data
            except (Broken, TooLarge) as error:
                self._fail(key, shown=isinstance(error, TooLarge))
                return None
            except OSError:
                return None
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(made)
            while self._size > self.most and self._kept:
                self._size -= len(self._kept.popitem(last=False)[1])
        return made

    def _fail(self, key: tuple[str, int, int], *, shown: bool) -> None:
        with self._lock:
            self._failed[key] = shown
            if len(self._failed) > MOST_FAILED:
                self._failed.popitem(last=False)

    def can_be_shown(self, file: Path) -> bool:
        """Whether a file can be shown, be it only as it lies."""
        return self.of(file) is not None or self._failed.get((str(file), *state_of(file)), False)


def thumbnails_of(room: Room) -> Thumbnails:
    """The small pictures that this process keeps."""
    return room.kept.get("thumbnails", Thumbnails)


def can_be_shown(thumbnails: Thumbnails, shelf: Shelf, item: str) -> bool:
    """Whether the picture of an item can be shown; its small copy is made on the way."""
    try:
        file = shelf.image(item)
        return file is not None and thumbnails.can_be_shown(file)
    except (NotHere, OSError):
        return False


def thumbnail_response(request: Request, thumbnails: Thumbnails, shelf: Shelf, item: str) -> Response:
    """The small picture of an item; a grey one where there is none that can be shown."""
    try:
        file = shelf.image(item)
        tag = None if file is None else tag_of(file, "small")
        if tag is not None and request.headers.get("if-none-match") == tag:
            return _sent(b"", WEBP, tag, 304)
        data = None if file is None else thumbnails.of(file)
    except (NotHere, OSError):
        data = tag = None
    if data is None or tag is None:
        return _sent(placeholder(), WEBP, '"none"')
    return _sent(data, WEBP, tag)


def image_response(request: Request, shelf: Shelf, item: str) -> Response:
    """The picture of an item as it lies in the folder. Raises NotThere where there is none that can be shown."""
    try:
        file = shelf.image(item)
        if file is None:
            raise NotThere("room_items.no_picture")
        tag = tag_of(file, "whole")
        if request.headers.get("if-none-match") == tag:
            return _sent(b"", WEBP, tag, 304)
        shown = _whole(_bytes(file))
    except (NotHere, Broken, TooLarge, OSError) as error:
        raise NotThere("room_items.no_picture") from error
    return _sent(shown.data, shown.media_type, tag)


def _whole(data: bytes) -> Shown:
    """The bytes as they are, with the kind that they turn out to be; of a moving picture its first frame."""
    try:
        return Shown(data, look_at(data, MOST_PIXELS, LARGE).media_type)
    except Broken as error:
        if error.why != "image_moving":
            raise
    still = _copied(data, LARGE_SIDE)
    return Shown(still.data, still.picture.media_type)


def _copied(data: bytes, side: int) -> Resized:
    """A smaller copy, within the bounds of memory. Raises Broken and TooLarge."""
    pixels = pixels_for_copy(data, side, MOST_PIXELS)
    if pixels > MOST_DECODED:
        raise TooLarge
    with ALONE if pixels > LARGE else nullcontext():
        return small_copy(data, side, MOST_PIXELS)


def _bytes(file: Path) -> bytes:
    """All of a file that is no larger than is sensible. Raises Broken."""
    if file.stat().st_size > MOST_BYTES:
        raise Broken("image_large", width="?", height="?", limit=MOST_PIXELS)
    return file.read_bytes()


def state_of(file: Path) -> tuple[int, int]:
    """What changes when a file is written anew."""
    state = file.stat()
    return state.st_mtime_ns, state.st_size


def tag_of(file: Path, kind: str) -> str:
    """The mark by which a browser asks whether a picture has changed."""
    changed, size = state_of(file)
    return f'"{kind}-{changed:x}-{size:x}"'


def _sent(data: bytes, media_type: str, tag: str, status: int = 200) -> Response:
    headers = {"etag": tag, "cache-control": f"private, max-age={SECONDS}", "content-disposition": "inline"}
    return Response(data, status, headers, media_type)


@cache
def placeholder() -> bytes:
    """A grey picture with a line through it."""
    import io

    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SIDE, SIDE * 3 // 4), "#eceef1")
    ImageDraw.Draw(image).line((0, SIDE * 3 // 4, SIDE, 0), fill="#c3c8ce", width=2)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=60)
    return out.getvalue()
