"""Items as they are shown: from the rows of the items table to wordings, texts and image files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.image_paths import ImageFolder, NotHere
from voirdire.corpus.itemtable import ItemTable
from voirdire.errors import InputError
from voirdire.scales import Scale
from voirdire.tables import Table

UNKNOWN_LANGUAGE = "und"
SPLITS = ("test", "demonstration", "pilot", "rejected")
WORDED = ("prompt", "text", "alt")


@dataclass(frozen=True, slots=True)
class Item:
    """One item as a judge or a rater may see it.

    prompts, texts, alts : by language code (``und`` where the column names none): the question asked of this item,
        the text that is rated, the description of the image
    image : file inside the corpus, or None for a text item
    scale : where the item overrides its question's scale; split : its part of the corpus, ``test`` where none is named
    """

    id: str
    prompts: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    alts: Mapping[str, str] = field(default_factory=dict)
    image: Path | None = None
    pair: str | None = None
    culture: str | None = None
    category: str | None = None
    scale: Scale | None = None
    split: str = "test"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands in its file, for errors."""

    table: Table
    flagged: pl.DataFrame

    def error(self, key: str, item: str, column: str, **fields: Any) -> InputError:
        """The error about one cell of an item."""
        rows = self.flagged.filter((pl.col("item_id") == item) & pl.col("_reason").is_null())
        row = rows["_row"][0]
        known = {"file": self.table.file, "row": self.table.row(row), "column": self.table.header(column)}
        return InputError(f"material.{key}", **{**known, "item": item, **fields})


def items_of(table: ItemTable, folder: Path | None, scales: Mapping[str, Scale]) -> tuple[Item, ...]:
    """Every item as it is shown, in the order of the table.

    folder : where images are looked for; None = not at all
    scales : item -> its own scale
    Raises InputError for an unknown split, and for an image that is missing or outside the folder.
    """
    place = place_of(table)
    images = None if folder is None else ImageFolder(folder)
    languages = {kind: language_columns(table.frame.columns, kind) for kind in WORDED}
    return tuple(_item(row, languages, images, place, scales) for row in table.frame.iter_rows(named=True))


def place_of(table: ItemTable) -> Place:
    """Where the items of a table that was read from a file stand."""
    if table.table is None or table.flagged is None:
        raise ValueError("these items come from no table")  # noqa: TRY003
    return Place(table.table, table.flagged)


def language_columns(columns: Sequence[str], kind: str) -> dict[str, str]:
    """language -> column, of ``prompt.en``, ``prompt.zh`` and the plain ``prompt``.

    >>> language_columns(["item_id", "prompt.en", "prompt"], "prompt")
    {'en': 'prompt.en', 'und': 'prompt'}
    """
    found = {name[len(kind) + 1 :]: name for name in columns if name.startswith(f"{kind}.") and name != f"{kind}."}
    return {**found, UNKNOWN_LANGUAGE: kind} if kind in columns else found


def _item(
    row: Mapping[str, Any],
    languages: Mapping[str, Mapping[str, str]],
    images: ImageFolder | None,
    place: Place,
    scales: Mapping[str, Scale],
) -> Item:
    worded = {
        kind: {language: row[column] for language, column in columns.items() if row[column]}
        for kind, columns in languages.items()
    }
    name, split = row["item_id"], row.get("split") or "test"
    if split not in SPLITS:
        raise place.error("split_unknown", name, "split", value=split, known=", ".join(SPLITS))
    image = None
    if images is not None and row.get("image"):
        try:
            image = images.find(row["image"])
        except NotHere as reason:
            raise place.error(reason.why, name, "image", value=row["image"], folder=str(images.folder)) from reason
    return Item(
        name,
        worded["prompt"],
        worded["text"],
        worded["alt"],
        image,
        pair=row.get("pair_id"),
        culture=row.get("culture"),
        category=row.get("category"),
        scale=scales.get(name),
        split=split,
    )
