"""How many tokens a call will take, before it is made: low, expected and high.

Every provider has a tokenizer of its own, so text is counted by a rule of thumb: characters per class of script. The
numbers were set with three public tokenizers (o200k and cl100k of OpenAI, that of anthropic 0.38) on the texts of this
package: 0.23 to 0.26 tokens to a character of English, 0.66 to 1.2 to a Chinese one, 0.25 to 1.2 to one of other
scripts; the high numbers leave a third more for newer tokenizers. Images follow the rule that the provider publishes;
where there is none the range is wide. The provider's own counts replace all of this once a call is made.

Sources: https://ai.google.dev/gemini-api/docs/tokens (4 characters to a token), the ``source`` of each image rule
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from voirdire.judging.providers.capability import Capability


@dataclass(frozen=True, slots=True)
class Range:
    """A number that is not known yet, of tokens or of dollars.

    >>> Range(1, 2, 3) + Range(1, 1, 1), Range(1, 2, 3) * 10
    (Range(low=2, expected=3, high=4), Range(low=10, expected=20, high=30))
    """

    low: float
    expected: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, times: float) -> Range:
        return Range(self.low * times, self.expected * times, self.high * times)


NOTHING = Range(0, 0, 0)
FRAME = Range(3, 10, 30)
"""Tokens around a message: roles, marks, hidden instructions."""

LATIN = Range(1 / 6, 1 / 4, 1 / 2.75)
CJK = Range(0.5, 0.8, 1.6)
OTHER = Range(1 / 4, 1 / 2, 1.5)
"""Tokens per character: ASCII and Latin letters; Chinese, Japanese and Korean; all else."""

ANSWER = 4
THOUGHT = 400
"""Tokens of a usual reply that is a number, and of one with short thinking before it."""

_CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_LATIN = re.compile("[\u0000-\u024f\u2000-\u206f]")
_WORD = re.compile(" ?(?<![A-Za-z0-9+/=_])[A-Z]?[a-z\u00df-\u00f6\u00f8-\u00ff]{1,19}(?![A-Za-z0-9+/=_])")
"""A word of prose with the space before it: not in capitals, not among digits, not long without a break."""


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What the estimate needs of a prompt: its texts, and the pixel sizes (width, height) of its images as sent."""

    texts: tuple[str, ...] = ()
    images: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CallTokens:
    """Tokens of one call: what is sent, and what comes back with thinking included."""

    input: Range = NOTHING
    output: Range = NOTHING


def estimate(facts: PromptFacts, capability: Capability, parameters: Mapping[str, Any] | None = None) -> CallTokens:
    """Tokens of one call with the parameters of a judge (as in its spec, before ``settle``).

    >>> from voirdire.judging.providers.catalog import capability
    >>> tokens = estimate(PromptFacts(("How polite is this? " * 20,)), capability("openai", "gpt-4o"))
    >>> tokens.input.expected, tokens.output
    (110.0, Range(low=1, expected=4, high=64))
    """
    given = parameters or {}
    texts = sum((text_tokens(text) for text in facts.texts), NOTHING)
    images = sum((image_tokens(*size, capability.image_rule) for size in facts.images), NOTHING)
    expected = min(_expected_output(capability, given), capability.limit(given))
    return CallTokens(texts + images + FRAME, Range(1, expected, capability.most(given)))


def _expected_output(capability: Capability, parameters: Mapping[str, Any]) -> int:
    level = parameters.get("reasoning")
    if level in ("off", "none", "minimal"):
        return ANSWER
    if isinstance(level, str) and level in capability.reasoning and not capability.thinking:
        return THOUGHT
    return capability.output_tokens


@lru_cache(maxsize=4096)
def text_tokens(text: str) -> Range:
    """Tokens of a text, by characters per class of script; at most, what is not plain words has one to a character.

    >>> text_tokens("abcd" * 100).expected, text_tokens("礼貌" * 50).expected
    (100.0, 80.0)
    >>> text_tokens("3.14159265").high, text_tokens("SGVsbG8gd29ybGQ=").high
    (10.0, 16.0)
    """
    cjk = len(_CJK.findall(text))
    latin = len(_LATIN.findall(text))
    found = LATIN * latin + CJK * cjk + OTHER * (len(text) - latin - cjk)
    return Range(found.low, found.expected, found.high + _dense(text, latin))


def _dense(text: str, latin: int) -> float:
    """What is added to the high number for Latin characters outside plain words: digits, signs, codes, odd spaces.

    Each of them may be a token; a plain word, with the space before it, is at least one.
    """
    plain, short = 0, 0.0
    for word in _WORD.finditer(text):
        length = word.end() - word.start()
        plain += length
        short += max(0.0, 1 - length * LATIN.high)
    return short + (latin - plain) * (1 - LATIN.high)


def image_tokens(width: int, height: int, rule: Mapping[str, Any]) -> Range:
    """Tokens of an image of a pixel size by a rule of models.toml.

    kind : ``flat`` (tokens), ``area`` (pixels per token, long_edge, cap), ``tiles`` (base, tile), ``patches``
        (side, multiplier, cap, long_edge), ``crops`` (tokens per crop, small), ``none`` (sees no images)
    low, high : factors around the number, where the rule is not published or not exact
    An empty rule is that of an unknown provider: a wide range.

    >>> image_tokens(1024, 1024, {"kind": "tiles", "base": 85, "tile": 170}).expected
    765
    >>> image_tokens(960, 540, {"kind": "crops", "tokens": 258, "small": 384}).expected
    1548
    """
    rule = rule or UNKNOWN
    counted = RULES[rule["kind"]](max(width, 1), max(height, 1), rule)
    return Range(counted * rule.get("low", 1), counted, counted * rule.get("high", 1))


UNKNOWN: Mapping[str, Any] = {"kind": "area", "pixels": 900, "long_edge": 2048, "cap": 4096, "low": 0.25, "high": 4}


def _flat(_width: int, _height: int, rule: Mapping[str, Any]) -> int:
    return int(rule["tokens"])


def _area(width: int, height: int, rule: Mapping[str, Any]) -> int:
    """Pixels per token, after the longer edge was brought down to ``long_edge``; at most ``cap``."""
    scale = min(1.0, rule.get("long_edge", math.inf) / max(width, height))
    return int(min(math.ceil(width * scale * height * scale / rule["pixels"]), rule.get("cap", math.inf)))


def _tiles(width: int, height: int, rule: Mapping[str, Any]) -> int:
    """Fit into 2048 x 2048, bring the shorter side down to 768, count squares of 512 (OpenAI)."""
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return int(rule["base"] + rule["tile"] * math.ceil(width * scale / 512) * math.ceil(height * scale / 512))


def _patches(width: int, height: int, rule: Mapping[str, Any]) -> int:
    """Squares of ``side`` pixels, at most ``cap`` (the image is brought down to that), times a multiplier."""
    side = rule.get("side", 32)
    scale = min(1.0, rule.get("long_edge", math.inf) / max(width, height))
    patches = math.ceil(width * scale / side) * math.ceil(height * scale / side)
    return math.ceil(min(patches, rule.get("cap", math.inf)) * rule.get("multiplier", 1))


def _crops(width: int, height: int, rule: Mapping[str, Any]) -> int:
    """One crop up to ``small`` pixels a side, else crops of two thirds of the shorter side (Google)."""
    if max(width, height) <= rule["small"]:
        return int(rule["tokens"])
    unit = max(math.floor(min(width, height) / 1.5), 1)
    return int(rule["tokens"]) * math.ceil(width / unit) * math.ceil(height / unit)


def _none(_width: int, _height: int, _rule: Mapping[str, Any]) -> int:
    return 0


RULES = {"flat": _flat, "area": _area, "tiles": _tiles, "patches": _patches, "crops": _crops, "none": _none}
"""Every kind of rule: function of width, height and the rule's own numbers."""

NEEDED = {
    "flat": ("tokens",),
    "area": ("pixels",),
    "tiles": ("base", "tile"),
    "patches": (),
    "crops": ("tokens", "small"),
    "none": (),
}
OPTIONAL = ("side", "multiplier", "cap", "long_edge", "low", "high")


def is_image_rule(rule: Any) -> bool:
    """Whether a table of a file is a rule: a known kind, its numbers, all above 0, and low <= 1 <= high.

    >>> is_image_rule({"kind": "flat", "tokens": 258}), is_image_rule({"kind": "flat"})
    (True, False)
    """
    if not isinstance(rule, dict) or rule.get("kind") not in NEEDED:
        return False
    needed = NEEDED[rule["kind"]]
    numbers = {name: value for name, value in rule.items() if name != "kind"}
    if not set(needed) <= set(numbers) <= {*needed, *OPTIONAL}:
        return False
    positive = (
        isinstance(value, int | float) and not isinstance(value, bool) and value > 0 for value in numbers.values()
    )
    return all(positive) and numbers.get("low", 1) <= 1 <= numbers.get("high", 1)
