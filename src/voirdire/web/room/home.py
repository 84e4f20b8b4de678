"""The first page of the reading room: what was opened."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.web.room.pages import room_page

router = APIRouter()


@router.get("/")
def home(request: Request) -> Response:
    """Every corpus, run and audit that was opened."""
    return room_page(request, "room/home.html.jinja")


@router.get("/items")
def shelves(request: Request) -> Response:
    """The collections of items."""
    return room_page(request, "room/home.html.jinja", here="items", only="items")


@router.get("/profiles")
def audits(request: Request) -> Response:
    """The audits."""
    return room_page(request, "room/home.html.jinja", here="profiles", only="profiles")
