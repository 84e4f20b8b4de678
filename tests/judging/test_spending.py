from __future__ import annotations

import base64
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import Usage
from voirdire.judging.providers.capability import Capability
from voirdire.judging.providers.catalog import capability
from voirdire.judging.spending import (
    Budget,
    Price,
    Prices,
    PromptFacts,
    Range,
    cost,
    cost_range,
    estimate,
    need_prices,
    read_prices,
)
from voirdire.judging.tokens import NOTHING, RULES, CallTokens, image_tokens, text_tokens
from voirdire.texts import LANGUAGES, text

# ---------------------------------------------------------------- cost


def test_cost_by_hand() -> None:
    price = Price(5.0, 25.0, cached_input=0.5)
    assert cost(Usage(input=1200, output=3), price) == pytest.approx(1200 * 5e-6 + 3 * 25e-6)
    assert cost(Usage(input=1200, output=3, cached=1000), price) == pytest.approx(200 * 5e-6 + 1000 * 5e-7 + 3 * 25e-6)
    assert cost(Usage(input=1200, output=3), price, batch=True) == pytest.approx((1200 * 5e-6 + 3 * 25e-6) / 2)


def test_reasoning_is_a_part_of_the_output() -> None:
    price = Price(1.0, 10.0)
    assert cost(Usage(input=0, output=500, reasoning=490), price) == cost(Usage(input=0, output=500), price)


def test_cached_tokens_without_a_price_of_their_own_cost_as_input() -> None:
    assert cost(Usage(input=100, output=0, cached=60), Price(2.0, 8.0)) == cost(
        Usage(input=100, output=0), Price(2.0, 8.0)
    )


@pytest.mark.parametrize("usage", [Usage(), Usage(input=5), Usage(output=5)])
def test_no_cost_without_tokens(usage: Usage) -> None:
    assert cost(usage, Price(1.0, 1.0)) is None


def test_no_cost_without_a_price() -> None:
    assert cost(Usage(input=5, output=5), None) is None
    assert cost_range(CallTokens(), None) is None


def test_a_free_model_costs_nothing_which_is_not_unknown() -> None:
    assert cost(Usage(input=5, output=5), Price(0, 0)) == 0.0


# ---------------------------------------------------------------- estimate


@pytest.mark.parametrize(
    ("width", "height", "rule", "tokens"),
    [
        # the examples of OpenAI's guide
        (1024, 1024, {"kind": "tiles", "base": 85, "tile": 170}, 765),
        (2048, 4096, {"kind": "tiles", "base": 85, "tile": 170}, 1105),
        (1024, 1024, {"kind": "patches", "cap": 1536, "multiplier": 1}, 1024),
        (512, 512, {"kind": "tiles", "base": 85, "tile": 170}, 255),
        (4000, 1474, {"kind": "patches", "cap": 1536, "multiplier": 1.62}, 2489),
        # Anthropic: squares of 28 pixels, at most what the longest edge and the cap allow
        (1000, 1000, {"kind": "patches", "side": 28, "cap": 1600, "long_edge": 1568}, 1296),
        (4000, 4000, {"kind": "patches", "side": 28, "cap": 4784, "long_edge": 2576}, 4784),
        (1000, 1000, {"kind": "area", "pixels": 750, "cap": 1600, "long_edge": 1568}, 1334),
        (200, 200, {"kind": "area", "pixels": 750, "cap": 1600, "long_edge": 1568}, 54),
        # Google: one crop up to 384 pixels, the guide's example of 960 x 540
        (384, 384, {"kind": "crops", "tokens": 258, "small": 384}, 258),
        (960, 540, {"kind": "crops", "tokens": 258, "small": 384}, 1548),
        (1024, 1024, {"kind": "flat", "tokens": 1120}, 1120),
        (1024, 1024, {"kind": "none"}, 0),
        (1, 1, {"kind": "crops", "tokens": 258, "small": 384}, 258),
        (10_000, 1, {"kind": "crops", "tokens": 258, "small": 384}, 2_580_000),
    ],
)
def test_images_by_the_published_rules(width: int, height: int, rule: dict[str, Any], tokens: int) -> None:
    assert image_tokens(width, height, rule).expected == tokens


@given(st.integers(0, 9000), st.integers(0, 9000), st.sampled_from(sorted(RULES)))
def test_every_rule_takes_every_size(width: int, height: int, kind: str) -> None:
    rule = {"kind": kind, "tokens": 258, "small": 384, "pixels": 750, "base": 85, "tile": 170, "low": 0.5, "high": 2}
    tokens = image_tokens(width, height, rule)
    assert 0 <= tokens.low <= tokens.expected <= tokens.high < math.inf


@given(st.text(max_size=200), st.text(max_size=200))
def test_text_is_additive_and_ordered(one: str, other: str) -> None:
    both = text_tokens(one + other)
    parts = text_tokens(one) + text_tokens(other)
    assert both.expected == pytest.approx(parts.expected)
    assert both.low <= both.expected <= both.high
    assert (both.expected == 0) == (one + other == "")


@pytest.mark.parametrize(
    ("sentence", "counts"),
    [
        ("How polite would people around you find it to refuse a gift three times before accepting it?", (18, 18, 18)),
        ("在您周围的人看来，收礼前先推辞三次有多礼貌？", (20, 27, 26)),
        ("ما مدى تهذيب رفض الهدية ثلاث مرات قبل قبولها في رأي الناس من حولك؟", (22, 46, 64)),
    ],
)
def test_real_tokenizers_count_within_the_range(sentence: str, counts: tuple[int, ...]) -> None:
    """Counted once with OpenAI's o200k and cl100k and with the tokenizer of anthropic 0.38."""
    tokens = text_tokens(sentence)
    assert all(tokens.low <= count <= tokens.high for count in counts)


def test_english_prose_keeps_its_rate() -> None:
    """Words of prose are not taken for codes: the high number stays near 2.75 characters to a token."""
    prose = "How polite would people around you find it to refuse a gift three times before accepting it? " * 9
    assert 1 / 2.75 <= text_tokens(prose).high / len(prose) < 1 / 2


@pytest.mark.parametrize(
    ("kind", "dense"),
    [
        ("digits", "8571360924" * 40),
        ("digits with spaces", "8 5 7 1 3 6 0 9 2 4 " * 40),
        ("signs", "!@#$%^&*(){}[]|;:<>,./?~`" * 16),
        ("base64", base64.b64encode(bytes(range(256))).decode()),
        ("hexadecimal", bytes(range(256)).hex()),
        ("capitals", "QXJZ" * 80),
        ("one long run of letters", "qxjzvkw" * 60),
        ("white space", "\t\n \r" * 80),
        ("JSON", '{"a":[1,2,{"b":-0.5e-7}],"c_d":null}' * 9),
    ],
)
def test_dense_text_has_at_most_one_token_to_a_character(kind: str, dense: str) -> None:
    """No byte-level tokenizer makes more tokens than characters of ASCII; a reservation for these is not below that."""
    tokens = text_tokens(dense)
    words = sum(len(word) for word in re.findall("[a-z]+", dense)) if kind == "JSON" else 0
    assert len(dense) - words <= tokens.high <= len(dense)
    assert tokens.expected == pytest.approx(len(dense) / 4), "the expected number is as for other text"


def test_single_letters_are_tokens() -> None:
    assert text_tokens("a b c d e f").high >= 6


def test_thinking_that_the_limit_does_not_hold_for_is_reserved() -> None:
    """On Model Studio max_tokens may limit the answer only."""

    def high(name: str, **parameters: Any) -> float:
        return estimate(PromptFacts(), capability(*name.split("/", 1)), parameters).output.high

    assert high("dashscope/qwen3-vl-plus") == 64
    assert high("dashscope/qwen3-vl-plus", reasoning="on") == 8192 + 81920
    assert high("dashscope/qwen3-vl-plus", reasoning="default") == 64 + 81920
    assert high("dashscope/qwen3-vl-plus", reasoning="on", enable_thinking=False) == 8192
    assert high("dashscope/qwen3-vl-plus", enable_thinking=True, thinking_budget=1000) == 64 + 1000
    assert high("dashscope/qwen3-vl-8b-thinking", max_tokens=100) == 100 + 81920
    assert high("dashscope/qwen3-vl-8b-instruct") == 64
    assert high("zai/glm-5v-turbo", reasoning="on") == 8192


def test_prices_of_a_resource_name() -> None:
    own = Prices((("google/gemini-2.5-*", Price(1.0, 2.0)),))
    assert own.of("google", "models/gemini-2.5-flash") == Price(1.0, 2.0)
    assert own.of("google", "gemini-2.5-flash") == Price(1.0, 2.0)


def test_an_estimate_of_a_call() -> None:
    opus = capability("anthropic", "claude-opus-4-7")
    facts = PromptFacts(("a" * 400,), ((1024, 1024),))
    tokens = estimate(facts, opus)
    assert tokens.input.expected == 100 + 37 * 37 + 10
    assert tokens.output == Range(1, 4, 64)
    dollars = cost_range(tokens, opus.price)
    assert dollars is not None
    assert dollars.expected == pytest.approx((1479 * 5 + 4 * 25) / 1e6)
    halved = cost_range(tokens, opus.price, batch=True)
    assert halved is not None
    assert halved.high == dollars.high / 2


@pytest.mark.parametrize(
    ("name", "parameters", "expected", "limit"),
    [
        ("openai/gpt-5.5", {}, 400, 8192),
        ("openai/gpt-5.5", {"reasoning": "off"}, 4, 64),
        ("openai/gpt-5.5", {"max_tokens": 100}, 100, 100),
        ("anthropic/claude-opus-4-7", {"reasoning": "low"}, 400, 8192),
        ("zai/glm-5v-turbo", {}, 4, 64),
        ("zai/glm-5v-turbo", {"reasoning": "on"}, 400, 8192),
        ("moonshot/kimi-k2.6", {"reasoning": "default"}, 800, 16384),
    ],
)
def test_expected_output(name: str, parameters: dict[str, Any], expected: int, limit: int) -> None:
    tokens = estimate(PromptFacts(), capability(*name.split("/", 1)), parameters)
    assert (tokens.output.expected, tokens.output.high) == (expected, limit)


def test_the_high_estimate_bounds_what_is_asked_for() -> None:
    """The reservation of a call covers its limit on the reply at the full price."""
    model = Capability("openai", "x", known=True, max_tokens=50, price=Price(2.0, 8.0))
    tokens = estimate(PromptFacts(("x" * 1000,)), model)
    high = cost_range(tokens, model.price)
    worst = cost(Usage(input=1000 // 3, output=50), model.price)
    assert high is not None
    assert worst is not None
    assert high.high >= worst


def test_an_empty_prompt_costs_its_frame_only() -> None:
    assert estimate(PromptFacts(), Capability("openai", "x", known=False)).input.expected == 10
    assert text_tokens("") == NOTHING


# ---------------------------------------------------------------- budget


def test_a_budget_stops_before_it_is_exceeded() -> None:
    budget = Budget(0.01)
    assert sum(budget.reserve(0.003) for _ in range(10)) == 3
    assert budget.left == pytest.approx(0.001)
    budget.settle(0.003, 0.0001)
    assert budget.reserve(0.003)
    assert not budget.exhausted


def test_a_reservation_is_never_rounded_down() -> None:
    budget = Budget(3e-9)
    assert [budget.reserve(1.1e-9) for _ in range(3)] == [True, False, False]
    assert budget.reserved == 2e-9


def test_sums_of_cents_are_exact() -> None:
    """Ten times 0.1 in floating point is less than 1; here it is 1."""
    budget = Budget(1.0)
    assert [budget.reserve(0.1) for _ in range(11)] == [True] * 10 + [False]
    for _ in range(10):
        budget.settle(0.1, 0.1)
    assert (budget.spent, budget.reserved, budget.left, budget.exhausted, budget.over) == (1.0, 0.0, 0.0, True, 0.0)
    assert budget.notes() == ()


def test_a_provider_that_charges_more() -> None:
    budget = Budget(1.0)
    assert budget.reserve(0.9)
    budget.settle(0.9, 1.25)
    assert budget.exhausted
    assert budget.over == 0.25
    assert budget.left == 0
    assert not budget.reserve(0.0001)
    assert budget.reserve(0)
    for lang in LANGUAGES:
        said = [text(note.key, lang, **note.fields) for note in budget.notes()]
        assert "0.2500" in said[0]


def test_an_unknown_cost_counts_in_full() -> None:
    budget = Budget(1.0)
    budget.reserve(0.5)
    budget.settle(0.5, None)
    assert budget.spent == 0.5


def test_an_earlier_part_of_the_run_counts() -> None:
    budget = Budget(1.0, spent=0.95)
    assert not budget.reserve(0.1)
    assert Budget(1.0, spent=1.5).over == 0.5


def test_without_a_limit_spending_is_counted() -> None:
    budget = Budget()
    assert budget.reserve(1e6)
    budget.settle(1e6, 2e6)
    assert (budget.limit, budget.spent, budget.left, budget.over, budget.exhausted) == (None, 2e6, None, 0.0, False)


def test_nothing_costs_nothing_also_under_a_budget_of_nothing() -> None:
    budget = Budget(0.0)
    assert budget.reserve(0.0)
    assert not budget.reserve(1e-9)


@pytest.mark.parametrize("limit", [-1.0, math.nan, math.inf])
def test_wrong_budgets(limit: float) -> None:
    with pytest.raises(UsageError) as caught:
        Budget(limit)
    assert caught.value.key == "spending.budget_value"


def test_misuse_is_a_fault_of_the_program() -> None:
    budget = Budget(1.0)
    with pytest.raises(ValueError, match=r"with 0\.0 reserved"):
        budget.settle(0.1, 0.1)
    with pytest.raises(ValueError, match="0 or more"):
        budget.reserve(-0.1)
    budget.reserve(0.1)
    with pytest.raises(ValueError, match="0 or more"):
        budget.settle(0.1, math.nan)


class Spending(RuleBasedStateMachine):
    """Calls in any order; some cost more than was reserved."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget(5.0)
        self.flying: list[float] = []
        self.overcharged = 0.0

    @rule(amount=st.floats(0, 2))
    def ask(self, amount: float) -> None:
        fits = self.budget.spent + self.budget.reserved + amount <= 5.0 - 1e-8
        granted = self.budget.reserve(amount)
        assert granted or not fits
        if granted:
            self.flying.append(amount)

    @rule(share=st.floats(0, 1))
    def answer(self, share: float) -> None:
        if self.flying:
            amount = self.flying.pop()
            self.budget.settle(amount, amount * share)

    @rule()
    def answer_without_a_count(self) -> None:
        if self.flying:
            self.budget.settle(self.flying.pop(0), None)

    @rule(extra=st.floats(0.001, 1))
    def answer_dearly(self, extra: float) -> None:
        if self.flying:
            amount = self.flying.pop()
            self.budget.settle(amount, amount + extra)
            self.overcharged += extra

    @invariant()
    def never_above_the_limit(self) -> None:
        assert self.budget.spent + self.budget.reserved <= 5.0 + self.overcharged + 1e-7
        assert self.budget.reserved == pytest.approx(sum(self.flying), abs=1e-6)
        assert self.budget.over <= self.overcharged + 1e-7
        assert self.budget.left is not None
        assert self.budget.left >= 0


TestSpending = Spending.TestCase


@given(st.floats(0.01, 10), st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1)), max_size=30))
def test_spent_and_reserved_never_exceed_the_limit(limit: float, calls: list[tuple[float, float]]) -> None:
    budget = Budget(limit)
    for amount, share in calls:
        if budget.reserve(amount):
            assert budget.limit is not None
            assert budget.spent + budget.reserved <= budget.limit + 1e-12
            if share < 0.5:
                budget.settle(amount, amount * share)
    assert budget.over == 0


# ---------------------------------------------------------------- prices of a file

OWN = """
as_of = 2026-05-01

[[price]]
model = "openai/gpt-5.5"
input = 5
output = 30.0
cached_input = 0.5
source = "https://example.org/pricing"
as_of = "2026-06-01"

[[price]]
model = "compatible/*"
input = 0
output = 0
batch = 1
"""


def write(folder: Path, content: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_prices_of_a_file(tmp_path: Path) -> None:
    prices = read_prices(write(tmp_path, OWN))
    assert prices.of("openai", "gpt-5.5") == Price(5, 30.0, 0.5, 0.5, "https://example.org/pricing", "2026-06-01")
    free = prices.of("compatible", "Qwen/Qwen3-VL-8B")
    assert free == Price(0, 0, None, 1, "", "2026-05-01")
    known = Price(1.0, 2.0)
    assert prices.of("openai", "gpt-4o", known) is known
    assert prices.of("openai", "gpt-4o") is None
    assert Prices().of("openai", "gpt-4o") is None


ENTRY = '[[price]]\nmodel = "openai/x"\n'


@pytest.mark.parametrize(
    ("content", "key", "named"),
    [
        ("price = [", "spending.not_toml", ""),
        ("", "spending.prices_none", ""),
        ("price = []", "spending.prices_none", ""),
        ("price = 3", "spending.prices_none", ""),
        ("price = [1]", "spending.prices_none", ""),
        ('currency = "CNY"\n' + ENTRY + "input = 1\noutput = 1\n", "spending.prices_currency", "CNY"),
        ("prices = 1\n", "spending.prices_key", "prices"),
        (ENTRY + "input = 1\n", "spending.prices_value", "input = 1"),
        (ENTRY + "input = 1\noutput = -1\n", "spending.prices_value", "-1"),
        (ENTRY + 'input = "1"\noutput = 1\n', "spending.prices_value", "[[price]] 1"),
        (ENTRY + "input = nan\noutput = 1\n", "spending.prices_value", "nan"),
        (ENTRY + "input = inf\noutput = 1\n", "spending.prices_value", "inf"),
        (ENTRY + "input = true\noutput = 1\n", "spending.prices_value", "True"),
        (ENTRY + "input = 1\noutput = 1\nsource = 3\n", "spending.prices_value", "source"),
        (ENTRY + "input = 1\noutput = 1\nouput = 1\n", "spending.prices_key", "ouput"),
        ("[[price]]\ninput = 1\noutput = 1\n", "spending.prices_model", "[[price]] 1"),
        ('[[price]]\nmodel = "gpt-5.5"\ninput = 1\noutput = 1\n', "spending.prices_model", "gpt-5.5"),
        ((ENTRY + "input = 1\noutput = 1\n") * 2, "spending.prices_twice", "[[price]] 2"),
    ],
)
def test_wrong_price_files(tmp_path: Path, content: str, key: str, named: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_prices(path)
    assert caught.value.key == key
    for lang in LANGUAGES:
        assert str(path) in caught.value.message(lang)
        assert named in caught.value.message(lang)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_prices(path)
    (tmp_path / "latin.toml").write_bytes(b'currency = "\xe9"')
    with pytest.raises(InputError, match="not TOML"):
        read_prices(tmp_path / "latin.toml")


def test_a_budget_needs_a_price_for_every_judge() -> None:
    prices = {"openai/gpt-5.5": None, "anthropic/claude-opus-4-7": Price(5.0, 25.0), "zai/glm-5v-turbo": None}
    need_prices(None, prices)
    need_prices(5.0, {"a": Price(0, 0)})
    with pytest.raises(UsageError, match=r"openai/gpt-5\.5, zai/glm-5v-turbo"):
        need_prices(5.0, prices)


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "howto" / "prices.md"
    example = re.search(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert example
    prices = read_prices(write(tmp_path, example[1]))
    assert prices.of("openai", "gpt-5.5") is not None
    assert prices.of("compatible", "x") == Price(0, 0, as_of="2026-05-01")
