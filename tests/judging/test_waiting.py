from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.judging.nouns import CallFailed
from voirdire.judging.providers.failures import meaning_of, problem_of, tidy
from voirdire.judging.providers.waiting import LONGEST, duration, waiting_time


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "0"}, 0.0),
        ({"RETRY-AFTER": "1.5"}, 1.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "1000000000"}, LONGEST),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"retry-after-ms": "150", "Retry-After": "1"}, 0.15),
        ({"x-ratelimit-reset-requests": "12ms"}, 0.012),
        ({"x-ratelimit-reset-requests": "1m2.5s", "x-ratelimit-remaining-requests": "0"}, 62.5),
        ({"x-ratelimit-reset-requests": "1m", "x-ratelimit-remaining-requests": "7",
          "x-ratelimit-reset-tokens": "6s", "x-ratelimit-remaining-tokens": "0"}, 6.0),
        ({"x-ratelimit-reset-requests": "1m", "x-ratelimit-remaining-requests": "7"}, None),
        ({"x-ratelimit-reset": "garbage"}, None),
    ],
)  # fmt: skip
def test_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert waiting_time(headers) == seconds


def test_dates_count_from_the_servers_own_clock() -> None:
    wrong = time.time() + 86_400 * 30
    headers = {"Retry-After": formatdate(wrong + 20, usegmt=True), "Date": formatdate(wrong, usegmt=True)}
    assert waiting_time(headers) == 20.0
    assert waiting_time({"Retry-After": formatdate(time.time() + 20, usegmt=True)}) == pytest.approx(20, abs=1.5)
    assert waiting_time({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_moments_of_a_reset() -> None:
    now = time.time()
    headers = {"Date": formatdate(now, usegmt=True)}
    start = int(now)
    iso = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start + 30))
    left = {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": iso}
    assert waiting_time({**headers, **left}) == 30.0
    assert waiting_time({**headers, "X-RateLimit-Reset": str((start + 12) * 1000)}) == 12.0
    assert waiting_time({**headers, "X-RateLimit-Reset": str(start + 12)}) == 12.0
    inner = {"metadata": {"headers": {"X-RateLimit-Reset": str((start + 9) * 1000), "X-RateLimit-Remaining": "0"}}}
    assert waiting_time(headers, inner) == 9.0


def test_the_sentence_counts_last() -> None:
    said = "Rate limit reached on tokens per min. Please try again in 1m12.5s. Visit the page."
    assert waiting_time({}, None, said) == 72.5
    assert waiting_time({"Retry-After": "2"}, None, said) == 2.0


@given(st.dictionaries(st.sampled_from(["Retry-After", "retry-after-ms", "x-ratelimit-reset-tokens", "Date",
                                        "anthropic-ratelimit-requests-reset"]), st.text(max_size=30)))  # fmt: skip
def test_no_header_breaks_it(headers: dict[str, str]) -> None:
    found = waiting_time(headers)
    assert found is None or 0 <= found <= LONGEST


@pytest.mark.parametrize("value", ["", "s", "5x", "1m 5x", "ms5"])
def test_what_is_no_duration(value: str) -> None:
    assert duration(value) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [(301, "auth"), (308, "auth"), (400, "request"), (401, "auth"), (402, "quota"), (403, "auth"), (404, "auth"),
     (405, "auth"), (408, "timeout"), (409, "server"), (413, "request"), (418, "request"), (422, "request"),
     (425, "rate_limit"), (429, "rate_limit"), (434, "auth"), (500, "server"), (502, "server"), (503, "overload"),
     (504, "timeout"), (520, "server"), (524, "timeout"), (529, "overload"), (600, "server")],
)  # fmt: skip
def test_a_bare_status(status: int, kind: str) -> None:
    failure = meaning_of(status, {}, problem_of(b""))
    assert isinstance(failure, CallFailed)
    assert (failure.kind, failure.status) == (kind, status)
    assert str(status) in failure.why


def test_a_402_with_retry_after_is_worth_waiting_for() -> None:
    problem = problem_of(b'{"error": {"code": 402, "message": "in flight"}}')
    failure = meaning_of(402, {"Retry-After": "3"}, problem)
    assert isinstance(failure, CallFailed)
    assert (failure.kind, failure.retry_after) == ("rate_limit", 3.0)


def test_sentences_are_one_short_line() -> None:
    assert tidy("a\x00\n\tb\u202e c") == "a b c"
    assert len(tidy("x y " * 1000)) <= 400


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", ""),
        (b"upstream connect error", "upstream connect error"),
        (b"<html><body><h1>403</h1> Forbidden</body></html>", "403 Forbidden"),
        (b'[{"error": {"message": "in a list"}}]', "in a list"),
        (b'{"error": {"message": "Provider returned error", "metadata": {"raw": "upstream said"}}}',
         "Provider returned error: upstream said"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"message": {"a": 1}, "code": "x"}', '{"a":1}'),
    ],
)  # fmt: skip
def test_sentences_of_error_bodies(body: bytes, sentence: str) -> None:
    assert tidy(problem_of(body).sentence) == sentence
