"""Which letters a language is written in, as far as it can be told without a dictionary."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

LEAST = 0.4
"""The share of a text that must be in the letters of its language; names may stay in others."""

BROAD = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Letters that stand for about three of an alphabet."""

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "zh": ("CJK",),
    "yue": ("CJK",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "ko": ("HANGUL",),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "kk", "ky", "mn", "tg"), ("CYRILLIC",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug", "sd"), ("ARABIC",)),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), ("DEVANAGARI",)),
    **dict.fromkeys(("he", "yi"), ("HEBREW",)),
    "el": ("GREEK",),
    "th": ("THAI",),
    "lo": ("LAO",),
    "km": ("KHMER",),
    "my": ("MYANMAR",),
    "ka": ("GEORGIAN",),
    "hy": ("ARMENIAN",),
    "am": ("ETHIOPIC",),
    "bn": ("BENGALI",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "kn": ("KANNADA",),
    "ml": ("MALAYALAM",),
    "gu": ("GUJARATI",),
    "pa": ("GURMUKHI",),
    "or": ("ORIYA",),
    "si": ("SINHALA",),
    "bo": ("TIBETAN",),
}
"""Languages that are not named here are taken to be written in Latin letters, or in those of several scripts."""

MANY = ("sr", "uz", "az", "bs", "tt", "ku")
"""Languages that are written in more than one script: their letters are not checked."""


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts of a language, as Unicode names them; empty where it may be any.

    >>> scripts_of("zh-Hans"), scripts_of("fr"), scripts_of("sr")
    (('CJK',), ('LATIN',), ())
    """
    code, *more = language.split("-")
    if "Latn" in more:
        return ("LATIN",)
    return () if code in MANY else SCRIPTS.get(code, ("LATIN",))


def share_in(text: str, language: str) -> float | None:
    """The share of the letters of a text that belong to its language; None for a text without letters.

    A Chinese, Japanese or Korean character counts as three letters.

    >>> share_in("你喜欢 tea 吗？", "zh"), share_in("Do you like it?", "zh"), share_in("42", "zh")
    (0.8, 0.0, None)
    """
    scripts = scripts_of(language)
    own = total = 0
    for letter in text:
        if not unicodedata.category(letter).startswith("L"):
            continue
        script = unicodedata.name(letter, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ").split(" ")[0]
        weight = 3 if script in BROAD else 1
        total += weight
        own += weight if not scripts or script in scripts else 0
    return own / total if total else None


def size_of(text: str) -> int:
    """The length of a text, comparable between languages: a Chinese, Japanese or Korean character counts as three.

    >>> size_of("good"), size_of("很好")
    (4, 6)
    """
    broad = sum(unicodedata.name(letter, "").split(" ")[0] in BROAD for letter in text if ord(letter) > 0x10FF)
    return len(text) + 2 * broad
