"""Charts to SVG and PNG, offline, and whether this machine can draw Chinese in a PNG.

An SVG keeps its labels as text: the reader's machine chooses the font, and Chinese is never lost. A PNG is drawn
here, with the fonts of this system (``fonts-noto-cjk`` on Debian). Without a Chinese font a PNG is drawn with
English labels; one whose names need Chinese all the same is not written rather than written with empty boxes.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from voirdire.reporting.access import View
from voirdire.reporting.figures import FONTS

PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
    '<text x="4" y="30" font-size="28" font-family="{font}">{char}</text></svg>'
)
BEYOND = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
RATIO = 2.0
MEASURED = "voirdire, sans-serif"
"""A family that no system has, so that it is found again in what is drawn, and the one that is measured."""


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite specification as SVG with its labels as text."""
    import json

    legal = _legal(spec)
    return _drawn(json.dumps({**legal, "config": _measured(legal.get("config", {}))}, sort_keys=True))


@lru_cache(maxsize=64)
def _drawn(spec: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec)).replace(f'font-family="{MEASURED}"', f'font-family="{FONTS}"')


def _measured(config: Any) -> Any:
    """A chart's settings with the font by which its labels are measured in place of those in which they are read.

    The renderer opens a font anew for every label that it measures: ten times the time of all else where the font
    has Chinese. The layout no longer depends on the fonts of this system.
    """
    if isinstance(config, dict):
        return {name: _measured(value) for name, value in config.items()}
    return MEASURED if config == FONTS else config


def _legal(part: Any) -> Any:
    """The specification without characters that no XML may hold: the renderer aborts the process at them."""
    if isinstance(part, str):
        return View.clean(part)
    if isinstance(part, dict):
        return {_legal(name): _legal(value) for name, value in part.items()}
    return [_legal(value) for value in part] if isinstance(part, list | tuple) else part


def inline_svg(spec: dict[str, Any], prefix: str) -> str:
    """SVG to stand inside a page: no namespace addresses, ids of its own, as wide as there is room."""
    drawn = svg(spec)
    drawn = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", drawn)
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', drawn)
    drawn = re.sub(r"url\((&quot;|['\"])?#([^)'\"&]+)(&quot;|['\"])?\)", rf"url(#{prefix}-\2)", drawn)
    drawn = re.sub(r'(xlink:)?href="#([^"]+)"', rf'href="#{prefix}-\2"', drawn)
    drawn = re.sub(r'\s(aria-[a-z]+|role)="[^"]*"', "", drawn)
    return re.sub(r"(\d+\.\d{2})\d{2,}", r"\1", drawn)


def png(spec: dict[str, Any]) -> bytes:
    """A Vega-Lite specification as PNG at twice its size, with this system's fonts."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg(spec), scale=RATIO))


def needs_chinese(spec: dict[str, Any]) -> bool:
    """Whether a chart holds letters that need a Chinese, Japanese or Korean font."""
    return any(BEYOND.search(value) for value in _texts(spec))


def _texts(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, dict):
        return [found for value in part.values() for found in _texts(value)]
    if isinstance(part, list):
        return [found for value in part for found in _texts(value)]
    return []


@cache
def can_draw_chinese() -> bool:
    """Whether this system has a font with Chinese: two different characters must look different."""
    import vl_convert

    font = FONTS.replace("'", "&apos;")
    drawn = [bytes(vl_convert.svg_to_png(PROBE.format(font=font, char=char))) for char in "\u4e2d\u4e00"]
    return drawn[0] != drawn[1]
