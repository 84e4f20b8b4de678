"""Pages from templates, and errors as pages or as JSON."""

from __future__ import annotations

import hashlib
import json
import logging
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from voirdire.annotation.database import Unavailable
from voirdire.errors import VoirdireError
from voirdire.reporting.templating import HTML_LANG, environment
from voirdire.texts import LANGUAGES, text, ui_of
from voirdire.web.security import guarding
from voirdire.web.service import host_of

log = logging.getLogger(__name__)
LANGUAGE_COOKIE = "voirdire-lang"
RETRY_SECONDS = 2


def page(request: Request, template: str, lang: str, *, status: int = 200, **fields: Any) -> HTMLResponse:
    """A page. ``t(key, **fields)`` in the template is the sentence of the language; everything is escaped."""
    settings = host_of(request).settings

    def sentence(key: str, **named: Any) -> str:
        return text(key, lang, **named)

    body = (
        environment("voirdire.web")
        .get_template(template)
        .render(
            t=sentence,
            lang=lang,
            html_lang=HTML_LANG.get(lang, lang),
            root=settings.root,
            service_title=sentence(host_of(request).title),
            service_home=host_of(request).home,
            static=lambda name: f"{settings.root}/static/{name}?{_digest(name)}",
            **fields,
        )
    )
    return HTMLResponse(body, status)


def ui_language(request: Request, languages: tuple[str, ...] = LANGUAGES) -> str:
    """The language of our sentences: a known rater's, else of one's choice, else of one's browser."""
    rater = getattr(request.state, "rater_language", None)
    if rater is not None:
        return ui_of(rater)
    chosen = request.query_params.get("lang") or request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in languages:
        return chosen
    for wanted in request.headers.get("accept-language", "").split(","):
        code = wanted.split(";")[0].strip().split("-")[0].lower()
        if code in languages:
            return code
    default = host_of(request).settings.lang
    return default if default in languages else languages[0]


@cache
def _digest(name: str) -> str:
    return hashlib.sha256(files("voirdire.web").joinpath("static", name).read_bytes()).hexdigest()[:12]


def wants_json(request: Request) -> bool:
    """Whether a request is one of a script."""
    path = request.url.path.removeprefix(host_of(request).settings.root)
    return path.startswith(("/api/", "/lead/api/"))


async def told(request: Request, error: Exception) -> Response:
    """An error of ours in the language of the reader; what is wrong with the database is for the log alone."""
    assert isinstance(error, VoirdireError)
    lang = ui_language(request)
    if isinstance(error, Unavailable):
        log.warning("%s", error)
        status, key, sentence = 503, "web.unavailable", text("web.unavailable", lang)
    else:
        status, key, sentence = int(getattr(error, "status", 400)), error.key, error.message(lang)
    response = _answer(request, status, key, sentence)
    if status in (429, 503):
        response.headers["retry-after"] = str(RETRY_SECONDS if status == 503 else 60)
    return response


async def not_found(request: Request, error: Exception) -> Response:
    """A page that does not exist, a method that it does not have, a body that is too large."""
    assert isinstance(error, HTTPException)
    key = {404: "web.not_found", 413: "web.too_large"}.get(error.status_code, "web.not_so")
    response = _answer(request, error.status_code, key, text(key, ui_language(request)))
    response.headers.update(error.headers or {})
    return response


async def not_valid(request: Request, error: Exception) -> Response:
    """A request whose parts are not as the schema says."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return _answer(request, 422, "web.not_valid", text("web.not_valid", ui_language(request), where=where))


async def fault(request: Request, _: Exception) -> Response:
    """A fault of ours: nothing of it is shown. The response is made outside of what guards the others."""
    response = _answer(request, 500, "web.fault", text("web.fault", ui_language(request)))
    response.headers.update(guarding(secure=host_of(request).settings.secure))
    return response


def _answer(request: Request, status: int, key: str, sentence: str) -> Response:
    if wants_json(request):
        return JSONResponse(json.loads(json.dumps({"error": {"key": key, "message": sentence}})), status)
    return page(request, "problem.html.jinja", ui_language(request), status=status, sentence=sentence)
