"""The fields for responsible AI of a Croissant document, from what corpus.toml tells and what the tables say.

Source: MLCommons, Croissant RAI Specification 1.0 (2024), RAI property information.
"""

from __future__ import annotations

from typing import Any

from voirdire.exchange.datasheet import privacy_sentences, scale_words
from voirdire.exchange.facts import Facts, PoolFacts, QuestionFacts
from voirdire.exchange.release import Release
from voirdire.exchange.told import POOL, in_language
from voirdire.texts import text

TOLD = {
    "rai:dataCollection": ("collection",),
    "rai:dataAnnotationPlatform": ("platform",),
    "rai:dataUseCases": ("uses",),
    "rai:dataLimitations": ("limitations", "not_for"),
    "rai:dataBiases": ("biases",),
    "rai:dataSocialImpact": ("social_impact",),
    "rai:personalSensitiveInformation": ("sensitive",),
    "rai:dataReleaseMaintenancePlan": ("maintenance",),
}
"""Property -> the fields of ``[release]`` that fill it."""

ONE = frozenset({"rai:dataCollection", "rai:dataSocialImpact", "rai:dataReleaseMaintenancePlan"})
TIMES = ("rai:dataCollectionTimeframe", "rai:dataCollectionTimeFrame")
"""The specification's table has the first and its text the second, which is what MLCommons' own reader takes."""


def rai_fields(release: Release, facts: Facts, lang: str = "en") -> dict[str, Any]:
    """The properties that something is known for; a property of which nothing is told is not there."""
    fields: dict[str, Any] = {}
    for name, sources in TOLD.items():
        said = [_labelled(source, release, lang, plain=len(sources) == 1) for source in sources]
        said = [one for one in said if one]
        if said:
            fields[name] = " ".join(said) if name in ONE else said
    days = [release.told.of(name, lang) for name in ("collected_from", "collected_to")]
    if any(days):
        fields |= {name: [day for day in days if day] for name in TIMES}
    fields["rai:dataAnnotationProtocol"] = _protocol(release, facts, lang)
    fields["rai:annotationsPerItem"] = "; ".join(_per_item(pool, lang) for pool in facts.pools)
    fields["rai:annotatorDemographics"] = [_people(pool, release, lang) for pool in facts.pools]
    counts = {"ratings": facts.ratings, "missing": facts.missing}
    fields["rai:dataCollectionMissingData"] = text("datasheet.ratings", lang, **counts)
    fields["rai:dataManipulationProtocol"] = " ".join(privacy_sentences(release, lang))
    if facts.judges:
        fields["rai:machineAnnotationTools"] = list(facts.judges)
    return fields


def _labelled(name: str, release: Release, lang: str, *, plain: bool) -> str:
    said = release.told.of(name, lang)
    if not said or plain:
        return said
    return _stated(text(f"datasheet.field.{name}", lang), said, lang)


def _protocol(release: Release, facts: Facts, lang: str) -> str:
    told = [release.told.of(name, lang) for name in ("protocol", "consent", "ethics")]
    simulated = text("datasheet.simulated", lang) if release.told.simulated else ""
    asked = [_question(one, lang) for one in facts.questions]
    return "\n".join(one for one in (simulated, *told, *asked) if one)


def _question(question: QuestionFacts, lang: str) -> str:
    parts = [in_language(question.text, lang), scale_words(question, lang)]
    return _stated(question.id, "; ".join(part for part in parts if part), lang)


def _per_item(pool: PoolFacts, lang: str) -> str:
    spread = {"least": pool.least, "median": f"{pool.median:g}", "most": pool.most}
    said = text("datasheet.spread", lang, **spread) if pool.ratings else text("datasheet.only_means", lang)
    return _stated(f"{pool.name} ({text('datasheet.column.per_item', lang)})", said, lang)


def _people(pool: PoolFacts, release: Release, lang: str) -> str:
    facts = [(name, release.told.of_pool(pool.name, name, lang)) for name in POOL]
    said = [_stated(text(f"datasheet.pool.{name}", lang), value, lang) for name, value in facts if value]
    counted = _stated(text("datasheet.column.raters", lang), str(pool.raters), lang)
    return _stated(pool.name, "; ".join([counted, *said]), lang)


def _stated(label: str, value: str, lang: str) -> str:
    return text("datasheet.stated", lang, label=label, value=value)
