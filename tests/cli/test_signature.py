from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.app.signature import diff, explain
from voirdire.cli.main import run
from voirdire.signature import Signature

ONE = "mae()|def(question=q1,level=0.95)|on(pool=us,judge=a)|from(n=626)|v:1"
OTHER = "mae()|def(question=q1,level=0.9)|on(pool=cn,judge=a)|from(n=626)|v:1"


def test_explain_says_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "explain", ONE, "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert [(part["part"], part["key"], part["value"]) for part in parts] == [
        ("name", "mae", ""),
        ("definition", "question", "q1"),
        ("definition", "level", "0.95"),
        ("on", "pool", "us"),
        ("on", "judge", "a"),
        ("source", "n", "626"),
        ("version", "v", "1"),
    ]
    assert all(part["words"] for part in parts)


@pytest.mark.parametrize(("lang", "words"), [("en", "the level of the interval"), ("zh", "区间的置信水平")])
def test_explain_in_words(lang: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "explain", ONE, "--lang", lang]) == 0
    assert words in capsys.readouterr().out


def test_diff_shows_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "diff", ONE, OTHER]) == 0
    printed = capsys.readouterr().out
    assert "0.95" in printed
    assert "0.9" in printed
    assert "question" not in printed
    assert "do not put them in one column" in printed


def test_diff_of_places_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "diff", ONE, ONE.replace("pool=us", "pool=cn")]) == 0
    assert "may stand in one column" in capsys.readouterr().out


def test_diff_of_equals(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "diff", ONE, ONE]) == 0
    assert "equal" in capsys.readouterr().out


def test_a_side_without_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signature", "diff", ONE, ONE.replace(",level=0.95", ""), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["differences"][0]["second"] is None
    assert document["same_definition"] is False


PAIRS = st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=8), max_size=4)


@given(st.text(min_size=1, max_size=8), PAIRS, PAIRS, PAIRS, PAIRS)
def test_any_signature_can_be_explained(name: str, params: dict, definition: dict, on: dict, source: dict) -> None:
    signature = Signature(name, params, definition, on, source)
    parts = explain(str(signature).strip())
    assert len(parts) == 2 + len(params) + len(definition) + len(on) + len(source)
    assert diff(str(signature), str(signature)).differences == ()
