"""Do these judgments belong to this version of the corpus? A run says on which one its judges were asked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.corpus.frozen import MANIFEST, Frozen
from voirdire.errors import InputError

RUN_MANIFEST = "run.toml"
NAMED = ("name", "version", "digest", "frozen", "shown")
"""What a release repeats of it, in ``[judged]`` of its ``corpus.toml``."""

JUDGED, JUDGMENTS, DATA = "judged", "judgments", "data"
SHORT = 12


def made_on(judgments: Any) -> dict[str, str]:
    """What a run says of the corpus that its judges were asked about; empty where nothing is said.

    judgments : a run folder or a file in it, or the judgments of a release, whose ``corpus.toml`` repeats it; for
        frames, and files of other origin, nothing is known
    """
    if not isinstance(judgments, str | Path):
        return {}
    path = Path(judgments).resolve()
    folder = path if path.is_dir() else path.parent
    if (folder / RUN_MANIFEST).is_file():
        return _told(folder / RUN_MANIFEST, "corpus")
    release = _release_of(folder)
    return {} if release is None else _told(release / MANIFEST, JUDGED)


def _release_of(folder: Path) -> Path | None:
    """The release whose judgments stand in a folder ``judgments`` or ``data/judgments``."""
    if folder.name != JUDGMENTS:
        return None
    outer = folder.parent.parent if folder.parent.name == DATA else folder.parent
    return next((one for one in (folder.parent, outer) if (one / MANIFEST).is_file()), None)


def _told(file: Path, section: str) -> dict[str, str]:
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8")).get(section, {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("input.toml_broken", file=str(file), value=str(error)) from error
    return {str(name): str(value) for name, value in told.items()} if isinstance(told, Mapping) else {}


def check_belongs(made: Mapping[str, str], frozen: Frozen | None, source: Any, *, meant: bool) -> tuple[Note, ...]:
    """Notes about judgments that may be of another version, or are and are meant to be.

    made : of ``made_on``; frozen : the corpus that is audited, None where it is not frozen
    meant : whether judgments of another version are wanted all the same

    Raises InputError, with both digests, where they belong to another version and that is not meant. What judges were
    shown counts (items, questions, images, demonstrations); a version with further ratings alone is no other one.
    """
    if frozen is None:
        return _unfrozen(made, source)
    theirs, ours = (made.get("shown"), frozen.shown) if made.get("shown") else (made.get("digest"), frozen.material)
    told = {"file": str(source) if isinstance(source, str | Path) else "DataFrame", "version": frozen.version}
    if not theirs:
        return (Note("freeze.judged.unknown", told, "warning"),)
    if theirs == ours:
        return ()
    told |= {"ours": ours[:SHORT], "theirs": theirs[:SHORT], "other": made.get("version") or "-"}
    if not meant:
        raise InputError("freeze.judged.other", **told)
    return (Note("freeze.judged.meant", told, "warning"),)


def _unfrozen(made: Mapping[str, str], source: Any) -> tuple[Note, ...]:
    if not made.get("shown"):
        return ()
    fields = {"file": str(source), "version": made.get("version", "-"), "theirs": made["shown"][:SHORT]}
    return (Note("freeze.judged.unfrozen", fields, "warning"),)
