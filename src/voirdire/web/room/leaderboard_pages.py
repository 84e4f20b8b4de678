"""Judges against every pool: the page that refuses a single column, and its table."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.analysis.profile import spreadsheet_safe
from voirdire.browsing.leaderboard import Board, Order, board, pools_of, pools_with_numbers, statistics_of, table
from voirdire.browsing.library import Audit
from voirdire.errors import UsageError
from voirdire.reporting.access import View
from voirdire.texts import text
from voirdire.web.pages import ui_language
from voirdire.web.room.comparison_pages import csv_file, material_of, side_of
from voirdire.web.room.leaderboard_view import shown
from voirdire.web.room.pages import address, room_page
from voirdire.web.room.service import Room, room_of

router = APIRouter()
REFUSED = 422
SHORT = ("one_pool", "few_pools", "asked_one")
BARE = ("one_pool", "no_judges")
"""Refusals that no choice on the page mends."""


@dataclass(frozen=True)
class Wanted:
    """What a request asks for.

    known : the pools that have numbers of the statistic in the slice
    refusal : why no board is shown, or why not the one asked for (key); "" where nothing is refused
    """

    audit: Audit
    question: str
    questions: tuple[str, ...]
    statistic: str
    statistics: tuple[str, ...]
    slice: str
    slices: tuple[str, ...]
    pools: tuple[str, ...]
    known: tuple[str, ...]
    order: Order
    refusal: str

    @property
    def path(self) -> str:
        """The address of the page."""
        return f"/leaderboard/{self.audit.slug}"

    def query(self, order: Order | None = None) -> dict[str, str]:
        """The query that asks for the same, perhaps in another order."""
        order = order or self.order
        turned = "last" if order.turned else ""
        return {
            "question": self.question,
            "statistic": self.statistic,
            "slice": self.slice,
            "sort": order.pool,
            "first": turned,
        }


@router.get("/leaderboard/{audit}")
def leaderboard(request: Request, audit: str) -> Response:
    """Every judge against every pool; a single pool is refused."""
    room, lang = room_of(request), ui_language(request)
    wanted = wanted_of(room, request, audit)
    made = None if wanted.refusal in BARE else _made(room, wanted)
    named = wanted.known if wanted.refusal == "few_pools" else wanted.pools
    pools = text("report.list_separator", lang).join(View.clean(pool) for pool in named)
    return room_page(
        request,
        "room/leaderboard.html.jinja",
        here="profiles",
        status=REFUSED if wanted.refusal in SHORT else 200,
        wanted=wanted,
        pools=pools or "–",
        made=None if made is None else shown(made, wanted.audit.profile, lang, lambda order: _link(wanted, order)),
        download=address(f"{wanted.path}/judges.csv", wanted.query()),
    )


@router.get("/leaderboard/{audit}/judges.csv")
def download(request: Request, audit: str) -> Response:
    """The board with everything unrounded; of one pool there is none."""
    room = room_of(request)
    wanted = wanted_of(room, request, audit)
    if wanted.refusal in SHORT:
        raise UsageError("room_compare.board.refusal_short")
    if wanted.refusal in BARE:
        raise UsageError("room_compare.board.no_judges")
    content = spreadsheet_safe(table(_made(room, wanted))).write_csv()
    return csv_file(content, f"judges-{wanted.audit.slug}.csv")


def wanted_of(room: Room, request: Request, slug: str) -> Wanted:
    """What is asked for; what this audit does not have is as if it had not been asked for. Raises NotThere."""
    audit, query = room.library.audit(slug), request.query_params
    meta = audit.profile.meta
    judged = tuple(meta.get("judged_questions") or ())
    question = _known(query.get("question", ""), judged)
    pools = pools_of(audit.profile, question)
    slices = ("all", *(name for name in meta.get("slices", ()) if name != "all"))
    statistics = statistics_of(audit.profile, question)
    statistic = _known(query.get("statistic", ""), statistics)
    part = _known(query.get("slice", ""), slices)
    known = pools_with_numbers(audit.profile, question, statistic, part)
    sort = query.get("sort", "")
    named = [pool for entry in query.getlist("pools") for pool in entry.split(",") if pool]
    return Wanted(
        audit,
        question,
        judged,
        statistic,
        statistics,
        part,
        slices,
        pools,
        known,
        Order(sort if sort in known else "", query.get("first") == "last"),
        _refusal(len(meta["pools"]), pools, known, named) if question else "no_judges",
    )


def _known(value: str, known: tuple[str, ...]) -> str:
    return value if value in known else next(iter(known), "")


def _refusal(count: int, pools: tuple[str, ...], known: tuple[str, ...], named: list[str]) -> str:
    if count < 2:
        return "one_pool"
    if len(known) < 2:
        return "few_pools"
    kept = [pool for pool in pools if pool in named]
    if not named or len(kept) == len(pools):
        return ""
    return "asked_one" if len(kept) < 2 else "asked_some"


def _link(wanted: Wanted, order: Order) -> str:
    return address(wanted.path, wanted.query(order))


def _made(room: Room, wanted: Wanted) -> Board:
    side = side_of(room, wanted.audit)

    def make() -> Board:
        material = material_of(room, side, wanted.question) if wanted.order.pool else None
        return board(
            wanted.audit.profile,
            wanted.question,
            statistic=wanted.statistic,
            slice_name=wanted.slice,
            order=wanted.order,
            material=material,
        )

    key = ("board", wanted.audit.slug, wanted.question, wanted.statistic, wanted.slice, wanted.order)
    return room.kept.get(key, make)
