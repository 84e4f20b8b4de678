"""The lead's authoring pages: every state, the balances, what the check finds, and the authors' links."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.annotation.author_links import author_links, end_author_link, make_author_link
from voirdire.construction.checks import Finding
from voirdire.construction.overview import check_folder, overview
from voirdire.errors import UsageError
from voirdire.texts import text
from voirdire.web import authoring_view as view
from voirdire.web.authoring_door import LeadPage, go, shown
from voirdire.web.authoring_list import search_of
from voirdire.web.authoring_pages import ConceptName, found
from voirdire.web.lead_access import NAMES
from voirdire.web.lead_view import day
from voirdire.web.pages import ui_language
from voirdire.web.security import LeadForm
from voirdire.web.workshop import workshop_of

router = APIRouter(include_in_schema=False)
MOST_FINDINGS = 200


@router.get("/lead")
def home(request: Request, _: LeadPage) -> Response:
    """Where every concept stands, the balances, and what the check finds."""
    lang, bench = ui_language(request), workshop_of(request).bench()
    known = overview(bench.build, bench.concepts, bench.history)
    rows = view.rows_shown(bench, lang)
    search = search_of(request.query_params, rows)
    checked = check_folder(bench.folder, bench.build, bench.concepts, bench.history)
    return shown(
        request,
        "lead",
        "overview",
        corpus=bench.build.name,
        version=bench.build.version,
        rows=search.of(rows),
        search=search,
        planned=known.planned,
        states=[(text(f"authoring.state.{name}", lang), count) for name, count in known.counts.items() if count],
        loads=known.loads,
        cultures=[(name, view.culture_words(bench.build, name, lang)) for name in bench.build.culture_names],
        categories=checked.categories,
        asked=[(NAMES.get(language, language), count) for language, count in checked.languages.items()],
        items=checked.items,
        findings=[(one.level, _told(one, lang)) for one in checked.findings[:MOST_FINDINGS]],
        more=max(0, len(checked.findings) - MOST_FINDINGS),
        notes=[text(note.key, lang, **note.fields) for note in bench.history.notes],
    )


@router.get("/lead/concepts/{concept}")
def one(request: Request, _: LeadPage, concept: ConceptName) -> Response:
    """A concept with its history."""
    found(request, concept)
    lang, bench = ui_language(request), workshop_of(request).bench()
    told = view.concept_shown(bench, concept, "", lang)
    return shown(request, "lead", "lead_concept", told=told, events=view.events_shown(bench, concept, lang))


@router.get("/lead/people")
def people(request: Request, _: LeadPage) -> Response:
    """The authors and their links."""
    return _people(request)


@router.post("/lead/people")
def make(request: Request, form: LeadForm) -> Response:
    """Make an author's link and show it, this once."""
    workshop, name = workshop_of(request), form.get("name", "")
    known = workshop.bench().build.authors
    if name not in known:
        raise UsageError("authoring.person_unknown", value=name[:80], known=", ".join(known))
    token = make_author_link(workshop.database, name, workshop.now())
    return _people(request, {"name": name, "url": f"{workshop.settings.url}/author/enter#{token}"})


@router.post("/lead/people/end")
def end(request: Request, form: LeadForm) -> Response:
    """End an author's link and every session that began by it."""
    end_author_link(workshop_of(request).database, form.get("name", ""))
    return go(request, "/lead/people")


def _told(finding: Finding, lang: str) -> str:
    return text(f"build.finding.{finding.kind}", lang, **view.on_page(finding.told(lang)))


def _people(request: Request, made: dict[str, str] | None = None) -> Response:
    workshop = workshop_of(request)
    bench, links = workshop.bench(), author_links(workshop.database)
    loads = overview(bench.build, bench.concepts, bench.history).loads
    names = list(dict.fromkeys((*bench.build.authors, *links)))
    told = [
        {
            "name": name,
            "here": name in bench.build.authors,
            "made": day(links[name]) if name in links else "",
            "loads": loads.get(name, (0, 0)),
        }
        for name in names
    ]
    return shown(request, "lead", "people", people=told, made=made)
