"""``voirdire build equivalence``: whether the words of the rating scales mean the same in each language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import read_concepts, replace_table
from voirdire.construction.history import read_history
from voirdire.construction.translation.ends import read_ends
from voirdire.construction.translation.equivalence import CONFIDENCE, MARGIN, Equivalence, read_equivalence, record
from voirdire.construction.translation.outcome import question_words, words_of
from voirdire.construction.translation.settings import languages_of
from voirdire.construction.translation.units import read_units

TABLE = "equivalence.csv"


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparisons, and the table that was written."""

    build: BuildFile
    equivalence: Equivalence
    table: Path


def build_equivalence(
    folder: Path | str, *, ratings: Any, margin: float | None = None, confidence: float | None = None
) -> Compared:
    """Compare the languages of a corpus by items that bilingual raters rated in each; write table and history.

    ratings : a table rater_id, item_id, [question], language, rating, [pool]
    margin : scale points that make no difference (0.25); confidence : of the intervals (0.95)

    Raises InputError and UsageError (``translation.equivalence.*``) for what cannot be read.
    """
    place = Path(folder)
    build = read_build_file(place)
    languages = (build.source_language, *languages_of(build, ()))
    concepts = read_concepts(place)
    items = [item.id for item in concepts.items]
    given = {"margin": MARGIN if margin is None else margin}
    given["confidence"] = CONFIDENCE if confidence is None else confidence
    found = read_equivalence(ratings, items, languages, ends=read_ends(place), **given)
    words = question_words(read_units(place, build, concepts, read_history(place)))
    known = {name: words_of(words, name) for name in dict.fromkeys(one.question for one in found.compared)}
    record(place, found, {name: said for name, said in known.items() if said})
    replace_table(place / TABLE, found.table())
    return Compared(build, found, place / TABLE)
