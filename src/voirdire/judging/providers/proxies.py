"""The proxy that the environment names for an address, looked up once a lane.

aiohttp's own ``trust_env`` is not used: it asks two threads at every call, and lets a netrc file replace the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from voirdire.errors import UsageError
from voirdire.judging.providers.keys import is_loopback


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """What ``https_proxy``, ``http_proxy``, ``all_proxy`` and ``no_proxy`` (small letters first) say of an address.

    None for an address on this machine, whatever they say. The answer may hold a login and is never to be shown.
    Raises UsageError for a kind of proxy that cannot be used.

    >>> proxy_for("https://api.openai.com/v1", {"HTTPS_PROXY": "proxy.lab:8080"})
    'http://proxy.lab:8080'
    >>> proxy_for("https://api.lab/v1", {"HTTPS_PROXY": "proxy.lab:8080", "NO_PROXY": ".lab"}) is None
    True
    """
    target = urlsplit(url)
    host = target.hostname or ""
    if is_loopback(host) or _left_out(host, _named(environment, "no_proxy")):
        return None
    found = _named(environment, f"{target.scheme}_proxy") or _named(environment, "all_proxy")
    if not found:
        return None
    whole = found if "://" in found else f"http://{found}"
    parts = urlsplit(whole)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("providers.proxy", value=parts.scheme)
    return whole


def _left_out(host: str, names: str) -> bool:
    """Whether ``no_proxy`` names the host or a domain that it belongs to."""
    for name in (each.strip().lower().lstrip(".") for each in names.split(",")):
        if name == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False


def _named(environment: Mapping[str, str], name: str) -> str:
    return (environment.get(name) or environment.get(name.upper()) or "").strip()
