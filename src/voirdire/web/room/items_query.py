"""The state of a view of items: read from the query of an address, and written into one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from voirdire.browsing.item_filters import BY_STATUS, NO_RATING, SORTS, Filters, Order
from voirdire.browsing.item_pools import ItemPools
from voirdire.browsing.item_table import CLASSES, Pair
from voirdire.browsing.shelf_numbers import ShelfNumbers

VIEWS = ("grid", "pairs")
BY, FAR = "by.", "far."
MOST_TEXT = 200
STATUSES = (*BY_STATUS, NO_RATING)


@dataclass(frozen=True)
class Asked:
    """What a reader asked to see. page : from 1; view : one of ``VIEWS``"""

    question: str = ""
    pair: Pair | None = None
    filters: Filters = field(default_factory=Filters)
    order: Order = field(default_factory=Order)
    page: int = 1
    view: str = "grid"

    def query(self, numbers: ShelfNumbers, **changes: Any) -> dict[str, str]:
        """The query that leads here again, with some parts changed; what is as usual is left out."""
        return query_of(replace(self, **changes), numbers)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a reader asked to see of long lists: the ratings of one judge or the calls of one, and which part (from 1).

    ratings : a judge; replies : the key of ``RepliesShown``
    """

    ratings: str = ""
    replies: str = ""
    part: int = 1


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a list that is too long for a page: the places from ``first`` to ``last``, each from 1.

    >>> Part.of(130, 60, 3)
    Part(first=121, last=130, number=3, parts=3)
    """

    first: int
    last: int
    number: int
    parts: int

    @classmethod
    def of(cls, count: int, size: int, number: int) -> Part:
        """The part of this number, or the last one there is."""
        parts = max(1, ceil(count / size))
        number = min(number, parts)
        return cls((number - 1) * size + 1, min(number * size, count), number, parts)


def read_query(given: Mapping[str, str], numbers: ShelfNumbers) -> Asked:
    """What a query asks for; a part that names nothing of this shelf (see ``unheard``) is left out."""
    question = given.get("question", "")
    if question not in numbers.questions:
        question = usual_question(numbers)
    judges = numbers.judged(question).judges
    judge = judges.index(given["judge"]) if given.get("judge") in judges else None
    filters = Filters(
        {name: given[BY + name] for name, levels in numbers.slicing.items() if given.get(BY + name) in levels},
        _one_of(given.get("anchor"), CLASSES),
        _one_of(given.get("split"), numbers.splits),
        judge,
        _one_of(given.get("status"), STATUSES),
        given.get("text", "").strip()[:MOST_TEXT],
    )
    pair = _pair(given, numbers, question)
    order = replace(orders_of(numbers, question, pair).get(given.get("sort", ""), Order()), judge=judge)
    order = replace(order, reverse=given.get("reverse") == "1")
    view = _one_of(given.get("view"), VIEWS) if numbers.n_pairs else ""
    return Asked(question, pair, filters, order, _number(given.get("page", "")), view or VIEWS[0])


def orders_of(numbers: ShelfNumbers, question: str, pair: Pair | None) -> dict[str, Order]:
    """What items can be sorted by, as it stands in addresses: ``far.POOL`` by the distance from a pool."""
    judged, pools = bool(numbers.judged(question).judges), numbers.pools(question)
    known = ["order", "id"]
    known += ["gap"] if pair is not None else []
    known += ["widest"] if pools is not None and len(pools.pools) > 2 else []
    known += ["tilt", "tilt_most"] if judged and pair is not None else []
    known += ["disagreement", *BY_STATUS] if judged else []
    found: dict[str, Order] = {}
    for by in SORTS:
        if by == "far" and judged and pools is not None and pools.has_distances:
            found |= {FAR + pool: Order("far", pool=k) for k, pool in enumerate(pools.pools)}
        elif by in known:
            found[by] = Order(by)
    return found


def named_order(order: Order, pools: ItemPools | None) -> str:
    """An order as it stands in addresses."""
    return order.by if order.pool is None or pools is None else FAR + pools.pools[order.pool]


def unheard(given: Mapping[str, str], numbers: ShelfNumbers, asked: Asked) -> list[tuple[str, str]]:
    """What a query names that is not here: (kind, value), the kinds of ``room_items.unknown``."""
    pools = numbers.pools(asked.question)
    names = () if pools is None else pools.pools
    known: dict[str, Collection[str]] = {
        "question": numbers.questions,
        "judge": numbers.judged(asked.question).judges,
        "status": STATUSES,
        "anchor": CLASSES,
        "split": numbers.splits,
        "sort": orders_of(numbers, asked.question, asked.pair),
        "view": VIEWS if numbers.n_pairs else VIEWS[:1],
        "a": names,
        "b": names,
        "pair": {f"{a},{b}" for a in names for b in names if a != b},
    }
    found = [(name, given[name]) for name, values in known.items() if given.get(name) and given[name] not in values]
    for name, value in given.items():
        column = name.removeprefix(BY)
        if name == column or not value:
            continue
        if column not in numbers.slicing:
            found.append(("column", column))
        elif value not in numbers.slicing[column]:
            found.append(("level", value))
    return [(kind, value[:MOST_TEXT]) for kind, value in found]


def read_opened(given: Mapping[str, str]) -> Opened:
    """What a query asks to see of long lists."""
    return Opened(given.get("ratings", ""), given.get("replies", ""), _number(given.get("part", "")))


def _number(given: str) -> int:
    return max(1, int(given)) if given.isascii() and given.isdigit() and len(given) < 8 else 1


def usual_question(numbers: ShelfNumbers) -> str:
    """The first question that judges answer, else the first one; empty where there is none."""
    return next(iter((*numbers.judged_questions, *numbers.questions)), "")


def _pair(given: Mapping[str, str], numbers: ShelfNumbers, question: str) -> Pair | None:
    """The pair that is asked for, in the order asked for: by ``pair=a,b`` or by ``a`` and ``b``; else the first."""
    pools = numbers.pools(question)
    known = numbers.pairs(question)
    if pools is None or not known:
        return None
    names = pools.pools
    if given.get("a") in names and given.get("b") in names and given["a"] != given["b"]:
        return names.index(given["a"]), names.index(given["b"])
    told = {f"{names[a]},{names[b]}": (a, b) for first, second in known for a, b in ((first, second), (second, first))}
    return told.get(given.get("pair", ""), known[0])


def query_of(asked: Asked, numbers: ShelfNumbers) -> dict[str, str]:
    """The query of a view, without what is as usual."""
    filters, order, pools = asked.filters, asked.order, numbers.pools(asked.question)
    told = {"question": asked.question if asked.question != usual_question(numbers) else ""}
    if pools is not None and asked.pair is not None and asked.pair != numbers.pairs(asked.question)[0]:
        told["pair"] = ",".join(pools.pools[k] for k in asked.pair)
    told |= {BY + name: level for name, level in filters.by.items()}
    told |= {"anchor": filters.anchor, "split": filters.split}
    judges = numbers.judged(asked.question).judges
    told["judge"] = "" if filters.judge is None else judges[filters.judge]
    told |= {"status": filters.status, "text": filters.text}
    told["sort"] = named_order(order, pools) if order.by != SORTS[0] else ""
    told["reverse"] = "1" if order.reverse else ""
    told["view"] = asked.view if asked.view != VIEWS[0] else ""
    told["page"] = str(asked.page) if asked.page > 1 else ""
    return {name: value for name, value in told.items() if value}


def is_filtered(asked: Asked) -> bool:
    """Whether only some of the items are asked for."""
    return asked.filters != Filters()


def _one_of(value: str | None, known: tuple[str, ...]) -> str:
    return value if value is not None and value in known else ""
