"""Which pool a rating belongs to: a column, the raters table, or rules over rater attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.intake import choice, close, flag, refuse, some, warning, with_rows
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.rules import named_rule, parse_rule
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table, read_table

TWO_POOLS = ("refuse", "exclude", "separate")


@dataclass(frozen=True)
class RaterTable:
    """The raters table: ``frame`` has rater_id, then the attributes; ``flagged`` keeps every row for the intake."""

    frame: pl.DataFrame
    flagged: pl.DataFrame
    table: Table
    notes: tuple[Note, ...] = ()

    def intake(self, rating: pl.Series) -> Intake:
        """The reckoning: raters without a rating are left out."""
        flagged = flag(self.flagged, ~pl.col("rater_id").is_in(rating.unique().implode()), "not_rating")
        return close(flagged, self.table, "raters")


def read_raters(options: CorpusOptions) -> RaterTable | None:
    """Read the raters table; the same rater twice is refused unless the rows are equal."""
    if options.raters is None:
        return None
    table, notes = names.take(
        read_table(options.raters, options.encoding), "raters", ("rater_id", "pool"), options.mapping
    )
    names.require(table, "rater_id")
    frame = with_rows(table.frame.select("rater_id", pl.exclude("rater_id")))
    empty = frame.filter(pl.col("rater_id").is_null())
    if not empty.is_empty():
        raise refuse("cell_empty", table, empty, "rater_id", value="")
    frame = flag(frame, ~pl.struct(pl.exclude("_row", "_reason")).is_first_distinct(), "duplicate")
    left = frame.filter(pl.col("_reason").is_null())
    twice = left.filter(~pl.col("rater_id").is_first_distinct())
    if not twice.is_empty():
        raise refuse("key_twice", table, twice, "rater_id")
    return RaterTable(left.drop("_row", "_reason"), frame, table, tuple(notes))


def assign_pools(
    ratings: pl.DataFrame, raters: RaterTable | None, table: Table, options: CorpusOptions
) -> tuple[pl.DataFrame, tuple[str, ...], list[Note]]:
    """Give every rating its pool.

    ratings : long, with rater_id, ``_reason`` and perhaps ``pool`` and attributes
    Returns the ratings with ``pool``, the pools in order (of ``--pool``, else of appearance), and notes.
    """
    if options.pools:
        ratings, pools = _by_rules(ratings, raters, table, options)
    else:
        ratings = _by_column(ratings, raters, table, options)
        pools = tuple(ratings["pool"].drop_nulls().unique(maintain_order=True))
    told: list[Note] = _alike(pools)
    if not pools:
        ratings, pools = ratings.with_columns(pl.lit("all").alias("pool")), ("all",)
        told.append(warning("one_pool", file=table.name))
    nobody = ratings.filter(pl.col("_reason").is_null() & pl.col("pool").is_null())
    if not nobody.is_empty():
        who = some(nobody["rater_id"].fill_null("").unique(maintain_order=True))
        told.append(warning("no_pool", count=nobody.height, raters=who))
    ratings = flag(ratings, pl.col("pool").is_null(), "no_pool")
    ratings, more = _two_pools(ratings, table, options)
    return ratings, pools, told + more


def _by_column(ratings: pl.DataFrame, raters: RaterTable | None, table: Table, options: CorpusOptions) -> pl.DataFrame:
    wanted = options.pool_column or "pool"
    have = [*ratings.columns, *(raters.frame.columns if raters else ())]
    if wanted not in have and options.pool_column is not None:
        shown = ", ".join(name for name in dict.fromkeys(have[:30]) if name != "raw" and not name.startswith("_"))
        named = {"column": wanted, "option": "--pool-column", "value": shown}
        raise InputError("input.option_column_missing", file=table.file, row=1, **named)
    if wanted not in have:
        return ratings.with_columns(pl.lit(None, pl.String).alias("pool"))
    if wanted in ratings.columns:
        ratings = ratings.with_columns(pl.col(wanted).alias("pool"))
    elif "pool" in ratings.columns:
        ratings = ratings.drop("pool")
    if raters is None or wanted not in raters.frame.columns:
        return ratings
    theirs = raters.frame.select("rater_id", pl.col(wanted).alias("_pool"))
    ratings = ratings.join(theirs, on="rater_id", how="left", maintain_order="left")
    if "pool" not in ratings.columns:
        return ratings.rename({"_pool": "pool"})
    differ = ratings.filter(pl.col("pool") != pl.col("_pool"))
    if not differ.is_empty():
        first = differ.row(0, named=True)
        raise refuse("pools_disagree", table, differ, "pool", rater=first["rater_id"], other=first["_pool"])
    return ratings.with_columns(pl.coalesce("pool", "_pool").alias("pool")).drop("_pool")


def _by_rules(
    ratings: pl.DataFrame, raters: RaterTable | None, table: Table, options: CorpusOptions
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    rules = [named_rule(rule) for rule in options.pools]
    pools = tuple(name for name, _ in rules)
    if len(set(pools)) < len(pools):
        raise UsageError("input.rule_name_twice", value=", ".join(pools))
    ratings = ratings.rename({"pool": "pool_given"}) if "pool" in ratings.columns else ratings
    joined = ratings
    if raters is not None:
        theirs = raters.frame.rename({"pool": "pool_given"}) if "pool" in raters.frame.columns else raters.frame
        new = [name for name in theirs.columns if name == "rater_id" or name not in ratings.columns]
        joined = ratings.join(theirs.select(new), on="rater_id", how="left", maintain_order="left")
    columns = [name for name in joined.columns if name != "raw" and not name.startswith("_")]
    aliases = {"pool": "pool_given"} if "pool_given" in columns else {}
    visible = joined.select(columns).rename({theirs: ours for ours, theirs in aliases.items()})
    met = visible.select([parse_rule(rule, visible.columns).alias(name) for name, rule in rules])
    _refuse_unmet(met, dict(rules))
    count = met.select(pl.sum_horizontal(pl.all().cast(pl.UInt32))).to_series()
    if (count > 1).any() and options.two_pools != "exclude":
        meets = [name for name in pools if met.filter(count > 1)[name][0]]
        raise refuse("rules_overlap", table, ratings.filter(count > 1), "rater_id", pools=", ".join(meets))
    first = met.select(pl.coalesce([pl.when(pl.col(name)).then(pl.lit(name)) for name in pools])).to_series()
    ratings = flag(ratings.with_columns(first.alias("pool"), _count=count), pl.col("_count") > 1, "two_pools")
    return ratings.drop("_count"), pools


def _refuse_unmet(met: pl.DataFrame, rules: Mapping[str, str]) -> None:
    """UsageError for a pool whose rule no rating meets: most often a value spelt otherwise."""
    for name, rule in rules.items():
        if met.height and not met[name].any():
            raise UsageError("input.rule_unmet", pool=name, value=rule)


def _alike(pools: tuple[str, ...]) -> list[Note]:
    """A warning for pools whose names differ by capital letters alone."""
    folded = [name.casefold() for name in pools]
    alike = [name for name, low in zip(pools, folded, strict=True) if folded.count(low) > 1]
    return [warning("pools_alike", pools=some(pl.Series(alike, dtype=pl.String)))] if alike else []


def _two_pools(ratings: pl.DataFrame, table: Table, options: CorpusOptions) -> tuple[pl.DataFrame, list[Note]]:
    choice("two_pools", options.two_pools, TWO_POOLS)
    here = ratings.filter(pl.col("_reason").is_null() & pl.col("rater_id").is_not_null())
    several = here.group_by("rater_id").agg(pl.col("pool").unique()).filter(pl.col("pool").list.len() > 1)
    if several.is_empty():
        return ratings, []
    is_one = pl.col("rater_id").is_in(several["rater_id"].implode())
    who = some(several["rater_id"].sort())
    if options.anonymous_raters or options.two_pools == "separate":
        both = pl.concat_str("pool", pl.lit("/"), "rater_id")
        return ratings.with_columns(pl.when(is_one).then(both).otherwise("rater_id").alias("rater_id")), [
            warning("raters_separated", count=several.height, raters=who)
        ]
    if options.two_pools == "exclude":
        ratings = flag(ratings, is_one, "two_pools")
        return ratings, [warning("raters_excluded", count=several.height, raters=who)]
    first = here.filter(is_one)
    pools = ", ".join(sorted(several.filter(pl.col("rater_id") == first["rater_id"][0])["pool"][0]))
    raise refuse("rater_two_pools", table, first, "rater_id", pools=pools, count=several.height, raters=who)
