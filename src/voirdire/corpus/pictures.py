"""Bytes of an image: what they are, whether they are whole, and the same picture with fewer pixels.

Pillow does the reading. Source of the limits on size before decoding: Pillow's documentation of ``Image.open``
(decompression bombs).
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",  # a JPEG with further pictures behind it, as telephones make them; the first one is shown
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
KEPT_MODES = ("L", "LA", "RGB", "RGBA")
JPEG_QUALITY = 95
SMALL_QUALITY = 82
PNG_LEVEL = 3
PNG_END = b"\0\0\0\0IEND\xaeB`\x82"  # PNG specification, third edition, section 11.2.5; Pillow does not check it
_FAULTS = (OSError, SyntaxError, ValueError, EOFError, KeyError, IndexError, struct.error, zlib.error)


class Broken(Exception):  # noqa: N818 - the store turns it into an error with file and item
    """Bytes that are no image to send; ``why`` is the last part of a key of the catalogue, fields are its own."""

    def __init__(self, why: str, **fields: Any) -> None:
        super().__init__(why)
        self.why = why
        self.fields = fields


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that was decoded once and is whole."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Resized:
    """A smaller copy."""

    data: bytes
    picture: Picture


def look_at(data: bytes, max_pixels: int, most_decoded: int | None = None) -> Picture:
    """Read an image through once and say what it is. The kind is read from the bytes, never from a name.

    The check sums of a png cover all of it up to its last chunk, whose bytes are always the same; a jpeg is decoded at
    an eighth of its size, which reads all of its data; webp and gif are decoded.

    Raises Broken for another kind than png, jpeg, webp or gif, for more than ``max_pixels`` (read from the header,
    before anything is decoded), for more than one frame, and for bytes that are damaged or cut off; of more than
    ``most_decoded`` pixels nothing is decoded, so that damage is found in a png alone.
    """
    with io.BytesIO(data) as file, _opened(file, max_pixels) as image:
        kind = str(image.format)
        frames = _frames(image)
        if frames > 1 and kind != "MPO":
            raise Broken("image_moving", count=frames)
        picture = Picture(MEDIA_TYPES[kind], *image.size)
        decoded = most_decoded is None or picture.width * picture.height <= most_decoded
        if kind == "JPEG":
            image.draft("RGB", (max(1, image.width // 8), max(1, image.height // 8)))
        if kind == "PNG" or decoded:
            _through(image.verify if kind == "PNG" else image.load)
    if kind == "PNG" and PNG_END not in data:
        raise Broken("image_broken", value="IEND")
    return picture


def resized(data: bytes, side: int, max_pixels: int) -> Resized:
    """The picture with its longest side scaled down to ``side`` pixels (Lanczos); never enlarged.

    Orientation tags are applied and colour profiles kept, so that the picture looks the same. A jpeg stays a jpeg
    (quality 95, full colour resolution), all else becomes a png. The same bytes, Pillow and codecs give the same
    result.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    with io.BytesIO(data) as file, _opened(file, max_pixels) as image:
        jpeg = image.format in ("JPEG", "MPO")
        profile = image.info.get("icc_profile")
        _through(image.load)
        upright = _plain_mode(ImageOps.exif_transpose(image))
    scale = min(1.0, side / max(upright.size))
    size = (max(1, round(upright.width * scale)), max(1, round(upright.height * scale)))
    small = upright.resize(size, Resampling.LANCZOS)
    out = io.BytesIO()
    if jpeg:
        small.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=0, icc_profile=profile)
    else:
        small.save(out, "PNG", compress_level=PNG_LEVEL, icc_profile=profile)
    return Resized(out.getvalue(), Picture(MEDIA_TYPES["JPEG" if jpeg else "PNG"], *size))


def pixels_for_copy(data: bytes, side: int, max_pixels: int) -> int:
    """How many pixels :func:`small_copy` decodes, by the header alone: of a progressive jpeg all are held at once."""
    with io.BytesIO(data) as file, _opened(file, max_pixels) as image:
        if image.format in ("JPEG", "MPO") and not image.info.get("progressive"):
            image.draft("RGB", (side * 2, side * 2))
        return image.width * image.height


def small_copy(data: bytes, side: int, max_pixels: int) -> Resized:
    """A copy to look at whose longest side is ``side`` pixels at most, as webp: the first frame of a moving picture.

    A jpeg is decoded at the smallest scale that is large enough. Orientation tags are applied. Raises Broken as
    :func:`look_at` does, but for moving pictures.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    with io.BytesIO(data) as file, _opened(file, max_pixels) as image:
        if image.format in ("JPEG", "MPO"):
            image.draft("RGB", (side * 2, side * 2))
        _through(image.load)
        small = _plain_mode(image)
        small.thumbnail((side, side), Resampling.LANCZOS)
    upright = ImageOps.exif_transpose(small)
    out = io.BytesIO()
    upright.save(out, "WEBP", quality=SMALL_QUALITY, method=2)
    return Resized(out.getvalue(), Picture(MEDIA_TYPES["WEBP"], *upright.size))


def _opened(file: io.BytesIO, max_pixels: int) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(file, formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Broken("image_large", width="?", height="?", limit=max_pixels) from error
    except UnidentifiedImageError as error:
        raise Broken("image_kind") from error
    except _FAULTS as error:
        raise Broken("image_broken", value=str(error)) from error
    if image.width * image.height > max_pixels:
        width, height = image.size
        image.close()
        raise Broken("image_large", width=width, height=height, limit=max_pixels)
    return image


def _frames(image: Image) -> int:
    try:
        return getattr(image, "n_frames", 1)
    except _FAULTS as error:
        raise Broken("image_broken", value=str(error)) from error


def _through(read: Callable[[], object]) -> None:
    try:
        read()
    except _FAULTS as error:
        raise Broken("image_broken", value=str(error)) from error


def _plain_mode(image: Image) -> Image:
    """8-bit grey or colour, with alpha where there is any."""
    if image.mode in KEPT_MODES:
        return image
    if image.mode.startswith("I"):
        return image.point(lambda value: value / 256).convert("L")
    transparent = "transparency" in image.info or image.mode in ("PA", "La", "RGBa")
    return image.convert("RGBA" if transparent else "RGB")
