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
    if lang not in LANGUAGES:
        raise UsageError("errors.language_unknown", value=lang, known=", ".join(LANGUAGES))
    sentences: dict[str, str] = {}
    for file in sorted(files(__package__).joinpath(lang).iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            table = tomllib.loads(file.read_text(encoding="utf-8"))
            sentences.update(_flatten(table, file.name.removesuffix(".toml")))
    return sentences


def text(key: str, lang: str = "en", **fields: Any) -> str:
    """The sentence ``key`` in a language, with its fields filled in. A missing key raises ``KeyError``."""
    return catalogue(lang)[key].format_map(fields)


def has(key: str, lang: str = "en") -> bool:
    """Whether the catalogue holds a sentence of this key."""
    return key in catalogue(lang)


def ui_of(language: str) -> str:
    """The language of our own sentences for a reader of a language: that one, or English where we have none.

    >>> ui_of("zh"), ui_of("zh-Hans"), ui_of("ko")
    ('zh', 'zh', 'en')
    """
    code = language.split("-")[0].lower()
    return code if code in LANGUAGES else "en"


def _flatten(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _flatten(value, key)
        else:
            yield key, value


VoirdireError.renderer = text
