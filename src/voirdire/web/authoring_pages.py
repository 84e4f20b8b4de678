"""The authors' pages: whose turn it is, writing and handing in, reviewing, and all that happened to a concept.

Who writes is who holds the link. Every change goes through the functions that the command line uses, with the digest of
the text that the page showed: a text that changed meanwhile is told, and what was typed stays in the form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from voirdire.construction import authoring
from voirdire.construction.build_file import SAFE
from voirdire.construction.standing import REASONS
from voirdire.errors import UsageError, VoirdireError
from voirdire.texts import text
from voirdire.web import authoring_view as view
from voirdire.web.authoring_door import AuthorPage, go, person_of, shown
from voirdire.web.authoring_list import search_of
from voirdire.web.pages import ui_language
from voirdire.web.security import AuthorForm
from voirdire.web.workshop import workshop_of

router = APIRouter(include_in_schema=False)
DONE = ("add", "write", "submit", "revise", "review", "accept", "reject")
HAND_IN, SAVE = "hand_in", "save"
CONFLICT = ("authoring.text_moved", "authoring.text_changed", "authoring.move_illegal")

ConceptName = Annotated[str, Path(max_length=64, pattern=f"^{SAFE.pattern}$")]


@router.get("/author")
def home(request: Request, _: AuthorPage) -> Response:
    """What waits for this person, what waits for others, what is finished."""
    return _home(request)


@router.post("/author/concepts")
def add(request: Request, form: AuthorForm) -> Response:
    """Add a concept; the rotation says who writes it."""
    person, given = person_of(request), view.tidy(form)
    try:
        authoring.add(workshop_of(request).folder, given.get("concept", ""), person, given.get("category", ""))
    except VoirdireError as error:
        return _home(request, given, error)
    return go(request, f"/author/concepts/{given['concept']}?done=add")


@router.get("/author/concepts/{concept}")
def one(request: Request, _: AuthorPage, concept: ConceptName) -> Response:
    """A concept: its text, what can be done with it, and its history."""
    found(request, concept)
    return _concept(request, concept)


@router.post("/author/concepts/{concept}/text")
def write(request: Request, form: AuthorForm, concept: ConceptName) -> Response:
    """Keep what was written, and hand it in where that was asked for."""
    given = view.tidy(form)
    try:
        done = _written(request, person_of(request), concept, given)
    except VoirdireError as error:
        return _again(request, concept, given, error)
    return go(request, f"/author/concepts/{concept}?done={done}")


@router.post("/author/concepts/{concept}/decision")
def decide(request: Request, form: AuthorForm, concept: ConceptName) -> Response:
    """Ask for a revision, accept, or reject."""
    given = view.tidy(form)
    action = given.get("action", "")
    reason = given.get("reason", "") if action == "reject" else ""
    try:
        if action not in view.DECISIONS:
            raise UsageError("authoring.page.choose")
        note, seen = given.get("note", ""), given.get("seen", "")
        person, folder = person_of(request), workshop_of(request).folder
        authoring.move(folder, action, concept, person, note=note, reason=reason, seen=seen)
    except VoirdireError as error:
        return _again(request, concept, given, error)
    return go(request, f"/author/concepts/{concept}?done={action}")


UNTYPED = ("seen", "action", "reason")


def found(request: Request, concept: str) -> None:
    """Raise HTTPException for a page of a concept that there is not."""
    if concept not in workshop_of(request).bench().concepts.by_concept():
        raise HTTPException(404)


def _written(request: Request, person: str, concept: str, given: Mapping[str, str]) -> str:
    """What was done. The text is kept before it is handed in, so that it stays where handing in is refused."""
    workshop = workshop_of(request)
    bench = workshop.bench()
    state = view.concept_shown(bench, concept, person, "en")
    changed, seen = view.changes(bench, concept, given), given.get("seen", "")
    if any(changed.values()) or seen != state.digest:
        concepts = authoring.write(workshop.folder, concept, person, seen=seen, **changed)
        seen = authoring.text_digest(concepts.by_concept()[concept])
    if given.get("action") != HAND_IN:
        return "write"
    action = state.hand_in or "submit"
    authoring.move(workshop.folder, action, concept, person, note=given.get("note", ""), seen=seen)
    return action


def _again(request: Request, concept: str, given: Mapping[str, str], error: VoirdireError) -> Response:
    """The page with what is wrong and what was typed; where the folder cannot be read, what was typed alone."""
    try:
        return _concept(request, concept, given, error)
    except VoirdireError as second:
        problem = view.sentence_of(second, ui_language(request))
        kept = [
            value for name, value in given.items() if name not in UNTYPED and value and not name.startswith(view.WAS)
        ]
        status = int(getattr(second, "status", 409))
        return shown(request, "author", "kept", status=status, problem=problem, kept=kept, concept=concept)


def _concept(
    request: Request, concept: str, given: Mapping[str, str] | None = None, error: VoirdireError | None = None
) -> Response:
    lang, bench = ui_language(request), workshop_of(request).bench()
    person = person_of(request)
    told = view.concept_shown(bench, concept, person, lang, given)
    done = request.query_params.get("done", "")
    status = 200 if error is None else 409 if error.key in CONFLICT else 422
    return shown(
        request,
        "author",
        "concept",
        status=status,
        told=told,
        events=view.events_shown(bench, concept, lang),
        notes=bench.history.notes,
        problem="" if error is None else view.sentence_of(error, lang),
        done=text(f"authoring.done.{done}", lang) if done in DONE and error is None else "",
        saved=error is not None and view.stands(told, given or {}),
        form=given or {},
        reasons=[(reason, view.reason_words(reason, lang)) for reason in REASONS],
        choices=[(action, text(f"authoring.page.choice_{action}", lang)) for action in told.decisions],
        words=_words(told.hand_in, lang),
    )


def _words(hand_in: str, lang: str) -> dict[str, str]:
    """What is said at the form of a text, where there is one."""
    if not hand_in:
        return {}
    return {
        "note": text(f"authoring.page.note_{hand_in}", lang),
        "hand_in": text(f"authoring.page.hand_in_{hand_in}", lang),
    }


def _home(request: Request, given: Mapping[str, str] | None = None, error: VoirdireError | None = None) -> Response:
    lang, bench = ui_language(request), workshop_of(request).bench()
    person = person_of(request)
    every = view.rows_shown(bench, lang)
    search = search_of(request.query_params, every)
    rows = search.of(every)
    mine = [row for row in rows if row["waiting"] == person]
    return shown(
        request,
        "author",
        "home",
        status=200 if error is None else 422,
        corpus=bench.build.name,
        search=search,
        mine=mine,
        others=[row for row in rows if row not in mine and not row["done"]],
        finished=[row for row in rows if row["done"]],
        categories=list(dict.fromkeys(item.category for item in bench.concepts.items if item.category)),
        problem="" if error is None else view.sentence_of(error, lang),
        form=given or {},
    )
