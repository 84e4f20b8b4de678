"""How long a provider asks to wait, in every form in which one says it.

Retry-After in seconds or as a date (RFC 9110, 10.2.3), ``retry-after-ms`` (read by OpenAI's own client),
``x-ratelimit-reset-requests`` and ``-tokens`` (``6m0s``; https://platform.openai.com/docs/guides/rate-limits),
``X-RateLimit-Reset`` as a moment (https://openrouter.ai/docs/api/reference/limits), ``anthropic-ratelimit-*-reset``
(https://platform.claude.com/docs/en/api/rate-limits), Google's RetryInfo
(https://cloud.google.com/apis/design/errors#error_details).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

LONGEST = 86_400.0
"""Seconds; a longer time is taken for this one."""

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s|d)")
_SAID = re.compile(r"try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s)\s?)+)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def waiting_time(headers: Mapping[str, str], document: Mapping[str, Any] | None = None, said: str = "") -> float | None:
    """Seconds to wait, from 0 to a day, or None where nothing is said.

    headers : of the response, in any case; document : the error object; said : its sentence
    The most definite form wins: milliseconds, Retry-After, RetryInfo, the reset of an exhausted limit, the sentence.

    >>> waiting_time({"Retry-After": "2"}), waiting_time({"retry-after-ms": "150"}), waiting_time({})
    (2.0, 0.15, None)
    >>> waiting_time({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"})
    360.0
    """
    small = {name.lower(): value for name, value in headers.items()}
    inner = _inner_headers(document)
    now = _now(small)
    for found in (
        _scaled(small.get("retry-after-ms"), 0.001),
        _retry_after(small.get("retry-after") or inner.get("retry-after"), now),
        _retry_info(document),
        _reset({**inner, **small}, now),
        _in_words(said),
    ):
        if found is not None and math.isfinite(found):
            return min(max(found, 0.0), LONGEST)
    return None


def duration(value: str) -> float | None:
    """``6m0s``, ``17ms``, ``1h2m3.5s`` or ``30`` in seconds; None for anything else.

    >>> duration("1m2.5s"), duration("17ms"), duration("30"), duration("soon")
    (62.5, 0.017, 30.0, None)
    """
    bare = value.strip()
    plain = _scaled(bare, 1.0)
    if plain is not None:
        return plain
    parts = _PART.findall(bare)
    if not parts or _PART.sub("", bare).strip():
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _scaled(value: str | None, factor: float) -> float | None:
    try:
        return float(value) * factor if value else None
    except ValueError:
        return None


def _now(headers: Mapping[str, str]) -> float:
    """The server's own time where it tells it, so that a wrong clock here does not matter."""
    moment = _date(headers.get("date", ""))
    return time.time() if moment is None else moment


def _date(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, IndexError, TypeError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _retry_after(value: str | None, now: float) -> float | None:
    if not value:
        return None
    seconds = _scaled(value, 1.0)
    if seconds is not None:
        return seconds
    moment = _date(value)
    return None if moment is None else moment - now


def _retry_info(document: Mapping[str, Any] | None) -> float | None:
    details = (document or {}).get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, Mapping) and isinstance(detail.get("retryDelay"), str):
            return duration(detail["retryDelay"])
    return None


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """The latest reset among the limits that have nothing left."""
    found = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        left = _scaled(headers.get(name.replace("reset", "remaining")), 1.0)
        seconds = _until(value, now)
        if seconds is not None and (left is None or left <= 0):
            found.append(seconds)
    return max(found, default=None)


def _until(value: str, now: float) -> float | None:
    """Seconds until a reset given as a duration, an epoch in seconds or milliseconds, or an ISO date."""
    seconds = duration(value)
    if seconds is None:
        try:
            moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    if seconds > 1e11:
        return seconds / 1000 - now
    return seconds - now if seconds > 1e8 else seconds


def _inner_headers(document: Mapping[str, Any] | None) -> dict[str, str]:
    """Headers of the upstream provider, which OpenRouter puts into ``error.metadata.headers``."""
    metadata = (document or {}).get("metadata")
    inner = metadata.get("headers") if isinstance(metadata, Mapping) else None
    return {str(name).lower(): str(value) for name, value in inner.items()} if isinstance(inner, Mapping) else {}


def _in_words(said: str) -> float | None:
    found = _SAID.search(said.lower())
    return duration(found[1]) if found else None
