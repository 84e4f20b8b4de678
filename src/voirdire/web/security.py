"""Who asks, and whether the question may change anything: sessions, forgery, headers, sizes.

A session is a signed cookie (HttpOnly, SameSite=Lax) that holds a random number and who it is: a visitor, a rater, an
author or the lead. Requests that change something carry a token made from that number, and come from our own pages.
Source: OWASP Cross-Site Request Forgery Prevention and Session Management cheat sheets.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import Depends, Header
from itsdangerous import BadData
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voirdire.annotation.author_links import author_mark, name_of
from voirdire.annotation.invitations import guessed_wrong, too_many_guesses
from voirdire.annotation.nouns import Rater
from voirdire.annotation.raters import rater
from voirdire.annotation.service_state import lead_mark
from voirdire.errors import UsageError
from voirdire.web.service import Served, served_of

Role = Literal["visitor", "rater", "author", "lead"]
AGE: dict[Role, int] = {"visitor": 3600, "rater": 60 * 86400, "author": 30 * 86400, "lead": 12 * 3600}
MAX_BODY = 64 * 1024
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
# Without any referrer browsers send "null" for the origin of our own forms, which is also what foreign pages can send.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "font-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}


class Forbidden(UsageError):  # noqa: N818 - named for what it says, as the response is
    """A request that is not allowed; ``status`` is that of the response."""

    def __init__(self, key: str, status: int = 403, **fields: Any) -> None:
        super().__init__(key, **fields)
        self.status = status


@dataclass(frozen=True, slots=True)
class Session:
    """Who asks.

    nonce : random, ties forms to this session
    who : a rater's id, for the lead the mark of the secret, for an author the mark of the link and the name, else empty
    """

    role: Role
    nonce: str
    who: str = ""


def cookie_name(service: Served, role: Role) -> str:
    """The name of a session's cookie; behind https one that only this host may set."""
    own = service.settings.secure and not service.settings.root
    return f"__Host-{service.name}-{role}" if own else f"{service.name}-{role}"


def session_of(request: Request, role: Role) -> Session | None:
    """The session of a role that a request carries; None without one, and for one that is forged or too old.

    The lead's ends with the lead's secret too, and an author's with the link.
    """
    return _read(request, role, cookie_name(served_of(request), role))


def earlier_session(request: Request, batch: int) -> Session | None:
    """The session of whoever rated a batch in this browser, also where another batch's has begun since."""
    return _read(request, "rater", batch_cookie(served_of(request), batch))


def batch_cookie(service: Served, batch: int) -> str:
    """The name of the cookie that keeps a rater's session of a batch."""
    return f"{cookie_name(service, 'rater')}-{batch}"


def _read(request: Request, role: Role, name: str) -> Session | None:
    service, held = served_of(request), request.cookies.get(name)
    if not held:
        return None
    try:
        told = service.session_signer.loads(held, max_age=AGE[role])
    except BadData:
        return None
    if told.get("role") != role or not _still(service, role, told["who"]):
        return None
    return Session(role, told["nonce"], told["who"])


def _still(service: Served, role: Role, who: str) -> bool:
    """Whether the secret or the link by which a session began opens the pages today."""
    if role == "author":
        return bool(who) and who == author_mark(service.database, name_of(who))
    return role != "lead" or who == lead_mark(service.database)


def new_session(role: Role, who: str = "") -> Session:
    """A session that no response carries yet."""
    return Session(role, secrets.token_urlsafe(18), who)


def start_session(response: Response, service: Served, role: Role, who: str = "") -> Session:
    """A new session, set as a cookie of the response; a rater's is kept for its batch as well."""
    session = new_session(role, lead_mark(service.database) if role == "lead" else who)
    keep_session(response, service, session)
    known = rater(service.database, who) if role == "rater" else None
    if known is not None:
        keep_session(response, service, session, batch_cookie(service, known.batch))
    return session


def keep_session(response: Response, service: Served, session: Session, name: str = "") -> None:
    """Set a session as a cookie of the response. name : of the cookie, else the usual one of its role."""
    value = service.session_signer.dumps({"role": session.role, "nonce": session.nonce, "who": session.who})
    response.set_cookie(
        name or cookie_name(service, session.role),
        str(value),
        max_age=AGE[session.role],
        path=service.settings.root or "/",
        secure=service.settings.secure,
        httponly=True,
        samesite="lax",
    )


def end_session(response: Response, service: Served, role: Role) -> None:
    """Take a session's cookie away."""
    response.delete_cookie(cookie_name(service, role), path=service.settings.root or "/")


def csrf_token(service: Served, session: Session) -> str:
    """What requests that change something must carry in this session."""
    told = f"{session.role}:{session.who}:{session.nonce}".encode()
    return hmac.new(service.state.signing_key, told, hashlib.sha256).hexdigest()


def check_csrf(request: Request, session: Session, given: str | None) -> None:
    """Raise Forbidden unless the request comes from our own pages, in this session."""
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin" if origin is None else "")
    here = urlsplit(f"//{request.headers.get('host', '')}").netloc
    if site not in ("same-origin", "none") and urlsplit(origin or "").netloc != here:
        raise Forbidden("web.forged")
    if not hmac.compare_digest((given or "").encode(), csrf_token(served_of(request), session).encode()):
        raise Forbidden("web.forged")


def rater_of(request: Request) -> Rater:
    """The rater who asks, for endpoints that change nothing. Raises Forbidden (401)."""
    session = session_of(request, "rater")
    found = rater(served_of(request).database, session.who) if session else None
    if found is None or found.state == "deleted":
        raise Forbidden("web.no_rater", status=401)
    request.state.rater_language = found.language
    return found


def rater_acting(request: Request, x_csrf_token: Annotated[str | None, Header()] = None) -> Rater:
    """The rater who asks for a change, by JSON. Raises Forbidden."""
    found = rater_of(request)
    session = session_of(request, "rater")
    assert session is not None
    check_csrf(request, session, x_csrf_token)
    return found


async def rater_signed(request: Request, x_csrf_token: Annotated[str | None, Header()] = None) -> str:
    """The id of the rater whose session asks for a change, by JSON; the store says whether they are still there.

    For what is asked most often: it costs no thread and no look at the database. Raises Forbidden.
    """
    session = session_of(request, "rater")
    if session is None:
        raise Forbidden("web.no_rater", status=401)
    check_csrf(request, session, x_csrf_token)
    return session.who


def lead_of(request: Request) -> Session:
    """The lead's session. Raises Forbidden (401)."""
    session = session_of(request, "lead")
    if session is None:
        raise Forbidden("web.no_lead", status=401)
    return session


def lead_acting(request: Request, x_csrf_token: Annotated[str | None, Header()] = None) -> Session:
    """The lead's session, for a change by JSON. Raises Forbidden."""
    session = lead_of(request)
    check_csrf(request, session, x_csrf_token)
    return session


async def _form(request: Request, role: Role) -> dict[str, str]:
    """The fields of a form that one of our pages sent in this session; the last of several. Raises Forbidden."""
    session = session_of(request, role)
    if session is None:
        raise Forbidden("web.no_session", status=401)
    form = await request.form(max_files=0)
    fields = {name: str(value) for name, value in form.items()}
    check_csrf(request, session, fields.pop(CSRF_FIELD, None))
    return fields


async def visitor_form(request: Request) -> dict[str, str]:
    """A form of a visitor's session."""
    return await _form(request, "visitor")


async def rater_form(request: Request) -> dict[str, str]:
    """A form of a rater's session."""
    return await _form(request, "rater")


async def author_form(request: Request) -> dict[str, str]:
    """A form of an author's session."""
    return await _form(request, "author")


async def lead_form(request: Request) -> dict[str, str]:
    """A form of the lead's session."""
    return await _form(request, "lead")


def client_of(request: Request) -> str:
    """The address that a request comes from; behind a trusted proxy the one that the proxy names."""
    return request.client.host if request.client else "-"


def refuse_guessers(request: Request) -> None:
    """Raise Forbidden (429) for an address that has guessed too many tokens."""
    service = served_of(request)
    if too_many_guesses(service.database, client_of(request), service.now()):
        raise Forbidden("web.too_many_guesses", status=429)


def count_guess(request: Request) -> None:
    """Note that an address named a token that does not exist."""
    service = served_of(request)
    guessed_wrong(service.database, client_of(request), service.now())


RaterHere = Annotated[Rater, Depends(rater_of)]
RaterActing = Annotated[Rater, Depends(rater_acting)]
RaterSigned = Annotated[str, Depends(rater_signed)]
LeadHere = Annotated[Session, Depends(lead_of)]
LeadActing = Annotated[Session, Depends(lead_acting)]
VisitorForm = Annotated[dict[str, str], Depends(visitor_form)]
RaterForm = Annotated[dict[str, str], Depends(rater_form)]
AuthorForm = Annotated[dict[str, str], Depends(author_form)]
LeadForm = Annotated[dict[str, str], Depends(lead_form)]
"""Fields of a form; endpoints that take them are plain functions, so that the database never holds up the others."""


def guarding(*, secure: bool) -> dict[str, str]:
    """Headers of every response that does not say otherwise."""
    always = {**HEADERS, "cache-control": "no-store"}
    return {**always, "strict-transport-security": "max-age=31536000"} if secure else always


class Guard:
    """Around the whole application: headers of every response, and no body above ``most`` bytes.

    root : the path below which the application lies
    """

    def __init__(self, app: ASGIApp, *, secure: bool, root: str = "", most: int = MAX_BODY) -> None:
        self.app = app
        self.most = most
        self.root = root
        self.headers = guarding(secure=secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.root:
            scope["root_path"] = self.root
        length = dict(scope["headers"]).get(b"content-length", b"0")
        small = length.isdigit() and len(length) < 10 and int(length) <= self.most
        taken = 0 if small else self.most + 1

        async def limited() -> Message:
            nonlocal taken
            message: Message = {} if taken > self.most else await receive()
            taken += len(message.get("body", b""))
            if taken > self.most:
                raise HTTPException(413)
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, limited, guarded)
