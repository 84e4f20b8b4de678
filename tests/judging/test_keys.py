from __future__ import annotations

import pickle
import traceback

import pytest

from voirdire.errors import UsageError
from voirdire.judging.providers.keys import Secret, check_base, is_loopback, scrub, secret_of


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-AbC_123-xyz7890",
        "sk-ant-api03-AAAA-BBBB_CCCC",
        "sk-or-v1-0123456789abcdef0123456789abcdef",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "0123456789abcdef0123456789abcdef.AbCdEfGhIjKlMnOp",
        "Bearer abcdef0123456789",
        "sk-abc***************wxyz",
        "AbCd********************WxYz",
        "gsk_AbCdEf0123456789",
        "hf_AbCdEf0123456789",
    ],
)
def test_what_looks_like_a_key_is_struck_out(key: str) -> None:
    for sentence in (f"Incorrect API key provided: {key}", f'{{"key": "{key}"}}', f"({key})", f"{key} is wrong"):
        found = scrub(sentence)
        assert key.removeprefix("Bearer ") not in found
        assert "[key]" in found


def test_a_known_key_is_struck_out_whatever_it_looks_like() -> None:
    assert scrub("my password1 here", [Secret("password1")]) == "my [key] here"


@pytest.mark.parametrize(
    "sentence",
    ["The model gpt-4o does not exist.", "Rate limit reached for kimi-k2.5 in organization org-x.", "4 ** 2", "",
     "claude-sonnet-4-5-20250929", "risk-free", "models/gemini-2.5-flash is not found"],
)  # fmt: skip
def test_ordinary_sentences_stay(sentence: str) -> None:
    assert scrub(sentence) == sentence


def test_a_query_key_is_struck_out() -> None:
    assert scrub("GET https://h/x?key=abcdefghijkl&a=1") == "GET https://h/x?key=[key]&a=1"
    assert scrub("api_key=abcdefghijkl") == "api_key=[key]"


def test_a_secret_does_not_show() -> None:
    secret = Secret("sk-very-secret-1")
    assert "very" not in f"{secret} {secret!r} {[secret]} {secret.fingerprint}"
    assert len(secret.fingerprint) == 8
    assert secret.fingerprint != Secret("sk-very-secret-2").fingerprint


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret("sk-very-secret-1"))


@pytest.mark.parametrize("value", ["sk-a b", "sk-a\nHost: evil", "sk-ключ", "", "  ", "sk-\x00"])
def test_keys_that_no_header_carries(value: str) -> None:
    with pytest.raises(UsageError) as failure:
        secret_of("openai", value)
    shown = "".join(traceback.format_exception(failure.value))
    assert "openai" in shown
    assert not value.strip() or value.strip() not in shown


@pytest.mark.parametrize(
    "base",
    ["", "localhost:8000/v1", "ftp://h/v1", "file:///etc/passwd", "https://", "https://h/v1?key=x", "https://h/#x",
     "https://user:pw@h/v1", "http://[::1", "https://h:port/", "https://:pw@h/v1", "https://@h/v1",
     "https://h/v1\nX: y", "https://h\t.evil/v1", "https://h/v1 x", "https://h/v1?", "https://h/v1#"],
)  # fmt: skip
def test_what_is_no_base_url(base: str) -> None:
    with pytest.raises(UsageError) as failure:
        check_base("openai", base, None, {})
    assert "pw@" not in str(failure.value)


def test_plain_http() -> None:
    key = Secret("sk-abcdef")
    for base in ("http://localhost:1/v1", "http://127.0.0.1/v1", "http://[::1]:8000/v1"):
        assert check_base("compatible", base, key, {}) == base
    assert check_base("compatible", "http://10.0.0.1/v1", None, {}) == "http://10.0.0.1/v1"
    with pytest.raises(UsageError, match="VOIRDIRE_PLAIN_HTTP"):
        check_base("compatible", "http://10.0.0.1/v1", key, {})
    with pytest.raises(UsageError):
        check_base("compatible", "http://localhost.evil.example/v1", key, {})
    assert check_base("compatible", "http://10.0.0.1/v1/", key, {"VOIRDIRE_PLAIN_HTTP": "1"}) == "http://10.0.0.1/v1"


def test_loopback() -> None:
    assert is_loopback("LocalHost")
    assert not is_loopback("0.0.0.0")
