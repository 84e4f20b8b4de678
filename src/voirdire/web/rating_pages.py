"""The rater's pages: joining by a link, the first words, rating, the end."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from voirdire.annotation.assignments import assign
from voirdire.annotation.nouns import Rater
from voirdire.annotation.raters import by_resume, seen, set_language
from voirdire.annotation.refusals import Closed, Full
from voirdire.annotation.wording import said
from voirdire.texts import catalogue, ui_of
from voirdire.web.joining import Door, barred, door_of, gaps, joined, known_here, paragraphs
from voirdire.web.pages import page, ui_language
from voirdire.web.rating_view import Desk, desk_of, items_told, language_names, session_told
from voirdire.web.screening import Screened, read_form
from voirdire.web.security import (
    RaterForm,
    RaterHere,
    VisitorForm,
    count_guess,
    csrf_token,
    keep_session,
    new_session,
    rater_of,
    refuse_guessers,
    session_of,
    start_session,
)
from voirdire.web.service import service_of

router = APIRouter(include_in_schema=False)
AHEAD = 6
KNOWN, NEW = "known", "new"
"""What somebody says who opens a link by which somebody joined in this browser."""

SAYINGS = (
    "saved", "saving", "waiting", "waiting_busy", "progress", "item", "minutes", "moment", "missing", "complete",
    "complete_writing", "undone", "refused", "nobody", "somebody", "not_now", "copied", "unset", "closed",
    "waiting_closed",
)  # fmt: skip
"""Sentences of the script, keys of ``rating.say``."""


@router.get("/join/{token}")
def joining(request: Request, token: str) -> Response:
    """The page of an invitation; those who are known go straight to their items."""
    refuse_guessers(request)
    door = door_of(request, token)
    if door is None:
        return _stop(request, "unknown", ui_language(request), status=404)
    known = known_here(request, door)
    said_who = request.query_params.get("as")
    if known is not None:
        alone = door.external or door.invitation.most_raters == 1 or known.state == "screened_out"
        if alone or said_who == KNOWN:
            return _enter(request, known, "/rate")
        if said_who != NEW:
            return _stop(request, "again", door.ui, token=token)
    why = barred(service_of(request), door)
    return _stop(request, why, door.ui, status=409) if why else _form(request, door)


@router.post("/join/{token}")
def join_by_form(request: Request, token: str, form: VisitorForm) -> Response:
    """Take part: consent and screening, then the first words."""
    refuse_guessers(request)
    door = door_of(request, token, form)
    if door is None:
        return _stop(request, "unknown", ui_language(request), status=404)
    if "switch" in form:
        return _form(request, door)
    screened = read_form(door.batch.spec.study.screening, form)
    if not screened.complete:
        return _form(request, door, screened)
    if known_here(request, door) is None and barred(service_of(request), door) == "nothing":
        return _stop(request, "nothing", door.ui, status=409)
    try:
        rater = joined(service_of(request), door, screened)
    except Full:
        return _stop(request, "full", door.ui, status=409)
    except Closed:
        return _stop(request, "closed", door.ui, status=409)
    return _enter(request, rater, "/welcome")


@router.get("/resume/{token}")
def resume(request: Request, token: str) -> Response:
    """Go on with this device."""
    refuse_guessers(request)
    service = service_of(request)
    found = by_resume(service.database, token)
    if found is None:
        count_guess(request)
        return _stop(request, "unknown", ui_language(request), status=404, more="unknown_resume")
    return _enter(request, found, "/rate")


@router.get("/welcome")
def welcome(request: Request, rater: RaterHere) -> Response:
    """The first words, before the first item."""
    desk = _desk(request, rater)
    return _stopped(request, desk) or _page(request, desk, "welcome", words=paragraphs(_said(desk, "welcome")))


@router.get("/rate")
def rate(request: Request, rater: RaterHere, at: int = 0) -> Response:
    """The rating page. at : number of the item to begin with, else the first that is not complete."""
    desk = _desk(request, rater)
    stopped = _stopped(request, desk)
    if stopped is not None:
        return stopped
    session = session_of(request, "rater")
    assert session is not None
    told = session_told(desk, csrf_token(service_of(request), session))
    total = len(desk.work)
    number = at if 1 <= at <= total else (told.progress.first_open or total + 1)
    start = max(1, min(number, total) - 1)
    window = items_told(desk, start, AHEAD + 1)
    first = next((item for item in window.items if item.number == number), None)
    ui = ui_of(rater.language)
    page_data = {
        "root": service_of(request).settings.root,
        "at": number,
        "ahead": AHEAD - 1,
        "words": {name: catalogue(ui)[f"rating.say.{name}"] for name in SAYINGS},
        "session": told.model_dump(),
        "window": window.model_dump(),
    }
    words = paragraphs(_said(desk, "welcome"))
    return _page(
        request, desk, "rate", questions=told.questions, page_data=page_data, words=words, first=first, done=desk.done
    )


@router.get("/done")
def done(request: Request, rater: RaterHere) -> Response:
    """The end: thanks, and what a recruiting platform wants to have."""
    desk = desk_of(service_of(request), rater)
    if rater.state == "screened_out":
        return _stop(request, "screened", ui_of(rater.language))
    if not _at_end(desk):
        return _go(request, "/rate")
    plan = desk.plan
    ends = {"code": plan.completion_code, "link": plan.completion_url, "is_open": desk.batch.open}
    return _page(request, desk, "done", done=desk.done, **ends)


@router.post("/language")
def switch_language(request: Request, form: RaterForm) -> Response:
    """Read the pages in another language of the pool, and go back to the same page."""
    rater = rater_of(request)
    set_language(service_of(request).database, rater.id, form.get("language", ""))
    back = form.get("back", "")
    return _go(request, f"/{back}" if back in ("welcome", "done") else "/rate")


def _desk(request: Request, rater: Rater) -> Desk:
    """The rater's place of work, with as many items as there are for them."""
    service = service_of(request)
    desk = desk_of(service, rater)
    if rater.state != "active" or not desk.batch.open:
        return desk
    seen(service.database, rater.id, service.now())
    assign(service.database, rater.id, service.now())
    return desk_of(service, rater)


def _stopped(request: Request, desk: Desk) -> Response | None:
    """The page for a rater who cannot rate now; None for one who can."""
    ui = ui_of(desk.rater.language)
    if desk.rater.state == "screened_out":
        return _stop(request, "screened", ui)
    if not desk.batch.open:
        return _go(request, "/done") if _at_end(desk) else _stop(request, "closed", ui)
    return None if desk.work else _stop(request, "nothing", ui)


def _at_end(desk: Desk) -> bool:
    """Whether the rater has finished, or had only to say so when the batch was closed."""
    return desk.rater.state == "finished" or (not desk.batch.open and desk.complete)


def _enter(request: Request, rater: Rater, to: str) -> Response:
    """Begin the rater's session and go on."""
    response = _go(request, to)
    session = session_of(request, "rater")
    if session is None or session.who != rater.id:
        start_session(response, service_of(request), "rater", rater.id)
    return response


def _go(request: Request, to: str) -> Response:
    return RedirectResponse(service_of(request).settings.root + to, status_code=303)


def _stop(request: Request, why: str, ui: str, *, status: int = 200, more: str = "", token: str = "") -> HTMLResponse:
    """A page that only says why it does not go on."""
    heading, sentence = f"rating.stop.{why}_heading", f"rating.stop.{more or why}"
    said = {"why": why, "heading": heading, "sentence": sentence, "token": token}
    return page(request, "rating/stop.html.jinja", ui, status=status, **said)


def _form(request: Request, door: Door, screened: Screened | None = None) -> Response:
    service = service_of(request)
    session = session_of(request, "visitor") or new_session("visitor")
    response = page(
        request,
        "rating/join.html.jinja",
        door.ui,
        status=422 if screened else 200,
        title=said(door.plan.title, door.language),
        content_lang=door.language,
        languages=language_names(door.plan.languages),
        consent=paragraphs(said(door.plan.consent, door.language)),
        agree=said(door.plan.agree, door.language),
        screening=door.shown(screened),
        agreed=door.form.get("consent") == "yes",
        gaps=gaps(door, screened) if screened else [],
        csrf=csrf_token(service, session),
        query=request.url.query,
    )
    keep_session(response, service, session)
    return response


def _page(request: Request, desk: Desk, name: str, **fields: Any) -> HTMLResponse:
    """A page of a rater who is known."""
    session = session_of(request, "rater")
    assert session is not None
    return page(
        request,
        f"rating/{name}.html.jinja",
        ui_of(desk.rater.language),
        title=said(desk.plan.title, desk.rater.language),
        content_lang=desk.rater.language,
        languages=language_names(desk.plan.languages),
        csrf=csrf_token(service_of(request), session),
        total=len(desk.work),
        **fields,
    )


def _said(desk: Desk, name: str) -> str:
    """A text of the pool in the rater's language."""
    return said(getattr(desk.plan, name), desk.rater.language)
