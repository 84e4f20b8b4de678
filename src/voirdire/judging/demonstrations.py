"""Demonstrations: rated examples of the held-out split, one at each level, the same for every judge.

Source: Jury Duty, section 3.2 and appendix H. A design names the pool whose ratings are shown and the culture of the
items that are shown; ``aa``, ``ac``, ``ca``, ``cc`` cross two pools with two cultures.

An example's level is its pool's mean rating, rounded to the nearest level, ties to the higher (as in weighted kappa).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from voirdire.corpus.image_paths import file_sha256
from voirdire.corpus.shown import Item
from voirdire.errors import InputError, Lines
from voirdire.judging.material import Material
from voirdire.judging.nouns import Condition, Demonstration, DesignSpec
from voirdire.scales import Scale
from voirdire.simulation.controls import round_to_level

Levels = tuple[int, ...]

MAX_ROWS = 30


@dataclass(slots=True)
class Draws:
    """The demonstrations of every cell of a run.

    material : its held-out items are drawn from
    designs : those that are used
    seed : of the run; the same seed, design, condition, question and item give the same draw on every machine, in
        any order, for every judge
    sha256_of : digest of an image file (``ImageStore.sha256``), so that no file is read twice
    """

    material: Material
    designs: Sequence[DesignSpec]
    seed: int
    sha256_of: Callable[[Path], str] = file_sha256
    _by_level: dict[tuple[str, DesignSpec, Levels], dict[int, list[Item]]] = field(default_factory=dict, repr=False)

    def check(self, conditions: Iterable[Condition] = (), questions: Sequence[str] = ()) -> None:
        """Prove, before anything is spent, that every draw is possible and that no test item is shown.

        conditions : whose designs are checked beside ``designs``; questions : ids, by default the evaluation question
        Raises InputError: with counts per pool, culture and level for a level without an example; naming both items
        where the held-out split meets the test items in an id, an image, a rated text or a concept pair.
        """
        used = [one.demonstrations for one in conditions if one.demonstrations is not None]
        designs = list(dict.fromkeys([*self.designs, *used]))
        if not designs:
            return
        if not self.material.held_out:
            raise InputError("material.no_held_out", design=designs[0].name)
        prove_disjoint(self.material, self.sha256_of)
        for question in questions or (self.material.evaluation,):
            asked = self.material.question(question)
            for levels in dict.fromkeys(self.material.levels(asked, item) for item in self.material.items):
                for design in designs:
                    self._possible(question, design, levels)

    def draw(self, condition: Condition, item: Item, question: str | None = None) -> tuple[Demonstration, ...]:
        """One example at each level of the item's scale, shuffled; empty in a condition without a design.

        Raises InputError where there is no example at some level (``check`` says so for all cells).
        """
        design = condition.demonstrations
        if design is None:
            return ()
        question = question or self.material.evaluation
        levels = self.material.levels(self.material.question(question), item)
        examples = self._possible(question, design, levels)
        rng = generator(self.seed, design.name, condition.name, question, item.id)
        chosen = [examples[level][int(rng.integers(len(examples[level])))] for level in levels]
        return tuple(Demonstration(chosen[place], levels[place]) for place in rng.permutation(len(levels)))

    def _possible(self, question: str, design: DesignSpec, levels: Levels) -> dict[int, list[Item]]:
        key = (question, design, levels)
        if key not in self._by_level:
            self._by_level[key] = self._examples(question, design, levels)
        return self._by_level[key]

    def _examples(self, question: str, design: DesignSpec, levels: Levels) -> dict[int, list[Item]]:
        pools = self.material.consensuses.get(question, {})
        if not pools.get(design.pool):
            known = ", ".join(pool for pool, rated in pools.items() if rated)
            fields = {"design": design.name, "value": design.pool, "question": question}
            raise InputError("material.pool_unknown", **fields, known=known or "-")
        found = by_level(self.material, question, design.pool, design.culture, levels)
        missing = [str(level) for level in levels if not found[level]]
        if missing:
            raise InputError(
                "material.draw_impossible",
                design=design.name,
                pool=design.pool,
                culture=design.culture or "*",
                question=question,
                low=levels[0],
                high=levels[-1],
                missing=", ".join(missing),
                table=counts_table(self.material, question, levels),
            )
        return found


def generator(seed: int, *names: str) -> np.random.Generator:
    """A generator of its own for every cell: PCG64 seeded by the sha256 of the seed and the names.

    >>> generator(1, "aa", "neutral_en", "q1", "food-1").integers(1000, size=3).tolist()
    [475, 278, 9]
    """
    told = "\0".join([str(seed), *(name.replace("\\", "\\\\").replace("\0", "\\0") for name in names)])
    digest = hashlib.sha256(told.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def by_level(
    material: Material, question: str, pool: str, culture: str | None, levels: Levels
) -> dict[int, list[Item]]:
    """level -> held-out items that the pool put there, sorted by id; every level is a key.

    culture : level of the items' ``culture`` column, None = any
    levels : of the scale; held-out items with another scale of their own are left out
    """
    asked = material.question(question)
    rated: Mapping[str, float] = material.consensuses.get(question, {}).get(pool, {})
    scale = Scale("ordinal", levels[0], levels[-1])
    found: dict[int, list[Item]] = {level: [] for level in levels}
    for item in sorted(material.held_out, key=lambda one: one.id):
        fits = culture is None or item.culture == culture
        if fits and item.id in rated and material.levels(asked, item) == levels:
            found[int(round_to_level(rated[item.id], scale))].append(item)
    return found


def counts_table(material: Material, question: str, levels: Levels) -> Lines:
    """A little table: how many held-out items each pool put at each level, by culture."""
    pools = list(material.consensuses.get(question, {}))
    cultures = sorted({item.culture for item in material.held_out if item.culture is not None})
    rows = [["pool", "culture", *map(str, levels)]]
    for pool in pools:
        for culture in (*cultures, None):
            found = by_level(material, question, pool, culture, levels)
            names = (" ".join(name.split()) for name in (pool, culture or "*"))
            rows.append([*names, *(str(len(found[level])) for level in levels)])
    shown = rows if len(rows) <= MAX_ROWS else [*rows[:MAX_ROWS], ["..."] * len(rows[0])]
    widths = [max(len(row[place]) for row in shown) for place in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in shown]
    return Lines("\n".join(f"  {line}" for line in lines))


def prove_disjoint(material: Material, sha256_of: Callable[[Path], str] = file_sha256) -> None:
    """Raise InputError, naming both items, where the held-out split meets the test items.

    They meet in an id, in a concept pair (``pair_id``, whatever its case), in an image (sha256 of the file), or, for
    items without an image, in the text that is rated, in any language: another prompt does not make it another item.
    Texts that differ in white space, case or width of characters alone (NFKC) are the same.
    """
    checks: tuple[tuple[str, Callable[[Item], Mapping[str, str]]], ...] = (
        ("same_id", lambda item: _same(item.id)),
        ("same_pair", lambda item: {item.pair.strip().casefold(): item.pair.strip()} if item.pair else {}),
        ("same_image", lambda item: _same(sha256_of(item.image)) if item.image else {}),
        ("same_content", lambda item: {} if item.image else _rated_texts(item)),
    )
    for key, marks in checks:
        tested: dict[str, str] = {}
        for item in material.items:
            for mark in marks(item):
                tested.setdefault(mark, item.id)
        for item in material.held_out:
            for mark, value in marks(item).items():
                if mark and mark in tested:
                    raise InputError(f"material.{key}", item=item.id, test=tested[mark], value=value)


def _same(value: str) -> dict[str, str]:
    return {value: value}


def _rated_texts(item: Item) -> dict[str, str]:
    """The texts of an item in a form to compare (its descriptions where it has none) -> as they are written."""
    return {folded(text): text for text in (item.texts or item.alts).values()}


def folded(text: str) -> str:
    """A text to compare: NFKC, without regard to case, with single spaces.

    >>> folded(" Tea\u3000with  \uff2d\uff29\uff2c\uff2b") == folded("tea with milk")
    True
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(plain.split())
