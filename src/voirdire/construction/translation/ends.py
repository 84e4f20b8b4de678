"""The ends of the rating scales of a corpus that is being built, from the file that its questions stand in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from voirdire.annotation.study_file import FILE as STUDY_FILE
from voirdire.annotation.study_parts import read_parts
from voirdire.construction.translation.units import QUESTIONS_FILE
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.questions import read_questions

Ends = Mapping[str, tuple[float, float]]
"""Question -> the lowest and the highest rating that it takes."""


def read_ends(folder: Path | str) -> Ends:
    r"""The questions whose scale has ends: of ``annotation.toml`` where it has questions, else of ``questions.csv``.

    Raises InputError for files that cannot be read.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "questions.csv").write_text("question,min,max\nq1,1,5\nq2,,\n", encoding="utf-8")
    >>> read_ends(folder)
    {'q1': (1.0, 5.0)}
    """
    study, table = Path(folder) / STUDY_FILE, Path(folder) / QUESTIONS_FILE
    asked = [one for one, _ in read_parts(study).questions] if study.is_file() else []
    named = [(one.id, one.low, one.high) for one in asked]
    if not asked and table.is_file():
        declared = read_questions(CorpusOptions(table, questions=table)).declared
        named = [(name, one.spec.low, one.spec.high) for name, one in declared.items()]
    return {name: (low, high) for name, low, high in named if low is not None and high is not None}
