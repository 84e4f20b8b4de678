"""Templates of pages: everything that is put into them is escaped, and what is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

HTML_LANG: Mapping[str, str] = MappingProxyType({"en": "en", "zh": "zh-Hans"})
"""Our languages as pages name them."""


@cache
def environment(package: str) -> Environment:
    """The templates in the folder ``templates`` of a package.

    >>> environment("voirdire.reporting").from_string("{{ said }}").render(said="<b>")
    '&lt;b&gt;'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
