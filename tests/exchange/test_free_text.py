from __future__ import annotations

import polars as pl
import pytest

from voirdire.exchange.free_text import is_free_text, is_identifier, naming_columns


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("comment", ["fine"], True),
        ("q1_comment", ["fine", None], True),
        ("理由", ["好"], True),
        ("why", [None, None], False),
        ("reason_code", ["3", "4"], False),
        ("country", ["United Kingdom of Great Britain", "France"], False),
        ("country", [f"the land of {n}" for n in range(13)], True),
        ("answer", ["x" * 41], True),
        ("answer", ["这道菜我们家只在过年的时候才会做"] * 2, False),
        ("answer", [f"这道菜我们家只在过年的时候做{n}" for n in range(13)], True),
        ("age", ["20s", "30s"], False),
        ("denotes", ["a", "b"], False),
        ("answer", ["two\nlines"], True),
    ],
)
def test_words_of_raters(name: str, cells: list[str | None], expected: bool) -> None:
    assert is_free_text(pl.Series(name, cells, dtype=pl.String)) is expected


def test_numbers_are_none() -> None:
    assert not is_free_text(pl.Series("comment", [1.5, 2.0]))


def test_ids_elsewhere() -> None:
    frame = pl.DataFrame({"author": ["ann@x.org", "zed"], "n": [1, 2], "text": ["by ann@x.org", "12345"]})
    assert naming_columns(frame, ["ann@x.org", "12345", "zed"]) == ["author"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["ann", "bob", "cy", None], True),
        ([1, 2, 3], True),
        (["ann", "bob", "ann"], False),
        (["m", "f"], False),
        (["none", "none", "a.b@mail.example.org"], True),
        (["none", "none", "+44 20 7946 0000"], True),
        (["none", "none", "https://x.org/me"], True),
        (["20-29", "20-29", "30+"], False),
        ([None, None, None], False),
    ],
)
def test_names_and_addresses(cells: list[object], expected: bool) -> None:
    assert is_identifier(pl.Series("x", cells)) is expected
