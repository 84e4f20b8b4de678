from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.judging.parsing import (
    BLOCKS,
    LONGEST,
    WHITE,
    lexicon,
    normalised,
    read_reply,
    separate_reasoning,
)

LEVELS = (1, 2, 3, 4, 5)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "replies.md"
ROW = re.compile(r"^\| (`+) ?(.+?) ?\1 \| (ok (-?\d+)|malformed|refused) \| (\w+) \|$")


def table() -> list[tuple[str, str, int | None, str]]:
    rows = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            found = ROW.match(line)
            assert found, line
            text, _, times = found[2].partition(" * ")
            reply = ast.literal_eval(text) * (int(times.replace("_", "")) if times else 1)
            rows.append((reply, found[3].split()[0], int(found[4]) if found[4] else None, found[5]))
    return rows


def test_the_table_is_long_enough_to_be_the_table() -> None:
    assert len(table()) > 70
    assert {why for *_, why in table()} >= {
        "rating", "notation", "outside", "several", "decorated", "words", "empty", "long", "reasoning", "refusal",
        "no_image",
    }  # fmt: skip


@pytest.mark.parametrize(("reply", "kind", "rating", "why"), table(), ids=lambda value: repr(value)[:40])
def test_documented_outcome(reply: str, kind: str, rating: int | None, why: str) -> None:
    reading = read_reply(reply, LEVELS)
    assert (reading.kind, reading.rating, reading.why) == (kind, rating, why)


pieces = st.sampled_from(
    ["4", "5", "1", "0", "6", "04", "４", "四", "four", ".", "。", "/", "-", "+", "*", '"', "`", "{", "}", ":", "%",
     " ", "\n", "\t", "\u3000", "\u00a0", "\u200b", "\u202e", "\x00", "\ufeff", "<think>", "</think>", "◁/think▷",
     "rating", "I can't rate", "我无法评分", "分", "out of", "\x1c", "\x85", "\u2028", "²", "①", "1_0", "4\r"]
)  # fmt: skip
replies = st.one_of(st.text(max_size=40), st.lists(pieces, max_size=8).map("".join))


@given(replies)
def test_only_a_level_is_ever_a_rating(reply: str) -> None:
    """Seen from outside: a rating means that the reply ends in that level, alone or right behind a closing mark."""
    reading = read_reply(reply, LEVELS)
    assert (reading.rating is not None) == (reading.kind == "ok")
    if reading.rating is None:
        return
    bare = reply.rstrip(WHITE)
    assert reading.rating in LEVELS
    assert bare.endswith(str(reading.rating))
    before = bare[: -len(str(reading.rating))].rstrip(WHITE)
    assert before == "" or before.endswith(tuple(closing for _, closing in BLOCKS))


@given(replies, st.lists(st.integers(-20, 20), min_size=1, max_size=8, unique=True))
def test_ratings_are_levels(reply: str, levels: list[int]) -> None:
    reading = read_reply(reply, tuple(levels))
    assert reading.rating is None or reading.rating in levels


@given(st.integers(-100, 100), st.text(WHITE, max_size=5), st.text(WHITE, max_size=5))
def test_every_level_is_read_back(level: int, before: str, after: str) -> None:
    assert read_reply(f"{before}{level}{after}", (level, level + 1)).rating == level


@given(st.text(min_size=1, max_size=5).filter(lambda text: text.strip(WHITE) != ""))
def test_nothing_may_stand_beside_a_level(extra: str) -> None:
    """Whatever is not white space makes the reply something else than 4 (a closing mark is longer than this text)."""
    assert read_reply(f"4{extra}", LEVELS).rating is None
    assert read_reply(f"{extra}4", LEVELS).rating is None


@given(replies, st.text(max_size=10))
def test_a_signal_of_the_provider_is_a_refusal(reply: str, signal: str) -> None:
    assert read_reply(reply, LEVELS, refusal=signal).kind == "refused"
    assert read_reply(reply, LEVELS, finish="filter").kind == "refused"


@given(replies)
def test_a_reply_that_was_cut_is_never_a_rating(reply: str) -> None:
    assert read_reply(reply, LEVELS, finish="length").rating is None


@given(st.sampled_from(["I can't rate this", "I’m unable to assist", "抱歉，我无法评分", "我不能評分"]), replies)
def test_a_refusal_is_never_a_rating(refusal: str, rest: str) -> None:
    assert read_reply(f"{refusal}{rest}", LEVELS).kind != "ok" or "think" in rest
    assert read_reply(f"{rest}{refusal}", LEVELS).kind != "ok"


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 20_000,
        "</think>" * 20_000,
        "<think></think>" * 10_000 + "4",
        " <think> </think>" * 8_000 + "x",
        "I can't " * 15_000,
        "我无法" * 40_000,
        "1 to " * 25_000,
        "4" * 120_000,
        "4 " * 60_000,
        "-" * 120_000,
        "4." * 60_000,
        " " * 120_000 + "4",
        "4" + "\n" * 120_000 + "x",
        "\ufdfa" * 100_000,
        "i am not able to help you to " * 4_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_length_is_read_at_once(text: str) -> None:
    started = time.process_time()
    read_reply(text, LEVELS)
    assert time.process_time() - started < 0.25


def test_the_longest_reply_that_is_looked_at_closely() -> None:
    assert read_reply("4 " * (LONGEST // 2 - 1), LEVELS).why == "several"
    assert read_reply("4" * LONGEST, LEVELS).why == "outside"
    assert read_reply("4" * (LONGEST + 1), LEVELS).why == "long"
    assert read_reply("I can't help with this. " + "x" * LONGEST, LEVELS).kind == "refused"


marked = st.lists(st.sampled_from([*(mark for block in BLOCKS for mark in block), "4", " ", "a"]), max_size=10)


@given(marked.map("".join), replies)
def test_what_is_visible_has_no_further_block(thought: str, answer: str) -> None:
    """An adapter may part a reply before it is read: the reading is the same."""
    reply = thought + answer
    visible = separate_reasoning(reply)[1]
    assert separate_reasoning(visible) == ("", visible)
    assert reply.endswith(visible)
    assert read_reply(visible, LEVELS).rating == read_reply(reply, LEVELS).rating


@given(st.text(max_size=60))
def test_an_answer_without_marks_stays_as_it_is(answer: str) -> None:
    assert separate_reasoning(answer) == ("", answer)
    assert separate_reasoning(f"<think>because</think>{answer}") == ("because", answer)


@pytest.mark.parametrize(("opening", "closing"), BLOCKS)
def test_every_kind_of_block(opening: str, closing: str) -> None:
    assert separate_reasoning(f"\n{opening}a{closing} {opening}b{closing}\n4") == ("a\nb", "\n4")
    assert separate_reasoning(f"{opening}a") == ("a", "")
    assert separate_reasoning(f"a{closing}4") == ("a", "4")
    assert separate_reasoning(f"{opening}a{closing}b{closing}4") == ("a\nb", "4")
    assert separate_reasoning(f"{opening}a{opening}b{closing}c{closing}4") == (f"a{opening}b\nc", "4")
    assert separate_reasoning(f"4{opening}a{closing}") == ("", f"4{opening}a{closing}")


REFUSALS = [
    "I cannot provide a rating for this image.",
    "Sorry, but I can't help with that.",
    "Unable to rate.",
    "I must decline to judge this.",
    "I'm not comfortable rating people's looks.",
    "I won’t answer that.",
    "I’m sorry, but as an AI I cannot make judgments about cultural practices.",
    "Unfortunately, I am not able to assist with this request",
    "抱歉，我不便对此发表看法。",
    "对不起，我无法为这张图片打分",
    "我拒绝回答这个问题。",
    "作为AI助手，我不能对此作出评价",
    "抱歉，我無法對此圖片進行評價。",
    "恕我无法评价。",
    "根据相关法律法规，该内容不予评价",
]
NOT_REFUSALS = [
    "The sign says that pets cannot enter.",
    "Not appropriate at all.",
    "图中的人无法参与活动。",
    "这不能说是很好的帮助",
    "This can't be rated above average.",
    "I won't give this a high rating.",
    "It is inappropriate to refuse a gift.",
    "不合适",
    "客人拒绝了礼物，这在中国很常见。",
    "He refuses to help, so it is rude.",
    "You can't help your neighbours enough.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_in_both_languages(text: str) -> None:
    assert read_reply(text, LEVELS).kind == "refused"
    assert read_reply(f"<think>{text}</think>4", LEVELS).rating == 4


@pytest.mark.parametrize("text", NOT_REFUSALS)
def test_what_only_sounds_like_a_refusal_is_malformed(text: str) -> None:
    assert read_reply(text, LEVELS).kind == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        "I can't rate this from 1 to 5.",
        "I can't rate this on a 1-5 scale.",
        "I can't rate this on a scale of 1–5.",
        "我无法在1到5之间评分",
        "我无法按１至５分评分",
        "I can't rate this on a five-point scale.",
    ],
)
def test_the_ends_of_the_scale_are_no_rating(text: str) -> None:
    assert read_reply(text, LEVELS).kind == "refused"


@pytest.mark.parametrize("text", ["I can't rate this. 2", "我无法评价，只能给四分", "I cannot rate it; three, perhaps"])
def test_a_refusal_that_names_a_level_is_asked_again(text: str) -> None:
    assert read_reply(text, LEVELS).kind == "malformed"


def test_the_lexicon_is_compared_in_one_spelling() -> None:
    for pattern in (lexicon().refusal, lexicon().no_image, lexicon().limit, lexicon().score):
        literal = re.sub(r"\\.|[\[\](){}|?:^*,0-9-]", " ", pattern.pattern)
        assert normalised(literal) == " ".join(literal.split())
