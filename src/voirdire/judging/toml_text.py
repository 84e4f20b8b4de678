"""Plain values as TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, Any]) -> str:
    """A table as TOML text: tables of values, lists of tables, everything deeper inline; None is left out.

    >>> print(toml_text({"run": {"id": "a", "n": 1}, "judge": [{"name": "j/1", "settings": {"t": 0.5}}]}))
    [run]
    id = "a"
    n = 1
    <BLANKLINE>
    [[judge]]
    name = "j/1"
    settings = {t = 0.5}
    <BLANKLINE>
    """
    parts = []
    for name, content in table.items():
        for entry in content if isinstance(content, list) else [content]:
            head = f"[[{_key(name)}]]" if isinstance(content, list) else f"[{_key(name)}]"
            lines = [f"{_key(key)} = {_value(value)}" for key, value in entry.items() if value is not None]
            parts.append("\n".join([head, *lines]) + "\n")
    return "\n".join(parts)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{', '.join(_value(one) for one in value if one is not None)}]"
    return _string(str(value))


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL; lone surrogates have no place in either file."""
    clean = text.encode("utf-8", "replace").decode()
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
