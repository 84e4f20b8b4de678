"""Pages of the site that stand outside docs/: README, CONTRIBUTING and CHANGELOG. A hook of mkdocs (see mkdocs.yml).

Links between them and the pages in docs/ are written as the forge reads them; here they are led to the same pages of
the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""A page at the root of the repository, and the page of the site that it becomes."""
PLACES = {page: source for source, page in OUTSIDE.items()}
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside."""
    from mkdocs.structure.files import File

    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead the links of a page to where their targets stand in the site."""
    return site_links(markdown, page.file.src_uri)


def site_links(markdown: str, page: str) -> str:
    """Links of a page as the site wants them.

    page : its place in the site

    >>> site_links("[more](docs/howto/input.md#pools)", "overview.md")
    '[more](howto/input.md#pools)'
    >>> site_links("[it](../../CONTRIBUTING.md) [that](b.md)", "howto/a.md")
    '[it](../contributing.md) [that](b.md)'
    """
    here = PLACES.get(page, f"docs/{page}")

    def led(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link[2]))
        place = OUTSIDE.get(target) or (target.removeprefix("docs/") if here in OUTSIDE else None)
        return f"{link[1]}{posixpath.relpath(place, posixpath.dirname(page) or '.') if place else link[2]}{link[3]}"

    return LINK.sub(led, markdown)
