"""A rater's order: random, no two items of a concept pair in a row, repeats far from their first time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.annotation.nouns import AssignmentKind

REPEAT_GAP = 10
"""A repeat comes at least so many places after the first time, where the order is long enough."""

Step = tuple[AssignmentKind, str]
"""What is done at a place of an order: kind and item."""


@dataclass(frozen=True, slots=True)
class Order:
    """items : in order; left_out : those that could only stand beside the other item of their pair."""

    items: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def order(items: Sequence[str], pairs: Mapping[str, str], rng: np.random.Generator, before: str | None = None) -> Order:
    """A random order of distinct items in which no two of a pair stand side by side.

    pairs : item -> pair, for those that have one; before : the item that comes before the first
    As many items as can be are placed; the others are left out.

    >>> order(["a", "b"], {"a": "x", "b": "x"}, np.random.default_rng(0)).left_out in (("a",), ("b",))
    True
    """
    group = {item: pairs.get(item, ("", item)) for item in items}
    last: object = None if before is None else pairs.get(before, ("", before))
    shuffled = [items[index] for index in rng.permutation(len(items))]
    kept, left_out = _placeable(shuffled, group, last)
    counts = Counter(group[item] for item in kept)
    largest = max(counts.values(), default=0)
    waiting, placed = deque(kept), list[str]()
    while waiting:
        left = len(waiting)
        forced = counts.most_common(1)[0] if left < 2 * largest else (None, 0)
        must = forced[0] if forced[1] > left // 2 else None
        item = next(one for one in waiting if (group[one] == must if must is not None else group[one] != last))
        waiting.remove(item)
        last = group[item]
        counts[last] -= 1
        placed.append(item)
    return Order(tuple(placed), tuple(left_out))


def _placeable(shuffled: Sequence[str], group: Mapping[str, object], last: object) -> tuple[list[str], list[str]]:
    """Items without those of a group that outnumbers all others: between two of a group stands one of another."""
    for name, count in Counter(group.values()).most_common(1):
        most = len(shuffled) - count + (name != last)
        extra = [item for item in shuffled if group[item] == name][most:]
        return [item for item in shuffled if item not in set(extra)], extra
    return [], []


def with_repeats_and_gold(
    items: Sequence[str],
    pairs: Mapping[str, str],
    rng: np.random.Generator,
    *,
    repeats: Sequence[str] = (),
    gold: Sequence[str] = (),
    before: Sequence[str] = (),
) -> list[Step]:
    """An order of items with repeats and gold items put between them at random places.

    before : what the rater has had already, in order. A repeat, and an item that is gold too, stands at least
    ``min(10, half of the items)`` places after its first time, or as far as can be, and never beside itself or its
    pair; what has no such place is left out.
    """
    past: list[Step] = [("item", item) for item in before]
    steps: list[Step] = [*past, *(("item", item) for item in items)]
    gap = min(REPEAT_GAP, (len(steps) + len(repeats) + len(gold)) // 2)
    extra: list[Step] = [*(("repeat", item) for item in repeats), *(("gold", item) for item in gold)]
    for step in extra:
        place = _free_place(steps, step[1], pairs, len(past), gap, rng)
        if place is not None:
            steps.insert(place, step)
    return steps[len(past) :]


def to_repeat(items: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """Items of an order that are asked again: by chance, of those that have room behind them."""
    room = max(1, len(items) - min(REPEAT_GAP, len(items) // 2))
    chosen = rng.permutation(min(room, len(items)))[:count]
    return [items[index] for index in chosen]


def apart(one: str, other: str, pairs: Mapping[str, str]) -> bool:
    """Whether two items may stand side by side: they differ and are not of one pair."""
    return one != other and (one not in pairs or pairs.get(other) != pairs[one])


def _free_place(
    steps: Sequence[Step], item: str, pairs: Mapping[str, str], start: int, gap: int, rng: np.random.Generator
) -> int | None:
    def near(index: int) -> bool:
        return 0 <= index < len(steps) and not apart(steps[index][1], item, pairs)

    first = next((index for index, step in enumerate(steps) if step[1] == item), None)
    free = [place for place in range(start, len(steps) + 1) if not near(place - 1) and not near(place)]
    if first is not None:
        free = [place for place in free if place > first]
        far = [place for place in free if place - first >= gap]
        free = far or free[-1:]
    return int(rng.choice(free)) if free else None
