"""The check on the ratings: raters saw the items as they are frozen, as far as the tables beside the ratings tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.imaging.settings import TEXT
from voirdire.construction.regimes import Entry
from voirdire.construction.seen import IMAGE, REALISATION, Marks, changed, image_mark, knows_image, texts_of
from voirdire.corpus.corpus import Note


@dataclass(frozen=True, slots=True)
class RatingsChecked:
    """What speaks against the ratings of a corpus, and what of them is not known."""

    failures: tuple[Failure, ...] = ()
    notes: tuple[Note, ...] = field(default=())


def inspect_rated(
    entries: Sequence[Entry],
    images: Mapping[str, tuple[Path, str]],
    seen: Mapping[str, Marks],
    rated: Collection[str],
) -> RatingsChecked:
    """Compare what is frozen with what raters saw.

    images : id of an entry -> file and sha256; seen : item -> marks, of the items table beside the ratings
    rated : ids of the entries that have ratings
    """
    asked = [entry for entry in entries if entry.id in rated]
    now = {entry.id: _shown(entry, images) for entry in asked}
    before = {entry.id: _before(seen.get(entry.id, {}), now[entry.id]) for entry in asked}
    parts = {name: changed(before[name], now[name]) for name in now}
    found = [f"{name} ({some(other)})" for name, other in parts.items() if other]
    unseen = [name for name, marks in before.items() if not any(_is_text(part) for part in marks)]
    blind = [
        entry.id
        for entry in asked
        if entry.id not in unseen and entry.regime != TEXT and not knows_image(before[entry.id])
    ]
    notes = [
        Note(f"freezing.note.{key}", {"count": len(listed), "items": some(listed)}, "warning")
        for key, listed in (("rated_unseen", unseen), ("rated_image", blind))
        if listed
    ]
    failure = Failure("ratings", "freezing.reason.rated_otherwise", {"count": len(found), "items": some(found)})
    return RatingsChecked((failure,) if found else (), tuple(notes))


def _shown(entry: Entry, images: Mapping[str, tuple[Path, str]]) -> dict[str, str]:
    """The marks of an item as it is frozen: a realisation only where it is what is shown."""
    marks = texts_of(entry.item)
    if entry.regime != TEXT:
        marks.pop(REALISATION, None)
    return marks | ({IMAGE: image_mark(images[entry.id][1])} if entry.id in images else {})


def _before(seen: Marks, now: Marks) -> dict[str, str]:
    """What raters saw, the image under whatever regime; a text beside an image is no part of what is frozen."""
    kept = {IMAGE if part.startswith(f"{IMAGE}.") else part: digest for part, digest in seen.items()}
    return {part: digest for part, digest in kept.items() if part != REALISATION or part in now}


def _is_text(part: str) -> bool:
    return part == REALISATION or part.startswith("prompt.")
