"""Judges against every pool: a leaderboard that has no single column.

Rows are judges, columns every pool and every pair of pools in detail. Rows may be ordered by any pool; a judge that a
paired interval does not tell apart from the one above it is marked. An audit of one pool has no leaderboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import polars as pl

from voirdire.analysis.profile import Profile
from voirdire.browsing.material import Material
from voirdire.browsing.paired import Difference, Pairing, Spot
from voirdire.reporting.access import ALL, VARIANT, Row

LOWER, HIGHER = ("mae", "mae_vs_constant"), ("pearson", "kappa_qw", "agreement", "plurality_agreement")
"""Numbers of a judge and a pool that say which of two judges is nearer, and in which direction."""

BETWEEN = ("delta", "tilt")
CONTROL = "control:"


@dataclass(frozen=True)
class Order:
    """How rows are ordered: by a pool, or as in the audit (``pool`` empty); turned : the last first."""

    pool: str = ""
    turned: bool = False


@dataclass(frozen=True)
class Entry:
    """A judge: its number for each pool, the rows between pools, and what is known of it.

    tied : why it is not told apart from the row above: ``paired`` (the interval of the difference holds 0),
        ``overlap`` (without item-level tables: the intervals overlap); "" where it is, None where nothing was asked
    """

    judge: str
    pools: Mapping[str, Row]
    pairs: Mapping[tuple[str, str, str], Row]
    covariates: Mapping[str, str | None]
    tied: str | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class Effect:
    """What a covariate of the judges has to do with delta, for one pair (the paper's R2).

    parts : name of the number -> its row, which may be undefined with a reason
    """

    pair: tuple[str, str]
    covariate: str
    level: str
    condition: str
    parts: Mapping[str, Row]


@dataclass(frozen=True)
class Board:
    """Every judge against every pool.

    entries : judges; controls : control judges, in the same columns
    ceilings : pool -> what one rater left out reaches; gaps, floors : pair -> distance of the pools and what rater
        noise alone makes of it
    covariates : columns; effects, shares : of covariates (R2) and of judges, conditions and items
    """

    question: str
    slice: str
    statistic: str
    pools: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]
    controls: tuple[Entry, ...]
    ceilings: Mapping[str, Row]
    gaps: Mapping[tuple[str, str], Row]
    floors: Mapping[tuple[str, str], Row]
    covariates: tuple[str, ...]
    effects: tuple[Effect, ...]
    shares: Mapping[tuple[str, str], Sequence[Row]]
    order: Order


def pools_of(profile: Profile, question: str) -> tuple[str, ...]:
    """The pools that rated a question: at least one item of it."""
    rated = profile.estimates.filter(statistic="n_items", question=question).filter(pl.col("value") > 0)
    return _in_order(profile, rated)


def pools_with_numbers(profile: Profile, question: str, statistic: str, slice_name: str) -> tuple[str, ...]:
    """The pools that rated items of a slice and that a judge is compared with there; under two there is no board."""
    here = profile.estimates.filter(question=question, slice=slice_name)
    rated = here.filter((pl.col("statistic") == "n_items") & (pl.col("value") > 0))
    entries = _entries(profile, here, statistic, list(profile.meta.get("judges") or []))
    known = {pool for entry in entries for pool, row in entry.pools.items() if row.value is not None}
    return _in_order(profile, rated.filter(pl.col("pool").is_in(known)))


def _in_order(profile: Profile, rows: pl.DataFrame) -> tuple[str, ...]:
    held = set(rows["pool"])
    return tuple(pool["name"] for pool in profile.meta["pools"] if pool["name"] in held)


def statistics_of(profile: Profile, question: str) -> tuple[str, ...]:
    """The numbers that a leaderboard of this question can show."""
    frame = profile.estimates.filter((pl.col("question") == question) & pl.col("value").is_not_null())
    known = set(frame["statistic"].unique())
    return tuple(name for name in (*LOWER, *HIGHER) if name in known)


def board(
    profile: Profile,
    question: str,
    *,
    statistic: str = "mae",
    slice_name: str = "all",
    order: Order | None = None,
    material: Material | None = None,
) -> Board:
    """The leaderboard of a question.

    material : the question as arrays, so that neighbours are told apart by paired intervals; without it by whether
        their own intervals overlap
    """
    order = order or Order()
    frame = profile.estimates.filter((pl.col("question") == question) & (pl.col("slice") == slice_name))
    pools, pairs = pools_of(profile, question), _pairs(profile, question)
    entries = _entries(profile, frame, statistic, list(profile.meta.get("judges") or []))
    controls = _entries(profile, frame, statistic, _controls(frame))
    covariates = tuple(profile.meta.get("covariates") or ())
    ordered = _ordered(entries, statistic, order)
    whole = profile.estimates.filter(question=question)
    return Board(
        question,
        slice_name,
        statistic,
        pools,
        pairs,
        _told_apart(ordered, slice_name, order, material) if order.pool else tuple(ordered),
        tuple(controls),
        {row.pool: row for row in _rows(frame, "ceiling.own")},
        {(row.pool, row.pool_b): row for row in _rows(frame, "cross_pool_mad")},
        {(row.pool, row.pool_b): row for row in _rows(frame, "noise_floor")},
        covariates,
        _effects(whole, pairs),
        {pair: _shares(whole, pair) for pair in pairs},
        order,
    )


def _pairs(profile: Profile, question: str) -> tuple[tuple[str, str], ...]:
    meta = profile.meta
    named = (meta.get("detail_pairs_by_question") or {}).get(question) or meta.get("detail_pairs") or []
    return tuple((a, b) for a, b in named)


def _controls(frame: pl.DataFrame) -> list[str]:
    return frame.filter(pl.col("judge").str.starts_with(CONTROL))["judge"].unique(maintain_order=True).to_list()


def _entries(profile: Profile, frame: pl.DataFrame, statistic: str, judges: Sequence[str]) -> list[Entry]:
    here = frame.filter(
        pl.col("judge").is_in(judges)
        & (pl.col("condition").is_in([ALL, "-"]))
        & pl.col("statistic").is_in([statistic, *BETWEEN])
    )
    own: dict[str, dict[str, Row]] = {judge: {} for judge in judges}
    between: dict[str, dict[tuple[str, str, str], Row]] = {judge: {} for judge in judges}
    for line in here.sort(pl.col("condition") == ALL, maintain_order=True).select(Row._fields).iter_rows():
        row = Row(*line)
        if VARIANT.search(row.params):
            continue
        if row.statistic == statistic:
            own[row.judge][row.pool] = row
        else:
            between[row.judge][row.statistic, row.pool, row.pool_b] = row
    known = profile.meta.get("judges_covariates") or {}
    return [Entry(judge, own[judge], between[judge], known.get(judge) or {}) for judge in judges if own[judge]]


def _rows(frame: pl.DataFrame, statistic: str) -> list[Row]:
    here = frame.filter((pl.col("statistic") == statistic) & (pl.col("judge") == ""))
    return [Row(*line) for line in here.select(Row._fields).iter_rows()]


def _ordered(entries: Sequence[Entry], statistic: str, order: Order) -> list[Entry]:
    """By a pool the nearest first; what is undefined stands last either way."""
    if not order.pool:
        return list(entries)
    sign = (-1.0 if statistic in HIGHER else 1.0) * (-1.0 if order.turned else 1.0)
    known = [entry for entry in entries if _value(entry, order.pool) is not None]
    others = [entry for entry in entries if _value(entry, order.pool) is None]
    return [*sorted(known, key=lambda entry: sign * (_value(entry, order.pool) or 0.0)), *others]


def _value(entry: Entry, pool: str) -> float | None:
    row = entry.pools.get(pool)
    return None if row is None else row.value


def _told_apart(
    entries: Sequence[Entry], slice_name: str, order: Order, material: Material | None
) -> tuple[Entry, ...]:
    """Each row with whether it is told apart from the row above, on the pool by which they are ordered."""
    known = [entry for entry in entries if _value(entry, order.pool) is not None]
    found: list[Difference | None] = [None] * max(0, len(known) - 1)
    if material is not None and known:
        spots = [_spot(entry.pools[order.pool]) for entry in known]
        values = [_value(entry, order.pool) for entry in known]
        wanted = list(zip(spots, spots[1:], values, values[1:], strict=False))
        found = list(Pairing(material, material, slice_name).differences(wanted))
    told = list(entries[:1])
    for above, entry, difference in zip(known, known[1:], found, strict=False):
        tied = _tie(above.pools[order.pool], entry.pools[order.pool], difference)
        told.append(replace(entry, tied=tied, difference=difference))
    return (*told, *entries[len(told) :])


def _spot(row: Row) -> Spot:
    return Spot(row.statistic, row.params, (row.pool,), row.judge, row.condition)


def _tie(above: Row, here: Row, difference: Difference | None) -> str | None:
    if difference is not None and difference.low is not None and difference.high is not None:
        return "paired" if difference.low <= 0 <= difference.high else ""
    if None in (above.low, above.high, here.low, here.high):
        return None
    apart = above.high < here.low or here.high < above.low  # type: ignore[operator]
    return "" if apart else "overlap"


def _effects(frame: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> tuple[Effect, ...]:
    """The covariates' effects on delta over all items and the baseline conditions, which come first."""
    here = frame.filter(
        pl.col("statistic").str.starts_with("origin_effect.") & (pl.col("slice") == "all") & (pl.col("judge") == ALL)
    )
    coefficients = [Row(*line) for line in here.filter(statistic="origin_effect.coef").select(Row._fields).iter_rows()]
    found: dict[tuple[str, ...], Effect] = {}
    for row in coefficients:
        given = dict(part.partition("=")[::2] for part in row.params.split(","))
        key = (row.pool, row.pool_b, row.params)
        if (row.pool, row.pool_b) not in pairs or key in found:
            continue
        beside = here.filter(pool=row.pool, pool_b=row.pool_b, condition=row.condition, params=row.params)
        parts = {line[0].removeprefix("origin_effect."): Row(*line) for line in beside.select(Row._fields).iter_rows()}
        covariate, level = (unquote(given.get(name, "")) for name in ("covariate", "level"))
        found[key] = Effect((row.pool, row.pool_b), covariate, level, row.condition, parts)
    return tuple(found.values())


def _shares(frame: pl.DataFrame, pair: tuple[str, str]) -> tuple[Row, ...]:
    """The share of the variance of delta that items explain, and what judges, conditions and covariates add."""
    here = frame.filter(
        pl.col("statistic").is_in(
            ["r2_decomposition.r2", "r2_decomposition.increment", "r2_decomposition.share_of_judge"]
        )
        & (pl.col("slice") == "all")
        & (pl.col("pool") == pair[0])
        & (pl.col("pool_b") == pair[1])
    )
    return tuple(Row(*line) for line in here.select(Row._fields).iter_rows())


def table(found: Board) -> pl.DataFrame:
    """The board as it is ordered, unrounded: a row for each judge and control, every pool and pair as columns."""
    rows = []
    for kind, entries in (("judge", found.entries), ("control", found.controls)):
        for entry in entries:
            row: dict[str, object] = {"kind": kind, "judge": entry.judge}
            row |= {name: entry.covariates.get(name) for name in found.covariates}
            for pool in found.pools:
                row |= _cells(f"{found.statistic}.{pool}", entry.pools.get(pool))
            for name in BETWEEN:
                for a, b in found.pairs:
                    row |= _cells(f"{name}.{a}.{b}", entry.pairs.get((name, a, b)))
            row["not_told_apart_from_row_above"] = entry.tied
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _cells(name: str, row: Row | None) -> dict[str, object]:
    if row is None:
        return {name: None, f"{name}.low": None, f"{name}.high": None, f"{name}.n": None, f"{name}.undefined": None}
    return {
        name: row.value,
        f"{name}.low": row.low,
        f"{name}.high": row.high,
        f"{name}.n": row.n,
        f"{name}.undefined": row.undefined,
    }
