"""Verdicts on the items of a pilot: what raters' answers suggest, and what the lead decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl
from sqlalchemy import delete, select

from voirdire.annotation.batches import batch
from voirdire.annotation.collected import Collected
from voirdire.annotation.database import Database
from voirdire.annotation.inserting import insert_into
from voirdire.annotation.nouns import NOT_APPLICABLE
from voirdire.annotation.rating_tables import no_formula
from voirdire.annotation.schema import verdicts as table
from voirdire.annotation.study_defaults import USABLE
from voirdire.annotation.untrusted import is_text
from voirdire.errors import NotFoundError, UsageError
from voirdire.scales import Scale

Verdict = Literal["keep", "drop", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MOST_NOTE = 2000


@dataclass(frozen=True, slots=True)
class PoolAnswers:
    """What a pool says of an item.

    counts : answer to the question of a pilot -> raters who gave it; wanted : raters per item
    mean : of the evaluation, None without a number; subjective : share of raters who call it subjective
    """

    counts: Mapping[str, int]
    wanted: int
    mean: float | None = None
    subjective: float | None = None

    @property
    def n(self) -> int:
        """Raters who answered."""
        return sum(self.counts.values())

    @property
    def verdict(self) -> Verdict:
        """keep or drop where more than half of all wanted raters say so, whoever may still come.

        >>> PoolAnswers({"usable": 3, "factual": 1}, 5).verdict, PoolAnswers({"usable": 2, "factual": 2}, 5).verdict
        ('keep', 'undecided')
        """
        usable = self.counts.get(USABLE, 0)
        if 2 * usable > self.wanted:
            return "keep"
        return "drop" if 2 * (self.n - usable) > self.wanted else "undecided"

    @property
    def reasons(self) -> dict[str, int]:
        """What is wrong with the item, by how many raters, the most named first."""
        wrong = {answer: count for answer, count in self.counts.items() if answer != USABLE}
        return dict(sorted(wrong.items(), key=lambda pair: -pair[1]))


@dataclass(frozen=True, slots=True)
class Decision:
    """What the lead decided on an item."""

    verdict: Verdict
    note: str
    decided_at: float


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """An item of a pilot.

    suggested : by the rule; gap : the largest difference of two pools' means; decision : of the lead, which counts
    """

    item_id: str
    suggested: Verdict
    pools: Mapping[str, PoolAnswers]
    gap: float | None = None
    decision: Decision | None = None

    @property
    def verdict(self) -> Verdict:
        """What holds: the lead's decision, else the suggestion."""
        return self.decision.verdict if self.decision else self.suggested


def suggested(pools: Mapping[str, PoolAnswers]) -> Verdict:
    """drop where most raters of any pool find a fault, keep where most of every pool find none, else undecided."""
    found = {answers.verdict for answers in pools.values()}
    if "drop" in found:
        return "drop"
    return "keep" if found == {"keep"} else "undecided"


def item_verdicts(collected: Collected, decided: Mapping[str, Decision]) -> list[ItemVerdict]:
    """Every item of a batch in its order: what is suggested, what was decided, and the numbers beside."""
    usable, means, subjective = _usable(collected), _means(collected), _subjective(collected)
    wanted = collected.study.raters_per_item
    found = []
    for item in collected.batch.spec.items:
        pools = {
            pool: PoolAnswers(
                usable.get((item, pool), {}), wanted, means.get((item, pool)), subjective.get((item, pool))
            )
            for pool in collected.pools
        }
        known = [answers.mean for answers in pools.values() if answers.mean is not None]
        gap = max(known) - min(known) if len(known) > 1 else None
        found.append(ItemVerdict(item, suggested(pools), pools, gap, decided.get(item)))
    return found


def verdicts_table(found: Sequence[ItemVerdict]) -> pl.DataFrame:
    """A row an item: what holds, what is suggested, the lead's note, and for each pool who said what.

    ``faults.<pool>`` : ``factual=2;same=1``
    """
    rows: list[dict[str, str | int | float | bool | None]] = []
    for one in found:
        row: dict[str, str | int | float | bool | None] = {
            "item_id": one.item_id,
            "verdict": one.verdict,
            "suggested": one.suggested,
            "decided_by_lead": one.decision is not None,
            "note": one.decision.note if one.decision else None,
            "gap": one.gap,
        }
        for pool, answers in one.pools.items():
            row |= {f"usable.{pool}": answers.counts.get(USABLE, 0), f"raters.{pool}": answers.n}
            row[f"faults.{pool}"] = ";".join(f"{why}={count}" for why, count in answers.reasons.items()) or None
            row |= {f"mean.{pool}": answers.mean, f"subjective.{pool}": answers.subjective}
        rows.append(row)
    texts = {"note": pl.String, "gap": pl.Float64}
    kinds = {"faults": pl.String, "mean": pl.Float64, "subjective": pl.Float64}
    texts |= {name: kinds[name.split(".")[0]] for name in rows[0] if name.split(".")[0] in kinds}
    return pl.DataFrame(rows, schema_overrides=texts).with_columns(no_formula(pl.col("note")))


def decisions(database: Database, batch_id: int) -> dict[str, Decision]:
    """item -> what the lead decided."""
    with database.reading() as connection:
        rows = connection.execute(select(table).where(table.c.batch_id == batch_id)).all()
    return {row.item_id: Decision(_known(row.verdict), row.note, row.decided_at) for row in rows}


def decide(database: Database, batch_id: int, item_id: str, verdict: str | None, *, note: str = "", now: float) -> None:
    """Keep the lead's decision on an item; None takes it back.

    Raises NotFoundError for a batch or an item that there is not, UsageError for another verdict or a batch that is
    no pilot.
    """
    spec = batch(database, batch_id).spec
    if spec.kind != "pilot":
        raise UsageError("lead.verdict.no_pilot", batch=batch_id)
    if item_id not in spec.items:
        raise NotFoundError("lead.verdict.no_item", batch=batch_id, value=item_id)
    if not is_text(note, MOST_NOTE):
        raise UsageError("lead.verdict.long_note", limit=MOST_NOTE)
    here = (table.c.batch_id == batch_id) & (table.c.item_id == item_id)
    if verdict is None:
        with database.writing() as connection:
            connection.execute(delete(table).where(here))
        return
    values = {"verdict": _known(verdict), "note": note, "decided_at": now}
    with database.writing() as connection:
        inserted = insert_into(connection, table).values(batch_id=batch_id, item_id=item_id, **values)
        connection.execute(inserted.on_conflict_do_update(index_elements=["batch_id", "item_id"], set_=values))


def _known(verdict: str) -> Verdict:
    for known in VERDICTS:
        if verdict == known:
            return known
    raise UsageError("lead.verdict.unknown", value=verdict, known=", ".join(VERDICTS))


def _usable(collected: Collected) -> dict[tuple[str, str], Counter[str]]:
    """(item, pool) -> answers to the question of a pilot."""
    told = collected.answered("item", states=("done",)).filter(pl.col("question") == USABLE)
    found: dict[tuple[str, str], Counter[str]] = {}
    for item, pool, value in told.select("item_id", "pool", "value").iter_rows():
        found.setdefault((item, pool), Counter())[value] += 1
    return found


def _numbers(collected: Collected, role: str) -> pl.DataFrame:
    """Answers to the question of a role as numbers: item_id, pool, number."""
    names = [asked.id for asked in collected.study.questions if asked.role == role and asked.low is not None]
    told = collected.answered("item", states=("done",)).filter(
        pl.col("question").is_in(names[:1]) & (pl.col("value") != NOT_APPLICABLE)
    )
    return told.select("item_id", "pool", pl.col("value").cast(pl.Float64).alias("number"))


def _means(collected: Collected) -> dict[tuple[str, str], float]:
    means = _numbers(collected, "evaluation").group_by("item_id", "pool").agg(pl.col("number").mean())
    return {(item, pool): mean for item, pool, mean in means.iter_rows()}


def _subjective(collected: Collected) -> dict[tuple[str, str], float]:
    """Share of raters who call the question subjective: in the lowest quarter of the scale, as the audit counts."""
    asked = next((one for one in collected.study.questions if one.role == "subjectivity"), None)
    if asked is None or asked.low is None or asked.high is None:
        return {}
    cut = Scale(asked.level, asked.low, asked.high).low_cut
    said = _numbers(collected, "subjectivity").group_by("item_id", "pool").agg((pl.col("number") <= cut).mean())
    return {(item, pool): share for item, pool, share in said.iter_rows()}
