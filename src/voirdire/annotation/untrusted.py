"""Texts from outside: which of them can be kept, and how much of them an error repeats."""

from __future__ import annotations

import re

ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST_TEXT = 5000
LONGEST_TOLD = 80
LONGEST_ID = 1000
LARGEST_NUMBER = 2**31 - 1


def is_text(text: str, longest: int = LONGEST_TEXT) -> bool:
    """Whether a text can be kept: not too long, and without characters that databases refuse.

    >>> is_text("a line"), is_text(chr(0))
    (True, False)
    """
    return len(text) <= longest and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def is_id(text: str) -> bool:
    """Whether a text has the form of a random id."""
    return ID.fullmatch(text) is not None


def is_number(number: int) -> bool:
    """Whether a number can be that of a row."""
    return 0 < number <= LARGEST_NUMBER


def short(text: str) -> str:
    """As much of a text as an error repeats.

    >>> len(short("a" * 100))
    81
    """
    return text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]}…"
