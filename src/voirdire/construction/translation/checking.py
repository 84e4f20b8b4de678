"""What a model's reply is: the translation and nothing beside it, or malformed, with the reason as a label."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from voirdire.construction.concepts import is_text
from voirdire.construction.translation.scripts import LEAST, scripts_of, share_in, size_of
from voirdire.judging.parsing import BLOCKS

LONGEST = 9_000
"""Letters of a translation: as JSON it stays shorter than what the ledger keeps of a reply."""

QUOTES = (('"', '"'), ("'", "'"), ("\u201c", "\u201d"), ("\u2018", "\u2019"), ("«", "»"), ("「", "」"), ("《", "》"))
MOST_TIMES, LEAST_TIMES, FREE = 3.0, 0.2, 40
"""How long a translation may be beside its source (a Chinese character counts as three letters), and letters that are
free for it."""

_HOLDER = re.compile(r"\{[^{}\s]*\}|%\([^()\s]+\)[sd]|%[sd]|<[/]?[A-Za-z][^<>]*>|https?://\S+")
_NUMBER = re.compile(r"\d(?:[.,\u00a0\u202f']?\d)*")
_MONTH = re.compile(r"(?<![\d.,])(?:0?[1-9]|1[0-2])(?=\s*[月월])")
MOST_ADDED = 100
"""The highest number in digits that may stand for a word of the source: a month, "two", "a hundred"."""

_LABELLED = re.compile(
    r"\s*(?:\*\*|#+\s*)?(?:here(?:'s| is| are)\b|sure\b|certainly\b|of course\b"
    r"|(?:the )?translat(?:ion|ed)\b[^.?!]{0,40}:"
    r"|译文|翻译(?:如下|为|结果)?[：:]|以下是|好的[，,]|当然[，,])",
    re.IGNORECASE,
)
_NOTED = re.compile(
    r"(?:^|\n)\s*[(（\[]?\s*(?:\*\*)?(?:notes?|explanation|注|注释|说明|备注|解释)(?:\*\*)?\s*[:：]", re.IGNORECASE
)
_BREAK = re.compile(r"\n\s*")


@dataclass(frozen=True, slots=True)
class Read:
    """A reply as it was read.

    text : the translation, empty where it cannot be used
    why : empty, empty_reply, long, short, control, thinking, explained, lines, holders, numbers, parts, script, same
    """

    text: str
    why: str = ""


def read_translation(reply: str, source: str, language: str, came_from: str) -> Read:
    """The translation in a reply into ``language`` of a text in the language ``came_from``.

    White space around it, and quotation marks around it that the source does not have, are taken off; everything else
    that does not belong there makes the reply malformed. Placeholders (``{name}``, ``%s``, tags, addresses) must be the
    same ones as in the source, and numbers in digits of the source must be there; small ones may stand for words.

    >>> read_translation(' "你有多喜欢它？" ', "How much do you like it?", "zh", "en").text
    '你有多喜欢它？'
    >>> read_translation("Here is the translation: 你喜欢吗？", "Do you like it?", "zh", "en").why
    'explained'
    """
    text = _unquoted(unicodedata.normalize("NFC", reply).strip().strip("\ufeff\u200b"), source)
    return Read("", why) if (why := _wrong(text, source, language, came_from)) else Read(text)


def _wrong(text: str, source: str, language: str, came_from: str) -> str:
    if not text:
        return "empty_reply"
    if not is_text(text):
        return "control"
    if any(mark.casefold() in text.casefold() for block in BLOCKS for mark in block):
        return "thinking"
    if _explains(text, source):
        return "explained"
    if len(_BREAK.split(text)) != len(_BREAK.split(source.strip())):
        return "lines"
    if text.count("|") != source.count("|"):
        return "parts"
    return _unlike(text, source) or _other_letters(text, source, language, came_from)


def _unlike(text: str, source: str) -> str:
    """Whether what must be kept is not, or the length says that something is missing or was added."""
    if Counter(_HOLDER.findall(text)) != Counter(_HOLDER.findall(source)):
        return "holders"
    if _numbers_lost(text, source):
        return "numbers"
    size, before = size_of(text), size_of(source)
    if size > MOST_TIMES * before + FREE or len(text) > LONGEST:
        return "long"
    return "short" if size < LEAST_TIMES * (before - FREE) else ""


def _other_letters(text: str, source: str, language: str, came_from: str) -> str:
    share = share_in(_HOLDER.sub(" ", text), language)
    told = share_in(_HOLDER.sub(" ", source), came_from)
    if told is None or not told:
        return ""
    if share is None or share < LEAST:
        return "script"
    alike = scripts_of(language) == scripts_of(came_from) and len(source.split()) > 3
    return "same" if alike and text.casefold() == source.strip().casefold() else ""


def _numbers_lost(text: str, source: str) -> bool:
    """Whether a number of the source is missing, or one was added that cannot stand for a word.

    Months are digits in Japanese, Chinese and Korean and names elsewhere.
    """
    plain = _MONTH.sub(" ", unicodedata.normalize("NFKC", source))
    added = numbers(text) - numbers(source)
    return bool(numbers(plain) - numbers(text)) or any(int(number) > MOST_ADDED for number in added)


def other_numbers(text: str, source: str) -> tuple[str, ...]:
    """Numbers in digits that only one of two texts has: a person sees whether they stand for words of the other.

    >>> other_numbers("11月の3日", "3. Novembertag")
    ('11',)
    """
    told, asked = numbers(text), numbers(source)
    return tuple(sorted({*(told - asked), *(asked - told)}, key=lambda number: (len(number), number)))


def numbers(text: str) -> Counter[str]:
    """The numbers that are written in digits, without what stands between thousands.

    >>> numbers("1,000 of 2.5") == numbers("２,5 von 1.000") == numbers("١.٠٠٠ ٢,٥")
    True
    """
    plain = unicodedata.normalize("NFKC", _HOLDER.sub(" ", text))
    found = (re.sub(r"\D", "", number) for number in _NUMBER.findall(plain))
    return Counter("".join(str(unicodedata.decimal(mark)) for mark in number) for number in found)


def _explains(text: str, source: str) -> bool:
    if "```" in text and "```" not in source:
        return True
    if text.startswith(("{", "[")) and not source.lstrip().startswith(("{", "[")):
        return True
    labelled = _LABELLED.match(text) and not _LABELLED.match(source)
    noted = _NOTED.search(text) and not _NOTED.search(source)
    return bool(labelled or noted)


def _unquoted(text: str, source: str) -> str:
    if source.strip()[:1] in {opening for opening, _ in QUOTES}:
        return text
    for opening, closing in QUOTES:
        inside = text[1:-1]
        around = len(text) > 2 and text[0] == opening and text[-1] == closing
        if around and opening not in inside and closing not in inside:
            return inside.strip()
    return text
