"""How far a batch is: by pool and by rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from voirdire.annotation.collected import Collected, collect
from voirdire.annotation.database import Database
from voirdire.annotation.flags import LEAST_ANSWERS, Flag, Record, flags

HERE_SECONDS = 600.0
REPEATED = ("rater_id", "pool", "item_id", "question", "first", "second", "answered_at")


@dataclass(frozen=True, slots=True)
class PoolProgress:
    """How far a pool is. Ratings are counted as items rated by a person, all their questions together.

    wanted : items times raters per item; done, open : of these; partial : open ones with some answer
    raters_here : active raters who were seen within the last ten minutes
    items_complete : items that have all their raters; surplus : ratings that came too late, kept beside
    deleted : raters whose data were deleted
    """

    wanted: int
    done: int
    open: int
    partial: int
    raters_active: int
    raters_here: int
    finished: int
    screened_out: int
    deleted: int
    items_complete: int
    surplus: int


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far a rater is.

    done, total : of the rater's own order, with repeats and items whose answers are known
    median_seconds : time on an item, None before the first
    label : what the lead called the invitation by which the rater joined
    """

    id: str
    pool: str
    state: str
    done: int
    total: int
    median_seconds: float | None
    seen_at: float
    flags: tuple[Flag, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is; ``event`` is the number of the last change that it holds."""

    pools: Mapping[str, PoolProgress]
    raters: tuple[RaterProgress, ...]
    event: int = 0


def progress(database: Database, batch_id: int, now: float) -> Progress:
    """How far a batch is, by pool and by rater."""
    return progress_of(collect(database, batch_id), now)


def progress_of(collected: Collected, now: float) -> Progress:
    """How far a batch is that was read already."""
    pools = {pool: _pool(collected, pool, now) for pool in collected.pools}
    return Progress(pools, _raters(collected), collected.event)


def records_of(collected: Collected) -> list[Record]:
    """What each rater did, as the rules on careless work look at it."""
    rated = collected.answered("item")
    orders = _orders(rated)
    others = _others(rated)
    times = dict(item_seconds(rated).group_by("rater_id").agg("seconds").iter_rows())
    gold, repeats = _gold(collected), _repeats(collected, rated)
    return [
        Record(
            rater.id,
            rater.pool,
            orders.get(rater.id, {}),
            others.get(rater.id, {}),
            times.get(rater.id, []),
            gold.get(rater.id, []),
            repeats.get(rater.id, {}),
        )
        for rater in collected.raters
    ]


def item_seconds(answered: pl.DataFrame) -> pl.DataFrame:
    """How long each assignment was looked at until its last answer: rater_id, pool, item_id, seconds."""
    keys = ["rater_id", "pool", "item_id", "assignment_id"]
    return answered.group_by(keys, maintain_order=True).agg(pl.col("seconds").max()).drop("assignment_id")


def _pool(collected: Collected, pool: str, now: float) -> PoolProgress:
    work = collected.work.filter((pl.col("pool") == pool) & (pl.col("kind") == "item"))
    states = Counter(work["state"])
    people = [rater for rater in collected.raters if rater.pool == pool]
    per_item = Counter(work.filter(pl.col("state") == "done")["item_id"])
    begun = work.filter(pl.col("state") == "open").join(collected.given, on="assignment_id", how="semi")
    wanted = collected.study.raters_per_item
    recent = now - HERE_SECONDS
    of_state = Counter(rater.state for rater in people)
    return PoolProgress(
        wanted=wanted * len(collected.batch.spec.items),
        done=states["done"],
        open=states["open"],
        partial=begun.height,
        raters_active=of_state["active"],
        raters_here=sum(rater.state == "active" and rater.seen_at >= recent for rater in people),
        finished=of_state["finished"],
        screened_out=of_state["screened_out"],
        deleted=collected.deleted.get(pool, 0),
        items_complete=sum(count >= wanted for count in per_item.values()),
        surplus=states["surplus"],
    )


def _raters(collected: Collected) -> tuple[RaterProgress, ...]:
    told = flags(records_of(collected), collected.study.questions)
    held = collected.work.filter(pl.col("state") != "returned")
    total = Counter(held["rater_id"])
    done = Counter(held.filter(pl.col("state") != "open")["rater_id"])
    seconds = item_seconds(collected.answered("item", "repeat", "gold"))
    medians = dict(seconds.group_by("rater_id").agg(pl.col("seconds").median()).iter_rows())
    return tuple(
        RaterProgress(
            rater.id,
            rater.pool,
            rater.state,
            done[rater.id],
            total[rater.id],
            medians.get(rater.id),
            rater.seen_at,
            tuple(told[rater.id]),
            collected.labels.get(rater.invitation, ""),
        )
        for rater in collected.raters
    )


def _orders(rated: pl.DataFrame) -> dict[str, dict[str, list[str | None]]]:
    """rater -> question -> answers in the order shown."""
    found: dict[str, dict[str, list[str | None]]] = {}
    questions, place = rated["question"].unique().to_list(), " place"  # no question's name begins with a space
    for (rater,), part in rated.rename({"place": place}).group_by("rater_id", maintain_order=True):
        wide = part.pivot("question", index=place, values="value").sort(place)
        found[str(rater)] = {name: wide[name].to_list() for name in questions if name in wide.columns}
    return found


def _others(rated: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """rater -> question -> answer -> its share among the pool's other answers to the items that the rater saw.

    Of fewer than ``LEAST_ANSWERS`` other answers there is no share.
    """
    keys = ["pool", "item_id", "question"]
    counts = rated.group_by(*keys, "value").agg(pl.len().alias("count"))
    mine = rated.select("rater_id", *keys)
    seen = mine.join(counts, on=keys).group_by("rater_id", "question", "value").agg(pl.col("count").sum())
    own = rated.group_by("rater_id", "question", "value").agg(pl.len().alias("own"))
    left = seen.join(own, on=["rater_id", "question", "value"], how="left")
    left = left.with_columns(rest=pl.col("count") - pl.col("own").fill_null(0)).filter(pl.col("rest") > 0)
    total = pl.col("rest").sum().over("rater_id", "question")
    left, share = left.filter(total >= LEAST_ANSWERS), pl.col("rest") / total
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for rater, question, value, part in left.select("rater_id", "question", "value", share).iter_rows():
        found[rater][question][value] = part
    return found


def gold_answers(collected: Collected) -> pl.DataFrame:
    """Answers to items with known answers: the columns of answers with ``accepted`` and ``right``."""
    known = pl.DataFrame(
        [(gold.item_id, gold.question, list(gold.accept)) for gold in collected.study.gold],
        schema={"item_id": pl.String, "question": pl.String, "accepted": pl.List(pl.String)},
        orient="row",
    )
    told = collected.answered("gold").join(known, on=["item_id", "question"])
    return told.with_columns(right=pl.col("value").is_in(pl.col("accepted")))


def repeated(collected: Collected, rated: pl.DataFrame) -> pl.DataFrame:
    """Items that were asked twice: rater_id, pool, item_id, question, first, second, answered_at (of the second)."""
    keys = REPEATED[:4]
    again = collected.answered("repeat").select(*keys, "answered_at", pl.col("value").alias("second"))
    first = rated.select(*keys, pl.col("value").alias("first"))
    return again.join(first, on=keys, maintain_order="left").select(REPEATED)


def _gold(collected: Collected) -> dict[str, list[bool]]:
    return dict(gold_answers(collected).group_by("rater_id").agg("right").iter_rows())


def _repeats(collected: Collected, rated: pl.DataFrame) -> dict[str, dict[str, list[tuple[str, str] | None]]]:
    pairs = repeated(collected, rated)
    names = pairs["question"].unique().to_list()
    found: dict[str, dict[str, list[tuple[str, str] | None]]] = {}
    for (rater,), part in pairs.group_by("rater_id", maintain_order=True):
        given = {(item, question): (first, second) for _, _, item, question, first, second, _ in part.iter_rows()}
        items = part["item_id"].unique(maintain_order=True).to_list()
        found[str(rater)] = {name: [given.get((item, name)) for item in items] for name in names}
    return found
