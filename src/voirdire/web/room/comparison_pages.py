"""Two audits side by side, as a page and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.analysis.item_tables import FOLDER
from voirdire.analysis.profile import spreadsheet_safe
from voirdire.browsing.compared import Compared, read_compared
from voirdire.browsing.comparison import (
    DISTANCE,
    EACH,
    EVERY,
    MAIN_ONES,
    START,
    Choice,
    Comparison,
    Offer,
    Side,
    compare,
    offer,
    table,
)
from voirdire.browsing.library import Audit, NotThere
from voirdire.browsing.material import Material
from voirdire.reporting.access import View
from voirdire.reporting.words import Words
from voirdire.texts import text
from voirdire.web.pages import ui_language
from voirdire.web.room.comparison_view import findings, judge_name, shown
from voirdire.web.room.pages import address, attachment, room_page
from voirdire.web.room.service import Room, room_of

router = APIRouter()
PAGE, TABLE = "/compare", "/compare/differences.csv"
ASKED = ("question", "slice", "statistic", "first_judge", "second_judge", "first_condition", "second_condition")


@dataclass(frozen=True)
class Asked:
    """What a request asks for; passed : values of its query that these audits do not have."""

    first: Side
    second: Side
    offer: Offer
    choice: Choice
    passed: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether both sides are the same audit, judge and condition, so that there is nothing to compare."""
        choice = self.choice
        both = (choice.judges, choice.conditions)
        return self.first.slug == self.second.slug and all(mine == theirs for mine, theirs in both)

    @property
    def query(self) -> dict[str, str]:
        """The query that asks for the same."""
        choice = self.choice
        values = (choice.question, choice.slice, choice.statistic, *choice.judges, *choice.conditions)
        return {"first": self.first.slug, "second": self.second.slug, **dict(zip(ASKED, values, strict=True))}

    @property
    def swapped(self) -> dict[str, str]:
        """The query with the sides exchanged."""
        query = self.query
        turned = {"first": "second", "second": "first"}
        for name in ("judge", "condition"):
            turned |= {f"first_{name}": f"second_{name}", f"second_{name}": f"first_{name}"}
        return {name: query[turned.get(name, name)] for name in query}


@router.get(PAGE)
def comparison(request: Request, first: str = "", second: str = "") -> Response:
    """Two audits, two judges or two conditions side by side."""
    room, lang = room_of(request), ui_language(request)
    audits = room.library.audits
    if not audits:
        return room_page(request, "room/compare.html.jinja", here="compare", asked=None)
    asked = asked_of(room, request, first, second)
    made = None if asked.same else made_of(room, asked)
    lines = [] if made is None else shown(made, asked.first, lang)
    judges = {line.judge for line in lines if line.judge}
    return room_page(
        request,
        "room/compare.html.jinja",
        here="compare",
        asked=asked,
        made=made,
        lines=lines,
        findings=[] if made is None else findings(made, asked.first, lang),
        heads=[line for line in lines if line.group],
        judge=judges.pop() if len(judges) == 1 and any(asked.choice.judges) else "",
        level=_level(asked.first),
        items=Words(lang).slice(asked.choice.slice),
        choices=_choices(asked, lang),
        told=[*_told(asked, lang), *_foreign(room, asked, lang)],
        turned=[] if made is None else [tuple(map(View.clean, pair)) for pair in made.turned],
        later=[] if made is None else _later(asked, made, lang),
        more=_more(asked, lang),
        swap=address(PAGE, asked.swapped),
        download=address(TABLE, asked.query),
    )


@router.get(TABLE)
def download(request: Request, first: str = "", second: str = "") -> Response:
    """The rows of the page with everything unrounded, and more rows than a page shows."""
    room = room_of(request)
    asked = asked_of(room, request, first, second)
    made = made_of(room, asked, most=20_000)
    name = f"differences-{asked.first.slug}-{asked.second.slug}.csv"
    return csv_file(spreadsheet_safe(table(made)).write_csv(), name)


def csv_file(content: str, name: str) -> Response:
    """A table to be saved; its name is made of short names of audits, which are letters, digits and hyphens."""
    headers = attachment(name)
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def side_of(room: Room, audit: Audit) -> Side:
    """An audit with its item-level tables, read once."""

    def read() -> Compared | None:
        shelves = (shelf.compared for shelf in room.library.shelves if shelf.folder == audit.folder)
        return next((held for held in shelves if held is not None), None) or read_compared(audit.folder)

    return Side(audit.slug, audit.title, audit.profile, room.kept.get(("compared", audit.slug), read))


def asked_of(room: Room, request: Request, first: str, second: str) -> Asked:
    """What is asked for; without a query the first two audits. Raises NotThere for an audit that is not open."""
    audits = room.library.audits
    if not audits:
        raise NotThere("room_compare.no_audits")
    sides = [
        side_of(room, room.library.audit(slug) if slug else audits[min(place, len(audits) - 1)])
        for place, slug in enumerate((first or second if len(audits) == 1 else first, second))
    ]
    query = {name: request.query_params.get(name, "") for name in ASKED}
    found = _offered(room, sides[0], sides[1], query["question"])
    known = {
        "question": found.questions,
        "slice": found.slices,
        "statistic": (*found.statistics, *_sets(found)),
        "first_judge": found.judges[0],
        "second_judge": found.judges[1],
        "first_condition": (*found.conditions[0], EACH),
        "second_condition": (*found.conditions[1], EACH),
    }
    passed = tuple(value for name, value in query.items() if value and value not in known[name])
    kept = {name: value if value in known[name] else "" for name, value in query.items()}
    choice = Choice(
        kept["question"] or next(iter(found.questions), ""),
        kept["slice"] or "all",
        kept["statistic"] or _sets(found)[0],
        (kept["first_judge"], kept["second_judge"]),
        (kept["first_condition"], kept["second_condition"]),
    )
    return Asked(sides[0], sides[1], found, choice, passed)


def _sets(found: Offer) -> tuple[str, ...]:
    """What asks for several numbers at once, the one that a page begins with first."""
    return (START, MAIN_ONES, EVERY) if DISTANCE in found.statistics else (MAIN_ONES, EVERY)


def _offered(room: Room, first: Side, second: Side, question: str) -> Offer:
    """What can be compared of a question, or of the first that both have; kept for questions that there are alone."""

    def held(name: str) -> Offer:
        return room.kept.get(("offer", first.slug, second.slug, name), lambda: offer(first, second, name))

    known = held("").questions
    return held(question if question in known else next(iter(known), ""))


def made_of(room: Room, asked: Asked, most: int | None = None) -> Comparison:
    """The comparison, computed once."""
    first, second, choice = asked.first, asked.second, asked.choice
    materials = (material_of(room, first, choice.question), material_of(room, second, choice.question))
    more = {} if most is None else {"most": most}
    return room.kept.get(
        ("comparison", first.slug, second.slug, choice, most),
        lambda: compare(first, second, choice, materials=materials, **more),
    )


def material_of(room: Room, side: Side, question: str) -> Material | None:
    """A question of an audit as arrays, made once."""
    return room.kept.get(("material", side.slug, question), lambda: side.material(question))


def _level(side: Side) -> str:
    level = float((side.profile.meta.get("options") or {}).get("level", 0.95))
    return f"{100 * level:g}"


@dataclass(frozen=True, slots=True)
class Select:
    """A choice of the form: (value, words) pairs."""

    name: str
    label: str
    current: str
    options: tuple[tuple[str, str], ...]


def _choices(asked: Asked, lang: str) -> list[Select]:
    found, query = asked.offer, asked.query
    pools = tuple(pool["name"] for pool in asked.first.profile.meta["pools"])
    words = Words(lang, pools)
    known = frozenset((*asked.first.judges, *asked.second.judges))

    def t(key: str) -> str:
        return text(f"room_compare.{key}", lang)

    def made(name: str, options: Any) -> Select:
        return Select(name, t(f"choose.{name}"), query[name], tuple(options))

    def judges(place: int) -> list[tuple[str, str]]:
        return [("", t("every_judge")), *((name, judge_name(name, words, known)) for name in found.judges[place])]

    def conditions(place: int) -> list[tuple[str, str]]:
        named = [(name, words.condition(name)) for name in found.conditions[place] if name != "*"]
        return [("", t("all_together")), (EACH, t("each_condition")), *named]

    statistics = sorted(((name, words.statistic(name)) for name in found.statistics), key=lambda pair: pair[1])
    return [
        made("question", ((name, View.clean(name)) for name in found.questions)),
        made("slice", ((name, words.slice(name)) for name in found.slices)),
        made("statistic", [*((name, t(f"sets.{name}")) for name in _sets(found)), *statistics]),
        made("first_judge", judges(0)),
        made("second_judge", judges(1)),
        made("first_condition", conditions(0)),
        made("second_condition", conditions(1)),
    ]


def _later(asked: Asked, made: Comparison, lang: str) -> list[tuple[str, str]]:
    """The numbers that are left for when they are asked for, each with the address that asks."""
    words = Words(lang)
    return [(words.statistic(name), address(PAGE, {**asked.query, "statistic": name})) for name in made.later]


def _more(asked: Asked, lang: str) -> list[tuple[str, str]]:
    """What else can be shown where a page holds what it begins with."""
    names = (MAIN_ONES, EVERY) if asked.choice.statistic == START else ()
    return [
        (text(f"room_compare.sets.{name}", lang), address(PAGE, {**asked.query, "statistic": name})) for name in names
    ]


def _foreign(room: Room, asked: Asked, lang: str) -> list[str]:
    """That tables beside a profile are not its own."""
    folders = {str(room.library.audit(side.slug).folder / FOLDER) for side in (asked.first, asked.second)}
    notes = [note for note in room.library.notes if note.fields.get("folder") in folders]
    return [text(note.key, lang, **note.fields) for note in notes]


def _told(asked: Asked, lang: str) -> list[str]:
    """What the page says of the query: values that these audits do not have."""
    if not asked.passed:
        return []
    names = text("report.list_separator", lang).join(View.clean(value) for value in asked.passed)
    return [text("room_compare.passed", lang, values=names)]
