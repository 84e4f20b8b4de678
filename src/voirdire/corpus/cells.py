"""Judges and conditions: factors, covariates, the full name of a cell's condition, and declared judge scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.intake import close, flag, note, refuse, some, warning, with_rows
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.sides import CODE, SHOWN_FIRST
from voirdire.errors import UsageError
from voirdire.tables import Table, read_table

MAX_FACTOR_LEVELS = 100
MAX_DESIGN_LEVELS = 12
PROVENANCE = (
    "raw",
    "attempts",
    "cost",
    "tokens",
    "latency",
    "seconds",
    "timestamp",
    "provider",
    "response_id",
    "prompt_digest",
)


@dataclass(frozen=True)
class SideTable:
    """A judges or conditions table matched to the judgments: one row per name that occurs."""

    frame: pl.DataFrame
    columns: tuple[str, ...] = ()
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class KeyFactors:
    """The extra key columns, and whether the key is unique with them."""

    names: tuple[str, ...] = ()
    unique: bool = True
    notes: tuple[Note, ...] = ()


def key_factors(frame: pl.DataFrame, key: Sequence[str], table: Table, options: JudgmentOptions) -> KeyFactors:
    """The extra key columns: those named, or the fewest that make the key unique when it is not."""
    if options.factors:
        return KeyFactors(options.factors, not _repeated(frame, [*key, *options.factors]))
    if not _repeated(frame, key):
        return KeyFactors()
    candidates = _candidates(frame, key, MAX_FACTOR_LEVELS)
    for size in (1, 2, 3):
        for chosen in combinations(candidates, size):
            if not _repeated(frame, [*key, *chosen]):
                told = note("factors_found", file=table.name, factors=", ".join(chosen))
                return KeyFactors(chosen, True, (told,))
    return KeyFactors((), unique=False)


def order_notes(frame: pl.DataFrame, key: Sequence[str], table: Table) -> list[Note]:
    """A warning of columns that tell answers apart as well as the order does in which their things were shown.

    frame : with the full condition; key : that of the cells, without the order. The answers are taken as those of one
    cell in both orders, and are those of two designs where such a column is one.
    """
    if CODE not in frame.columns or not _repeated(frame, key) or _repeated(frame, [*key, CODE]):
        return []
    found = [name for name in _candidates(frame, key, MAX_DESIGN_LEVELS) if not _repeated(frame, [*key, name])]
    return [warning("order_alike", file=table.name, columns=", ".join(found))] if found else []


def _candidates(frame: pl.DataFrame, key: Sequence[str], most: int) -> list[str]:
    """The further columns of two levels or more that may tell cells apart."""
    taken = (*key, "raw", "status", "_row", "_reason", "_column", "_base")
    taken += (SHOWN_FIRST, CODE) if CODE in frame.columns else ()
    extra = [name for name in frame.columns if name not in taken and names.normal(name) not in PROVENANCE]
    return [name for name in extra if 2 <= frame[name].n_unique() <= most]


def _repeated(frame: pl.DataFrame, key: Sequence[str]) -> bool:
    codes = pl.lit(0, pl.UInt64)
    space = 1
    for name in key:
        code = frame[name].cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.UInt64).fill_null(2**32 - 1)
        levels = code.unique().sort()
        if len(levels) == 1:
            continue
        space *= len(levels)
        codes = codes * len(levels) + pl.lit(levels.search_sorted(code)).cast(pl.UInt64)
    if space >= 2**63:
        return bool(frame.select(pl.struct(key).n_unique()).item() < frame.height)
    return space < frame.height or bool(frame.select(codes.n_unique()).item() < frame.height)


def full_condition(frame: pl.DataFrame, factors: Sequence[str], table: Table) -> pl.DataFrame:
    """``condition`` with the levels of the extra key columns behind it; ``_base`` keeps the condition as given.

    Raises InputError when two different cells would have one name, as ``a/b`` with ``c`` and ``a`` with ``b/c``.
    """
    frame = frame.with_columns(pl.col("condition").alias("_base"))
    if not factors:
        return frame
    named = frame["condition"].n_unique() > 1 or frame["condition"][0] != "-"
    parts = (["condition"] if named else []) + [*factors]
    filled = [pl.col(name).fill_null("-") for name in parts]
    frame = frame.with_columns(pl.concat_str(filled, separator="/").alias("condition"))
    again = frame.unique(["condition", "_base", *factors], keep="first", maintain_order=True)
    alike = again.filter(~pl.col("condition").is_first_distinct())
    if not alike.is_empty():
        raise refuse("condition_alike", table, alike, "condition", columns=", ".join(["condition", *factors]))
    return frame


def read_cells(cells: pl.DataFrame, factors: Sequence[str], options: JudgmentOptions) -> SideTable:
    """Factors of the cells.

    cells : judge, condition (full), ``_base`` (as given) and the key factors; one row each
    """
    if options.conditions is None:
        return SideTable(cells.select("judge", "condition", *factors), tuple(factors))
    table, notes = names.take(
        read_table(options.conditions, options.encoding), "conditions", ("condition",), options.mapping
    )
    names.require(table, "condition")
    frame = with_rows(table.frame)
    by = ["condition", *[name for name in factors if name in table.frame.columns]]
    full = not frame["condition"].is_in(cells["_base"].unique().implode()).any()
    left_on = "condition" if full else "_base"
    by = ["condition"] if full else by
    _refuse_twice(frame, by, table)
    own = [name for name in table.frame.columns if name not in by and name not in ("judge", *factors)]
    right = frame.select(pl.col("condition").alias("_key"), *by[1:], *own)
    joined = cells.with_columns(pl.col(left_on).alias("_key"))
    joined = joined.join(right, on=["_key", *by[1:]], how="left", maintain_order="left")
    unlisted = cells.filter(~pl.col(left_on).is_in(frame["condition"].implode()))[left_on].unique().sort()
    if len(unlisted):
        notes.append(warning("conditions_unlisted", file=table.name, values=some(unlisted)))
    frame = flag(frame, ~pl.col("condition").is_in(cells[left_on].implode()), "not_rated")
    return SideTable(
        joined.select("judge", "condition", *own, *factors),
        (*own, *factors),
        (close(frame, table, "conditions"),),
        tuple(notes),
    )


def read_judges(judges: Sequence[str], options: JudgmentOptions) -> tuple[SideTable, dict[str, tuple[float, float]]]:
    """Covariates of the judges, and the scales that the judges table declares (columns min and max)."""
    bare = pl.DataFrame({"judge": list(judges)}, schema={"judge": pl.String})
    if options.judges is None:
        return SideTable(bare), {}
    table, notes = names.take(read_table(options.judges, options.encoding), "judges", ("judge",), options.mapping)
    names.require(table, "judge")
    frame = with_rows(table.frame)
    _refuse_twice(frame, ["judge"], table)
    scales = _declared_scales(frame, table)
    own = [name for name in table.frame.columns if name not in ("judge", "min", "max")]
    joined = bare.join(frame.select("judge", *own), on="judge", how="left", maintain_order="left")
    unlisted = bare.filter(~pl.col("judge").is_in(frame["judge"].implode()))["judge"]
    if len(unlisted):
        notes.append(warning("judges_unlisted", file=table.name, values=some(unlisted)))
    frame = flag(frame, ~pl.col("judge").is_in(list(judges)), "not_rated")
    return SideTable(joined, tuple(own), (close(frame, table, "judges"),), tuple(notes)), scales


def judge_scales(
    judges: Sequence[str], declared: Mapping[str, tuple[float, float]], options: JudgmentOptions
) -> dict[str, tuple[float, float]]:
    """judge -> its own (low, high), of ``--judge-scale`` and of the judges table."""
    scales = {judge: ends for judge, ends in declared.items() if judge in judges}
    for entry in options.judge_scale:
        name, equals, ends = entry.rpartition("=")
        if equals and name not in judges:
            raise UsageError("input.judge_unknown", value=name, known=some(judges, 20))
        low, colon, high = ends.partition(":")
        try:
            pair = (float(low), float(high))
        except ValueError as error:
            raise UsageError("input.judge_scale_broken", value=entry) from error
        if not colon or not pair[0] < pair[1]:
            raise UsageError("input.judge_scale_broken", value=entry)
        scales |= dict.fromkeys([name] if equals else judges, pair)
    return scales


def _declared_scales(frame: pl.DataFrame, table: Table) -> dict[str, tuple[float, float]]:
    if not {"min", "max"} <= set(frame.columns):
        return {}
    ends = frame.with_columns(pl.col("min", "max").cast(pl.Float64, strict=False).name.prefix("_"))
    bad = ends.filter(
        pl.any_horizontal(pl.col(name).is_not_null() & pl.col(f"_{name}").is_null() for name in ("min", "max"))
    )
    if not bad.is_empty():
        column = "min" if bad["_min"][0] is None else "max"
        raise refuse("cell_not_number", table, bad, column)
    full = ends.filter(pl.col("_min") < pl.col("_max"))
    return {judge: (low, high) for judge, low, high in full.select("judge", "_min", "_max").iter_rows()}


def _refuse_twice(frame: pl.DataFrame, by: Sequence[str], table: Table) -> None:
    empty = frame.filter(pl.col(by[0]).is_null())
    if not empty.is_empty():
        raise refuse("cell_empty", table, empty, by[0], value="")
    twice = frame.filter(~pl.struct(by).is_first_distinct())
    if not twice.is_empty():
        raise refuse("key_twice", table, twice, by[0])
