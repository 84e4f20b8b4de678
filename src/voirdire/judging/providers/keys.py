"""Keys of providers: where they come from, where they may go, and how they are kept out of every text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from ipaddress import ip_address
from typing import AnyStr
from urllib.parse import urlsplit

from voirdire.errors import UsageError

STRUCK = "[key]"
SHORTEST = 8
"""Characters of a key that is worth hiding: a placeholder such as ``none`` or ``4`` is a part of ordinary replies."""

PLAIN_HTTP = "VOIRDIRE_PLAIN_HTTP"
"""Set to 1, it allows a key to travel over plain http to another machine."""

_LOOKS_LIKE_A_KEY = re.compile(
    r"(?:Bearer|Basic)\s+[^\s\"',;]{6,}"
    r"|AIza[\w\-]{16,}|AQ\.[\w\-]{16,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|key)[-_][\w\-*.]{6,}"
    r"|\b[0-9a-f]{32}\.[0-9A-Za-z]{12,}"
    r"|[\w\-]{0,12}\*{3,}[\w\-]{0,12}"
    r"|(?<=api[-_ ]key[=:])\s?[^\s\"',;&]{8,}|(?<=[?&]key=)[^\s\"'&]{8,}",
    re.IGNORECASE,
)

_MORE_THAN_A_PATH = re.compile(r"[\s?#\x00-\x1f\x7f]")
"""A query, a fragment, white space, or what ``urlsplit`` takes away without a word (line breaks, tabs)."""


class Secret:
    """A key. It shows itself to nobody who does not ask by name.

    >>> secret = Secret("sk-abc")
    >>> secret, str(secret), secret.reveal()
    (Secret([key]), '[key]', 'sk-abc')
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself, for a header."""
        return self._value

    @property
    def fingerprint(self) -> str:
        """8 hex digits that tell keys apart and lead back to none."""
        return sha256(self._value.encode()).hexdigest()[:8]

    def __reduce__(self) -> str:
        raise TypeError(type(self).__name__)

    def __repr__(self) -> str:
        return f"Secret({STRUCK})"

    def __str__(self) -> str:
        return STRUCK


def secret_of(provider: str, value: str) -> Secret:
    r"""A key as it stands in the environment, without the white space around it.

    Raises UsageError, which does not show it, where it cannot be sent in a header.

    >>> secret_of("openai", " sk-abc\n").reveal()
    'sk-abc'
    """
    bare = value.strip()
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise UsageError("providers.key_unusable", provider=provider)
    return Secret(bare)


def check_base(provider: str, base: str, key: Secret | None, environment: Mapping[str, str]) -> str:
    """A base URL without its trailing slash.

    Raises UsageError where it is not http or https, carries a name, a password, a query or a fragment, or would send
    a key in plain text to another machine (allowed by ``VOIRDIRE_PLAIN_HTTP=1``).

    >>> check_base("compatible", "http://localhost:8000/v1/", Secret("sk-abc"), {})
    'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(base.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError("providers.base_url", provider=provider, value=scrub(base)) from error
    if (
        parts.scheme not in ("http", "https")
        or not host
        or "@" in parts.netloc
        or _MORE_THAN_A_PATH.search(base.strip())
    ):
        raise UsageError("providers.base_url", provider=provider, value=scrub(base))
    plain_allowed = key is None or is_loopback(host) or environment.get(PLAIN_HTTP, "") == "1"
    if parts.scheme == "http" and not plain_allowed:
        raise UsageError("providers.plain_http", provider=provider, value=base.strip(), name=PLAIN_HTTP)
    return base.strip().rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.9", "::1", "10.0.0.1", "example.org")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def scrub(sentence: str, secrets: Iterable[Secret] = ()) -> str:
    """A sentence with these keys, and whatever else looks like a key, struck out.

    >>> scrub("Incorrect API key provided: sk-abc***xyz. Header: Bearer token-1234")
    'Incorrect API key provided: [key]. Header: [key]'
    """
    for secret in secrets:
        sentence = sentence.replace(secret.reveal(), STRUCK)
    return _LOOKS_LIKE_A_KEY.sub(_strike, _without_login(sentence))


def without_key(said: AnyStr, key: Secret | None) -> AnyStr:
    """A text, or the bytes of a body, with this key struck out.

    >>> without_key("Bad key: abc-123/XYZ", Secret("abc-123/XYZ")), without_key("4", Secret("4"))
    ('Bad key: [key]', '4')
    """
    if key is None or len(key.reveal()) < SHORTEST:
        return said
    if isinstance(said, bytes):
        return said.replace(key.reveal().encode(), STRUCK.encode())
    return said.replace(key.reveal(), STRUCK)


def _strike(found: re.Match[str]) -> str:
    return STRUCK + "." if found[0].endswith(".") else STRUCK


def _without_login(sentence: str) -> str:
    return re.sub(r"//[^/@\s]+@", f"//{STRUCK}@", sentence)
