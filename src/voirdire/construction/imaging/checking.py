"""What is wrong with the images of a regime, image by image, pair by pair, and all together.

Checked: the file is there, is the one that was logged, and decodes; form and size are those that were asked for; the
members of a pair were made by the same model; no prompt was rewritten by the model; no two images are nearly alike
(perceptual hashes); no photograph says where it was taken. Not checked: letters inside an image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, sqrt
from pathlib import Path
from typing import Any

from voirdire.construction.imaging.hashing import near
from voirdire.construction.imaging.logbook import Logged
from voirdire.construction.imaging.looking import Look, look_at_all
from voirdire.construction.imaging.settings import Frame, ImageSettings
from voirdire.corpus.image_paths import is_inside
from voirdire.judging.images import MAX_BYTES

RATIO_TOLERANCE, SIDE_TOLERANCE = 0.04, 0.15
"""Share by which form and size may differ from what was asked: models round both to whole blocks of pixels."""

UNMADE = ("refused", "malformed", "error", "pending")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to look at; the sentence is ``build_images.problem.<kind>``.

    items : the items that it concerns; fields : what the sentence names
    """

    kind: str
    items: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """The images of a regime as they are.

    rows : item id -> its line of the log; looks : item id -> its image, where it can be read
    """

    rows: Mapping[str, Logged]
    looks: Mapping[str, Look]
    problems: tuple[Problem, ...]

    def of(self, item: str) -> tuple[Problem, ...]:
        """The problems that concern an item."""
        return tuple(problem for problem in self.problems if item in problem.items)


def check_images(
    folder: Path,
    rows: Mapping[str, Logged],
    settings: ImageSettings,
    asked: Mapping[str, str],
    progress: Callable[[float], None] | None = None,
) -> Checked:
    """Look at every image of a regime.

    rows : item id -> its current line of the log; asked : item id -> what would be asked for it now, where it is drawn
    """
    files = {item: folder / row.facts["file"] for item, row in rows.items() if row.status == "ok"}
    inside = {item: (path, rows[item].facts["sha256"]) for item, path in files.items() if is_inside(path, folder)}
    found = look_at_all(inside, progress)
    problems = [Problem("stray", (item,), {"file": rows[item].facts["file"]}) for item in files if item not in inside]
    looks = {item: one for item, one in found.items() if isinstance(one, Look)}
    problems += [_unmade(row) for row in rows.values() if row.status in UNMADE]
    for item, one in found.items():
        if isinstance(one, Look):
            problems += _of_image(rows[item], one, settings.frame)
        else:
            problems.append(_unreadable(item, rows[item], one))
    problems += [
        Problem("stale", (item,)) for item in files if asked.get(item) not in (None, rows[item].facts["prompt"])
    ]
    problems += [problem for pair in _pairs(rows) for problem in _of_pair(pair, looks, settings.frame)]
    problems += _alike(rows, looks)
    return Checked(rows, looks, tuple(problems))


def _unmade(row: Logged) -> Problem:
    return Problem(row.status, (row.item,), {"why": row.facts["note"] or "-"})


def _unreadable(item: str, row: Logged, fault: Exception) -> Problem:
    file = row.facts["file"]
    if isinstance(fault, OSError):
        return Problem("missing", (item,), {"file": file, "why": fault.strerror or str(fault)})
    return Problem("broken", (item,), {"file": file})


def _of_image(row: Logged, look: Look, frame: Frame | None) -> list[Problem]:
    found: list[Problem] = []

    def add(kind: str, **fields: Any) -> None:
        found.append(Problem(kind, (row.item,), fields))

    size = f"{look.width}x{look.height}"
    if look.sha256 != row.facts["sha256"]:
        add("changed", file=row.facts["file"])
    if row.facts["revised_prompt"]:
        add("rewritten", prompt=row.facts["revised_prompt"])
    if look.n_bytes > MAX_BYTES:
        add("heavy", size=f"{look.n_bytes / 2**20:.1f}", limit=MAX_BYTES // 2**20)
    if look.located:
        add("located", file=row.facts["file"])
    if frame is not None and not isclose(look.width / look.height, frame.ratio, rel_tol=RATIO_TOLERANCE):
        add("ratio", size=size)
    elif frame is not None and not _as_large(look, frame):
        add("size", size=size)
    return found


def _as_large(look: Look, frame: Frame) -> bool:
    if frame.pixels is not None:
        return (look.width, look.height) == frame.pixels
    return frame.side is None or isclose(sqrt(look.width * look.height), frame.side, rel_tol=SIDE_TOLERANCE)


def _pairs(rows: Mapping[str, Logged]) -> list[list[Logged]]:
    groups: dict[str, list[Logged]] = {}
    for row in rows.values():
        groups.setdefault(row.concept, []).append(row)
    return list(groups.values())


def _of_pair(pair: Sequence[Logged], looks: Mapping[str, Look], frame: Frame | None) -> list[Problem]:
    """What differs between the members of a pair and should not."""
    items = tuple(row.item for row in pair)
    found = []
    served = _different(row.facts["served_model"] for row in pair if row.status == "ok")
    if served:
        found.append(Problem("served", items, {"models": ", ".join(served)}))
    shapes = [looks[item].width / looks[item].height for item in items if item in looks]
    if frame is None and shapes and not isclose(min(shapes), max(shapes), rel_tol=RATIO_TOLERANCE):
        found.append(Problem("shapes", items))
    return found


def _different(values: Iterable[str | None]) -> list[str]:
    known = sorted({value or "-" for value in values})
    return known if len(known) > 1 else []


def _alike(rows: Mapping[str, Logged], looks: Mapping[str, Look]) -> list[Problem]:
    """Groups of images that are nearly alike, each image like another one of its group."""
    items = list(looks)
    group = {item: {item} for item in items}
    for first, second, _ in near([looks[item].hashes for item in items]):
        one, other = group[items[first]], group[items[second]]
        if one is not other:
            one |= other
            group.update(dict.fromkeys(other, one))
    groups = {id(members): members for members in group.values() if len(members) > 1}
    found = []
    for members in groups.values():
        ordered = tuple(item for item in items if item in members)
        same = len({rows[item].concept for item in ordered}) == 1
        found.append(Problem("alike_pair" if same else "alike", ordered))
    return found
