"""What corpus.toml tells of how a corpus came to be: ``[release]`` and ``[[pool]]``. What is not told stays untold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from voirdire.corpus.equivalence import SECTION
from voirdire.corpus.folder import settings_of
from voirdire.corpus.frozen import FROZEN, ORIGIN, allowed_in
from voirdire.corpus.screened import SECTION as SCREENING
from voirdire.errors import InputError

MANIFEST = "corpus.toml"
TEXT, TEXTS, DATE = "text", "texts", "date"

RELEASE: Mapping[str, str] = {
    "title": TEXT,
    "description": TEXT,
    "authors": TEXTS,
    "contact": TEXT,
    "url": TEXT,
    "citation": TEXT,
    "funding": TEXT,
    "published": DATE,
    "collected_from": DATE,
    "collected_to": DATE,
    "collection": TEXT,
    "protocol": TEXT,
    "platform": TEXT,
    "consent": TEXT,
    "ethics": TEXT,
    "sensitive": TEXT,
    "uses": TEXT,
    "not_for": TEXT,
    "limitations": TEXT,
    "biases": TEXT,
    "social_impact": TEXT,
    "maintenance": TEXT,
}
"""What ``[release]`` can tell, and in which form."""

POOL: Mapping[str, str] = {
    "name": TEXT,
    "title": TEXT,
    "recruited": TEXT,
    "paid": TEXT,
    "criteria": TEXT,
    "languages": TEXTS,
    "country": TEXT,
    "ages": TEXT,
}
"""What a ``[[pool]]`` can tell; ``name`` is the pool's name in the ratings."""

FORMS = {TEXT: '"..." / { en = "...", zh = "..." }', TEXTS: '["...", "..."]', DATE: "2026-04-18"}


@dataclass(frozen=True)
class Told:
    """What is told.

    release : field -> text, texts by language, list of texts, or ISO date; pools : pool -> the same
    licence : as an SPDX identifier or in words; None when none is told
    origin : version and digest of the frozen corpus that this is, or was released of; empty where it is none
    allowed : (check, reason) of checks that failed when it was frozen, and were allowed
    equivalence : what is known of the rating scales in several languages; empty where nothing is told
    screening : by which rule pairs were screened and what came of it; empty where nothing is told
    """

    name: str
    version: str = ""
    licence: str | None = None
    languages: tuple[str, ...] = ()
    simulated: bool = False
    release: Mapping[str, Any] = field(default_factory=dict)
    pools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[tuple[str, str], ...] = ()
    equivalence: Mapping[str, Any] = field(default_factory=dict)
    screening: Mapping[str, Any] = field(default_factory=dict)

    def of(self, name: str, lang: str) -> str:
        """A field of ``[release]`` in a language; empty when it is not told.

        >>> Told("c", release={"title": {"en": "Meals", "zh": "餐食"}}).of("title", "zh")
        '餐食'
        """
        return in_language(self.release.get(name), lang)

    def of_pool(self, pool: str, name: str, lang: str) -> str:
        """A field of a ``[[pool]]`` in a language; empty when it is not told."""
        return in_language(self.pools.get(pool, {}).get(name), lang)

    def untold(self, pools: Sequence[str]) -> list[tuple[str, str]]:
        """What nobody told: (pool or empty, field), in the order of the fields.

        >>> told = Told("c", licence="CC-BY-4.0", release=dict.fromkeys(RELEASE, "x"))
        >>> told.untold(["us"])[:2]
        [('us', 'title'), ('us', 'recruited')]
        """
        missing = [("", "licence")] if self.licence is None else []
        missing += [("", name) for name in RELEASE if name not in self.release]
        for pool in pools:
            missing += [(pool, name) for name in POOL if name not in {"name", *self.pools.get(pool, {})}]
        return missing


def in_language(value: Any, lang: str) -> str:
    """A told value as one text: in the language, else in English, else in any; lists are joined by commas.

    >>> in_language({"en": "a", "zh": "b"}, "fr"), in_language(["en", "zh"], "en"), in_language(None, "en")
    ('a', 'en, zh', '')
    """
    if isinstance(value, Mapping):
        return str(value.get(lang) or value.get("en") or next(iter(value.values()), ""))
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    return "" if value is None else str(value)


def read_told(folder: Path) -> Told:
    """Read what corpus.toml tells. Raises InputError for an entry that is not known or of another form."""
    settings, file = settings_of(folder), str(folder / MANIFEST)
    release = settings.get("release", {})
    pools = settings.get("pool", [])
    if not isinstance(release, dict):
        raise InputError("input.toml_entry", file=file, entry="release", value=str(release), known="[release]")
    if not isinstance(pools, list) or not all(isinstance(pool, dict) for pool in pools):
        raise InputError("input.toml_entry", file=file, entry="pool", value=str(pools), known="[[pool]]")
    languages = settings.get("languages", [])
    if not isinstance(languages, list) or not all(isinstance(one, str) for one in languages):
        raise InputError("input.toml_entry", file=file, entry="languages", value=str(languages), known='["en", "zh"]')
    licence = settings.get("licence", settings.get("license"))
    return Told(
        name=str(settings.get("name", folder.resolve().name)),
        version=str(settings.get("version", "")),
        licence=None if licence is None else str(licence),
        languages=tuple(languages),
        simulated=settings.get("simulated") is True,
        release=_entries(release, RELEASE, "[release]", file),
        pools=_pools(pools, file),
        origin=_origin(settings),
        allowed=allowed_in(settings),
        equivalence=_table(settings, SECTION),
        screening=_table(settings, SCREENING),
    )


def check_pools(told: Told, pools: Sequence[str], folder: Path) -> None:
    """Raises InputError for a ``[[pool]]`` that nobody rated for: most often a name spelt otherwise."""
    for name in told.pools:
        if name not in pools:
            file = str(folder / MANIFEST)
            raise InputError("release.pool_unknown", file=file, value=name, known=", ".join(pools) or "-")


def _origin(settings: Mapping[str, Any]) -> dict[str, str]:
    """Version and digest, of ``[frozen]`` or of the ``[origin]`` that a release has instead."""
    told = _table(settings, FROZEN if FROZEN in settings else ORIGIN)
    return {name: str(told[name]) for name in ("version", "digest", "shown", "material") if name in told}


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table that nobody needs; empty where it is none."""
    told = settings.get(name, {})
    return told if isinstance(told, Mapping) else {}


def _pools(pools: list[dict[str, Any]], file: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, pool in enumerate(pools, start=1):
        place = f"[[pool]] {number}"
        entries = _entries(pool, POOL, place, file)
        name = entries.pop("name", None)
        if not isinstance(name, str) or name in found:
            raise InputError("release.pool_name", file=file, place=place, value=str(name))
        found[name] = entries
    return found


def _entries(table: Mapping[str, Any], known: Mapping[str, str], place: str, file: str) -> dict[str, Any]:
    """The entries that say something, dates as ISO texts."""
    found = {}
    for name, value in table.items():
        if name not in known:
            raise InputError("release.told_unknown", file=file, place=place, value=name, known=", ".join(known))
        told = _in_form(value, known[name])
        if told is None:
            fields = {"file": file, "entry": f"{place} {name}", "value": str(value)}
            raise InputError("input.toml_entry", known=FORMS[known[name]], **fields)
        if told:
            found[name] = told
    return found


def _in_form(value: Any, form: str) -> Any:
    """The value as it is kept, or None when it is of another form. A blank text says nothing: empty."""
    if form == DATE:
        return _day(value)
    if isinstance(value, str):
        return value.strip()
    if form == TEXTS and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [one.strip() for one in value if one.strip()]
    if form == TEXT and isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return {lang: one.strip() for lang, one in value.items() if one.strip()}
    return None


def _day(value: Any) -> str | None:
    if isinstance(value, date):
        return value.isoformat()[:10]
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value.strip()).isoformat() if value.strip() else ""
    except ValueError:
        return None
