"""Screening: is a pair evaluative, contestable and free of stereotype? A verdict on each, from a pilot.

The three failure modes are those of Jury Duty, Appendix G; what is measured of each, and how, is voirdire's own choice
(docs/explanation/screening.md). Nothing is kept for want of evidence: that is undecided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from voirdire.construction.screening_pilot import Answers, Pilot
from voirdire.construction.screening_rule import (
    DROP,
    KEEP,
    MEASURES,
    NOT_APPLICABLE,
    UNDECIDED,
    Rule,
    gap_verdict,
    share_verdict,
    verdict_of,
)
from voirdire.construction.screening_tests import (
    Gap,
    Interval,
    Power,
    gap_of,
    least_share,
    likeness,
    mean_share,
    most_share,
    power_of,
    share_of,
    widest,
    within_variance,
)
from voirdire.corpus.corpus import Note
from voirdire.scales import Scale
from voirdire.signature import Signature
from voirdire.version import VERSION

LEAST_LEVELS = 4
PLANNED = (2, 3, 4, 5, 6, 8, 10, 15, 20)
GAPS = (1.0, 1.5, 2.0)
"""Gaps of which the power is told, in units of the smallest that counts."""

_CUT = 1e-9


@dataclass(frozen=True, slots=True)
class Measured:
    """One number of a pair beside its threshold.

    name : a key of MEASURES; verdict : what it alone says, or ``not_applicable``; undefined : a reason, or None
    threshold : in the units of the value; facts : what else is told (shares by pool, the end, the item, the noise)
    """

    name: str
    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    n: int = 0
    undefined: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""

    @property
    def mode(self) -> str:
        """The failure mode that it speaks of."""
        return MEASURES[self.name]


@dataclass(frozen=True, slots=True)
class PairScreening:
    """A pair and what was measured of it.

    consensus : item -> pool -> mean rating and number of raters, where there are any
    votes : item -> what raters said is wrong -> how many
    """

    concept: str
    items: tuple[str, ...]
    measures: tuple[Measured, ...]
    consensus: Mapping[str, Mapping[str, tuple[float, int]]] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """keep, drop or undecided."""
        return verdict_of([one.verdict for one in self.measures])

    @property
    def reasons(self) -> tuple[str, ...]:
        """The measures that made the verdict: those that failed, or those that are undecided."""
        return tuple(one.name for one in self.measures if one.verdict == self.verdict != KEEP)

    def measure(self, name: str) -> Measured:
        """The measure of this name."""
        return next(one for one in self.measures if one.name == name)


@dataclass(frozen=True, slots=True)
class Screening:
    """The verdicts of a pilot.

    unrated : concepts without any answer; alike : share (``factual``, ``pile:high``, ``pile:low``, ``stereotype``) ->
        likeness of a rater's answers within a pair
    variances : of a rating within an item, by pool; power : what pilots of different size can show; raters : median
        of a pool on an item
    """

    rule: Rule
    pairs: tuple[PairScreening, ...]
    pools: tuple[str, ...]
    question: str
    scale: Scale
    unrated: tuple[str, ...] = ()
    alike: Mapping[str, float] = field(default_factory=dict)
    variances: Mapping[str, float | None] = field(default_factory=dict)
    power: tuple[Power, ...] = ()
    raters: float = 0.0
    digests: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """verdict -> pairs."""
        verdicts = [pair.verdict for pair in self.pairs]
        return {name: verdicts.count(name) for name in (KEEP, DROP, UNDECIDED)}

    def table(self) -> pl.DataFrame:
        """A row for each pair and measure."""
        return pl.DataFrame(list(_rows(self)), schema=COLUMNS)


COLUMNS: dict[str, Any] = {
    "concept": pl.String, "verdict": pl.String, "mode": pl.String, "measure": pl.String, "finding": pl.String,
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "threshold": pl.Float64, "n": pl.Int64,
    "undefined": pl.String, "facts": pl.String, "signature": pl.String,
}  # fmt: skip


def screen(pilot: Pilot, rule: Rule | None = None) -> Screening:
    """Screen every concept of which an item was answered.

    The same answers give the same verdicts, in whatever order pools, raters and items stand.
    """
    rule = rule or Rule()
    screener = _Screener(pilot, rule)
    pairs = tuple(screener.pair(concept, places) for concept, places in pilot.concepts().items())
    named = dict.fromkeys(item.concept for item in pilot.items)
    known = {pair.concept for pair in pairs}
    return Screening(
        rule,
        pairs,
        pilot.pools,
        pilot.evaluation.question,
        pilot.evaluation.scale,
        tuple(concept for concept in named if concept not in known),
        screener.alike,
        dict(zip(pilot.pools, screener.variances, strict=True)),
        screener.power(),
        screener.raters(),
        pilot.digests,
        pilot.notes,
    )


class _Screener:
    """What is the same for all pairs of a pilot, and the tests of one pair."""

    def __init__(self, pilot: Pilot, rule: Rule) -> None:
        self.pilot, self.rule = pilot, rule
        self.variances = tuple(_variance(pilot.evaluation, k) for k in range(len(pilot.pools)))
        self.looks = max(1, len(pilot.pools) * (len(pilot.pools) - 1) // 2)
        self._pair_of = _pair_numbers(pilot)
        self.alike: dict[str, float] = {}

    def pair(self, concept: str, places: Sequence[int]) -> PairScreening:
        """The four measures of a pair."""
        tests = {"factual": self._factual, "pile": self._pile, "gap": self._gap, "stereotype": self._stereotype}
        measures = tuple(self._signed(test(places), concept) for test in tests.values())
        items = tuple(self.pilot.items[place].id for place in places)
        votes = {item: self.pilot.votes[item] for item in items if item in self.pilot.votes}
        return PairScreening(concept, items, measures, self._consensus(places), votes)

    def _consensus(self, places: Sequence[int]) -> dict[str, dict[str, tuple[float, int]]]:
        asked = self.pilot.evaluation
        found: dict[str, dict[str, tuple[float, int]]] = {}
        for place in places if not asked.scale.nominal else ():
            row, here = found.setdefault(self.pilot.items[place].id, {}), asked.of_items([place])
            for k, pool in enumerate(self.pilot.pools):
                values = here.value[here.pool == k]
                if len(values):
                    row[pool] = (float(values.mean()), len(values))
        return found

    def raters(self) -> float:
        """Median over items and pools of the raters of the evaluation."""
        asked = self.pilot.evaluation
        counts = np.unique(np.stack([asked.item, asked.pool]), axis=1, return_counts=True)[1]
        return float(np.median(counts)) if len(counts) else 0.0

    def power(self) -> tuple[Power, ...]:
        """What pilots of different size can show, by the noisiest two pools; empty where their noise is unknown."""
        known = sorted((one for one in self.variances if one), reverse=True)
        least = self._least()
        if len(known) < 2 or least is None:
            return ()
        concepts = self.pilot.concepts()
        items = max(1, round(float(np.median([len(places) for places in concepts.values()]))))
        told = {"confidence": self.rule.confidence, "looks": self.looks}
        gaps = [least * gap for gap in GAPS]
        return tuple(power_of((known[0], known[1]), n, items, least, gaps, **told) for n in PLANNED)  # type: ignore[arg-type]

    def _least(self) -> float | None:
        scale = self.pilot.evaluation.scale
        return None if scale.nominal or scale.low is None or scale.high is None else self.rule.least_gap * scale.range

    def _signed(self, measured: Measured, concept: str) -> Measured:
        rule, pilot = self.rule, self.pilot
        asked = {"factual": pilot.subjectivity, "stereotype": pilot.checklist}.get(measured.name, pilot.evaluation)
        definition = {"confidence": f"{rule.confidence:g}", "min_raters": str(rule.min_raters)}
        if asked is not None:
            definition |= {"question": asked.question, "scale": str(asked.scale)}
        if measured.threshold is not None:
            definition["threshold"] = f"{measured.threshold:g}"
        place = {"pair": concept, "pools": "+".join(pilot.pools)}
        source = {"n": str(measured.n), "tables": "+".join(one[:12] for one in pilot.digests), "voirdire": VERSION}
        return replace(measured, signature=str(Signature(f"screening.{measured.name}", {}, definition, place, source)))

    def _missing(self, answers: Answers | None, places: Sequence[int]) -> str | None:
        """Why nothing can be said of a pair by a question, or None."""
        if answers is None:
            return "not_asked"
        if len(places) < 2:
            return "one_member"
        counts = answers.counts(sorted(places), len(self.pilot.pools))
        if len(counts) < 2 or (counts.sum(1) == 0).any():
            return "missing_pool"
        if (counts == 0).any():
            return "item_unrated"
        return "few_raters" if (counts < self.rule.min_raters).any() else None

    def _pools(self) -> range:
        return range(len(self.pilot.pools))

    def _shares(
        self, answers: Answers, places: Sequence[int], hit: Callable[[Answers], Any], key: str
    ) -> list[Interval]:
        """Share of each pool's answers to a pair that count."""
        if key not in self.alike:
            item = answers.item * len(self.pilot.pools) + answers.pool
            self.alike[key] = likeness(hit(answers), answers.rater, item, self._pair_of[answers.item])
        here = answers.of_items(places)
        counted = np.asarray(hit(here), float)
        return [
            share_of(counted[here.pool == k], here.rater[here.pool == k], self.alike[key], self.rule.confidence)
            for k in self._pools()
        ]

    def _of_share(self, name: str, share: Interval, threshold: float, facts: Mapping[str, Any]) -> Measured:
        verdict = share_verdict(share, threshold)
        return Measured(name, verdict, share.value, share.low, share.high, threshold, share.n, share.undefined, facts)

    def _by_pool(self, shares: Iterable[Interval]) -> dict[str, float]:
        return {pool: float(one.value or 0.0) for pool, one in zip(self.pilot.pools, shares, strict=True)}

    def _factual(self, places: Sequence[int]) -> Measured:
        """The share of answers to the subjectivity question in the quarter of the scale that means a fact."""
        threshold, asked = self.rule.factual_share, self.pilot.subjectivity
        missing = self._missing(asked, places) or (_too_short(asked.scale) if asked is not None else None)
        if missing or asked is None:
            return Measured("factual", UNDECIDED, threshold=threshold, undefined=missing)
        high = self.rule.factual_end == "high"

        def hit(answers: Answers) -> Any:
            scale = answers.scale
            return answers.value >= scale.high_cut - _CUT if high else answers.value <= scale.low_cut + _CUT

        shares = self._shares(asked, places, hit, "factual")
        mean = mean_share(shares, self.rule.confidence)
        return self._of_share("factual", mean, threshold, {"by_pool": self._by_pool(shares)})

    def _pile(self, places: Sequence[int]) -> Measured:
        """The share of ratings at one end of the scale, in the pool that has fewer of them there; of the fuller end."""
        asked, threshold = self.pilot.evaluation, self.rule.pile_share
        if _too_short(asked.scale):
            return Measured("pile", NOT_APPLICABLE, threshold=threshold, undefined=_too_short(asked.scale))
        missing = self._missing(asked, places)
        if missing:
            return Measured("pile", UNDECIDED, threshold=threshold, undefined=missing)
        found = []
        for end in ("high", "low"):

            def hit(answers: Answers, end: str = end) -> Any:
                return np.abs(answers.value - float(getattr(answers.scale, end))) <= _CUT

            shares = self._shares(asked, places, hit, f"pile:{end}")
            least = least_share(shares, self.rule.confidence)
            found.append(self._of_share("pile", least, threshold, {"end": end, "by_pool": self._by_pool(shares)}))
        return _worst(found)

    def _gap(self, places: Sequence[int]) -> Measured:
        """The gap of the pools over the items of the pair; of several pools, of the two that are farthest apart."""
        asked, least = self.pilot.evaluation, self._least()
        missing = self._missing(asked, places)
        if least is None:
            missing = "nominal_scale" if asked.scale.nominal else "no_ends"
        if missing or least is None:
            return Measured("gap", UNDECIDED, threshold=least, undefined=missing)
        gaps = [self._between(asked.of_items(places), places, a, b) for a, b in combinations(self._pools(), 2)]
        gap = widest(gaps)
        pools = list(combinations(self.pilot.pools, 2))[_place(gaps, gap)]
        facts = {"pools": list(pools), "observed": gap.observed, "noise_floor": gap.noise_floor, "p": gap.p}
        verdict = gap_verdict(gap, least)
        return Measured("gap", verdict, gap.value, gap.low, gap.high, least, gap.n, gap.undefined, facts)

    def _between(self, here: Answers, places: Sequence[int], a: int, b: int) -> Gap:
        mean, n, squares = np.zeros((3, 2, len(places)))
        for row, k in enumerate((a, b)):
            for column, place in enumerate(places):
                values = here.value[(here.pool == k) & (here.item == place)]
                mean[row, column], n[row, column] = values.mean(), len(values)
                squares[row, column] = ((values - values.mean()) ** 2).sum()
        pilot = (self.variances[a], self.variances[b])
        return gap_of(mean, n, squares, pilot, confidence=self.rule.confidence, looks=self.looks)

    def _stereotype(self, places: Sequence[int]) -> Measured:
        """The share of raters who call an item a stereotype, of the item of the pair where it is largest."""
        asked, threshold = self.pilot.checklist, self.rule.stereotype_share
        missing = self._missing(asked, places)
        if missing or asked is None:
            return Measured("stereotype", UNDECIDED, threshold=threshold, undefined=missing)
        by_item, by_pool = [], []
        for place in places:
            shares = self._shares(asked, [place], lambda answers: answers.value, "stereotype")
            by_item.append(mean_share(shares, self.rule.confidence))
            by_pool.append(self._by_pool(shares))
        largest = most_share(by_item)
        place = max(range(len(places)), key=lambda k: (by_item[k].value or 0.0, self.pilot.items[places[k]].id))
        facts = {"item": self.pilot.items[places[place]].id, "by_pool": by_pool[place]}
        return self._of_share("stereotype", largest, threshold, facts)


def _place(gaps: Sequence[Gap], found: Gap) -> int:
    """Which two pools the widest gap is of."""
    return max(range(len(gaps)), key=lambda k: (gaps[k].low == found.low, gaps[k].value == found.value))


def _worst(found: Sequence[Measured]) -> Measured:
    """Of the two ends the one that fails, else the one that is undecided, else the fuller one."""
    order = {DROP: 2, UNDECIDED: 1, KEEP: 0}
    return max(found, key=lambda one: (order[one.verdict], one.value or 0.0, one.high or 0.0))


def _too_short(scale: Scale) -> str | None:
    """Why there are no cuts and ends on a scale, or None."""
    if scale.nominal:
        return "nominal_scale"
    if scale.low is None or scale.high is None:
        return "no_ends"
    levels = scale.n_levels
    return "few_levels" if scale.binary or (levels is not None and levels < LEAST_LEVELS) else None


def _variance(answers: Answers, pool: int) -> float | None:
    """Variance of a pool's ratings within items, over all items with two ratings or more."""
    here = answers.pool == pool
    return None if answers.scale.nominal else within_variance(answers.item[here], answers.value[here])


def _pair_numbers(pilot: Pilot) -> Any:
    """(items,) number of the concept of each item."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(item.concept, len(numbers)) for item in pilot.items], dtype=np.int64)


def _rows(screening: Screening) -> Iterable[dict[str, Any]]:
    for pair in screening.pairs:
        for one in pair.measures:
            told = json.dumps(one.facts, ensure_ascii=False, sort_keys=True)
            numbers = {"value": one.value, "low": one.low, "high": one.high, "threshold": one.threshold, "n": one.n}
            yield {
                "concept": pair.concept, "verdict": pair.verdict, "mode": one.mode, "measure": one.name,
                "finding": one.verdict, **numbers, "undefined": one.undefined, "facts": told,
                "signature": one.signature,
            }  # fmt: skip
