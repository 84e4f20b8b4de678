from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.web import chromium

pytest.importorskip("mkdocs")

ROOT = Path(__file__).resolve().parents[2]
NAMED = {"a": "href", "link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}
SPOKEN = {"canonical", "prev", "next"}
"""Relations of a link that a browser follows only when it is asked to."""


class Links(HTMLParser):
    """Every address that a page names (tag, address), and every place in it that can be named."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        address = given.get(NAMED.get(tag, ""))
        if address and not (tag == "link" and given.get("rel") in SPOKEN):
            self.found.append((tag, address))
        self.found += [("style", url) for url in urls(given.get("style") or "")]


def urls(style: str) -> list[str]:
    """What a style loads."""
    named = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", style)
    return [first or second for first, second in named]


@cache
def read(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def broken(site: Path) -> Iterator[str]:
    """Links of a site that lead nowhere, and whatever it loads from elsewhere."""
    for page in sorted(site.rglob("*.html")):
        for tag, address in read(page).found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":
                    yield f"{page.relative_to(site)} loads {address}"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if page.name == "404.html" and parts.path.startswith("/"):
                target = (site / unquote(parts.path[1:])).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{page.relative_to(site)} leads to {address}, which is not there"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).places:
                yield f"{page.relative_to(site)} leads to {address}, which has no such place"
    for style in sorted(site.rglob("*.css")):
        for address in urls(style.read_text(encoding="utf-8")):
            if urlsplit(address).netloc:
                yield f"{style.relative_to(site)} loads {address}"


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def every_page_stands_in(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).is_file()] == []
    assert [path for name in ("generate.py", "generating") for path in site.rglob(name)] == []


def pages_outside_are_led_to(site: Path) -> None:
    addresses = {address for tag, address in read(site / "overview.html").found if tag == "a"}
    assert {"howto/input.html", "contributing.html", "changelog.html", "howto/grids.html#another-language"} <= addresses
    assert "overview.html#quick-start" in {address for _, address in read(site / "contributing.html").found}


def examples_are_highlighted(site: Path) -> None:
    page = (site / "howto" / "input.html").read_text(encoding="utf-8")
    assert 'class="language-pycon highlight"' in page
    assert '<span class="gp">&gt;&gt;&gt;' in page


def searches_without_a_server(site: Path) -> None:
    """A page that was opened as a file finds words in all pages, and asks for nothing but files."""
    if why := chromium.missing():
        pytest.skip(why)
    asked: list[str] = []
    with chromium.running_chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "reference" / "tables.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.locator("label[for=__search]").first.click()
        page.locator(".md-search__input").press_sequentially("disattenuated")
        found = page.locator(".md-search-result__link").first
        found.wait_for()
        assert "/reference/estimates.html" in found.get_attribute("href")
    assert [url for url in asked if urlsplit(url).scheme not in ("file", "data", "about")] == []


def test_the_site(tmp_path: Path) -> None:
    made = build(ROOT, tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    every_page_stands_in(tmp_path)
    assert list(broken(tmp_path)) == []
    pages_outside_are_led_to(tmp_path)
    examples_are_highlighted(tmp_path)
    searches_without_a_server(tmp_path)


def test_the_check_finds_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<p id=here><a href='b.html'></a><a href='#there'></a><a href='#here'></a><a href='https://example.org'></a>"
        "<script src='https://example.org/x.js'></script><i style='background: url(//example.org/x.png)'></i>",
        encoding="utf-8",
    )
    (tmp_path / "a.css").write_text("@import 'https://example.org/x.css'; a { b: url(c.png) }", encoding="utf-8")
    assert list(broken(tmp_path)) == [
        "a.html leads to b.html, which is not there",
        "a.html leads to #there, which has no such place",
        "a.html loads https://example.org/x.js",
        "a.html loads //example.org/x.png",
        "a.css loads https://example.org/x.css",
    ]


def test_a_page_with_a_broken_link_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "docs" / "generating").mkdir(parents=True)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[0]
    (tmp_path / "mkdocs.yml").write_text(f"{settings}\nnav: [index.md, overview.md]\n", encoding="utf-8")
    shutil.copy(ROOT / "docs" / "generating" / "forge_to_site.py", tmp_path / "docs" / "generating")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("# There\n", encoding="utf-8")
    (tmp_path / "docs" / "left-out.md").write_text("# Left out\n", encoding="utf-8")
    broken = "# Here\n\n[a](b.md) [a](index.md#there) [a](../NOTHING.md) [a](../README.md)\n"
    (tmp_path / "docs" / "index.md").write_text(broken, encoding="utf-8")
    made = build(tmp_path, tmp_path / "site")
    assert made.returncode != 0
    assert "contains a link 'b.md'" in made.stderr
    assert "anchor '#there'" in made.stderr or "'index.md#there'" in made.stderr
    assert "NOTHING.md" in made.stderr
    assert "README.md" not in made.stderr
    assert 'not included in the "nav" configuration:\n  - left-out.md' in made.stderr
