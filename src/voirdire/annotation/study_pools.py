"""Pools of raters: from ``--pool``, from ``annotation.toml``, or from the cultures of the items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import PoolPlan
from voirdire.annotation.study_defaults import CULTURES, LANGUAGE
from voirdire.annotation.study_entries import NAME, NAME_LENGTH, Entries, shown
from voirdire.annotation.wording import CODE
from voirdire.errors import UsageError


def read_pool(entries: Entries) -> PoolPlan:
    """A pool as it stands in the file."""
    name = entries.name("name")
    if not entries.has("languages"):
        raise entries.where.error("key_missing", value="languages")
    languages = entries.values("languages", entries.table["languages"])
    for language in languages:
        if not CODE.fullmatch(language):
            raise entries.where.error("language_form", entry="languages", value=shown(language))
    pool = PoolPlan(
        name,
        languages,
        entries.texts("title"),
        entries.texts("consent"),
        entries.texts("welcome"),
        entries.text("completion_code"),
        _address(entries, "completion_url"),
        entries.texts("agree"),
    )
    entries.close()
    return pool


def pools_named(given: Sequence[str], known: Mapping[str, PoolPlan], corpus: Shown) -> tuple[PoolPlan, ...]:
    """Pools of ``--pool NAME=LANGUAGE[,LANGUAGE]``, in their order.

    known : pools of the file, whose texts a pool of the same name keeps
    Raises UsageError for what is no pool or language, and for a pool named twice.
    """
    found: dict[str, PoolPlan] = {}
    for one in given:
        name, mark, rest = (part.strip() for part in one.partition("="))
        languages = tuple(part.strip() for part in rest.split(",")) if mark else ()
        if not NAME.fullmatch(name):
            raise UsageError("study.pool_form", value=shown(one), count=NAME_LENGTH)
        for place, language in enumerate(languages):
            if not CODE.fullmatch(language) or language in languages[:place]:
                raise UsageError("study.pool_language", value=shown(one), language=shown(language))
        if name in found:
            raise UsageError("study.pool_twice", value=name)
        old = known.get(name, PoolPlan(name, (usual_language(name, corpus),)))
        found[name] = replace(old, languages=languages or old.languages)
    return tuple(found.values())


def pools_of_cultures(corpus: Shown, language: Callable[[str, Shown], str] | None = None) -> tuple[PoolPlan, ...]:
    """A pool for each culture of the items. Raises UsageError where they have none, or one that cannot name a pool.

    language : of a pool, ``usual_language`` or ``own_language``
    """
    language = language or usual_language
    for culture in corpus.cultures:
        if not NAME.fullmatch(culture):
            raise UsageError("study.culture_form", value=shown(culture), count=NAME_LENGTH)
    if not corpus.cultures:
        raise UsageError("study.no_pools")
    return tuple(PoolPlan(culture, (language(culture, corpus),)) for culture in corpus.cultures)


def usual_language(pool: str, corpus: Shown) -> str:
    """Chinese for a Chinese pool, else English, if items are in it or in no named language; else their first."""
    wanted = ("zh", "en") if CULTURES.get(pool.casefold()) == "cn" else ("en",)
    here = corpus.languages
    return next((language for language in wanted if not here or language in here), here[0] if here else "en")


def own_language(pool: str, corpus: Shown) -> str:
    """The language of the pool's culture, where it is known and items are in it; else the usual one."""
    own = LANGUAGE.get(CULTURES.get(pool.casefold(), ""))
    return next((one for one in corpus.languages if one.partition("-")[0] == own), usual_language(pool, corpus))


def _address(entries: Entries, name: str) -> str:
    value = entries.text(name)
    if value and not _is_address(value):
        raise entries.where.error("address_form", entry=name, value=shown(value))
    return value


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not any(sign.isspace() for sign in value)
