"""What stands in the reading room: shelves of items, runs and audits, each under a short name for addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from unicodedata import normalize

import polars as pl

from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.corpus.image_paths import ImageFolder, NotHere
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.shown import SPLITS, WORDED, Item, language_columns
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.analysis.options import AuditOptions
    from voirdire.analysis.profile import Profile
    from voirdire.browsing.compared import Compared

Kind = Literal["corpus", "run", "audit"]
KINDS: tuple[Kind, ...] = ("corpus", "run", "audit")
MOST_LETTERS = 40
_NOT_PLAIN = re.compile(r"[\W_]+")


class NotThere(UsageError):  # noqa: N818 - named for what it says
    """Something that an address names and the room does not hold; ``status`` is that of the response."""

    status = 404


@dataclass(frozen=True)
class Shelf:
    """Items, with what people and judges said of them.

    slug : its name in addresses; title : its name for readers; folder : where it was opened from
    kind : a corpus, a run without its corpus (ids alone), or an audit without its corpus (item-level tables)
    images : the folder that image cells are relative to; nothing outside of it is shown; None = no images
    table : item_id first, then the columns as given, in the order of the items
    corpus, options : the ratings as an audit would read them; None where there are none
    compared : the item-level tables of an audit, where that is all there is
    judged : what judges said: run folders (their ledgers, perhaps still growing) and judgments of tables
    reading : how judgments are read, those of ledgers too
    digests : table -> digest of the file that it was read from, where it was read from one
    """

    slug: str
    title: str
    kind: Kind
    folder: Path
    images: Path | None
    table: pl.DataFrame = field(repr=False)
    corpus: Corpus | None = field(default=None, repr=False)
    options: AuditOptions | None = field(default=None, repr=False)
    compared: Compared | None = field(default=None, repr=False)
    judged: tuple[Path | Judgments, ...] = field(default=(), repr=False)
    reading: JudgmentOptions = field(default_factory=lambda: JudgmentOptions(None), repr=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """Item id -> what is known of it, in the order of the table. Images are found one by one: see ``image``."""
        return items_of_table(self.table)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of the items in order; the number of an item in addresses is its place here, from 1."""
        return tuple(self.items)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Item id -> its number in addresses."""
        return {name: number for number, name in enumerate(self.ids, start=1)}

    def item(self, number: int) -> Item:
        """The item of a number. Raises NotThere."""
        if not 0 < number <= len(self.ids):
            raise NotThere("room.no_item", shelf=self.title, number=number, count=len(self.ids))
        return self.items[self.ids[number - 1]]

    def image(self, item_id: str) -> Path | None:
        """The image file of an item, inside of ``images``; None without one. Raises NotHere with the reason."""
        cell = self._image_cells.get(item_id)
        if not cell or self.images is None:
            return None
        return self._pictures.find(cell)

    def pictured(self, item_id: str) -> bool:
        """Whether an item names an image that is there."""
        try:
            return self.image(item_id) is not None
        except NotHere:
            return False

    @cached_property
    def pairs(self) -> Mapping[str, tuple[str, ...]]:
        """Concept pair -> the ids of its items, of pairs with two items or more."""
        found: dict[str, list[str]] = {}
        for name, item in self.items.items():
            if item.pair:
                found.setdefault(item.pair, []).append(name)
        return {pair: tuple(names) for pair, names in found.items() if len(names) > 1}

    @cached_property
    def _image_cells(self) -> Mapping[str, str]:
        if "image" not in self.table.columns:
            return {}
        return {str(name): str(cell or "") for name, cell in self.table.select("item_id", "image").iter_rows()}

    @cached_property
    def _pictures(self) -> ImageFolder:
        assert self.images is not None
        return ImageFolder(self.images)


@dataclass(frozen=True)
class Run:
    """A run folder. shelf : slug of the shelf whose items it judges, "" where none is open."""

    slug: str
    title: str
    folder: Path
    shelf: str = ""


@dataclass(frozen=True)
class Audit:
    """An audit folder with its profile. shelf : slug of the shelf of its items, "" where none is open."""

    slug: str
    title: str
    folder: Path
    profile: Profile = field(repr=False)
    shelf: str = ""


Named = TypeVar("Named", Shelf, Run, Audit)


@dataclass(frozen=True)
class Library:
    """Everything that was opened, and notes of what stands otherwise than one may expect."""

    shelves: tuple[Shelf, ...] = ()
    runs: tuple[Run, ...] = ()
    audits: tuple[Audit, ...] = ()
    notes: tuple[Note, ...] = ()

    def shelf(self, slug: str) -> Shelf:
        """The shelf of this name. Raises NotThere."""
        return _named(self.shelves, slug)

    def run(self, slug: str) -> Run:
        """The run of this name. Raises NotThere."""
        return _named(self.runs, slug)

    def audit(self, slug: str) -> Audit:
        """The audit of this name. Raises NotThere."""
        return _named(self.audits, slug)


def _named(things: Iterable[Named], slug: str) -> Named:
    for thing in things:
        if thing.slug == slug:
            return thing
    raise NotThere("room.not_open", value=slug[:MOST_LETTERS])


def items_of_table(table: pl.DataFrame) -> dict[str, Item]:
    """The items of a table as it was read; a split that is none of ours counts as a test item.

    >>> items_of_table(pl.DataFrame({"item_id": ["a"], "text": ["Tea"], "pair_id": ["p"]}))["a"].texts
    {'und': 'Tea'}
    """
    columns = {kind: language_columns(table.columns, kind) for kind in WORDED}
    found = {}
    for row in table.iter_rows(named=True):
        worded = {
            kind: {language: str(row[name]) for language, name in named.items() if row[name]}
            for kind, named in columns.items()
        }
        split = row.get("split")
        found[str(row["item_id"])] = Item(
            str(row["item_id"]),
            worded["prompt"],
            worded["text"],
            worded["alt"],
            pair=_text(row.get("pair_id")),
            culture=_text(row.get("culture")),
            category=_text(row.get("category")),
            split=split if split in SPLITS else "test",
        )
    return found


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell)


class Slugs:
    """Short names for addresses, each given once.

    >>> slugs = Slugs()
    >>> slugs("My Corpus!"), slugs("my-corpus"), slugs("语料 一"), slugs("!", "corpus")
    ('my-corpus', 'my-corpus-2', '语料-一', 'corpus')
    """

    def __init__(self) -> None:
        self._given: set[str] = set()

    def __call__(self, name: str, otherwise: str = "folder") -> str:
        """A name of lower-case letters of any script, digits and hyphens that nothing else has."""
        plain = _NOT_PLAIN.sub("-", normalize("NFKC", name).lower()).strip("-")[:MOST_LETTERS].strip("-") or otherwise
        number, slug = 1, plain
        while slug in self._given:
            number += 1
            slug = f"{plain}-{number}"
        self._given.add(slug)
        return slug


class Names:
    """What the folders are called, whatever the order in which they are opened.

    title : for readers; shelves, runs, audits : in the addresses of each

    >>> names = Names([Path("/old/audit"), Path("/new/audit"), Path("/new/run")])
    >>> [names.title(Path(folder)) for folder in ("/old/audit", "/new/run")]
    ['old/audit', 'run']
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._count = Counter(folder.resolve().name for folder in folders)
        self.shelves, self.runs, self.audits = Slugs(), Slugs(), Slugs()

    def title(self, folder: Path) -> str:
        """The folder's name, with that of the folder around it where several have it."""
        place = folder.resolve()
        return f"{place.parent.name}/{place.name}" if self._count[place.name] > 1 else place.name
