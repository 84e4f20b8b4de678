"""``voirdire build items``: from a folder that is being built to the items table that raters are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from voirdire.app.freeze_folder import item_table
from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import ConceptItem, read_concepts, replace_table
from voirdire.construction.history import open_history
from voirdire.construction.imaging.settings import GENERATED, TEXT
from voirdire.construction.regimes import Entry, check_regimes, entries_of
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
    lacking : items that are left out, as they have no image in the main regime (or no realisation, for texts)
    further : further regime -> how many of the rows are its images
    """

    file: Path
    items: int
    rejected: int
    lacking: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    further: Mapping[str, int] = field(default_factory=dict)


def build_items(folder: Path | str, *, regime: str | Sequence[str] = GENERATED) -> BuildItems:
    """Write ``items.csv`` into the folder: the items that have an image, as ``voirdire annotate`` shows them.

    regime : whose images are shown. Of several the first is the main one; each image of a further one is an item of its
        own, ``<item>.<regime>``, whose ``counterpart`` is the main item. ``text`` shows the realisations in words.

    Items of concepts that were rejected, or dropped after a screening, have the split ``rejected``. Raises UsageError
    where a regime has no image of an item, for a name that is no name of a folder, and where two items would have one
    id.
    """
    place, regimes = Path(folder), check_regimes(regime)
    read_build_file(place)
    with open_history(place) as book:
        concepts, history = read_concepts(place), book.history
        out = {name for name, one in standings(history).items() if one.state == REJECTED}
        out |= {name for name, one in outcomes(history).items() if one.decided == DROP}
        items = tuple(replace(one, split=OUT) if one.concept in out else one for one in concepts.items)
        entries, images = _shown(place, items, regimes)
        replace_table(place / ITEMS, item_table(entries, images, regimes))
    shown = {entry.item.id for entry in entries}
    rejected = sum(entry.item.split == OUT for entry in entries)
    lacking = tuple(item.id for item in items if item.id not in shown and item.concept not in out)
    further = {name: sum(entry.regime == name for entry in entries) for name in regimes[1:]}
    notes = (*history.notes, *((Note("regimes.note.text"),) if TEXT in regimes else ()))
    return BuildItems(place / ITEMS, len(entries), rejected, lacking, notes, further)


def _shown(
    place: Path, items: Sequence[ConceptItem], regimes: Sequence[str]
) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """What raters see, and the images of it by the ids of the entries."""
    main = regimes[0]
    if main == TEXT:
        worded = [item for item in items if item.realisation]
        if not worded:
            raise UsageError("regimes.no_text", folder=str(place))
        return entries_of(worded, regimes, {}), {}
    found = {name: {one.id: file for one in items if (file := image_of(place, name, one.id))} for name in regimes}
    if not found[main]:
        raise UsageError("cli_build.items_none", regime=main, folder=str(place))
    kept = [item for item in items if item.id in found[main]]
    for name in regimes[1:]:
        if not any(item.id in found[name] for item in kept):
            raise UsageError("regimes.without_main", regime=name, main=main, folder=str(place))
    entries = entries_of(kept, regimes, found)
    return entries, {one.id: found[one.regime][one.item.id].relative_to(place).as_posix() for one in entries}
