from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image

from voirdire.reporting.items import SIDE, embedded
from voirdire.reporting.report import render_html


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "corpus" / "images"
    inside.mkdir(parents=True)
    Image.new("RGB", (900, 600), "red").save(inside / "a.png")
    Image.new("RGBA", (20, 20), (0, 0, 255, 0)).save(inside / "clear.png")
    Image.new("RGB", (20, 20), "red").save(tmp_path / "secret.png")
    (inside / "text.png").write_text("<script>alert(1)</script>")
    (inside / "drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return tmp_path / "corpus"


def test_a_real_image_inside_the_folder_is_embedded_small(folder):
    uri = embedded("images/a.png", folder)
    kind, _, data = uri.partition(",")
    assert kind == "data:image/jpeg;base64"
    assert max(Image.open(BytesIO(base64.b64decode(data))).size) == SIDE


def test_transparent_images_lie_on_white(folder):
    data = embedded("images/clear.png", folder).partition(",")[2]
    assert Image.open(BytesIO(base64.b64decode(data))).getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize(
    "source",
    ["../secret.png", "images/../../secret.png", "images/text.png", "images/drawing.svg", "images/none.png", "images",
     "http://localhost/a.png", "file:///etc/passwd", "data:image/png;base64,AAAA", "", "a\0b", "x" * 5000],
)  # fmt: skip
def test_nothing_else_is_embedded(folder, source):
    assert embedded(source, folder) == ""


def test_absolute_paths_are_refused(folder):
    assert embedded(str(folder / "images" / "a.png"), folder) == ""


def test_links_that_leave_the_folder_are_refused(folder):
    (folder / "images" / "link.png").symlink_to(folder.parent / "secret.png")
    assert embedded("images/link.png", folder) == ""


def test_report_embeds_and_names_images(profiles, folder):
    html = render_html(profiles["two"], "en", images=folder)
    assert html.count('<img src="data:image/jpeg;base64,') == 1
    assert 'alt="a &#34;quoted&#34; picture"' in html
    assert "http://evil.example/x.png" in html
