from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.errors import UsageError
from voirdire.exchange.anonymity import check_anonymity, smallest_group

CELLS = st.sampled_from(["x", "y", None])
RATERS = st.lists(st.tuples(st.sampled_from(["us", "cn"]), CELLS, CELLS), min_size=1, max_size=40)


def table(rows: list[tuple[str | None, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["pool", "age", "sex"], orient="row").with_columns(pl.all().cast(pl.String))


@given(RATERS)
def test_smallest_group_as_counted_by_hand(rows: list[tuple[str | None, ...]]) -> None:
    assert smallest_group(table(rows), ["pool", "age", "sex"]) == min(Counter(rows).values())


@given(RATERS, st.integers(1, 6))
def test_refused_exactly_when_a_group_is_too_small(rows: list[tuple[str | None, ...]], k: int) -> None:
    raters = table(rows)
    smallest = min(Counter(rows).values())
    if smallest >= k:
        assert check_anonymity(raters, ["age", "sex"], k).smallest == smallest
        return
    with pytest.raises(UsageError) as caught:
        check_anonymity(raters, ["age", "sex"], k)
    if caught.value.key == "release.pool_small":
        assert min(Counter(row[0] for row in rows).values()) < k
        return
    assert caught.value.fields["columns"] == "age, sex"
    assert caught.value.fields["smallest"] == smallest
    instead = str(caught.value.fields["instead"])
    columns = [] if instead == "none" else instead.split(",")
    assert check_anonymity(raters, columns, k).smallest >= k


def test_most_columns_are_proposed() -> None:
    rows = [("us", "x", str(n)) for n in range(6)]
    with pytest.raises(UsageError, match="--rater-columns age;"):
        check_anonymity(table(rows), ["age", "sex"], 5)


def test_many_columns_are_tried_one_by_one() -> None:
    columns = {f"c{n}": ["a"] * 6 if n != 7 else list("abcdef") for n in range(14)}
    raters = pl.DataFrame({"pool": ["us"] * 6} | columns)
    with pytest.raises(UsageError) as caught:
        check_anonymity(raters, list(columns), 5)
    assert str(caught.value.fields["instead"]).split(",") == [name for name in columns if name != "c7"]


def test_no_raters_and_no_sense() -> None:
    assert check_anonymity(table([]), ["age"], 5).smallest == 0
    with pytest.raises(UsageError, match="from 1"):
        check_anonymity(table([]), [], 0)
