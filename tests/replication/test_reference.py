"""The audit equals the independent reference on the simulated corpus, by the command and through Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.replication.reference_map import PLACE, Place, ReferenceMap, failures, leaves

import voirdire

pytestmark = pytest.mark.slow
Rows = Mapping[Place, Mapping[str, Any]]
Reference = Mapping[str, Mapping[str, Any]]
RULED_OUT = {"_versions", "alpha_q1_pooled"}


def test_the_command_equals_the_reference(reference: Reference, mapped: ReferenceMap, by_command: Rows) -> None:
    found = mapped.compare(reference, "audit", by_command.__getitem__)
    assert not failures(found)
    assert sum(map(len, found.values())) > 600


def test_python_equals_the_reference(reference: Reference, mapped: ReferenceMap, profile: voirdire.Profile) -> None:
    def lookup(place: Place) -> dict[str, Any]:
        statistic, *rest = place
        estimate = profile.get(statistic, **dict(zip(PLACE[1:], rest, strict=True)))
        assert estimate.undefined is None
        ends = {} if estimate.interval is None else {"low": estimate.interval.low, "high": estimate.interval.high}
        return {"value": estimate.value, "label": estimate.label, "n": estimate.n, **ends}

    found = mapped.compare(reference, "audit", lookup)
    assert not failures(found)
    assert sum(map(len, found.values())) > 600


@pytest.mark.parametrize("run", ["median", "gap_half", "gap_one", "chinese"])
def test_variants_equal_the_reference(
    reference: Reference, mapped: ReferenceMap, variant: Callable[[str], Rows], run: str
) -> None:
    found = mapped.compare(reference, run, variant(run).__getitem__)
    assert found
    assert not failures(found)


def test_no_key_is_unmapped_and_no_entry_unused(reference: Reference, mapped: ReferenceMap) -> None:
    assert set(mapped.keys) == set(reference)
    claims = {str(leaf): mapped.of(leaf) for leaf in leaves(reference)}
    assert [name for name, parts in claims.items() if len(parts) != 1] == []
    used = {part for parts in claims.values() for part, _ in parts}
    assert [(part.key, part.leaf) for part in mapped.parts if part not in used] == []


def test_every_entry_is_well_formed(mapped: ReferenceMap) -> None:
    assert [(part.key, sorted(part.rest)) for part in mapped.parts if part.rest] == []
    assert {part.run for part in mapped.parts} == set(mapped.runs)
    assert {part.n for part in mapped.parts} <= {"", "each", "sum"}
    assert all(part.spec.endswith(".") for part in mapped.parts if part.how == "out")


def test_what_is_out_is_out_of_this_work(reference: Reference, mapped: ReferenceMap) -> None:
    """Only the exceptions of the definitions, and forms of T that they rule out."""
    out = {part.key for part in mapped.parts if part.how == "out"}
    whole = {key for key in out if all(part.how == "out" for part in mapped.parts if part.key == key)}
    assert whole == RULED_OUT
