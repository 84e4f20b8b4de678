"""A PostgreSQL that goes away and comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.annotation.postgres import Cluster, programs
from tests.annotation.studies import batch_of, given, joined, opened, twin
from tests.annotation.test_concurrency import consistent

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, work
from voirdire.annotation.database import Database, Unavailable
from voirdire.annotation.nouns import Given, Saved


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    """A server that these tests may stop; what it has committed is on the disk."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    own = Cluster()
    try:
        own.start()
        yield own
    finally:
        own.remove()


@pytest.fixture
def store(server: Cluster) -> Iterator[Database]:
    with opened(server.fresh()) as db:
        db.migrate()
        yield db


def persistent(db: Database, rater: str, sent: Given) -> tuple[Saved, int]:
    """Send an answer until it is saved, as a page does; how often the database was not there."""
    for failures in range(400):
        try:
            return save(db, rater, sent, 1.0), failures
        except Unavailable:
            time.sleep(0.05)
    raise AssertionError(sent)


def test_a_restart_between_two_answers_is_noticed_once_at_most(server: Cluster, store: Database) -> None:
    batch = batch_of(store, 4)
    who = joined(store, batch)
    assign(store, who, 0.0)
    one, two, *_ = work(store, who)
    assert persistent(store, who, given(one.id, "q1", "1"))[1] == 0
    server.restart()
    saved, failures = persistent(store, who, given(one.id, "q2", "1"))
    assert (saved.applied, saved.state) == (True, "done")
    assert failures <= 1
    assert persistent(store, who, given(two.id, "q1", "1"))[1] == 0


def test_while_the_server_is_down_it_is_unavailable_and_afterwards_all_is_there(
    server: Cluster, store: Database
) -> None:
    who = joined(store, batch_of(store, 2))
    assign(store, who, 0.0)
    first = work(store, who)[0]
    save(store, who, given(first.id, "q1", "1"), 1.0)
    server.stop()
    try:
        with pytest.raises(Unavailable, match="cannot be reached just now"):
            save(store, who, given(first.id, "q2", "1"), 1.0)
        with pytest.raises(Unavailable):
            work(store, who)
    finally:
        server.start()
    assert work(store, who)[0].answers["q1"].value == "1"


def test_no_answer_is_lost_or_doubled_when_the_server_crashes_under_load(server: Cluster, store: Database) -> None:
    batch = batch_of(store, 12, raters_per_item=12)
    who = [joined(store, batch) for _ in range(12)]
    for one in who:
        assign(store, one, 0.0)
    half = threading.Barrier(len(who) + 1)

    def rate(one: str) -> int:
        with twin(store) as own:
            failures = 0
            for number, what in enumerate(work(own, one)):
                if number == 4:
                    half.wait()
                for question in ("q1", "q2"):
                    failures += persistent(own, one, given(what.id, question, "1"))[1]
            return failures

    with ThreadPoolExecutor(len(who)) as pool:
        rating = [pool.submit(rate, one) for one in who]
        half.wait()
        server.kill()
        server.start()
        failures = [one.result() for one in rating]
    assert sum(failures) > 0
    assert all({one.state for one in work(store, rater)} == {"done"} for rater in who)
    assert all(len(work(store, rater)) == 12 for rater in who)
    consistent(store, batch)
