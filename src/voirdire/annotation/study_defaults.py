"""What raters are asked where ``annotation.toml`` does not say: the four questions, and the one of a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from voirdire.annotation.nouns import Asked, Option, PoolPlan, Study, Texts
from voirdire.annotation.wording import from_catalogue, said
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES, has, text

LOW, HIGH = 1.0, 5.0
USABLE = "usable"
VERDICTS = ("usable", "factual", "same", "stereotype", "unclear")
"""Answers to the question of a pilot: keep the item, or what is wrong with it."""

CULTURES: Mapping[str, str] = {
    "us": "us", "usa": "us", "american": "us", "united states": "us",
    "cn": "cn", "zh": "cn", "prc": "cn", "china": "cn", "chinese": "cn", "mainland china": "cn",
    "gb": "gb", "uk": "gb", "british": "gb", "in": "in", "india": "in", "indian": "in",
    "jp": "jp", "japan": "jp", "japanese": "jp", "kr": "kr", "korea": "kr", "korean": "kr",
    "de": "de", "germany": "de", "german": "de", "fr": "fr", "france": "fr", "french": "fr",
    "mx": "mx", "mexico": "mx", "mexican": "mx", "br": "br", "brazil": "br", "brazilian": "br",
    "ng": "ng", "nigeria": "ng", "nigerian": "ng", "eg": "eg", "egypt": "eg", "egyptian": "eg",
}  # fmt: skip
"""Names of cultures and pools as tables write them -> the name in the catalogue."""


LANGUAGE: Mapping[str, str] = {
    "cn": "zh", "jp": "ja", "kr": "ko", "de": "de", "fr": "fr", "mx": "es", "br": "pt", "eg": "ar", "in": "hi",
}  # fmt: skip
"""The language of a culture, by the culture's name in the catalogue; the others read English."""


def four_questions(cultures: Sequence[str]) -> tuple[Asked, ...]:
    """The item's own prompt, cultural placement, subjectivity and recognizability, each from 1 to 5.

    cultures : of the items, in order of appearance. Placement goes from the second (1) to the first (5) and is asked
        only where there are exactly two. Subjectivity: 1 is most subjective.
        Source: Jury Duty, section 3.1.4 and Appendix D; the wordings are voirdire's own

    >>> [(asked.id, asked.role, asked.widget) for asked in four_questions(["us", "cn"])][:2]
    [('q1', 'evaluation', 'buttons'), ('q2', 'placement', 'slider')]
    >>> four_questions(["us", "cn"])[1].low_end["en"], [asked.id for asked in four_questions(["us"])]
    ('China', ['q1', 'q3', 'q4'])
    """
    two = len(cultures) == 2
    other = "recognizability" if two else "recognizability_many"
    asked = [Asked("q1", "buttons", "evaluation", of_item=True)]
    if two:
        asked.append(Asked("q2", "slider", "placement", text=from_catalogue("study.question.placement")))
    asked.append(Asked("q3", "buttons", "subjectivity", text=from_catalogue("study.question.subjectivity")))
    asked.append(Asked("q4", "buttons", "recognizability", text=from_catalogue(f"study.question.{other}")))
    return tuple(with_ends(replace(one, low=LOW, high=HIGH), cultures) for one in asked)


def with_ends(asked: Asked, cultures: Sequence[str] = ()) -> Asked:
    """The question with the usual words at its ends, where it has ends, its role has words and it has none of its own.

    cultures : two cultures make the ends of placement; without them placement is left as it is

    >>> with_ends(Asked("q3", "buttons", "subjectivity")).low_end["zh"]
    '完全是个人看法'
    """
    if asked.low_end or asked.high_end or asked.role is None or asked.widget not in ("buttons", "slider"):
        return asked
    if asked.role == "placement":
        if len(cultures) != 2:
            return asked
        return replace(asked, low_end=culture_name(cultures[1]), high_end=culture_name(cultures[0]))
    low, high = (from_catalogue(f"study.{end}.{asked.role}") for end in ("low_end", "high_end"))
    return replace(asked, low_end=low, high_end=high)


def pilot_question(own: Mapping[str, Texts] = MappingProxyType({})) -> Asked:
    """What a pilot asks beside the study's questions: whether the item can be used, or what is wrong with it.

    own : wordings beside the usual ones or, where they are of no named language, in their place

    >>> pilot_question().id, [option.value for option in pilot_question().options]
    ('usable', ['usable', 'factual', 'same', 'stereotype', 'unclear'])
    """
    options = tuple(Option(value, _with_own(f"study.usable.{value}", own.get(value, {}))) for value in VERDICTS)
    worded = _with_own("study.question.usable", own.get("text", {}))
    return Asked(USABLE, "choice", level="nominal", options=options, text=worded, comment=True)


def for_pilot(study: Study) -> Study:
    """The study of a pilot batch: the same, with the question of a pilot at the end unless it asks one of that id.

    Raises UsageError when the question has no words in a language that a pool reads.
    """
    if any(asked.id == USABLE for asked in study.questions):
        return study
    for (pool, language), entries in missing_in_pilot(study).items():
        raise UsageError("study.pilot_missing", pool=pool, language=language, entries=", ".join(entries))
    return replace(study, questions=(*study.questions, pilot_question(study.pilot)))


def missing_in_pilot(study: Study) -> dict[tuple[str, str], tuple[str, ...]]:
    """(pool, language) -> entries of ``[pilot]`` without which raters could not read a pilot's question."""
    if any(asked.id == USABLE for asked in study.questions):
        return {}
    asked = pilot_question(study.pilot)
    worded = {"text": asked.text, **{option.value: option.text for option in asked.options}}
    found = {
        (pool.name, language): tuple(f"{name}.{language}" for name in worded if not said(worded[name], language))
        for pool in study.pools
        for language in pool.languages
    }
    return {reader: entries for reader, entries in found.items() if entries}


def with_usual_texts(pool: PoolPlan) -> PoolPlan:
    """The pool with the usual consent and instructions in its languages, where it has none of its own."""
    usual = {name: _in(pool.languages, f"study.{name}") for name in ("consent", "welcome")}
    return replace(pool, consent=pool.consent or usual["consent"], welcome=pool.welcome or usual["welcome"])


def culture_name(culture: str) -> dict[str, str]:
    """The name of a culture by language; as it is written in the table where it is not known.

    >>> culture_name("cn"), culture_name("Elbonia")
    ({'en': 'China', 'zh': '中国'}, {'en': 'Elbonia', 'zh': 'Elbonia'})
    """
    key = f"study.culture.{CULTURES.get(culture.casefold(), '')}"
    return {lang: text(key, lang) if has(key, lang) else culture for lang in LANGUAGES}


def _with_own(key: str, own: Texts) -> dict[str, str]:
    return dict(own) if UNKNOWN_LANGUAGE in own else {**from_catalogue(key), **own}


def _in(languages: Sequence[str], key: str) -> dict[str, str]:
    found = {language: language.partition("-")[0] for language in languages}
    return {language: text(key, main) for language, main in found.items() if main in LANGUAGES}
