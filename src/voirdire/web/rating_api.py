"""The rater's endpoints for scripts: the session, items in order, answers one by one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, finish
from voirdire.annotation.batches import batch
from voirdire.annotation.nouns import Given
from voirdire.annotation.raters import resume_link, seen, set_language
from voirdire.annotation.refusals import Closed
from voirdire.errors import UsageError
from voirdire.web.rating_models import (
    AnswerGiven,
    AnswerSaved,
    Finished,
    ItemsTold,
    LanguageWanted,
    ResumeLink,
    SessionTold,
)
from voirdire.web.rating_view import desk_of, items_told, session_told
from voirdire.web.responses import refusals
from voirdire.web.security import Forbidden, RaterActing, RaterHere, RaterSigned, csrf_token, session_of
from voirdire.web.service import service_of

router = APIRouter(prefix="/api", tags=["rating"])
MOST_ITEMS = 20
Start = Annotated[int, Query(ge=1, le=1_000_000)]
Count = Annotated[int, Query(ge=1, le=MOST_ITEMS)]


@router.get("/session", responses=refusals(401, 503))
def session(request: Request, rater: RaterHere) -> SessionTold:
    """Who rates and what is asked, in the rater's language."""
    service, here = service_of(request), session_of(request, "rater")
    if here is None:
        raise Forbidden("web.no_rater", status=401)
    return session_told(desk_of(service, rater), csrf_token(service, here))


@router.get("/items", responses=refusals(401, 422, 503))
def items(request: Request, rater: RaterHere, start: Start = 1, count: Count = 6) -> ItemsTold:
    """``count`` items in the rater's order from number ``start`` (from 1), with the answers that are saved."""
    service = service_of(request)
    seen(service.database, rater.id, service.now())
    return items_told(desk_of(service, rater), start, count)


@router.post("/answers", response_model=AnswerSaved, responses=refusals(400, 401, 403, 404, 409, 410, 413, 422, 503))
def answers(request: Request, rater: RaterSigned, given: AnswerGiven) -> Response:
    """Save one answer. Sending the same answer again with the same key changes nothing."""
    service = service_of(request)
    saved = save(service.database, rater, Given(**given.model_dump()), service.now())
    # made here, so that the framework does not start another thread for each answer
    told = AnswerSaved(applied=saved.applied, state=saved.state, done=saved.done, total=saved.total)
    return Response(told.model_dump_json(), media_type="application/json")


@router.post("/language", responses=refusals(400, 401, 403, 410, 413, 422, 503))
def language(request: Request, rater: RaterActing, wanted: LanguageWanted) -> LanguageWanted:
    """Read the pages in another language of the pool."""
    set_language(service_of(request).database, rater.id, wanted.language)
    return wanted


@router.post("/resume-link", responses=refusals(401, 403, 410, 413, 503))
def resume(request: Request, rater: RaterActing) -> ResumeLink:
    """A new link by which the rater goes on with another device; an earlier one ends."""
    service = service_of(request)
    here = service.settings.public_url or str(request.base_url)
    return ResumeLink(url=f"{here.rstrip('/')}/resume/{resume_link(service.database, rater.id)}")


@router.post("/finish", responses=refusals(401, 403, 409, 410, 413, 503))
def finishing(request: Request, rater: RaterActing) -> Finished:
    """Say that all items are complete and that the answers stand."""
    service = service_of(request)
    if not batch(service.database, rater.batch).open:
        raise Closed("annotation.closed", value=rater.batch)
    # what went back while the rater was away is theirs again where it is free
    assign(service.database, rater.id, service.now())
    desk = desk_of(service, rater)
    if not desk.complete:
        raise NotFinished("rating.not_finished", done=desk.done, total=len(desk.work))
    finish(service.database, rater.id, service.now())
    return Finished(url=f"{service.settings.root}/done")


class NotFinished(UsageError):  # noqa: N818 - what happened
    """Items are not complete."""

    status = 409
