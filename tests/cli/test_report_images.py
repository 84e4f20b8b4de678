"""Images of items in the report that a command writes: those inside the items' folder, and no others."""

from __future__ import annotations

import base64
import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.cli.conftest import FAST

import voirdire
from voirdire.app.audit import audit_to
from voirdire.cli.main import run

INSIDE = "images/inside.png"
ADDRESS = "http://127.0.0.1:9/x.png"


@pytest.fixture
def corpus(simulated: Path, tmp_path: Path) -> Path:
    """A corpus whose items name a red image inside their folder, or a blue one that is not to be read."""
    folder = tmp_path / "corpus"
    shutil.copytree(simulated, folder)
    (folder / "images").mkdir()
    Image.new("RGB", (3, 2), "red").save(folder / INSIDE)
    Image.new("RGB", (3, 2), "blue").save(tmp_path / "secret.png")
    named = [INSIDE, "../secret.png", str(tmp_path / "secret.png"), ADDRESS]
    items = pl.read_csv(folder / "items.csv", infer_schema=False)
    images = [named[place % len(named)] for place in range(items.height)]
    items.with_columns(pl.Series("image", images)).write_csv(folder / "items.csv")
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is opened as an image; no connection can be made."""
    files: list[Path] = []
    real = Image.open

    def recorded(file: Any, *rest: Any, **named: Any) -> Image.Image:
        if not isinstance(file, BytesIO):
            files.append(Path(file))
        return real(file, *rest, **named)

    def refused(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Image, "open", recorded)
    monkeypatch.setattr("socket.socket.connect", refused)
    monkeypatch.setattr("socket.getaddrinfo", refused)
    return files


def embedded(page: str) -> list[Image.Image]:
    found = re.findall(r'<img src="data:image/jpeg;base64,([^"]+)"', page)
    return [Image.open(BytesIO(base64.b64decode(data))) for data in found]


def test_audit_embeds_images_inside_the_folder_and_reads_no_other(
    corpus: Path, tmp_path: Path, opened: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["audit", "corpus", "--pair", "us,cn", "--out", "out", *FAST]) == 0
    assert set(opened) == {corpus / INSIDE}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    shown = embedded(page)
    assert shown
    assert all(red > 200 and blue < 50 for red, _, blue in (image.getpixel((0, 0)) for image in shown))
    named = ["../secret.png", str(tmp_path / "secret.png"), ADDRESS]
    assert all(f"Image (not embedded): {source}" in page for source in named)
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_images_lie_beside_the_items_file(corpus: Path, tmp_path: Path, opened: list[Path]) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for table in ("ratings", "judgments", "raters", "questions"):
        shutil.move(corpus / f"{table}.csv", elsewhere / f"{table}.csv")
    tables = [f"--{table}={elsewhere / table}.csv" for table in ("ratings", "judgments", "raters", "questions")]
    assert run(["audit", *tables, "--items", str(corpus / "items.csv"), "--out", str(tmp_path / "out"), *FAST]) == 0
    assert set(opened) == {corpus / INSIDE}
    assert embedded((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))


def test_items_of_a_data_frame_have_no_folder(
    corpus: Path, tmp_path: Path, opened: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    items = pl.read_csv("items.csv", infer_schema=False)
    written = audit_to(tmp_path / "out", folder=corpus, items=items, draws=60, permutations=40)
    page = written.report.read_text(encoding="utf-8")
    assert not opened
    assert not embedded(page)
    assert f"Image (not embedded): {INSIDE}" in page


def test_a_profile_that_was_loaded_reads_no_image(
    corpus: Path, tmp_path: Path, opened: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["audit", str(corpus), "--out", str(tmp_path / "out"), *FAST]) == 0
    opened.clear()
    monkeypatch.chdir(corpus)
    assert INSIDE in voirdire.Profile.load(tmp_path / "out").to_html()
    assert not opened
