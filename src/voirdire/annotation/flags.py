"""Raters whose work should be looked at: plain rules on what they answered and how fast, nothing hidden.

A flag is a hint with its numbers. It removes nobody and changes no number; the lead decides. The rules, their
thresholds and what a careful rater risks are explained in ``docs/explanation/rater-checks.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import comb, exp, inf, log, log1p
from statistics import fmean, median, stdev
from typing import Literal

from voirdire.annotation.nouns import NOT_APPLICABLE, Asked
from voirdire.scales import WITHOUT_ORDER

FlagKind = Literal["straight_line", "same_answer", "speeding", "gold", "repeats"]

LEVEL = 0.001
"""Probability that a careful rater is flagged for a run, or for giving one answer nearly always, over all questions."""
NEARLY_ALWAYS, LEAST_ANSWERS, LENIENCE = 0.9, 10, 2.0
SHARE_OF_MEDIAN, SECONDS_A_QUESTION, LEAST_TIMED, LEAST_OTHERS = 1 / 3, 1.0, 5, 2
SLIP, GOLD_LEVEL = 0.04, 0.005
CHANCE_SHARE, BEYOND_OTHERS, LEAST_REPEATS, LEAST_COMPARED = 0.8, 3.0, 5, 3


@dataclass(frozen=True, slots=True)
class Record:
    """What one rater did.

    answers : question -> answers to the items in the order in which they were shown, None where there is none
    others : question -> answer -> its share among the other raters of the pool who saw the same items
    seconds : time on each item that was answered
    gold : whether each answer to an item with known answers was right
    repeats : question -> (first, second) answers to items that were asked twice, None where one is missing; every
        question has one entry a repeated item, in the same order
    """

    rater: str
    pool: str
    answers: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: Sequence[float] = ()
    gold: Sequence[bool] = ()
    repeats: Mapping[str, Sequence[tuple[str, str] | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flag:
    """Something about a rater that should be looked at.

    numbers : what the rule compared, by name; ``question`` where the rule looks at one question
    """

    kind: FlagKind
    numbers: Mapping[str, float] = field(default_factory=dict)
    question: str = ""


def flags(records: Sequence[Record], questions: Sequence[Asked]) -> dict[str, list[Flag]]:
    """Every flag of every rater; raters without one have an empty list.

    Raters are compared with the others of their own pool only. Questions of free text are left out.
    """
    rated = [question for question in questions if question.widget != "text"]
    measured = [question for question in rated if has_distances(question)]
    found: dict[str, list[Flag]] = {}
    for record in records:
        others = [other for other in records if other.pool == record.pool and other.rater != record.rater]
        found[record.rater] = [
            *_same_answers(record, rated),
            *_speeding(record, [other.seconds for other in others], len(rated)),
            *_failed_gold(record),
            *_repeats(record, others, measured),
        ]
    return found


def longest_run(answers: Sequence[str]) -> int:
    """Length of the longest series of equal answers.

    >>> longest_run(["3", "3", "4", "4", "4", "3"])
    3
    """
    return max((sum(1 for _ in group) for _, group in groupby(answers)), default=0)


def run_bound(counts: Sequence[int], length: int) -> float:
    """How probable a series of ``length`` equal answers is at most, when the rater's answers are shuffled.

    counts : how often each answer was given. By Boole's inequality over the places where a series can begin: with
    n answers, c of them v, and h(k) = c(c-1)...(c-k+1) / n(n-1)...(n-k+1), it is at most the sum over v of
    h(L) + (n-L)(h(L) - h(L+1)).

    >>> run_bound([4, 4], 4) == 2 * (1 / 70 + 4 * 1 / 70)
    True
    >>> run_bound([9], 9)
    1.0
    """
    n = sum(counts)
    if length > n:
        return 0.0
    total = sum(_all_equal(c, n, length) + (n - length) * _next_differs(c, n, length) for c in counts)
    return min(1.0, total)


def _all_equal(count: int, n: int, length: int) -> float:
    return comb(count, length) / comb(n, length)


def _next_differs(count: int, n: int, length: int) -> float:
    return _all_equal(count, n, length) - (_all_equal(count, n, length + 1) if length < n else 0.0)


def at_least(successes: int, trials: int, probability: float) -> float:
    """P(X >= successes) of a binomial X.

    >>> round(at_least(2, 3, 0.5), 3), at_least(0, 3, 0.1)
    (0.5, 1.0)
    """
    if successes <= 0:
        return 1.0
    logs = [log(probability), log1p(-probability)] if 0 < probability < 1 else None
    if logs is None:
        return probability
    ways = range(successes, trials + 1)
    return min(1.0, sum(exp(log(comb(trials, k)) + k * logs[0] + (trials - k) * logs[1]) for k in ways))


def more_lenient(share: float) -> float:
    """The share of an answer that a careful rater is allowed: its odds among the others, doubled.

    >>> more_lenient(0.5)
    0.6666666666666666
    """
    return LENIENCE * share / (1 + (LENIENCE - 1) * share)


def _same_answers(record: Record, questions: Sequence[Asked]) -> list[Flag]:
    found = []
    for question in questions:
        answers = [answer for answer in record.answers.get(question.id, ()) if answer is not None]
        if len(answers) < LEAST_ANSWERS:
            continue
        counts = {answer: answers.count(answer) for answer in dict.fromkeys(answers)}
        often = max(counts, key=lambda answer: counts[answer])
        allowed = LEVEL / len(questions)
        run = longest_run(answers)
        bound = run_bound(list(counts.values()), run)
        if bound < allowed:
            found.append(Flag("straight_line", {"run": run, "n": len(answers), "p": bound}, question.id))
        share, theirs = counts[often] / len(answers), record.others.get(question.id, {})
        if share < NEARLY_ALWAYS or not theirs:
            continue
        expected = theirs.get(often, 0.0)
        p = at_least(counts[often], len(answers), more_lenient(expected))
        if p < allowed:
            numbers = {"share": share, "n": len(answers), "others": expected, "p": p}
            found.append(Flag("same_answer", numbers, question.id))
    return found


def _speeding(record: Record, others: Sequence[Sequence[float]], questions: int) -> list[Flag]:
    if len(record.seconds) < LEAST_TIMED:
        return []
    own = median(record.seconds)
    medians = [median(seconds) for seconds in others if len(seconds) >= LEAST_TIMED]
    theirs = median(medians) if len(medians) >= LEAST_OTHERS else None
    slow_enough = SECONDS_A_QUESTION * questions
    if own >= slow_enough and (theirs is None or own >= SHARE_OF_MEDIAN * theirs):
        return []
    numbers = {"seconds": own, "least": slow_enough}
    return [Flag("speeding", numbers if theirs is None else {**numbers, "others": theirs})]


def _failed_gold(record: Record) -> list[Flag]:
    asked, failed = len(record.gold), sum(not right for right in record.gold)
    p = at_least(failed, asked, SLIP)
    return [Flag("gold", {"failed": failed, "n": asked, "p": p})] if p < GOLD_LEVEL else []


def has_distances(question: Asked) -> bool:
    """Whether two answers can be compared by ``difference``: a typed number needs both ends for that.

    >>> has_distances(Asked("age", "number", low=0)), has_distances(Asked("age", "number", low=0, high=120))
    (False, True)
    """
    return question.widget != "number" or (question.low is not None and question.high is not None)


def difference(question: Asked, first: str, second: str) -> float:
    """How far two answers lie apart: 0 equal, 1 the two ends of the scale, or two labels that differ.

    >>> difference(Asked("q1", "buttons", low=1, high=5), "2", "4")
    0.5
    """
    if first == second:
        return 0.0
    options = [option.value for option in question.options]
    if NOT_APPLICABLE in (first, second) or question.level in WITHOUT_ORDER:
        return 1.0
    if question.low is not None and question.high is not None:
        return min(1.0, abs(float(first) - float(second)) / (question.high - question.low))
    return abs(options.index(first) - options.index(second)) / (len(options) - 1)


def by_chance(question: Asked, answers: Sequence[str]) -> float:
    """The mean difference of two of a rater's answers to different items.

    >>> by_chance(Asked("q1", "buttons", low=1, high=5), ["1", "5", "5"])
    0.6666666666666666
    """
    counts = {answer: answers.count(answer) for answer in dict.fromkeys(answers)}
    pairs = len(answers) * (len(answers) - 1)
    total = sum(m * k * difference(question, a, b) for a, m in counts.items() for b, k in counts.items())
    return total / pairs if pairs else 0.0


def repeat_differences(record: Record, questions: Sequence[Asked]) -> list[float]:
    """The difference between first and second answers to each item that was asked twice: the mean over questions."""
    known = {question.id: question for question in questions}
    columns = [
        [None if pair is None else difference(known[name], *pair) for pair in pairs]
        for name, pairs in record.repeats.items()
        if name in known
    ]
    rows = [[each for each in row if each is not None] for row in zip(*columns, strict=True)]
    return [fmean(row) for row in rows if row]


def _repeats(record: Record, others: Sequence[Record], questions: Sequence[Asked]) -> list[Flag]:
    own = repeat_differences(record, questions)
    theirs = [repeat_differences(other, questions) for other in others]
    theirs = [each for each in theirs if each]
    if len(own) < LEAST_REPEATS or len(theirs) < LEAST_COMPARED:
        return []
    asked = [question for question in questions if any(record.repeats.get(question.id, ()))]
    answered = [[a for a in record.answers.get(question.id, ()) if a is not None] for question in asked]
    chance = fmean(by_chance(question, answers) for question, answers in zip(asked, answered, strict=True))
    pooled = [each for row in theirs for each in row]
    spread = stdev(pooled) if len(pooled) > 1 else 0.0
    mean, expected = fmean(own), fmean(pooled)
    excess = mean - expected
    beyond = excess / (spread / len(own) ** 0.5) if spread else (inf if excess > 0 else 0.0)
    if mean < CHANCE_SHARE * chance or beyond < BEYOND_OTHERS:
        return []
    return [Flag("repeats", {"difference": mean, "chance": chance, "others": expected, "n": len(own)})]
