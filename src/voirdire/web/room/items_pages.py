"""The pages of items: a grid of them with filters, and everything about one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import polars as pl
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from voirdire.browsing.item_filters import SORTS, beside, paired
from voirdire.browsing.item_table import CLASSES
from voirdire.browsing.library import NotThere, Shelf
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.corpus.shown import Item
from voirdire.texts import text
from voirdire.web.pages import ui_language
from voirdire.web.room.item_page import item_fields
from voirdire.web.room.items_query import (
    FAR,
    STATUSES,
    VIEWS,
    Asked,
    is_filtered,
    named_order,
    orders_of,
    read_opened,
    read_query,
    unheard,
    usual_question,
)
from voirdire.web.room.items_view import Card, Cards, pair_groups
from voirdire.web.room.pages import address, room_page
from voirdire.web.room.service import Room, room_of
from voirdire.web.room.thumbnails import image_response, thumbnail_response, thumbnails_of

router = APIRouter()
A_PAGE, PAIRS_A_PAGE = 48, 24
MOST_PAIRS_LISTED = 45
MOST_DIGITS = 10
NARROWING = ("judge", "status", "anchor", "split", "column", "level")
"""Kinds of what an address can name that narrow the items."""


@dataclass(frozen=True)
class Choice:
    """One choice of a list. name : in words; usual : whether it is what an address without it means"""

    value: str
    name: str
    chosen: bool = False
    usual: bool = False


@dataclass(frozen=True)
class Field:
    """A list to choose from. name : in addresses; label : in words; any : what the empty choice is called"""

    name: str
    label: str
    choices: tuple[Choice, ...]
    any: str = ""


def numbers_of(room: Room, shelf: Shelf) -> ShelfNumbers:
    """The numbers of a shelf, made once."""
    profiles = [one.profile for one in room.library.audits if one.shelf == shelf.slug] if shelf.compared else []
    told = profiles[0].meta["questions"] if profiles else ()
    return room.kept.get(("items", shelf.slug), lambda: ShelfNumbers(shelf, told))


@router.get("/items/{slug}")
def grid(request: Request, slug: str) -> Response:
    """The items of a shelf that meet the filters, in the order asked for."""
    room = room_of(request)
    shelf = room.library.shelf(slug)
    wanted = request.query_params.get("item")
    if wanted is not None:
        if wanted not in shelf.places:
            raise NotThere("room_items.no_id", shelf=shelf.title, value=wanted[:80])
        return RedirectResponse(f"/items/{shelf.slug}/{shelf.places[wanted]}", 303)
    numbers, lang = numbers_of(room, shelf), ui_language(request)
    asked = read_query(request.query_params, numbers)
    cards = Cards(numbers, asked, lang)
    shown = numbers.listed(asked.question, asked.pair, asked.filters, asked.order)
    return room_page(
        request,
        "room/items.html.jinja",
        here="items",
        shelf=shelf,
        asked=asked,
        found=shown.height,
        total=cards.frame.height,
        fields=fields_of(numbers, asked, lang),
        hidden=_hidden(asked, numbers),
        filtered=is_filtered(asked),
        without_filters=address(f"/items/{shelf.slug}", asked.query(numbers, filters=type(asked.filters)(), page=1)),
        views=_views(numbers, asked, shelf, lang),
        pair=_pair_names(numbers, asked),
        notes=cards.notes,
        warnings=_warnings(request, numbers, asked, lang, cards.frame.height),
        controls=cards.controls,
        **_listed(cards, shown, asked, shelf),
    )


def _item(shelf: Shelf, number: str) -> Item:
    """The item of a number as it stands in an address. Raises NotThere."""
    if number.isascii() and number.isdigit() and len(number) < MOST_DIGITS:
        return shelf.item(int(number))
    raise NotThere("room.no_item", shelf=shelf.title, number=number[:80], count=len(shelf.ids))


def _warnings(request: Request, numbers: ShelfNumbers, asked: Asked, lang: str, total: int | None = None) -> list[str]:
    """What the address names that is not here, and what is shown instead. total : of a grid's items"""
    found = []
    for kind, value in unheard(request.query_params, numbers, asked):
        tail = "usual"
        if total is not None and kind in NARROWING:
            tail = "narrows_nothing" if is_filtered(asked) else "all_shown"
        what = text(f"room_items.unknown.{kind}", lang, value=value)
        found.append(text(f"room_items.{tail}", lang, what=what, total=f"{total or 0:,}"))
    return found


def _listed(cards: Cards, shown: Any, asked: Asked, shelf: Shelf) -> dict[str, Any]:
    """The cards of a page, one by one or pair by pair, and the pages before and after."""
    numbers = cards.numbers
    pairs = paired(shown) if asked.view == "pairs" else None
    count, size = (shown.height, A_PAGE) if pairs is None else (len(pairs), PAIRS_A_PAGE)
    pages = max(1, ceil(count / size))
    page = min(asked.page, pages)
    start = (page - 1) * size
    groups: list[tuple[str, list[Card], set[int]]] = []
    if pairs is None:
        groups = [("", cards.of(shown["n"][start : start + size].to_list()), set())]
    else:
        for pair, members, left in pair_groups(shown, cards.frame, pairs[start : start + size].to_list()):
            groups.append((pair, cards.of(members), left))

    def to(number: int) -> str:
        return address(f"/items/{shelf.slug}", asked.query(numbers, page=number))

    state = asked.query(numbers, page=page)
    return {
        "groups": groups,
        "n_pairs": None if pairs is None else count,
        "page": page,
        "pages": pages,
        "before": to(page - 1),
        "after": to(page + 1),
        "first": start + 1 if count else 0,
        "last": min(start + size, count),
        "link": lambda number: address(f"/items/{shelf.slug}/{number}", state),
    }


def _hidden(asked: Asked, numbers: ShelfNumbers) -> dict[str, str]:
    """What the form keeps of the state although it does not ask for it."""
    kept = asked.query(numbers)
    return {name: kept[name] for name in ("view",) if name in kept}


def _views(numbers: ShelfNumbers, asked: Asked, shelf: Shelf, lang: str) -> list[Choice]:
    """Links to the same items one by one and pair by pair, where there are concept pairs."""
    if not numbers.n_pairs:
        return []
    return [
        Choice(
            address(f"/items/{shelf.slug}", asked.query(numbers, view=view, page=1)),
            text(f"room_items.view.{view}", lang),
            asked.view == view,
        )
        for view in VIEWS
    ]


def _pair_names(numbers: ShelfNumbers, asked: Asked) -> tuple[str, ...]:
    pools = numbers.pools(asked.question)
    return () if pools is None or asked.pair is None else tuple(pools.pools[k] for k in asked.pair)


def fields_of(numbers: ShelfNumbers, asked: Asked, lang: str) -> dict[str, list[Field]]:
    """The lists of the form: ``main`` ones are always to be seen, ``more`` are folded."""

    def said(key: str, **named: Any) -> str:
        return text(f"room_items.{key}", lang, **named)

    everything = said("all")
    main = [_sorts(numbers, asked, lang)]
    more = []
    if len(numbers.questions) > 1:
        choices = tuple(
            Choice(name, name, name == asked.question, name == usual_question(numbers)) for name in numbers.questions
        )
        more.append(Field("question", said("question"), choices))
    more += _pair_fields(numbers, asked, lang)
    for name, levels in numbers.slicing.items():
        choices = tuple(Choice(level, level, asked.filters.by.get(name) == level) for level in levels)
        more.append(Field(f"by.{name}", name, choices, everything))
    classes = numbers.frame(asked.question, asked.pair)["anchor"].drop_nulls().unique().to_list()
    if classes:
        kinds = [name for name in CLASSES if name in classes or (name == "contested" and "divergent" in classes)]
        names = [(name, said(f"class.{name}")) for name in kinds]
        choices = tuple(Choice(name, shown, asked.filters.anchor == name) for name, shown in names)
        more.append(Field("anchor", said("anchor"), choices, everything))
    if len(numbers.splits) > 1:
        choices = tuple(Choice(name, name, asked.filters.split == name) for name in numbers.splits)
        more.append(Field("split", said("split"), choices, everything))
    judges = numbers.judged(asked.question).judges
    if judges:
        choices = tuple(Choice(name, name, asked.filters.judge == j) for j, name in enumerate(judges))
        more.append(Field("judge", said("judge"), choices, everything))
        choices = tuple(Choice(name, said(f"status.{name}"), asked.filters.status == name) for name in STATUSES)
        more.append(Field("status", said("without_rating"), choices, said("no_matter")))
    return {"main": main, "more": more}


def _sorts(numbers: ShelfNumbers, asked: Asked, lang: str) -> Field:
    chosen = named_order(asked.order, numbers.pools(asked.question))
    choices = tuple(
        Choice(
            name,
            text(f"room_items.sort.{order.by}", lang, pool=name.removeprefix(FAR)),
            chosen == name,
            name == SORTS[0],
        )
        for name, order in orders_of(numbers, asked.question, asked.pair).items()
    )
    return Field("sort", text("room_items.sorted", lang), choices)


def _pair_fields(numbers: ShelfNumbers, asked: Asked, lang: str) -> list[Field]:
    """One list of pairs, or of many pools one list for each side."""
    pools, pairs = numbers.pools(asked.question), numbers.pairs(asked.question)
    if pools is None or asked.pair is None or len(pools.pools) < 3:
        return []
    names = pools.pools
    if len(pairs) <= MOST_PAIRS_LISTED:
        listed = pairs if asked.pair in pairs else (asked.pair, *pairs)
        choices = tuple(
            Choice(
                f"{names[a]},{names[b]}",
                text("room_items.pair_of", lang, a=names[a], b=names[b]),
                (a, b) == asked.pair,
                (a, b) == pairs[0],
            )
            for a, b in listed
        )
        return [Field("pair", text("room_items.pools", lang), choices)]
    return [
        Field(
            side,
            text(f"room_items.pool_{side}", lang),
            tuple(Choice(name, name, k == at) for k, name in enumerate(names)),
        )
        for side, at in zip("ab", asked.pair, strict=True)
    ]


@router.get("/items/{slug}/{number}")
def item(request: Request, slug: str, number: str) -> Response:
    """Everything about one item, and the way to those before and after it among those shown."""
    room = room_of(request)
    shelf = room.library.shelf(slug)
    known = _item(shelf, number)
    at = shelf.places[known.id]
    numbers, lang = numbers_of(room, shelf), ui_language(request)
    asked = read_query(request.query_params, numbers)
    cards = Cards(numbers, asked, lang)
    shown = numbers.listed(asked.question, asked.pair, asked.filters, asked.order)
    place, before, after = beside(shown, at)
    state = asked.query(numbers)

    def to(other: int) -> str:
        return address(f"/items/{shelf.slug}/{other}", state)

    return room_page(
        request,
        "room/item.html.jinja",
        here="items",
        shelf=shelf,
        number=at,
        item=known,
        asked=asked,
        place=place,
        found=shown.height,
        before=None if before is None else to(before),
        after=None if after is None else to(after),
        back=_back(shelf, state, asked, shown, at),
        here_again=to(at),
        pair=_pair_names(numbers, asked),
        warnings=_warnings(request, numbers, asked, lang),
        link=to,
        **item_fields(room, cards, known, at, read_opened(request.query_params)),
    )


def _back(shelf: Shelf, state: dict[str, str], asked: Asked, shown: pl.DataFrame, number: int) -> str:
    """The address of the card of an item on the page of the list where it stands; of the list where it is not there."""
    row = shown.with_row_index("place").filter(pl.col("n") == number)
    if row.is_empty():
        return address(f"/items/{shelf.slug}", state)
    place, size = row["place"][0], A_PAGE
    if asked.view == "pairs":
        among = paired(shown).index_of(row["pair_id"][0]) if row["pair_id"][0] is not None else None
        if among is None:
            return address(f"/items/{shelf.slug}", state)
        place, size = among, PAIRS_A_PAGE
    page = place // size + 1
    return address(f"/items/{shelf.slug}", {**state, "page": page if page > 1 else None}) + f"#item-{number}"


@router.get("/items/{slug}/{number}/thumbnail")
def thumbnail(request: Request, slug: str, number: str) -> Response:
    """A small copy of the item's picture."""
    room = room_of(request)
    shelf = room.library.shelf(slug)
    return thumbnail_response(request, thumbnails_of(room), shelf, _item(shelf, number).id)


@router.get("/items/{slug}/{number}/image")
def image(request: Request, slug: str, number: str) -> Response:
    """The item's picture as it lies in the folder."""
    shelf = room_of(request).library.shelf(slug)
    return image_response(request, shelf, _item(shelf, number).id)
