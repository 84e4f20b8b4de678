"""The lead's pages: entering, batches, progress, links, raters. What ratings say stands in ``lead_results``."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from voirdire.annotation.batches import batches, create_batch, set_open
from voirdire.annotation.invitations import invitations, invite, revoke
from voirdire.annotation.raters import delete_rater
from voirdire.annotation.refusals import Deleted
from voirdire.annotation.service_state import check_lead
from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES, text
from voirdire.web import lead_results
from voirdire.web.batch_form import known_of, parts_of, spec_of_form
from voirdire.web.lead_access import (
    OUR_PAGE,
    BatchId,
    LeadPage,
    go,
    known_batch,
    known_rater,
    lead_page,
    live_of,
)
from voirdire.web.lead_view import RULES, day, link_told, progress_told
from voirdire.web.pages import LANGUAGE_COOKIE, page, ui_language
from voirdire.web.security import (
    LeadForm,
    Session,
    VisitorForm,
    count_guess,
    csrf_token,
    end_session,
    keep_session,
    lead_form,
    lead_of,
    new_session,
    refuse_guessers,
    session_of,
    start_session,
)
from voirdire.web.service import service_of

router = APIRouter(include_in_schema=False)
MOST_PEOPLE, LONGEST_SECRET = 100_000, 500
YEAR = 365 * 86400


@router.get("/lead/enter")
def entering(request: Request) -> Response:
    """Where the secret is asked for; a script takes it from the link."""
    if session_of(request, "lead") is not None:
        return go(request, "/lead#main")  # a fragment of its own, or the browser would keep the secret in the address
    return _ask(request)


@router.post("/lead/enter")
def enter(request: Request, form: VisitorForm) -> Response:
    """Begin the lead's session, for the right secret."""
    refuse_guessers(request)
    service = service_of(request)
    secret = form.get("secret", "").strip().removeprefix("#")[:LONGEST_SECRET]
    if not check_lead(service.database, secret):
        count_guess(request)
        return _ask(request, wrong=True)
    response = go(request, "/lead")
    start_session(response, service, "lead")
    return response


@router.post("/lead/leave", dependencies=[Depends(lead_form)])
def leave(request: Request) -> Response:
    """End the lead's session."""
    response = go(request, "/lead/enter")
    end_session(response, service_of(request), "lead")
    return response


@router.post("/lead/language")
def language(request: Request, form: LeadForm) -> Response:
    """Read the pages in another language, and go back."""
    back, chosen = form.get("back", ""), form.get("language", "")
    response = go(request, back if OUR_PAGE.fullmatch(back) else "/lead")
    if chosen in LANGUAGES:
        settings = service_of(request).settings
        place, secure = settings.root or "/", settings.secure
        response.set_cookie(LANGUAGE_COOKIE, chosen, YEAR, path=place, secure=secure, httponly=True, samesite="lax")
    return response


@router.get("/lead")
def overview(request: Request, session: LeadPage) -> Response:
    """All batches and how far they are."""
    service, live = service_of(request), live_of(request)
    lang = ui_language(request)
    shown = [
        {
            "id": batch.id,
            "name": batch.spec.name,
            "kind": text(f"lead.kind.{batch.spec.kind}", lang),
            "state": text(f"lead.state.{'open' if batch.open else 'closed'}", lang),
            "made": text("lead.overview.made", lang, date=day(batch.created_at)),
            "pools": live.progress(batch.id).pools,
        }
        for batch in reversed(batches(service.database))
    ]
    return lead_page(request, session, "overview", batches=shown, study=service.study, count=len(service.shown.items))


@router.get("/lead/batches/new")
def new(request: Request, session: LeadPage) -> Response:
    """The form of a new batch."""
    study = service_of(request).study
    first = {
        "raters_per_item": str(study.raters_per_item),
        "items_per_rater": str(study.items_per_rater or ""),
        "repeats": str(study.repeats),
        "kind": "rating",
    }
    return _new(request, session, first, {})


@router.post("/lead/batches")
def make(request: Request, form: LeadForm) -> Response:
    """Make a batch, or show the form again with what is wrong."""
    service = service_of(request)
    try:
        made = create_batch(service.database, spec_of_form(form, service.shown, service.study), service.now())
    except UsageError as error:
        return _new(request, lead_of(request), form, form, error)
    return go(request, f"/lead/batches/{made.id}")


@router.get("/lead/batches/{number}")
def one(request: Request, session: LeadPage, number: BatchId) -> Response:
    """A batch: progress, raters, links."""
    return _batch(request, session, number)


@router.post("/lead/batches/{number}/state")
def state(request: Request, form: LeadForm, number: BatchId) -> Response:
    """Close a batch or open it again."""
    known_batch(request, number)
    service = service_of(request)
    set_open(service.database, number, form.get("open") == "yes", service.now())
    return go(request, f"/lead/batches/{number}")


@router.post("/lead/batches/{number}/links")
def link(request: Request, form: LeadForm, number: BatchId) -> Response:
    """Make an invitation link and show it, this once."""
    session = lead_of(request)
    known_batch(request, number)
    service = service_of(request)
    try:
        most, label = _most(form.get("most", "")), form.get("label", "").strip()
        pool = form.get("pool", "")
        _, token = invite(service.database, number, pool, label=label, most_raters=most, now=service.now())
    except UsageError as error:
        return _batch(request, session, number, status=422, problem=error.message(ui_language(request)), form=form)
    made = {"pool": pool, "url": f"{service.settings.url}/join/{token}", "personal": most == 1}
    return _batch(request, session, number, made=made)


@router.post("/lead/batches/{number}/links/{link_id}/revoke", dependencies=[Depends(lead_form)])
def end_link(request: Request, number: BatchId, link_id: BatchId) -> Response:
    """Revoke an invitation link."""
    service = service_of(request)
    known_batch(request, number)
    if link_id in {link.id for link in invitations(service.database, number)}:
        revoke(service.database, link_id, service.now())
    return go(request, f"/lead/batches/{number}#links")


RaterId = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


@router.get("/lead/raters/{rater_id}/delete")
def ask_to_delete(request: Request, session: LeadPage, rater_id: RaterId) -> Response:
    """What would be deleted, and whether it shall be."""
    rater = known_rater(request, rater_id)
    progress = live_of(request).progress(rater.batch)
    told = next((one for one in progress.raters if one.id == rater_id), None)
    counts = {"done": told.done if told else 0, "total": told.total if told else 0}
    return lead_page(request, session, "delete", rater=rater, label=told.label if told else "", **counts)


@router.post("/lead/raters/{rater_id}/delete", dependencies=[Depends(lead_form)])
def delete(request: Request, rater_id: RaterId) -> Response:
    """Delete a rater's data."""
    service, rater = service_of(request), known_rater(request, rater_id)
    try:
        gone = delete_rater(service.database, rater_id, service.now())
    except Deleted as error:
        raise UsageError("lead.delete.unknown") from error
    live_of(request).forget(rater.batch)
    counts = {"answers": gone.answers, "assignments": gone.assignments}
    said = text("lead.delete.done", ui_language(request), id=rater_id, **counts)
    return _batch(request, lead_of(request), rater.batch, said=said)


def _ask(request: Request, *, wrong: bool = False) -> Response:
    service = service_of(request)
    session = session_of(request, "visitor") or new_session("visitor")
    response = page(
        request,
        "lead/enter.html.jinja",
        ui_language(request),
        status=403 if wrong else 200,
        csrf=csrf_token(service, session),
        wrong=wrong,
    )
    keep_session(response, service, session)
    return response


def _new(
    request: Request, session: Session, values: dict[str, str], ticked: dict[str, str], error: UsageError | None = None
) -> Response:
    service = service_of(request)
    problem = error.message(ui_language(request)) if error else ""
    parts = parts_of(service.shown, service.study, ticked)
    status = 422 if error else 200
    fields = {"values": values, "parts": parts, "problem": problem, "study": service.study}
    gold = known_of(service.shown, service.study).told(ui_language(request))
    return lead_page(request, session, "new", status=status, gold=gold, **fields)


def _batch(
    request: Request,
    session: Session,
    number: int,
    *,
    status: int = 200,
    problem: str = "",
    said: str = "",
    made: dict[str, object] | None = None,
    form: dict[str, str] | None = None,
) -> Response:
    """The page of a batch, with what has just happened at its top."""
    service, lang = service_of(request), ui_language(request)
    batch = known_batch(request, number)
    told = progress_told(live_of(request).progress(number), len(batch.spec.items), service.now(), lang)
    links = [link_told(one, lang) for one in invitations(service.database, number)]
    return lead_page(
        request,
        session,
        "batch",
        status=status,
        batch=batch,
        made_on=day(batch.created_at),
        kind=text(f"lead.kind.{batch.spec.kind}", lang),
        progress=told,
        links=links,
        rules=[text(f"lead.rule.{rule}", lang) for rule in RULES],
        problem=problem,
        said=said,
        made=made,
        form=form or {},
    )


def _most(written: str) -> int | None:
    written = written.strip()
    if not written:
        return None
    value = int(written) if re.fullmatch(r"[0-9]{1,6}", written) else 0
    if not 1 <= value <= MOST_PEOPLE:
        raise UsageError("lead.invite.most_bad", value=written, limit=MOST_PEOPLE)
    return value


router.include_router(lead_results.router)
