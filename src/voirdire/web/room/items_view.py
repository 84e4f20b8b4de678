"""Cards of items: what a grid shows of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from voirdire.browsing.item_pools import ItemPools
from voirdire.browsing.said import STATUSES
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.corpus.shown import Item
from voirdire.texts import text
from voirdire.web.room.items_marks import MOST_BARS, Strip, bars_of, colour, place_on, plain, said_number
from voirdire.web.room.items_query import Asked

SNIPPET = 180
MOST_STRIPS = 4


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its name, or the reason why there is none. more : what belongs to it, in words"""

    name: str
    value: str
    reason: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class Worded:
    """A text of an item in its language (an empty code where that is unknown)."""

    lang: str
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """One item. number : in addresses; snippet : the beginning of its text; missing : judgments without a rating"""

    number: int
    id: str
    snippet: Worded | None
    alt: str
    pictured: bool
    pair: str
    chips: tuple[str, ...]
    strips: tuple[Strip, ...]
    facts: tuple[Fact, ...]
    missing: tuple[tuple[str, int], ...]


class Cards:
    """Makes the cards of items in one language, for one question and pair of pools."""

    def __init__(self, numbers: ShelfNumbers, asked: Asked, lang: str) -> None:
        self.numbers = numbers
        self.asked = asked
        self.lang = lang
        self.pools = numbers.pools(asked.question)
        judged = numbers.judged(asked.question)
        self.judges = judged.judges
        self.other_scale = frozenset() if judged.said is None else judged.said.rank_only
        self.controls = () if judged.said is None else tuple(filter(judged.said.is_control, judged.judges))
        self.frame = numbers.frame(asked.question, asked.pair)
        self._far = numbers.distances(asked.question, asked.filters.judge)
        place = asked.filters.judge
        self.judge = None if place is None else self.judges[place]

    def of(self, places: Iterable[int]) -> list[Card]:
        """The cards of items by their numbers, in this order."""
        return [self._card(row) for row in self.rows(list(places))]

    def rows(self, wanted: Sequence[int]) -> list[dict[str, Any]]:
        """The numbers of items, and the distances of the chosen judge or of all, by their columns."""
        at = [number - 1 for number in wanted]
        apart = self._far[at].iter_rows(named=True) if self._far.width else ({} for _ in at)
        return [row | own for row, own in zip(self.frame[at].iter_rows(named=True), apart, strict=True)] if at else []

    @property
    def width(self) -> float | None:
        """How wide the scale is on which numbers are shown."""
        ends = self.ends
        return None if ends is None else ends[1] - ends[0]

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the scale on which numbers are shown; None where it has none."""
        if self.pools is not None:
            return None if self.pools.scale.nominal else self.pools.ends
        question = self.numbers.questions.get(self.asked.question)
        if question is None or question.scale.low is None or question.scale.high is None:
            return None
        return float(question.scale.low), float(question.scale.high)

    def said(self, key: str, **fields: Any) -> str:
        """A sentence of this part's catalogue."""
        return text(f"room_items.{key}", self.lang, **fields)

    def why(self, row: dict[str, Any], name: str) -> str:
        """The reason why a number of a row is undefined."""
        reason = row.get(f"{name}.why")
        return self.said(f"why.{reason}") if reason else ""

    def _card(self, row: dict[str, Any]) -> Card:
        item = self.numbers.shelf.items[row["item_id"]]
        return Card(
            row["n"],
            item.id,
            snippet_of(item, self.lang),
            worded(item.alts, self.lang).text if item.alts else "",
            self.numbers.shelf.pictured(item.id),
            item.pair or "",
            self.chips(row),
            self.strips(row),
            self.facts(row),
            self._missing(row),
        )

    def _missing(self, row: dict[str, Any]) -> tuple[tuple[str, int], ...]:
        """How many judgments ended without a rating, of the chosen judge or of all."""
        own = "" if self.judge is None else f".{self.asked.filters.judge}"
        counts = ((name, row.get(f"status.{name}{own}")) for name in STATUSES)
        return tuple((name, count) for name, count in counts if count)

    def chips(self, row: dict[str, Any]) -> tuple[str, ...]:
        """Levels of the item, its anchor class, and its split where that is no test item."""
        found = [row[f"by.{name}"] for name in self.numbers.slicing if row[f"by.{name}"]]
        if row["anchor"]:
            found.append(self.said(f"class.{row['anchor']}"))
        if row["split"] != "test":
            found.append(row["split"])
        return tuple(found)

    def strips(self, row: dict[str, Any]) -> tuple[Strip, ...]:
        """A line for each pool, at most four (those of the pair first), and one for the judges."""
        lines = [] if self.pools is None else [self._pool(self.pools, k, row) for k in self.shown(self.pools, row)]
        judged = self._judges(row)
        return (*lines, *([judged] if judged else []))

    def shown(self, pools: ItemPools, row: dict[str, Any]) -> list[int]:
        """Of many pools those of the pair, or those that the order is about."""
        count, order = len(pools.pools), self.asked.order
        if count <= MOST_STRIPS or self.asked.pair is None:
            return list(range(min(count, MOST_STRIPS)))
        if order.by == "widest" and row["widest.a"] is not None:
            return [row["widest.a"], row["widest.b"]]
        return list(dict.fromkeys([*self.asked.pair, *([] if order.pool is None else [order.pool])]))

    def _pool(self, pools: ItemPools, k: int, row: dict[str, Any]) -> Strip:
        name, place = pools.pools[k], row["n"] - 1
        shares, names = _shares(pools, k, place)
        consensus = row.get(f"consensus.{k}")
        value = said_number(consensus, self.width) if consensus is not None else _plurality(shares, names)
        if not value:
            return Strip(name, colour(k), self.said("no_consensus_of", pool=name), reason=self.said("none"))
        counted = ", ".join(f"{level}: {share:.0%}" for level, share in zip(names, shares, strict=True) if share)
        key = "pool_shares" if counted else "pool_consensus"
        said = self.said(key, pool=name, value=value, shares=counted)
        mark = None if shares else place_on(consensus, self.ends)
        return Strip(name, colour(k), said, bars_of(shares, names), mark, (), value)

    def _judges(self, row: dict[str, Any]) -> Strip | None:
        if self.judge is not None:
            return self._chosen(row, self.judge)
        left_out = self.other_scale.union(self.controls)
        means = [(name, row.get(f"mean.{j}")) for j, name in enumerate(self.judges) if name not in left_out]
        known = [(name, mean) for name, mean in means if mean is not None]
        if not known:
            return None
        places = [place_on(mean, self.ends) for _, mean in known]
        told = ", ".join(f"{name}: {said_number(mean, self.width)}" for name, mean in known)
        middle = sum(mean for _, mean in known) / len(known)
        ticks = tuple(place for place in places if place is not None)
        said = self.said("judges_means", means=told)
        return Strip(self.said("judges"), -1, said, (), None, ticks, said_number(middle, self.width))

    def _chosen(self, row: dict[str, Any], judge: str) -> Strip | None:
        """The mean of the chosen judge alone; None of labels, which have no mean."""
        if self.pools is not None and self.pools.scale.nominal:
            return None
        mean, foreign = row.get(f"mean.{self.asked.filters.judge}"), judge in self.other_scale
        if mean is None or foreign:
            reason = "other_scale" if mean is not None else "none"
            return Strip(judge, -1, "", reason=self.said(reason))
        place, value = place_on(mean, self.ends), said_number(mean, self.width)
        said = self.said("judges_means", means=f"{judge}: {value}")
        return Strip(judge, -1, said, (), None, () if place is None else (place,), value)

    def facts(self, row: dict[str, Any]) -> tuple[Fact, ...]:
        """Distances from pools, gap of the chosen pair, the widest one where there are more, deltas, disagreement.

        What no item can have (see ``notes``) is left out.
        """
        found: list[Fact] = []
        if self.pools is not None and self.judges and self._measured:
            found += [self._apart(self.pools, k, row) for k in self.shown(self.pools, row)]
        if self.asked.pair is not None and self.pools is not None:
            found.append(self._gap(row))
            if len(self.pools.pools) > 2:
                found.append(self._widest(self.pools, row))
            if self.judges:
                found += [self._tilt(row), *self._most(row)]
        if self._compared:
            value = said_number(row["disagreement"], self.width)
            found.append(Fact(self.said("number.disagreement"), value, self.why(row, "disagreement")))
        return tuple(found)

    @property
    def notes(self) -> list[str]:
        """What no item of the shelf can have, and why: it is said once and not on every card."""
        found = []
        if self.pools is None or self.asked.pair is None:
            reason = "no_pools" if self.pools is None else "one_pool"
            found.append(self.said("no_gaps", why=self.said(f"why.{reason}")))
        if len(self.judges) - len(self.controls) > 1 and not self._compared:
            reason = "other_scale" if self.other_scale else "no_order"
            found.append(self.said("no_disagreement", why=self.said(f"why.{reason}")))
        if self.pools is not None and self.judges and not self._measured:
            reason = "other_scale" if self.pools.has_distances else "no_shares"
            found.append(self.said("no_distances", why=self.said(f"why.{reason}")))
        return found

    @property
    def _measured(self) -> bool:
        """Whether the chosen judge, or any, can have a distance from a pool."""
        judges = self.judges if self.judge is None else (self.judge,)
        return self.pools is not None and self.pools.has_distances and not self.other_scale.issuperset(judges)

    def _apart(self, pools: ItemPools, k: int, row: dict[str, Any]) -> Fact:
        """The distance from one pool."""
        rated = pools.arrays.has[k, row["n"] - 1]
        pool, value = pools.pools[k], said_number(row[f"far.{k}"], self._tilt_width)
        title = (
            self.said("far_from", pool=pool) if self.judge is None else self.said("far_of", judge=self.judge, pool=pool)
        )
        if value:
            return Fact(title, value, more=self._lean(row[f"over.{k}"], self._tilt_width))
        return Fact(title, "", self._unrated(row) if rated else self.said("none_of_pool", pool=pool))

    def apart_words(self, pools: ItemPools, far: Sequence[float], over: Sequence[float], shown: Iterable[int]) -> str:
        """The distances of one judge from some pools on one line; empty where it has none."""
        width = _width_of(pools)
        told = []
        for k in shown:
            value = said_number(None if np.isnan(far[k]) else float(far[k]), width)
            lean = self._lean(None if np.isnan(over[k]) else float(over[k]), width)
            key = "apart_leaning" if lean else "apart"
            told += [self.said(key, pool=pools.pools[k], value=value, lean=lean)] if value else []
        return self.said("comma").join(told)

    def _lean(self, over: float | None, width: float | None) -> str:
        """How much too high or too low ratings are on average; empty where that is undefined."""
        if over is None:
            return ""
        key = "over" if over > 0 else "under" if over < 0 else "level"
        return self.said(key, value=said_number(abs(over), width))

    def _unrated(self, row: dict[str, Any]) -> str:
        """Why the chosen judge, or all of them, have no number on an item that people rated."""
        if self.judge is not None:
            foreign = self.judge in self.other_scale and row.get(f"mean.{self.asked.filters.judge}") is not None
            return self.said("why.other_scale") if foreign else self.said("no_rating_of", judge=self.judge)
        rated = [name for j, name in enumerate(self.judges) if row.get(f"mean.{j}") is not None]
        counted = set(rated).difference(self.controls)
        return self.said(f"why.{'other_scale' if counted else 'only_controls' if rated else 'not_judged'}")

    @property
    def _compared(self) -> bool:
        """Whether there are judges whose ratings can be compared with each other."""
        nominal = self.pools is not None and self.pools.scale.nominal
        return not nominal and len(set(self.judges) - self.other_scale.union(self.controls)) > 1

    def _gap(self, row: dict[str, Any]) -> Fact:
        signed = self.pools is not None and not self.pools.scale.nominal
        value = said_number(row["gap"], self.width if signed else 1, signed=signed)
        return Fact(self.said("number.gap"), value, self.why(row, "gap"), self._higher(row["gap"]) if signed else "")

    def _higher(self, gap: float | None) -> str:
        if self.pools is None or self.asked.pair is None or not gap:
            return ""
        pool = self.pools.pools[self.asked.pair[0 if gap > 0 else 1]]
        return self.said("higher", pool=pool)

    def _widest(self, pools: ItemPools, row: dict[str, Any]) -> Fact:
        value = said_number(row["widest"], 1 if pools.scale.nominal else self.width)
        ends = [row["widest.a"], row["widest.b"]]
        names = [pools.pools[k] for k in ends if k is not None]
        key = "pair_of" if pools.scale.nominal else "between"
        more = self.said(key, a=names[0], b=names[1]) if row["widest"] and len(names) == 2 else ""
        return Fact(self.said("number.widest"), value, self.why(row, "widest"), more)

    def _tilt(self, row: dict[str, Any]) -> Fact:
        name = "tilt" if self.judge is None else f"tilt.{self.asked.filters.judge}"
        title = self.said("number.tilt") if self.judge is None else self.said("tilt_of", judge=self.judge)
        value = said_number(row[name], self._tilt_width, signed=True)
        reason = self.why(row, "tilt")
        if self.judge is not None and row["tilt.why"] in (None, "not_judged", "only_controls", "other_scale"):
            reason = self._unrated(row)
        return Fact(title, value, "" if value else reason, self._nearer(row[name]))

    @property
    def _tilt_width(self) -> float | None:
        return self.width if self.pools is None else _width_of(self.pools)

    def tilt_words(self, row: dict[str, Any], judge: str) -> str:
        """The tilt of one judge on an item, in words; empty where it has none."""
        name = f"tilt.{self.judges.index(judge)}" if judge in self.judges else ""
        value = said_number(row.get(name), self._tilt_width, signed=True)
        return self.said("tilt_is", value=value) if value else ""

    def _nearer(self, tilt: float | None) -> str:
        if self.pools is None or self.asked.pair is None or not tilt:
            return ""
        return self.said("nearer", pool=self.pools.pools[self.asked.pair[1 if tilt > 0 else 0]])

    def _most(self, row: dict[str, Any]) -> Iterable[Fact]:
        if len(self.judges) - len(self.controls) < 2 or row["tilt_most"] is None:
            return
        value, several = said_number(row["tilt_most"], self._tilt_width, signed=True), row["tilt_most.n"]
        if row["tilt_most.mixed"]:
            value = "±" + said_number(abs(row["tilt_most"]), self._tilt_width)
        more = self.judges[row["tilt_most.judge"]] if several == 1 else self.said("judges_n", count=several)
        more = more if row["tilt_most"] else ""
        yield Fact(self.said("number.tilt_most"), value, more=more)


def _width_of(pools: ItemPools) -> float | None:
    """How wide the scale is that distances are given on."""
    if pools.scale.nominal:
        return 1.0
    return None if pools.ends is None else pools.ends[1] - pools.ends[0]


def _shares(pools: ItemPools, k: int, place: int) -> tuple[list[float], list[str]]:
    """The shares of a pool's answers and their names, where they are few enough to be drawn."""
    if pools.arrays.shares is not None:
        shares = pools.arrays.shares[k, place]
        return ([], []) if np.isnan(shares).any() else (shares.tolist(), list(pools.scale.labels))
    if pools.counts is None or pools.values is None or len(pools.values) > MOST_BARS:
        return [], []
    counts = pools.counts[k, place]
    if not counts.sum():
        return [], []
    labels = pools.scale.labels if len(pools.scale.labels) == len(pools.values) else ()
    return (counts / counts.sum()).tolist(), list(labels or (plain(value) for value in pools.values))


def _plurality(shares: Sequence[float], names: Sequence[str]) -> str:
    """The answer that most raters gave, with its share."""
    if not shares:
        return ""
    most = int(np.argmax(shares))
    return f"{names[most]} {shares[most]:.0%}"


def worded(texts: Any, lang: str) -> Worded:
    """A text in the reader's language, else in an unknown one, else in the first one there is."""
    for code in (lang, "und", *texts):
        if code in texts:
            return Worded("" if code == "und" else code, texts[code])
    return Worded("", "")


def snippet_of(item: Item, lang: str) -> Worded | None:
    """The beginning of what is rated; None of an item without a text."""
    if not item.texts:
        return None
    found = worded(item.texts, lang)
    short = found.text if len(found.text) <= SNIPPET else found.text[:SNIPPET].rstrip() + "…"
    return Worded(found.lang, short)


def pair_groups(
    frame: pl.DataFrame, whole: pl.DataFrame, pairs: Sequence[str]
) -> list[tuple[str, list[int], set[int]]]:
    """Of each concept pair: the numbers of all its items, and of those among them that the filter left.

    frame : the items that are shown; whole : all of them
    """
    members = whole.select("pair_id", "n").filter(pl.col("pair_id").is_in(list(pairs)))
    left = set(frame.filter(pl.col("pair_id").is_in(list(pairs)))["n"].to_list())
    by_pair: dict[str, list[int]] = {pair: [] for pair in pairs}
    for pair, number in members.iter_rows():
        by_pair[pair].append(number)
    return [(pair, numbers, left & set(numbers)) for pair, numbers in by_pair.items()]
