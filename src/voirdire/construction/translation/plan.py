"""What is asked of a model that translates, as the judging engine wants it.

The nouns of the ledger: an item is a text in one language, in its present words and under the present instruction
(``tea/prompt/zh 3f2a9c0152b7e6d1``), so that changed words are another cell and the old one stays; the condition is
the direction, ``forward`` or ``back``; the judge is the model. A cell that is ``ok`` has the rating 1: the reply was a
translation, and nothing beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from voirdire.corpus.shown import Item
from voirdire.judging.images import ImageStore
from voirdire.judging.nouns import Call, JudgeSpec, Prompt, TextPart
from voirdire.judging.steps import Cell, Shown
from voirdire.texts import LANGUAGES, has, text

RUN = "translation-run"
"""The run folder in the folder of a corpus that is being built."""

QUESTION = "translation"
KEPT = 1.0
"""The rating of a cell whose reply can be used."""

LEVELS = (1,)
Direction = Literal["forward", "back"]
FORWARD: Direction = "forward"
BACK: Direction = "back"
Row = tuple[str, str, str]
"""(name, digests, facts as JSON) of a noun of the ledger."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A translation that is wanted.

    name : of the text, with its language; source, came_from : what is translated, and its language
    language : into which one; kind, context : of the unit; guidance : what the team says to every translator
    """

    name: str
    source: str
    came_from: str
    language: str
    kind: str = "prompt"
    context: str = ""
    guidance: str = ""

    def prompt(self) -> str:
        """What is asked at first."""
        told = "en" if self.came_from not in LANGUAGES else self.came_from
        names = {"language": language_name(self.language, told), "origin": language_name(self.came_from, told)}
        parts = [text("translation.prompt.task", told, **names)]
        parts.append(text(f"translation.prompt.kind_{self.kind}", told))
        parts += [text("translation.prompt.context", told, context=self.context)] if self.context else []
        parts += [text("translation.prompt.guidance", told, guidance=self.guidance)] if self.guidance else []
        parts.append(text("translation.prompt.rules", told, **names))
        return "\n".join([*parts, "", "<text>", self.source, "</text>"])

    def tightened(self) -> str:
        """What is asked after a reply that could not be used."""
        told = "en" if self.came_from not in LANGUAGES else self.came_from
        again = text("translation.prompt.again", told, language=language_name(self.language, told))
        return f"{self.prompt()}\n\n{again}"


def language_name(code: str, lang: str = "en") -> str:
    """What a language is called, else its code.

    >>> language_name("zh"), language_name("zh-TW"), language_name("pt-BR"), language_name("en", "zh")
    ('Simplified Chinese', 'Traditional Chinese (zh-TW)', 'Portuguese (pt-BR)', '英语')
    """
    main, *more = code.split("-")
    traditional = main == "zh" and {"TW", "HK", "MO", "Hant"} & set(more)
    key = f"translation.language.{'zh_hant' if traditional else main}"
    if not has(key, lang):
        return code
    return text(key, lang) if main == code else f"{text(key, lang)} ({code})"


class TranslationPlan:
    """Translations that are wanted of one model in one direction, bound together for the runner.

    run_id : first part of the ids of all calls, given when the plan is bound to a run folder
    """

    def __init__(self, folder: Path, direction: Direction, spec: JudgeSpec, wanted: Sequence[Wanted]) -> None:
        self.direction, self.spec = direction, spec
        self.wanted = tuple(wanted)
        self.run_id = ""
        self._images = ImageStore(folder)
        self._by_item = {self.item(one): one for one in self.wanted}

    @property
    def images(self) -> ImageStore:
        """Images that prompts show: there are none."""
        return self._images

    def item(self, one: Wanted) -> str:
        """The item of the ledger: the text, and a digest of everything that the model is told."""
        return f"{one.name} {digest_of([one.prompt(), dict(self.spec.parameters)])}"

    def of(self, item: str) -> Wanted:
        """What is wanted of an item of the ledger."""
        return self._by_item[item]

    def prompt(self, cell: Cell, malformed: int = 0) -> Prompt:
        """The text with what to do, more urgently after replies that could not be used."""
        one = self._by_item[cell.item]
        asked = one.tightened() if malformed else one.prompt()
        return Prompt((TextPart(asked),), one.came_from, digest_of(asked))

    def call(self, cell: Cell, number: int, malformed: int) -> Call:
        """The ``number``-th call of a cell."""
        name = f"{self.run_id}-{cell.id}-{number}"
        asked = self.prompt(cell, malformed)
        return Call(name, asked, Item(cell.item), cell.condition, QUESTION, cell.repeat, LEVELS)

    def shown(self, cell: Cell) -> Shown:  # noqa: ARG002 - a prompt holds the text alone
        """What the prompt holds beside the text: nothing."""
        return Shown()

    def nouns(self, model: Mapping[str, Any]) -> dict[str, list[Row]]:
        """What the ledger writes down; model : what is logged of who translates."""
        facts = {"provider": self.spec.provider, "model": self.spec.model, "settings": dict(model)}
        return {
            "item": [(name, f"asked={name[-16:]}", _json(_facts(one))) for name, one in self._by_item.items()],
            "question": [(QUESTION, "kind=translation", _json({"low": LEVELS[0], "high": LEVELS[-1]}))],
            "condition": [(self.direction, f"direction={self.direction}", _json({"direction": self.direction}))],
            "judge": [(self.spec.name, f"model={digest_of([self.spec.provider, self.spec.model])}", _json(facts))],
        }


def digest_of(value: Any) -> str:
    """16 hex digits over plain values."""
    return hashlib.sha256(_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _facts(one: Wanted) -> dict[str, Any]:
    return {"name": one.name, "source": one.source, "from": one.came_from, "to": one.language, "kind": one.kind}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
