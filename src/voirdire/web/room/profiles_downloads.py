"""The files of a profile: each table as CSV and LaTeX, each chart as SVG with its numbers as CSV, and the whole."""

from __future__ import annotations

import io
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.analysis.profile import Profile, spreadsheet_safe
from voirdire.browsing.estimate_rows import asked_of, matching
from voirdire.browsing.library import NotThere
from voirdire.reporting.drawing_process import Helper
from voirdire.reporting.files import table_csv
from voirdire.reporting.latex import latex
from voirdire.reporting.render import render_html
from voirdire.reporting.words import Words
from voirdire.web.pages import ui_language
from voirdire.web.room import profiles_view as view
from voirdire.web.room.pages import attachment
from voirdire.web.room.service import room_of

router = APIRouter()
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
PRESS = Helper()
"""Makes whole reports."""


@router.get("/profiles/{audit}/estimates.csv")
def estimates(request: Request, audit: str) -> Response:
    """The estimates that a query asks for, as in estimates.csv."""
    found = room_of(request).library.audit(audit)
    out = io.BytesIO()
    spreadsheet_safe(matching(found.profile.estimates, asked_of(request.query_params))).write_csv(out)
    return _file(out.getvalue(), f"{found.slug}-estimates.csv")


@router.get("/profiles/{audit}/profile.json")
def profile(request: Request, audit: str) -> Response:
    """The whole profile."""
    found = room_of(request).library.audit(audit)
    return _file(found.profile.to_json(), f"{found.slug}-profile.json")


@router.get("/profiles/{audit}/report.html")
def report(request: Request, audit: str) -> Response:
    """The report as one file, in the reader's language."""
    room, lang = room_of(request), ui_language(request)
    found = room.library.audit(audit)
    images = room.library.shelf(found.shelf).images if found.shelf else None
    page: str = PRESS.ask(pressed, found.folder, lang, images)
    return _file(page.encode(), f"{found.slug}-report-{lang}.html")


def pressed(folder: Path, lang: str, images: Path | None) -> str:
    """The report of an audit folder, as the audit writes it."""
    return render_html(Profile.load(folder), lang, images)


@router.get("/profiles/{audit}/{part}/table/{name}.{ending}")
def table(request: Request, audit: str, part: str, name: str, ending: str) -> Response:
    """A table of a part, or the table behind one of its charts: what is shown, for a spreadsheet or a paper."""
    now = view.reading(room_of(request), audit, part, request.query_params, ui_language(request))
    grid = next((grid for grid in view.grids_of(now) if grid.id == name), None)
    if grid is None or ending not in ("csv", "tex"):
        raise NotThere("room_profiles.no_file", value=f"{name}.{ending}"[:60])
    words = Words(now.lang, now.view.pools)
    content = table_csv(grid) if ending == "csv" else latex(grid, words)
    return _file(content.encode(), now.file_name(grid.id, ending))


@router.get("/profiles/{audit}/{part}/figure/{name}.svg")
def figure(request: Request, audit: str, part: str, name: str) -> Response:
    """A chart of a part."""
    now = view.reading(room_of(request), audit, part, request.query_params, ui_language(request))
    found = next((figure for figure in view.sections_of(now).figures() if figure.name == name), None)
    if found is None:
        raise NotThere("room_profiles.no_file", value=f"{name}.svg"[:60])
    return _file(view.svg_of(found).encode(), now.file_name(found.name, "svg"))


def _file(content: bytes, name: str) -> Response:
    """A file to keep. name : of letters, digits, hyphens and its ending"""
    kind = KINDS[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers=attachment(name))
