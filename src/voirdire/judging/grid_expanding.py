"""From a grid file to conditions: the crosses, and for each condition its texts and effects."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.judging.grid_reading import Block, Effect, GridFile, TextEntry
from voirdire.judging.grid_schema import SCHEMA
from voirdire.judging.nouns import BASE_DESIGN, Condition

_FIELD = re.compile(r"\{([a-z]\w*)\}")
_NAME = SCHEMA["properties"]["name"]["pattern"]

Levels = Mapping[str, str]


def expand(grid: GridFile) -> tuple[Condition, ...]:
    """Every condition of a grid, in the order of blocks and crosses.

    Raises InputError that names file and table for: two conditions of one name, a level that has no text and changes
    nothing, two texts that fit equally well, a text of the grid that no condition uses, a text without a language that
    serves several, a reversed scale asked in words for the usual direction.
    """
    used: dict[TextEntry, set[str]] = {}
    conditions: dict[str, Condition] = {}
    for block in grid.blocks:
        for levels in _cross(block, grid):
            made = _condition(block, levels, grid, used)
            if made.full_name in conditions:
                raise InputError("grid.name_twice", file=grid.file, place=block.place, value=made.full_name)
            conditions[made.full_name] = made
    _check_used(grid, used)
    return tuple(conditions.values())


def digest_of(condition: Condition) -> str:
    """16 hex digits over all of a condition: names and levels, every text, the effects, the bytes of cue images.

    The order of factors does not matter; the level of ``design`` is in the design itself.
    """
    shown = condition.demonstrations
    content = {
        "name": condition.name,
        "language": condition.language,
        "design": [condition.design, *((shown.pool, shown.culture) if shown else ())],
        "factors": {name: level for name, level in condition.factors.items() if name != "design"},
        "prefixes": condition.prefixes,
        "instruction": condition.instruction,
        "tightening": condition.tightening,
        "demonstrations": dict(condition.demonstration_frame),
        "material": condition.material,
        "image": condition.image,
        "cues": [sha256_of_file(path) for path in condition.cues],
        "reversed": condition.reversed,
    }
    return digest(content)


def digest(content: Any) -> str:
    """16 hex digits over plain data, in whatever order its keys stand.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def sha256_of_file(path: Path) -> str:
    """64 hex digits over the bytes of a file. Raises InputError when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError("grid.file_unreadable", file=str(path), value=error.strerror or "") from error


def _cross(block: Block, grid: GridFile) -> Iterator[dict[str, str]]:
    """The levels of each condition of a block; a factor that the block does not name is at its plain level."""
    fixed = {}
    for name, factor in grid.factors.items():
        if name in block.cross:
            continue
        if not factor.plain and len(factor.levels) > 1:
            raise InputError("grid.factor_open", file=grid.file, place=block.place, value=name)
        fixed[name] = factor.plain[0] if factor.plain else factor.levels[0]
    if grid.designs and "design" not in block.cross:
        fixed["design"] = BASE_DESIGN
    order = (*grid.factors, *(["design"] if grid.designs else []))
    for combination in product(*block.cross.values()):
        levels = fixed | dict(zip(block.cross, combination, strict=True))
        yield {name: levels[name] for name in order if name in levels}


def _condition(block: Block, levels: dict[str, str], grid: GridFile, used: dict[TextEntry, set[str]]) -> Condition:
    name = _FIELD.sub(lambda field: levels.get(field.group(1), field.group(0)), block.name)
    if not re.search(_NAME, name):
        raise InputError("grid.name_broken", file=grid.file, place=block.place, value=name)
    design = levels.get("design", BASE_DESIGN)
    effects = _effects(levels, grid, name)
    chooser = _Chooser(grid, levels, effects, name, used)
    instruction = chooser.needed("instruction")
    if effects["reversed"]:
        chooser.check_direction(instruction)
    shown = grid.designs.get(design)
    material = chooser.found("material")
    prefixes = chooser.prefixes()
    made = Condition(
        name=name,
        language=levels["language"],
        instruction=instruction.text,
        tightening=chooser.needed("tighten").steps,
        design=design,
        factors=dict(levels),
        prefixes=tuple(entry.text for entry in prefixes),
        demonstration_frame=dict(chooser.needed("demonstrations").frame) if shown else {},
        demonstrations=shown,
        image=effects["image"],
        cues=effects["cues"],
        reversed=effects["reversed"],
        material=material.text if material else "",
    )
    chooser.check_felt()
    return replace(made, digest=digest_of(made))


def _effects(levels: Levels, grid: GridFile, condition: str) -> dict[str, Any]:
    """The effects of all levels of a condition; no two levels may set the same one, but for cues."""
    found = {name: _effect(grid, name, level) for name, level in levels.items()}
    reversing = [name for name, effect in found.items() if effect.reversed]
    imaging = [name for name, effect in found.items() if effect.image is not None]
    cueing = _ordered([name for name, effect in found.items() if effect.cues], grid, condition)
    for clash in (reversing, imaging):
        if len(clash) > 1:
            where = f"[factors.{clash[1]}]"
            raise InputError("grid.effect_twice", file=grid.file, place=where, condition=condition, other=clash[0])
    image = found[imaging[0]].image if imaging else grid.image
    cues = tuple(path for name in cueing for path in found[name].cues)
    return {"reversed": bool(reversing), "image": image, "cues": cues}


def _effect(grid: GridFile, name: str, level: str) -> Effect:
    return grid.factors[name].effects.get(level, Effect()) if name in grid.factors else Effect()


def _ordered(names: list[str], grid: GridFile, condition: str) -> list[str]:
    """Factors in ``prefix_order``; with two or more of them the order must be said."""
    unplaced = [name for name in names if name not in grid.prefix_order]
    if len(names) > 1 and unplaced:
        factors = ", ".join(sorted(names))
        raise InputError("grid.order_open", file=grid.file, condition=condition, value=factors)
    return sorted(names, key=lambda name: grid.prefix_order.index(name) if name in grid.prefix_order else 0)


class _Chooser:
    """The choice of texts for one condition; every choice is written down in ``used`` with its language."""

    def __init__(
        self,
        grid: GridFile,
        levels: Levels,
        effects: Mapping[str, Any],
        condition: str,
        used: dict[TextEntry, set[str]],
    ) -> None:
        self.grid = grid
        self.levels = {
            "design": BASE_DESIGN,
            **levels,
            "scale": "reversed" if effects["reversed"] else "forward",
        }
        self.condition = condition
        self.used = used
        self.chosen: list[TextEntry] = []

    def found(self, slot: str) -> TextEntry | None:
        """The text that fits best: most factors named, and among equals the grid's own before included ones."""
        fitting = [entry for entry in self.grid.texts if entry.slot == slot and self._fits(entry)]
        if not fitting:
            return None
        rank = max((len(entry.when), entry.own) for entry in fitting)
        best = [entry for entry in fitting if (len(entry.when), entry.own) == rank]
        if len(best) > 1:
            first, second = best[:2]
            where = {"file": second.file, "place": second.place, "other": first.place, "other_file": first.file}
            raise InputError("grid.text_tie", **where, slot=slot, condition=self.condition)
        self.used.setdefault(best[0], set()).add(self.levels["language"])
        self.chosen.append(best[0])
        return best[0]

    def needed(self, slot: str) -> TextEntry:
        """As ``found``; a slot without a text is an error."""
        entry = self.found(slot)
        if entry is None:
            raise self._missing(slot)
        return entry

    def prefixes(self) -> list[TextEntry]:
        """The texts of the factors that are not at a plain level, in the grid's order."""
        entries = {name: self.found(name) for name in self._felt()}
        with_text = [name for name, entry in entries.items() if entry is not None]
        ordered = _ordered(with_text, self.grid, self.condition)
        return [entry for entry in (entries[name] for name in ordered) if entry is not None]

    def check_felt(self) -> None:
        """Every level that is not plain adds a text, shapes one, or has an effect."""
        for name in self._felt():
            level = self.levels[name]
            own_slot = any(entry.slot == name for entry in self.chosen)
            promised = any(entry.slot == name and level in entry.when.get(name, ()) for entry in self.grid.texts)
            shaping = any(level in entry.when.get(name, ()) for entry in self.chosen)
            effect = level in self.grid.factors[name].effects
            if not own_slot and (promised or not (shaping or effect)):
                raise self._missing(name)

    def check_direction(self, instruction: TextEntry) -> None:
        """A reversed scale is asked by an instruction that says so in its ``when``."""
        reversing = [name for name in self._felt() if _effect(self.grid, name, self.levels[name]).reversed]
        if not {"scale", *reversing} & set(instruction.when):
            where = {"file": instruction.file, "place": instruction.place, "condition": self.condition}
            raise InputError("grid.direction_unsaid", **where)

    def _fits(self, entry: TextEntry) -> bool:
        return all(self.levels.get(name) in levels for name, levels in entry.when.items())

    def _felt(self) -> list[str]:
        """Factors at a level that is not plain; the language is felt in every text."""
        factors = self.grid.factors
        return [name for name in factors if name != "language" and self.levels[name] not in factors[name].plain]

    def _missing(self, slot: str) -> InputError:
        when = ", ".join(f'{name} = "{level}"' for name, level in self.levels.items() if self._says(name, slot))
        fields = {"file": self.grid.file, "condition": self.condition, "slot": slot, "when": when}
        if slot in self.grid.factors:
            return InputError("grid.prefix_missing", **fields, value=self.levels[slot])
        return InputError("grid.text_missing", **fields)

    def _says(self, name: str, slot: str) -> bool:
        """Whether a factor is worth naming to someone who has to write the text."""
        return name in ("language", slot) or (
            name == "scale" and slot == "instruction" and self.levels[name] != "forward"
        )


def _check_used(grid: GridFile, used: Mapping[TextEntry, set[str]]) -> None:
    for entry in grid.texts:
        if entry.own and entry not in used:
            raise InputError("grid.text_unused", file=entry.file, place=entry.place, slot=entry.slot)
        if len(used.get(entry, ())) > 1 and "language" not in entry.when:
            languages = ", ".join(f'"{name}"' for name in sorted(used[entry]))
            raise InputError("grid.text_languages", file=entry.file, place=entry.place, value=languages)
