"""The lead's endpoints for scripts: progress, statistics, raters, verdicts, opening and closing, deletion."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from voirdire.annotation.batches import batches, set_open
from voirdire.annotation.nouns import Batch, BatchKind
from voirdire.annotation.raters import delete_rater
from voirdire.annotation.verdicts import MOST_NOTE, Verdict, decide, decisions, item_verdicts
from voirdire.web.lead_access import BatchId, known_batch, known_rater, live_of
from voirdire.web.lead_view import ProgressTold, RaterTold, progress_told
from voirdire.web.pages import ui_language
from voirdire.web.responses import refusals
from voirdire.web.results_view import StatisticsTold, statistics_told
from voirdire.web.security import lead_acting, lead_of
from voirdire.web.service import service_of

router = APIRouter(prefix="/lead/api", tags=["lead"])
READS = refusals(401, 404, 422, 503)
CHANGES = refusals(400, 401, 403, 404, 413, 422, 503)
Reading = [Depends(lead_of)]
Acting = [Depends(lead_acting)]


class BatchTold(BaseModel):
    """A batch. ``created_at`` : seconds since 1970."""

    id: int
    name: str
    kind: BatchKind
    open: bool
    created_at: float
    items: int
    pools: list[str]
    raters_per_item: int


class Opening(BaseModel):
    """Whether a batch takes answers and raters."""

    open: bool


class Deleted(BaseModel):
    """How many rows of a rater went."""

    answers: int
    assignments: int
    events: int


class PoolVerdict(BaseModel):
    """What a pool says of an item: answer -> raters, the mean of the evaluation, who calls it subjective."""

    pool: str
    counts: dict[str, int]
    wanted: int
    mean: float | None
    subjective: float | None


class VerdictTold(BaseModel):
    """The verdict on an item; ``decided`` : by the lead, else it is what raters suggest."""

    item_id: str
    verdict: Verdict
    suggested: Verdict
    decided: bool
    note: str
    gap: float | None
    pools: list[PoolVerdict]


class Decided(BaseModel):
    """The lead's decision on an item; without a verdict it is taken back."""

    item_id: str = Field(max_length=500)
    verdict: Literal["keep", "drop", "undecided"] | None
    note: str = Field("", max_length=MOST_NOTE)


@router.get("/batches", responses=refusals(401, 503), dependencies=Reading)
def all_batches(request: Request) -> list[BatchTold]:
    """All batches, the oldest first."""
    return [_told(batch) for batch in batches(service_of(request).database)]


@router.get("/batches/{number}", responses=READS, dependencies=Reading)
def one_batch(request: Request, number: BatchId) -> BatchTold:
    """One batch."""
    return _told(known_batch(request, number))


@router.put("/batches/{number}/open", responses=CHANGES, dependencies=Acting)
def opening(request: Request, number: BatchId, wanted: Opening) -> Opening:
    """Close a batch, or open it again."""
    known_batch(request, number)
    service = service_of(request)
    set_open(service.database, number, wanted.open, service.now())
    return wanted


@router.get("/batches/{number}/progress", responses=READS, dependencies=Reading)
def progress(request: Request, number: BatchId) -> ProgressTold:
    """How far a batch is, by pool and by rater, at most a few seconds old."""
    batch = known_batch(request, number)
    found = live_of(request).progress(number)
    return progress_told(found, len(batch.spec.items), service_of(request).now(), ui_language(request))


@router.get("/batches/{number}/raters", responses=READS, dependencies=Reading)
def all_raters(request: Request, number: BatchId) -> list[RaterTold]:
    """The raters of a batch with what should be looked at."""
    return progress(request, number).raters


@router.delete("/raters/{rater_id}", responses=CHANGES, dependencies=Acting)
def delete(request: Request, rater_id: Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]) -> Deleted:
    """Delete a rater's data; the places are free again."""
    service, rater = service_of(request), known_rater(request, rater_id)
    gone = delete_rater(service.database, rater_id, service.now())
    live_of(request).forget(rater.batch)
    return Deleted(answers=gone.answers, assignments=gone.assignments, events=gone.events)


@router.get("/batches/{number}/statistics", responses=READS, dependencies=Reading)
def statistics(request: Request, number: BatchId) -> StatisticsTold:
    """How it stands with the statistics; asking for it begins newer ones where there are newer ratings."""
    known_batch(request, number)
    return statistics_told(live_of(request).statistics(number), ui_language(request))


@router.get("/batches/{number}/verdicts", responses=READS, dependencies=Reading)
def verdicts(request: Request, number: BatchId) -> list[VerdictTold]:
    """The verdicts on the items of a batch, in their order."""
    known_batch(request, number)
    found = item_verdicts(live_of(request).collected(number), decisions(service_of(request).database, number))
    return [
        VerdictTold(
            item_id=one.item_id,
            verdict=one.verdict,
            suggested=one.suggested,
            decided=one.decision is not None,
            note=one.decision.note if one.decision else "",
            gap=one.gap,
            pools=[
                PoolVerdict(pool=pool, counts=dict(a.counts), wanted=a.wanted, mean=a.mean, subjective=a.subjective)
                for pool, a in one.pools.items()
            ],
        )
        for one in found
    ]


@router.put("/batches/{number}/verdicts", responses=CHANGES, dependencies=Acting)
def decision(request: Request, number: BatchId, decided: Decided) -> Decided:
    """Keep the lead's decision on an item of a pilot, or take it back."""
    service, batch = service_of(request), known_batch(request, number)
    if batch.spec.kind == "pilot" and decided.item_id not in batch.spec.items:
        raise HTTPException(404)
    decide(service.database, number, decided.item_id, decided.verdict, note=decided.note, now=service.now())
    return decided


def _told(batch: Batch) -> BatchTold:
    spec = batch.spec
    return BatchTold(
        id=batch.id,
        name=spec.name,
        kind=spec.kind,
        open=batch.open,
        created_at=batch.created_at,
        items=len(spec.items),
        pools=[pool.name for pool in spec.study.pools],
        raters_per_item=spec.study.raters_per_item,
    )
