"""The corpus as raters see it: items with their images, whatever split they are of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.annotation.wording import named_languages
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.intake import merged
from voirdire.corpus.itemtable import ItemTable, item_scales, read_items
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.pictures import Broken, Picture, look_at
from voirdire.corpus.questions import QuestionTable, read_questions
from voirdire.corpus.shown import Item, items_of, place_of
from voirdire.errors import InputError

MAX_PIXELS = 50_000_000
"""Of an image; the number stands in its header and is read before anything is decoded."""

_KNOWN_PICTURES = 4096


@dataclass(frozen=True, slots=True)
class Shown:
    """What raters can be shown.

    folder : where the images are, links followed; name : of the corpus
    items : item id -> item, of all splits, in the order of the table; table : the columns as given, for exports
    questions : the questions table of the corpus, empty where it has none
    digest : sha256 over the items, independent of the order of rows; image files are not in it
    simulated : the corpus says that its ratings come from a program
    source : the items table as it was read, for errors
    """

    folder: Path
    name: str
    items: Mapping[str, Item]
    table: pl.DataFrame
    questions: QuestionTable
    digest: str
    simulated: bool = False
    notes: tuple[Note, ...] = ()
    source: ItemTable = field(default_factory=lambda: ItemTable(pl.DataFrame()), repr=False)

    @property
    def cultures(self) -> tuple[str, ...]:
        """The cultures of the items, in order of appearance."""
        return tuple(dict.fromkeys(item.culture for item in self.items.values() if item.culture))

    @property
    def languages(self) -> tuple[str, ...]:
        """The named languages of prompts and texts (of descriptions where there is neither), in order of appearance."""
        items = self.items.values()
        worded = named_languages(texts for item in items for texts in (item.prompts, item.texts))
        return worded or named_languages(item.alts for item in items)

    @property
    def pairs(self) -> dict[str, str]:
        """Item id -> concept pair, of the items that are in one."""
        return {name: item.pair for name, item in self.items.items() if item.pair}

    def of_splits(self, *splits: str) -> tuple[str, ...]:
        """The ids of the items of these splits, in the order of the table."""
        return tuple(name for name, item in self.items.items() if item.split in splits)

    def image(self, item_id: str) -> Path | None:
        """The image file of an item; None for a text item and for an id that no item has."""
        item = self.items.get(item_id)
        return None if item is None else item.image

    def picture(self, item_id: str) -> Picture | None:
        """Kind and size of an item's image, by its bytes; None where the item has no image.

        A file is looked at once and again when it changes. Raises InputError for a file that is no whole png, jpeg,
        webp or gif, that moves or that is too large.
        """
        file = self.image(item_id)
        if file is None:
            return None
        try:
            state = file.stat()
            return _looked_at(file, state.st_mtime_ns, state.st_size)
        except OSError as error:
            why = error.strerror or str(error)
            raise InputError("material.image_unreadable", file=str(file), item=item_id, value=why) from error
        except Broken as broken:
            raise InputError(f"material.{broken.why}", file=str(file), item=item_id, **broken.fields) from broken

    def error(self, key: str, item_id: str, column: str, **fields: Any) -> InputError:
        """The error ``study.<key>`` about one cell of an item."""
        cell = place_of(self.source).error("", item_id, column).fields
        return InputError(f"study.{key}", **{**cell, **fields})


def read_shown(
    corpus: Path | str, *, questions: Path | str | None = None, reading: CorpusOptions | None = None
) -> Shown:
    """Read a corpus folder, or an items table whose folder holds the images.

    questions : a questions table instead of the folder's
    reading : what else is said of the tables (columns by other names, encoding, ...)

    Raises InputError, with file, row, column and value: no items table, an empty or repeated id, an unknown split, an
    image that is missing or leads out of the folder, an item with nothing to look at.

    >>> import tempfile
    >>> table = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = table.write_text("item_id,prompt.en,text.en" + chr(10) + "a,Is it usual?,Tea with milk")
    >>> shown = read_shown(table)
    >>> shown.items["a"].texts, shown.languages, shown.cultures
    ({'en': 'Tea with milk'}, ('en',), ())
    """
    folder, options = _located(Path(corpus), questions, reading or CorpusOptions(None))
    table = read_items(options, ())
    found = items_of(table, folder, item_scales(table, "ordinal", None, None))
    if not found:
        raise InputError("study.no_items", file=place_of(table).table.file)
    _check_shown(table, found)
    return Shown(
        folder,
        options.name or folder.name,
        {item.id: item for item in found},
        table.frame,
        read_questions(options),
        _digest(found, folder),
        options.simulated,
        merged(table.notes),
        table,
    )


def check_pictures(shown: Shown, told: Callable[[int, int], None] = lambda _done, _all: None) -> None:
    """Look at every image once.

    told : is called with how many were looked at and how many there are
    Raises InputError for the first that cannot be shown.
    """
    pictured = [name for name, item in shown.items.items() if item.image is not None]
    for done, name in enumerate(pictured, start=1):
        shown.picture(name)
        told(done, len(pictured))


@lru_cache(maxsize=_KNOWN_PICTURES)
def _looked_at(file: Path, _changed: int, _size: int) -> Picture:
    return look_at(file.read_bytes(), MAX_PIXELS)


def _located(corpus: Path, questions: Path | str | None, options: CorpusOptions) -> tuple[Path, CorpusOptions]:
    given = options if questions is None else replace(options, questions=Path(questions))
    if not corpus.is_dir():
        return corpus.resolve().parent, replace(given, items=corpus, name=given.name or corpus.resolve().parent.name)
    found = expand_corpus(replace(given, ratings=corpus), rated=False)
    if found.items is None:
        raise InputError("study.no_items_table", file=str(corpus))
    return corpus.resolve(), found


def _check_shown(table: ItemTable, items: tuple[Item, ...]) -> None:
    """A prompt alone is something to rate where no item has an image: then the prompt holds what is rated."""
    pictured = any(item.image for item in items)
    for item in items:
        if not (item.image or item.texts or item.alts or (item.prompts and not pictured)):
            raise place_of(table).error("nothing_shown", item.id, "image" if pictured else "text", value="")


def _digest(items: tuple[Item, ...], folder: Path) -> str:
    told = {item.id: _plain(item, folder) for item in items}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _plain(item: Item, folder: Path) -> list[Any]:
    image = "" if item.image is None else item.image.relative_to(folder).as_posix()
    worded = [dict(item.prompts), dict(item.texts), dict(item.alts)]
    return [*worded, image, item.pair, item.culture, item.category, str(item.scale or ""), item.split]
