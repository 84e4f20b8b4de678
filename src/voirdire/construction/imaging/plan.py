"""What is asked of an image model, as the judging engine wants it: items, one regime, one maker, calls.

The nouns of the ledger: an item is an item of the corpus in one wording (``tea-us 3f2a9c01``, and a number from the
second drawing on), so that another wording, or another photograph, is another cell and the old one stays; the
condition is the regime; the judge is the maker. A cell that is ``ok`` has the rating 1: one image was kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.imaging.settings import ImageSettings, worded
from voirdire.corpus.image_paths import file_sha256
from voirdire.corpus.shown import Item
from voirdire.judging.images import ImageStore
from voirdire.judging.nouns import Call, Prompt, TextPart
from voirdire.judging.steps import Cell, Shown

QUESTION = "image"
KEPT = 1.0
"""The rating of a cell whose image was kept."""

LEVELS = (1,)
Row = tuple[str, str, str]
"""(name, digests, facts as JSON) of a noun of the ledger."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An image that is wanted.

    item : of the table of concepts; asked : the sentence, or the digest of the photograph; digest : 16 hex digits of
        regime and ``asked``; draw : 1, or more where it is drawn anew; source : the photograph
    """

    item: ConceptItem
    asked: str
    digest: str
    draw: int = 1
    source: Path | None = None

    @property
    def wording(self) -> str:
        """The item in this wording, whichever drawing of it."""
        return f"{self.item.id} {self.digest}"

    @property
    def name(self) -> str:
        """The item in the ledger."""
        return f"{self.wording} {self.draw}" if self.draw > 1 else self.wording


def wanted_of(item: ConceptItem, settings: ImageSettings, source: Path | None = None) -> Wanted:
    """What is wanted for an item: drawn from its sentence, or the photograph in a file."""
    asked = worded(settings.template, item) if source is None else f"sha256:{file_sha256(source)}"
    return Wanted(item, asked, digest_of([settings.regime, asked]), source=source)


class ImagePlan:
    """Images that are wanted in one regime, bound together for the runner.

    run_id : first part of the ids of all calls; session : number of this session; both are given when the plan is
        bound to a run folder
    """

    def __init__(self, folder: Path, settings: ImageSettings, wanted: Sequence[Wanted]) -> None:
        self.settings = settings
        self.wanted = tuple(wanted)
        self.run_id = ""
        self.session = 0
        self._images = ImageStore(folder)
        self._by_name = {one.name: one for one in self.wanted}

    @property
    def images(self) -> ImageStore:
        """Images that prompts show: there are none."""
        return self._images

    def of(self, name: str) -> Wanted:
        """The wanted image of an item of the ledger."""
        return self._by_name[name]

    def prompt(self, cell: Cell, malformed: int = 0) -> Prompt:  # noqa: ARG002 - asked again in the same words
        """The sentence."""
        one = self._by_name[cell.item]
        return Prompt((TextPart(one.asked),), self.settings.language, one.digest)

    def call(self, cell: Cell, number: int, malformed: int) -> Call:
        """The ``number``-th call of a cell."""
        one = self._by_name[cell.item]
        name = f"{self.run_id}-{cell.id}-{number}"
        return Call(name, self.prompt(cell, malformed), Item(one.name), cell.condition, QUESTION, cell.repeat, LEVELS)

    def shown(self, cell: Cell) -> Shown:  # noqa: ARG002 - a prompt holds the item alone
        """What the prompt holds beside the item: nothing."""
        return Shown()

    def nouns(self, maker: Mapping[str, Any]) -> dict[str, list[Row]]:
        """What the ledger writes down; maker : what is logged of who makes the images."""
        regime = {"regime": self.settings.regime, "asked": regime_facts(self.settings)}
        model = digest_of(self.settings.maker)
        return {
            "item": [(one.name, f"asked={one.digest}", _json(_facts(one, self.session))) for one in self.wanted],
            "question": [(QUESTION, "kind=image", _json({"low": LEVELS[0], "high": LEVELS[-1]}))],
            "condition": [(self.settings.regime, f"regime={regime_digest(self.settings)}", _json(regime))],
            "judge": [(self.settings.maker, f"model={model}", _json(_maker_facts(self.settings, maker)))],
        }


def regime_facts(settings: ImageSettings) -> dict[str, Any]:
    """Everything that all images of a regime share."""
    if settings.provider == "folder":
        return {"maker": settings.maker}
    shared = {"maker": settings.maker, "parameters": settings.sent(), "template": settings.template}
    return {**shared, "aspect_ratio": settings.aspect_ratio, "size": settings.size, "language": settings.language}


def regime_digest(settings: ImageSettings) -> str:
    """16 hex digits of what all images of a regime share."""
    return digest_of(regime_facts(settings))


def changed_facts(known: Mapping[str, Any], settings: ImageSettings) -> list[str]:
    """Which of the shared facts of a regime are not what they were."""
    now = regime_facts(settings)
    return sorted(name for name in {*known, *now} if known.get(name) != now.get(name))


def digest_of(value: Any) -> str:
    """16 hex digits over plain values."""
    return hashlib.sha256(_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _facts(one: Wanted, session: int) -> dict[str, Any]:
    """What is known of an image that is wanted; session : the last one that wanted it."""
    item = one.item
    told = {"item": item.id, "concept": item.concept, "category": item.category, "culture": item.culture}
    return {**told, "realisation": item.realisation, "asked": one.asked, "draw": one.draw, "session": session}


def _maker_facts(settings: ImageSettings, maker: Mapping[str, Any]) -> dict[str, Any]:
    return {"provider": maker.get("provider", settings.provider), "model": settings.model, "settings": dict(maker)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
