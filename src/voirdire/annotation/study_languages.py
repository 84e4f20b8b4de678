"""Languages of a study: what readers of others than those of the pages find, and which texts they lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from voirdire.annotation.nouns import Asked, Option, PoolPlan, Screening, Study, Texts
from voirdire.annotation.study_checks import readers
from voirdire.annotation.study_defaults import missing_in_pilot
from voirdire.annotation.wording import said
from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.texts import LANGUAGES


def language_notes(study: Study, proposed: Sequence[PoolPlan] = ()) -> Iterator[Note]:
    """What the lead should know of the languages of the pools.

    proposed : the pools as they would be in the languages of their cultures
    """
    for pool in study.pools:
        for language in pool.languages:
            if language.partition("-")[0] not in LANGUAGES:
                key = "pages_english" if said(pool.agree, language) else "pages_and_agree_english"
                yield Note(f"study.note.{key}", {"pool": pool.name, "language": language}, "warning")
    for (pool_name, language), entries in missing_in_pilot(study).items():
        told = {"pool": pool_name, "language": language, "entries": ", ".join(entries)}
        yield Note("study.note.no_pilot", told)
    for mine, own in zip(study.pools, proposed, strict=False):
        if mine.languages != own.languages:
            told = {"pool": mine.name, "language": mine.languages[0], "own": own.languages[0]}
            yield Note("study.note.other_language", told)


def for_readers(study: Study) -> Study:
    """The study without texts in languages that no pool reads; a text that is in no other stays, to be translated."""
    read = {reader.language.partition("-")[0] for reader in readers(study.pools)} | {UNKNOWN_LANGUAGE}

    def kept(texts: Texts) -> Texts:
        return {one: worded for one, worded in texts.items() if one.partition("-")[0] in read} or texts

    def options(given: tuple[Option, ...]) -> tuple[Option, ...]:
        return tuple(replace(one, text=kept(one.text)) for one in given)

    def asked(one: Asked) -> Asked:
        low, high = kept(one.low_end), kept(one.high_end)
        worded = replace(one, text=kept(one.text), help=kept(one.help), options=options(one.options))
        return replace(worded, low_end=low, high_end=high)

    return replace(
        study,
        questions=tuple(asked(one) for one in study.questions),
        screening=tuple(replace(one, text=kept(one.text), options=options(one.options)) for one in study.screening),
    )


def missing_texts(study: Study) -> list[str]:
    """The entries of ``annotation.toml`` that raters could not read, each with its place.

    >>> missing_texts(Study("s", (), (PoolPlan("kr", ("ko", "en"), consent={"en": "I agree."}),)))
    ['[[pools]] kr: consent.ko, welcome.ko, welcome.en']
    """
    found = []
    languages = list(dict.fromkeys(reader.language for reader in readers(study.pools)))
    for pool in study.pools:
        texts = {"consent": pool.consent, "welcome": pool.welcome}
        found += _lacking(f"[[pools]] {pool.name}", texts, pool.languages, needed=True)
    for asked in study.questions:
        texts = {"text": asked.text, "help": asked.help, "low_end": asked.low_end, "high_end": asked.high_end}
        found += _lacking(f"[[questions]] {asked.id}", texts | _of_options(asked), languages)
    for screening in study.screening:
        texts = {"text": screening.text, **_of_options(screening)}
        found += _lacking(f"[[screening]] {screening.id}", texts, languages)
    return found


def _of_options(asked: Asked | Screening) -> dict[str, Texts]:
    return {f"options {option.value}: text": option.text for option in asked.options}


def _lacking(place: str, texts: dict[str, Texts], languages: Sequence[str], needed: bool = False) -> list[str]:
    pairs = [(name, code) for name, worded in texts.items() if worded or needed for code in languages]
    names = [f"{name}.{code}" for name, code in pairs if not said(texts[name], code)]
    return [f"{place}: {', '.join(names)}"] if names else []
