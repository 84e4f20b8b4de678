"""From files or frames to a Corpus and its Judgments: the order of the steps; the steps are in the files beside."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from voirdire.corpus.corpus import Corpus, Intake, Note, Question
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.intake import alike, close, merged, note, refuse, some, warning
from voirdire.corpus.itemtable import (
    UNTESTED,
    ItemTable,
    carried_items,
    item_scales,
    leave_out_other_levels,
    read_items,
)
from voirdire.corpus.judgments import read_judgments
from voirdire.corpus.longform import read_long
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.corpus.pools import RaterTable, assign_pools, read_raters
from voirdire.corpus.questions import read_questions, spec_of
from voirdire.corpus.ratings import check_items, give_values, refuse_mixed_pools, settle_duplicates
from voirdire.corpus.shares import read_shares
from voirdire.corpus.sides import CODE, SHOWN_FIRST, with_sides
from voirdire.scales import WITHOUT_ORDER, Scale
from voirdire.tables import Table

__all__ = ["CorpusOptions", "JudgmentOptions", "read_corpus", "read_judgments"]

RATINGS = ["item_id", "rater_id", "pool", "question", "value"]
AGGREGATES = ["item_id", "pool", "question", "value", "n"]


def read_corpus(options: CorpusOptions, untested: Collection[str] = UNTESTED) -> Corpus:
    """Read the ratings and what belongs to them.

    Every row of every table is used or left out for a named reason (``Corpus.intake``); what was concluded from
    the data stands in ``Corpus.notes``. Raises InputError or UsageError, which say what to do.

    untested : values of the items' ``split`` column that leave an item and its ratings out

    >>> ratings = pl.DataFrame({"task": ["a", "a", "b", "b"], "worker": ["u", "v", "u", "v"],
    ...                         "pool": ["us", "cn", "us", "cn"], "label": [1, 5, 2, 4]})
    >>> corpus = read_corpus(CorpusOptions(ratings))
    >>> corpus.pools, str(corpus.questions[0].scale), corpus.ratings.height
    (('us', 'cn'), 'ordinal:1:5', 4)
    """
    options = expand_corpus(options)
    raters = read_raters(options)
    items = read_items(options, untested)
    declared = read_questions(options)
    long = read_long(options, raters)
    names = long.frame["question"].unique()
    if not any(spec_of(name, declared, options).level in WITHOUT_ORDER for name in names):
        items = leave_out_other_levels(items)
    frame, pools, told = assign_pools(long.frame, raters, long.table, options)
    frame = check_items(frame, items, long.table, options)
    refuse_mixed_pools(frame, long.table)
    valued = give_values(frame, items, declared, long.table, options)
    frame, repeated = settle_duplicates(valued.frame, valued.questions, long.table, options)
    used = frame.filter(pl.col("_reason").is_null())
    used = with_sides(used, long.table, valued.questions, items.frame)
    pools = tuple(pool for pool in pools if (used["pool"] == pool).any())
    if items.known is None:
        items = ItemTable(carried_items(frame))
    shares = read_shares(options, items, [question.id for question in valued.questions])
    notes: list[Note] = [*long.notes, *items.notes, *(raters.notes if raters else ()), *declared.notes]
    notes += [*told, *valued.notes, *repeated, *shares.notes, *_gaps(used, items.frame, pools)]
    if items.scales is not None:
        notes.append(note("item_scales", count=items.scales.height))
    notes += _slots(used, options)
    notes += alike("item_id", items.frame["item_id"], long.table)
    if not any(said.key == "input.note.pools_alike" for said in told):
        notes += alike("pool", pools, long.table)
    beside = [*_raters(raters, used), *declared.intake([question.id for question in valued.questions])]
    return Corpus(
        items=items.frame,
        questions=valued.questions,
        pools=pools,
        ratings=_sorted(used, items.frame, pools, valued.questions),
        aggregates=_means(used, long.table),
        shares=shares.frame,
        raters=raters.frame if raters else None,
        item_scales=_own_scales(items, valued.questions),
        anonymous_raters=options.anonymous_raters,
        intake=(close(frame, long.table, "ratings"), *items.intake, *beside, *shares.intake),
        notes=merged([*(options.frozen.notes() if options.frozen else ()), *notes]),
        name=options.name,
        simulated=options.simulated,
        frozen=options.frozen,
        excluded_items=items.excluded,
    )


def _raters(raters: RaterTable | None, used: pl.DataFrame) -> list[Intake]:
    return [raters.intake(used["rater_id"].drop_nulls())] if raters else []


def _own_scales(items: ItemTable, questions: Sequence[Question]) -> dict[str, Scale]:
    numeric = [question.scale for question in questions if not question.scale.labels]
    if not numeric:
        return {}
    return item_scales(items, numeric[0].level, numeric[0].low, numeric[0].high)


def _sorted(
    used: pl.DataFrame, items: pl.DataFrame, pools: Sequence[str], questions: Sequence[Question]
) -> pl.DataFrame:
    shown = [pl.col(CODE).alias(SHOWN_FIRST)] if CODE in used.columns else []
    people = used.filter(~pl.col("_aggregate")).select(*RATINGS, *shown)
    places = {
        "item_id": dict(zip(items["item_id"], range(items.height), strict=True)),
        "pool": {pool: place for place, pool in enumerate(pools)},
        "question": {question.id: place for place, question in enumerate(questions)},
    }
    keys = [
        pl.col(name).replace_strict(place, return_dtype=pl.Int32).alias(f"_{name}") for name, place in places.items()
    ]
    order = people.select(*keys, "rater_id").select(
        pl.arg_sort_by("_question", "_pool", "_item_id", "rater_id", maintain_order=True)
    )
    return people[order.to_series()]


def _means(used: pl.DataFrame, table: Table) -> pl.DataFrame:
    means = used.filter("_aggregate")
    if "n" not in means.columns:
        return means.with_columns(n=pl.lit(None, pl.Int64)).select(AGGREGATES)
    count = pl.col("n").cast(pl.Float64, strict=False)
    bad = means.filter(pl.col("n").is_not_null() & ~((count >= 1) & (count == count.round())).fill_null(False))
    if not bad.is_empty():
        raise refuse("n_broken", table, bad, "n")
    return means.with_columns(n=count.cast(pl.Int64)).select(AGGREGATES)


def _gaps(used: pl.DataFrame, items: pl.DataFrame, pools: Sequence[str]) -> list[Note]:
    rated = used.select("item_id", "pool").unique()
    counts = dict(rated["pool"].value_counts().rows())
    n_rated = rated["item_id"].n_unique()
    notes = []
    lacking = [f"{pool}: {n_rated - counts[pool]}" for pool in pools if counts[pool] < n_rated]
    if lacking:
        notes.append(note("items_without_pool", items=n_rated, lacking=some(lacking, 30)))
    if n_rated < items.height:
        notes.append(note("items_unrated", count=items.height - n_rated))
    return notes


def _slots(used: pl.DataFrame, options: CorpusOptions) -> list[Note]:
    ids = used["rater_id"].drop_nulls().unique()
    if options.anonymous_raters or not len(ids) or not ids.str.contains(r"(?i)slot[-_ ]?\d+$").all():
        return []
    return [warning("looks_anonymous", value=ids.sort()[0])]
