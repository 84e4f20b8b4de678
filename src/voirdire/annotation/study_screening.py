"""The paper's criteria for raters as screening questions, of which only bands are kept."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.annotation.nouns import Option, PoolPlan, Screening
from voirdire.annotation.study_defaults import culture_name
from voirdire.annotation.wording import from_catalogue
from voirdire.texts import LANGUAGES, has, text

NONE = "none-of-these"
HOURS = ("0-4", "5-9", "10-19", "20+")
ENOUGH_HOURS = ("10-19", "20+")
UNDER_AGE = "under-18"
AGES = ("18-23", "24-30", "31-45", "46+")
AGES_OF_PAPER = ("24-30",)


def usual_screening(pools: Sequence[PoolPlan]) -> tuple[Screening, ...]:
    """Affiliation with the culture of the pool, hours a week with its media, its language, and age.

    Kept are the bands of hours and age; of the others only that the rater passed. Source: Jury Duty, Appendix B (self-
    identified affiliation, 10 hours or more a week, fluency, 24 to 30 years); wordings and bands are voirdire's own.

    >>> us = PoolPlan("us", ("en",))
    >>> [(asked.id, asked.keep) for asked in usual_screening([us])]
    [('affiliation', False), ('media_hours', True), ('languages', False), ('age', True)]
    """
    names = tuple(pool.name for pool in pools)
    cultures = [Option(name, culture_name(name)) for name in names]
    none = Option(NONE, from_catalogue("study.screening.none"))
    codes = dict.fromkeys(language for pool in pools for language in pool.languages)
    languages = [Option(code, _language_name(code)) for code in codes]
    under = Option(UNDER_AGE, from_catalogue("study.screening.under_age"))
    return (
        Screening("affiliation", (*cultures, none), _asked("affiliation"), "many", {name: (name,) for name in names}),
        Screening(
            "media_hours",
            _bands("hours", HOURS),
            _asked("media_hours"),
            accept=dict.fromkeys(names, ENOUGH_HOURS),
            keep=True,
        ),
        Screening(
            "languages",
            (*languages, none),
            _asked("languages"),
            "many",
            {pool.name: pool.languages[:1] for pool in pools},
        ),
        Screening(
            "age",
            (under, *_bands("years", AGES)),
            _asked("age"),
            accept=dict.fromkeys(names, AGES_OF_PAPER),
            keep=True,
        ),
    )


def _asked(name: str) -> dict[str, str]:
    return from_catalogue(f"study.screening.asked.{name}")


def _bands(unit: str, bands: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(band, _band(unit, band)) for band in bands)


def _band(unit: str, band: str) -> dict[str, str]:
    low, _, high = band.removesuffix("+").partition("-")
    key = f"study.screening.{unit}_more" if band.endswith("+") else f"study.screening.{unit}"
    return from_catalogue(key, **{name: dict.fromkeys(LANGUAGES, end) for name, end in (("low", low), ("high", high))})


def _language_name(code: str) -> dict[str, str]:
    key = f"study.language.{code.partition('-')[0]}"
    return {lang: text(key, lang) if has(key, lang) else code for lang in LANGUAGES}
