"""Entering and leaving the authoring pages: the lead by the secret, authors by their links; the language of pages."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from voirdire.annotation.author_links import author_mark, author_of, name_of
from voirdire.annotation.service_state import check_lead
from voirdire.construction.build_file import read_build_file
from voirdire.construction.history import digest_of
from voirdire.texts import LANGUAGES, text
from voirdire.web.lead_access import NAMES
from voirdire.web.pages import LANGUAGE_COOKIE, page, ui_language
from voirdire.web.security import (
    AuthorForm,
    Forbidden,
    LeadForm,
    Role,
    Session,
    VisitorForm,
    author_form,
    count_guess,
    csrf_token,
    end_session,
    keep_session,
    lead_form,
    new_session,
    refuse_guessers,
    session_of,
    start_session,
)
from voirdire.web.workshop import Workshop, workshop_of

router = APIRouter(include_in_schema=False)
LONGEST_SECRET = 500
OUR_PAGE = re.compile(r"/(lead|author)(/[A-Za-z0-9._-]+)*")
YEAR = 365 * 86400
ENTERING = ("heading", "told", "paste", "wrong")


def lead_here(request: Request) -> Session:
    """The lead's session, for pages; everybody else is led to where the secret is asked for."""
    return _here(request, "lead")


def author_here(request: Request) -> Session:
    """An author's session, for pages; everybody else is led to where the link is asked for."""
    return _here(request, "author")


LeadPage = Annotated[Session, Depends(lead_here)]
AuthorPage = Annotated[Session, Depends(author_here)]


def person_of(request: Request) -> str:
    """The author who asks, by the link and not by what they say. Raises Forbidden for one who left the team."""
    session = session_of(request, "author")
    if session is None:
        raise Forbidden("web.no_session", status=401)
    name = name_of(session.who)
    if name not in read_build_file(workshop_of(request).folder).authors:
        raise Forbidden("authoring.page.not_in_team", status=403, value=name)
    return name


def shown(request: Request, role: Role, template: str, *, status: int = 200, **fields: Any) -> HTMLResponse:
    """A page of an author or of the lead, whose session is there."""
    workshop, session = workshop_of(request), session_of(request, role)
    if session is None:
        raise Forbidden("web.no_session", status=401)
    path = request.url.path.removeprefix(workshop.settings.root)
    return page(
        request,
        f"authoring/{template}.html.jinja",
        ui_language(request),
        status=status,
        csrf=csrf_token(workshop, session),
        role=role,
        person=name_of(session.who) if role == "author" else "",
        place=digest_of(str(workshop.folder.resolve()))[:16],
        languages=[{"code": code, "name": name} for code, name in NAMES.items()],
        back=path if request.method == "GET" and OUR_PAGE.fullmatch(path) else f"/{role}",
        **fields,
    )


def go(request: Request, to: str) -> RedirectResponse:
    """Go on to a page of ours."""
    return RedirectResponse(workshop_of(request).settings.root + to, status_code=303)


@router.get("/")
def front(request: Request) -> Response:
    """To the pages of whoever asks."""
    return go(request, "/lead" if session_of(request, "lead") else "/author")


@router.get("/lead/enter")
def lead_entering(request: Request) -> Response:
    """Where the secret is asked for; a script takes it from the link."""
    if session_of(request, "lead") is not None:
        return go(request, "/lead#main")  # a fragment of its own, or the browser would keep the secret in the address
    return _ask(request, "lead")


@router.get("/author/enter")
def author_entering(request: Request) -> Response:
    """Where what stands behind # in the link is asked for, also of who has a session: the link may be another's."""
    return _ask(request, "author")


@router.post("/lead/enter")
def lead_enters(request: Request, form: VisitorForm) -> Response:
    """Begin the lead's session, for the right secret."""
    refuse_guessers(request)
    workshop = workshop_of(request)
    return _entered(request, "lead", "" if check_lead(workshop.database, _secret(form)) else None)


@router.post("/author/enter")
def author_enters(request: Request, form: VisitorForm) -> Response:
    """Begin the session of the person whose link it is."""
    refuse_guessers(request)
    workshop = workshop_of(request)
    name = author_of(workshop.database, _secret(form))
    return _entered(request, "author", None if name is None else author_mark(workshop.database, name))


@router.post("/lead/leave", dependencies=[Depends(lead_form)])
def lead_leaves(request: Request) -> Response:
    """End the lead's session."""
    return _left(request, "lead")


@router.post("/author/leave", dependencies=[Depends(author_form)])
def author_leaves(request: Request) -> Response:
    """End the author's session."""
    return _left(request, "author")


@router.post("/lead/language")
def lead_language(request: Request, form: LeadForm) -> Response:
    """Read the pages in another language, and go back."""
    return _language(request, form, "/lead")


@router.post("/author/language")
def author_language(request: Request, form: AuthorForm) -> Response:
    """Read the pages in another language, and go back."""
    return _language(request, form, "/author")


def _here(request: Request, role: Role) -> Session:
    session = session_of(request, role)
    if session is None:
        raise HTTPException(303, headers={"location": f"{workshop_of(request).settings.root}/{role}/enter"})
    return session


def _secret(form: dict[str, str]) -> str:
    """What stands behind # in a link, or the link itself."""
    return form.get("secret", "").strip().rpartition("#")[2][:LONGEST_SECRET]


def _entered(request: Request, role: Role, who: str | None) -> Response:
    if who is None:
        count_guess(request)
        return _ask(request, role, wrong=True)
    response = go(request, f"/{role}")
    start_session(response, workshop_of(request), role, who)
    return response


def _left(request: Request, role: Role) -> Response:
    response = go(request, f"/{role}/enter")
    end_session(response, workshop_of(request), role)
    return response


def _language(request: Request, form: dict[str, str], home: str) -> Response:
    back, chosen = form.get("back", ""), form.get("language", "")
    response = go(request, back if OUR_PAGE.fullmatch(back) else home)
    if chosen in LANGUAGES:
        settings = workshop_of(request).settings
        place, secure = settings.root or "/", settings.secure
        response.set_cookie(LANGUAGE_COOKIE, chosen, YEAR, path=place, secure=secure, httponly=True, samesite="lax")
    return response


def _ask(request: Request, role: Role, *, wrong: bool = False) -> Response:
    workshop: Workshop = workshop_of(request)
    session = session_of(request, "visitor") or new_session("visitor")
    lang = ui_language(request)
    response = page(
        request,
        "authoring/enter.html.jinja",
        lang,
        status=403 if wrong else 200,
        csrf=csrf_token(workshop, session),
        role=role,
        words={name: text(f"authoring.enter.{role}_{name}", lang) for name in ENTERING},
        wrong=wrong,
    )
    keep_session(response, workshop, session)
    return response
