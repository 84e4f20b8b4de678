"""What a rater gets: computed from the batch, what the rater had, and which places are taken. No database here."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.annotation.nouns import BatchSpec
from voirdire.annotation.ordering import Order, apart, order, to_repeat, with_repeats_and_gold

HELD = ("open", "done", "surplus")
ID_BYTES = 12


def wants(spec: BatchSpec, had: Sequence[Any]) -> bool:
    """Whether a rater who had these assignments may get more."""
    returned = any(row.state == "returned" for row in had)
    return returned or _items_wanted(spec, had) > 0


def _items_wanted(spec: BatchSpec, had: Sequence[Any]) -> int:
    most = min(spec.study.items_per_rater or len(spec.items), len(spec.items))
    return most - sum(row.kind == "item" and row.state in HELD for row in had)


class Filling:
    """The assignments that a rater gets now.

    had : rows of the rater in order of place; taken : item -> places taken in the rater's pool
    """

    def __init__(
        self, spec: BatchSpec, pool: str, rater_id: str, had: Sequence[Any], taken: Mapping[str, set[int]]
    ) -> None:
        self.spec, self.pool, self.rater_id, self.had, self.taken = spec, pool, rater_id, had, taken
        self.again: list[tuple[Any, int | None, int]] = []
        self.fresh: list[dict[str, Any]] = []
        self.left = max(0, _items_wanted(spec, had))
        self._held = [row for row in had if row.state in HELD]
        self._next = max((row.place for row in had), default=0) + 1
        self._take_again()
        self._take_new()

    @cached_property
    def rng(self) -> np.random.Generator:
        """The rater's generator: the same for the same seed, rater and number of assignments before."""
        text = f"{self.spec.study.seed}\n{self.rater_id}\n{len(self.had)}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))

    def _slot(self, item: str) -> int | None:
        used = self.taken.get(item, set())
        return next((slot for slot in range(1, self.spec.study.raters_per_item + 1) if slot not in used), None)

    def _take_again(self) -> None:
        """Returned assignments come back at their old places where that leaves no two of a pair side by side."""
        for row in self.had:
            if row.state != "returned" or (row.kind == "item" and self.left == 0):
                continue
            slot = self._slot(row.item_id) if row.kind == "item" else None
            if row.kind == "item" and slot is None:
                continue
            if row.kind == "repeat" and row.item_id not in {one.item_id for one in self._held if one.kind == "item"}:
                continue
            self.again.append((row, slot, row.place))
            self._held.append(row)
            self.left -= row.kind == "item"
        self._held.sort(key=lambda row: row.place)
        self._part()

    def _part(self) -> None:
        """Leave out of what came back whatever stands beside itself or its pair now."""
        coming = {row.id for row, _, _ in self.again}
        kept: list[Any] = []
        for row in self._held:
            while kept and self._near(kept[-1], row) and kept[-1].id in coming and row.id not in coming:
                self.left += kept.pop().kind == "item"
            if kept and self._near(kept[-1], row) and row.id in coming:
                self.left += row.kind == "item"
            else:
                kept.append(row)
        first = {row.item_id for row in kept if row.kind == "item"}
        self._held = [row for row in kept if row.kind != "repeat" or row.item_id in first or row.id not in coming]
        stay = {row.id for row in self._held}
        self.again = [one for one in self.again if one[0].id in stay]

    def _near(self, one: Any, other: Any) -> bool:
        return not apart(one.item_id, other.item_id, self.spec.pairs)

    def _take_new(self) -> None:
        had = {(row.kind, row.item_id) for row in self.had}
        chosen = self._choose({item for kind, item in had if kind == "item"})
        past = [row.item_id for row in self._held]
        repeats = max(0, self.spec.study.repeats - sum(kind == "repeat" for kind, _ in had))
        golden = [
            item for item in dict.fromkeys(one.item_id for one in self.spec.study.gold) if ("gold", item) not in had
        ]
        if not chosen.items:
            return
        steps = with_repeats_and_gold(
            chosen.items, self.spec.pairs, self.rng, before=past, gold=golden,
            repeats=to_repeat(chosen.items, repeats, self.rng),
        )  # fmt: skip
        for place, (kind, item) in enumerate(steps, self._next):
            slot = self._slot(item) if kind == "item" else None
            self.fresh.append(
                {"id": secrets.token_urlsafe(ID_BYTES), "pool": self.pool, "wanted": self.spec.study.raters_per_item,
                 "item_id": item, "kind": kind, "place": place, "slot": slot}
            )  # fmt: skip

    def _choose(self, had: set[str]) -> Order:
        """Items with most places left, in a random order; what no order takes is replaced by the next."""
        most, before = self.spec.study.raters_per_item, self._held[-1].item_id if self._held else None
        free = [item for item in self.spec.items if item not in had and len(self.taken.get(item, ())) < most]
        shuffled = [free[index] for index in self.rng.permutation(len(free))]
        ranked = sorted(shuffled, key=lambda item: len(self.taken.get(item, ())))
        chosen, rest = order(ranked[: self.left], self.spec.pairs, self.rng, before), ranked[self.left :]
        while len(chosen.items) < self.left and rest:
            chosen, rest = order([*chosen.items, rest[0]], self.spec.pairs, self.rng, before), rest[1:]
        return chosen
