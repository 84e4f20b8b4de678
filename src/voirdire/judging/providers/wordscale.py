"""Ratings from the log-probabilities of words, for a model that cannot be asked for a digit.

A small model that is asked for a digit says the same one whatever it is shown. So its answer begins for it ("It is"),
and what is read is how probable five words are as the next one. The words are not equally probable to begin with, and
the question alone already favours some. So each is compared with its own probability when the prompt holds the same
question and nothing about the item:

    score(word) = log p(word | prompt) - log p(word | the same prompt with "[MASK]" in place of the item)

The rating is the word with the highest score. This is the calibration by a content-free input of Zhao, Wallace, Feng,
Klein and Singh, "Calibrate Before Use: Improving Few-Shot Performance of Language Models", ICML 2021, where only the
item is emptied, which makes the score the domain-conditional mutual information of Holtzman, West, Shwartz, Choi and
Zettlemoyer, "Surface Form Competition: Why the Highest Probability Answer Isn't Always Right", EMNLP 2021.
Of equal scores the word nearest to the middle counts, then the lower one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WORDS = ("terrible", "bad", "okay", "good", "great")
"""The words from worst to best, each one token of the model after a space."""

OPENING = "It is"
"""How the model's answer begins."""

CONTENT_FREE = "[MASK]"
"""What stands for the item in a content-free prompt."""

Logprobs = tuple[float, ...]
"""One natural logarithm of a probability for each of WORDS."""


def logprobs_of(candidates: Mapping[str, float]) -> Logprobs | None:
    """The words' log-probabilities among the candidates for the next token; None where a word is not among them.

    >>> logprobs_of({" terrible": -9.0, " bad": -8.0, " okay": -7.5, " good": -5.0, " great": -6.0, " a": -1.0})
    (-9.0, -8.0, -7.5, -5.0, -6.0)
    >>> logprobs_of({" good": -5.0}) is None
    True
    """
    found = [candidates.get(f" {word}") for word in WORDS]
    numbers = tuple(value for value in found if value is not None)
    return numbers if len(numbers) == len(WORDS) else None


def choose(seen: Logprobs, blank: Logprobs) -> int:
    """The place of the word whose probability rose most, or fell least.

    >>> choose((-9.0, -8.0, -7.5, -5.0, -6.0), (-9.0, -8.0, -7.5, -4.0, -6.5))
    4
    >>> choose((-9.0, -8.0, -7.5, -5.0, -6.0), (-9.0, -8.0, -7.5, -5.0, -6.0))
    2
    """
    scores = [a - b for a, b in zip(seen, blank, strict=True)]
    middle = (len(WORDS) - 1) / 2
    return max(range(len(WORDS)), key=lambda place: (scores[place], -abs(place - middle), -place))


def level_of(place: int, levels: Sequence[int]) -> int:
    """The level of a word: the places are spread evenly over the levels, half-way ones count as the higher.

    >>> [level_of(place, (1, 2, 3, 4, 5)) for place in range(5)], [level_of(place, range(1, 8)) for place in range(5)]
    ([1, 2, 3, 4, 5], [1, 3, 4, 6, 7])
    """
    return sorted(levels)[math.floor(place * (len(levels) - 1) / (len(WORDS) - 1) + 0.5)]


def account(seen: Logprobs, blank: Logprobs) -> str:
    """What the rating was read from, as it is kept with the attempt: word, log-probability, the same content-free.

    >>> account((-9.0, -8.0, -7.5, -5.0, -6.0), (-9.5, -8.5, -8.0, -5.5, -6.5))
    'terrible -9.000 (-9.500); bad -8.000 (-8.500); okay -7.500 (-8.000); good -5.000 (-5.500); great -6.000 (-6.500)'
    """
    rows = zip(WORDS, seen, blank, strict=True)
    return "; ".join(f"{word} {value:.3f} ({free:.3f})" for word, value, free in rows)
