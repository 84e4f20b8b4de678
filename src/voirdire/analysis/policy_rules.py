"""The rules of a policy: what a limit looks at, and how an interval decides it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

PASS, FAIL, NOT_ENOUGH = "pass", "fail", "not_enough"
EXIT_CODES: Mapping[str, int] = MappingProxyType({PASS: 0, FAIL: 1, NOT_ENOUGH: 2})
EACH = "each"
MIN_N = 30  # items under which a policy that says nothing else sees no evidence, as the verdicts (LEAST_ITEMS)
PLACES = ("question", "pool", "against", "pair", "judge", "condition", "slice")
KEY = ("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice")
GATE_OUTCOMES: Mapping[str, str] = MappingProxyType(
    {"pass": PASS, "pass_low_alpha": PASS, "fail": FAIL, "unknown": NOT_ENOUGH, "not_asked": NOT_ENOUGH}
)
_POOL = ("question", "pool", "slice")
_JUDGE = ("question", "judge", "condition", "slice")


@dataclass(frozen=True)
class Rule:
    """One kind of limit: the statistic that it looks at, the places that it covers and how it decides.

    decides : ``gate`` (a label), ``most`` (interval at most the limit), ``nearest_zero`` (interval within
        plus and minus the limit), ``nearest_half`` (the same around 1/2), ``below_zero`` (interval below 0),
        ``counted`` (a count of this run, no interval needed, at most the limit)
    params : the params of the row, exactly; a variant of the statistic (``curvature=yes``) is another number
    """

    statistic: str
    decides: str
    places: tuple[str, ...]
    params: str = ""


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "gate": Rule("gate", "gate", _POOL),
        "max_mae": Rule("mae", "most", (*_JUDGE, "pool")),
        "max_percent_of_human": Rule("percent_of_human", "most", (*_JUDGE, "pool", "against")),
        "max_abs_tilt": Rule("tilt", "nearest_zero", (*_JUDGE, "pair")),
        "max_abs_tilt_ratio": Rule("tilt", "nearest_zero", (*_JUDGE, "pair"), "form=ratio"),
        "max_abs_delta": Rule("delta", "nearest_zero", (*_JUDGE, "pair")),
        "max_abs_delta_sq": Rule("delta_sq", "nearest_zero", (*_JUDGE, "pair")),
        "max_abs_orientation": Rule("orientation.w", "nearest_half", (*_JUDGE, "pair")),
        "max_abs_position_bias": Rule("position.bias", "nearest_zero", _JUDGE),
        "max_missing_share": Rule("missing_share", "counted", _JUDGE),
        "better_than_constant": Rule("mae_vs_constant", "below_zero", (*_JUDGE, "pool")),
    }
)
SWITCHES = ("gate", "better_than_constant")


@dataclass(frozen=True)
class Requirement:
    """One ``[[require]]`` of a policy file: its limits by rule, and the places it names.

    number : its place in the file, from 1
    places : place -> the names given, or ``("each",)``; a pair is a tuple of two names
    """

    number: int
    limits: Mapping[str, float]
    places: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    name: str = ""
    min_n: int = MIN_N


@dataclass(frozen=True)
class Check:
    """One limit at one place, and its outcome (``pass``, ``fail`` or ``not_enough``).

    reason : a key of the catalogue's ``policy.reason`` table; ``undefined`` is the estimate's own reason
    n, items : the items that the estimate rests on, and those that the judge was to rate
    pairs, pairs_left : the pairs of pools, and how many of them were not looked at (reason ``pairs_left``)
    """

    requirement: int
    name: str
    rule: str
    limit: float
    question: str
    pool: str
    pool_b: str
    judge: str
    condition: str
    slice: str
    outcome: str
    reason: str
    value: float | None = None
    label: str | None = None
    undefined: str | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    min_n: int = 0
    signature: str = ""
    items: int | None = None
    pairs: int | None = None
    pairs_left: int | None = None


@dataclass(frozen=True)
class PolicyResult:
    """All checks of a policy on one profile."""

    checks: tuple[Check, ...]

    @property
    def outcome(self) -> str:
        """``fail`` when any check fails, else ``not_enough`` when any lacks evidence, else ``pass``."""
        return overall([check.outcome for check in self.checks])

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 not enough evidence."""
        return EXIT_CODES[self.outcome]


def overall(outcomes: list[str]) -> str:
    """The outcome of several; no check at all is no evidence.

    >>> overall(["pass", "not_enough", "fail"]), overall(["pass", "not_enough"]), overall([])
    ('fail', 'not_enough', 'not_enough')
    """
    if not outcomes:
        return NOT_ENOUGH
    return next(outcome for outcome in (FAIL, NOT_ENOUGH, PASS) if outcome in outcomes)


def decide(rule: str, limit: float, row: Mapping[str, Any] | None, min_n: int = MIN_N) -> tuple[str, str]:
    """The outcome of one limit for one row of estimates, and its reason.

    >>> row = {"value": 0.7, "label": None, "undefined": None, "low": 0.6, "high": 0.8, "n": 50}
    >>> decide("max_mae", 0.9, row), decide("max_mae", 0.5, row), decide("max_mae", 0.7, row)
    (('pass', 'inside'), ('fail', 'outside'), ('not_enough', 'straddles'))
    """
    if row is None:
        return NOT_ENOUGH, "absent"
    if row["undefined"] is not None:
        return NOT_ENOUGH, "undefined"
    decides, n = RULES[rule].decides, row["n"] or 0
    if decides == "gate":
        return _by_label(str(row["label"]), n, min_n)
    if n < min_n:
        return NOT_ENOUGH, "too_few"
    if decides == "counted":
        return (PASS, "counted_inside") if row["value"] <= limit else (FAIL, "counted_outside")
    if row["low"] is None or row["high"] is None:
        return NOT_ENOUGH, "no_interval"
    low, high = float(row["low"]), float(row["high"])
    if n < MIN_N and math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12):
        return NOT_ENOUGH, "no_width"
    return _by_interval(decides, limit, low, high)


def _by_label(label: str, n: int, min_n: int) -> tuple[str, str]:
    outcome = GATE_OUTCOMES.get(label)
    if outcome is None:
        return NOT_ENOUGH, "gate_unknown"
    if outcome != NOT_ENOUGH and n < min_n:
        return NOT_ENOUGH, "too_few"
    return outcome, f"gate_{label}"


def _by_interval(decides: str, limit: float, low: float, high: float) -> tuple[str, str]:
    if decides == "below_zero":
        inside, outside = high < 0, low >= 0
    elif decides in ("nearest_zero", "nearest_half"):
        if decides == "nearest_half":
            low, high = low - 0.5, high - 0.5
        inside, outside = -limit <= low and high <= limit, low > limit or high < -limit
    else:
        inside, outside = high <= limit, low > limit
    if inside:
        return PASS, "inside"
    return (FAIL, "outside") if outside else (NOT_ENOUGH, "straddles")
