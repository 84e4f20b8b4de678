"""The check on what a screening said: every pair holds, and is still what was screened or decided on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.history import History
from voirdire.construction.imaging.settings import TEXT
from voirdire.construction.screening_decisions import Outcome, outcomes
from voirdire.construction.screening_rule import DROP, UNDECIDED
from voirdire.construction.seen import IMAGE, changed, image_mark, knows_image, texts_of
from voirdire.corpus.corpus import Note


@dataclass(frozen=True, slots=True)
class ScreeningChecked:
    """What speaks against the screening of a corpus, and what of it is not known."""

    failures: tuple[Failure, ...] = ()
    notes: tuple[Note, ...] = field(default=())


def inspect_screening(
    items: Sequence[ConceptItem], history: History, images: Mapping[str, tuple[Path, str]], regime: str
) -> ScreeningChecked:
    """The check on the concepts that are frozen.

    images : item id -> file and sha256, of the main regime, which is ``regime``
    """
    known = outcomes(history)
    by_concept: dict[str, list[ConceptItem]] = {}
    for item in items:
        by_concept.setdefault(item.concept, []).append(item)
    found: dict[str, list[str]] = {"unscreened": [], "undecided": [], "dropped": [], "outdated": []}
    for name in by_concept:
        kind = _kind(known.get(name))
        found.setdefault(kind, []).append(name)
    failures = [
        Failure("screening", f"freeze.reason.{kind}", {"count": len(listed), "concepts": some(listed)})
        for kind, listed in found.items()
        if listed and kind != "holds"
    ]
    standing = {name: (known[name], by_concept[name]) for name in found.get("holds", ())}
    return ScreeningChecked((*failures, *_otherwise(standing, images, regime)), tuple(_unknown(standing, regime)))


def _kind(one: Outcome | None) -> str:
    """How a pair stands: a part of the key of a failure, or ``holds``."""
    if one is None:
        return "unscreened"
    if one.verdict in (UNDECIDED, DROP):
        return "undecided" if one.verdict == UNDECIDED else "dropped"
    return "outdated" if one.outdated else "holds"


def _otherwise(
    standing: Mapping[str, tuple[Outcome, list[ConceptItem]]], images: Mapping[str, tuple[Path, str]], regime: str
) -> Iterator[Failure]:
    """The concepts that are other than they were screened, with what is other."""
    found = []
    for name, (one, items) in standing.items():
        parts: list[str] = []
        for item in items:
            now = texts_of(item)
            if item.id in images:
                now[f"{IMAGE}.{regime}"] = image_mark(images[item.id][1])
            parts += [f"{item.culture}: {part}" for part in changed(one.basis.get(item.id, {}), now)]
        if parts:
            found.append(f"{name} ({some(parts)})")
    if found:
        yield Failure("screening", "freezing.reason.screened_otherwise", {"count": len(found), "concepts": some(found)})


def _unknown(standing: Mapping[str, tuple[Outcome, list[ConceptItem]]], regime: str) -> Iterator[Note]:
    unseen = [name for name, (one, items) in standing.items() if any(item.id not in one.basis for item in items)]
    blind = [
        name
        for name, (one, items) in standing.items()
        if name not in unseen and not all(knows_image(one.basis[item.id]) for item in items)
    ]
    told = {"screened_unseen": unseen, "screened_image": [] if regime == TEXT else blind}
    for key, listed in told.items():
        if listed:
            yield Note(f"freezing.note.{key}", {"count": len(listed), "concepts": some(listed)}, "warning")
