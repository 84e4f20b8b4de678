"""What a corpus shows of its items: the images of one or more regimes, or (``text``) their realisations in words.

The first regime that is named is the main one: its items keep their ids. An image of a further regime is an item of its
own, ``<item>.<regime>``, of the same pair, culture, category and split; ``counterpart`` names the main item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.imaging.settings import REGIME, TEXT
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.image_paths import IMAGES
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import UsageError

FURTHER = "further"
"""Column by which items of a further regime are told from the main items where ratings are read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a corpus: a concept in a culture, as one regime shows it.

    counterpart : id of the main item where the regime is a further one, else empty
    """

    id: str
    item: ConceptItem
    regime: str
    counterpart: str = ""


def check_regime(regime: str) -> None:
    """Raise UsageError for a regime that is no name of a folder."""
    if not REGIME.fullmatch(regime):
        raise UsageError("build_images.regime", value=regime)


def check_regimes(regimes: str | Sequence[str]) -> tuple[str, ...]:
    """The regimes that were named, the main one first.

    Raises UsageError for a name that is none, one that stands there twice, and ``text`` beside images.

    >>> check_regimes("generated"), check_regimes(["generated", "photographs"])
    (('generated',), ('generated', 'photographs'))
    """
    named = (regimes,) if isinstance(regimes, str) else tuple(regimes)
    for place, regime in enumerate(named):
        check_regime(regime)
        if regime.casefold() in [one.casefold() for one in named[:place]]:
            raise UsageError("regimes.twice", value=regime)
    if not named:
        raise UsageError("build_images.regime", value="")
    if TEXT in named and len(named) > 1:
        raise UsageError("regimes.text_alone", value=", ".join(one for one in named if one != TEXT))
    return named


def further_id(item: str, regime: str) -> str:
    """The id of an item's image in a further regime.

    >>> further_id("tea-us", "photographs")
    'tea-us.photographs'
    """
    return f"{item}.{regime}"


def entries_of(
    items: Sequence[ConceptItem], regimes: Sequence[str], shown: Mapping[str, Collection[str]]
) -> tuple[Entry, ...]:
    """The items of the main regime, then those of each further one.

    shown : further regime -> ids of the items that it has
    Raises UsageError where two of them would have one id (on some machines capital letters make no difference).
    """
    found = [Entry(item.id, item, regimes[0]) for item in items]
    for regime in regimes[1:]:
        found += [
            Entry(further_id(item.id, regime), item, regime, item.id) for item in items if item.id in shown[regime]
        ]
    seen: dict[str, Entry] = {}
    for one in found:
        other = seen.setdefault(one.id.casefold(), one)
        if other is not one:
            fields = {"item": one.item.id, "regime": one.regime, "value": one.id, "row": other.item.row}
            raise UsageError("regimes.collision", **fields)
    return tuple(found)


def regimes_in(folder: Path | str) -> tuple[str, ...]:
    """The regimes that a folder has images of."""
    place = Path(folder) / IMAGES
    names = sorted(path.name for path in place.iterdir() if path.is_dir()) if place.is_dir() else []
    return tuple(name for name in names if REGIME.fullmatch(name))


def further_ids(folder: Path | str, items: Iterable[str], main: str | None = None) -> dict[str, str]:
    """Id that an image of an item has in a further regime -> the item, for every regime that a folder has images of.

    main : the main regime, where it is known
    """
    named = list(items)
    main_ids = set(named)
    found = {further_id(item, regime): item for regime in regimes_in(folder) if regime != main for item in named}
    return {name: item for name, item in found.items() if name not in main_ids}


def of_items(options: CorpusOptions, items: Sequence[str], further: Collection[str]) -> CorpusOptions:
    """Options by which the ratings of some items are read, and those of other regimes and of other items left aside.

    further : ids of items of further regimes

    >>> read = of_items(CorpusOptions(None), ["tea-us"], ["tea-us.photographs"])
    >>> read.items.rows(), read.exclude_items
    ([('tea-us', None), ('tea-us.photographs', 'yes')], ("further == 'yes'",))
    """
    rows = [*((item, None) for item in items), *((item, "yes") for item in further)]
    table = pl.DataFrame(rows, schema={"item_id": pl.String, FURTHER: pl.String}, orient="row")
    rules = (*options.exclude_items, f"{FURTHER} == 'yes'")
    return replace(options, items=table, unknown_items="exclude", exclude_items=rules)


def left_aside(corpus: Corpus, others: str = "build.split.left_out") -> tuple[Note, ...]:
    """How many ratings were left aside, as they are of further regimes; and how many of items that are unknown."""
    rated = [one for one in corpus.intake if one.table != "items"]
    further = sum(one.excluded.get("excluded_item", 0) for one in rated)
    unknown = sum(one.excluded.get("unknown_item", 0) for one in rated)
    told = [Note("regimes.note.further", {"count": further})] if further else []
    return (*told, *([Note(others, {"count": unknown}, "warning")] if unknown else []))
