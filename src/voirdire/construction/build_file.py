"""``build.toml``: what a corpus that is being built is called, in which cultures and languages, and by whom."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.annotation.study_entries import Entries, Where, shown
from voirdire.annotation.wording import CODE
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.errors import InputError

BUILD_FILE = "build.toml"
SECTIONS = ("images", "translation", "screening", "release", "pool")
"""Tables of the file that other steps read, each by ``BuildFile.section`` or ``BuildFile.sections``."""

SAFE = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
"""Names that become parts of item ids, and so of file names."""

VERSION_FORM = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,31}")
COUNTS = (0, 100_000)
SEEDS = (0, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class BuildPlace(Where):
    """A place in ``build.toml``; its errors point to the guide of this file."""

    def error(self, key: str, **fields: Any) -> InputError:
        """The error here: of the build file where it has one of this name, else of files of this kind."""
        own = {"key_missing": "build.file.key_missing", "file_unreadable": "build.file.unreadable"}
        fields = {"file": self.file, "place": self.place or "-", **fields}
        return InputError(own.get(key, f"study.{key}"), **fields)


@dataclass(frozen=True, slots=True)
class Culture:
    """A culture whose realisations the corpus shows.

    name : as in the table of concepts, part of item ids; titles : what people read, by language
    language : the one that its people read first
    """

    name: str
    titles: Mapping[str, str] = field(default_factory=dict)
    language: str = ""


@dataclass(frozen=True, slots=True)
class Balance:
    """What counts as balanced.

    min_per_category : the fewest concepts of a category
    max_ratio : the largest category may have this many times the concepts of the smallest; None = any
    """

    min_per_category: int = 1
    max_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """How concepts are split.

    demonstration, pilot : concepts, at least; per_level : demonstrations at each level, pool and culture
    """

    demonstration: int = 0
    pilot: int = 0
    per_level: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class BuildFile:
    """What ``build.toml`` says.

    languages : codes; the first is the one that questions are written in, the others are translations
    authors : the construction team, in the order of the rotation
    similar : language -> the similarity from which questions count as nearly the same, where it is not the usual one
    """

    file: str
    name: str
    version: str
    license: str
    languages: tuple[str, ...]
    cultures: tuple[Culture, ...]
    authors: tuple[str, ...] = ()
    balance: Balance = field(default_factory=Balance)
    splits: SplitPlan = field(default_factory=SplitPlan)
    similar: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def source_language(self) -> str:
        """The language that questions are written in."""
        return self.languages[0]

    @property
    def culture_names(self) -> tuple[str, ...]:
        """The names of the cultures, in order."""
        return tuple(culture.name for culture in self.cultures)

    def section(self, name: str) -> Entries:
        """A table of the file that another step reads, empty where it is absent. Raises InputError if it is none."""
        return _section(Entries(BuildPlace(self.file), self.others), name)

    def sections(self, name: str) -> list[Entries]:
        """The tables of a list of tables, such as ``[[pool]]``; none where it is absent."""
        return Entries(BuildPlace(self.file), self.others).tables(name)


def read_build_file(folder: Path | str) -> BuildFile:
    """Read ``build.toml`` of a folder. Raises InputError, naming place and entry, for what cannot stand in it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> lines = ['name = "tea"', 'languages = ["en", "zh"]', '[[culture]]', 'name = "us"', '[[culture]]', 'name = "cn"']
    >>> _ = (folder / "build.toml").write_text(chr(10).join(lines))
    >>> read_build_file(folder).culture_names
    ('us', 'cn')
    """
    path = Path(folder) / BUILD_FILE
    top = Entries(BuildPlace(str(path)), _parsed(path))
    languages = top.values("languages", top.table["languages"]) if top.has("languages") else _needed(top, "languages")
    for language in languages:
        if not CODE.fullmatch(language):
            raise top.where.error("language_form", entry="languages", value=shown(language))
    read = BuildFile(
        file=str(path),
        name=top.needed("name"),
        version=_version(top),
        license=top.text("license"),
        languages=languages,
        cultures=_cultures(top, languages),
        authors=_authors(top),
        balance=_balance(_section(top, "balance")),
        splits=_splits(_section(top, "splits")),
        similar=_similar(_section(top, "similar")),
        others={name: top.table[name] for name in SECTIONS if top.has(name)},
    )
    top.close()
    return read


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError("build.file.unreadable", file=str(path), value=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("input.toml_broken", file=str(path), value=str(error)) from error


def _needed(top: Entries, name: str) -> tuple[str, ...]:
    raise top.where.error("key_missing", value=name)


def _section(top: Entries, name: str) -> Entries:
    value = top.table[name] if top.has(name) else {}
    if not isinstance(value, Mapping):
        raise top.where.error("kind", entry=name, value=shown(value), known=f"[{name}]")
    return Entries(BuildPlace(top.where.file, f"[{name}]"), value)


def _version(top: Entries) -> str:
    version = top.text("version", "0.1")
    if not VERSION_FORM.fullmatch(version):
        raise top.where.error("value_form", entry="version", value=shown(version))
    return version


def _cultures(top: Entries, languages: Sequence[str]) -> tuple[Culture, ...]:
    found: list[Culture] = []
    for one in top.tables("culture"):
        culture = Culture(_safe(one, "name"), one.texts("title"), one.text("language"))
        if culture.language and culture.language not in languages:
            raise one.where.unknown("language", culture.language, languages)
        one.close()
        if culture.name.casefold() in [other.name.casefold() for other in found]:
            raise InputError("build.file.culture_twice", file=top.where.file, place=one.where.place, value=culture.name)
        found.append(culture)
    if len(found) < 2:
        raise InputError("build.file.cultures_few", file=top.where.file, count=len(found))
    return tuple(found)


def _safe(entries: Entries, entry: str) -> str:
    value = entries.needed(entry)
    if not SAFE.fullmatch(value):
        where = {"file": entries.where.file, "place": entries.where.place or "-"}
        raise InputError("build.file.name_unsafe", **where, entry=entry, value=shown(value))
    return value


def _authors(top: Entries) -> tuple[str, ...]:
    authors = top.values("authors", top.table["authors"]) if top.has("authors") else ()
    for place, author in enumerate(authors):
        if author.casefold() in [other.casefold() for other in authors[:place]]:
            raise top.where.error("value_twice", entry="authors", value=shown(author))
    return authors


def _balance(entries: Entries) -> Balance:
    usual = Balance()
    least = entries.whole("min_per_category", COUNTS) if entries.has("min_per_category") else usual.min_per_category
    ratio = entries.number("max_ratio")
    if ratio is not None and ratio < 1:
        raise entries.where.error("number_range", entry="max_ratio", value=ratio, low=1, high=1000)
    entries.close()
    return Balance(least, ratio)


def _splits(entries: Entries) -> SplitPlan:
    ends = {"demonstration": COUNTS, "pilot": COUNTS, "per_level": (1, 100), "seed": SEEDS}
    given = {name: entries.whole(name, limits) for name, limits in ends.items() if entries.has(name)}
    entries.close()
    return SplitPlan(**given)


def _similar(entries: Entries) -> dict[str, float]:
    found: dict[str, float] = {}
    for language in entries.table:
        value = entries.number(language)
        if not CODE.fullmatch(language):
            raise entries.where.error("language_form", entry="similar", value=shown(language))
        if value is None or not 0 < value <= 1:
            raise entries.where.error("number_range", entry=language, value=value, low=0, high=1)
        found[language] = value
    return found


def title_of(culture: Culture, language: str) -> str:
    """What people read of a culture in a language; its name where it has no title.

    >>> title_of(Culture("us", {"en": "the United States"}), "zh"), title_of(Culture("us", {"zh": "美国"}), "zh")
    ('us', '美国')
    """
    return culture.titles.get(language) or culture.titles.get(UNKNOWN_LANGUAGE) or culture.name
