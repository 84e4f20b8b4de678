"""The first page of the reading room: what was opened."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.browsing.library import KINDS
from voirdire.texts import text
from voirdire.web.pages import ui_language
from voirdire.web.room.pages import room_page
from voirdire.web.room.service import room_of

router = APIRouter()


@router.get("/")
def home(request: Request) -> Response:
    """Every corpus, run and audit that was opened."""
    return _page(request)


@router.get("/items")
def shelves(request: Request) -> Response:
    """The collections of items."""
    return _page(request, "items")


@router.get("/profiles")
def audits(request: Request) -> Response:
    """The audits."""
    return _page(request, "profiles")


def _page(request: Request, only: Literal["", "items", "profiles"] = "") -> Response:
    lang = ui_language(request)
    kinds = {kind: text(f"room.kind.{kind}", lang) for kind in KINDS}
    notes = [text(note.key, lang, **note.fields) for note in room_of(request).library.notes]
    return room_page(request, "room/home.html.jinja", here=only, only=only, kinds=kinds, notes=notes)
