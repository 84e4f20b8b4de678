"""What stands between a corpus that is being built and a frozen one, and what may be allowed all the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voirdire.errors import UsageError
from voirdire.texts import text

CHECKS = (
    "concepts",
    "authoring",
    "images",
    "image_quality",
    "texts",
    "equivalence",
    "screening",
    "splits",
    "ratings",
    "team",
    "reliability",
    "divergence",
    "recognition",
)
"""Every check of a freeze, in the order in which they are made."""

NEVER = ("images",)
"""Checks that cannot be allowed to fail: without them there is nothing to freeze."""

MOST_REASON = 2000
LISTED = 12


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason why a corpus cannot be frozen.

    check : one of CHECKS; key : of the sentence; fields : what it names; words : fields that are keys themselves
    """

    check: str
    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def message(self, lang: str = "en") -> str:
        """The sentence in a language."""
        words = {name: text(key, lang) for name, key in self.words.items()}
        return text(self.key, lang, **{**self.fields, **words})


def check_allowed(allowed: Mapping[str, str]) -> dict[str, str]:
    """Check -> the reason why it may fail. Raises UsageError for an unknown check, and for a reason that is none.

    >>> check_allowed({"recognition": " placement was not asked in this round "})
    {'recognition': 'placement was not asked in this round'}
    """
    found = {}
    for check, reason in allowed.items():
        if check not in CHECKS:
            known = ", ".join(one for one in CHECKS if one not in NEVER)
            raise UsageError("freeze.allow.unknown", value=check, known=known)
        if check in NEVER:
            raise UsageError("freeze.allow.never", value=check)
        words = " ".join(reason.split())
        if not words or len(words) > MOST_REASON or not words.isprintable():
            raise UsageError("freeze.allow.reason", value=check, limit=MOST_REASON)
        found[check] = words
    return found


def open_failures(failures: Iterable[Failure], allowed: Mapping[str, str]) -> tuple[Failure, ...]:
    """The failures that are not allowed."""
    return tuple(one for one in failures if one.check not in allowed)


def used(failures: Iterable[Failure], allowed: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(check, reason) of the checks that failed and are allowed to, in the order of CHECKS."""
    failed = {one.check for one in failures}
    return tuple((check, allowed[check]) for check in CHECKS if check in failed and check in allowed)


def some(names: Sequence[str]) -> str:
    """The first of many names.

    >>> some(["a", "b"])
    'a, b'
    """
    return ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
