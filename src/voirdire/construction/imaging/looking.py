"""One look at each image: is it whole, how large is it, what does it look like from afar."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.construction.imaging.hashing import Hashes, hashes_of
from voirdire.corpus.image_paths import file_sha256
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
    files: Mapping[str, Path], progress: Callable[[float], None] | None = None
) -> dict[str, Look | Broken | OSError]:
    """item id -> what its image is, or why it cannot be read.

    progress : called with the share done
    """
    found: dict[str, Look | Broken | OSError] = {}
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as threads:
        for done, (item, look) in enumerate(zip(files, threads.map(_looked, files.values()), strict=True), start=1):
            found[item] = look
            if progress is not None:
                progress(done / len(files))
    return found


def _looked(path: Path) -> Look | Broken | OSError:
    try:
        return look(path)
    except (Broken, OSError) as fault:
        return fault


def look(path: Path) -> Look:
    """Decode an image wholly. Raises Broken and OSError."""
    from PIL import Image, ImageOps

    data = path.read_bytes()
    look_at(data, MAX_PIXELS)
    with Image.open(io.BytesIO(data)) as image:
        located = bool(image.getexif().get_ifd(GPS))
        upright = ImageOps.exif_transpose(image)
        small, hashes = thumb(upright), hashes_of(upright)
    return Look(file_sha256(path), upright.width, upright.height, len(data), hashes, small, located)


def thumb(image: Image) -> bytes:
    """A small JPEG of a decoded image, without anything that its file says besides."""
    from PIL import Image as Pictures
    from PIL.Image import Resampling

    clear = image.convert("RGBA")
    flat = Pictures.alpha_composite(Pictures.new("RGBA", clear.size, "white"), clear).convert("RGB")
    flat.thumbnail((THUMB_SIDE, THUMB_SIDE), Resampling.LANCZOS)
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=THUMB_QUALITY)
    return out.getvalue()
