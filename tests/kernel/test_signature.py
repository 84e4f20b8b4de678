"""Signatures print, parse back and compare, whatever the names in them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voirdire.errors import SignatureError
from voirdire.signature import Signature, pairs, quote

HOSTILE = [
    "a|b",
    "a(b)",
    "k=v,k=v",
    "100%",
    "%28",
    "mae()|def(x=1)",
    "<script>",
    "题目",
    "a\nb\tc",
    "\x00",
    "|v:1",
    "é",
]
text = st.one_of(st.text(max_size=12), st.sampled_from(HOSTILE))
mapping = st.dictionaries(text, text, max_size=3)
name = st.one_of(st.text(min_size=1, max_size=12), st.sampled_from(HOSTILE))
signatures = st.builds(Signature, name, mapping, mapping, mapping, mapping)


@given(signatures)
@example(Signature(" mae ", {"": ""}, {" ": "\u2028"}))
def test_prints_and_parses_back(signature: Signature) -> None:
    printed = str(signature)
    parsed = Signature.parse(printed)
    assert parsed == signature
    assert str(parsed) == printed
    assert parsed.same_definition(signature)
    assert parsed.diff(signature) == []


@given(signatures)
def test_surrounding_space_of_a_copied_signature_does_not_matter(signature: Signature) -> None:
    assert Signature.parse(f"\n {signature}\t\n") == signature


@given(text)
def test_quoted_text_keeps_the_shape(value: str) -> None:
    assert not set(quote(value)) & set("|(),=")
    assert all(ord(char) >= 32 for char in quote(value))


@given(mapping, mapping)
def test_different_mappings_print_differently(left: dict[str, str], right: dict[str, str]) -> None:
    assert (pairs(left) == pairs(right)) == (list(left.items()) == list(right.items()))


@given(signatures, text, text)
def test_diff_names_what_differs(signature: Signature, key: str, value: str) -> None:
    other = Signature(
        signature.name, signature.params, {**signature.definition, key: value}, signature.on, signature.source
    )
    before = signature.definition.get(key)
    assert signature.same_definition(other) == (before == value)
    assert signature.diff(other) == ([] if before == value else [("definition", key, before, value)])


def test_place_and_material_do_not_make_a_definition() -> None:
    here = Signature("mae", {}, {"question": "q"}, {"pool": "us"}, {"n": "3"})
    there = Signature("mae", {}, {"question": "q"}, {"pool": "cn"}, {"n": "4"})
    assert here.same_definition(there)
    assert here.diff(there) == [("on", "pool", "us", "cn"), ("source", "n", "3", "4")]
    assert not here.same_definition(Signature("bias", {}, {"question": "q"}))


@pytest.mark.parametrize(
    "broken",
    ["", "mae", "mae()", "mae()|def()|on()|from()", "mae()|def(a)|on()|from()|v:1", "mae()|def(a=b=c)|on()|from()|v:1",
     "mae()|def(,)|on()|from()|v:1", "mae()|on()|def()|from()|v:1", "mae()|def()|on()|from()|v:1|v:1"],
)  # fmt: skip
def test_other_text_is_refused(broken: str) -> None:
    with pytest.raises(SignatureError):
        Signature.parse(broken)


def test_another_format_is_named() -> None:
    with pytest.raises(SignatureError) as raised:
        Signature.parse("mae()|def()|on()|from()|v:2")
    assert raised.value.key == "errors.signature_version"
