"""Where every concept of a folder stands, who does how much, and what the folder still lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from voirdire.construction.build_file import BuildFile
from voirdire.construction.checks import WARNING, Checked, Finding, check_concepts, some
from voirdire.construction.concepts import Concepts
from voirdire.construction.history import History
from voirdire.construction.schedule import LEAST_AUTHORS, assign_new, assigned, loads
from voirdire.construction.standing import STATES, Standing, standings
from voirdire.construction.translation.verifying import unverified


@dataclass(frozen=True, slots=True)
class Overview:
    """Where the concepts stand.

    standings : in the order of the table; planned : concepts whose people are not fixed before the first step
    loads : person -> concepts to write and to review; counts : state -> concepts
    """

    standings: tuple[Standing, ...]
    planned: tuple[str, ...] = ()
    loads: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


def overview(build: BuildFile, concepts: Concepts, history: History) -> Overview:
    """Where everything stands; people that the rotation would draw next are told beforehand."""
    by_concept = concepts.by_concept()
    found, fixed = standings(history), assigned(history)
    planned = assign_new(by_concept, build.authors, history) if len(build.authors) >= LEAST_AUTHORS else ()
    drawn = {one.concept: Standing(one.concept, one.author, one.reviewer) for one in planned}
    rows = tuple(found.get(name) or drawn.get(name) or Standing(name) for name in by_concept)
    counts = Counter(one.state for one in rows)
    people = loads([*(one for name, one in fixed.items() if name in by_concept), *planned])
    return Overview(
        rows,
        tuple(drawn),
        {name: people.get(name, (0, 0)) for name in build.authors},
        {state: counts[state] for state in STATES},
    )


def check_folder(folder: Path | str, build: BuildFile, concepts: Concepts, history: History) -> Checked:
    """What the concepts of a folder lack, and which of their texts nobody verified."""
    checked = check_concepts(build, concepts, standings(history))
    return replace(checked, findings=(*checked.findings, *_untrusted(folder)))


def _untrusted(folder: Path | str) -> Iterator[Finding]:
    """A warning for each language with texts that nobody verified, or not as they stand now."""
    left = unverified(folder)
    for language in dict.fromkeys(one.language for one in left):
        names = [one.name for one in left if one.language == language]
        fields = {"language": language, "count": len(names), "texts": some(names)}
        yield Finding("texts_unverified", WARNING, fields)
