"""Texts in several languages: which one is read by whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from voirdire.annotation.nouns import Texts
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.texts import LANGUAGES, text

CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")


def said(texts: Texts, language: str) -> str:
    """The text for a reader of a language: in it, else in its main language, else of unknown language, else empty.

    >>> said({"en": "Good?", "zh": "好吗？"}, "zh-TW"), said({"und": "Tea"}, "zh"), said({"en": "Good?"}, "zh")
    ('好吗？', 'Tea', '')
    """
    for code in (language, language.partition("-")[0], UNKNOWN_LANGUAGE):
        if texts.get(code):
            return texts[code]
    return ""


def from_catalogue(key: str, **fields: Mapping[str, str]) -> dict[str, str]:
    """A sentence of the catalogue in every language that it has.

    fields : what is filled in, by language
    """
    return {lang: text(key, lang, **{name: texts[lang] for name, texts in fields.items()}) for lang in LANGUAGES}


def named_languages(many: Iterable[Texts]) -> tuple[str, ...]:
    """The named languages of several texts, in order of appearance.

    >>> named_languages([{"und": "Tea"}, {"zh": "茶"}, {"en": "Tea", "zh": "茶"}])
    ('zh', 'en')
    """
    found = dict.fromkeys(language for texts in many for language in texts)
    return tuple(language for language in found if language != UNKNOWN_LANGUAGE)
