"""The contact sheet: self-contained, escaped, in two languages, members of a pair side by side."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.construction.image_world import corpus, make
from tests.construction.mock_images import serving

EVIL = '<script>alert(1)</script> <img src=x onerror="a">'


class Page(HTMLParser):
    """Tags, addresses and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = corpus(tmp_path_factory.mktemp("sheet") / "c", 3, {"c0-us": "BLOCK"})
    text = (made / "concepts.csv").read_text("utf-8").replace("thing 1 of cn", '"' + EVIL.replace('"', '""') + '"')
    (made / "concepts.csv").write_text(text, encoding="utf-8")
    with serving() as (url, _):
        make(made, url)
    return made


@pytest.fixture
def page(folder: Path) -> str:
    """The sheet in English, whatever was written before."""
    with serving() as (url, state):
        make(folder, url)
        assert state.calls.total() == 0
    return (folder / "contact-sheet-generated.html").read_text("utf-8")


def test_nothing_runs_and_nothing_is_fetched(page: str) -> None:
    read = Page(page)
    assert "script" not in read.tags
    assert read.handlers == []
    assert all(address.startswith(("data:image/jpeg;base64,", "#")) for address in read.addresses)
    assert sum(address.startswith("data:") for address in read.addresses) == 5
    assert "default-src 'none'" in unescape(page)
    assert "url(" not in page


def test_texts_are_escaped(page: str) -> None:
    assert EVIL in "".join(Page(page).texts)
    assert "<script>" not in page


def test_pairs_stand_side_by_side(page: str) -> None:
    sections = re.findall(r'<section id="(\w+)">(.*?)</section>', page, re.S)
    assert [name for name, _ in sections] == ["c0", "c1", "c2"]
    for name, section in sections:
        assert re.findall(rf'class="facts">({name}-\w+)', section) == [f"{name}-us", f"{name}-cn"]
        assert [culture in section for culture in ("United States", "China")] == [True, True]
    assert "PROHIBITED_CONTENT" in sections[0][1]
    assert 'href="#c0"' in page
    assert 'href="#c2"' not in page


def test_in_chinese(folder: Path) -> None:
    with serving() as (url, _):
        make(folder, url, lang="zh")
    page = (folder / "contact-sheet-generated.html").read_text("utf-8")
    assert 'lang="zh-Hans"' in page
    assert "美国" in page
    assert "1 常见吗？" in page
    assert "被过滤器或模型拒绝" in page
