"""What the lead's pages and endpoints share: who may ask, which batch is meant, and what is known of it."""

from __future__ import annotations

import re
import threading
from typing import Annotated, Any

from fastapi import Depends, Path
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from voirdire.annotation.batches import batch
from voirdire.annotation.nouns import Batch, Rater
from voirdire.annotation.raters import rater
from voirdire.errors import NotFoundError
from voirdire.texts import text
from voirdire.web.live import Live
from voirdire.web.pages import page, ui_language
from voirdire.web.security import Session, csrf_token, session_of
from voirdire.web.service import Service, service_of

NAMES = {"en": "English", "zh": "中文"}
OUR_PAGE = re.compile(r"/lead(/[A-Za-z0-9_-]+)*")
_making = threading.Lock()

BatchId = Annotated[int, Path(ge=1, le=2**31 - 1)]


def lead_here(request: Request) -> Session:
    """The lead's session, for pages; everybody else is led to where the secret is asked for."""
    session = session_of(request, "lead")
    if session is None:
        raise HTTPException(303, headers={"location": f"{service_of(request).settings.root}/lead/enter"})
    return session


LeadPage = Annotated[Session, Depends(lead_here)]


def live_of(request: Request) -> Live:
    """What this process knows of its batches."""
    state = request.app.state
    with _making:
        if not hasattr(state, "live"):
            service = service_of(request)
            state.live = Live(service.database, service.shown, service.now)
    found: Live = state.live
    return found


def known_batch(request: Request, number: int) -> Batch:
    """The batch of a number, or the page that says that there is none."""
    try:
        return batch(service_of(request).database, number)
    except NotFoundError as error:
        raise HTTPException(404) from error


def known_rater(request: Request, rater_id: str) -> Rater:
    """A rater whose data are there, or the page that says that there is none."""
    found = rater(service_of(request).database, rater_id)
    if found is None or found.state == "deleted":
        raise HTTPException(404)
    return found


def lead_page(request: Request, session: Session, template: str, *, status: int = 200, **fields: Any) -> HTMLResponse:
    """A page of the lead."""
    service = service_of(request)
    lang = ui_language(request)
    path = request.url.path.removeprefix(service.settings.root)
    return page(
        request,
        f"lead/{template}.html.jinja",
        lang,
        status=status,
        csrf=csrf_token(service, session),
        board=board_title(service, lang),
        languages=[{"code": code, "name": name} for code, name in NAMES.items()],
        back=path if request.method == "GET" and OUR_PAGE.fullmatch(path) else "/lead",
        **fields,
    )


def board_title(service: Service, lang: str) -> str:
    """What the lead's pages are called: by the study, with the corpus beside it where that has another name."""
    study, corpus = service.study.name, service.shown.name
    key = "lead.title" if study == corpus else "lead.title_study"
    return text(key, lang, corpus=corpus, study=study)


def go(request: Request, to: str) -> RedirectResponse:
    """Go on to a page of ours."""
    return RedirectResponse(service_of(request).settings.root + to, status_code=303)
