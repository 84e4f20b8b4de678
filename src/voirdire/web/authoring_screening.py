"""Screened pairs for the lead, to confirm or overrule, and images of what is built for whoever may see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from voirdire.annotation.material import MAX_PIXELS
from voirdire.construction.imaging.settings import GENERATED
from voirdire.construction.screening import Measured
from voirdire.construction.screening_decisions import DECISIONS, Outcome, decide, outcomes
from voirdire.construction.screening_file import read_measured
from voirdire.construction.screening_opinion import image_of
from voirdire.construction.screening_page import decision_words, number, sentence
from voirdire.construction.screening_rule import MEASURES, verdict_of
from voirdire.corpus.pictures import Broken, look_at
from voirdire.corpus.screened import LEAD
from voirdire.errors import VoirdireError
from voirdire.reporting.words import DASH
from voirdire.texts import has, text
from voirdire.web import authoring_view as view
from voirdire.web.authoring_door import LeadPage, go, shown
from voirdire.web.authoring_list import search_of
from voirdire.web.authoring_pages import ConceptName
from voirdire.web.pages import ui_language
from voirdire.web.security import Forbidden, LeadForm, session_of
from voirdire.web.workshop import workshop_of

router = APIRouter(include_in_schema=False)


@router.get("/lead/screening")
def screened(request: Request, _: LeadPage) -> Response:
    """Every pair that was screened or decided on."""
    lang, bench = ui_language(request), workshop_of(request).bench()
    rows = [_row(one, lang) for one in outcomes(bench.history).values()]
    search = search_of(request.query_params, rows)
    return shown(request, "lead", "screening", rows=search.of(rows), search=search)


@router.get("/lead/screening/{concept}")
def pair(request: Request, _: LeadPage, concept: ConceptName) -> Response:
    """A pair with its numbers, reasons and images."""
    return _pair(request, concept)


@router.post("/lead/screening/{concept}")
def confirm(request: Request, form: LeadForm, concept: ConceptName) -> Response:
    """Confirm or overrule what was suggested."""
    given = view.tidy(form)
    why, seen = given.get("why", ""), given.get("seen", "")
    try:
        decide(workshop_of(request).folder, concept, given.get("verdict", ""), LEAD, why=why, seen=seen)
    except VoirdireError as error:
        return _pair(request, concept, given, error)
    return go(request, f"/lead/screening/{concept}?done=decide")


@router.get("/pictures/{item}")
def picture(request: Request, item: str) -> Response:
    """The image of an item, to authors and the lead."""
    if session_of(request, "lead") is None and session_of(request, "author") is None:
        raise Forbidden("web.no_session", status=401)
    bench = workshop_of(request).bench()
    known = item in {one.id for one in bench.concepts.items}
    file = image_of(bench.folder, GENERATED, item) if known else None
    if file is None or not file.resolve().is_relative_to(bench.folder.resolve()):
        raise HTTPException(404)
    data = file.read_bytes()
    try:
        kind = look_at(data, MAX_PIXELS).media_type
    except Broken as error:
        raise HTTPException(404) from error
    return Response(data, media_type=kind, headers={"content-disposition": "inline"})


def _pair(
    request: Request, concept: str, given: Mapping[str, str] | None = None, error: VoirdireError | None = None
) -> Response:
    lang, bench = ui_language(request), workshop_of(request).bench()
    outcome = outcomes(bench.history).get(concept)
    if outcome is None:
        raise HTTPException(404)
    measures = read_measured(bench.folder).get(concept, ())
    there = concept in bench.concepts.by_concept()
    other = bool(measures) and verdict_of([one.verdict for one in measures]) != outcome.suggested
    possible = DECISIONS if outcome.decided else DECISIONS[:2]
    status = 200 if error is None else 409 if error.key.endswith("moved") else 422
    return shown(
        request,
        "lead",
        "pair",
        status=status,
        outcome=outcome,
        row=_row(outcome, lang),
        measures=[_measure(one, lang) for one in measures],
        sentences=[sentence(one, lang) for one in sorted(measures, key=lambda one: one.name not in outcome.reasons)],
        other=other,
        told=view.concept_shown(bench, concept, "", lang) if there else None,
        events=view.events_shown(bench, concept, lang),
        verdicts=[(one, text(f"authoring.page.verdict_{one}", lang)) for one in possible],
        problem="" if error is None else view.sentence_of(error, lang),
        done=request.query_params.get("done") == "decide" and error is None,
        form=given or {},
    )


def _row(one: Outcome, lang: str) -> dict[str, Any]:
    comma = text("report.list_separator", lang)
    named = [text(f"screening.measure.{name}", lang) for name in one.reasons if name in MEASURES]
    return {
        "concept": one.concept,
        "mark": "open" if one.decided is None else one.decided,
        "state": text("authoring.page.nobody" if one.decided is None else f"screening.verdict.{one.decided}", lang),
        "suggested": text(f"screening.verdict.{one.suggested}", lang),
        "reasons": comma.join(named),
        "decided": decision_words(one, lang),
        "verdict": one.verdict,
        "holds": text(f"screening.verdict.{one.verdict}", lang),
    }


def _measure(one: Measured, lang: str) -> dict[str, str]:
    """A line of the table of numbers."""
    finding = f"screening.finding.{one.verdict}"
    return {
        "name": text(f"screening.measure.{one.name}", lang),
        "value": number(one.value, one.name),
        "interval": DASH if one.low is None else f"[{number(one.low, one.name)}, {number(one.high, one.name)}]",
        "threshold": number(one.threshold, one.name),
        "n": str(one.n),
        "finding": text(finding, lang) if has(finding, lang) else text("authoring.page.not_applicable", lang),
    }
