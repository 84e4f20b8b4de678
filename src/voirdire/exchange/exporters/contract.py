"""What an exporter is given, where that is something else than a release.

An exporter that is a plain function is given a release, an empty folder and a language, as it always was. One that is
an ``Exporter`` says what it is given:

- ``cells``: ``write(cells, folder, lang)``, the cells of a corpus and a grid, into an empty folder
- ``profile``: ``write(profile, lang)``, the profile of an audit; gives the text of one file
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from voirdire.judging.plan import Plan

Source = Literal["release", "cells", "profile"]


@dataclass(frozen=True)
class Exporter:
    """An exporter and what it is given."""

    source: Source
    write: Callable[..., Any]


@dataclass(frozen=True)
class Cells:
    """The cells of a corpus and a grid, with their prompts, as ``voirdire run`` would ask them.

    plan : items, conditions, questions, repeats; its judge stands for whoever will be asked
    consensus : question -> pool -> item -> the mean of the pool's ratings; empty where nobody has rated
    """

    plan: Plan
    consensus: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)


def exporter_of(found: Any) -> Exporter:
    """A registered exporter, whether it says what it is given or not.

    >>> exporter_of(print).source
    'release'
    """
    return found if isinstance(found, Exporter) else Exporter("release", found)
