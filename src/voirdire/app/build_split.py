"""``voirdire build split``: which concepts are tested, shown, piloted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.construction.build_file import BuildFile, SplitPlan, read_build_file
from voirdire.construction.checks import concept_findings
from voirdire.construction.concepts import Concepts, read_concepts, rewrite
from voirdire.construction.history import History, open_history
from voirdire.construction.pool_answers import read_rated
from voirdire.construction.regimes import further_ids
from voirdire.construction.screening_decisions import DECIDED, outcomes
from voirdire.construction.screening_rule import DROP
from voirdire.construction.splits import REJECTED as OUT
from voirdire.construction.splits import Split, split_concepts
from voirdire.construction.standing import ACCEPTED, REJECTED, standings
from voirdire.corpus.corpus import Note
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError, UsageError

SPLIT_EVENT = "split"


@dataclass(frozen=True, slots=True)
class BuildSplit:
    """A split, the plan and the seed that made it, and how many rows of the table were changed by it."""

    split: Split
    plan: SplitPlan
    question: str = ""
    changed: int = 0
    notes: tuple[Note, ...] = ()


def build_split(
    folder: Path | str,
    *,
    ratings: Any = None,
    question: str | None = None,
    demonstration: int | None = None,
    pilot: int | None = None,
    per_level: int | None = None,
    seed: int | None = None,
    again: bool = False,
    dry_run: bool = False,
    tables: Mapping[str, Any] | None = None,
) -> BuildSplit:
    """Split the concepts of a folder and write the column ``split`` of ``concepts.csv``.

    ratings : by which demonstrations are chosen so that every level is there (those of items of further regimes are
        left aside); question : the one that counts
    demonstration, pilot, per_level, seed : instead of those in ``build.toml``
    again : make splits anew that the table has already (concepts that a split rejected, and whose drop was taken back,
        get one in any case); dry_run : write nothing
    tables : how the ratings are read, by the names of CorpusOptions (low, high, raters, pools, ...)

    Where the authoring protocol was begun, only accepted concepts are split. Raises UsageError where there are too few
    concepts, InputError for ratings that cannot be read.
    """
    build = read_build_file(folder)
    given = {"demonstration": demonstration, "pilot": pilot, "per_level": per_level, "seed": seed}
    _check(given)
    plan = replace(build.splits, **{name: value for name, value in given.items() if value is not None})
    with open_history(folder) as book:
        concepts = read_concepts(folder)
        _check_table(build, concepts)
        rated, notes = None, book.history.notes
        if ratings is not None:
            further = further_ids(folder, (item.id for item in concepts.items))
            rated, told = read_rated(concepts, CorpusOptions(ratings, **(tables or {})), question, further)
            notes = (*notes, *told)
        out, waiting = _unfit(concepts, book.history)
        reopened = _reopened(concepts, book.history, out)
        notes = (*notes, *((Note("freezing.note.reopened", {"concepts": ", ".join(reopened)}),) if reopened else ()))
        split = split_concepts(
            concepts.by_concept(),
            plan,
            np.random.default_rng(plan.seed),
            rated=rated,
            rejected=out,
            reopened=reopened,
            waiting=waiting,
            again=again,
        )
        changes = _changes(concepts, split)
        if changes and not dry_run:
            book.append({"kind": SPLIT_EVENT, **asdict(plan), "splits": dict(split.splits)})
            rewrite(folder, concepts, changes)
    return BuildSplit(split, plan, rated.question if rated else "", len(changes), notes)


def _check(given: Mapping[str, int | None]) -> None:
    for name, value in given.items():
        least = 1 if name == "per_level" else 0
        if value is not None and value < least:
            raise UsageError("build.split.number", option="--" + name.replace("_", "-"), value=value, least=least)


def _check_table(build: BuildFile, concepts: Concepts) -> None:
    """Raise InputError for a split that is none, and for a pair that stands in two."""
    for items in concepts.by_concept().values():
        for finding in concept_findings(build, items):
            if finding.kind in ("split_unknown", "split_differs"):
                raise InputError(f"build.finding.{finding.kind}", **finding.fields)


def _unfit(concepts: Concepts, history: History) -> tuple[list[str], list[str]]:
    """Concepts that were rejected, or dropped after a screening; those not accepted where the protocol was begun."""
    known = standings(history)
    begun = any(one.at for one in known.values())
    rejected = [name for name, one in known.items() if one.state == REJECTED]
    rejected += [name for name, one in outcomes(history).items() if one.decided == DROP]
    names = concepts.by_concept()
    waiting = [name for name in names if begun and (name not in known or known[name].state != ACCEPTED)]
    return rejected, waiting


def _reopened(concepts: Concepts, history: History, rejected: Sequence[str]) -> list[str]:
    """Concepts that a split called rejected as they were dropped, and that nobody rejects or drops any more.

    What a person wrote into the table stays.
    """
    dropped: set[str] = set()
    latest: dict[str, str] = {}
    for event in history.of_kind(DECIDED, SPLIT_EVENT):
        if event["kind"] == DECIDED and event.get("verdict") == DROP:
            dropped.add(event["concept"])
        elif isinstance(event.get("splits"), dict):
            latest |= {name: split for name, split in event["splits"].items() if name in dropped}
    named = {item.concept for item in concepts.items if item.split == OUT}
    return [name for name in concepts.by_concept() if name in named - set(rejected) and latest.get(name) == OUT]


def _changes(concepts: Concepts, split: Split) -> dict[int, dict[str, str]]:
    wanted = split.splits
    return {
        item.row: {"split": wanted[item.concept]}
        for item in concepts.items
        if item.concept in wanted and item.split != wanted[item.concept]
    }
