"""What the site reads otherwise than the forge. A hook of mkdocs (see mkdocs.yml).

README, CONTRIBUTING and CHANGELOG stand outside docs/: they become pages of the site, and links between them and the
pages in docs/, which are written as the forge reads them, are led to the pages of the site. A bar in a code span of a
table is written with a backslash, as the forge wants it, and without one for the site. An option such as ``--lang``
is marked, so that no line ends behind its dashes, and so are cells of tables that hold a sentence: they need room.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""A page at the root of the repository, and the page of the site that it becomes."""
SENTENCE = 40
"""Characters from which a cell of a table holds a sentence."""
PLACES = {page: source for source, page in OUTSIDE.items()}
IN_TABLE = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
OPTION = re.compile(r"<code>(--[a-z-]+)</code>")
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside."""
    from mkdocs.structure.files import File

    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as the site reads it."""
    return site_links(bare_bars(markdown), page.file.src_uri)


def on_page_content(html: str, **_: Any) -> str:
    """Options as one word, and room for sentences in tables.

    >>> on_page_content("<td>--</td><td><code>--lang</code> says in which language everything is printed</td>")[:37]
    '<td>--</td><td class="sentence"><code'
    """

    def roomy(cell: re.Match[str]) -> str:
        return f'<td class="sentence">{cell[1]}</td>' if len(re.sub(r"<[^>]*>", "", cell[1])) > SENTENCE else cell[0]

    return CELL.sub(roomy, OPTION.sub(r'<code class="option">\1</code>', html))


def bare_bars(markdown: str) -> str:
    r"""Code in tables without a backslash before its bars.

    >>> bare_bars("| `a\\|b` | c \\| d |")
    '| `a|b` | c \\| d |'
    """

    def bare(row: re.Match[str]) -> str:
        return CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0])

    return IN_TABLE.sub(bare, markdown)


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
