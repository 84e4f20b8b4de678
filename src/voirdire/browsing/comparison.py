"""Two audits side by side: only numbers of one definition share a row, and each difference has an interval of its own.

A side may be one audit under two names: two judges, or two conditions, of the same audit are compared the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from voirdire.analysis.profile import Profile
from voirdire.browsing.compared import Compared
from voirdire.browsing.material import Material, material
from voirdire.browsing.paired import Difference, Pairing, Spot
from voirdire.reporting.access import ALL, COUNTED, Row
from voirdire.signature import Signature

MAIN = (
    "mae", "bias", "mae_vs_constant", "pearson", "kappa_qw", "spread.sd_ratio", "delta", "delta_sq", "tilt",
    "orientation.w", "mean_rating", "share_low", "share_high", "floor_recovery", "plurality_agreement",
    "missing_share", "consensus_mean", "reliability", "cross_pool_mad", "cross_pool_tv", "cross_pool_pearson",
    "gap_rms",
)  # fmt: skip
"""The main numbers, in this order."""

DISTANCE, MISSING = "mae", "missing_share"
"""The distance from a pool (the smaller, the nearer), and the share of answers without a rating."""

MAIN_ONES, START, EVERY, EACH = "main", "start", "every", "each"
SETS = {MAIN_ONES: MAIN, START: (DISTANCE, MISSING)}
"""Several numbers at once, by the name that asks for them."""

BY_CELLS, MANY_CELLS = ("pearson",), 20
"""Means over cells, which take long where a judge has many: then they are compared when they are asked for by name."""

EITHER_WAY = ("cross_pool_", "gap_rms", "gap_sq_corrected", "gap_test.", "noise_floor", "disattenuated_r")
"""Numbers of a pair of pools that are the same whichever is named first, by how their names begin."""

MOST_ROWS = 400
CONTROL = "control:"
PLACE = ("statistic", "params", "pool", "pool_b")


@dataclass(frozen=True)
class Side:
    """One of the two audits, and what of it is compared.

    compared : its item-level tables, None where it has none
    """

    slug: str
    title: str
    profile: Profile
    compared: Compared | None = field(repr=False)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, in the order of the judgments."""
        return tuple(self.profile.meta.get("judges") or ())

    def material(self, question: str) -> Material | None:
        """A question of it as arrays; None without item-level tables."""
        return None if self.compared is None else material(self.profile.meta, self.compared, question)


@dataclass(frozen=True)
class Choice:
    """What is compared.

    judges : of the first and of the second audit; "" = every judge that both have, under its name. Where one is named
        alone, the other audit's has the same name
    conditions : likewise; "" = all conditions of a judge together, ``each`` = every condition and selection of both
    statistic : one by name, ``main`` = the main ones, ``start`` = the distance from every pool and what is lacking,
        ``every``
    """

    question: str
    slice: str = "all"
    statistic: str = MAIN_ONES
    judges: tuple[str, str] = ("", "")
    conditions: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        for name in ("judges", "conditions"):
            first, second = getattr(self, name)
            both = (
                (EACH, EACH) if name == "conditions" and EACH in (first, second) else (first or second, second or first)
            )
            object.__setattr__(self, name, both)


@dataclass(frozen=True)
class Line:
    """One row of a comparison: the numbers of both audits, where their definitions differ, and the difference.

    differs : (part, key, first, second) of the definitions, None where a side lacks the key; empty where they agree
    """

    first: Row
    second: Row
    differs: tuple[tuple[str, str, str | None, str | None], ...]
    difference: Difference


@dataclass(frozen=True)
class Comparison:
    """What was compared.

    lines : at most 400 rows; left : how many more there are
    alone : rows that the first and the second audit have without a counterpart
    items : of the slice, in both audits, in the first alone, in the second alone; None without tables
    lacking : the sides without item-level tables
    judges : names of the judges of both
    later : main numbers that take long here, and are left for when they are asked for
    turned : pairs, as the first audit names them, whose numbers with a direction are not compared, because the second
        names the same pools the other way round
    """

    choice: Choice
    lines: tuple[Line, ...]
    left: int
    alone: tuple[int, int]
    items: tuple[int, int, int] | None
    lacking: tuple[Side, ...] = ()
    judges: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    turned: tuple[tuple[str, str], ...] = ()


def compare(
    first: Side,
    second: Side,
    choice: Choice,
    *,
    seed: int | None = None,
    draws: int | None = None,
    most: int = MOST_ROWS,
    materials: tuple[Material | None, Material | None] | None = None,
) -> Comparison:
    """The numbers of two audits in rows of one definition, and the second less the first where it can be computed.

    seed, draws : of the draws of items; by default those of the first audit
    materials : the question of both sides as arrays, where they are at hand
    """
    later = () if choice.statistic != MAIN_ONES else _later(first, second, choice)
    rows, alone, turned = _matched(first, second, choice, later)
    judges = (*first.judges, *second.judges)
    shown = rows[:most]
    held = materials or (first.material(choice.question), second.material(choice.question))
    differing = [differences_of(a, b) for a, b in shown]
    if held[0] is None or held[1] is None:
        lacking = tuple(side for side, known in zip((first, second), held, strict=True) if known is None)
        found = [Difference(why="definition" if differs else "no_tables") for differs in differing]
        return Comparison(
            choice, _lines(shown, differing, found), len(rows) - len(shown), alone, None, lacking, judges, later, turned
        )
    pairing = Pairing(held[0], held[1], choice.slice, seed=seed, draws=draws)
    same = [(a, b) for (a, b), differs in zip(shown, differing, strict=True) if not differs]
    made = iter(pairing.differences([(_spot(a), _spot(b), a.value, b.value) for a, b in same]))
    found = [Difference(why="definition") if differs else next(made) for differs in differing]
    items = (len(pairing.common), *pairing.only)
    lines = _lines(shown, differing, found)
    return Comparison(choice, lines, len(rows) - len(shown), alone, items, (), judges, later, turned)


def differences_of(first: Row, second: Row) -> tuple[tuple[str, str, str | None, str | None], ...]:
    """Where the definitions of two numbers differ; empty where they may share a row."""
    if first.definition == second.definition:
        return ()
    mine, theirs = (Signature.parse(COUNTED.sub("", row.signature)) for row in (first, second))
    return tuple(row for row in mine.diff(theirs) if row[0] in ("name", "params", "definition"))


def _lines(
    shown: Sequence[tuple[Row, Row]],
    differing: Sequence[tuple[tuple[str, str, str | None, str | None], ...]],
    found: Sequence[Difference],
) -> tuple[Line, ...]:
    return tuple(
        Line(first, second, differs, one) for (first, second), differs, one in zip(shown, differing, found, strict=True)
    )


def _spot(row: Row) -> Spot:
    pools = tuple(pool for pool in (row.pool, row.pool_b) if pool)
    return Spot(row.statistic, row.params, pools, row.judge, row.condition)


def _later(first: Side, second: Side, choice: Choice) -> tuple[str, ...]:
    """What is not computed without being asked for: means over the many cells of a judge, all conditions together."""
    most = max((len(side.profile.meta["cells"]) / max(len(side.judges), 1) for side in (first, second)), default=0)
    return BY_CELLS if most > MANY_CELLS and choice.conditions == ("", "") else ()


def _matched(
    first: Side, second: Side, choice: Choice, later: Sequence[str] = ()
) -> tuple[list[tuple[Row, Row]], tuple[int, int], tuple[tuple[str, str], ...]]:
    """The rows that both have, in the order of the statistics; how many each has alone; pairs that are turned."""
    tables = [_keyed(side, choice, place, later) for place, side in enumerate((first, second))]
    keys = [key for key in tables[0] if key in tables[1]]
    order = {name: place for place, name in enumerate(MAIN)}
    if choice.statistic in (*SETS, EVERY):
        keys.sort(key=lambda key: order.get(key[0], len(order)))
    alone = (len(tables[0].keys() - tables[1].keys()), len(tables[1].keys() - tables[0].keys()))
    lost = [key for key in tables[0] if key not in tables[1] and _turned(key) in tables[1]]
    pairs = tuple(dict.fromkeys((key[2], key[3]) for key in lost))
    return [(tables[0][key], tables[1][key]) for key in keys], alone, pairs


Key = tuple[str, ...]


def _keyed(side: Side, choice: Choice, place: int, later: Sequence[str]) -> dict[Key, Row]:
    """The rows of one side by what must agree on both."""
    frame = side.profile.estimates.filter(
        (pl.col("question") == choice.question)
        & (pl.col("slice") == choice.slice)
        & pl.col("label").is_null()
        & ~pl.col("judge").str.starts_with(CONTROL)
    )
    if choice.statistic != EVERY:
        wanted = [name for name in SETS.get(choice.statistic, (choice.statistic,)) if name not in later]
        frame = frame.filter(pl.col("statistic").is_in(wanted))
    judge, condition = choice.judges[place], choice.conditions[place] or ALL
    names = [judge] if judge else side.judges
    kept = pl.col("judge").is_in(names) & ((pl.col("condition") == condition) | (condition == EACH))
    whole = not judge and choice.conditions == ("", "")
    rows = [Row(*line) for line in frame.filter(kept).select(Row._fields).iter_rows()]
    if whole:
        rows += [Row(*line) for line in frame.filter(judge="").select(Row._fields).iter_rows()]
    return {_key(row, by_judge=not judge, by_condition=condition == EACH): row for row in rows}


def _key(row: Row, *, by_judge: bool, by_condition: bool) -> Key:
    pools = (row.pool, row.pool_b)
    if row.statistic.startswith(EITHER_WAY):
        pools = (min(pools), max(pools))
    return (row.statistic, row.params, *pools, row.judge if by_judge else "", row.condition if by_condition else "")


def _turned(key: Key) -> Key:
    """The same with the pools exchanged; a number of one pool stays as it is."""
    name, params, pool, pool_b, *others = key
    return (name, params, pool_b, pool, *others) if pool_b else key


@dataclass(frozen=True)
class Offer:
    """What a comparison can be made of: names that both have, and those of each side."""

    questions: tuple[str, ...]
    slices: tuple[str, ...]
    statistics: tuple[str, ...]
    judges: tuple[tuple[str, ...], tuple[str, ...]]
    conditions: tuple[tuple[str, ...], tuple[str, ...]]


def offer(first: Side, second: Side, question: str) -> Offer:
    """The choices of a comparison."""
    questions = _both([_questions(side) for side in (first, second)])
    frames = [
        side.profile.estimates.filter(
            (pl.col("question") == question) & pl.col("label").is_null() & ~pl.col("judge").str.starts_with(CONTROL)
        )
        for side in (first, second)
    ]
    names = [frame["statistic"].unique(maintain_order=True).to_list() for frame in frames]
    slices = [frame["slice"].unique(maintain_order=True).to_list() for frame in frames]
    return Offer(
        questions,
        tuple(sorted(_both(slices), key=lambda name: name != "all")),
        _both(names),
        (_judges(first, frames[0]), _judges(second, frames[1])),
        (_conditions(frames[0]), _conditions(frames[1])),
    )


def _questions(side: Side) -> list[str]:
    """The questions of an audit, the judged ones first."""
    names = [entry["id"] for entry in side.profile.meta.get("questions", [])]
    judged = side.profile.meta.get("judged_questions") or []
    return sorted(names, key=lambda name: name not in judged)


def _judges(side: Side, frame: pl.DataFrame) -> tuple[str, ...]:
    """The judges, and then groups of them (all together, those of a level of a covariate)."""
    return tuple(dict.fromkeys([*side.judges, *(name for name in frame["judge"].unique(maintain_order=True) if name)]))


def _conditions(frame: pl.DataFrame) -> tuple[str, ...]:
    return tuple(name for name in frame["condition"].unique(maintain_order=True) if name)


def _both(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    mine, theirs = names
    return tuple(name for name in mine if name in set(theirs))


COLUMNS = (
    *PLACE, "slice", "judge", "condition", "judge_second", "condition_second", "first", "first_low", "first_high",
    "first_n", "first_undefined", "second", "second_low", "second_high", "second_n", "second_undefined",
    "items", "items_first", "items_second", "answers", "answers_first", "answers_second",
    "first_joint", "second_joint",
    "difference", "low", "high", "reason", "definitions_differ", "first_signature", "second_signature",
)  # fmt: skip


def table(comparison: Comparison) -> pl.DataFrame:
    """The rows as a table, unrounded: ``difference`` is ``second_joint`` less ``first_joint``, on what counts in both.

    ``answers`` is how many answers both have, empty where items are paired.

    ``reason`` is the key of what is lacking, ``definitions_differ`` the parts of the definitions that differ.
    """
    rows = [_told(line) for line in comparison.lines]
    texts: dict[str, Any] = dict.fromkeys(COLUMNS, pl.String)
    numbers = ("first", "second", "low", "high", "difference")
    kinds: dict[str, Any] = {
        name: pl.Int64
        if name.startswith(("items", "answers")) or name.endswith("_n")
        else pl.Float64
        if name in numbers or name.endswith(("_low", "_high", "_joint"))
        else kind
        for name, kind in texts.items()
    }
    return pl.DataFrame(rows, schema=kinds)


def _told(line: Line) -> Mapping[str, Any]:
    first, second, found = line.first, line.second, line.difference
    both = found.items if found.why not in ("definition", "no_tables") and found.counted != (0, 0) else None
    return {
        **{name: getattr(first, name) for name in (*PLACE, "slice", "judge", "condition")},
        "judge_second": second.judge,
        "condition_second": second.condition,
        "first": first.value,
        "first_low": first.low,
        "first_high": first.high,
        "first_n": first.n,
        "first_undefined": first.undefined,
        "second": second.value,
        "second_low": second.low,
        "second_high": second.high,
        "second_n": second.n,
        "second_undefined": second.undefined,
        "items": both,
        "items_first": None if both is None else found.counted[0],
        "items_second": None if both is None else found.counted[1],
        "answers": found.shared,
        "answers_first": None if both is None or not first.judge else found.answers[0],
        "answers_second": None if both is None or not first.judge else found.answers[1],
        "first_joint": found.joint[0],
        "second_joint": found.joint[1],
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "reason": found.why or found.why_open,
        "definitions_differ": ";".join(f"{part}:{key}={mine}|{theirs}" for part, key, mine, theirs in line.differs),
        "first_signature": first.signature,
        "second_signature": second.signature,
    }
