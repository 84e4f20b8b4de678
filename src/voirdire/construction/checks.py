"""What a corpus that is being built still lacks, and what contradicts itself in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import CONCEPTS_FILE, ConceptItem, Concepts, is_text
from voirdire.construction.schedule import LEAST_AUTHORS
from voirdire.construction.similarity import Alike, nearly_same, threshold_of
from voirdire.construction.standing import ACCEPTED, OPEN, REJECTED, Standing, differs, text_of, undescribed
from voirdire.corpus.shown import SPLITS, UNKNOWN_LANGUAGE
from voirdire.judging.demonstrations import folded
from voirdire.texts import text

ERROR, WARNING = "error", "warning"
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong (``error``) or that a person should look at (``warning``).

    kind : the last part of its key in the catalogue; fields : what the sentence names
    words : fields that are keys themselves
    """

    kind: str
    level: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def told(self, lang: str) -> dict[str, Any]:
        """What the sentence names, as it stands there in a language."""
        return {**self.fields, **{name: text(key, lang) for name, key in self.words.items()}}

    def message(self, lang: str = "en") -> str:
        """The sentence in a language."""
        return text(f"build.finding.{self.kind}", lang, **self.told(lang))


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings, and what was counted.

    concepts, items : that are not rejected; categories : category -> culture -> items
    languages : language -> items that have a question in it; states : state -> concepts
    """

    findings: tuple[Finding, ...]
    concepts: int
    items: int
    categories: Mapping[str, Mapping[str, int]]
    languages: Mapping[str, int]
    states: Mapping[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(one for one in self.findings if one.level == ERROR)


def check_concepts(build: BuildFile, concepts: Concepts, standing: Mapping[str, Standing] | None = None) -> Checked:
    """Check a table of concepts against ``build.toml`` and the history; rejected concepts are left out.

    standing : concept -> where it stands in the authoring protocol; None where it was not begun

    Every error names the row; the measure of near-duplicate questions is ``similarity``.
    """
    known = standing or {}
    out = {name for name, one in known.items() if one.state == REJECTED}
    out |= {item.concept for item in concepts.items if item.split == "rejected"}
    by_concept = {name: items for name, items in concepts.by_concept().items() if name not in out}
    kept = [item for items in by_concept.values() for item in items]
    findings = [
        *_table(build, concepts),
        *(finding for items in by_concept.values() for finding in _concept(build, items)),
        *_categories(build, by_concept),
        *_translations(build, kept),
        *_alts(build, concepts, kept),
        *_alike_questions(build, by_concept),
        *_alike_realisations(build, kept),
        *_team(build, known),
        *_standing(concepts.by_concept(), known, build.source_language),
    ]
    return Checked(
        _placed(build, sorted(findings, key=lambda one: one.level != ERROR)),
        len(by_concept),
        len(kept),
        _counts(build, kept),
        {language: sum(language in item.prompts for item in kept) for language in build.languages},
        _states(concepts.by_concept(), known),
    )


def concept_findings(build: BuildFile, items: Sequence[ConceptItem]) -> tuple[Finding, ...]:
    """The errors of one concept: what must hold before it can be handed in."""
    return _placed(build, _concept(build, items))


def _placed(build: BuildFile, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    file = str(Path(build.file).with_name(CONCEPTS_FILE))
    return tuple(replace(one, fields={"file": file, **one.fields}) for one in findings)


def _concept(build: BuildFile, items: Sequence[ConceptItem]) -> Iterator[Finding]:
    concept = items[0].concept
    for item in items:
        if item.culture not in build.culture_names:
            yield _at(item, "culture_unknown", value=item.culture, known=", ".join(build.culture_names))
    here = {item.culture for item in items}
    for culture in build.culture_names:
        if culture not in here:
            yield _at(items[0], "culture_missing", concept=concept, culture=culture)
    yield from (_at(item, "category_missing", concept=concept) for item in items if not item.category)
    yield from (_at(item, "realisation_missing", item=item.id) for item in items if not item.realisation)
    yield from _same_in_all(items, lambda item: item.category, "category_differs")
    yield from _same_in_all(items, lambda item: item.split, "split_differs", empty=True)
    yield from _questions(build, items)
    yield from _realisations(items)
    yield from _people(build, items)
    yield from _texts(items)
    for item in items:
        if item.split and item.split not in SPLITS:
            yield _at(item, "split_unknown", value=item.split, known=", ".join(SPLITS))


def _at(item: ConceptItem, kind: str, level: str = ERROR, /, **fields: Any) -> Finding:
    return Finding(kind, level, {"row": item.row, **fields})


def _same_in_all(
    items: Sequence[ConceptItem], value: Callable[[ConceptItem], str], kind: str, *, empty: bool = False
) -> Iterator[Finding]:
    """An error for the first member of the pair that has another value; empty ones count where ``empty`` says so."""
    told = [item for item in items if empty or value(item)]
    for item in told[1:]:
        if value(item) != value(told[0]):
            here = {"concept": item.concept, "value": value(item) or "-", "other": value(told[0]) or "-"}
            yield _at(item, kind, **here, first=told[0].row)
            return


def _questions(build: BuildFile, items: Sequence[ConceptItem]) -> Iterator[Finding]:
    source = build.source_language
    for item in items:
        if source not in item.prompts:
            yield _at(item, "question_missing", item=item.id, column=f"prompt.{source}")
    for language in dict.fromkeys(language for item in items for language in item.prompts):

        def asked(item: ConceptItem, language: str = language) -> str:
            return item.prompts.get(language, "")

        for finding in _same_in_all(items, asked, "question_differs"):
            yield Finding(finding.kind, finding.level, {**finding.fields, "column": _column("prompt", language)})


def _texts(items: Sequence[ConceptItem]) -> Iterator[Finding]:
    """An error for a text with control characters, which no person wrote and no page shows."""
    for item in items:
        told = {"category": item.category, "realisation": item.realisation}
        told |= {_column("prompt", language): text for language, text in item.prompts.items()}
        told |= {_column("alt", language): text for language, text in item.alts.items()}
        yield from (_at(item, "text_unfit", column=name) for name, text in told.items() if not is_text(text))


def _column(kind: str, language: str) -> str:
    return kind if language == UNKNOWN_LANGUAGE else f"{kind}.{language}"


def _realisations(items: Sequence[ConceptItem]) -> Iterator[Finding]:
    """An error where two members of a pair would show the same thing."""
    seen: dict[str, ConceptItem] = {}
    for item in items:
        if item.realisation:
            first = seen.setdefault(folded(item.realisation), item)
            if first is not item:
                yield _at(item, "realisation_same", concept=item.concept, value=item.realisation, first=first.row)


def _people(build: BuildFile, items: Sequence[ConceptItem]) -> Iterator[Finding]:
    for item in items:
        if bool(item.author) != bool(item.reviewer):
            yield _at(item, "person_missing", concept=item.concept)
        if item.author and item.author == item.reviewer:
            yield _at(item, "reviews_own", concept=item.concept, value=item.author)
        for name in dict.fromkeys((item.author, item.reviewer)):
            if name and name not in build.authors:
                yield _at(item, "person_unknown", value=name, known=", ".join(build.authors) or "-")
    for role in ("author", "reviewer"):

        def person(item: ConceptItem, role: str = role) -> str:
            return str(getattr(item, role))

        yield from _same_in_all(items, person, "person_differs")


def _table(build: BuildFile, concepts: Concepts) -> Iterator[Finding]:
    if not concepts.items:
        yield Finding("no_concepts", ERROR)
    missing = [language for language in build.languages if language not in concepts.languages]
    for language in missing:
        level = ERROR if language == build.source_language else WARNING
        yield Finding("language_missing", level, {"column": f"prompt.{language}"})
    for language in concepts.languages:
        if language not in build.languages:
            fields = {"column": _column("prompt", language), "known": ", ".join(build.languages)}
            yield Finding("language_unknown", WARNING, fields)
    yield from _spellings(concepts.items, "concept")
    yield from _spellings(concepts.items, "category")


def _spellings(items: Sequence[ConceptItem], column: str) -> Iterator[Finding]:
    """An error for a name that is also spelt with other capital letters, spaces or width."""
    seen: dict[str, ConceptItem] = {}
    told: set[str] = set()
    for item in items:
        value = str(getattr(item, column))
        first = seen.setdefault(folded(value), item)
        other = str(getattr(first, column))
        if value != other and value not in told:
            told.add(value)
            yield _at(item, "spelt_otherwise", column=column, value=value, other=other, first=first.row)


def _categories(build: BuildFile, by_concept: Mapping[str, Sequence[ConceptItem]]) -> Iterator[Finding]:
    sizes: dict[str, int] = {}
    for items in by_concept.values():
        if items[0].category:
            sizes[items[0].category] = sizes.get(items[0].category, 0) + 1
    for category, count in sizes.items():
        if count < build.balance.min_per_category:
            fields = {"category": category, "count": count, "least": build.balance.min_per_category}
            yield Finding("category_small", ERROR, fields)
    ratio = build.balance.max_ratio
    if sizes and ratio is not None and max(sizes.values()) > ratio * min(sizes.values()):
        most, fewest = max(sizes, key=lambda name: sizes[name]), min(sizes, key=lambda name: sizes[name])
        fields = {"most": most, "many": sizes[most], "fewest": fewest, "few": sizes[fewest], "ratio": f"{ratio:g}"}
        yield Finding("category_unbalanced", WARNING, fields)


def _translations(build: BuildFile, kept: Sequence[ConceptItem]) -> Iterator[Finding]:
    for language in build.languages[1:]:
        lacking = [item.id for item in kept if language not in item.prompts]
        if lacking and len(lacking) < len(kept):
            fields = {"column": f"prompt.{language}", "count": len(lacking), "items": some(lacking)}
            yield Finding("translation_missing", WARNING, fields)


def _alts(build: BuildFile, concepts: Concepts, kept: Sequence[ConceptItem]) -> Iterator[Finding]:
    """A warning for descriptions of which some are there and some are not."""
    for language in build.languages:
        lacking = [item.id for item in kept if language not in item.alts]
        if f"alt.{language}" in concepts.table.frame.columns and 0 < len(lacking) < len(kept):
            fields = {"column": f"alt.{language}", "count": len(lacking), "items": some(lacking)}
            yield Finding("alt_missing", WARNING, fields)


def _alike_questions(build: BuildFile, by_concept: Mapping[str, Sequence[ConceptItem]]) -> Iterator[Finding]:
    for language in build.languages:
        asked = {
            concept: next((item.prompts[language] for item in items if language in item.prompts), "")
            for concept, items in by_concept.items()
        }
        for alike in nearly_same(asked, language, build.similar.get(language)):
            fields = {**_alike(alike, build, language), "value": asked[alike.names[0]]}
            yield Finding("questions_alike", WARNING, {**fields, "column": f"prompt.{language}"})


def _alike_realisations(build: BuildFile, kept: Sequence[ConceptItem]) -> Iterator[Finding]:
    """A warning for items of a culture that would show nearly the same."""
    language = build.source_language
    for culture in build.culture_names:
        shown = {item.concept: item.realisation for item in kept if item.culture == culture}
        for alike in nearly_same(shown, language, build.similar.get(language)):
            fields = {**_alike(alike, build, language), "value": shown[alike.names[0]]}
            yield Finding("realisations_alike", WARNING, {**fields, "culture": culture})


def _alike(alike: Alike, build: BuildFile, language: str) -> dict[str, Any]:
    threshold = build.similar.get(language, threshold_of(language))
    told = {"most": f"{alike.most:.2f}", "threshold": f"{threshold:g}"}
    return {"concepts": some(alike.names), "count": len(alike.names), **told}


def _team(build: BuildFile, known: Mapping[str, Standing]) -> Iterator[Finding]:
    if len(build.authors) < LEAST_AUTHORS:
        yield Finding("authors_few", WARNING, {"count": len(build.authors), "least": LEAST_AUTHORS})
    for name in dict.fromkeys(one.waiting for one in known.values()):
        if name and name not in build.authors:
            left = [one.concept for one in known.values() if one.waiting == name]
            yield Finding("author_left", WARNING, {"value": name, "count": len(left), "concepts": some(left)})


def _undescribed(
    by_concept: Mapping[str, Sequence[ConceptItem]], known: Mapping[str, Standing], language: str
) -> Iterator[Finding]:
    """A warning for descriptions of images that were written after their concept was accepted."""
    accepted = [name for name, one in known.items() if one.state == ACCEPTED and name in by_concept]
    late = [name for name in accepted if undescribed(known[name].text, text_of(by_concept[name]), language)]
    if late:
        fields = {"column": f"alt.{language}", "count": len(late), "concepts": some(late)}
        yield Finding("alt_unreviewed", WARNING, fields)


def _standing(
    by_concept: Mapping[str, Sequence[ConceptItem]], known: Mapping[str, Standing], language: str
) -> Iterator[Finding]:
    for concept, one in known.items():
        if concept not in by_concept:
            if one.state not in (OPEN, REJECTED):
                words = {"state": f"authoring.state.{one.state}"}
                yield Finding("concept_gone", ERROR, {"concept": concept, "state": one.state}, words)
        elif one.state == ACCEPTED and differs(one.text, text_of(by_concept[concept])):
            yield _at(by_concept[concept][0], "changed_since", concept=concept, at=one.at)
    yield from _undescribed(by_concept, known, language)
    for concept, one in known.items():
        for item in by_concept.get(concept, ()):
            if item.author and (item.author, item.reviewer) != (one.author, one.reviewer):
                fields = {"concept": concept, "author": one.author, "reviewer": one.reviewer}
                yield _at(item, "assigned_otherwise", WARNING, **fields)
                break
    unfinished = [name for name in by_concept if name in known and known[name].state not in (ACCEPTED, REJECTED)]
    unfinished += [name for name in by_concept if known and name not in known]
    if unfinished:
        yield Finding("not_accepted", WARNING, {"count": len(unfinished), "concepts": some(unfinished)})


def _states(by_concept: Mapping[str, Any], known: Mapping[str, Standing]) -> dict[str, int]:
    found: dict[str, int] = {}
    for concept in by_concept if known else ():
        state = known[concept].state if concept in known else OPEN
        found[state] = found.get(state, 0) + 1
    return found


def _counts(build: BuildFile, kept: Sequence[ConceptItem]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for item in kept:
        row = found.setdefault(item.category or "-", dict.fromkeys(build.culture_names, 0))
        row[item.culture] = row.get(item.culture, 0) + 1
    return found


def some(names: Sequence[str]) -> str:
    """Names for a sentence, the first twelve of them."""
    more = ", …" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
