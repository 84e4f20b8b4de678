"""Statistics while ratings arrive: by the audit's functions, not too often, and never an error for few ratings."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.annotation.lead_world import NOW, answer, corpus_folder, joined, make_batch, rate

from voirdire.annotation import answers as saving
from voirdire.annotation.assignments import assign, work
from voirdire.annotation.collected import collect
from voirdire.annotation.database import Database
from voirdire.annotation.material import read_shown
from voirdire.web import live as module
from voirdire.web.live import PROGRESS_SECONDS, STATISTICS_SECONDS, UNCHANGED_SECONDS, Live, examine
from voirdire.web.reading_notes import reading_notes


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = NOW + 200

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def world(tmp_path: Path):
    database = Database.open(f"sqlite:///{tmp_path / 'store.sqlite'}")
    database.migrate()
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    yield database, shown, make_batch(database, shown, gold=False)
    database.dispose()


def _settled(live: Live, batch_id: int):
    for thread in threading.enumerate():
        if thread.name.startswith("statistics"):
            thread.join(60)
    return live.statistics(batch_id)


def test_without_ratings_the_reason_is_told(world):
    database, shown, batch = world
    found = examine(collect(database, batch.id), shown)
    assert (found.state, found.why.key) == ("not_yet", "lead.statistics.no_ratings")


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_first_ratings_give_a_profile_with_reasons_for_what_is_undefined(world, most):
    database, shown, batch = world
    rate(database, batch, joined(database, batch, "us", 1), most=most)
    found = examine(collect(database, batch.id), shown)
    assert found.state == "ready"
    alpha = found.profile.get("reliability", question="q1", pool="us")
    assert alpha.value is None
    assert alpha.undefined


def told_below(profile, lang: str = "en") -> dict[str, str]:
    """The paragraphs below the tables on pools of the first question, by style."""
    return {part.style: " ".join(part.paragraphs) for part in reading_notes(profile, 0, lang)}


def as_if(profile, statistic: str, **values):
    """The profile with other values of a statistic."""
    rows = pl.col("statistic") == statistic
    columns = [pl.when(rows).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items()]
    return replace(profile, estimates=profile.estimates.with_columns(columns))


def test_below_the_tables_stands_what_is_a_median_and_how_many_splits_were_drawn(world):
    database, shown, batch = world
    for pool in ("us", "cn"):
        rate(database, batch, joined(database, batch, pool, 3))
    found = examine(collect(database, batch.id), shown)
    pools = next(section for section in found.sections("en") if section.id == "q1-pools")
    assert [type(block).__name__ for block in pools.blocks[-2:]] == ["Grid", "Text"]
    assert "is the median" in pools.blocks[-1].paragraphs[0]
    assert "mean over 200 random splits" in pools.blocks[-1].paragraphs[1]


def test_a_corrected_correlation_that_cannot_be_is_not_left_alone(world):
    database, shown, batch = world
    for pool in ("us", "cn"):
        rate(database, batch, joined(database, batch, pool, 3))
    profile = examine(collect(database, batch.id), shown).profile
    assert "caution" not in told_below(as_if(profile, "disattenuated_r", value=0.9))
    above = as_if(profile, "disattenuated_r", value=2.4)
    assert "cannot be above 1, and corrected for unreliability this one is 2.40" in told_below(above)["caution"]
    assert "2.40" in told_below(above, "zh")["caution"]
    weak = as_if(as_if(profile, "disattenuated_r", value=0.9), "gate", label="fail")
    assert "rests on a low reliability (us, cn)" in told_below(weak)["caution"]


def test_statistics_are_computed_again_after_a_change_and_after_a_while_only(world, monkeypatch):
    database, shown, batch = world
    asked = []
    monkeypatch.setattr(module, "examine", lambda *a, **k: asked.append(1) or examine(*a, **k))
    clock = Clock()
    live = Live(database, shown, clock)
    rate(database, batch, joined(database, batch, "us", 2))
    assert live.statistics(batch.id).statistics.state == "none"
    first = _settled(live, batch.id)
    assert (first.statistics.state, first.running, first.behind, len(asked)) == ("ready", False, False, 1)
    clock.at += 10 * STATISTICS_SECONDS
    assert _settled(live, batch.id).statistics is first.statistics
    rate(database, batch, joined(database, batch, "cn", 1), most=1)
    assert live.statistics(batch.id).behind
    _settled(live, batch.id)
    assert len(asked) == 2
    clock.at += STATISTICS_SECONDS / 2
    rate(database, batch, joined(database, batch, "cn", 1), most=1)
    kept = _settled(live, batch.id)
    assert (kept.behind, kept.running, len(asked)) == (True, False, 2)
    clock.at += STATISTICS_SECONDS / 2
    live.statistics(batch.id)
    assert not _settled(live, batch.id).behind
    assert len(asked) == 3


def test_an_answer_that_was_numbered_first_and_kept_last_is_not_left_out(cluster, tmp_path, monkeypatch):
    url = cluster.fresh()
    database = Database.open(url)
    database.migrate()
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(database, shown)
    slow, quick = joined(database, batch, "us", 2)
    assign(database, slow.id, NOW)
    numbered, go_on, apply = threading.Event(), threading.Event(), saving._apply

    def late(*given):
        if threading.current_thread().name == "late":
            numbered.set()
            go_on.wait(60)
        apply(*given)

    monkeypatch.setattr(saving, "_apply", late)
    told = (database, slow, work(database, slow.id)[0], {"q1": "3"})
    first = threading.Thread(target=answer, args=told, name="late")
    first.start()
    assert numbered.wait(60)
    rate(database, batch, [quick], most=1)
    clock = Clock()
    clock.at = NOW + 61
    live = Live(database, shown, clock)
    live.statistics(batch.id)
    assert _settled(live, batch.id).statistics.collected.given.height == 4
    go_on.set()
    first.join(60)
    clock.at += module.LATE_SECONDS
    assert not live.statistics(batch.id).behind
    settled = _settled(live, batch.id)
    assert (settled.statistics.collected.given.height, settled.running) == (5, False)
    database.dispose()
    cluster.drop(url)


def test_after_a_long_computation_there_is_a_long_pause(world, monkeypatch):
    database, shown, batch = world
    clock, asked = Clock(), []

    def long(*given, **named):
        asked.append(1)
        clock.at += 40
        return examine(*given, **named)

    monkeypatch.setattr(module, "examine", long)
    live = Live(database, shown, clock)
    rate(database, batch, joined(database, batch, "us", 1), most=1)
    live.statistics(batch.id)
    _settled(live, batch.id)
    rate(database, batch, joined(database, batch, "us", 1), most=1)
    clock.at += 40 * module.PAUSE - 41
    _settled(live, batch.id)
    assert len(asked) == 1
    clock.at += 1
    live.statistics(batch.id)
    assert not _settled(live, batch.id).behind
    assert len(asked) == 2


def test_a_new_link_or_rater_is_no_reason_to_compute_again(world):
    database, shown, batch = world
    clock = Clock()
    live = Live(database, shown, clock)
    rate(database, batch, joined(database, batch, "us", 1), most=2)
    live.statistics(batch.id)
    _settled(live, batch.id)
    joined(database, batch, "cn", 1)
    clock.at += 100
    assert not live.statistics(batch.id).behind


def test_progress_is_read_again_after_a_change_and_after_a_while_only(world, monkeypatch):
    database, shown, batch = world
    read = []
    monkeypatch.setattr(module, "collect", lambda *a: read.append(1) or collect(*a))
    clock = Clock()
    live = Live(database, shown, clock)
    assert live.progress(batch.id).pools["us"].done == 0
    rate(database, batch, joined(database, batch, "us", 1))
    assert (live.progress(batch.id).pools["us"].done, len(read)) == (0, 1)
    clock.at += PROGRESS_SECONDS
    assert (live.progress(batch.id).pools["us"].done, len(read)) == (12, 2)
    clock.at += PROGRESS_SECONDS
    live.progress(batch.id)
    assert len(read) == 2
    clock.at += UNCHANGED_SECONDS
    live.progress(batch.id)
    assert len(read) == 3
    live.forget(batch.id)
    live.progress(batch.id)
    assert len(read) == 4


def test_many_requests_at_once_begin_one_computation(world, monkeypatch):
    database, shown, batch = world
    asked, go_on = [], threading.Event()

    def slow(*given, **named):
        asked.append(1)
        go_on.wait(30)
        return examine(*given, **named)

    monkeypatch.setattr(module, "examine", slow)
    live = Live(database, shown, Clock())
    rate(database, batch, joined(database, batch, "us", 1), most=1)
    asking = [threading.Thread(target=live.statistics, args=(batch.id,)) for _ in range(20)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert live.statistics(batch.id).running
    go_on.set()
    assert _settled(live, batch.id).statistics.state == "ready"
    assert len(asked) == 1


def test_a_fault_is_logged_and_told_as_a_fault(world, monkeypatch, caplog):
    database, shown, batch = world

    def broken(*_given, **_named):
        raise ZeroDivisionError

    monkeypatch.setattr(module, "examine", broken)
    live = Live(database, shown, Clock())
    live.statistics(batch.id)
    assert _settled(live, batch.id).statistics.state == "failed"
    assert "ZeroDivisionError" in caplog.text


def test_a_database_that_is_away_leaves_the_last_statistics(world, monkeypatch):
    database, shown, batch = world
    clock = Clock()
    live = Live(database, shown, clock)
    rate(database, batch, joined(database, batch, "us", 1), most=2)
    live.statistics(batch.id)
    before = _settled(live, batch.id).statistics
    rate(database, batch, joined(database, batch, "us", 1), most=2)

    def away(*_given):
        raise module.Unavailable("annotation.unavailable", why="restarting")

    clock.at += STATISTICS_SECONDS
    with monkeypatch.context() as patched:
        patched.setattr(module, "collect", away)
        live.statistics(batch.id)
        assert _settled(live, batch.id).statistics is before
    clock.at += STATISTICS_SECONDS
    live.statistics(batch.id)
    assert _settled(live, batch.id).statistics.event > before.event
