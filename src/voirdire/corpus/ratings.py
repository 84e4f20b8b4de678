"""Long ratings to values: scales settled, faults found, duplicates dealt with, means set apart from ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from voirdire.corpus.corpus import Note, Question
from voirdire.corpus.intake import choice, flag, refuse, some, warning
from voirdire.corpus.itemtable import ItemTable
from voirdire.corpus.levels import (
    Settled,
    Spec,
    comma_note,
    encode,
    is_missing_label,
    numbers,
    settle,
    share_ends,
    with_missing,
    zero_one,
)
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.questions import QuestionTable, roles, spec_of
from voirdire.errors import InputError, UsageError
from voirdire.scales import WITHOUT_ORDER, Scale
from voirdire.tables import Table

KEY = ["question", "raw", "_aggregate"]
DUPLICATES = ("refuse", "mean", "first", "last")


@dataclass(frozen=True)
class Valued:
    """Ratings with ``value`` (float, null where left out), and the questions they answer."""

    frame: pl.DataFrame
    questions: tuple[Question, ...]
    notes: tuple[Note, ...]


def check_items(ratings: pl.DataFrame, items: ItemTable, table: Table, options: CorpusOptions) -> pl.DataFrame:
    """Flag ratings of items that are left out; refuse (or flag) those of items that the items table lacks."""
    choice("unknown_items", options.unknown_items, ("refuse", "exclude"))
    if items.known is None:
        return ratings
    strange = ~pl.col("item_id").is_in(items.known.implode())
    lost = ratings.filter(strange)
    if not lost.is_empty() and options.unknown_items == "refuse":
        raise refuse("item_unknown", table, lost, "item_id", count=lost.height)
    ratings = flag(ratings, strange, "unknown_item")
    return flag_items(ratings, items.excluded)


def flag_items(frame: pl.DataFrame, excluded: Mapping[str, str]) -> pl.DataFrame:
    """Flag rows of items that were left out, with the reason of each."""
    for reason in sorted(set(excluded.values()) - {"duplicate"}):
        gone = [item for item, why in excluded.items() if why == reason]
        frame = flag(frame, pl.col("item_id").is_in(gone), reason)
    return frame


def give_values(
    ratings: pl.DataFrame, items: ItemTable, declared: QuestionTable, table: Table, options: CorpusOptions
) -> Valued:
    """Settle every question's scale and give every rating its value."""
    here = ratings.filter(pl.col("_reason").is_null())
    order = [name for name in declared.declared if (here["question"] == name).any()]
    order += [name for name in here["question"].unique(maintain_order=True) if name not in order]
    if not order:
        raise InputError("input.nothing_rated", file=table.file)
    distinct = here.group_by(KEY, maintain_order=True).agg(
        pl.len().alias("n"), pl.col("_row").min(), pl.col("_column").first()
    )
    parts = {str(key[0]): part for key, part in distinct.partition_by("question", as_dict=True).items()}
    role, notes = roles(order, declared)
    notes += comma_note(distinct["raw"], table)
    specs = {name: _with_item_ends(spec_of(name, declared, options), items) for name in order}
    for name, part in parts.items():
        parts[name] = part.with_columns(_no_answer=is_missing_label(pl.col("raw"), specs[name].missing))
    settled = share_ends({name: _settled(name, specs[name], parts[name], table) for name in order})
    settled = {name: _not_constant(name, one, parts[name], table) for name, one in settled.items()}
    questions: list[Question] = []
    for name, one in settled.items():
        text = declared.declared[name].text if name in declared.declared else {}
        scale = with_missing(one.scale, tuple(dict.fromkeys(specs[name].missing)))
        questions.append(Question(name, scale, role[name], text, one.inferred))
        notes = [*notes, *one.notes]
    coded = [_coded(question, parts[question.id], table) for question in questions]
    frame = ratings.join(pl.concat(coded), on=KEY, how="left", maintain_order="left")
    frame = flag(frame, pl.col("_no_answer"), "missing_label")
    frame, told = _out_of_scale(frame, questions, items, table, options)
    return Valued(frame.drop("_no_answer", "_low", "_high"), tuple(questions), (*notes, *told))


def _with_item_ends(spec: Spec, items: ItemTable) -> Spec:
    if items.scales is None or spec.low is not None or spec.labels:
        return spec
    numeric = items.scales.filter(~pl.col("level").fill_null("").is_in(WITHOUT_ORDER))
    low, high = numeric["low"].min(), numeric["high"].max()
    level = numeric["level"].drop_nulls().mode().sort().first()
    return spec.filled(Spec(level, low, high))  # type: ignore[arg-type]


def _settled(name: str, spec: Spec, part: pl.DataFrame, table: Table) -> Settled:
    answers = part.filter(~pl.col("_no_answer")).rename({"_aggregate": "aggregate"})
    if answers.is_empty():
        raise InputError("input.nothing_rated", file=table.file)
    return settle(name, spec, answers, table)


def _not_constant(name: str, settled: Settled, part: pl.DataFrame, table: Table) -> Settled:
    scale = settled.scale
    if scale.low is None or scale.low != scale.high:
        return settled
    if scale.low in (0, 1) and settled.ends_open:
        return zero_one(name, scale.missing)
    raise refuse("one_value", table, part.filter(~pl.col("_no_answer")).sort("_row"), "raw", question=name)


def _coded(question: Question, part: pl.DataFrame, table: Table) -> pl.DataFrame:
    scale = question.scale
    mean = numbers(part["raw"], table.delimiter)
    rating = encode(scale, part["raw"], table.delimiter)
    low, high = (scale.low, scale.high) if scale.low is not None else (float("-inf"), float("inf"))
    return part.select(
        *KEY,
        "_no_answer",
        pl.when("_aggregate").then(mean).otherwise(rating).alias("value"),
        _low=pl.lit(low, pl.Float64),
        _high=pl.lit(high, pl.Float64),
    )


def _out_of_scale(
    frame: pl.DataFrame, questions: Sequence[Question], items: ItemTable, table: Table, options: CorpusOptions
) -> tuple[pl.DataFrame, list[Note]]:
    choice("out_of_scale", options.out_of_scale, ("refuse", "exclude"))
    if items.scales is not None:
        own = items.scales.rename({"level": "_level", "low": "_own_low", "high": "_own_high"})
        frame = frame.join(own, on="item_id", how="left", maintain_order="left")
        numeric = [question.id for question in questions if not question.scale.labels]
        other = pl.col("_level").is_in(WITHOUT_ORDER) & pl.col("question").is_in(numeric)
        frame = flag(frame, other, "item_level").with_columns(
            _low=pl.coalesce("_own_low", "_low"), _high=pl.coalesce("_own_high", "_high")
        )
        frame = frame.drop("_level", "_own_low", "_own_high")
    outside = pl.col("value").is_null() | (pl.col("value") < pl.col("_low")) | (pl.col("value") > pl.col("_high"))
    bad = frame.filter(pl.col("_reason").is_null() & outside)
    if bad.is_empty():
        return frame, []
    scales = {question.id: question.scale for question in questions}
    scale = _shown(scales[bad["question"][0]], bad["_low"][0], bad["_high"][0])
    if options.out_of_scale == "refuse" and bad["_aggregate"][0]:
        raise refuse("mean_out_of_scale", table, bad, "raw", question=bad["question"][0], scale=scale, count=bad.height)
    if options.out_of_scale == "refuse":
        raise refuse(
            "value_out_of_scale", table, bad, "raw", question=bad["question"][0], scale=scale, count=bad.height
        )
    found = some(bad["raw"].unique(maintain_order=True))
    return flag(frame, outside, "out_of_scale"), [warning("out_of_scale", count=bad.height, values=found)]


def _shown(scale: Scale, low: float | None, high: float | None) -> str:
    return ", ".join(scale.labels) if scale.labels else f"{low:g} - {high:g}"


def settle_duplicates(
    ratings: pl.DataFrame, questions: Sequence[Question], table: Table, options: CorpusOptions
) -> tuple[pl.DataFrame, list[Note]]:
    """One row a rater, item and question (a pool, item and question for means)."""
    policy = choice("duplicates", options.duplicates, DUPLICATES)
    who = pl.when("_aggregate").then("pool").otherwise("rater_id")
    key = pl.struct("item_id", "question", "_aggregate", who.alias("_who"))
    used = pl.col("_reason").is_null()
    twice = ratings.filter(used).filter(key.is_duplicated())
    if twice.is_empty():
        return ratings, []
    first = twice.row(0, named=True)
    if policy == "refuse":
        again = twice.filter(key == twice.select(key).to_series()[0])
        rater = first["rater_id"] or first["pool"]
        earlier = table.row(again["_row"][0])
        raise refuse(
            "rated_twice", table, again.tail(1), "rater_id", value=rater, item=first["item_id"], earlier=earlier
        )
    labelled = {question.id for question in questions if question.scale.labels}
    if policy == "mean" and labelled & set(twice["question"]):
        raise UsageError("input.mean_of_labels", question=some(sorted(labelled & set(twice["question"]))))
    over = ["item_id", "question", "_aggregate", "_who"]
    twice = twice.with_columns(who.alias("_who"))
    place = pl.col("_row").rank("ordinal", descending=policy == "last").over(over)
    twice = twice.select("_row", "_column", _mean=pl.col("value").mean().over(over), _place=place)
    joined = ratings.join(twice, on=["_row", "_column"], how="left", nulls_equal=True, maintain_order="left")
    if policy == "mean":
        joined = joined.with_columns(value=pl.coalesce("_mean", "value"))
    dropped = int((twice["_place"] > 1).sum())
    told = warning("duplicates", count=dropped, policy=policy, file=table.name)
    return flag(joined, pl.col("_place") > 1, "duplicate").drop("_mean", "_place"), [told]


def refuse_mixed_pools(ratings: pl.DataFrame, table: Table) -> None:
    """Refuse a pool that has both raters and means on one question."""
    used = ratings.filter(pl.col("_reason").is_null())
    if not used["_aggregate"].any() or used["_aggregate"].all():
        return
    kinds = used.group_by("pool", "question").agg(pl.col("_aggregate").n_unique())
    both = kinds.filter(pl.col("_aggregate") > 1)
    if not both.is_empty():
        pool, question = both.sort("pool", "question").row(0)[:2]
        means = used.filter(pl.col("_aggregate") & (pl.col("pool") == pool) & (pl.col("question") == question))
        raise refuse("pool_both", table, means, "rater_id", value=pool, question=question)
