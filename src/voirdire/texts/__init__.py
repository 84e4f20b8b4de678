"""The one catalogue of every sentence that a person reads.

``en/*.toml`` and ``zh/*.toml`` hold the same keys; the file name is the first part of a key, so the sentence
``missing`` of the table ``file`` in ``errors.toml`` is ``errors.file.missing``. Fields stand in braces as in
``str.format``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from voirdire.errors import UsageError, VoirdireError

LANGUAGES = ("en", "zh")


@cache
def catalogue(lang: str) -> dict[str, str]:
    """Every key and sentence of one language.

    >>> sorted(catalogue("en")) == sorted(catalogue("zh"))
    True
    """
    _check(lang)
    names = sorted(entry.name for entry in files(__package__).joinpath(lang).iterdir())
    tables = (_table(lang, name.removesuffix(".toml")) for name in names if name.endswith(".toml"))
    return {key: sentence for table in tables for key, sentence in table.items()}


def text(key: str, lang: str = "en", **fields: Any) -> str:
    """The sentence ``key`` in a language, with its fields filled in. A missing key raises ``KeyError``."""
    return _of(key, lang)[key].format_map(fields)


def has(key: str, lang: str = "en") -> bool:
    """Whether the catalogue holds a sentence of this key."""
    return key in _of(key, lang)


def _of(key: str, lang: str) -> dict[str, str]:
    """The table that a key would stand in: the others are not read. A key may come from a file of the user."""
    _check(lang)
    name = key.partition(".")[0]
    return _table(lang, name) if name.isidentifier() and name.isascii() else {}


def _check(lang: str) -> None:
    if lang not in LANGUAGES:
        raise UsageError("errors.language_unknown", value=lang, known=", ".join(LANGUAGES))


@cache
def _table(lang: str, name: str) -> dict[str, str]:
    file = files(__package__).joinpath(lang, f"{name}.toml")
    return dict(_flatten(tomllib.loads(file.read_text(encoding="utf-8")), name)) if file.is_file() else {}


def _flatten(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _flatten(value, key)
        else:
            yield key, value


VoirdireError.renderer = text
