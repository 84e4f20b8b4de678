"""A page of the reading room: the bar with its rooms, the languages, and the language kept in a cookie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from voirdire.texts import LANGUAGES
from voirdire.web.pages import LANGUAGE_COOKIE, page, ui_language
from voirdire.web.room.service import Room, room_of

Where = Literal["", "items", "runs", "profiles", "compare"]
OWN_NAMES = {"en": "English", "zh": "中文"}
KEPT_SECONDS = 365 * 86400


@dataclass(frozen=True, slots=True)
class Way:
    """A link of the bar; current : whether it leads to where the reader is."""

    key: str
    address: str
    current: bool


@dataclass(frozen=True, slots=True)
class Language:
    """A language that the page can be read in, with the address of the same page in it."""

    code: str
    name: str
    address: str


def room_page(request: Request, template: str, *, here: Where = "", status: int = 200, **fields: Any) -> HTMLResponse:
    """A page of the reading room in the reader's language.

    here : the part of the room that the page belongs to
    The language that the address names is kept for the next pages.
    """
    room, lang = room_of(request), ui_language(request)
    response = page(
        request,
        template,
        lang,
        status=status,
        library=room.library,
        here=here,
        path=request.url.path,
        ways=ways(room, here),
        tongues=languages(request),
        **fields,
    )
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, lang, max_age=KEPT_SECONDS, httponly=True, samesite="lax")
    return response


def ways(room: Room, here: Where) -> list[Way]:
    """The links of the bar: only to rooms in which something stands, straight to it where there is one thing alone."""
    library = room.library
    found = []
    if library.shelves:
        only = f"/{library.shelves[0].slug}" if len(library.shelves) == 1 else ""
        found.append(Way("room.items", f"/items{only}", here == "items"))
    if library.runs:
        only = f"/{library.runs[0].slug}" if len(library.runs) == 1 else ""
        found.append(Way("room.runs", f"/runs{only}", here == "runs"))
    if library.audits:
        only = f"/{library.audits[0].slug}" if len(library.audits) == 1 else ""
        found.append(Way("room.profiles", f"/profiles{only}", here == "profiles"))
        found.append(Way("room.compare", "/compare", here == "compare"))
    return found


def languages(request: Request) -> list[Language]:
    """The same page in each language."""
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    return [
        Language(code, OWN_NAMES[code], f"{request.url.path}?{urlencode([*rest, ('lang', code)])}")
        for code in LANGUAGES
    ]


def attachment(name: str) -> dict[str, str]:
    """The header by which a browser keeps a file, under a name of letters of any script, digits, hyphens and points.

    >>> attachment("pair.csv")["content-disposition"], attachment("版本.csv")["content-disposition"]
    ('attachment; filename="pair.csv"', "attachment; filename*=UTF-8''%E7%89%88%E6%9C%AC.csv")
    """
    shown = f'filename="{name}"' if name.isascii() else f"filename*=UTF-8''{quote(name, safe='')}"
    return {"content-disposition": f"attachment; {shown}"}


def address(path: str, query: dict[str, Any]) -> str:
    """An address within the room; empty parts of the query are left out.

    >>> address("/items/tea", {"sort": "gap", "page": None, "q": ""})
    '/items/tea?sort=gap'
    """
    told = [(name, value) for name, value in query.items() if value not in (None, "", [], ())]
    return f"{path}?{urlencode(told, doseq=True)}" if told else path
