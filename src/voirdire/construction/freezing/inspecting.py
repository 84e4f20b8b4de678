"""The checks on what was built: concepts, authoring, images, texts, screening, splits, and who rated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile
from voirdire.construction.checks import ERROR, Finding, check_concepts
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.freezing.pictures import inspect_pictures
from voirdire.construction.freezing.screened import inspect_screening
from voirdire.construction.history import History
from voirdire.construction.regimes import Entry
from voirdire.construction.screening_decisions import outcomes
from voirdire.construction.screening_rule import DROP
from voirdire.construction.standing import ACCEPTED, OPEN, REJECTED, standings
from voirdire.construction.team import who_rates
from voirdire.construction.translation.outcome import read_outcome
from voirdire.construction.translation.verifying import unverified
from voirdire.corpus.corpus import Note
from voirdire.corpus.equivalence import ALL, SHIFTED, row_fields, rows_of

AUTHORING = ("concept_gone", "changed_since")
SPLITS = ("split_differs", "split_unknown")


@dataclass(frozen=True, slots=True)
class Inspected:
    """What is to be frozen, and what speaks against it.

    items : that are not rejected; entries : they as each regime shows them
    images : id of an entry -> file and sha256, of those that can be read
    rejected : concepts that are left out; equivalence : what is known of the scales in each language
    screening : by which rule concepts were screened, and what came of it
    notes : what could not be checked
    """

    items: tuple[ConceptItem, ...]
    entries: tuple[Entry, ...]
    images: Mapping[str, tuple[Path, str]]
    rejected: tuple[str, ...]
    failures: tuple[Failure, ...]
    equivalence: Mapping[str, Any] = field(default_factory=dict)
    screening: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def inspect(folder: Path, build: BuildFile, concepts: Concepts, history: History, regimes: Sequence[str]) -> Inspected:
    """Make every check on a folder that is being built; regimes : whose images are frozen, the main one first."""
    known = standings(history)
    out = {name for name, one in known.items() if one.state == REJECTED}
    out |= {item.concept for item in concepts.items if item.split == "rejected"}
    items = tuple(item for item in concepts.items if item.concept not in out)
    names = tuple(dict.fromkeys(item.concept for item in items))
    pictures = inspect_pictures(folder, build, items, regimes)
    compared = read_outcome(folder, build, concepts, history)
    screening = inspect_screening(items, history, pictures.files, regimes[0])
    found = check_concepts(build, concepts, standings(history)).findings
    failures = [
        *_concepts(found),
        *_authoring(names, history),
        *pictures.failures,
        *_texts(folder),
        *_equivalence(compared),
        *screening.failures,
        *_splits(items),
        *_contradicted(concepts, history),
    ]
    if not items:
        failures.append(Failure("concepts", "freeze.reason.no_items"))
    rejected = tuple(name for name in concepts.by_concept() if name in out)
    return Inspected(
        items,
        pictures.entries,
        pictures.files,
        rejected,
        tuple(failures),
        compared,
        screening.told,
        (*_unreviewed(found), *screening.notes),
    )


def team_failures(authors: Sequence[str], tables: Iterable[Any]) -> list[Failure]:
    """A failure for each author who is among the raters; tables : raters and ratings as they were read."""
    found = {(one.author, one.value): one for table in tables for one in who_rates(authors, table)}
    return [
        Failure("team", "freeze.reason.author_rates", {"author": one.author, "column": one.column, "value": one.value})
        for one in found.values()
    ]


def _unreviewed(findings: Sequence[Finding]) -> Iterator[Note]:
    """What was written after a concept was accepted and is no change of it; nobody reviewed it."""
    for finding in findings:
        if finding.kind == "alt_unreviewed":
            fields = {name: finding.fields[name] for name in ("column", "count", "concepts")}
            yield Note("freezing.note.alt_unreviewed", fields, "warning")


def _concepts(findings: Sequence[Finding]) -> Iterator[Failure]:
    for finding in findings:
        check = "authoring" if finding.kind in AUTHORING else "splits" if finding.kind in SPLITS else "concepts"
        if finding.level == ERROR:
            yield Failure(check, f"build.finding.{finding.kind}", finding.fields, finding.words)


def _authoring(names: Sequence[str], history: History) -> Iterator[Failure]:
    known = standings(history)
    by_state: dict[str, list[str]] = {}
    for name in names:
        state = known[name].state if name in known else OPEN
        by_state.setdefault(state, []).append(name)
    for state, listed in by_state.items():
        if state != ACCEPTED:
            fields = {"state": state, "count": len(listed), "concepts": some(listed)}
            words = {"state": f"authoring.state.{state}"}
            yield Failure("authoring", "freeze.reason.not_accepted", fields, words)


def _texts(folder: Path) -> Iterator[Failure]:
    by_state: dict[str, list[str]] = {}
    for one in unverified(folder):
        by_state.setdefault(one.state, []).append(one.name)
    for state, listed in by_state.items():
        fields = {"state": state, "count": len(listed), "texts": some(listed)}
        yield Failure("texts", "freeze.reason.unverified", fields, {"state": f"cli_translate.state.{state}"})


def _equivalence(told: Mapping[str, Any]) -> Iterator[Failure]:
    """The questions whose words do not mean the same to all raters together; a single pool is told, and no failure."""
    for row in rows_of(told):
        if row["finding"] == SHIFTED and row["pool"] == ALL:
            yield Failure("equivalence", "freeze.reason.shifted", row_fields(row, told))


def _splits(items: Sequence[ConceptItem]) -> Iterator[Failure]:
    lacking = list(dict.fromkeys(item.concept for item in items if not item.split))
    if lacking:
        yield Failure("splits", "freeze.reason.unsplit", {"count": len(lacking), "concepts": some(lacking)})


def _contradicted(concepts: Concepts, history: History) -> Iterator[Failure]:
    """Concepts that the table calls rejected, against protocol and screening: they would be lost without a word."""
    known, screened = standings(history), outcomes(history)
    named = dict.fromkeys(item.concept for item in concepts.items if item.split == "rejected")
    accepted = [name for name in named if name in known and known[name].state == ACCEPTED]
    found = [name for name in accepted if name not in screened or screened[name].verdict != DROP]
    if found:
        yield Failure("splits", "freezing.reason.contradicted", {"count": len(found), "concepts": some(found)})
