"""What the store refuses to raters, each with the status of a response to it."""

from __future__ import annotations

from typing import ClassVar

from voirdire.errors import UsageError


class Refused(UsageError):  # noqa: N818 - what happened, as Unavailable
    """Something that a rater wants and does not get; ``reason`` is for programs."""

    reason: ClassVar[str]
    status: ClassVar[int] = 409


class NotYours(Refused):
    """An assignment of another rater, or none at all."""

    reason = "not_yours"
    status = 404


class Closed(Refused):
    """The batch is closed, or the link is revoked."""

    reason = "closed"


class Full(Refused):
    """As many raters as an invitation is for have joined by it."""

    reason = "full"


class BadValue(Refused):
    """A value that the question does not have, or a part of the answer that cannot be."""

    reason = "bad_value"
    status = 400


class KeyReused(Refused):
    """The key of an answer was used for another answer."""

    reason = "key_reused"


class Deleted(Refused):
    """The rater's data were deleted, or there is no such rater."""

    reason = "deleted"
    status = 410
