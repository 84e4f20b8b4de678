"""Pictures of items: small copies, kinds, what is spoilt or lies outside, what is kept."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.web.room.items_world import SVG

import voirdire.web.room.thumbnails as pictures
from voirdire.browsing.library import Library, Shelf
from voirdire.web.room.application import make_room
from voirdire.web.room.thumbnails import Thumbnails, placeholder


def png(width: int, height: int, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), 90).save(out, "PNG")
    return out.getvalue()


def moving() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (30, 20), (place * 60, 0, 0)) for place in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


FILES = {
    "large": png(1000, 500),
    "small": png(20, 10, "RGBA"),
    "moving": moving(),
    "broken": png(60, 60)[:80],
    "drawn": SVG.encode(),
    "page": b"<!doctype html><script>alert(1)</script>",
    "empty": b"",
}
CELLS = {
    **{name: f"images/{name}.png" for name in FILES},
    "missing": "images/none.png",
    "up": "../secret.png",
    "link": "images/link.png",
    "address": "https://example.com/a.png",
    "none": "",
}
NUMBERS = {name: place for place, name in enumerate(CELLS, start=1)}
SHOWN = {"large": (320, 160), "small": (20, 10), "moving": (30, 20)}


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    corpus = tmp_path / "corpus"
    (corpus / "images").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(png(50, 50))
    for name, data in FILES.items():
        (corpus / "images" / f"{name}.png").write_bytes(data)
    (corpus / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    table = pl.DataFrame({"item_id": list(CELLS), "image": list(CELLS.values())})
    library = Library((Shelf("s", "s", "corpus", corpus, corpus, table),))
    return TestClient(make_room(library), base_url="http://127.0.0.1")


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize("name", SHOWN)
def test_a_small_copy_is_a_webp_of_320_pixels_at_most(client: TestClient, name: str) -> None:
    answer = client.get(f"/items/s/{NUMBERS[name]}/thumbnail")
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert opened(answer.content).format == "WEBP"
    assert opened(answer.content).size == SHOWN[name]


@pytest.mark.parametrize("name", [name for name in CELLS if name not in SHOWN])
def test_what_cannot_be_shown_is_a_grey_picture_and_not_there_as_a_whole(client: TestClient, name: str) -> None:
    answer = client.get(f"/items/s/{NUMBERS[name]}/thumbnail")
    assert (answer.status_code, answer.content) == (200, placeholder())
    assert client.get(f"/items/s/{NUMBERS[name]}/image").status_code == 404


def test_the_whole_picture_is_the_file_with_the_kind_of_its_bytes(client: TestClient) -> None:
    answer = client.get(f"/items/s/{NUMBERS['large']}/image")
    assert answer.content == FILES["large"]
    assert answer.headers["content-type"] == "image/png"
    still = client.get(f"/items/s/{NUMBERS['moving']}/image")
    assert still.headers["content-type"] == "image/webp"


@pytest.mark.parametrize("kind", ["thumbnail", "image"])
def test_a_picture_that_has_not_changed_is_not_sent_again(client: TestClient, tmp_path: Path, kind: str) -> None:
    address = f"/items/s/{NUMBERS['large']}/{kind}"
    tag = client.get(address).headers["etag"]
    again = client.get(address, headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    (tmp_path / "corpus" / "images" / "large.png").write_bytes(png(640, 640))
    anew = client.get(address, headers={"if-none-match": tag})
    assert anew.status_code == 200
    assert opened(anew.content).size == ((320, 320) if kind == "thumbnail" else (640, 640))


def test_a_picture_of_too_many_pixels_is_not_decoded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 1000)
    assert client.get(f"/items/s/{NUMBERS['large']}/thumbnail").content == placeholder()
    monkeypatch.setattr(pictures, "MOST_PIXELS", 10**9)
    monkeypatch.setattr(pictures, "MOST_BYTES", 10)
    assert client.get(f"/items/s/{NUMBERS['small']}/thumbnail").content == placeholder()


def test_a_small_file_of_very_many_pixels_is_sent_as_it_lies(client: TestClient, tmp_path: Path) -> None:
    """30 million pixels in a few kilobytes: not decoded, and yet not said to be absent."""
    data = png(6000, 5000, "1")
    (tmp_path / "corpus" / "images" / "large.png").write_bytes(data)
    address = f"/items/s/{NUMBERS['large']}"
    assert client.get(f"{address}/thumbnail").content == placeholder()
    assert client.get(f"{address}/image").content == data
    assert f'src="{address}/image"' in client.get(address).text


def test_a_large_plain_jpeg_is_decoded_small(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("L", (6000, 5000), 90).save(out, "JPEG")
    (tmp_path / "a.jpg").write_bytes(out.getvalue())
    made = Thumbnails().of(tmp_path / "a.jpg")
    assert made is not None
    assert opened(made).size == (320, 267)


def test_large_pictures_are_decoded_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two waits, while a small one does not."""
    monkeypatch.setattr(pictures, "LARGE", 1000)
    for name, size in (("large", 40), ("small", 20)):
        (tmp_path / name).write_bytes(png(size, size))
    thumbnails, made = Thumbnails(), []
    waiting = threading.Thread(target=lambda: made.append(thumbnails.of(tmp_path / "large")))
    with pictures.ALONE:
        waiting.start()
        assert thumbnails.of(tmp_path / "small")
        waiting.join(0.2)
        assert made == []
    waiting.join(5)
    assert made[0]


def test_a_broken_file_is_looked_at_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    small_copy = pictures.small_copy
    monkeypatch.setattr(pictures, "small_copy", lambda *given: looked.append(1) or small_copy(*given))
    file, thumbnails = tmp_path / "a.png", Thumbnails()
    file.write_bytes(FILES["broken"])
    assert [thumbnails.of(file), thumbnails.of(file), thumbnails.can_be_shown(file)] == [None, None, False]
    assert len(looked) == 1
    file.write_bytes(png(60, 60))
    assert thumbnails.of(file)
    assert len(looked) == 2


def test_a_photograph_on_its_side_stands_upright(tmp_path: Path) -> None:
    out = io.BytesIO()
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (800, 400), 90).save(out, "JPEG", exif=turned)
    (tmp_path / "a.jpg").write_bytes(out.getvalue())
    made = Thumbnails().of(tmp_path / "a.jpg")
    assert made is not None
    assert opened(made).size == (160, 320)


def test_copies_are_kept_up_to_a_number_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    small_copy = pictures.small_copy
    monkeypatch.setattr(pictures, "small_copy", lambda *given: made.append(1) or small_copy(*given))
    files = [tmp_path / f"{place}.png" for place in range(3)]
    for file in files:
        file.write_bytes(png(40, 40))
    size = len(small_copy(png(40, 40), 320, 10**6).data)
    thumbnails = Thumbnails(most=2 * size)
    for file in (files[0], files[0], files[1], files[0], files[2]):
        assert thumbnails.of(file)
    assert len(made) == 3
    assert thumbnails.of(files[0])
    assert len(made) == 3
    assert thumbnails.of(files[1])
    assert len(made) == 4
