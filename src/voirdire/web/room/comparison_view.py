"""A comparison of two audits as its page shows it: names, rounded numbers, and what is lacking in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from voirdire.analysis.profile import Profile
from voirdire.browsing.comparison import Comparison, Line, Side
from voirdire.reporting.access import Row, View
from voirdire.reporting.words import MINUS, Words, digits_of
from voirdire.texts import text


@dataclass(frozen=True, slots=True)
class Number:
    """A number of one audit: the value, its interval, how many items stand behind it; or why there is none."""

    value: str
    interval: str
    n: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the page. apart : whether the interval of the difference leaves 0 out, None without one.

    group : where a statistic begins, its number, for links within the page; "" elsewhere
    differs : what differs between the definitions, line by line
    """

    statistic: str
    help: str
    group: str
    pools: str
    judge: str
    first: Number
    second: Number
    joint: str
    items: str
    difference: str
    interval: str
    apart: bool | None
    reason: str
    differs: tuple[str, ...]


def shown(comparison: Comparison, first: Side, lang: str) -> list[Shown]:
    """Every row in words."""
    words = Words(lang, tuple(pool["name"] for pool in first.profile.meta["pools"]))
    width = width_of(first.profile, comparison.choice.question)
    known = frozenset(comparison.judges)
    rows = [_shown(line, words, width, known) for line in comparison.lines]
    begins = [place for place, row in enumerate(rows) if place == 0 or row.statistic != rows[place - 1].statistic]
    return [replace(row, group=f"n{place}" if place in begins else "") for place, row in enumerate(rows)]


def width_of(profile: Profile, question: str) -> float | None:
    """How wide the scale of a question is, for rounding; None where it has no ends."""
    told: dict[str, Any] = next((entry for entry in profile.meta["questions"] if entry["id"] == question), {})
    low, high = told.get("low"), told.get("high")
    if told.get("normalised") or told.get("labels"):
        return 1.0
    return None if low is None or high is None else float(high - low)


def _shown(line: Line, words: Words, width: float | None, known: frozenset[str]) -> Shown:
    row, found = line.first, line.difference
    name = words.statistic(row.statistic, row.params)
    more = words.params(row.params) if name == words.statistic(row.statistic) else ""
    reason = found.why or found.why_open or ""
    interval = ""
    if found.low is not None and found.high is not None:
        interval = f"[{change(row, found.low, width)}, {change(row, found.high, width)}]"
    return Shown(
        statistic=f"{name} ({more})" if more else name,
        help=words.help(row.statistic, row.params),
        group="",
        pools=" / ".join(View.clean(pool) for pool in (row.pool, row.pool_b) if pool),
        judge=_judge(line, words, known),
        first=number_of(line.first, words, width),
        second=number_of(line.second, words, width),
        joint=_joint(line, words, width),
        items=_items(line, words.lang),
        difference="" if found.value is None else change(row, found.value, width),
        interval=interval,
        apart=None if found.low is None or found.high is None else not found.low <= 0 <= found.high,
        reason=text(f"room_compare.reason.{reason}", words.lang) if reason else "",
        differs=tuple(_differs(part, words.lang) for part in line.differs),
    )


def _judge(line: Line, words: Words, known: frozenset[str]) -> str:
    first, second = (
        " · ".join(part for part in (judge_name(row.judge, words, known), _condition(row, words)) if part)
        if row.judge
        else ""
        for row in (line.first, line.second)
    )
    return first if first == second else f"{first} → {second}"


def judge_name(name: str, words: Words, known: frozenset[str]) -> str:
    """A judge, or judges together (all, those of a level of a covariate), in words; known : names of judges."""
    return words.judge(name) if name in known else words.group(name)


def _condition(row: Row, words: Words) -> str:
    return "" if row.condition in ("*", "-", "") else words.condition(row.condition)


def number_of(row: Row, words: Words, width: float | None) -> Number:
    """A number of an estimates table with its interval, or the reason why it is undefined."""
    if row.value is None:
        return Number("", "", f"{row.n or 0:,}", words.reason(row.undefined or "not_computable"))
    value = words.number(row.statistic, row.value, width)
    return Number(value, words.interval(row, width), f"{row.n or 0:,}", "")


def change(row: Row, value: float, width: float | None) -> str:
    """A difference with its sign, to one decimal more than the numbers that it is of.

    >>> row = Row("mae", "", "q1", "us", "", "m", "*", "all", 1.0, None, None, None, None, 9, "", "")
    >>> change(row, -0.1234, 4), change(row, 0.0001, 4)
    ('−0.123', '0.000')
    """
    digits = digits_of(row.statistic, width) + 1
    size = f"{abs(value):,.{digits}f}"
    return size if not float(size.replace(",", "")) else f"{MINUS if value < 0 else '+'}{size}"


def _joint(line: Line, words: Words, width: float | None) -> str:
    """Both values on the items that count in both, where these are not the items of each."""
    found = line.difference
    if found.same_items or None in found.joint:
        return ""
    first, second = (words.number(line.first.statistic, value, width) for value in found.joint if value is not None)
    return text("room_compare.joint", words.lang, first=first, second=second)


def _items(line: Line, lang: str) -> str:
    found = line.difference
    if found.counted == (0, 0):
        return ""
    if found.same_items:
        return f"{found.items:,}"
    first, second = (f"{count:,}" for count in found.counted)
    return text("room_compare.of_items", lang, count=f"{found.items:,}", first=first, second=second)


def _differs(part: tuple[str, str, str | None, str | None], lang: str) -> str:
    _, key, mine, theirs = part
    unsaid = text("room_compare.unsaid", lang)
    name = View.clean(key) or text("room_compare.name", lang)
    return (
        f"{name}: {unsaid if mine is None else View.clean(mine)} → {unsaid if theirs is None else View.clean(theirs)}"
    )
