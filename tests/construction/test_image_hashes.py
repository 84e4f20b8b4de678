"""Perceptual hashes against transforms whose answer is known, on photographs and on drawn pictures."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from tests.construction.mock_images import picture

from voirdire.construction.imaging.hashing import D_LIMIT, P_LIMIT, SIDE, Hashes, _cosines, hashes_of, near
from voirdire.construction.imaging.looking import look
from voirdire.corpus.pictures import Broken

Change = Callable[[Image.Image], Image.Image]


def jpeg(quality: int) -> Change:
    def change(image: Image.Image) -> Image.Image:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality)
        return Image.open(io.BytesIO(out.getvalue())).convert("RGB")

    return change


def crop(share: float) -> Change:
    def change(image: Image.Image) -> Image.Image:
        w, h = image.size
        return image.crop((int(w * share), int(h * share), int(w * (1 - share)), int(h * (1 - share))))

    return change


SAME: dict[str, Change] = {
    "same": lambda image: image,
    "jpeg": jpeg(20),
    "half": lambda image: image.resize((image.width // 2, image.height // 2)),
    "squeezed": lambda image: image.resize((300, 400)),
    "bright": lambda image: ImageEnhance.Brightness(image).enhance(1.2),
    "flat": lambda image: ImageEnhance.Contrast(image).enhance(0.7),
    "grey": lambda image: image.convert("L"),
    "blurred": lambda image: image.filter(ImageFilter.GaussianBlur(2)),
    "cropped": crop(0.01),
    "from afar": lambda image: image.resize((96, 96)),
}
OTHER: dict[str, Change] = {
    "mirrored": ImageOps.mirror,
    "upside_down": ImageOps.flip,
    "quarter": crop(0.25),
    "negative": ImageOps.invert,
}


@pytest.fixture(scope="module")
def images() -> list[Image.Image]:
    photographs = [files("sklearn.datasets.images").joinpath(name) for name in ("china.jpg", "flower.jpg")]
    found = [Image.open(io.BytesIO(photo.read_bytes())).convert("RGB") for photo in photographs]
    drawn = [picture(f"p{seed}", style, (512, 512)) for seed in range(12) for style in ("gemini", "openai")]
    return found + [Image.open(io.BytesIO(data)) for data in drawn]


@pytest.mark.parametrize("name", SAME)
def test_a_changed_copy_is_near(images: list[Image.Image], name: str) -> None:
    for image in images:
        d, p = hashes_of(image).distance(hashes_of(SAME[name](image)))
        assert d <= D_LIMIT
        assert p <= P_LIMIT


@pytest.mark.parametrize("name", OTHER)
def test_another_picture_is_not(images: list[Image.Image], name: str) -> None:
    for image in images:
        d, p = hashes_of(image).distance(hashes_of(OTHER[name](image)))
        assert d > D_LIMIT or p > P_LIMIT


def test_different_images_are_far(images: list[Image.Image]) -> None:
    assert list(near([hashes_of(image) for image in images])) == []


def test_near_finds_what_a_plain_loop_finds() -> None:
    rng = np.random.default_rng(5)
    bits = [int(value) for value in rng.integers(0, 2**63, 40, dtype=np.uint64)]
    flips = [sum(1 << int(place) for place in rng.choice(64, int(count), replace=False)) for count in range(20)]
    hashes = [Hashes(value, value) for value in bits]
    hashes += [Hashes(bits[place] ^ flip, bits[place]) for place, flip in enumerate(flips)]
    plain = [
        (one, other, sum(hashes[one].distance(hashes[other])))
        for one in range(len(hashes))
        for other in range(one + 1, len(hashes))
        if hashes[one].distance(hashes[other])[0] <= D_LIMIT and hashes[one].distance(hashes[other])[1] <= P_LIMIT
    ]
    assert list(near(hashes)) == plain
    assert len(plain) == D_LIMIT + 1


def test_near_works_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = [Hashes(place, 0) for place in range(7)]
    whole = sorted(near(hashes))
    monkeypatch.setattr("voirdire.construction.imaging.hashing.BLOCK", 2)
    assert sorted(near(hashes)) == whole
    assert len(whole) == 21


def test_the_cosine_transform_is_that_of_scipy() -> None:
    from scipy.fft import dctn

    values = np.random.default_rng(2).normal(size=(SIDE, SIDE))
    basis = _cosines()
    assert np.allclose(basis @ values @ basis.T, dctn(values, norm="ortho"))


def clear(size: tuple[int, int]) -> Image.Image:
    """Ellipses on nothing."""
    found = Image.open(io.BytesIO(picture("p1", "gemini", size))).convert("RGBA")
    found.putalpha(Image.radial_gradient("L").resize(size))
    return found


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA", "1", "I;16"])
def test_every_mode_is_looked_at(tmp_path: Path, mode: str) -> None:
    image = clear((640, 480))
    if mode == "I;16":
        image = Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)
    else:
        image = image.convert("RGB").convert(mode) if mode in ("1", "P", "L", "RGB") else image.convert(mode)
    image.save(tmp_path / "a.png")
    found = look(tmp_path / "a.png")
    assert (found.width, found.height) == (640, 480)
    with Image.open(io.BytesIO(found.thumb)) as small:
        assert (small.mode, small.size) == ("RGB", (320, 240))


def test_a_photograph_is_seen_upright(tmp_path: Path) -> None:
    """The orientation tag is applied, and nothing of the metadata reaches the sheet."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "a camera of mine"
    exif.get_ifd(0x8825)[1] = "N"
    image = Image.open(io.BytesIO(picture("p1", "gemini", (640, 480))))
    image.save(tmp_path / "a.jpg", exif=exif, quality=95)
    image.rotate(-90, expand=True).save(tmp_path / "b.jpg", quality=95)
    turned, upright = look(tmp_path / "a.jpg"), look(tmp_path / "b.jpg")
    assert (turned.width, turned.height) == (480, 640)
    assert max(turned.hashes.distance(upright.hashes)) <= 3
    assert (turned.located, upright.located) == (True, False)
    assert b"camera" not in turned.thumb
    assert b"Exif" not in turned.thumb


def test_what_is_damaged_is_not_looked_at(tmp_path: Path) -> None:
    data = picture("p1", "gemini", (320, 320))
    for name, broken in {"cut": data[:-40], "bit": data[:900] + b"\x00" + data[901:], "none": b"GIF89a"}.items():
        (tmp_path / name).write_bytes(broken)
        with pytest.raises(Broken):
            look(tmp_path / name, "of other bytes")
