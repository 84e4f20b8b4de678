"""A drawn chart as SVG for a page that allows no style of its own: elements and attributes from a list, no more.

What the renderer draws holds its colours and fonts in attributes of SVG (``fill``, ``font-size``), which a
Content-Security-Policy without ``'unsafe-inline'`` allows. This module makes sure of it whatever the renderer does: any
other element or attribute (``style``, ``<style>``, an address, a handler) is left out.

Of the renderer's descriptions only those of the marks that stand for a number stay, as ``aria-label``; the chart has
one description of its own. Ids get a prefix, so that several charts stand on one page.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from voirdire.reporting.access import View
from voirdire.reporting.figures import FONTS

ELEMENTS = frozenset(
    {"svg", "g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath", "linearGradient", "stop"}
)
ATTRIBUTES = frozenset(
    {
        "class", "id", "width", "height", "viewBox", "version", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx",
        "ry", "dx", "dy", "d", "transform", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
        "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "opacity",
        "display", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "clip-path",
        "clip-rule", "offset", "stop-color", "stop-opacity", "gradientUnits", "pointer-events", "aria-hidden",
    }
)  # fmt: skip
DEFAULTS = {"opacity": "1", "font-weight": "normal"}
SYMBOL = "graphics-symbol"
_SPACE = re.compile(r'\sxmlns(:xlink)?="[^"]*"')
_LONG = re.compile(r"(\d+\.\d{2})\d{2,}")
_OWN = re.compile(r"^url\(['\"]?#([\w-]+)['\"]?\)$")


def inline(drawn: str, prefix: str, label: str) -> str:
    """A drawn chart to stand inside a page. prefix : of its ids; label : what it shows, in words.

    >>> drawn = '<svg width="9" height="9"><rect style="fill:red" fill="red" onclick="x()" id="a"/></svg>'
    >>> inline(drawn, "c1", "A square")
    '<svg width="9" height="9" role="img" aria-label="A square"><rect fill="red" id="c1-a" /></svg>'
    """
    root = ET.fromstring(_SPACE.sub("", drawn).replace("xlink:href", "href"))
    _keep(root, prefix, data=False)
    root.set("role", "img")
    root.set("aria-label", View.clean(label))
    if any(element.tag == "text" for element in root.iter()):
        root.set("font-family", FONTS)
    return ET.tostring(root, encoding="unicode")


def _keep(element: ET.Element, prefix: str, *, data: bool) -> None:
    """Leave out what is on no list. data : whether the marks below stand for data, and not for an axis or a legend."""
    data = data or "role-mark" in element.get("class", "").split()
    said = element.get("aria-label") if data and element.tag != "g" and element.get("aria-hidden") != "true" else None
    for name, value in list(element.attrib.items()):
        kept = _kept(name, value, prefix)
        if kept is None:
            del element.attrib[name]
        else:
            element.set(name, kept)
    if said:
        element.set("role", SYMBOL)
        element.set("aria-label", said)
    for child in list(element):
        if child.tag in ELEMENTS:
            _keep(child, prefix, data=data)
        else:
            element.remove(child)


def _kept(name: str, value: str, prefix: str) -> str | None:
    """The value of an attribute as it stays; None where it goes."""
    if name not in ATTRIBUTES or DEFAULTS.get(name) == value:
        return None
    if name == "id":
        return f"{prefix}-{value}"
    if "url(" in value.lower():
        own = _OWN.match(value)
        return f"url(#{prefix}-{own[1]})" if own else None
    return _LONG.sub(r"\1", value)
