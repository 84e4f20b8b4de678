"""The check on what a screening said: every pair holds, and is still what was screened or decided on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.history import History, digest_of
from voirdire.construction.imaging.settings import TEXT
from voirdire.construction.screening_decisions import Outcome, outcomes
from voirdire.construction.screening_rule import DROP, UNDECIDED, Rule
from voirdire.construction.seen import IMAGE, changed, image_mark, knows_image, texts_of
from voirdire.corpus.corpus import Note
from voirdire.corpus.screened import VERDICTS


@dataclass(frozen=True, slots=True)
class ScreeningChecked:
    """What speaks against the screening of a corpus, what of it is not known, and what ``corpus.toml`` says of it."""

    failures: tuple[Failure, ...] = ()
    notes: tuple[Note, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)


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
    failures += [*_otherwise(standing, images, regime), *_team({name: known.get(name) for name in by_concept})]
    screened = [known[name] for name in by_concept if name in known]
    return ScreeningChecked(tuple(failures), tuple(_unknown(standing, regime)), _told(screened))


def _told(screened: Sequence[Outcome]) -> dict[str, Any]:
    """``[screening]`` of a corpus; empty where nothing was screened."""
    if not screened:
        return {}
    suggested = [one.suggested for one in screened]
    rules: dict[str, list[Outcome]] = {}
    for one in screened:
        rules.setdefault(digest_of([one.question, one.rule]), []).append(one)
    listed = [{"question": by[0].question, "concepts": len(by), **by[0].rule} for by in rules.values()]
    told: dict[str, Any] = {"suggested": {name: suggested.count(name) for name in VERDICTS}}
    told["rules"] = [{name: value for name, value in row.items() if value != ""} for row in listed if len(row) > 2]
    told["unusual"] = _unusual(told["rules"])
    told["overruled"] = [
        {"concept": one.concept, "suggested": one.suggested, "reasons": list(one.reasons), "decided": one.decided}
        | {"by": one.by, "why": one.why}
        for one in screened
        if one.decided not in (None, one.suggested)
    ]
    return {name: value for name, value in told.items() if value}


def _unusual(rules: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The thresholds that are other than usual, each value once."""
    usual = Rule().as_dict()
    found = {(name, rule[name]) for rule in rules for name in usual if name in rule and rule[name] != usual[name]}
    return [{"name": name, "value": value, "usual": usual[name]} for name, value in sorted(found, key=str)]


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


def _team(known: Mapping[str, Outcome | None]) -> Iterator[Failure]:
    """A failure for each member of the construction team who was among the raters of the pilot."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, one in known.items():
        for member in one.team if one is not None else ():
            found.setdefault(member, []).append(name)
    for (author, value), listed in found.items():
        fields = {"author": author, "value": value, "count": len(listed), "concepts": some(listed)}
        yield Failure("team", "freezing.reason.author_screened", fields)


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
