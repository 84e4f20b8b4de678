"""A table of ``annotation.toml`` read entry by entry; every error names file, place, entry and value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voirdire.annotation.wording import CODE
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.errors import InputError
from voirdire.texts import text

NAME = re.compile(r"\w([\w .+-]{0,62}[\w.+-])?")
"""Names of questions, pools and screening questions: they stand in tables and in options."""

NAME_LENGTH = 64
_VALUE = re.compile(r"[^\x00-\x1f\x7f|;]{1,100}")
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LISTED = 20
_FLAGS = ("true", "false")


class TopLevelError(InputError):
    """An error about an entry that stands in no table."""

    def message(self, lang: str = "en") -> str:
        """The sentence, with a place in words."""
        return InputError(self.key, **{**self.fields, "place": text("study.top_level", lang)}).message(lang)


@dataclass(frozen=True, slots=True)
class Where:
    """A file and the place in it, for errors."""

    file: str
    place: str = ""

    def error(self, key: str, **fields: Any) -> InputError:
        """The error ``study.<key>`` here."""
        kind = InputError if self.place else TopLevelError
        return kind(f"study.{key}", **{"file": self.file, "place": self.place or "-", **fields})

    def unknown(self, entry: str, value: Any, known: Sequence[str]) -> InputError:
        """The error about a value that is none of the known ones."""
        return self.error("value_unknown", entry=entry, value=shown(value), known=listed(known))


@dataclass(slots=True)
class Entries:
    """One table. What is taken from it is noted, so that ``close`` finds what nobody knows."""

    where: Where
    table: Mapping[str, Any]
    _taken: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether the entry stands there."""
        self._taken.add(name)
        return name in self.table

    def text(self, name: str, default: str = "") -> str:
        """A text that is not blank; it may be absent."""
        if not self.has(name):
            return default
        return self._filled(name, self.table[name])

    def needed(self, name: str) -> str:
        """A text that must be there."""
        if not self.has(name):
            raise self.where.error("key_missing", value=name)
        return self.text(name)

    def name(self, entry: str) -> str:
        """A name that must be there, of letters, digits and the signs of NAME."""
        value = self.needed(entry)
        if not NAME.fullmatch(value):
            raise self.where.error("name_form", entry=entry, value=shown(value), count=NAME_LENGTH)
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.table.get(name, default) if self.has(name) else default
        if not isinstance(value, bool):
            raise self._kind(name, value, " / ".join(_FLAGS))
        return value

    def number(self, name: str) -> float | None:
        """A finite number, or None where the entry is absent."""
        if not self.has(name):
            return None
        value = self.table[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._kind(name, value, "1, 2.5")
        return float(value)

    def whole(self, name: str, ends: tuple[int, int]) -> int:
        """A whole number that must be there, between two ends."""
        value = self.table[name]
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._kind(name, value, str(max(ends[0], 1)))
        if not ends[0] <= value <= ends[1]:
            raise self.where.error("number_range", entry=name, value=value, low=ends[0], high=ends[1])
        return value

    def choice(self, name: str, known: Sequence[str], default: str | None = None) -> str | None:
        """One of the known values, or the default where the entry is absent."""
        if not self.has(name):
            return default
        value = self.table[name]
        if value not in known:
            raise self.where.unknown(name, value, known)
        return str(value)

    def texts(self, name: str) -> dict[str, str]:
        """A text by language; a bare text is of unknown language and stands in for any."""
        if not self.has(name):
            return {}
        value = self.table[name]
        if isinstance(value, str):
            return {UNKNOWN_LANGUAGE: self._filled(name, value)}
        if not isinstance(value, Mapping):
            raise self._kind(name, value, '{ en = "...", zh = "..." }')
        for language in value:
            if not CODE.fullmatch(language):
                raise self.where.error("language_form", entry=name, value=shown(language))
        return {language: self._filled(f"{name}.{language}", one) for language, one in value.items()}

    def values(self, name: str, given: Any) -> tuple[str, ...]:
        """One or more texts, each once; numbers are taken as they are written."""
        if not isinstance(given, list) or not given or not all(isinstance(one, str | int | float) for one in given):
            raise self._kind(name, given, '["...", "..."]')
        found = tuple(self.value(name, one) for one in given)
        for place, one in enumerate(found):
            if one in found[:place]:
                raise self.where.error("value_twice", entry=name, value=shown(one))
        return found

    def value(self, name: str, given: Any) -> str:
        """A value as it stands in tables: without line breaks and the signs ``|`` and ``;``."""
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise self._kind(name, given, '"..."')
        text = given.strip() if isinstance(given, str) else f"{given:g}"
        if not _VALUE.fullmatch(text):
            raise self.where.error("value_form", entry=name, value=shown(given))
        return text

    def tables(self, name: str) -> list[Entries]:
        """The tables of a list, each with its place; none where the entry is absent."""
        if not self.has(name):
            return []
        value = self.table[name]
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise self._kind(name, value, f"[[{name}]]")
        return [Entries(self._inner(name, place, one), one) for place, one in enumerate(value, start=1)]

    def inner(self, name: str) -> Entries:
        """A table of its own, empty where the entry is absent."""
        value = self.table[name] if self.has(name) else {}
        if not isinstance(value, Mapping):
            raise self._kind(name, value, f"[{name}]")
        return Entries(Where(self.where.file, f"[{name}]"), value)

    def close(self) -> None:
        """Refuse entries that were never asked for."""
        for name in self.table:
            if name not in self._taken:
                raise self.where.error("key_unknown", value=shown(name), known=", ".join(sorted(self._taken)))

    def _filled(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._kind(name, value, '"..."')
        if not value.strip() or _UNWANTED.search(value):
            raise self.where.error("text_blank", entry=name, value=shown(value))
        return value.strip()

    def _inner(self, name: str, place: int, table: Mapping[str, Any]) -> Where:
        own = next((table[key] for key in ("id", "name", "item") if isinstance(table.get(key), str)), "")
        told = f"[[{name}]] {place} ({shown(own)})" if own else f"[[{name}]] {place}"
        return replace(self.where, place=told)

    def _kind(self, name: str, value: Any, known: str) -> InputError:
        return self.where.error("kind", entry=name, value=shown(value), known=known)


def shown(value: Any) -> str:
    """A value for an error: short, on one line.

    >>> shown("a" * 100)[-4:], shown(["a", 1])
    ('aaa…', '["a", 1]')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text[1:-1] if isinstance(value, str) else text
    return text if len(text) <= 60 else f"{text[:59]}…"


def listed(names: Sequence[str]) -> str:
    """Names for an error, the first twenty of them."""
    more = ", …" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
