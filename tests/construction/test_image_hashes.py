"""Perceptual hashes against transforms whose answer is known, on photographs and on drawn pictures."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from tests.construction.mock_images import picture

from voirdire.construction.imaging.hashing import D_LIMIT, P_LIMIT, SIDE, Hashes, _cosines, hashes_of, near

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
    "alpha": lambda image: image.convert("RGBA"),
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
