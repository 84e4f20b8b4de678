"""What a rater gets, for whatever the rater had and whatever places are taken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.annotation.studies import items, pairs_of, study

from voirdire.annotation.filling import HELD, Filling, wants
from voirdire.annotation.nouns import BatchSpec, Gold
from voirdire.annotation.ordering import apart

COUNT = 12
WANTED = 2


@dataclass(frozen=True)
class Row:
    """A row of the rater's assignments."""

    id: str
    item_id: str
    kind: str
    state: str
    place: int


@st.composite
def worlds(draw: st.DrawFn) -> tuple[BatchSpec, list[Row], dict[str, set[int]]]:
    """A batch, an earlier order of the rater in which nothing stood beside its pair, and taken places."""
    most = draw(st.none() | st.integers(1, COUNT))
    repeats, gold = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    golden = tuple(Gold(f"g{number}", "q1", ("1",)) for number in range(gold))
    plan = study(raters_per_item=WANTED, items_per_rater=most, repeats=repeats, gold=golden)
    spec = BatchSpec("b", plan, items(COUNT), pairs=pairs_of(COUNT))
    first = Filling(spec, "us", "rater", [], {})
    kept = draw(st.integers(0, len(first.fresh)))
    states = st.sampled_from(["open", "done", "surplus", "returned", "returned"])
    had = [Row(row["id"], row["item_id"], row["kind"], draw(states), row["place"]) for row in first.fresh[:kept]]
    mine = {row.item_id for row in had if row.kind == "item" and row.state in ("open", "done")}
    taken = {item: draw(st.sets(st.integers(1, WANTED))) | ({1} if item in mine else set()) for item in spec.items}
    return spec, had, taken


@given(worlds())
def test_what_is_given_fits_what_was_had(world: tuple[BatchSpec, list[Row], dict[str, set[int]]]) -> None:
    spec, had, taken = world
    filling = Filling(spec, "us", "rater", had, taken)
    again = [(row.item_id, row.kind, slot, place) for row, slot, place in filling.again]
    fresh = [(row["item_id"], row["kind"], row["slot"], row["place"]) for row in filling.fresh]
    for item, kind, slot, _ in [*again, *fresh]:
        assert (slot is not None) == (kind == "item")
        assert slot is None or (1 <= slot <= WANTED and slot not in taken[item])
    assert {row.state for row, _, _ in filling.again} <= {"returned"}
    known = {(row.kind, row.item_id) for row in had}
    assert not known & {(kind, item) for item, kind, _, _ in fresh}
    assert len({(kind, item) for item, kind, _, _ in fresh}) == len(fresh)
    assert all(place > max((row.place for row in had), default=0) for *_, place in fresh)
    held = sum(row.kind == "item" and row.state in HELD for row in had)
    got = sum(kind == "item" for _, kind, _, _ in [*again, *fresh])
    assert got <= max(0, (spec.study.items_per_rater or COUNT) - held)
    if not wants(spec, had):
        assert not again
        assert not fresh


@given(worlds())
def test_what_is_given_stands_beside_nothing_of_its_pair(
    world: tuple[BatchSpec, list[Row], dict[str, set[int]]],
) -> None:
    spec, had, taken = world
    filling = Filling(spec, "us", "rater", had, taken)
    coming = {row.id for row, _, _ in filling.again} | {row["id"] for row in filling.fresh}
    order = [(row.place, row.item_id, row.id) for row in had if row.state in HELD or row.id in coming]
    order += [(row["place"], row["item_id"], row["id"]) for row in filling.fresh]
    for (_, one, first), (_, other, second) in pairwise(sorted(order)):
        assert apart(one, other, spec.pairs) or not coming & {first, second}


@given(worlds())
def test_a_rater_gets_all_that_there_is(world: tuple[BatchSpec, list[Row], dict[str, set[int]]]) -> None:
    """As many items as the rater is to have, or all but at most one that have a place."""
    spec, had, taken = world
    filling = Filling(spec, "us", "rater", had, taken)
    held = {row.item_id for row in had if row.kind == "item" and row.state in HELD}
    free = [item for item in spec.items if item not in held and len(taken[item]) < WANTED]
    wanted = min(max(0, (spec.study.items_per_rater or COUNT) - len(held)), len(free))
    got = sum(slot is not None for _, slot, _ in filling.again) + sum(row["kind"] == "item" for row in filling.fresh)
    assert wanted - 1 <= got <= wanted


def test_the_same_rater_gets_the_same_order_and_another_one_another() -> None:
    spec = BatchSpec("b", study(), items(30))
    orders = [
        [row["item_id"] for row in Filling(one, "us", who, [], {}).fresh]
        for one, who in (
            (spec, "r1"),
            (spec, "r1"),
            (spec, "r2"),
            (BatchSpec("b", study(seed=1), items(30)), "r1"),
        )
    ]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[0] != orders[3]
