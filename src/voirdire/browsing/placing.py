"""To which corpus a run or an audit belongs: the one that it was made on, not any whose items have the same ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.browsing.compared import Compared
from voirdire.browsing.library import Shelf
from voirdire.browsing.progress import begun_with
from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.image_paths import NotHere, file_sha256
from voirdire.judging.plan import joined, text_digests
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import differences, parts
from voirdire.tables import FRAME

MOST_IMAGES = 24
"""Images that are read to tell corpora of the same texts apart."""

TABLES = ("items", "questions", "ratings", "shares")


@dataclass(frozen=True)
class Belonging:
    """What a run or an audit says of its corpus.

    title : its own name; ids : its items; corpus : the name of its corpus, "" where it does not say
    differs : of a corpus that holds all items: what is different, "" where nothing is, None where it cannot be told
    """

    title: str
    ids: Sequence[str]
    corpus: str
    differs: Callable[[Shelf], str | None]

    def place(self, shelves: Sequence[Shelf]) -> tuple[int | None, tuple[Note, ...]]:
        """The place of the corpus that it was made on, None to keep it apart, and a note where ids alone would fit."""
        fits = [
            place
            for place, shelf in enumerate(shelves)
            if self.ids and shelf.kind == "corpus" and all(name in shelf.places for name in self.ids)
        ]
        told = {place: self.differs(shelves[place]) for place in fits}
        same = [place for place in fits if told[place] == ""] or [place for place in fits if told[place] is None]
        named = [place for place in same if self.corpus in _names(shelves[place])] or same
        if named and (len(named) == 1 or _copies([shelves[place] for place in named])):
            return named[0], ()
        if not fits:
            return None, ()
        key, here = ("several", named) if named else ("differs", fits)
        corpora = ", ".join(shelves[place].title for place in here)
        fields = {"title": self.title, "corpora": corpora, "what": told[here[0]] or ""}
        return None, (Note(f"room.note.{key}", fields, "warning"),)


def _names(shelf: Shelf) -> tuple[str, str]:
    """How a run or an audit may have named a corpus."""
    return shelf.title, shelf.folder.resolve().name


def _copies(shelves: Sequence[Shelf]) -> bool:
    """Whether corpora were read from the same tables."""
    first = shelves[0].digests
    return bool(first) and all(shelf.digests == first for shelf in shelves)


def digests_of(intake: Iterable[Intake]) -> dict[str, str]:
    """Table -> digest, of tables that were read from files."""
    return {one.table: one.digest for one in intake if _of_file(one.table, one.file)}


def _of_file(table: str, file: str) -> bool:
    """Whether a table was read from a file: the digest of a frame is that of its cells."""
    return table in TABLES and file != FRAME


@steady
def of_run(folder: Path, title: str) -> Belonging:
    """What a run says. Raises InputError where its ledger cannot be read."""
    with reading(folder) as db:
        asked = {str(name): str(digest) for name, digest in db.execute("SELECT name, digest FROM item ORDER BY id")}
    return Belonging(title, list(asked), begun_with(folder).facts.get("corpus", ""), lambda shelf: _asked(shelf, asked))


def _asked(shelf: Shelf, asked: Mapping[str, str]) -> str:
    """The first item of which judges were shown something else."""
    for name, known in asked.items():
        if differences(known, joined(text_digests(shelf.items[name]))):
            return name
    images = {name: part for name, known in asked.items() if (part := parts(known).get("image", "-")) != "-"}
    for name in list(images)[:: max(1, len(images) // MOST_IMAGES)]:
        if not images[name].startswith(_image(shelf, name)):
            return name
    return ""


def _image(shelf: Shelf, item: str) -> str:
    """How the digest of an item's image begins in a ledger, "" where there is no image to compare."""
    try:
        file = shelf.image(item)
        return "" if file is None else f"{file_sha256(file)[:16]}/"
    except (NotHere, OSError):
        return ""


def of_audit(title: str, meta: Mapping[str, Any], compared: Compared | None) -> Belonging:
    """What an audit says: the digests of the tables that it read, and the items that it compared."""
    intake = [{name: str(value) for name, value in one.items()} for one in meta.get("intake") or ()]
    read = {one["table"]: one["digest"] for one in intake if _of_file(one["table"], one["file"])}
    ids = [] if compared is None else compared.items["item_id"].to_list()
    return Belonging(title, ids, str(meta.get("name") or ""), lambda shelf: _read(shelf, read, compared))


def _read(shelf: Shelf, read: Mapping[str, str], compared: Compared | None) -> str | None:
    """The first table that is another; of tables without a digest, the first column."""
    both = [name for name in read if name in shelf.digests]
    if both:
        return next((name for name in both if read[name] != shelf.digests[name]), "")
    return None if compared is None else _column(shelf.table, compared.items)


def _column(table: pl.DataFrame, items: pl.DataFrame) -> str | None:
    texts = (pl.String, pl.Categorical, pl.Enum)
    names = [
        name
        for name in items.columns
        if name != "item_id" and table.schema.get(name) in texts and items.schema[name] in texts
    ]
    sides = {"there": table, "here": items}
    ids = {side: frame.select(pl.col("item_id").cast(pl.String)).with_row_index(side) for side, frame in sides.items()}
    rows = ids["here"].join(ids["there"], on="item_id")

    def cells(side: str, name: str) -> pl.Series:
        return sides[side][name].alias("cell").cast(pl.String).gather(rows[side])

    return next((name for name in names if not cells("here", name).equals(cells("there", name))), None)
