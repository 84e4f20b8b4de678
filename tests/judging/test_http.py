from __future__ import annotations

import asyncio
import gzip
import logging
import traceback
from base64 import b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.judging.wiring import KEY, MIXED, MODELS, Images, asked, base_of, call, judge_on, kit, on_mock
from tests.mock_provider import Behaviour, MockProvider

from voirdire.errors import UsageError
from voirdire.judging.nouns import CallFailed, JudgeSpec, Reply
from voirdire.judging.providers import http
from voirdire.judging.providers.make import make_judge, parse_spec
from voirdire.judging.providers.proxies import proxy_for

PROVIDERS = tuple(MODELS)
WIRES = ("openai", "anthropic", "google")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_asked_as_its_documents_say(provider: str) -> None:
    spec_key = {"key_env": "OPENAI_API_KEY"} if provider == "compatible" else {}

    async def main() -> Reply:
        async with MockProvider(Behaviour(validate=True, content="4", reasoning=True)) as mock:
            judge = judge_on(mock, provider, **spec_key)
            try:
                return await judge.ask(call(*MIXED))
            finally:
                await judge.close()

    reply = asyncio.run(main())
    assert (reply.text, reply.refusal, reply.finish) == ("4", None, "stop")
    assert reply.reasoning.startswith("The person asks")
    assert reply.served.startswith(MODELS[provider])
    assert reply.usage.input == 905
    assert reply.usage.output == 12
    assert reply.usage.cached == 128
    assert reply.cost == (0.00125 if provider == "openrouter" else None)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("only", "kind"),
    [("rate_limit", "rate_limit"), ("overload", "overload"), ("server", "server"), ("quota", "quota")],
)
def test_errors_of_every_provider(provider: str, only: str, kind: str) -> None:
    failure = asked(provider, Behaviour(only=only))
    assert isinstance(failure, CallFailed)
    assert failure.kind == kind
    assert failure.why
    if only == "rate_limit":
        assert failure.retry_after == 1.0


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize("style", ["seconds", "date", "ms", "reset"])
def test_waiting_is_read_in_every_form(provider: str, style: str) -> None:
    failure = asked(provider, Behaviour(only="rate_limit", retry_after=7, retry_style=style))
    assert failure.retry_after == pytest.approx(7, abs=1.5)


def test_waiting_in_googles_body() -> None:
    assert asked("google", Behaviour(only="rate_limit", retry_after=3.5, retry_style="body")).retry_after == 3.5
    assert asked("google", Behaviour(only="rate_limit", retry_style="none")).retry_after is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_refusals(provider: str) -> None:
    reply = asked(provider, Behaviour(only="refusal"))
    assert reply.refusal
    assert reply.text == ""


@pytest.mark.parametrize("provider", WIRES)
def test_an_empty_reply_is_a_reply(provider: str) -> None:
    reply = asked(provider, Behaviour(only="empty"))
    assert (reply.text, reply.refusal) == ("", None)


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize(
    ("only", "kinds"),
    [("drop", {"connection"}), ("garbage", {"server"}), ("html", {"server"}), ("truncated", {"server", "connection"})],
)
def test_broken_answers(provider: str, only: str, kinds: set[str]) -> None:
    failure = asked(provider, Behaviour(only=only))
    assert failure.kind in kinds
    assert failure.why


def test_every_cut_of_a_reply_is_a_failure() -> None:
    async def many(mock: MockProvider, judge: Any) -> list[str]:
        found = []
        for cell in range(60):
            with pytest.raises(CallFailed) as failure:
                await judge.ask(call("Rate.", cell=cell))
            assert not failure.value.free, "the reply was written, and is charged"
            found.append(failure.value.kind)
        return found

    assert set(on_mock("openai", Behaviour(only="truncated"), many)) == {"server", "connection"}


def test_html_is_told_by_its_title() -> None:
    assert asked("openai", Behaviour(only="html")).why == "502 Bad Gateway"


def test_a_server_that_hangs() -> None:
    failure = asked("openai", Behaviour(only="hang"), timeout=0.3)
    assert failure.kind == "timeout"


def test_nobody_listens() -> None:
    async def main() -> None:
        judge = make_judge(parse_spec("compatible/m", base_url="http://127.0.0.1:9/v1"), kit())
        try:
            await judge.ask(call())
        finally:
            await judge.close()

    with pytest.raises(CallFailed, match=r"^connection: No connection") as failure:
        asyncio.run(main())
    assert (failure.value.sent, failure.value.free) == (False, True), "nothing can be charged"


def test_what_was_sent_may_be_charged() -> None:
    assert [CallFailed(kind).free for kind in ("timeout", "connection", "server", "rate_limit")] == [
        *(False, False, True, True)
    ]
    assert [CallFailed("server", status=status).free for status in (200, 500)] == [False, True]

    def hangs_up(_: bytes) -> bytes:
        return b""

    async def ask(url: str) -> CallFailed:
        judge = make_judge(parse_spec("compatible/m", base_url=url), kit())
        with pytest.raises(CallFailed) as failure:
            await judge.ask(call())
        await judge.close()
        return failure.value

    failure = with_server(hangs_up, ask)
    assert (failure.kind, failure.sent, failure.free) == ("connection", True, False)


Handler = Callable[[bytes], bytes]


def with_server(handler: Handler, use: Callable[[str], Awaitable[Any]]) -> Any:
    """Run against a server that answers each request's head with these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(handler(head))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> Any:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            return await use(f"http://127.0.0.1:{port}")
        finally:
            server.close()
            await server.wait_closed()

    return asyncio.run(main())


def ask_at(url: str, timeout: float = 5.0, provider: str = "openai") -> Awaitable[Reply]:
    async def run() -> Reply:
        judge = make_judge(parse_spec(f"{provider}/gpt-4o", base_url=url), kit(timeout))
        try:
            return await judge.ask(call())
        finally:
            await judge.close()

    return run()


def answer(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: application/json", *lines, "Connection: close", "", ""])
    return head.encode() + body


GOOD = b'{"model":"m","choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}'


def test_a_body_without_a_length_is_read() -> None:
    assert with_server(lambda _: answer(GOOD), ask_at).text == "4"


def test_a_compressed_body_is_read() -> None:
    packed = gzip.compress(GOOD)
    lines = ("Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    assert with_server(lambda _: answer(packed, *lines), ask_at).text == "4"


@pytest.mark.parametrize("told", [True, False])
def test_a_large_body_is_not_read(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_REPLY", 1000)
    body = GOOD[:-1] + b" " * 5000 + b"}"
    lines = (f"Content-Length: {len(body)}",) if told else ()
    with pytest.raises(CallFailed, match=r"^server: The reply is larger"):
        with_server(lambda _: answer(body, *lines), ask_at)


def test_a_body_that_unpacks_to_much_is_not_read() -> None:
    packed = gzip.compress(b" " * (http.LARGEST_REPLY + 10))
    lines = ("Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    with pytest.raises(CallFailed, match=r"^server: The reply is larger"):
        with_server(lambda _: answer(packed, *lines), ask_at)


def test_what_is_not_http() -> None:
    with pytest.raises(CallFailed, match=r"^(server|connection)"):
        with_server(lambda _: b"SSH-2.0-OpenSSH\r\n\r\n", ask_at)


def test_redirects_are_not_followed_and_cookies_not_kept() -> None:
    heads: list[bytes] = []

    def handler(head: bytes) -> bytes:
        heads.append(head)
        return answer(b"", "Location: http://127.0.0.1:9/", "Set-Cookie: a=b", "Content-Length: 0", status="302 Found")

    async def twice(url: str) -> list[str]:
        judge = make_judge(parse_spec("openai/gpt-4o", base_url=url), kit())
        found = []
        for _ in range(2):
            with pytest.raises(CallFailed) as failure:
                await judge.ask(call())
            found.append(failure.value.kind)
        await judge.close()
        return found

    assert with_server(handler, twice) == ["auth", "auth"]
    assert not any(b"cookie" in head.lower() for head in heads)


def test_what_is_sent_beside_the_body() -> None:
    async def look(mock: MockProvider, judge: Any) -> dict[str, str]:
        await judge.ask(call(cell=12, attempt=3))
        return mock.state.kept[0][1]

    headers = on_mock("openai", Behaviour(keep_bodies=1), look)
    assert headers["x-client-request-id"] == "run-12-3"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("voirdire/")


def test_several_megabytes_are_sent_without_a_warning() -> None:
    async def main() -> int:
        async with MockProvider(Behaviour()) as mock:
            spec = parse_spec("openai/gpt-4o", base_url=f"{mock.url}/v1")
            judge = make_judge(spec, kit(images=Images(b"\x89PNG" + bytes(1_000_000))))
            await judge.ask(call(*MIXED))
            await judge.close()
            return mock.state.sizes

    assert asyncio.run(main()) > 2_600_000


def test_a_lane_shares_connections_and_closes_with_its_last_judge() -> None:
    async def main() -> None:
        async with MockProvider(Behaviour()) as mock:
            shared, url = kit(), f"{mock.url}/v1"
            one = make_judge(parse_spec("openai/gpt-4o", base_url=url), shared)
            two = make_judge(parse_spec("openai/gpt-4.1", base_url=url), shared)
            other = make_judge(parse_spec("zai/glm-4.6v", base_url=url), shared)
            assert one.lane == two.lane != other.lane
            for judge in (one, two, one):
                await judge.ask(call())
            assert mock.state.counts["connections"] == 1
            await one.close()
            await one.close()
            await two.ask(call())
            await two.close()
            assert mock.state.counts["connections"] == 1
            await other.ask(call())
            await other.close()

    asyncio.run(main())


def test_there_is_no_limit_of_its_own() -> None:
    async def many(mock: MockProvider, judge: Any) -> int:
        await asyncio.gather(*(judge.ask(call("Rate.", cell=cell)) for cell in range(150)))
        return mock.state.max_in_flight

    assert on_mock("openai", Behaviour(latency=0.5), many) == 150


def test_lane_and_settings_hold_no_key() -> None:
    judge = make_judge(parse_spec("openai/gpt-4o", parameters={"top_p": 0.5}), kit())
    shown = f"{judge!r} {judge.lane} {judge.settings!r} {judge.endpoint!r} {judge._session!r}"
    assert KEY not in shown
    assert judge.settings["model"] == "gpt-4o"
    assert judge.settings["base_url"] == "https://api.openai.com/v1"
    assert judge.settings["parameters"]["top_p"] == 0.5
    assert KEY not in repr(kit())


def test_a_server_that_echoes_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = f'{{"error": {{"message": "bad key {KEY}", "code": "invalid_api_key"}}}}'.encode()
    lines = (f"Content-Length: {len(said)}",)
    with pytest.raises(CallFailed) as failure:
        with_server(lambda _: answer(said, *lines, status="401 Unauthorized"), ask_at)
    assert failure.value.kind == "auth"
    assert failure.value.why == "bad key [key]"
    assert KEY not in "".join(traceback.format_exception(failure.value)) + caplog.text

    echo = GOOD.replace(b'"4"', f'"{KEY}"'.encode())
    assert with_server(lambda _: answer(echo), ask_at).text == "[key]"


def written_otherwise(key: str) -> str:
    """The same text in JSON, in escapes alone."""
    return "".join(f"\\u{ord(letter):04x}" for letter in key)


@pytest.mark.parametrize("status", ["400 Bad Request", "500 Internal Server Error", "200 OK"])
def test_a_server_that_echoes_the_key_in_escapes(status: str) -> None:
    said = f'{{"error": {{"message": "bad key {written_otherwise(KEY)}"}}}}'.encode()
    with pytest.raises(CallFailed) as failure:
        with_server(lambda _: answer(said, f"Content-Length: {len(said)}", status=status), ask_at)
    assert failure.value.why == "bad key [key]"
    assert KEY not in "".join(traceback.format_exception(failure.value))

    reply = with_server(lambda _: answer(GOOD.replace(b'"4"', f'"{written_otherwise(KEY)}"'.encode())), ask_at)
    assert reply.text == "[key]"


def test_no_exception_in_the_chain_holds_the_headers() -> None:
    with pytest.raises(CallFailed) as failure:
        with_server(lambda _: b"HTTP/9.9 200 no\r\n\r\n", ask_at)
    error: BaseException | None = failure.value
    shown = ""
    while error is not None:
        shown += f"{error!r} {error.args!r} {vars(error)!r}"
        error = error.__cause__ or error.__context__
    assert failure.value.kind == "server"
    assert KEY not in shown


def test_a_placeholder_for_a_key_changes_no_reply() -> None:
    async def ask(base: str) -> Reply:
        judge = make_judge(parse_spec("compatible/my-model", base_url=base), kit(VOIRDIRE_API_KEY="4"))
        try:
            return await judge.ask(call())
        finally:
            await judge.close()

    assert with_server(lambda _: answer(GOOD), ask).text == "4"


def test_parameters_are_fitted_to_the_model() -> None:
    judge = make_judge(parse_spec("anthropic/claude-opus-4-7", parameters={"temperature": 0}), kit())
    assert "temperature" not in judge.settings["parameters"]
    assert [note.key for note in judge.endpoint.notes] == ["spending.note_dropped"]


def test_the_mock_refuses_what_the_provider_would() -> None:
    """The check behind test_every_provider_is_asked_as_its_documents_say can fail."""

    async def main() -> str:
        async with MockProvider(Behaviour(validate=True)) as mock, aiohttp.ClientSession() as session:
            body = {"model": "claude-opus-4-7", "max_tokens": 9, "temperature": 0,
                    "messages": [{"role": "user", "content": "x"}]}  # fmt: skip
            headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
            async with session.post(f"{mock.url}/v1/messages", json=body, headers=headers) as response:
                assert response.status == 400
                return str((await response.json())["error"]["message"])

    assert "temperature" in asyncio.run(main())


def test_keys_of_other_servers() -> None:
    """The key of OpenAI does not go to a server that merely speaks its format."""
    judge = make_judge(parse_spec("compatible/m", base_url="http://10.0.0.5:8000/v1"), kit())
    assert judge.endpoint.key is None
    named = make_judge(parse_spec("compatible/m", base_url="https://h/v1", key_env="OPENAI_API_KEY"), kit())
    assert named.endpoint.key is not None
    own = make_judge(parse_spec("compatible/m"), kit(VOIRDIRE_BASE_URL="https://h/v1", VOIRDIRE_API_KEY="abc-def"))
    assert own.endpoint.key is not None
    with pytest.raises(UsageError, match="MY_KEY"):
        make_judge(parse_spec("compatible/m", base_url="https://h/v1", key_env="MY_KEY"), kit())


def test_base_urls_come_from_the_environment() -> None:
    judge = make_judge(parse_spec("anthropic/claude-x"), kit(ANTHROPIC_BASE_URL="https://proxy.example/anthropic/"))
    assert judge.endpoint.url == "https://proxy.example/anthropic/v1/messages"


def test_what_a_judge_cannot_be_made_of() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        make_judge(parse_spec("openai/gpt-4o"), kit(OPENAI_API_KEY=" "))
    with pytest.raises(UsageError, match="plain text"):
        make_judge(parse_spec("openai/gpt-4o", base_url="http://192.168.1.9/v1"), kit())
    allowed = kit(VOIRDIRE_PLAIN_HTTP="1")
    assert make_judge(parse_spec("openai/gpt-4o", base_url="http://192.168.1.9/v1"), allowed).lane
    with pytest.raises(UsageError, match="provider/model"):
        make_judge(JudgeSpec("x", "openai", ""), kit())
    with pytest.raises(UsageError):
        make_judge(parse_spec("compatible/m"), kit())


def test_a_proxy_of_the_environment_is_used_with_its_login() -> None:
    heads: list[bytes] = []

    def handler(head: bytes) -> bytes:
        heads.append(head)
        return answer(GOOD, f"Content-Length: {len(GOOD)}")

    async def ask(url: str) -> str:
        proxy = url.replace("http://", "http://me:p%40ss@")
        run = kit(http_proxy=proxy, VOIRDIRE_PLAIN_HTTP="1")
        judge = make_judge(parse_spec("openai/gpt-4o", base_url="http://models.example/v1"), run)
        assert "p%40ss" not in f"{judge._session!r} {judge.settings!r} {run!r}"
        try:
            return str((await judge.ask(call())).text)
        finally:
            await judge.close()

    assert with_server(handler, ask) == "4"
    assert heads[0].startswith(b"POST http://models.example/v1/chat/completions")
    assert f"Authorization: Bearer {KEY}".encode() in heads[0]
    assert b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss") in heads[0]


def test_a_proxy_of_an_encrypted_address_does_not_see_the_key() -> None:
    heads: list[bytes] = []

    def handler(head: bytes) -> bytes:
        heads.append(head)
        return answer(b"", "Content-Length: 0", status="403 Forbidden")

    async def ask(url: str) -> CallFailed:
        judge = make_judge(parse_spec("anthropic/claude-opus-4-7"), kit(HTTPS_PROXY=url.replace("//", "//me:pw@")))
        with pytest.raises(CallFailed) as failure:
            await judge.ask(call())
        await judge.close()
        return failure.value

    failure = with_server(handler, ask)
    assert heads[0].startswith(b"CONNECT api.anthropic.com:443")
    assert KEY.encode() not in heads[0]
    assert failure.kind == "connection"
    assert "pw@" not in failure.why


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("https://h/v1", {}, None),
        ("https://h/v1", {"HTTP_PROXY": "http://p"}, None),
        ("https://h/v1", {"ALL_PROXY": "p:8080"}, "http://p:8080"),
        ("https://h/v1", {"https_proxy": "http://a", "HTTPS_PROXY": "http://b"}, "http://a"),
        ("https://h/v1", {"HTTPS_PROXY": "http://p", "NO_PROXY": "h"}, None),
        ("https://h/v1", {"HTTPS_PROXY": "http://p", "no_proxy": "*"}, None),
        ("http://localhost:8000/v1", {"HTTP_PROXY": "http://p"}, None),
    ],
)
def test_proxies(url: str, environment: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(url, environment) == proxy


def test_other_kinds_of_proxy_are_refused() -> None:
    with pytest.raises(UsageError, match="socks5") as failure:
        proxy_for("https://h/v1", {"ALL_PROXY": "socks5://me:pw@p:1080"})
    assert "pw@" not in str(failure.value)


def test_netrc_does_not_replace_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("default login me password pw\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert isinstance(asked("openai", Behaviour(validate=True)), Reply)


@pytest.mark.parametrize("provider", WIRES)
def test_base_urls_of_the_wires(provider: str) -> None:
    judge = make_judge(parse_spec(f"{provider}/{MODELS[provider]}", base_url=base_of(provider, "https://h")), kit())
    assert judge.endpoint.url.startswith("https://h/")
