"""The rule of screening: which number of a pair is held against which threshold, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from voirdire.annotation.study_entries import Entries
from voirdire.construction.build_file import BuildFile
from voirdire.construction.screening_tests import Gap, Interval
from voirdire.corpus.screened import VERDICTS

KEEP, DROP, UNDECIDED = VERDICTS
NOT_APPLICABLE = "not_applicable"

FACTUAL, UNCONTESTED, STEREOTYPE = "factual", "uncontested", "stereotype"
MEASURES = {"factual": FACTUAL, "pile": FACTUAL, "gap": UNCONTESTED, "stereotype": STEREOTYPE}
"""Measure -> the failure mode that it speaks of, by the names under which a concept is rejected."""

ENDS = ("low", "high")
SECTION = "screening"


@dataclass(frozen=True, slots=True)
class Rule:
    """The thresholds, all of which are printed.

    confidence : of every interval
    factual_share, pile_share, stereotype_share : from which share of the answers a pair fails
    least_gap : the smallest gap of two pools that counts, as a share of the scale's range (0.25: one step of 1 to 5)
    factual_end : the end of the subjectivity question that means a matter of fact
    min_raters : of a pool on an item, below which nothing is decided
    """

    confidence: float = 0.9
    factual_share: float = 0.5
    pile_share: float = 0.5
    stereotype_share: float = 0.5
    least_gap: float = 0.25
    factual_end: str = "high"
    min_raters: int = 2

    def as_dict(self) -> dict[str, Any]:
        """The rule as plain values, for the history and for machines."""
        return asdict(self)


def read_rule(build: BuildFile) -> Rule:
    """The rule of ``[screening]`` in ``build.toml``; what it leaves out is as usual. Raises InputError.

    >>> read_rule(BuildFile("build.toml", "tea", "0.1", "", ("en",), ())).confidence
    0.9
    """
    entries = build.section(SECTION)
    usual = Rule()
    rule = Rule(
        confidence=_between(entries, "confidence", usual.confidence, 0.5, 0.999),
        factual_share=_between(entries, "factual_share", usual.factual_share, 0.01, 0.99),
        pile_share=_between(entries, "pile_share", usual.pile_share, 0.01, 0.99),
        stereotype_share=_between(entries, "stereotype_share", usual.stereotype_share, 0.01, 0.99),
        least_gap=_between(entries, "least_gap", usual.least_gap, 0.01, 1.0),
        factual_end=entries.choice("factual_end", ENDS, usual.factual_end) or usual.factual_end,
        min_raters=entries.whole("min_raters", (2, 1000)) if entries.has("min_raters") else usual.min_raters,
    )
    entries.close()
    return rule


def _between(entries: Entries, name: str, usual: float, low: float, high: float) -> float:
    value = entries.number(name)
    if value is None:
        return usual
    if not low <= value <= high:
        raise entries.where.error("number_range", entry=name, value=value, low=low, high=high)
    return value


def share_verdict(share: Interval, threshold: float) -> str:
    """drop where the interval lies above the threshold, keep where it lies below, else undecided.

    >>> share_verdict(Interval(0.9, 0.6, 1.0), 0.5), share_verdict(Interval(0.5, 0.2, 0.8), 0.5)
    ('drop', 'undecided')
    """
    if share.low is None or share.high is None:
        return UNDECIDED
    return DROP if share.low > threshold else KEEP if share.high < threshold else UNDECIDED


def gap_verdict(gap: Gap, least: float) -> str:
    """drop where the gap is surely less than counts, keep where there surely is one, else undecided.

    >>> gap_verdict(Gap(0.2, 0.0, 0.6), 1.0), gap_verdict(Gap(1.6, 0.9, 2.2), 1.0), gap_verdict(Gap(0.8, 0, 1.6), 1.0)
    ('drop', 'keep', 'undecided')
    """
    if gap.low is None or gap.high is None:
        return UNDECIDED
    return DROP if gap.high < least else KEEP if gap.low > 0 else UNDECIDED


def verdict_of(verdicts: Sequence[str]) -> str:
    """drop where any test fails, keep where every test that applies is passed, else undecided.

    >>> verdict_of(["keep", "drop"]), verdict_of(["keep", "undecided"]), verdict_of(["keep", "not_applicable"])
    ('drop', 'undecided', 'keep')
    """
    if DROP in verdicts:
        return DROP
    asked = [one for one in verdicts if one != NOT_APPLICABLE]
    return KEEP if asked and all(one == KEEP for one in asked) else UNDECIDED
