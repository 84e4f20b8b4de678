"""The tree of errors.

VoirdireError
├── InputError       a table or folder that cannot be read as meant: names file, row, column and value
├── UsageError       options or arguments that contradict each other or name what does not exist
│   ├── NotFoundError    an estimate that a profile does not have
│   ├── Refused          an answer, or a rater, that the annotation service does not take (annotation/refusals.py)
│   └── Forbidden        a web request that is not allowed (web/security.py)
├── SignatureError   a text that is not a signature
├── PolicyError      a policy file that cannot be applied
├── RunStopped       a run that stopped with cells pending; the same command goes on (judging/nouns.py)
└── Unavailable      a database that is away; the same request may be sent again (annotation/database.py)

An error carries a key of the catalogue of texts and the fields of its sentence, so that the same error is
shown in English and in Chinese. ``str(error)`` is the English sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Lines(str):
    """A field of several lines that voirdire put together itself; a line break in any other field is shown as such."""

    __slots__ = ()


class VoirdireError(Exception):
    """Base of every error that voirdire raises on purpose.

    Parameters
    ----------
    key : name of the sentence in the catalogue of texts, e.g. ``"errors.file_missing"``
    fields : the values that the sentence names (file, row, column, value, ...)
    """

    exit_code: ClassVar[int] = 3
    renderer: ClassVar[Callable[..., str] | None] = None

    def __init__(self, key: str, **fields: Any) -> None:
        super().__init__(key)
        self.key = key
        self.fields = fields

    def message(self, lang: str = "en") -> str:
        """The sentence in a language; the bare key and fields when no catalogue is loaded."""
        if VoirdireError.renderer is None:
            return f"{self.key} {self.fields}"
        return VoirdireError.renderer(self.key, lang, **self.fields)

    def __str__(self) -> str:
        return self.message()


class InputError(VoirdireError):
    """A file or table that cannot be read as meant."""


class UsageError(VoirdireError):
    """Options or arguments that contradict each other or name what does not exist."""


class NotFoundError(UsageError, KeyError):
    """An estimate that a profile does not have; also a KeyError."""


class SignatureError(VoirdireError):
    """A text that cannot be parsed as a signature."""


class PolicyError(VoirdireError):
    """A policy file that cannot be applied."""
