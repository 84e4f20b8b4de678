"""A service with hostile texts in it, and the people who use it: visitors, raters of two pools, the lead."""

from __future__ import annotations

import csv
import re
import secrets
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from PIL import Image
from sqlalchemy import select
from starlette.responses import Response

from voirdire.annotation.batches import create_batch
from voirdire.annotation.invitations import invite
from voirdire.annotation.nouns import Batch, BatchSpec, Gold, Option, Screening, Study
from voirdire.annotation.schema import metadata
from voirdire.annotation.study_defaults import for_pilot
from voirdire.web.application import make_application
from voirdire.web.security import Role, cookie_name, csrf_token, start_session
from voirdire.web.service import Service, open_service
from voirdire.web.serving import prepare
from voirdire.web.settings import Settings

with warnings.catch_warnings():
    # starlette would rather have the client of another package
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HOST = "http://127.0.0.1:8765"
POOLS = ("us", "cn")
MARK = "injected"
HOSTILE = (
    f"\"'></title></textarea></script><script>window.{MARK}=1;alert(1)</script>"
    f"<img id={MARK} src=x onerror='window.{MARK}=2'><svg/onload=alert(3)><b id={MARK}>b</b><!-- "
    "javascript:alert(4) {{7*191}} ${7*191} \u202eevil\u2066 \u2028 \x1b[31m \x07 \\u003cb\\u003e %s 你好"
)
HOSTILE_NAME = f"\"'></title><script>window.{MARK}=1</script><b id={MARK}>{{{{7*191}}}}\u202e"
"""What somebody writes where text is expected: markup, ends of quotes, directions, control characters; and a name."""


def corpus_folder(folder: Path, items: int = 6) -> Path:
    """Items whose every text is hostile."""
    (folder / "images").mkdir(parents=True)
    header = ["item_id", "pair_id", "culture", "category", "split", "prompt.en", "prompt.zh", "image", "alt.en"]
    rows = []
    for number in range(items):
        name = f"item-{number}<b id={MARK}>" if number == 0 else f"item-{number}"
        file = folder / "images" / f"{number}.png"
        Image.new("RGB", (32, 24), (number * 20, 90, 120)).save(file)
        culture = POOLS[number % 2]
        pair = f"secret-pair-{number // 2}"
        worded = [f"{number} {HOSTILE}", f"{number} {HOSTILE}", f"images/{number}.png", HOSTILE]
        rows.append([name, pair, culture, f"secret-category {HOSTILE}", "test", *worded])
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header, *rows])
    (folder / "corpus.toml").write_text('name = "Attacked"\n', encoding="utf-8")
    return folder


def hostile_study(study: Study) -> Study:
    """A screening question and texts of the pools in the same vein; two questions with a comment."""
    option = Option("yes", {"en": HOSTILE, "zh": HOSTILE})
    asked = Screening("used<b>", (option, Option(HOSTILE, {"en": "no"})), {"en": HOSTILE, "zh": HOSTILE}, keep=True)
    texts = {"en": HOSTILE, "zh": HOSTILE}
    pools = tuple(replace(pool, title=texts, consent=texts, welcome=texts) for pool in study.pools)
    questions = tuple(replace(one, comment=True, help=texts, low_end=texts) for one in study.questions)
    return replace(study, name=HOSTILE_NAME, screening=(asked,), pools=pools, questions=questions, raters_per_item=60)


@dataclass
class Person:
    """Somebody with a browser; ``csrf`` is the token of their session."""

    client: TestClient
    id: str = ""
    csrf: str = ""
    items: list[dict[str, Any]] = field(default_factory=list)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.post(path, json={} if body is None else body, headers={"x-csrf-token": self.csrf, **headers})

    def answer(self, **fields: Any) -> Any:
        """Answer the first question of the first item."""
        return self.post("/api/answers", given(self.items[0]["assignment"], **fields))


def given(assignment: str, question: str = "q1", value: Any = "3", **fields: Any) -> dict[str, Any]:
    key = secrets.token_urlsafe(18)
    return {"key": key, "assignment": assignment, "question": question, "value": value, "seconds": 1.0, **fields}


class House:
    """A service in this process, with three batches: two of the same items, and a pilot of one item."""

    def __init__(self, folder: Path, database: str, **settings: Any) -> None:
        self.settings = Settings(str(folder), database, **settings)
        self.ready = prepare(self.settings, time.time())
        self.secret = self.ready.lead_link.partition("#")[2]
        self.service: Service = open_service(self.settings)
        self.app: FastAPI = make_application(self.service)
        self.batch = self.new_batch()
        self.tokens = {pool: self.invite(pool) for pool in POOLS}

    def new_batch(self, items: int | None = None, kind: str = "rating", **fields: Any) -> Batch:
        study = replace(hostile_study(self.service.study), **fields)
        study = for_pilot(study) if kind == "pilot" else study
        names = tuple(self.service.shown.items)[:items]
        return create_batch(self.service.database, BatchSpec(HOSTILE_NAME, study, names, kind), time.time())  # type: ignore[arg-type]

    def invite(self, pool: str, batch: int | None = None, most_raters: int | None = None) -> str:
        number = self.batch.id if batch is None else batch
        return invite(
            self.service.database, number, pool, label=HOSTILE_NAME, most_raters=most_raters, now=time.time()
        )[1]

    def client(self, address: str = "127.0.0.1", base: str = HOST, **options: Any) -> TestClient:
        return TestClient(
            self.app, base, client=(address, 50000), raise_server_exceptions=False, follow_redirects=False, **options
        )

    def joined(self, pool: str, token: str = "", query: str = "") -> Person:
        """A new rater who has read the first words and got items."""
        person = Person(self.client())
        path = f"/join/{token or self.tokens[pool]}{query}"
        page = person.client.get(path)
        form = {"csrf": csrf_of(page.text), "language": language_of(pool), "consent": "yes", "screening.0": "yes"}
        entered = person.client.post(path, data=form)
        assert entered.status_code == 303, entered.text
        assert person.client.get("/rate").status_code == 200
        told = person.client.get("/api/session").json()
        person.id, person.csrf = told["rater"], told["csrf"]
        person.items = person.client.get("/api/items", params={"count": 20}).json()["items"]
        return person

    def session(self, role: Role, who: str = "", address: str = "127.0.0.1") -> Person:
        """A person with a session as the service would begin it."""
        response, client = Response(), self.client(address)
        session = start_session(response, self.service, role, who)
        name, _, value = response.headers["set-cookie"].partition(";")[0].partition("=")
        client.cookies.set(name, value)
        return Person(client, who, csrf_token(self.service, session))

    def lead(self) -> Person:
        return self.session("lead")

    def cookie(self, person: Person, role: Role = "rater") -> str:
        return person.client.cookies[cookie_name(self.service, role)]

    def rows(self) -> Mapping[str, list[tuple[Any, ...]]]:
        """Everything in the database but what is counted of guesses, and when raters were last seen."""
        found = {}
        with self.service.database.reading() as connection:
            for table in metadata.sorted_tables:
                columns = [column for column in table.columns if column.name != "seen_at"]
                ordered = select(*columns).order_by(*table.primary_key)
                found[table.name] = [tuple(row) for row in connection.execute(ordered)]
        del found["guesses"]
        return found

    def close(self) -> None:
        self.service.database.dispose()


def language_of(pool: str) -> str:
    return "zh" if pool == "cn" else "en"


def csrf_of(page: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)
    assert found, page[:500]
    return found[1]


def with_gold(study: Study, item: str) -> Study:
    return replace(study, gold=(Gold(item, "q1", ("5",)),))


def filled(path: str, known: Mapping[str, str]) -> str:
    """A path with values in place of what it takes, 1 where none is named."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: known.get(match[1], "1"), path)


def routes(router: Any) -> Iterator[tuple[str, str]]:
    """(method, path) of every endpoint below an application or router."""
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes(inner)
        else:
            for method in sorted(getattr(route, "methods", None) or ()):
                yield method, route.path
