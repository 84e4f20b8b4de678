"""From an error of a provider to a kind of failure, a sentence and a time to wait.

The codes are those of the providers' documents:
OpenAI https://platform.openai.com/docs/guides/error-codes (billing codes share status 429 with rate limits),
Anthropic https://platform.claude.com/docs/en/api/errors, Google https://ai.google.dev/gemini-api/docs/troubleshooting,
Z.AI https://docs.z.ai/api-reference/api-code, Moonshot https://platform.kimi.ai/docs/api/errors,
OpenRouter https://openrouter.ai/docs/api/reference/errors-and-debugging (errors inside status 200; a 402 with
Retry-After is worth waiting for), DashScope https://help.aliyun.com/en/model-studio/error-code (there
``insufficient_quota`` is a rate of tokens).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from voirdire.judging.nouns import CallFailed, FailureKind, Reply
from voirdire.judging.providers.keys import scrub
from voirdire.judging.providers.waiting import waiting_time
from voirdire.texts import text

LONGEST_SENTENCE = 400

Meaning = FailureKind | Literal["refusal"]

NAMES: Mapping[str, Meaning] = {
    # OpenAI
    "insufficient_quota": "quota",
    "credit_balance_exhausted": "quota",
    "organization_spend_limit_exceeded": "quota",
    "project_spend_limit_exceeded": "quota",
    "organization_usage_limit_exceeded": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "invalid_api_key": "auth",
    "model_not_found": "auth",
    "unsupported_country_region_territory": "auth",
    "rate_limit_exceeded": "rate_limit",
    "slow_down": "rate_limit",
    "server_is_overloaded": "overload",
    "content_policy_violation": "refusal",
    "content_filter": "refusal",
    "moderation_blocked": "refusal",
    # Anthropic
    "authentication_error": "auth",
    "permission_error": "auth",
    "not_found_error": "auth",
    "billing_error": "quota",
    "enforced_spend_limit_reached": "quota",
    "contract_spend_limit_reached": "quota",
    "linked_organization_spend_limit_reached": "quota",
    "linked_organization_billing_unavailable": "quota",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overload",
    "timeout_error": "timeout",
    "request_too_large": "request",
    # Google
    "api_key_invalid": "auth",
    "api_key_service_blocked": "auth",
    "permission_denied": "auth",
    "unauthenticated": "auth",
    "failed_precondition": "auth",
    "deadline_exceeded": "timeout",
    "unavailable": "overload",
    # Z.AI
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004", "1100", "1110", "1111", "1112", "1121"), "auth"),
    **dict.fromkeys(("1211", "1220", "1221", "1222"), "auth"),
    **dict.fromkeys(("1113", "1304", "1308", "1309", "1310"), "quota"),
    **dict.fromkeys(("1302", "1303"), "rate_limit"),
    "1305": "overload",
    **dict.fromkeys(("1120", "1230", "1234"), "server"),
    "1301": "refusal",
    # Moonshot
    "exceeded_current_quota_error": "quota",
    "engine_overloaded_error": "overload",
    "rate_limit_reached_error": "rate_limit",
    "invalid_authentication_error": "auth",
    "incorrect_api_key_error": "auth",
    "permission_denied_error": "auth",
    "resource_not_found_error": "auth",
    # DashScope
    "arrearage": "quota",
    "allocationquota.freetieronly": "quota",
    "invalidapikey": "auth",
    "modelnotfound": "auth",
    "model.accessdenied": "auth",
    "accessdenied.unpurchased": "auth",
    "throttling": "rate_limit",
    "throttling.ratequota": "rate_limit",
    "throttling.burstrate": "rate_limit",
    "throttling.allocationquota": "rate_limit",
    "datainspectionfailed": "refusal",
    "data_inspection_failed": "refusal",
    "requesttimeout": "timeout",
    "modelunavailable": "overload",
    "modelservingerror": "overload",
}
"""What a code or type of an error means, in small letters; it goes before the status."""

OVERRIDES: Mapping[str, Mapping[str, Meaning]] = {"dashscope": {"insufficient_quota": "rate_limit"}}
"""Where one provider means something else by a name."""

SENTENCES: tuple[tuple[re.Pattern[str], Meaning], ...] = (
    (re.compile(r"credit balance is too low|api usage limits|prepa(?:id|yment) credits|credits are depleted"), "quota"),
    (re.compile(r"api key not valid|api key expired|user location is not supported"), "auth"),
)
"""Sentences that say more than the code beside them (Anthropic: 400; Google: 400, 429)."""

STATUSES: Mapping[int, FailureKind] = {
    401: "auth", 402: "quota", 403: "auth", 404: "auth", 405: "auth", 408: "timeout", 409: "server", 410: "auth",
    425: "rate_limit", 429: "rate_limit", 434: "auth", 499: "server", 503: "overload", 504: "timeout", 524: "timeout",
    529: "overload",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a provider tells it: every name it gives it, its sentence, the rest of its document."""

    names: tuple[str, ...] = ()
    sentence: str = ""
    status: int | None = None
    document: Mapping[str, Any] | None = None


def meaning_of(status: int, headers: Mapping[str, str], problem: Problem, provider: str = "") -> CallFailed | Reply:
    """The failure of a problem, or a Reply with a refusal where a filter of the provider declined the request.

    >>> meaning_of(429, {"Retry-After": "2"}, Problem(("rate_limit_exceeded",), "Slow down"))
    CallFailed('rate_limit: Slow down')
    """
    status = problem.status or status
    small = {name.lower() for name in headers}
    seconds = waiting_time(headers, problem.document, problem.sentence)
    kind = _meaning(problem, provider) or _of_status(status)
    if status == 402 and "retry-after" in small:
        kind = "rate_limit"
    if _is_per_day(problem.document):
        kind = "quota"
    sentence = tidy(problem.sentence) or text("providers.status", status=status)
    if kind == "refusal":
        return Reply(refusal=sentence, finish="filter")
    return CallFailed(kind, sentence, status=status, retry_after=seconds)


def problem_of(body: bytes) -> Problem:
    """Whatever an error body says: JSON of any of the dialects, HTML, plain text or nothing.

    >>> problem_of(b'{"error": {"code": "1113", "message": "in arrears"}}').names
    ('1113',)
    >>> problem_of(b"<html><head><title>502 Bad Gateway</title></head></html>").sentence
    '502 Bad Gateway'
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return Problem(sentence=_of_page(body))
    if isinstance(document, list) and document:
        document = document[0]
    return problem_in(document) or Problem(sentence=tidy(str(document)) if document else "")


def problem_in(document: Any) -> Problem | None:
    """The error inside a document, or None where it holds none."""
    if not isinstance(document, Mapping):
        return None
    error = document.get("error")
    if isinstance(error, str) and error:
        return Problem(sentence=error, document=document)
    if isinstance(error, Mapping) and error:
        return Problem(tuple(_names(error)), _sentence(error), _status(error), error)
    top_level = document.get("object") == "error" or ("code" in document and "message" in document)
    if top_level and "choices" not in document:
        return Problem(tuple(_names(document)), _sentence(document), _status(document), document)
    detail = document.get("detail")
    if detail and "choices" not in document and "candidates" not in document and "content" not in document:
        return Problem(sentence=detail if isinstance(detail, str) else orjson.dumps(detail).decode())
    return None


def tidy(sentence: str) -> str:
    r"""A provider's sentence as it may be stored: one line, printable, without keys, not too long.

    >>> tidy("Bad\n key:\t sk-abcdefgh" + "x" * 10)
    'Bad key: [key]'
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in sentence[:4000]).split())
    line = scrub(line)
    return line if len(line) <= LONGEST_SENTENCE else line[: LONGEST_SENTENCE - 1] + "…"


def _meaning(problem: Problem, provider: str) -> Meaning | None:
    own = OVERRIDES.get(provider, {})
    for pattern, meaning in SENTENCES:
        if pattern.search(problem.sentence.lower()):
            return meaning
    found = [own.get(name) or NAMES.get(name) for name in (name.lower() for name in problem.names)]
    if _is_flagged(problem.document):
        return "refusal"
    strong = [meaning for meaning in found if meaning in ("quota", "refusal")]
    return next(iter(strong), None) or next((meaning for meaning in found if meaning), None)


def _of_status(status: int) -> FailureKind:
    if status in STATUSES:
        return STATUSES[status]
    if 300 <= status < 400:
        return "auth"
    return "request" if 400 <= status < 500 else "server"


def _names(error: Mapping[str, Any]) -> Iterator[str]:
    for field in ("code", "type", "status", "reason"):
        value = error.get(field)
        if isinstance(value, str | int) and value != "" and not isinstance(value, bool):
            yield str(value)
    details = error.get("details")
    for detail in details if isinstance(details, list) else [details]:
        if isinstance(detail, Mapping):
            yield from (str(detail[field]) for field in ("reason", "error_code") if detail.get(field))
    inner = error.get("innererror")
    if isinstance(inner, Mapping) and isinstance(inner.get("code"), str):
        yield inner["code"]


def _sentence(error: Mapping[str, Any]) -> str:
    message = error.get("message") or error.get("msg") or ""
    sentence = message if isinstance(message, str) else orjson.dumps(message).decode()
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f"{sentence}: {raw}" if isinstance(raw, str) and raw else sentence


def _status(error: Mapping[str, Any]) -> int | None:
    code = error.get("code")
    if isinstance(code, str) and len(code) == 3 and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _is_flagged(document: Mapping[str, Any] | None) -> bool:
    metadata = (document or {}).get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("flagged_input") or metadata.get("reasons"))


def _is_per_day(document: Mapping[str, Any] | None) -> bool:
    details = (document or {}).get("details")
    for detail in details if isinstance(details, list) else []:
        violations = detail.get("violations") if isinstance(detail, Mapping) else None
        for violation in violations if isinstance(violations, list) else []:
            if isinstance(violation, Mapping) and "PerDay" in str(violation.get("quotaId", "")):
                return True
    return False


def _of_page(body: bytes) -> str:
    page = body[:8000].decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>(.*?)</title>", page, re.IGNORECASE | re.DOTALL)
    return title[1] if title else re.sub(r"<[^>]*>", " ", page)[:LONGEST_SENTENCE]
