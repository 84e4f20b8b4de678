"""A comparison of two audits as its page shows it: names, rounded numbers, and what is lacking in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from voirdire.analysis.profile import Profile
from voirdire.browsing.comparison import DISTANCE, MISSING, Comparison, Line, Side
from voirdire.reporting.access import Row, View
from voirdire.reporting.words import MINUS, Words, digits_of
from voirdire.texts import text


@dataclass(frozen=True, slots=True)
class Number:
    """A number of one audit: the value, its interval, how many items stand behind it; or why there is none.

    printed : what the audit itself gives, where the value is another one on what counts on both sides
    """

    value: str
    interval: str
    n: str
    reason: str
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the page. apart : whether the interval of the difference leaves 0 out, None without one.

    behind : how many items and answers stand behind the difference
    finding : what its interval says, in words
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
    behind: tuple[str, ...]
    difference: str
    interval: str
    apart: bool | None
    finding: str
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
        first=_side(line, 0, words, width),
        second=_side(line, 1, words, width),
        behind=_behind(line, words.lang),
        difference="" if found.value is None else change(row, found.value, width),
        interval=interval,
        apart=None if found.low is None or found.high is None else not found.low <= 0 <= found.high,
        finding=_finding(line, words),
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


def _side(line: Line, place: int, words: Words, width: float | None) -> Number:
    """The number of one side as it is compared, and as the audit prints it where that is another one."""
    row, found = (line.first, line.second)[place], line.difference
    printed = number_of(row, words, width)
    value = found.joint[place]
    if value is None or not found.changed[place]:
        return printed
    told = text("room_compare.in_audit", words.lang, value=f"{printed.value} {printed.interval}".strip())
    return replace(printed, value=words.number(row.statistic, value, width), interval="", printed=told)


def _behind(line: Line, lang: str) -> tuple[str, ...]:
    """How many items count, and how many answers of each side, where these are not as many."""
    found = line.difference
    if found.counted == (0, 0):
        return ()

    def said(key: str, counts: tuple[int, int], count: int | None) -> str:
        first, second = (f"{one:,}" for one in counts)
        return text(f"room_compare.behind.{key}", lang, count=f"{count or 0:,}", first=first, second=second)

    items = said("items" if found.same_items else "items_of", found.counted, found.items)
    answers = found.answers
    if found.shared is None:
        lacking = line.first.statistic == MISSING
        told = said("answers_lacking" if lacking else "answers_apart", answers, None)
        return (items,) if answers[0] == answers[1] else (items, told)
    if answers == (found.shared, found.shared):
        return (items,) if found.shared == found.items else (items, said("answers", answers, found.shared))
    return items, said("answers_of", answers, found.shared)


def _way(line: Line) -> str:
    """nearer, farther or open (not told apart): what an interval says of a distance; "" without one."""
    low, high = line.difference.low, line.difference.high
    if low is None or high is None:
        return ""
    return "nearer" if high < 0 else "farther" if low > 0 else "open"


def _finding(line: Line, words: Words) -> str:
    way = _way(line)
    if line.first.statistic == DISTANCE and way:
        return text(f"room_compare.finding.{way}", words.lang, pool=View.clean(line.first.pool))
    return text("room_compare.apart", words.lang) if way in ("nearer", "farther") else ""


def findings(comparison: Comparison, first: Side, lang: str) -> list[tuple[str, str]]:
    """Every judge, and what the distances from all pools together say of it."""
    words = Words(lang, tuple(pool["name"] for pool in first.profile.meta["pools"]))
    width = width_of(first.profile, comparison.choice.question)
    known = frozenset(comparison.judges)
    groups: dict[str, list[Line]] = {}
    for line in comparison.lines:
        if line.first.statistic == DISTANCE and not line.first.params:
            groups.setdefault(_judge(line, words, known), []).append(line)
    return [
        (judge, summed_up(lines, words, width)) for judge, lines in groups.items() if any(_way(line) for line in lines)
    ]


def summed_up(lines: Iterable[Line], words: Words, width: float | None) -> str:
    """The distances of one judge from every pool in a sentence, which holds for all of them together."""
    pools: dict[str, list[str]] = {way: [] for way in ("nearer", "farther", "open", "")}
    for line in lines:
        way, pool = _way(line), View.clean(line.first.pool)
        size = change(line.first, line.difference.value or 0.0, width)
        pools[way].append(f"{pool} ({size})" if way in ("nearer", "farther") else pool)

    def said(key: str, **fields: str) -> str:
        return text(f"room_compare.summary.{key}", words.lang, **fields)

    parts = [said(way or "unknown", pools=words.list(names)) for way, names in pools.items() if names]
    sentence = said("between").join(parts)
    count = sum(len(names) for names in pools.values())
    if not pools["nearer"] or len(pools["nearer"]) == count:
        return said("whole", sentence=sentence)
    end = ("not_both" if count == 2 else "not_every") if pools["farther"] else "not_shown"
    return said("ends", sentence=sentence, end=said(end))


def _differs(part: tuple[str, str, str | None, str | None], lang: str) -> str:
    _, key, mine, theirs = part
    unsaid = text("room_compare.unsaid", lang)
    name = View.clean(key) or text("room_compare.name", lang)
    return (
        f"{name}: {unsaid if mine is None else View.clean(mine)} → {unsaid if theirs is None else View.clean(theirs)}"
    )
