from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voirdire.annotation.ordering import REPEAT_GAP, apart, order, to_repeat, with_repeats_and_gold

GROUPS = st.lists(st.sampled_from(["", *"abcdefgh"]), max_size=24)
SEEDS = st.integers(0, 2**32)


def corpus(groups: list[str]) -> tuple[list[str], dict[str, str]]:
    """One item a group; "" is an item without a pair."""
    items = [f"i{number}" for number in range(len(groups))]
    return items, {item: group for item, group in zip(items, groups, strict=True) if group}


@given(GROUPS, SEEDS, st.sampled_from([None, "old"]))
def test_an_order_holds_each_item_once_and_no_pair_side_by_side(
    groups: list[str], seed: int, before: str | None
) -> None:
    items, pairs = corpus(groups)
    pairs["old"] = "a"
    found = order(items, pairs, np.random.default_rng(seed), before)
    assert sorted([*found.items, *found.left_out]) == sorted(items)
    chain = [*([before] if before else []), *found.items]
    assert all(apart(one, other, pairs) for one, other in pairwise(chain))


@given(GROUPS, SEEDS, st.sampled_from([None, "old"]))
def test_as_few_items_are_left_out_as_can_be(groups: list[str], seed: int, before: str | None) -> None:
    """A group fits when it has at most one item more than all others together, none more if it came before."""
    items, pairs = corpus(groups)
    pairs["old"] = "a"
    counts = Counter(group for group in groups if group)
    most = {name: len(groups) - count + (before is None or name != "a") for name, count in counts.items()}
    too_many = sum(max(0, count - most[name]) for name, count in counts.items())
    assert len(order(items, pairs, np.random.default_rng(seed), before).left_out) == too_many


def test_an_order_is_the_same_for_the_same_seed_only() -> None:
    items, pairs = corpus(["a", "a", "b", "b", *[""] * 20])
    first, again, other = (order(items, pairs, np.random.default_rng(seed)).items for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_place_is_as_likely_for_every_item() -> None:
    items, pairs = corpus([""] * 6)
    rng = np.random.default_rng(0)
    firsts = Counter(order(items, pairs, rng).items[0] for _ in range(6000))
    assert all(abs(firsts[item] - 1000) < 5 * (1000 * 5 / 6) ** 0.5 for item in items)


def test_pairs_do_not_make_the_ends_of_an_order_special() -> None:
    """Items of pairs stand first and last about as often as items without."""
    items, pairs = corpus(["a", "a", "b", "b", *[""] * 4])
    rng = np.random.default_rng(0)
    orders = [order(items, pairs, rng).items for _ in range(4000)]
    for place in (0, -1):
        paired = sum(one[place] in pairs for one in orders)
        assert abs(paired / 4000 - 0.5) < 0.06


@given(GROUPS, SEEDS, st.integers(0, 8), st.integers(0, 3), st.integers(0, 5))
def test_repeats_and_gold_never_stand_beside_their_item_or_its_pair(
    groups: list[str], seed: int, repeats: int, gold: int, before: int
) -> None:
    items, pairs = corpus(groups)
    rng = np.random.default_rng(seed)
    past = items[:before]
    ordered = order(items[before:], pairs, rng, past[-1] if past else None).items
    chosen = to_repeat(ordered, repeats, rng)
    steps = with_repeats_and_gold(
        ordered, pairs, rng, repeats=chosen, gold=[f"g{number}" for number in range(gold)], before=past
    )
    assert [item for kind, item in steps if kind == "item"] == list(ordered)
    assert Counter(item for kind, item in steps if kind == "gold") == {f"g{number}": 1 for number in range(gold)}
    chain = [*past[-1:], *(item for _, item in steps)]
    assert all(apart(one, other, pairs) for one, other in pairwise(chain))


@given(st.integers(4, 60), st.integers(1, 10), SEEDS)
def test_repeats_come_ten_places_after_their_first_time_or_half_the_order(count: int, repeats: int, seed: int) -> None:
    items, pairs = corpus([""] * count)
    rng = np.random.default_rng(seed)
    ordered = order(items, pairs, rng).items
    chosen = to_repeat(ordered, repeats, rng)
    steps = with_repeats_and_gold(ordered, pairs, rng, repeats=chosen)
    first = {item: place for place, (kind, item) in enumerate(steps) if kind == "item"}
    again = {item: place for place, (kind, item) in enumerate(steps) if kind == "repeat"}
    assert set(again) == set(chosen)
    assert len(chosen) == min(repeats, count - min(REPEAT_GAP, count // 2))
    assert all(again[item] - first[item] >= min(REPEAT_GAP, count // 2) for item in again)


def test_an_item_of_the_batch_that_is_gold_too_is_not_asked_twice_in_a_row() -> None:
    for seed in range(50):
        steps = with_repeats_and_gold(["a", "b", "c"], {}, np.random.default_rng(seed), gold=["a"])
        assert all(one[1] != other[1] for one, other in pairwise(steps))
