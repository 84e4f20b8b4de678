"""Pages of runs: how far each is, read beside the process that writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voirdire.browsing.library import Run
from voirdire.browsing.progress import RunWatch, begun_with
from voirdire.errors import InputError
from voirdire.reporting.templating import environment
from voirdire.texts import text
from voirdire.web.pages import ui_language
from voirdire.web.room.pages import room_page
from voirdire.web.room.runs_view import LATER, RunView, Words, facts
from voirdire.web.room.service import Room, room_of

router = APIRouter()
PARTS = ("summary", "cells", "failures", "errors")
"""The pieces of a run's page that change while it runs, each with a template of its own."""
GLANCE = 0.05


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list: how it stands, or why it cannot be read."""

    run: Run
    view: RunView | None
    problem: str = ""


@router.get("/runs")
def runs(request: Request) -> Response:
    """Every run that was opened, with how far it is."""
    room, lang = room_of(request), ui_language(request)
    listed = []
    for run in room.library.runs:
        try:
            listed.append(Listed(run, _view(room, run, lang, GLANCE)))
        except InputError as error:
            listed.append(Listed(run, None, error.message(lang)))
    return room_page(request, "room/runs.html.jinja", here="runs", listed=listed)


@router.get("/runs/{slug}")
def run_page(request: Request, slug: str) -> Response:
    """How a run stands."""
    room, lang = room_of(request), ui_language(request)
    run, words = room.library.run(slug), Words(lang)
    try:
        view = _view(room, run, lang)
    except InputError as error:
        status, sentence = _status(run), error.message(lang)
        return room_page(request, "room/run_problem.html.jinja", here="runs", status=status, run=run, sentence=sentence)
    begun = begun_with(run.folder)
    known = facts(begun, view.now.counted.run_id, str(run.folder), words)
    told: dict[str, Any] = {"run": run, "view": view, "begun": begun, "facts": known, "later": LATER, "words": words}
    return room_page(request, "room/run.html.jinja", here="runs", **told)


@router.get("/runs/{slug}/now")
def run_now(request: Request, slug: str) -> Response:
    """The pieces of a run's page as they are now, for the script of the page."""
    room, lang = room_of(request), ui_language(request)
    run = room.library.run(slug)
    try:
        view = _view(room, run, lang)
    except InputError as error:
        return JSONResponse({"error": {"key": error.key, "message": error.message(lang)}}, _status(run))
    return JSONResponse(
        {
            "parts": {name: _part(room, name, view, lang) for name in PARTS},
            "state": view.state,
            "again": view.again,
            "said": view.said,
            "looked": Words(lang).when(view.now.at),
        }
    )


def _view(room: Room, run: Run, lang: str, seconds: float | None = None) -> RunView:
    """How a run stands now. Raises InputError where its folder or its ledger cannot be read."""
    watch = room.kept.get(("runs", run.slug), lambda: RunWatch(run.folder))
    now = watch.look() if seconds is None else watch.look(seconds)
    shelf = next((one for one in room.library.shelves if one.slug == run.shelf), None)
    return RunView(now, Words(lang), run.shelf if shelf else "", shelf.places if shelf else None)


def _part(room: Room, name: str, view: RunView, lang: str) -> str:
    def sentence(key: str, **named: object) -> str:
        return text(key, lang, **named)

    template = environment("voirdire.web").get_template(f"room/run_{name}.html.jinja")
    return template.render(t=sentence, root=room.settings.root, view=view, words=view.words)


def _status(run: Run) -> int:
    """404 where the folder of a run is gone, 422 where its ledger cannot be read."""
    return 422 if run.folder.is_dir() else 404
