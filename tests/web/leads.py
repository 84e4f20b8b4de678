"""The lead who asks the service by plain requests, and raters whose answers are put into the store directly."""

from __future__ import annotations

import re
import time
from itertools import count

import httpx
from tests.web.people import csrf_of
from tests.web.running import Here, InProcess

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, finish, work
from voirdire.annotation.batches import batch, create_batch
from voirdire.annotation.invitations import invite
from voirdire.annotation.nouns import Batch, BatchSpec, Given, Rater
from voirdire.annotation.raters import join
from voirdire.annotation.study_defaults import for_pilot
from voirdire.web.live import Live
from voirdire.web.service import Service

_KEYS = count()


class Lead:
    """A browser without scripts in which the lead's pages are open."""

    def __init__(self, running: InProcess, *, enter: bool = True) -> None:
        self.running, self.here = running, running.here
        self.secret = running.ready.lead_link.partition("#")[2]
        self.http = httpx.Client(base_url=running.here.url, follow_redirects=True, timeout=60)
        if enter:
            assert self.enter(self.secret).status_code == 200

    def enter(self, secret: str) -> httpx.Response:
        """Send the form that asks for the secret."""
        csrf = csrf_of(self.http.get("/lead/enter").text)
        return self.http.post("/lead/enter", data={"csrf": csrf, "secret": secret})

    @property
    def csrf(self) -> str:
        """What changes must carry."""
        return csrf_of(self.http.get("/lead").text)

    def send(self, path: str, **fields: str) -> httpx.Response:
        """Send a form of the lead's pages."""
        return self.http.post(path, data={"csrf": self.csrf, **fields})

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """Ask an endpoint for a change."""
        headers = {"x-csrf-token": self.csrf, **headers}
        return self.http.request(method, f"/lead/api{path}", json=body, headers=headers)

    def fresh(self, path: str, number: int = 1) -> str:
        """A page after the seconds for which numbers are kept."""
        live_at(self.running).forget(number)
        return self.http.get(path).text

    def statistics(self, number: int = 1) -> httpx.Response:
        """The statistics page, once what was asked for is computed."""
        for _ in range(600):
            told = self.http.get(f"/lead/api/batches/{number}/statistics").json()
            if told["state"] != "none" and not told["running"]:
                return self.http.get(f"/lead/batches/{number}/statistics")
            time.sleep(0.1)
        raise TimeoutError


def live_at(running: InProcess) -> Live:
    """What the service knows of its batches."""
    if not hasattr(running.app.state, "live"):
        running.app.state.live = Live(running.service.database, running.service.shown, running.service.now)
    return running.app.state.live


def people(here: Here, pool: str, number: int, batch_id: int = 1) -> list[Rater]:
    """Raters who have joined by one link."""
    invitation, _ = invite(here.database, batch_id, pool, now=time.time())
    language = "en" if pool == "us" else "zh"
    told = {"language": language, "attributes": {}, "passed": True}
    return [join(here.database, invitation, **told, now=time.time()) for _ in range(number)]


def rate(here: Here, raters: list[Rater], *, most: int | None = None, comment: str = "", **fixed: str) -> None:
    """Raters answer what they get: the pools like their own culture's items, and differ a little among each other."""
    questions = batch(here.database, raters[0].batch).spec.study.questions
    for number, rater in enumerate(raters):
        assign(here.database, rater.id, time.time())
        todo = [one for one in work(here.database, rater.id) if one.state == "open"][:most]
        for one in todo:
            own = one.item_id.endswith(rater.pool)
            for place, question in enumerate(questions):
                seed = sum(one.item_id.encode()) + place + number % 2
                level = str(min(5, (3 if own else 1) + seed % 3))
                value = fixed.get(question.id, "usable" if question.options else level)
                given = Given(
                    f"key-{next(_KEYS):020d}",
                    one.id,
                    question.id,
                    value,
                    comment if question.comment else "",
                    rater.language,
                    9.0 + place,
                )
                save(here.database, rater.id, given, time.time())
        if most is None:
            finish(here.database, rater.id, time.time())


def pilot_of(service: Service) -> Batch:
    """A pilot of all items of the corpus."""
    study, shown = for_pilot(service.study), service.shown
    spec = BatchSpec("Pilot", study, tuple(shown.items), "pilot", shown.pairs)
    return create_batch(service.database, spec, time.time())


def link_on(page: str) -> str:
    """The invitation link that a page shows."""
    found = re.search(r'value="(http[^"]+/join/[^"]+)"', page)
    assert found is not None
    return found[1]
