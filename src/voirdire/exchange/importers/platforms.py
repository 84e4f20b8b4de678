"""Identities of people on recruiting platforms, by their form."""

from __future__ import annotations

import re
from collections.abc import Iterable

PROLIFIC = r"[0-9a-f]{24}"
TURK = r"A[0-9A-Z]{10,14}"
_IDENTITY = re.compile(rf"{PROLIFIC}|{TURK}")


def any_identity(ids: Iterable[str]) -> bool:
    """Whether one of some rater ids has the form of a Prolific id or of a worker id of Mechanical Turk.

    >>> any_identity(["ann", "5f3c2a1b9d8e7f6a5b4c3d2e"]), any_identity(["ann", "r1"])
    (True, False)
    """
    return any(_IDENTITY.fullmatch(one.strip()) for one in ids)
