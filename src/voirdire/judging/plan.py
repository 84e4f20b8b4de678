"""The plan of a run: what is asked of whom, and the prompt of every cell."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import Item
from voirdire.judging.demonstrations import Draws
from voirdire.judging.grid import Grid, asked_questions, check
from voirdire.judging.images import ImageStore
from voirdire.judging.material import Material
from voirdire.judging.nouns import AskedQuestion, Call, Condition, Demonstration, JudgeSpec, Prompt
from voirdire.judging.prompts import build_prompt, levels_of
from voirdire.judging.steps import Cell, Shown
from voirdire.scales import Scale

KEPT_PROMPTS = 512


class Plan:
    """Material, grid, judges and seed, bound together.

    Prompts are built when they are asked for and kept for a while, since the judges of an item share them. The same
    material, grid and seed give the same prompts on every machine.

    specs : the judges, whose names are unique; seed : of the demonstrations' draws
    run_id : first part of the ids of all calls, given when the plan is registered in a run
    """

    def __init__(
        self, material: Material, grid: Grid, specs: Sequence[JudgeSpec], images: ImageStore, *, seed: int = 0
    ) -> None:
        self.material, self.grid, self.specs, self.images, self.seed = material, grid, tuple(specs), images, seed
        self.run_id = ""
        self.questions = asked_questions(grid, material.questions, material.evaluation)
        self.conditions = grid.conditions
        self.repeats = grid.repeats
        designs = [one.demonstrations for one in grid.conditions if one.demonstrations is not None]
        self._draws = Draws(material, tuple(dict.fromkeys(designs)), seed, images.sha256)
        self._items = {item.id: item for item in material.items}
        self._questions = {question.id: question for question in self.questions}
        self._conditions = {condition.full_name: condition for condition in grid.conditions}
        self._levels: dict[tuple[str, Scale | None], tuple[int, ...]] = {}
        self._prompts: dict[tuple[str, str, str, int], tuple[Prompt, Shown]] = {}

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that are asked about."""
        return self.material.items

    @property
    def size(self) -> int:
        """How many cells the plan has."""
        return len(self.items) * len(self.conditions) * len(self.questions) * self.repeats * len(self.specs)

    def check(self, progress: Any = None) -> tuple[Note, ...]:
        """Whether every cell can be asked, before anything is spent; and what a reader should know.

        Images are read and verified, demonstrations drawn. Raises InputError.

        progress : called with the number of images done
        """
        names = [question.id for question in self.questions]
        notes = check(
            self.grid,
            self.items,
            self.material.questions,
            evaluation=self.material.evaluation,
            held_out=self.material.held_out,
        )
        shown = self.material.images() if self._shows_files else {}
        self.images.check([path for condition in self.conditions for path in condition.cues])
        self.images.check(shown, progress)
        self._draws.check(self.conditions, names)
        return notes

    @property
    def _shows_files(self) -> bool:
        return any(condition.image == "file" for condition in self.conditions)

    def condition(self, cell: Cell) -> Condition:
        """The condition of a cell."""
        return self._conditions[cell.condition]

    def levels(self, cell: Cell) -> tuple[int, ...]:
        """The integers that are ratings of a cell's item."""
        item = self._items[cell.item]
        key = (cell.question, item.scale)
        found = self._levels.get(key)
        if found is None:
            found = self._levels[key] = levels_of(self._questions[cell.question], item)
        return found

    def demonstrations(self, cell: Cell) -> tuple[Demonstration, ...]:
        """The examples that a cell's prompt shows, the same for every judge."""
        return self._draws.draw(self._conditions[cell.condition], self._items[cell.item], cell.question)

    def prompt(self, cell: Cell, malformed: int = 0) -> Prompt:
        """What a judge is asked, after ``malformed`` replies that could not be read."""
        return self._made(cell, malformed)[0]

    def shown(self, cell: Cell) -> Shown:
        """Flags of the item's text, and the examples shown, in order."""
        return self._made(cell, 0)[1]

    def _made(self, cell: Cell, malformed: int) -> tuple[Prompt, Shown]:
        key = (cell.item, cell.condition, cell.question, malformed)
        found = self._prompts.get(key)
        if found is None:
            if len(self._prompts) >= KEPT_PROMPTS:
                self._prompts.clear()
            found = self._prompts[key] = self._build(cell, malformed)
        return found

    def _build(self, cell: Cell, malformed: int) -> tuple[Prompt, Shown]:
        drawn = self.demonstrations(cell)
        prompt = build_prompt(
            self._items[cell.item],
            self._questions[cell.question],
            self._conditions[cell.condition],
            levels=self.levels(cell),
            malformed=malformed,
            demonstrations=drawn,
            sha256_of=self.images.sha256,
        )
        examples = " ".join(f"{example.item.id}={example.level}" for example in drawn)
        return prompt, Shown(" ".join(prompt.flags), examples)

    def call(self, cell: Cell, number: int, malformed: int) -> Call:
        """The ``number``-th call of a cell."""
        condition = self._conditions[cell.condition]
        return Call(
            id=f"{self.run_id}-{cell.id}-{number}",
            prompt=self._made(cell, malformed)[0],
            item=self._items[cell.item],
            condition=condition.name,
            question=cell.question,
            repeat=cell.repeat,
            levels=self.levels(cell),
            factors=condition.factors,
            design=condition.design,
            reversed=condition.reversed,
        )

    def nouns(self, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, list[tuple[str, str, str]]]:
        """What the ledger writes down: (name, digest, facts as JSON) of items, questions, conditions and judges.

        settings : judge -> ``Judge.settings``
        """
        return {
            "item": [(item.id, self._item_digest(item), _json(self._item_facts(item))) for item in self.items],
            "question": [(one.id, _question_digest(one), _json(_ends(levels_of(one)))) for one in self.questions],
            "condition": [(one.full_name, f"texts={one.digest}", _json(_factors(one))) for one in self.conditions],
            "judge": [
                (spec.name, _judge_digest(spec, settings[spec.name]), _json(_judge_facts(spec, settings[spec.name])))
                for spec in self.specs
            ],
        }

    def draws_digest(self) -> str:
        """16 hex digits over what demonstrations are drawn from; empty without designs."""
        if all(condition.demonstrations is None for condition in self.conditions):
            return ""
        held_out = [[item.id, self._item_digest(item)] for item in self.material.held_out]
        return _digest([held_out, self.material.consensuses])

    def _item_digest(self, item: Item) -> str:
        """Digests by what was changed: of the texts in each language, of the image, of the scale."""
        parts = text_digests(item)
        image = self.images.facts(item.image) if item.image is not None and self._shows_files else None
        parts["image"] = "-" if image is None else f"{image.sha256[:16]}/{image.sent_sha256[:16]}"
        parts["scale"] = "-" if item.scale is None else _digest(str(item.scale))
        return joined(parts)

    def _item_facts(self, item: Item) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if item.image is not None and self._shows_files:
            image = self.images.facts(item.image)
            facts = {
                "image_sha256": image.sha256,
                "image_width": image.width,
                "image_height": image.height,
                "sent_width": image.sent_width,
                "sent_height": image.sent_height,
            }
        return facts if item.scale is None else {**facts, **_ends(levels_of(self.questions[0], item))}


def text_digests(item: Item) -> dict[str, str]:
    """Language -> digest of the wording, text and description of an item."""
    languages = sorted({*item.prompts, *item.texts, *item.alts})
    return {lang: _digest([item.prompts.get(lang), item.texts.get(lang), item.alts.get(lang)]) for lang in languages}


def _question_digest(question: AskedQuestion) -> str:
    parts = {language: _digest(text) for language, text in sorted(question.text.items())}
    return joined({**parts, "scale": _digest(str(question.scale))})


def _judge_digest(spec: JudgeSpec, settings: Mapping[str, Any]) -> str:
    sent = settings.get("parameters", spec.parameters)
    own = {re.sub(r"[\s=]+", "-", str(name)): _digest(digest) for name, digest in settings.get("digests", {}).items()}
    return joined({"model": _digest([spec.provider, spec.model]), "parameters": _digest(sent), **own})


def _judge_facts(spec: JudgeSpec, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What is written down of a judge; a column of the judges table for its origin and developer where known."""
    known = {name: str(settings[name]) for name in ("origin", "developer") if settings.get(name)}
    return {
        "provider": spec.provider,
        "model": spec.model,
        "settings": dict(settings),
        "covariates": {**known, **spec.covariates},
    }


def _factors(condition: Condition) -> dict[str, Any]:
    return {
        "name": condition.name,
        "design": condition.design,
        "language": condition.language,
        "image": condition.image,
        "reversed": condition.reversed,
        "factors": dict(condition.factors),
        "digest": condition.digest,
    }


def _ends(levels: Sequence[int]) -> dict[str, int]:
    return {"low": levels[0], "high": levels[-1]}


def joined(parts: Mapping[str, str]) -> str:
    """Named digests as one text."""
    return " ".join(f"{name}={digest}" for name, digest in parts.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)


def _digest(value: Any) -> str:
    return hashlib.sha256(_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value) if isinstance(value, Path) else repr(value)
