from __future__ import annotations

import itertools
import tomllib
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.construction.similarity import nearly_same, runs, similarity, threshold_of

PLAIN = st.text(st.sampled_from("ab cd 茶饭 é?"), max_size=12)

NEAR = {
    "en": [
        ("How good is this breakfast for a working day?", "How good is this breakfast for a work day?"),
        ("How comforting is this soup on a cold evening?", "How comforting is this soup on a cold night?"),
        ("How appropriate is this outfit for a law firm?", "How appropriate is this outfit for a bank?"),
        ("How appropriate is this outfit for a wedding?", "How suitable is this outfit for a wedding?"),
        ("How good is this dessert on a hot summer day?", "On a hot summer day, how good is this dessert?"),
        ("How well does this drink go with a rich meal?", "How well would this drink go with a heavy meal?"),
        ("How good does this look?", "HOW GOOD DOES THIS LOOK"),
        ("How good does this look?", "How nice does this look?"),
    ],
    "zh": [
        ("作为工作日的早餐，这份早餐有多好？", "作为工作日早餐，这份早餐有多好？"),
        ("在寒冷的夜晚，这碗汤有多暖心？", "在寒冷的晚上，这碗汤有多暖心？"),
        ("参加朋友的婚礼，这身衣服有多合适？", "参加朋友婚礼时，这身衣服有多合适？"),
        ("吃得油腻时，这种饮料有多合适？", "吃得油腻的时候，这种饮料有多合适？"),
        ("这道菜看起来怎么样？", "这道菜看上去怎么样？"),
        ("冷天出门散步穿这件外套，有多好？", "冷天散步穿这件外套有多好？"),
        ("在炎热的夏天，这道甜品有多好？", "夏天炎热时，这道甜品有多好？"),
    ],
}


def demo_questions(language: str) -> list[str]:
    text = files("voirdire.simulation").joinpath("demo_items.toml").read_text(encoding="utf-8")
    return [pair["prompt"][language] for pair in tomllib.loads(text)["pair"]]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_different_questions_stay_apart(language: str) -> None:
    """The fifteen questions of the demonstration corpus, with room to the threshold, as the docstring says."""
    asked = demo_questions(language)
    most = max(similarity(one, other, language) for one, other in itertools.combinations(asked, 2))
    assert most < {"en": 0.40, "zh": 0.36}[language]
    assert nearly_same(dict(enumerate(asked)), language) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "one", "other"), [(lang, *two) for lang, found in NEAR.items() for two in found])
def test_a_word_exchanged_or_moved_is_found(language: str, one: str, other: str) -> None:
    assert similarity(one, other, language) >= {"en": 0.55, "zh": 0.45}[language] >= threshold_of(language)
    assert nearly_same({"a": one, "b": other}, language)[0].names == ("a", "b")


def plain_similarity(one: str, other: str, size: int, spaces: bool) -> float:
    def found(text: str) -> set[str]:
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        words = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text).split()
        if not words:
            return set()
        line = " " + " ".join(words) + " " if spaces else "".join(words)
        return {line[i : i + size] for i in range(len(line)) if i + size <= len(line)} or {line}

    a, b = found(one), found(other)
    return len(a & b) / len(a | b) if a and b else 0.0


@given(PLAIN, PLAIN, st.sampled_from(["en", "zh"]))
def test_the_measure(one: str, other: str, language: str) -> None:
    size, spaces = (3, True) if language == "en" else (2, False)
    wanted = plain_similarity(one, other, size, spaces)
    assert similarity(one, other, language) == pytest.approx(wanted)
    assert similarity(other, one, language) == similarity(one, other, language)
    assert similarity(one, one, language) == (1.0 if runs(one, language) else 0.0)


@given(st.lists(PLAIN, max_size=8), st.sampled_from(["en", "zh"]), st.floats(0.05, 1))
def test_groups_are_what_hangs_together(texts: list[str], language: str, threshold: float) -> None:
    """Against a plain search through all pairs."""
    named = {str(place): text for place, text in enumerate(texts)}
    near = {
        frozenset((one, other))
        for one, other in itertools.combinations(named, 2)
        if similarity(named[one], named[other], language) >= threshold
    }
    groups: list[set[str]] = []
    for edge in near:
        touched = [group for group in groups if group & edge]
        groups = [group for group in groups if group not in touched] + [set(edge).union(*touched)]
    found = nearly_same(named, language, threshold)
    assert {frozenset(one.names) for one in found} == {frozenset(group) for group in groups}
    for one in found:
        inside = [similarity(named[a], named[b], language) for a, b in itertools.combinations(one.names, 2)]
        assert one.most == pytest.approx(max(inside))
        assert list(one.names) == [name for name in named if name in one.names]


def test_many_texts_are_compared_in_parts() -> None:
    """More than the rows that are multiplied at once, with one pair behind the first part."""
    texts = {str(number): f"{number:06d} {number * 7919 % 999983:06d}" for number in range(2500)}
    texts["1500"], texts["2499"] = "the very same question", "The very same question?"
    assert [one.names for one in nearly_same(texts, "en", 0.99)] == [("1500", "2499")]
