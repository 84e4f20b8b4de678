"""``[translation]`` of ``build.toml``: who translates, and what every translator is told.

::

    [translation]
    judge = "openai/gpt-5-mini"         # provider/model, as for judges
    base_url = "http://localhost:8000/v1"
    guidance = "Raters are laypeople; use plain words and the polite form."
    parameters = { max_tokens = 1500 }  # whatever else is sent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voirdire.annotation.study_entries import shown
from voirdire.annotation.usual_texts import is_usual
from voirdire.construction.build_file import BuildFile
from voirdire.construction.translation.plan import Wanted
from voirdire.construction.translation.verifying import VERIFIED, Standing, refuse_mixed
from voirdire.errors import UsageError
from voirdire.judging.nouns import JudgeSpec
from voirdire.judging.providers.capability import LIMITS
from voirdire.judging.providers.catalog import capability, provider_names
from voirdire.judging.providers.make import parse_spec

ROOM = 2048
"""Tokens that a translation may have, where the parameters say nothing else."""


@dataclass(frozen=True, slots=True)
class TranslationSettings:
    """Who translates (provider/model, empty where it is not said), where, and what every translator is told."""

    judge: str = ""
    base_url: str | None = None
    guidance: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def spec(self, judge: str | None, base_url: str | None) -> JudgeSpec:
        """Who is asked: as the command line says, else as the file does. Raises UsageError where neither does."""
        name = judge or self.judge
        if not name:
            raise UsageError("translation.no_model")
        return with_room(parse_spec(name, base_url=base_url or self.base_url, parameters=self.parameters))


def with_room(spec: JudgeSpec) -> JudgeSpec:
    """A model whose replies may be as long as a text: judges are asked for a number, and are given less room.

    >>> with_room(parse_spec("openai/gpt-4o")).parameters, with_room(parse_spec("control/random")).parameters
    ({'max_tokens': 2048}, {})
    """
    if spec.provider not in provider_names() or set(LIMITS) & set(spec.parameters):
        return spec
    if capability(spec.provider, spec.model).limit(spec.parameters) >= ROOM:
        return spec
    return replace(spec, parameters={**spec.parameters, "max_tokens": ROOM})


def read_settings(build: BuildFile) -> TranslationSettings:
    """The settings that ``build.toml`` gives. Raises InputError for what cannot stand there."""
    entries = build.section("translation")
    parameters = entries.table["parameters"] if entries.has("parameters") else {}
    if not isinstance(parameters, Mapping):
        known = "{ max_tokens = 1500 }"
        raise entries.where.error("kind", entry="parameters", value=shown(parameters), known=known)
    found = TranslationSettings(
        entries.text("judge"), entries.text("base_url") or None, entries.text("guidance"), dict(parameters)
    )
    entries.close()
    return found


def languages_of(build: BuildFile, asked: Sequence[str]) -> tuple[str, ...]:
    """The languages to translate into. Raises UsageError for one that the corpus does not have.

    >>> languages_of(BuildFile("build.toml", "tea", "0.1", "", ("en", "zh", "fr"), ()), ())
    ('zh', 'fr')
    """
    others = build.languages[1:]
    if not others:
        raise UsageError("translation.one_language", file=build.file)
    for language in asked:
        if language not in others:
            raise UsageError("translation.language_unknown", value=language, known=", ".join(others))
    return tuple(language for language in others if not asked or language in asked)


def wanted_forward(
    build: BuildFile,
    found: Mapping[str, Standing],
    languages: Sequence[str],
    guidance: str = "",
    only: Sequence[str] = (),
) -> list[Wanted]:
    """What is to be translated: texts that are missing, or whose source has changed; those named by ``only``.

    only : names of texts (``tea/prompt/zh``), of units (``tea/prompt``) or of concepts
    Raises UsageError for a name that there is not, InputError where the members of a pair are not asked the same.
    """
    _refuse_unknown(found, only)
    chosen = [one for one in found.values() if one.language in languages]
    chosen = [one for one in chosen if (_named(one, only) if only else _lacks(one))]
    for one in chosen:
        refuse_mixed(one.unit)
    first = build.source_language
    return [_wanted(build, one, one.unit.source, first, one.language, guidance) for one in chosen]


def wanted_back(
    build: BuildFile, found: Mapping[str, Standing], languages: Sequence[str], only: Sequence[str] = ()
) -> list[Wanted]:
    """What is to be translated back for the reviewer: whatever is there and not verified; those named by ``only``.

    Words that are voirdire's own in both languages are asked for by ``only`` alone.
    """
    return [
        _wanted(build, one, one.candidate, one.language, build.source_language)
        for one in found.values()
        if one.language in languages
        and one.candidate
        and (_named(one, only) if only else one.state != VERIFIED and not _usual(build, one))
    ]


def left_out_back(
    build: BuildFile, found: Mapping[str, Standing], languages: Sequence[str], only: Sequence[str] = ()
) -> tuple[str, ...]:
    """Texts that are not verified and not translated back, as they are voirdire's own words in both languages."""
    return tuple(
        one.name
        for one in found.values()
        if one.language in languages and one.state != VERIFIED and one.back is None and not only and _usual(build, one)
    )


def _usual(build: BuildFile, one: Standing) -> bool:
    return is_usual(one.unit.source, build.source_language, one.candidate, one.language)


def _wanted(build: BuildFile, one: Standing, text: str, origin: str, language: str, guidance: str = "") -> Wanted:
    """Who translates back is told neither the source nor what it belongs to."""
    told = (one.unit.context, guidance) if origin == build.source_language else ("", "")
    return Wanted(one.name, text, origin, language, one.unit.kind, *told)


def _lacks(one: Standing) -> bool:
    """Whether nothing is there for the present source: neither in the file nor proposed."""
    return (not one.text or one.moved) and not (one.proposal and one.proposal.text)


def _named(one: Standing, only: Sequence[str]) -> bool:
    return any(name in (one.name, one.unit.id, one.unit.concept) for name in only)


def _refuse_unknown(found: Mapping[str, Standing], only: Sequence[str]) -> None:
    for name in only:
        if not any(_named(one, (name,)) for one in found.values()):
            raise UsageError("translation.only_unknown", value=name, known=", ".join(list(found)[:5]) or "-")
