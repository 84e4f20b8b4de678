"""What ratings say, for the lead: statistics and the gate, the complete report, verdicts of a pilot, the export."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from voirdire.annotation.collected import collect
from voirdire.annotation.export import told_changes, write_files
from voirdire.annotation.verdicts import VERDICTS, decide, decisions, item_verdicts
from voirdire.errors import NotFoundError, UsageError
from voirdire.reporting.render import POLICY, render_html
from voirdire.web.lead_access import BatchId, LeadPage, go, known_batch, lead_here, lead_page, live_of
from voirdire.web.pages import ui_language
from voirdire.web.results_view import item_names, splitting, statistics_told, timed, verdict_rows
from voirdire.web.security import LeadForm, Session, lead_of
from voirdire.web.service import service_of

router = APIRouter(include_in_schema=False)


@router.get("/lead/batches/{number}/statistics")
def statistics(request: Request, session: LeadPage, number: BatchId) -> Response:
    """Alpha, reliability, cross-pool statistics and the gate, as far as ratings have arrived."""
    batch, service = known_batch(request, number), service_of(request)
    lang = ui_language(request)
    standing = live_of(request).statistics(number)
    found = standing.statistics
    named = item_names(service, lang)
    return lead_page(
        request,
        session,
        "statistics",
        batch=batch,
        told=statistics_told(standing, lang),
        sections=found.sections(lang),
        kind=lambda block: type(block).__name__.lower(),
        splits=splitting(service, found.profile, lang) if found.profile else [],
        times=timed(found.collected, named, lang) if found.collected else None,
    )


@router.get("/lead/batches/{number}/report", dependencies=[Depends(lead_here)])
def report(request: Request, number: BatchId) -> Response:
    """The complete report of the statistics that were computed last."""
    known_batch(request, number)
    profile = live_of(request).statistics(number).statistics.profile
    if profile is None:
        return go(request, f"/lead/batches/{number}/statistics")
    page = render_html(profile, ui_language(request), service_of(request).shown.folder)
    return HTMLResponse(page, headers={"content-security-policy": f"{POLICY}; frame-ancestors 'none'"})


@router.get("/lead/batches/{number}/export.zip", dependencies=[Depends(lead_here)])
def export(request: Request, number: BatchId) -> Response:
    """The batch's ratings as tables."""
    known_batch(request, number)
    service = service_of(request)
    packed = io.BytesIO()
    with TemporaryDirectory(prefix="voirdire-") as held, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        decided = decisions(service.database, number)
        collected = collect(service.database, number)
        lang = ui_language(request)
        changes = told_changes(service.database, collected, service.shown, lang)
        for name in write_files(collected, decided, service.shown, Path(held), lang, changes):
            out.write(Path(held) / name, f"ratings-{number}/{name}")
    headers = {"content-disposition": f'attachment; filename="ratings-{number}.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.get("/lead/batches/{number}/verdicts")
def verdicts(request: Request, session: LeadPage, number: BatchId) -> Response:
    """The verdicts on the items of a pilot."""
    return _verdicts(request, session, number)


@router.post("/lead/batches/{number}/verdicts")
def save_verdicts(request: Request, form: LeadForm, number: BatchId) -> Response:
    """Keep the lead's decision on one item."""
    items = known_batch(request, number).spec.items
    service, chosen = service_of(request), form.get("verdict", "")
    item, note = form.get("item", ""), form.get("note", "").strip()
    try:
        decide(service.database, number, item, chosen or None, note=note, now=service.now())
    except NotFoundError as error:
        raise HTTPException(404) from error
    except UsageError as error:
        problem = error.message(ui_language(request))
        return _verdicts(request, lead_of(request), number, status=422, problem=problem)
    return go(request, f"/lead/batches/{number}/verdicts#item-{items.index(item) + 1}")


def _verdicts(request: Request, session: Session, number: int, *, status: int = 200, problem: str = "") -> Response:
    batch, service = known_batch(request, number), service_of(request)
    if batch.spec.kind != "pilot":
        raise UsageError("lead.verdict.no_pilot", batch=number)
    lang = ui_language(request)
    found = item_verdicts(live_of(request).collected(number), decisions(service.database, number))
    counts = {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
    decided = sum(one.decision is not None for one in found)
    return lead_page(
        request,
        session,
        "verdicts",
        status=status,
        batch=batch,
        rows=verdict_rows(service, found, lang),
        counts={**counts, "decided": decided},
        problem=problem,
    )
