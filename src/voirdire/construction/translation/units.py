"""The texts of a corpus that people read in several languages, and where each of them stands.

A unit is one text in all its languages; a text of it in one language is named ``<unit>/<language>``:

::

    tea/prompt/zh           the question of a concept, the same for every culture     concepts.csv
    tea-us/alt/zh           the description of an image                               concepts.csv
    q1/low_end/zh           the words at an end of a scale; also text, help, labels   questions.csv or annotation.toml
    q4/option-2/zh          the words of an answer                                    annotation.toml
    age/screening/zh        a screening question; its answers are screening-option-1   annotation.toml
    us/consent/zh           instructions of a pool; also title, welcome               annotation.toml
    pilot/question/zh       own words of a pilot; its answers are pilot/answer-factual   annotation.toml
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voirdire.annotation.nouns import Asked, Option, Screening, Texts
from voirdire.annotation.study_defaults import USABLE, pilot_question
from voirdire.annotation.study_file import FILE as STUDY_FILE
from voirdire.annotation.study_parts import Parts, read_parts
from voirdire.annotation.wording import said
from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import CONCEPTS_FILE, ConceptItem, Concepts
from voirdire.construction.history import History
from voirdire.construction.standing import REJECTED, standings
from voirdire.corpus.shown import language_columns
from voirdire.errors import InputError
from voirdire.tables import read_table

QUESTIONS_FILE = "questions.csv"
WORDED = ("text", "help", "low_end", "high_end")
ENDS = ("low_end", "high_end")
IN_TABLE = (*WORDED, "labels")
INSTRUCTIONS = ("title", "consent", "welcome")
PILOT = "pilot"
"""The table of ``annotation.toml`` with the words of a pilot, and the beginning of their names."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A text in its languages.

    kind : prompt, alt, text, help, low_end, high_end, labels, option, title, consent, welcome
    source : in the language that the corpus is written in; said : language -> what stands in the file now
    file : its name; place : rows of a table, or the steps to an entry of ``annotation.toml``
    languages : that it is wanted in, beside the first; context : the question that an end or an answer belongs to
    partial : languages in which not all rows of the concept say the same: none of these texts counts as verified
    mixed : whether that is so in the first language, so that it is not clear what a translation is of
    """

    id: str
    kind: str
    source: str
    said: Mapping[str, str] = field(default_factory=dict)
    file: str = CONCEPTS_FILE
    place: tuple[str | int, ...] = ()
    languages: tuple[str, ...] = ()
    context: str = ""
    concept: str = ""
    partial: tuple[str, ...] = ()
    mixed: bool = False

    def name(self, language: str) -> str:
        """The name of this text in a language.

        >>> Unit("tea/prompt", "prompt", "Is it usual?").name("zh")
        'tea/prompt/zh'
        """
        return f"{self.id}/{language}"


def read_units(folder: Path | str, build: BuildFile, concepts: Concepts, history: History) -> tuple[Unit, ...]:
    """Every text that has words in the first language, in the order of the files; rejected concepts are left out.

    Questions come from ``annotation.toml`` where it has any, else from ``questions.csv``; either may be absent.
    Raises InputError for files that cannot be read.
    """
    place = Path(folder)
    rejected = {name for name, one in standings(history).items() if one.state == REJECTED}
    kept = {
        name: items
        for name, items in concepts.by_concept().items()
        if name not in rejected and items[0].split != REJECTED
    }
    units = [unit for items in kept.values() for unit in _of_concept(build, items)]
    study = place / STUDY_FILE
    parts = read_parts(study) if study.is_file() else Parts()
    units += _of_study(build, parts) if study.is_file() else ()
    if not parts.questions and (place / QUESTIONS_FILE).is_file():
        units += _of_table(build, place / QUESTIONS_FILE)
    return tuple(unit for unit in units if unit.source and unit.languages)


def _of_concept(build: BuildFile, items: Sequence[ConceptItem]) -> Iterator[Unit]:
    concept, first = items[0].concept, build.source_language
    asked: dict[str, str] = {}
    partial = []
    for language in build.languages:
        told = [item.prompts[language] for item in items if language in item.prompts]
        asked |= {language: told[0]} if told else {}
        if told and (len(told) < len(items) or len(set(told)) > 1):
            partial.append(language)
    rows = tuple(item.row for item in items)
    others = build.languages[1:]
    source = asked.get(first, "")
    yield Unit(
        f"{concept}/prompt",
        "prompt",
        source,
        asked,
        CONCEPTS_FILE,
        rows,
        others,
        "",
        concept,
        tuple(partial),
        first in partial,
    )
    for item in items:
        alts = dict(item.alts)
        told_alt = alts.get(first, "")
        yield Unit(f"{item.id}/alt", "alt", told_alt, alts, CONCEPTS_FILE, (item.row,), others, concept=concept)


def _of_table(build: BuildFile, path: Path) -> Iterator[Unit]:
    table = read_table(path)
    if "question" not in table.frame.columns:
        fields = {"file": table.file, "row": 1, "column": "question", "known": table.shown_columns}
        raise InputError("build.concepts.column_missing", **fields)
    columns = {kind: language_columns(table.frame.columns, kind) for kind in IN_TABLE}
    for place, row in enumerate(table.frame.iter_rows(named=True)):
        if row["question"] is None:
            raise InputError("build.concepts.cell_empty", file=table.file, row=table.row(place), column="question")
        texts = {
            kind: {language: row[column] for language, column in found.items() if row[column] and column != "labels"}
            for kind, found in columns.items()
        }
        context = said(texts["text"], build.source_language)
        for kind in IN_TABLE:
            name = f"{row['question']}/{kind}"
            yield _unit(build, name, kind, texts[kind], QUESTIONS_FILE, (place,), "" if kind == "text" else context)


def _of_study(build: BuildFile, parts: Parts) -> Iterator[Unit]:
    for place, (asked, _) in enumerate(parts.questions):
        yield from _of_question(build, asked, place)
    for place, (screening, _) in enumerate(parts.screening):
        where = ("screening", place)
        yield _unit(build, f"{screening.id}/screening", "text", screening.text, STUDY_FILE, (*where, "text"))
        yield from _options(build, screening, screening.options, where, "screening-option")
    for place, (pool, _) in enumerate(parts.pools):
        wanted = tuple(language for language in build.languages[1:] if language in pool.languages)
        for kind in INSTRUCTIONS:
            texts: Texts = getattr(pool, kind)
            where = ("pools", place)
            yield _unit(build, f"{pool.name}/{kind}", kind, texts, STUDY_FILE, (*where, kind), languages=wanted)
    if all(asked.id != USABLE for asked, _ in parts.questions):
        yield from _of_pilot(build, parts.pilot)


def _of_pilot(build: BuildFile, pilot: Mapping[str, Texts]) -> Iterator[Unit]:
    """What ``[pilot]`` words itself; where it does not in the first language, voirdire's own words are the source."""
    first, asked = build.source_language, pilot_question(pilot)
    worded = {"text": asked.text, **{option.value: option.text for option in asked.options}}
    for entry, own in pilot.items():
        name, kind = ("question", "text") if entry == "text" else (f"answer-{entry}", "option")
        wanted = tuple(language for language in build.languages[1:] if language in own or said(own, first))
        texts = {first: said(worded[entry], first), **own}
        context = "" if kind == "text" else said(asked.text, first)
        where = (PILOT, 0, entry)
        yield _unit(build, f"{PILOT}/{name}", kind, texts, STUDY_FILE, where, context, languages=wanted)


def _of_question(build: BuildFile, asked: Asked, place: int) -> Iterator[Unit]:
    context = said(asked.text, build.source_language)
    for kind in WORDED:
        where = ("questions", place, kind)
        texts: Texts = getattr(asked, kind)
        yield _unit(build, f"{asked.id}/{kind}", kind, texts, STUDY_FILE, where, "" if kind == "text" else context)
    yield from _options(build, asked, asked.options, ("questions", place))


def _options(
    build: BuildFile,
    asked: Asked | Screening,
    options: Iterable[Option],
    where: tuple[str | int, ...],
    called: str = "option",
) -> Iterator[Unit]:
    context = said(asked.text, build.source_language)
    for number, option in enumerate(options):
        name, place = f"{asked.id}/{called}-{number + 1}", (*where, "options", number)
        yield _unit(build, name, "option", option.text, STUDY_FILE, place, context)


def _unit(
    build: BuildFile,
    name: str,
    kind: str,
    texts: Mapping[str, str],
    file: str,
    place: tuple[str | int, ...],
    context: str = "",
    languages: tuple[str, ...] | None = None,
) -> Unit:
    wanted = build.languages[1:] if languages is None else languages
    return Unit(name, kind, said(texts, build.source_language), dict(texts), file, place, wanted, context)
