"""``voirdire build new``: begin a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voirdire.construction.template import USUAL_CULTURES, begin


def build_new(
    folder: Path | str,
    *,
    name: str = "",
    cultures: Sequence[str] = (),
    languages: Sequence[str] = (),
    authors: Sequence[str] = (),
    lang: str = "en",
) -> dict[str, Path]:
    """Write ``build.toml`` and ``concepts.csv`` to begin with, and give the two files by name.

    cultures : ``NAME=LANGUAGE``, by default ``us=en`` and ``cn=zh``; languages : of the questions, by default those of
        the cultures; authors : the construction team; lang : of the comments

    Raises UsageError (keys ``build.new.*``) where one of the files is there, and for what cannot be meant.
    """
    given = cultures or USUAL_CULTURES
    settings, concepts = begin(folder, name=name, cultures=given, languages=languages, authors=authors, lang=lang)
    return {"build": settings, "concepts": concepts}
