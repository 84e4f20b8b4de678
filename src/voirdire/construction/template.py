"""A folder to begin a corpus in: ``build.toml`` with comments, and ``concepts.csv`` with one concept as an example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from voirdire.annotation.study_writing import array, comment_lines, string, text_lines
from voirdire.annotation.wording import CODE
from voirdire.construction.build_file import BUILD_FILE, SAFE, Culture
from voirdire.construction.concepts import CONCEPTS_FILE, replace_table
from voirdire.construction.imaging.settings import images_lines
from voirdire.construction.schedule import LEAST_AUTHORS
from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES, has, text

EXAMPLE = "celebratory-meal"
USUAL_CULTURES = ("us=en", "cn=zh")


def begin(
    folder: Path | str,
    *,
    name: str = "",
    cultures: Sequence[str] = USUAL_CULTURES,
    languages: Sequence[str] = (),
    authors: Sequence[str] = (),
    lang: str = "en",
) -> tuple[Path, Path]:
    """Write ``build.toml`` and ``concepts.csv`` into a folder, which is made where it is missing.

    cultures : ``NAME=LANGUAGE``; languages : of the questions, by default those of the cultures; lang : of the comments
    Raises UsageError for a culture that is not so written, and where one of the two files is there.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise UsageError("build.new.is_file", file=str(path))
    for file in (BUILD_FILE, CONCEPTS_FILE):
        if (path / file).exists():
            raise UsageError("build.new.exists", file=str(path / file))
    known = [_culture(one) for one in cultures]
    asked = tuple(dict.fromkeys(languages or [culture.language for culture in known]))
    _check(known, asked)
    _check_authors(authors)
    path.mkdir(parents=True, exist_ok=True)
    lines = _lines(name or path.resolve().name, known, asked, authors, lang)
    (path / BUILD_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    replace_table(path / CONCEPTS_FILE, _example(known, asked))
    return path / BUILD_FILE, path / CONCEPTS_FILE


def _culture(given: str) -> Culture:
    name, _, language = (part.strip() for part in given.partition("="))
    if not SAFE.fullmatch(name) or not language:
        raise UsageError("build.new.culture_form", value=given)
    if not CODE.fullmatch(language):
        raise UsageError("build.new.culture_language", value=given, language=language)
    key = f"simulation.culture.{name}"
    return Culture(name, {lang: text(key, lang) for lang in LANGUAGES} if has(key) else {}, language)


def _check(cultures: Sequence[Culture], languages: Sequence[str]) -> None:
    names = [culture.name.casefold() for culture in cultures]
    if len(set(names)) < max(2, len(names)):
        raise UsageError("build.new.cultures_few", count=len(set(names)))
    for language in languages:
        if not CODE.fullmatch(language):
            raise UsageError("build.new.language_form", value=language)
    for culture in cultures:
        if culture.language not in languages:
            raise UsageError("build.new.language_missing", value=culture.language, culture=culture.name)


def _check_authors(authors: Sequence[str]) -> None:
    """Raise UsageError for a team that no step would be taken by; nobody yet is no team and can be named later."""
    for place, author in enumerate(authors):
        if author.casefold() in [other.casefold() for other in authors[:place]]:
            raise UsageError("build.new.author_twice", value=author)
    if 0 < len(authors) < LEAST_AUTHORS:
        raise UsageError("build.new.authors_few", count=len(authors), least=LEAST_AUTHORS)


def _lines(
    name: str, cultures: Sequence[Culture], languages: Sequence[str], authors: Sequence[str], lang: str
) -> Iterator[str]:
    def told(part: str) -> Iterator[str]:
        yield from ("", *comment_lines(text(f"build.template.{part}", lang)))

    yield from list(told("head"))[1:]
    yield from (f"name = {string(name)}", f"version = {string('0.1')}")
    yield from (*told("license"), f"license = {string('CC-BY-4.0')}")
    yield from (*told("languages"), f"languages = {array(languages)}")
    yield from told("authors")
    yield f"authors = {array(authors)}" if authors else f"# authors = {array(('ana', 'bo', 'chen'))}"
    yield from told("culture")
    for place, culture in enumerate(cultures):
        yield from ("", "[[culture]]") if place else ("[[culture]]",)
        yield f"name = {string(culture.name)}"
        yield from text_lines("title", culture.titles)
        yield f"language = {string(culture.language)}"
    yield from (*told("balance"), "[balance]", "min_per_category = 1", "# max_ratio = 3")
    yield from (*told("similar"), "# [similar]", *(f"# {language} = 0.6" for language in languages))
    yield from images_lines(languages[0], lang)
    yield from (*told("splits"), "[splits]", "pilot = 0", "demonstration = 0", "per_level = 1", "seed = 0")


def _example(cultures: Sequence[Culture], languages: Sequence[str]) -> pl.DataFrame:
    """One concept in every culture; what the catalogue has no words for is empty."""
    rows = []
    for culture in cultures:
        key, spoken = f"build.template.realisation_{culture.name}", languages[0]
        shown = text(key, spoken) if spoken in LANGUAGES and has(key) else ""
        row = {"concept": EXAMPLE, "category": "food", "culture": culture.name, "realisation": shown}
        asked = {lang: text("build.template.question", lang) for lang in languages if lang in LANGUAGES}
        rows.append(row | {f"prompt.{lang}": asked.get(lang, "") for lang in languages})
    return pl.DataFrame(rows)
