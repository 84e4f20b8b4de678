"""Judges behind an HTTP API: one connection pool a lane, bodies as bytes, every trouble a CallFailed.

A lane is a provider, an address and a key: judges that share them share connections and rate limits. Sessions open
in the running loop at the first call. A session has no limit of its own (the runner decides how many calls are in
flight), keeps no cookies, follows no redirects, and uses a proxy only where the environment names one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import aiohttp
from yarl import URL

from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.judging.nouns import Call, CallFailed, JudgeSpec, Reply
from voirdire.judging.providers.body import Pieces
from voirdire.judging.providers.capability import Capability
from voirdire.judging.providers.catalog import capability, own_models, provider_entry
from voirdire.judging.providers.failures import tidy
from voirdire.judging.providers.keys import Secret, check_base, scrub, secret_of, without_key
from voirdire.judging.providers.proxies import proxy_for
from voirdire.judging.providers.wire import Settings, Wire, wire_of
from voirdire.texts import text
from voirdire.version import VERSION

if TYPE_CHECKING:
    from voirdire.judging.images import ImageStore
    from voirdire.judging.providers.kit import Kit

REQUEST_ID = "X-Client-Request-Id"
LARGEST_REPLY = 8 * 1024 * 1024
CONNECT_SECONDS = 20.0
COMMON: Mapping[str, str] = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"voirdire/{VERSION}",
}
"""Headers of every call but the key. A session's own headers also go to a proxy, so the key is not among them."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Everything about a judge behind an API that does not change from call to call.

    base : without a slash at its end; settings : model, parameters and the fixed bytes of a body
    notes : what the capability table changed in the user's parameters
    """

    spec: JudgeSpec
    wire: Wire
    base: str
    key: Secret | None
    settings: Settings
    capability: Capability
    notes: tuple[Note, ...] = ()

    @property
    def lane(self) -> str:
        """Provider, address and the key's fingerprint."""
        mark = self.key.fingerprint if self.key else "-"
        return f"{self.spec.provider} {self.base} {mark}"

    @property
    def url(self) -> str:
        """Where calls are sent."""
        return self.wire.url(self.base, self.spec.model)

    def headers(self) -> dict[str, str]:
        """Headers of every call, the key among them: never to be shown."""
        return {**COMMON, **self.wire.headers(self.key)}

    def logged(self) -> dict[str, Any]:
        """What may be written down about the judge."""
        known = self.capability
        return {
            "provider": self.spec.provider,
            "model": self.spec.model,
            "wire": self.wire.name,
            "base_url": self.base,
            "parameters": dict(self.settings.parameters),
            "known": known.known,
            "images": known.images,
            "developer": known.developer,
            "origin": known.origin,
            "capability_as_of": known.as_of,
        }


def endpoint(spec: JudgeSpec, environment: Mapping[str, str]) -> Endpoint:
    """Look up address, key, wire format and capability of a judge.

    Raises UsageError for what is missing or cannot be used.
    """
    base, key = reach(spec, environment)
    known = capability(spec.provider, spec.model, own_models(environment))
    parameters, notes = known.settle(spec.parameters)
    wire = wire_of(provider_entry(spec.provider).wire, spec.provider)
    return Endpoint(spec, wire, base, key, wire.prepare(spec.model, parameters), known, notes)


def reach(spec: JudgeSpec, environment: Mapping[str, str]) -> tuple[str, Secret | None]:
    """The base URL of a spec and the key that may be sent there, None where none is needed. Raises UsageError."""
    entry = provider_entry(spec.provider)
    if not spec.model:
        raise UsageError("providers.shape", value=spec.provider)
    found = entry.key(environment, spec.key_env)
    key = secret_of(spec.provider, found) if found else None
    return check_base(spec.provider, entry.url(environment, spec.base_url), key, environment), key


def make(spec: JudgeSpec, kit: Kit) -> HttpJudge:
    """The judge of a spec whose provider is reached over HTTP."""
    end = endpoint(spec, kit.environment)
    sessions: dict[str, LaneSession] = kit.shared.setdefault(__name__, {})
    session = sessions.get(end.lane)
    if session is None:
        proxy = proxy_for(end.url, kit.environment)
        session = sessions[end.lane] = LaneSession(kit.timeout, proxy)
    return HttpJudge(end, kit.images, session)


class LaneSession:
    """The connections of one lane, opened at the first call and closed when its last judge is."""

    def __init__(self, timeout: float, proxy: str | None = None) -> None:
        self._timeout = timeout
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None
        self.users = 0

    def open(self) -> aiohttp.ClientSession:
        """The session in the running loop."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                headers=COMMON,
                timeout=aiohttp.ClientTimeout(
                    total=self._timeout, sock_connect=min(CONNECT_SECONDS, self._timeout), ceil_threshold=60
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self._proxy,
            )
        return self._session

    async def release(self) -> None:
        """One judge less; the last one closes the connections."""
        self.users -= 1
        if self.users <= 0 and self._session is not None:
            session, self._session = self._session, None
            await session.close()
            await asyncio.sleep(0)

    def __repr__(self) -> str:
        return f"LaneSession(users={self.users})"


class Sender:
    """Sends bodies to one address with one key, over the connections of a lane.

    largest : bytes of a reply that are read at most; None = LARGEST_REPLY
    """

    def __init__(self, end: Endpoint, session: LaneSession, *, largest: int | None = None) -> None:
        self._key = end.key
        self._url = URL(end.url, encoded=True)
        self._headers = end.wire.headers(end.key)
        self._session = session
        self._largest = largest
        self._closed = False
        session.users += 1

    async def post(self, call_id: str, body: Pieces) -> tuple[int, Mapping[str, str], bytes] | CallFailed:
        """Status, headers and body, or the failure, which is raised by the caller and so carries no cause.

        The exceptions of aiohttp hold the headers of the request, the key among them.
        """
        largest = LARGEST_REPLY if self._largest is None else self._largest
        try:
            async with self._session.open().post(
                self._url, data=body, headers={**self._headers, REQUEST_ID: call_id}, allow_redirects=False
            ) as response:
                return response.status, response.headers, await _read(response, largest)
        except aiohttp.ConnectionTimeoutError:
            return CallFailed("timeout", text("providers.timeout"), sent=False)
        except TimeoutError:
            return CallFailed("timeout", text("providers.timeout"))
        except (aiohttp.ClientHttpProxyError, aiohttp.ClientConnectorError) as error:
            return CallFailed("connection", self._said("providers.connection", error), sent=False)
        except aiohttp.ClientResponseError as error:
            return CallFailed("server", self._said("providers.not_http", error))
        except (aiohttp.ClientError, OSError) as error:
            return CallFailed("connection", self._said("providers.connection", error))

    async def close(self) -> None:
        """Give back the lane's connections. May be called again."""
        if not self._closed:
            self._closed = True
            await self._session.release()

    def _said(self, key: str, error: Exception) -> str:
        secrets = [self._key] if self._key else []
        return text(key, why=tidy(scrub(str(error) or type(error).__name__, secrets)))


class HttpJudge:
    """A model behind an HTTP API."""

    def __init__(self, end: Endpoint, images: ImageStore, session: LaneSession) -> None:
        self.name = end.spec.name
        self.lane = end.lane
        self.settings: Mapping[str, Any] = end.logged()
        self.endpoint = end
        self._wire = end.wire
        self._sent = end.settings
        self._encode = images.encoded
        self._session = session
        self._sender = Sender(end, session)

    async def ask(self, call: Call) -> Reply:
        """Ask once. Raises CallFailed, and InputError for an image that is no longer what it was."""
        found = await self._sender.post(call.id, Pieces(self._wire.pieces(call, self._sent, self._encode)))
        if isinstance(found, CallFailed):
            raise found
        return read_as(self._wire, found, self.endpoint.key)

    def body(self, call: Call) -> bytes:
        """The body of the request for a call, as it travels in a batch."""
        return self._wire.body(call, self._sent, self._encode)

    async def close(self) -> None:
        """Give back the lane's connections. May be called again."""
        await self._sender.close()

    def __repr__(self) -> str:
        return f"HttpJudge({self.name!r})"


def read_as(wire: Wire, response: tuple[int, Mapping[str, str], bytes], key: Secret | None) -> Reply:
    """The reply in a response, without the key wherever it stood. Raises CallFailed, which does not hold it either."""
    status, headers, raw = response
    try:
        return _without_key(wire.read(status, headers, without_key(raw, key)), key)
    except CallFailed as failure:
        failed = failure
    why = without_key(failed.why, key)
    raise CallFailed(failed.kind, why, status=failed.status, retry_after=failed.retry_after)


def _without_key(reply: Reply, key: Secret | None) -> Reply:
    """A reply whose texts do not hold the key, in whatever way the JSON wrote it."""
    said = (reply.text, reply.reasoning, reply.served, reply.served_by, reply.refusal or "")
    clean = tuple(without_key(part, key) for part in said)
    if clean == said:
        return reply
    shown, reasoning, served, served_by, refusal = clean
    declined = None if reply.refusal is None else refusal
    return replace(reply, text=shown, reasoning=reasoning, served=served, served_by=served_by, refusal=declined)


async def _read(response: aiohttp.ClientResponse, largest: int) -> bytes:
    """The body of a response. Raises CallFailed where it is larger than ``largest``."""
    length = response.content_length
    if length is not None and length <= largest and "Content-Encoding" not in response.headers:
        return await response.read()
    pieces, size = [], 0
    if length is None or length <= largest:
        async for piece in response.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > largest:
                break
        else:
            return b"".join(pieces)
    response.close()
    why = text("providers.too_large", limit=largest // 2**20)
    raise CallFailed("server", why, status=response.status)
