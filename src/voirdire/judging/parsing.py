"""What a reply is: a rating, a refusal, or malformed.

The whole visible reply must be one level of the scale, written as ASCII digits in its shortest form, with nothing
but white space around it. Everything else is no rating: ``4.``, ``４``, ``04``, ``four``, ``4/5`` and ``{"rating": 4}``
are malformed, and asked again. The table of outcomes stands in docs/explanation/replies.md and is tested.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

ReadingKind = Literal["ok", "malformed", "refused"]

Why = Literal[
    "rating", "signal", "refusal", "cut", "reasoning", "empty", "long", "no_image", "outside", "several", "notation",
    "decorated", "words",
]  # fmt: skip
"""How the reading was reached; a label for tables, not a sentence.

rating : the reply is a level
signal, refusal : the provider said that the model or a filter declined; the reply's own words do
cut : the reply ended at the token limit, so that a longer number may have been meant
reasoning : a thinking block that never ends
empty, long : nothing visible; more than LONGEST characters
no_image : the model says that it sees no image (often a text model that was sent one)
outside : one plain integer that is not a level
several : only digits and white space, but more than one number
notation : a number in another notation: ``4.5``, ``4/5``, ``04``, ``+4``, ``４``, ``-0``
decorated : one level and marks around it: ``4.``, ``**4**``, ``"4"``, a code fence, JSON
words : anything else
"""

WHITE = " \t\n\r\v\f\u00a0\u3000"
"""The white space that may stand around a rating. Zero-width characters and a byte order mark are not white space."""

LONGEST = 10_000
SEARCHED = 1_000

BLOCKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
"""Opening and closing marks of thinking blocks that servers leave in the visible text."""

CLOSED_BY = dict(BLOCKS)

_MARK = re.compile("|".join(re.escape(mark) for block in BLOCKS for mark in block))
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)")
_SEVERAL = re.compile(rf"-?[0-9]+(?:[{WHITE}]+-?[0-9]+)+")
_NOTATION = re.compile(r"[-+−－＋]?\d(?:[\d.,/:／：．％%eE+\-–—~〜～]*[\d%％])?|[一二三四五六七八九十零〇]|[①-⑳Ⅰ-Ⅻⅰ-ⅻ]")
_NUMBER = re.compile(r"(?<![0-9.,/\-])-?[0-9]+(?![0-9]|[.,/\-][0-9])")
_RANGE = re.compile(r"[0-9]+ ?(?:-|–|—|~|to|through|and|到|至|~|～|分到|分至) ?[0-9]+")
_WORDS = re.compile(r"\w+")
_STOPS = ".!?。"
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "`": "'", "\u201c": '"', "\u201d": '"'})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply was read as.

    kind : ok, malformed or refused
    rating : the level, for ok only
    why : a label, see ``Why``
    """

    kind: ReadingKind
    rating: int | None
    why: Why


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Patterns for normalised text: a refusal; what takes it back; a missing image; a rating in words."""

    refusal: re.Pattern[str]
    limit: re.Pattern[str]
    no_image: re.Pattern[str]
    score: re.Pattern[str]


def read_reply(text: str, levels: tuple[int, ...], *, refusal: str | None = None, finish: str = "stop") -> Reading:
    r"""Read a reply strictly. Time is linear in its length.

    text : the reply, with or without its thinking block
    levels : the integers that are ratings
    refusal : the provider's own signal; anything but None is a refusal, whatever the text says
    finish : why the reply ended; ``length`` is malformed also for a lone digit, ``filter`` is a refusal

    >>> read_reply(" 4\n", (1, 2, 3, 4, 5))
    Reading(kind='ok', rating=4, why='rating')
    >>> read_reply("4.", (1, 2, 3, 4, 5))
    Reading(kind='malformed', rating=None, why='decorated')
    >>> read_reply("I'm sorry, but I can't rate people.", (1, 2, 3, 4, 5)).kind
    'refused'
    """
    if refusal is not None or finish == "filter":
        return Reading("refused", None, "signal")
    reasoning, visible = separate_reasoning(text)
    bare = visible.strip(WHITE)
    if finish != "length" and len(bare) <= LONGEST and bare in _names(levels):
        return Reading("ok", int(bare), "rating")
    return _not_ok(bare, levels, finish, reasoning)


def separate_reasoning(text: str) -> tuple[str, str]:
    r"""Part the thinking that stands before an answer from the answer: (reasoning, visible).

    Blocks are taken from the beginning of the text only. A closing mark without an opening one ends a block that
    the server's template had opened. A block that never ends is all reasoning and leaves nothing visible. To part
    the visible text again changes nothing.

    >>> separate_reasoning("<think>Hm, polite.</think>\n4")
    ('Hm, polite.', '\n4')
    >>> separate_reasoning("so it is high</think>4"), separate_reasoning("<think>it is 4")
    (('so it is high', '4'), ('it is 4', ''))
    >>> separate_reasoning("4 <think>or 5</think>")
    ('', '4 <think>or 5</think>')
    """
    parts: list[str] = []
    at = 0
    while (block := _block(text, at)) is not None:
        start, end, at = block
        parts.append(text[start:end])
    return "\n".join(part for part in parts if part), text[at:]


def _block(text: str, at: int) -> tuple[int, int, int] | None:
    """The block that begins at ``at``: where its content begins and ends, and where the text goes on."""
    mark = _MARK.search(text, at)
    if mark is None:
        return None
    closing = CLOSED_BY.get(mark[0])
    if closing is None:
        return at, mark.start(), mark.end()
    if text[at : mark.start()].strip(WHITE):
        return None
    end = text.find(closing, mark.end())
    return (mark.end(), end, end + len(closing)) if end >= 0 else (mark.end(), len(text), len(text))


@cache
def _names(levels: tuple[int, ...]) -> frozenset[str]:
    return frozenset(str(level) for level in levels)


def _not_ok(bare: str, levels: tuple[int, ...], finish: str, reasoning: str) -> Reading:
    head = normalised(bare[:SEARCHED])
    blind = lexicon().no_image.search(head) is not None
    if not blind and _refuses(head, levels):
        return Reading("refused", None, "refusal")
    if finish == "length":
        return Reading("malformed", None, "cut")
    if not bare:
        return Reading("malformed", None, "reasoning" if reasoning else "empty")
    if len(bare) > LONGEST:
        return Reading("malformed", None, "long")
    return Reading("malformed", None, "no_image" if blind else _shape(bare))


def _shape(bare: str) -> Why:
    if _PLAIN.fullmatch(bare) and bare != "-0":
        return "outside"
    if _SEVERAL.fullmatch(bare):
        return "several"
    if _NOTATION.fullmatch(bare):
        return "notation"
    words = _WORDS.findall(bare)
    keys = [word for word in words if not word.isdigit()]
    if len(words) - len(keys) == 1 and len(keys) <= 1 and len(bare) <= 200 and _decorates(keys, bare):
        return "decorated"
    return "words"


def _decorates(keys: list[str], bare: str) -> bool:
    return not keys or bare.startswith(("{", "[", "`"))


def _refuses(head: str, levels: tuple[int, ...]) -> bool:
    """Whether the words refuse and name no level (apart from the ends of the scale, as in ``from 1 to 5``)."""
    found = lexicon().refusal.search(head)
    if found is None or lexicon().limit.search(head, found.start(), found.end() + 40):
        return False
    rest = _RANGE.sub(" ", head)
    named = {int(number) for number in _NUMBER.findall(rest) if len(number) < 10}
    return named.isdisjoint(levels) and lexicon().score.search(rest) is None


def normalised(text: str) -> str:
    r"""As the lexicon compares it: NFKC, straight quotes, lower case, single spaces.

    >>> normalised("I\u2019m  sorry,\n４分")
    "i'm sorry, 4分"
    """
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return " ".join(folded.split())


@cache
def lexicon() -> Lexicon:
    """The words of refusals.toml, in all languages at once: a judge may answer in another than it was asked in."""
    table = tomllib.loads(files(__package__).joinpath("refusals.toml").read_text(encoding="utf-8"))
    en, zh = table["en"], table["zh"]
    english = (
        rf"(?:\b{_any(en['subject'])}|\A{_any(en['start'])}) (?:{_any(en['adverb'])} )?{_any(en['verb'])}\b"
        rf"|\b{_any(en['phrase'])}\b"
    )
    opener = rf"(?:\A|[{_STOPS},]|{_any(zh['opener'])}[^{_STOPS}]{{0,8}}?)"
    chinese = rf"{opener}{_any(zh['negation'])}[^{_STOPS}]{{0,20}}?{_any(zh['verb'])}|{_any(zh['phrase'])}"
    score = rf"\b{_any(en['score'])}\b(?![ -]point)|{_any(zh['score'])}"
    return Lexicon(
        refusal=re.compile(f"{english}|{chinese}"),
        no_image=re.compile(_any([*en["no_image"], *zh["no_image"]])),
        limit=re.compile(_any([*en["limit"], *zh["limit"]])),
        score=re.compile(score),
    )


def _any(words: list[str]) -> str:
    """Any of the words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word))) + ")"
