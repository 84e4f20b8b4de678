"""The pages of a profile: one for each of its parts, with a choice of question, pair and slice in the address."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from voirdire.browsing.estimate_rows import FIELDS, asked_of, levels, matching
from voirdire.reporting.access import Row, View
from voirdire.reporting.assemble import facts_of
from voirdire.reporting.words import Words
from voirdire.web.pages import ui_language
from voirdire.web.room import profiles_view as view
from voirdire.web.room.pages import address, room_page
from voirdire.web.room.service import room_of

router = APIRouter()
ROWS = 100


@router.get("/profiles/{audit}")
def overview(request: Request, audit: str) -> Response:
    """The verdicts, the headline, the pools and their gate."""
    return _page(request, audit, "overview")


@router.get("/profiles/{audit}/estimates")
def estimates(request: Request, audit: str, page: Annotated[int, Query(ge=1, le=1_000_000)] = 1) -> Response:
    """The table of all estimates, looked through."""
    lang = ui_language(request)
    now = view.reading(room_of(request), audit, "estimates", {}, lang)
    asked = asked_of(request.query_params)
    held = matching(now.audit.profile.estimates, asked)
    pages = max(1, -(-held.height // ROWS))
    here = min(page, pages)
    words = Words(lang, now.view.pools)
    shown = held.slice((here - 1) * ROWS, ROWS).select(Row._fields)
    root = now.room.settings.root + f"/profiles/{now.audit.slug}"

    def to(number: int) -> str:
        return address(f"{root}/estimates", {**asked, "page": number if number > 1 else ""})

    return room_page(
        request, "room/profile_estimates.html.jinja", here="profiles", now=now, tabs=view.tabs(now), clean=View.clean,
        facts=(), count=held.height, page=here, pages=pages, before=to(here - 1), after=to(here + 1), asked=asked,
        fields=FIELDS, levels=levels(now.audit.profile.estimates, asked),
        lines=[_line(Row(*row), words) for row in shown.iter_rows()],
        file=address(f"{root}/estimates.csv", asked), bare=f"{root}/estimates",
    )  # fmt: skip


def _line(row: Row, words: Words) -> dict[str, str]:
    """One estimate as it is printed: the numbers as they stand in estimates.csv."""
    clean = View.clean
    value = words.label(row.statistic, row.label, row.pool, row.pool_b) if row.label is not None else _number(row.value)
    return {
        "statistic": clean(row.statistic), "name": words.statistic(row.statistic, row.params),
        "params": words.params(row.params), "question": clean(row.question),
        "pool": clean(row.pool), "pool_b": clean(row.pool_b),
        "judge": words.judge(row.judge) if row.judge not in ("", "*") else row.judge,
        "condition": clean(row.condition), "slice": words.slice(row.slice), "value": value,
        "reason": words.reason(row.undefined) if row.undefined is not None else "",
        "interval": "" if row.low is None or row.high is None else f"[{_number(row.low)}, {_number(row.high)}]",
        "n": "" if row.n is None else f"{row.n:,}".replace(",", "\u202f"),
    }  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}".replace("-", "\u2212")


@router.get("/profiles/{audit}/{part}")
def part(request: Request, audit: str, part: str) -> Response:
    """One part of a profile."""
    return _page(request, audit, part)


def _page(request: Request, audit: str, name: str) -> Response:
    lang = ui_language(request)
    now = view.reading(room_of(request), audit, name, request.query_params, lang)
    words = Words(lang, now.view.pools)
    return room_page(
        request, "room/profile.html.jinja", here="profiles", now=now, tabs=view.tabs(now), clean=View.clean,
        facts=facts_of(now.view, words) if name == "overview" else (),
        banner=words.t("simulated") if now.view.meta.get("simulated") else "",
        questions=view.questions(now), pairs=view.pairs(now), slices=view.slices(now),
        missing=view.missing(now), drawn=view.drawn_of(now), kept=now.query,
        files=view.files(now),
    )  # fmt: skip
