"""What a page of a profile shows: its parts, its choices, and the part that is read, drawn once and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from voirdire.browsing.library import Audit, NotThere
from voirdire.browsing.profile_parts import BY_PAIR, BY_SLICE, PARTS, Missing, Part, choose, part, parts_of, tables_in
from voirdire.reporting import drawing
from voirdire.reporting.access import View
from voirdire.reporting.blocks import Figure, ItemCard
from voirdire.reporting.chosen import WHOLE, Choice, compared, pairs_of, printed, slices_of
from voirdire.reporting.drawing_process import Helper
from voirdire.reporting.figures import altair, data, finish, slug
from voirdire.reporting.grid import Entry, Grid
from voirdire.reporting.inline import inline
from voirdire.reporting.render import CONTROL, kind, leads
from voirdire.reporting.spoken import behind
from voirdire.reporting.templating import environment
from voirdire.reporting.words import Words
from voirdire.texts import text
from voirdire.web.room.pages import address
from voirdire.web.room.service import Kept, Room

STEPS = 20
"""How many shades a coloured cell may have on either side; room_profiles.css has a class for each."""
MOST_FOLDED = 60
"""Rows of a folded table that stand in the page at once; a longer one is opened by an address of its own."""
MOST_KEPT = 32
PENCIL = Helper()
"""Draws the charts of every page."""


@dataclass(frozen=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    chosen: bool


@dataclass(frozen=True)
class Tab:
    """A part of the profile, as a link."""

    name: str
    address: str
    current: bool


@dataclass(frozen=True)
class Reading:
    """One part of one audit, as it is read.

    name : of the part; opened : the long folded table that is asked for, by its name
    """

    room: Room
    audit: Audit
    view: View
    name: str
    choice: Choice
    lang: str
    opened: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What the part depends on."""
        pair = self.choice.pair if self.name in BY_PAIR else None
        place = self.choice.part if self.name in BY_SLICE else WHOLE
        return (self.audit.slug, self.name, self.choice.question, pair, place, self.lang)

    @property
    def query(self) -> dict[str, str]:
        """The choice as it stands in addresses; the first question and pair, and all items, say nothing."""
        asked = {"question": self.choice.question, "slice": "" if self.choice.part == WHOLE else self.choice.part}
        first = next(iter(pairs_of(self.view, self.choice.question)), None)
        pair = self.choice.pair
        return {**asked, "pair": "" if pair is None or pair == first else printed(pair)}

    def to(self, name: str, **more: str) -> str:
        """The address of a part, with the choice."""
        below = "" if name == "overview" else f"/{name}"
        return self.room.settings.root + address(f"/profiles/{self.audit.slug}{below}", {**self.query, **more})

    def file(self, kind: Literal["table", "figure"], name: str, ending: str) -> str:
        """The address of a file of this part."""
        path = f"/profiles/{self.audit.slug}/{self.name}/{kind}/{name}.{ending}"
        return self.room.settings.root + address(path, {**self.query, "lang": self.lang})

    def file_name(self, name: str, ending: str) -> str:
        """The name of a downloaded file: letters, digits and hyphens alone."""
        places = [slug(self.choice.question, _place(self.view, self.choice.question))]
        if self.name in BY_PAIR and self.choice.pair is not None:
            places += [slug(pool, self.view.pools.index(pool)) for pool in self.choice.pair]
        if self.name in BY_SLICE and self.choice.part != WHOLE:
            places.append(slug(self.choice.part, 0))
        return f"{'-'.join([self.audit.slug, *places, name])}.{ending}"


def _place(view: View, question: str) -> int:
    return [str(entry["id"]) for entry in view.questions].index(question)


def reading(room: Room, slug_: str, name: str, asked: Mapping[str, str], lang: str) -> Reading:
    """The part of an audit that an address names. Raises NotThere."""
    audit = room.library.audit(slug_)
    if name not in PARTS:
        raise NotThere("room_profiles.no_part", value=name[:40])
    view = kept_of(room).get(("view", audit.slug), lambda: View(audit.profile))
    return Reading(room, audit, view, name, choose(view, asked), lang, asked.get("open", ""))


def kept_of(room: Room) -> Kept:
    """What is kept of profiles: as much as a few readers look at."""
    return room.kept.get("profiles", lambda: Kept(MOST_KEPT))


def sections_of(now: Reading) -> Part:
    """The part as data."""
    return kept_of(now.room).get(("part", *now.key), lambda: part(now.view, now.name, now.choice, now.lang))


def drawn_of(now: Reading) -> Markup:
    """The part as HTML, its charts drawn."""
    opened = now.opened if now.opened and now.opened in {grid.id for grid in grids_of(now)} else ""
    return kept_of(now.room).get(("drawn", *now.key, opened), lambda: _drawn(now, opened))


def grids_of(now: Reading) -> list[Grid]:
    """Every table of the part, also those behind its charts."""
    held = sections_of(now)
    return [*held.grids(), *(grid for figure in held.figures() if (grid := behind(figure)) is not None)]


def _drawn(now: Reading, opened: str) -> Markup:
    words = Words(now.lang, now.view.pools)
    template = environment("voirdire.web").get_template("room/profile_blocks.html.jinja")
    page = template.render(
        part=sections_of(now),
        now=now,
        t=words.t,
        r=lambda key, **fields: text(f"room_profiles.{key}", now.lang, **fields),
        show_blocks=environment("voirdire.reporting").get_template("blocks.jinja"),
        kind=kind,
        clean=View.clean,
        leads=leads,
        paint=lambda _: "",
        tint=tint,
        chart=chart,
        behind=behind,
        waits=lambda grid: bool(grid.id) and len(grid.lines) > MOST_FOLDED and grid.id != opened,
        holds=lambda folded: bool(opened) and opened in {grid.id for grid in tables_in(folded)},
        opened=opened,
        shelved=lambda card: shelved(now, card),
        all_items=all_items(now),
    )
    return Markup(CONTROL.sub("\ufffd", page))


def chart(figure: Figure) -> Markup:
    """A chart to stand in a page; it is drawn by another process, which holds up nobody."""
    return Markup(inline(svg_of(figure), figure.name, figure.alt))


def svg_of(figure: Figure) -> str:
    """A chart as an SVG file."""
    drawn: str = PENCIL.ask(drawing.svg, figure.spec)
    return drawn


def get_ready_to_draw() -> None:
    """Load what charts are made of and start the process that draws, so that no reader waits for it."""
    alt = altair()
    PENCIL.ask(drawing.svg, finish(alt.Chart(data([{"value": 0}])).mark_point()).to_dict(validate=False))


def tint(entry: Entry) -> str:
    """The class of a coloured cell: its shade of blue, or of orange below 0.

    >>> tint(Entry("0.5", heat=0.5)), tint(Entry("-1", heat=-1.0, diverging=True)), tint(Entry("1"))
    (' heat-10', ' cold-20', '')
    """
    if entry.heat is None:
        return ""
    shade = "cold" if entry.diverging and entry.heat < 0 else "heat"
    return f" {shade}-{round(min(1.0, abs(entry.heat)) * STEPS)}"


@dataclass(frozen=True)
class Shelved:
    """Where an item of a card stands in the room: its page, and its thumbnail where it has an image."""

    page: str
    thumbnail: str


def shelved(now: Reading, card: ItemCard) -> Shelved | None:
    """The place of an item on the audit's shelf; None without a shelf, or where it lacks the item."""
    if not now.audit.shelf:
        return None
    shelf = now.room.library.shelf(now.audit.shelf)
    number = shelf.places.get(card.id)
    if number is None:
        return None
    page = f"{now.room.settings.root}/items/{shelf.slug}/{number}"
    return Shelved(address(page, _between(now)), f"{page}/thumbnail" if shelf.pictured(card.id) else "")


def all_items(now: Reading) -> str:
    """The address of the shelf's items, those that split the chosen pair most first; empty without a shelf."""
    if not now.audit.shelf:
        return ""
    return address(f"{now.room.settings.root}/items/{now.audit.shelf}", {**_between(now), "sort": "gap"})


def _between(now: Reading) -> dict[str, str]:
    """The question and the pair as the pages of items ask for them."""
    a, b = now.choice.pair or ("", "")
    return {"question": now.choice.question, "a": a, "b": b}


def tabs(now: Reading) -> list[Tab]:
    """The parts of the profile."""
    names = parts_of(now.view, now.choice.question)
    return [Tab(name, now.to(name), name == now.name) for name in names]


def questions(now: Reading) -> list[Option]:
    """The questions to choose from."""
    names = [str(entry["id"]) for entry in now.view.questions]
    return [Option(name, View.clean(name), name == now.choice.question) for name in names]


def pairs(now: Reading) -> list[Option]:
    """The pairs to choose from; those that no judge was compared with are marked."""
    if now.name not in BY_PAIR:
        return []
    found = []
    held = compared(now.view, now.choice.question)
    for pair in pairs_of(now.view, now.choice.question):
        title = f"{View.clean(pair[0])} / {View.clean(pair[1])}"
        if pair not in held:
            title = text("room_profiles.pools_alone", now.lang, pair=title)
        found.append(Option(printed(pair), title, pair == now.choice.pair))
    return found


def slices(now: Reading) -> list[Option]:
    """The slices to choose from."""
    if now.name not in BY_SLICE:
        return []
    words = Words(now.lang, now.view.pools)
    held = slices_of(now.view, now.choice.question)
    return [Option("" if name == WHOLE else name, words.slice(name), name == now.choice.part) for name in held]


def missing(now: Reading) -> tuple[Missing, ...]:
    """What was chosen and not computed."""
    return sections_of(now).missing


@dataclass(frozen=True)
class Offered:
    """A file to download."""

    key: str
    address: str


def files(now: Reading) -> list[Offered]:
    """The files of the whole profile."""
    root = f"{now.room.settings.root}/profiles/{now.audit.slug}"
    return [
        Offered("report", address(f"{root}/report.html", {"lang": now.lang})),
        Offered("estimates", f"{root}/estimates.csv"),
        Offered("profile", f"{root}/profile.json"),
    ]
