"""The items table: unique ids, rules that leave items out, scales of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Intake, Note
from voirdire.corpus.intake import close, flag, note, refuse, some, warning, with_rows
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.rules import parse_rule
from voirdire.scales import LEVELS, WITHOUT_ORDER, Scale
from voirdire.tables import Table, read_table

UNTESTED = ("demonstration", "pilot", "rejected")
"""Splits whose items are no test items."""


@dataclass(frozen=True)
class ItemTable:
    """The items.

    frame : item_id first, then the columns as given (text); only items that stay in
    known : every item of the file, with those left out; None when there is no items table
    excluded : item -> reason
    scales : item_id, level, low, high (null where the item does not override): only when some item does
    table : the file, for errors; flagged : every row of it, with ``_row`` and ``_reason``
    """

    frame: pl.DataFrame
    known: pl.Series | None = None
    excluded: Mapping[str, str] = field(default_factory=dict)
    scales: pl.DataFrame | None = None
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()
    table: Table | None = None
    flagged: pl.DataFrame | None = field(default=None, repr=False)


def read_items(options: CorpusOptions, untested: Collection[str] = UNTESTED) -> ItemTable:
    """Read the items table; without one the items are what the ratings name.

    untested : values of the ``split`` column that leave an item out
    """
    if options.items is None:
        return ItemTable(pl.DataFrame(schema={"item_id": pl.String}))
    declared = [name for name in names.ITEM_COLUMNS if {name, f"items.{name}"} & set(options.mapping)]
    table = read_table(options.items, options.encoding)
    table, notes = names.take(table, "items", ("item_id", *declared), options.mapping)
    names.require(table, "item_id")
    frame = with_rows(table.frame.select("item_id", pl.exclude("item_id")))
    frame = _unique(frame, table)
    frame = _by_rules(frame, options, untested)
    planted = [name for name in frame.columns if name.startswith("true_")]
    if planted:
        notes.append(note("planted_columns", file=table.name, columns=", ".join(planted)))
    scales, told = _scales(frame, table)
    return ItemTable(
        frame.filter(pl.col("_reason").is_null()).drop("_row", "_reason"),
        frame["item_id"],
        dict(frame.filter(pl.col("_reason").is_not_null()).select("item_id", pl.col("_reason").cast(pl.String)).rows()),
        scales,
        (close(frame, table, "items"),),
        tuple(notes + told),
        table,
        frame,
    )


def leave_out_other_levels(items: ItemTable) -> ItemTable:
    """Leave nominal items out of a corpus whose questions are all numeric, and count them."""
    if items.scales is None:
        return items
    nominal = items.scales.filter(pl.col("level").is_in(WITHOUT_ORDER))["item_id"]
    here = items.frame.filter(pl.col("item_id").is_in(nominal.implode()))["item_id"]
    if here.is_empty():
        return items
    (intake,) = items.intake
    excluded = {**intake.excluded, "item_level": len(here)}
    counted = replace(intake, rows_used=intake.rows_used - len(here), excluded=excluded)
    told = note("items_nominal", count=len(here), items=some(here))
    return replace(
        items,
        frame=items.frame.filter(~pl.col("item_id").is_in(here.implode())),
        scales=items.scales.filter(~pl.col("level").fill_null("").is_in(WITHOUT_ORDER)),
        excluded={**items.excluded, **dict.fromkeys(here, "item_level")},
        intake=(counted,),
        notes=(*items.notes, told),
    )


def carried_items(ratings: pl.DataFrame) -> pl.DataFrame:
    """Items named by the ratings alone, in order of appearance, with item columns that the ratings carry."""
    kept = [
        name for name in ratings.columns if name in names.ITEM_COLUMNS or name.startswith(("text.", "prompt.", "alt."))
    ]
    items = ratings.group_by("item_id", maintain_order=True).agg(
        pl.col(kept).first(), pl.col(kept).n_unique().name.prefix("_n_")
    )
    constant = [name for name in kept if items[f"_n_{name}"].max() == 1]
    return items.select("item_id", *constant)


def item_scales(items: ItemTable, level: str, low: float | None, high: float | None) -> dict[str, Scale]:
    """item -> its own scale, where it overrides; what it leaves open is the question's."""
    if items.scales is None:
        return {}
    made: dict[tuple[str | None, float | None, float | None], Scale] = {}
    result = {}
    for item, own_level, own_low, own_high in items.scales.iter_rows():
        key = (own_level, own_low, own_high)
        if key not in made:
            ends = (own_low if own_low is not None else low, own_high if own_high is not None else high)
            made[key] = Scale(own_level or level, *ends)
        result[item] = made[key]
    return result


def _unique(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    empty = frame.filter(pl.col("item_id").is_null())
    if not empty.is_empty():
        raise refuse("cell_empty", table, empty, "item_id", value="")
    same = pl.struct(pl.exclude("_row", "_reason")).is_first_distinct()
    frame = flag(frame, ~same, "duplicate")
    left = frame.filter(pl.col("_reason").is_null())
    repeated = left.filter(~pl.col("item_id").is_first_distinct())
    if not repeated.is_empty():
        raise refuse("key_twice", table, repeated, "item_id")
    return frame


def _by_rules(frame: pl.DataFrame, options: CorpusOptions, untested: Collection[str]) -> pl.DataFrame:
    columns = [name for name in frame.columns if name not in ("_row", "_reason")]
    for rule in options.exclude_items:
        frame = flag(frame, parse_rule(rule, columns), "excluded_item")
    if "split" in columns:
        frame = flag(frame, pl.col("split").is_in(list(untested)), "excluded_item")
    return frame


def _scales(frame: pl.DataFrame, table: Table) -> tuple[pl.DataFrame | None, list[Note]]:
    given: list[str] = [name for name in ("level", "min", "max") if name in frame.columns]
    if not given:
        return None, []
    parts = {name: frame[name].cast(pl.Float64, strict=False) for name in given if name != "level"}
    foreign = [name for name, cells in parts.items() if cells.null_count() > frame[name].null_count()]
    if "level" in given and not set(frame["level"].drop_nulls()) <= set(LEVELS):
        foreign.append("level")
    if foreign:
        return None, [warning("not_item_scales", file=table.name, columns=", ".join(foreign))]
    empty_level = pl.lit(None, pl.String)
    scales = frame.select(
        "item_id",
        (pl.col("level") if "level" in given else empty_level).alias("level"),
        *[
            (pl.col(name).cast(pl.Float64) if name in given else pl.lit(None, pl.Float64)).alias(ours)
            for name, ours in (("min", "low"), ("max", "high"))
        ],
    ).filter(pl.any_horizontal(pl.col("level", "low", "high").is_not_null()))
    bad = frame.join(scales, on="item_id").filter(pl.col("low") >= pl.col("high"))
    if not bad.is_empty():
        raise refuse("item_ends_reversed", table, bad, "max")
    return (None if scales.is_empty() else scales), []
