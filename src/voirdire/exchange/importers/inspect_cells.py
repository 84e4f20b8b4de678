"""Samples of Inspect that ``voirdire export inspect`` wrote: their metadata say which cell each of them is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from voirdire.exchange.exporters.inspect_task import SHAPE
from voirdire.exchange.importers import judged
from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.inspect_samples import Sample
from voirdire.exchange.importers.judged import Naming
from voirdire.judging.nouns import BASE_DESIGN

SCORER = "voirdire"
STATUSES = (judged.OK, judged.MALFORMED, judged.REFUSED)


def told(sample: Sample) -> Mapping[str, Any]:
    """What the metadata of one of our samples say; nothing of any other sample."""
    found = sample.record.value.get("metadata")
    ours = isinstance(found, dict) and found.get("voirdire") == SHAPE
    return found if ours and all(cell(found.get(name)) for name in ("item_id", "condition", "question")) else {}


def placed(
    sample: Sample, where: Mapping[str, str], naming: Naming, defaults: Mapping[str, str], *, designs: bool
) -> dict[str, str]:
    """Item, judge and condition of a sample; those of the cell where no pattern was asked for.

    designs : whether samples of the log show examples, so that each says its design
    """
    known = told(sample)
    own = {name: str(known[name]) for name, field in (("item_id", "item"), ("condition", "condition"))
           if known and getattr(naming, field) == defaults[field]}  # fmt: skip
    return {**where, **own, **({"design": design_of(known)} if known and designs else {})}


def design_of(known: Mapping[str, Any]) -> str:
    """The design of a cell."""
    return str(known.get("design") or BASE_DESIGN)


def question_of(sample: Sample, scorer: str) -> str | None:
    """The question of a cell, for the score that voirdire's own scorer gave; None for any other score."""
    known = told(sample)
    return str(known["question"]) if known and scorer == SCORER else None


def status_of(sample: Sample, scorer: str, status: str) -> str:
    """What voirdire's own scorer read the reply as; otherwise the status as it is."""
    score = sample.scores.get(scorer)
    said = judged.lookup(score.value, "metadata.status") if score is not None else None
    return str(said) if scorer == SCORER and told(sample) and said in STATUSES else status


def conditions(samples: Iterable[Sample]) -> list[dict[str, Any]]:
    """A row for each condition of our samples, with its factors."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for sample in samples:
        known = told(sample)
        if known:
            factors = known.get("factors")
            design = design_of(known)
            row = {"condition": known["condition"], **(factors if isinstance(factors, dict) else {})}
            rows.setdefault((str(known["condition"]), design), row | {"design": design})
    plain = all(design == BASE_DESIGN for _, design in rows)
    return [{name: value for name, value in row.items() if name != "design" or not plain} for row in rows.values()]
