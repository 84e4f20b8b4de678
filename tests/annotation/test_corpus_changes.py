"""What has changed in the items of a database is named, and taken on knowingly or not at all."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from sqlalchemy import delete, select
from tests.annotation.lead_world import NOW, corpus_folder, joined, make_batch, rate, rated_world

from voirdire.annotation.corpus_changes import accepted_changes, bind_corpus, changes_since
from voirdire.annotation.database import Database
from voirdire.annotation.export import write_export
from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.schema import events, service
from voirdire.annotation.service_state import service_state
from voirdire.errors import InputError, UsageError


def edited(shown: Shown, old: str, new: str) -> Shown:
    """The corpus after a change of its items table."""
    table = shown.folder / "items.csv"
    written = table.read_text(encoding="utf-8")
    assert old in written
    table.write_text(written.replace(old, new), encoding="utf-8")
    return read_shown(shown.folder)


def without(shown: Shown, item: str) -> Shown:
    """The corpus after a row was deleted."""
    table = shown.folder / "items.csv"
    rows = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(row for row in rows if not row.startswith(f"{item},")) + "\n", encoding="utf-8")
    return read_shown(shown.folder)


def typo(shown: Shown) -> Shown:
    """One word corrected in the English question of us-0, and a new item."""
    table = shown.folder / "items.csv"
    row = "new,,us,food,test,Is it?,是吗？,images/gold.png,A sign,一块牌子\n"
    table.write_text(table.read_text(encoding="utf-8") + row, encoding="utf-8")
    return edited(shown, 'us-0,p0,us,dress,test,"How inviting', 'us-0,p0,us,dress,test,"How very inviting')


def test_the_same_items_are_taken_again_and_again(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path))
    assert bind_corpus(db, shown, NOW) is None
    assert bind_corpus(db, shown, NOW) is None
    assert service_state(db).corpus_digest == shown.digest
    assert changes_since(db, shown) is None


def test_what_changed_is_named_and_the_corpus_is_not_blamed(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path))
    bind_corpus(db, shown, NOW)
    with pytest.raises(UsageError) as caught:
        bind_corpus(db, typo(shown), NOW)
    told = str(caught.value)
    assert "Changed: 1: us-0 (prompt.en). Added: 1: new. Removed: 0." in told
    assert "--accept-changes" in told
    assert "belongs to" not in told


def test_another_corpus_is_refused_also_when_changes_are_accepted(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path / "a"))
    bind_corpus(db, shown, NOW)
    table = tmp_path / "b.csv"
    table.write_text("item_id,text\nx,Tea\n", encoding="utf-8")
    for accept in (False, True):
        with pytest.raises(UsageError, match="belongs to the corpus “Tables”, and none of its items"):
            bind_corpus(db, read_shown(table), NOW, accept=accept)


def test_accepted_changes_hold_from_then_on_and_stand_in_the_history(db: Database, tmp_path: Path) -> None:
    shown, _ = rated_world(db, tmp_path)
    bind_corpus(db, shown, NOW)
    now = typo(shown)
    changes = bind_corpus(db, now, NOW + 9, accept=True)
    assert changes is not None
    assert bind_corpus(db, now, NOW + 10) is None
    assert service_state(db).corpus_digest == now.digest
    with db.reading() as connection:
        value = connection.execute(select(events.c.value).where(events.c.kind == "corpus_changed")).scalar_one()
    assert (json.loads(value)["from"], json.loads(value)["to"]) == (shown.digest, now.digest)
    assert [(one.at, one.changes) for one in accepted_changes(db)] == [(NOW + 9, changes)]


def test_an_item_of_a_batch_that_is_gone_is_always_refused(db: Database, tmp_path: Path) -> None:
    shown, batch = rated_world(db, tmp_path / "corpus")
    bind_corpus(db, shown, NOW)
    gone = without(shown, "cn-3")
    for accept in (False, True):
        with pytest.raises(UsageError, match=r"not in the corpus any more \(1: cn-3\)"):
            bind_corpus(db, gone, NOW, accept=accept)
    with pytest.raises(UsageError, match="cn-3"):
        write_export(db, batch.id, gone, tmp_path / "out")


def test_an_item_of_no_batch_may_go(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path))
    make_batch(db, shown, gold=False)
    bind_corpus(db, shown, NOW)
    changes = bind_corpus(db, without(shown, "gold"), NOW, accept=True)
    assert changes is not None
    assert changes.told() == {"changed": "0", "added": "0", "removed": "1: gold"}


def test_an_item_that_was_asked_and_never_rated_stops_no_export(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown, gold=False)
    bind_corpus(db, shown, NOW)
    write_export(db, batch.id, without(shown, "us-1"), tmp_path / "out")
    assert "Removed: 1: us-1." in (tmp_path / "out" / "README.md").read_text()


def test_a_change_that_a_batch_could_not_be_asked_with_is_refused(db: Database, tmp_path: Path) -> None:
    shown, _ = rated_world(db, tmp_path)
    bind_corpus(db, shown, NOW)
    bare = edited(shown, "“这张桌子 2 有多诱人？”", "")
    with pytest.raises(InputError, match=r"prompt\.zh"):
        bind_corpus(db, bare, NOW, accept=True)
    assert service_state(db).corpus_digest == shown.digest


def test_an_export_of_changed_items_writes_them_as_they_are_and_says_so(db: Database, tmp_path: Path) -> None:
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown)
    rate(db, batch, joined(db, batch, "us", 2))
    bind_corpus(db, shown, NOW)
    now = typo(shown)
    write_export(db, batch.id, now, tmp_path / "out")
    assert "since the service was last started" in (tmp_path / "out" / "README.md").read_text()
    assert "How very inviting" in (tmp_path / "out" / "items.csv").read_text()
    bind_corpus(db, now, NOW + 86400, accept=True)
    write_export(db, batch.id, now, tmp_path / "out")
    told = (tmp_path / "out" / "README.md").read_text()
    assert "taken on" in told
    assert "us-0 (prompt.en)" in told
    assert tomllib.loads((tmp_path / "out" / "corpus.toml").read_text())["changed"] == {"us-0": ["prompt.en"]}
    assert "since the service was last started" not in told


def test_a_database_without_digests_of_items_says_that_it_has_none(db: Database, tmp_path: Path) -> None:
    shown, _ = rated_world(db, tmp_path)
    bind_corpus(db, shown, NOW)
    with db.writing() as connection:
        connection.execute(delete(service).where(service.c.name == "corpus_items"))
    now = typo(shown)
    with pytest.raises(UsageError, match="which ones is not known"):
        bind_corpus(db, now, NOW)
    bind_corpus(db, now, NOW, accept=True)
    with pytest.raises(UsageError, match=r"us-0 \(prompt\.zh\)"):
        bind_corpus(db, edited(now, "“这张桌子 0 有多诱人？”", "好吗？"), NOW)
