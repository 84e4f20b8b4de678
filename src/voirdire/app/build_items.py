"""``voirdire build items``: from a folder that is being built to the items table that raters are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from voirdire.app.freeze_folder import item_table
from voirdire.construction.concepts import read_concepts, replace_table
from voirdire.construction.history import open_history
from voirdire.construction.imaging.settings import GENERATED
from voirdire.construction.screening_decisions import outcomes
from voirdire.construction.screening_opinion import image_of
from voirdire.construction.screening_rule import DROP
from voirdire.construction.standing import REJECTED, standings
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError

ITEMS, OUT = "items.csv", "rejected"


@dataclass(frozen=True, slots=True)
class BuildItems:
    """The items table that was written.

    items, rejected : how many rows, and how many of them are of rejected concepts
    lacking : items that are left out, as they have no image
    """

    file: Path
    items: int
    rejected: int
    lacking: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def build_items(folder: Path | str, *, regime: str = GENERATED) -> BuildItems:
    """Write ``items.csv`` into the folder: the items that have an image, as ``voirdire annotate`` shows them.

    regime : whose images are shown

    Items of concepts that were rejected, or dropped after a screening, have the split ``rejected``. Raises UsageError
    where no item has an image, and for a regime that is no name of a folder.
    """
    place = Path(folder)
    with open_history(place) as book:
        concepts, history = read_concepts(place), book.history
        out = {name for name, one in standings(history).items() if one.state == REJECTED}
        out |= {name for name, one in outcomes(history).items() if one.decided == DROP}
        found = {item.id: image_of(place, regime, item.id) for item in concepts.items}
        images = {name: file.relative_to(place).as_posix() for name, file in found.items() if file is not None}
        if not images:
            raise UsageError("cli_build.items_none", regime=regime, folder=str(place))
        kept = tuple(
            replace(item, split=OUT if item.concept in out else item.split)
            for item in concepts.items
            if item.id in images
        )
        replace_table(place / ITEMS, item_table(kept, images))
    rejected = sum(item.split == OUT for item in kept)
    lacking = tuple(item.id for item in concepts.items if item.id not in images and item.concept not in out)
    return BuildItems(place / ITEMS, len(kept), rejected, lacking, history.notes)
