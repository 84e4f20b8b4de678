"""The form of a new batch: its fields, and the batch that they describe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import BatchKind, BatchSpec, Study
from voirdire.annotation.study_defaults import for_pilot
from voirdire.annotation.study_parts import NUMBERS as RANGES
from voirdire.annotation.untrusted import LONGEST_TOLD, is_text
from voirdire.errors import UsageError
from voirdire.texts import text

MOST_TOLD = 10
NUMBERS = ("raters_per_item", "items_per_rater", "repeats")
KINDS: tuple[BatchKind, ...] = ("rating", "pilot")


@dataclass(frozen=True, slots=True)
class Part:
    """A split or a category that can be chosen: the field's name, the value, how many items, whether it is ticked."""

    field: str
    value: str
    count: int
    ticked: bool


@dataclass(frozen=True, slots=True)
class Parts:
    """What items can be chosen by."""

    splits: tuple[Part, ...]
    categories: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """Items with known answers, which leave the ratings, and how many items of a pair remain without their mate."""

    count: int
    left: int
    alone: int

    def told(self, lang: str) -> str:
        """The sentence on them, empty where there are none."""
        key = "lead.new.gold_alone" if self.alone else "lead.new.gold"
        return text(key, lang, count=self.count, left=self.left, alone=self.alone) if self.count else ""


def known_of(shown: Shown, study: Study) -> Known:
    """The items with known answers of a corpus; rejected items are not counted."""
    gold = {known.item_id for known in study.gold}
    items = [item for item in shown.items.values() if item.split != "rejected"]
    free = [item for item in items if item.id not in gold]
    paired = {item.pair for item in items if item.id in gold and item.pair}
    pairs = [item.pair for item in free]
    alone = sum(pairs.count(pair) == 1 for pair in paired)
    return Known(len(gold), len(free), alone)


def parts_of(shown: Shown, study: Study, form: Mapping[str, str]) -> Parts:
    """The splits and categories of the corpus, ticked as the form was; at first all but rejected items."""
    free = _free(shown, study)
    splits = [shown.items[name].split for name in free]
    categories = [shown.items[name].category or "" for name in free]
    return Parts(
        tuple(
            Part(
                f"split_{place}",
                value,
                splits.count(value),
                f"split_{place}" in form or (not form and value != "rejected"),
            )
            for place, value in enumerate(dict.fromkeys(splits))
        ),
        tuple(
            Part(f"category_{place}", value, categories.count(value), f"category_{place}" in form or not form)
            for place, value in enumerate(dict.fromkeys(categories))
        ),
    )


def spec_of_form(form: Mapping[str, str], shown: Shown, study: Study) -> BatchSpec:
    """The batch that a form describes. Raises UsageError for what cannot be."""
    name = " ".join(form.get("name", "").split())
    if not name or not is_text(name, LONGEST_TOLD):
        raise UsageError("lead.new.name_bad", limit=LONGEST_TOLD)
    kind = next((known for known in KINDS if known == form.get("kind")), None)
    if kind is None:
        raise UsageError("lead.new.kind_bad")
    numbers = {name: _number(form, name) for name in NUMBERS}
    wanted = replace(
        study,
        raters_per_item=numbers["raters_per_item"] or study.raters_per_item,
        items_per_rater=numbers["items_per_rater"],
        repeats=numbers["repeats"] or 0,
    )
    if wanted.items_per_rater is not None and wanted.repeats > wanted.items_per_rater:
        raise UsageError("lead.new.repeats_many", repeats=wanted.repeats, items=wanted.items_per_rater)
    items = _items(form, shown, study)
    asked = {*items, *(gold.item_id for gold in study.gold)}
    pairs = {item: pair for item, pair in shown.pairs.items() if item in asked}
    return BatchSpec(name, for_pilot(wanted) if kind == "pilot" else wanted, items, kind, pairs)


def _free(shown: Shown, study: Study) -> list[str]:
    """Items that can be rated: those with known answers are asked as checks only."""
    gold = {known.item_id for known in study.gold}
    return [name for name in shown.items if name not in gold]


def _items(form: Mapping[str, str], shown: Shown, study: Study) -> tuple[str, ...]:
    named = [name for name in re.split(r"[\s,;]+", form.get("ids", "")) if name]
    if named:
        return _named(named, shown, study)
    parts = parts_of(shown, study, form)
    splits = {part.value for part in parts.splits if part.ticked}
    categories = {part.value for part in parts.categories if part.ticked}
    free = [(name, shown.items[name]) for name in _free(shown, study)]
    found = tuple(name for name, item in free if item.split in splits and (item.category or "") in categories)
    if not found:
        raise UsageError("lead.new.no_items")
    return found


def _named(named: list[str], shown: Shown, study: Study) -> tuple[str, ...]:
    free = set(_free(shown, study))
    for key, wrong in (
        ("lead.new.unknown_items", [name for name in named if name not in shown.items]),
        ("lead.new.gold_items", [name for name in named if name in shown.items and name not in free]),
    ):
        if wrong:
            more = ", …" if len(wrong) > MOST_TOLD else ""
            raise UsageError(key, count=len(wrong), value=", ".join(wrong[:MOST_TOLD]) + more)
    return tuple(dict.fromkeys(named))


def _number(form: Mapping[str, str], name: str) -> int | None:
    written = form.get(name, "").strip()
    if not written:
        return None
    value = int(written) if re.fullmatch(r"[0-9]{1,9}", written) else -1
    low, high = RANGES[name]
    if not low <= value <= high:
        raise UsageError(f"lead.new.number_bad_{name}", value=written, low=low, high=high)
    return value
