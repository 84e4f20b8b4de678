"""One look at each image: is it whole, how large is it, what does it look like from afar."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.construction.imaging.hashing import Hashes, hashes_of
from voirdire.corpus.pictures import Broken, look_at
from voirdire.judging.images import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

THUMB_SIDE, THUMB_QUALITY = 320, 78
GPS = 0x8825
"""The EXIF tag of the place where a photograph was taken (CIPA DC-008)."""


@dataclass(frozen=True, slots=True)
class Look:
    """What an image file is.

    width, height : as it is shown, after its orientation tag; n_bytes : of the file
    thumb : a small JPEG; located : whether it says where it was taken
    """

    sha256: str
    width: int
    height: int
    n_bytes: int
    hashes: Hashes
    thumb: bytes
    located: bool = False


def look_at_all(
    files: Mapping[str, tuple[Path, str]], progress: Callable[[float], None] | None = None
) -> dict[str, Look | Broken | OSError]:
    """item id -> what its image is, or why it cannot be read.

    files : item id -> file, and the sha256 that it had when it was kept; progress : called with the share done
    """
    found: dict[str, Look | Broken | OSError] = {}
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as threads:
        looks = threads.map(lambda file: _looked(*file), files.values())
        for done, (item, look) in enumerate(zip(files, looks, strict=True), start=1):
            found[item] = look
            if progress is not None:
                progress(done / len(files))
    return found


def _looked(path: Path, sha256: str) -> Look | Broken | OSError:
    try:
        return look(path, sha256)
    except (Broken, OSError) as fault:
        return fault


def look(path: Path, sha256: str = "") -> Look:
    """Decode an image. Raises Broken and OSError.

    sha256 : of bytes that are known to be whole; others are verified first
    """
    from PIL import Image, ImageOps

    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        look_at(data, MAX_PIXELS)
    with Image.open(io.BytesIO(data)) as image:
        located = bool(image.getexif().get_ifd(GPS))
        upright = ImageOps.exif_transpose(image)
        size = upright.size
        upright.thumbnail((THUMB_SIDE, THUMB_SIDE), Image.Resampling.LANCZOS, reducing_gap=3.0)
        small = on_white(upright)
    return Look(digest, *size, len(data), hashes_of(small), thumb(small), located)


def on_white(image: Image) -> Image:
    """An image in 8-bit colours without transparency."""
    from PIL import Image as Pictures

    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    return Pictures.alpha_composite(Pictures.new("RGBA", clear.size, "white"), clear).convert("RGB")


def thumb(image: Image) -> bytes:
    """A small image as JPEG, without anything that its file says besides."""
    out = io.BytesIO()
    bare = image.copy()
    bare.info.clear()
    bare.save(out, "JPEG", quality=THUMB_QUALITY)
    return out.getvalue()
