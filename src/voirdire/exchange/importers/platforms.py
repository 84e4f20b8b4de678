"""Identities of people on recruiting platforms, by their form."""

from __future__ import annotations

import re
from collections.abc import Iterable

PROLIFIC = r"[0-9a-f]{24}"
TURK = r"A(?=[0-9A-Z]*[0-9])(?![A-Z]{4,}[0-9]*(?![0-9A-Z]))[0-9A-Z]{10,14}"
"""The letter A and capitals and digits, but no word with a number, such as ANNOTATOR12."""

_IDENTITY = re.compile(rf"{PROLIFIC}|{TURK}")
_INSIDE = re.compile(rf"(?<![0-9A-Za-z])(?:{PROLIFIC}|{TURK})(?![0-9A-Za-z])")


def any_identity(ids: Iterable[str]) -> bool:
    """Whether one of some rater ids has the form of a Prolific id or of a worker id of Mechanical Turk.

    >>> any_identity(["ann", "5f3c2a1b9d8e7f6a5b4c3d2e"]), any_identity(["ann", "r1"])
    (True, False)
    """
    return any(is_identity(one) for one in ids)


def is_identity(one: str) -> bool:
    """Whether an id has that form.

    >>> [is_identity(one) for one in ("A2M45YGLOWMO4N", "ANNOTATOR12", "5f3c2a1b9d8e7f6a5b4c3d2e")]
    [True, False, True]
    """
    return _IDENTITY.fullmatch(one.strip()) is not None


def without_identities(text: str, mark: str) -> str:
    """A text with such ids replaced.

    >>> without_identities("I am A2M45YGLOWMO4N.", "[id]")
    'I am [id].'
    """
    return _INSIDE.sub(mark, text)
