"""The annotation service against its own OpenAPI description, with requests that schemathesis derives from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from schemathesis import GenerationMode, checks  # noqa: E402
from tests.web.attack_world import House, Person, corpus_folder  # noqa: E402

EXAMPLES = 30
WANTED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
CHECKS = [getattr(checks, name, None) or checks.CHECKS.get_one(name) for name in WANTED]
HOST = "127.0.0.1:8765"


class People:
    """Who asks: a rater, the lead, or nobody. What they do to batches and raters does not touch ``rater``."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.rater = house.joined("us")
        self.lead = house.lead()
        self.pilot = house.new_batch(kind="pilot").id

    def of(self, path: str) -> Person:
        return self.lead if path.startswith("/lead") else self.rater


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    folder = tmp_path_factory.mktemp("annotation")
    on_sqlite = request.param == "sqlite"
    url = f"sqlite:///{folder / 'store.sqlite'}" if on_sqlite else request.getfixturevalue("cluster").fresh()
    house = House(corpus_folder(folder / "corpus"), url)
    yield People(house)
    house.close()


@pytest.fixture(scope="module")
def operations(people: People) -> list[Any]:
    """Every operation of the description, ready to be asked in this process."""
    loaded = schemathesis.openapi.from_dict(people.house.app.openapi())
    loaded.app = people.house.app
    loaded.config.base_url = f"http://{HOST}"
    loaded.config.update(base_url=f"http://{HOST}")
    return [result.ok() for result in loaded.get_all_operations()]


@dataclass
class Replies:
    """How often each operation answered with each status."""

    counts: dict[tuple[str, str], Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def ask(self, case: Any, person: Person | None) -> int:
        """Send a case as somebody, and see that the reply is as described."""
        headers = {"host": HOST, **({"x-csrf-token": person.csrf} if person else {})}
        cookies = dict(person.client.cookies) if person else {}
        response = case.call_and_validate(headers=headers, cookies=cookies, checks=CHECKS)
        self.counts[case.method, case.path][response.status_code] += 1
        return int(response.status_code)


def every(operation: Any, mode: Any, examine: Callable[[Any], None]) -> None:
    """Examine cases of an operation, the same in each run."""

    @settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def examined(case: Any) -> None:
        examine(case)

    examined()


def takes_something(operation: Any) -> bool:
    """Whether there is anything in a request to be wrong."""
    raw = operation.definition.raw
    return "requestBody" in raw or any(one["in"] in ("path", "query") for one in raw.get("parameters", ()))


MODES = {"requests as described": GenerationMode.POSITIVE, "others": GenerationMode.NEGATIVE}


@pytest.mark.parametrize("mode", MODES)
def test_with_a_session_every_reply_is_as_described(operations: list[Any], people: People, mode: str) -> None:
    replies = Replies()
    for operation in operations:
        if mode == "requests as described" or takes_something(operation):
            every(operation, MODES[mode], lambda case: replies.ask(case, people.of(case.path)))
    assert len(replies.counts) >= 10


@pytest.mark.parametrize("mode", MODES)
def test_without_a_session_every_request_is_refused_as_described(operations: list[Any], mode: str) -> None:
    replies = Replies()
    for operation in operations:
        if mode == "requests as described" or takes_something(operation):
            every(operation, MODES[mode], lambda case: replies.ask(case, None))
    assert {status for counts in replies.counts.values() for status in counts} <= {400, 401, 422}


def test_with_names_that_exist_every_operation_is_reached(operations: list[Any], people: People) -> None:
    """Random names lead no further than to a refusal."""
    replies = Replies()

    def examine(case: Any) -> None:
        named = case.path_parameters or {}
        if "number" in named:
            named["number"] = people.pilot
        if "rater_id" in named and replies.counts[case.method, case.path].total() == 0:
            named["rater_id"] = people.house.joined("us").id
        if case.path == "/api/answers" and isinstance(case.body, dict):
            number = replies.counts[case.method, case.path].total()
            told = {"assignment": people.rater.items[number % 6]["assignment"], "question": f"q{1 + number % 4}"}
            case.body.update({**told, "value": str(number % 7), "language": "en", "comment": ""})
        if case.path.endswith("/verdicts") and case.method == "PUT":
            case.body["item_id"] = "item-1"
        if case.path == "/api/language":
            case.body["language"] = "en"
        replies.ask(case, people.of(case.path))

    for operation in operations:
        every(operation, GenerationMode.POSITIVE, examine)
    unreached = [where for where, counts in replies.counts.items() if not any(status < 300 for status in counts)]
    assert unreached == [("POST", "/api/finish")], "items are not complete"
