"""Pseudonyms of raters: keyed by a secret that nobody keeps, so that nobody can go back.

Source of the construction: a keyed hash as a pseudonymisation function (ENISA, Pseudonymisation techniques and best
practices, 2019, section 5.1.4); with a random key that is thrown away, the table of ids cannot be made again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

SECRET_BYTES = 32
SHORTEST = 10
MARK = "r-"


def pseudonyms(ids: Iterable[str], secret: bytes) -> dict[str, str]:
    """Each id and its pseudonym: HMAC-SHA256 of the id under the secret, its first ten hexadecimal digits.

    The pseudonym depends on the id and the secret alone: not on the order of the ids, on how many there are, or on
    the pool. Where two of them would be equal, all are made longer.

    secret : 32 bytes that cannot be guessed (``secrets.token_bytes``); a generator with a seed is none

    >>> made = pseudonyms(["ann", "bob"], bytes(SECRET_BYTES))
    >>> made == pseudonyms(["bob", "ann"], bytes(SECRET_BYTES)), made["ann"]
    (True, 'r-78352bae17')
    """
    if len(secret) < SECRET_BYTES:
        raise ValueError(f"secret needs {SECRET_BYTES} bytes")  # noqa: TRY003
    distinct = sorted(set(ids))
    digests = [hmac.new(secret, name.encode(), hashlib.sha256).hexdigest() for name in distinct]
    length = SHORTEST
    while len({digest[:length] for digest in digests}) < len(digests):
        length += 2
    return {name: MARK + digest[:length] for name, digest in zip(distinct, digests, strict=True)}
