from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, delete, inspect, select, text, update
from sqlalchemy.exc import IntegrityError
from tests.annotation.studies import batch_of, joined, opened, rate_all, study, twin

from voirdire.annotation.assignments import work
from voirdire.annotation.batches import batch, batches, create_batch, set_open
from voirdire.annotation.database import Database, Unavailable
from voirdire.annotation.migrations import VERSION_TABLE
from voirdire.annotation.nouns import BatchSpec
from voirdire.annotation.raters import rater
from voirdire.annotation.schema import assignments, events, metadata
from voirdire.annotation.service_state import check_lead, service_state, set_lead, signed
from voirdire.errors import NotFoundError, UsageError


def rules(connection: Connection) -> dict[str, Any]:
    """What an inspector knows of the tables besides their columns."""
    inspector = inspect(connection)
    return {
        name: (
            sorted(str(one["name"]) for one in inspector.get_check_constraints(name)),
            sorted((one["name"] or "", tuple(one["column_names"])) for one in inspector.get_unique_constraints(name)),
            sorted((str(one["name"]), tuple(one["referred_columns"])) for one in inspector.get_foreign_keys(name)),
            sorted((str(one["name"]), tuple(one["column_names"])) for one in inspector.get_indexes(name)),
            inspector.get_pk_constraint(name),
        )
        for name in sorted(metadata.tables)
    }


def test_the_migrated_tables_are_those_of_the_metadata(database_url: str) -> None:
    with opened(database_url) as db:
        db.migrate()
        with db.reading() as connection:
            migrated = rules(connection)
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
            assert compare_metadata(context, metadata) == []
        with db.writing() as connection:
            metadata.drop_all(connection)
            metadata.create_all(connection)
        with db.reading() as connection:
            assert rules(connection) == migrated


def test_migrating_again_changes_nothing(db: Database) -> None:
    batch_of(db, 2)
    db.migrate()
    assert len(batches(db)) == 1


def test_processes_that_start_together_migrate_once(database_url: str) -> None:
    many = [Database.open(database_url) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Database.migrate, many))
        states = list(pool.map(service_state, many))
    assert len({state.signing_key for state in states}) == 1
    for db in many:
        db.dispose()


def test_a_database_of_a_newer_version_is_refused(db: Database) -> None:
    with db.writing() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(UsageError, match=r"newer version of voirdire \(its form is 9999\)"):
        db.migrate()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database at all, " * 100)
    with (
        opened(f"sqlite:///{file}") as db,
        pytest.raises(UsageError, match=r"notes\.txt cannot be used: file is not a database"),
    ):
        db.migrate()


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with (
        opened(f"sqlite:///{tmp_path / 'no' / 'store.sqlite'}") as db,
        pytest.raises(Unavailable, match="unable to open database file"),
    ):
        db.migrate()


@pytest.mark.parametrize("url", ["", "store.sqlite", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@h/d"])
def test_an_address_that_is_not_one_of_the_two_databases_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a database") as caught:
        Database.open(url)
    assert "secret" not in str(caught.value)


def test_a_database_is_pickled_by_its_address(db: Database) -> None:
    made = batch_of(db, 2)
    with twin(db) as other:
        assert batch(other, made.id) == made


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with opened("postgresql://voirdire:secret@127.0.0.1:1/none") as db:
        with pytest.raises(Unavailable) as caught:
            batches(db)
        assert "secret" not in f"{caught.value} {db.name}"


def test_what_raises_leaves_nothing_behind(db: Database) -> None:
    def half(connection: Connection) -> None:
        connection.execute(events.insert().values(kind="opened", at=0.0))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), db.writing() as connection:
        half(connection)
    with db.reading() as connection:
        assert connection.execute(select(events)).all() == []


def test_reading_sees_one_moment(db: Database) -> None:
    made = batch_of(db, 2)
    with db.reading() as connection:
        before = connection.execute(select(events)).all()
        set_open(db, made.id, False, 1.0)
        assert connection.execute(select(events)).all() == before


def test_the_history_cannot_be_changed_and_goes_with_its_rater_only(db: Database) -> None:
    who = joined(db, batch_of(db, 2))
    rate_all(db, who)
    for statement in (
        update(events).values(value="5"),
        delete(events).where(events.c.rater_id == who),
        delete(events).where(events.c.rater_id.is_(None)),
    ):
        with pytest.raises(IntegrityError, match="events are only added"), db.writing() as connection:
            connection.execute(statement)


def test_the_database_itself_refuses_one_rater_too_many(db: Database) -> None:
    made = batch_of(db, 2, raters_per_item=1)
    who = joined(db, made)
    rate_all(db, who)
    one, two = work(db, who)
    row = {"batch_id": made.id, "pool": "us", "wanted": 1, "rater_id": who, "kind": "item", "state": "open"}
    wrong: list[dict[str, Any]] = [
        {"item_id": one.item_id, "slot": 1},
        {"item_id": "new", "slot": 2},
        {"item_id": "new", "slot": 2, "wanted": 2},
        {"item_id": "new", "slot": 0},
        {"item_id": "new", "slot": None},
        {"item_id": "new", "slot": 1, "state": "returned"},
        {"item_id": "new", "slot": 1, "kind": "gold"},
        {"item_id": "new", "slot": 1, "place": two.place},
        {"item_id": "new", "slot": 1, "pool": "de"},
        {"item_id": two.item_id, "slot": None, "state": "surplus"},
        {"item_id": "new", "slot": 1, "state": "lost"},
    ]
    for number, fields in enumerate(wrong):
        values = {"id": f"x{number}", "place": 9, "assigned_at": 0.0, **row, **fields}
        with pytest.raises(IntegrityError), db.writing() as connection:
            connection.execute(assignments.insert().values(**values))
    with db.writing() as connection:
        connection.execute(
            assignments.insert().values(**row, id="right", place=9, assigned_at=0.0, item_id="new", slot=1)
        )


def test_batches_are_kept_as_they_were_made(db: Database) -> None:
    first, second = batch_of(db, 3, pairs={"i000": "p", "i001": "p"}), batch_of(db, 2)
    with twin(db) as fresh:
        assert batches(fresh) == [first, second]
        set_open(db, second.id, False, 2.0)
        set_open(db, second.id, False, 3.0)
        assert [one.open for one in batches(fresh)] == [True, False]
    for number in (0, 3, 2**70, -1):
        with pytest.raises(NotFoundError, match="no batch"):
            batch(db, number)
        with pytest.raises(NotFoundError, match="no batch"):
            set_open(db, number, False, 1.0)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (BatchSpec("b", study(), ()), "has no items"),
        (BatchSpec("b", study(), ("a", "b", "a")), "“a” stands twice"),
        (BatchSpec("b", study(pools=()), ("a",)), "has no pools"),
        (BatchSpec("b\0", study(), ("a",)), "cannot be kept as a name"),
        (BatchSpec(" ", study(), ("a",)), "cannot be kept as a name"),
        (BatchSpec("b", study(), ("a", "b\0")), "cannot be kept as a name"),
        (BatchSpec("b", study(), ("a" * 1001,)), "has 1 to 1000 characters"),
    ],
)
def test_a_batch_that_cannot_be_is_refused(tmp_path: Path, spec: BatchSpec, said: str) -> None:
    with opened(f"sqlite:///{tmp_path / 'store.sqlite'}") as db:
        db.migrate()
        with pytest.raises(UsageError, match=said):
            create_batch(db, spec, 0.0)
        assert batches(db) == []


def test_the_lead_s_secret_is_kept_as_a_hash(db: Database) -> None:
    assert not check_lead(db, "")
    set_lead(db, "first secret of the lead")
    assert check_lead(db, "first secret of the lead")
    set_lead(db, "second secret of the lead")
    assert not check_lead(db, "first secret of the lead")
    assert check_lead(db, "second secret of the lead")
    assert not check_lead(db, "\ud800")
    with db.reading() as connection:
        assert "secret" not in str(connection.execute(select(metadata.tables["service"])).all())


def test_the_signing_key_stays_and_is_the_database_s_own(db: Database, tmp_path: Path) -> None:
    key = service_state(db).signing_key
    assert len(key) == 32
    with twin(db) as same:
        assert service_state(same).signing_key == key
    with opened(f"sqlite:///{tmp_path / 'other.sqlite'}") as other:
        other.migrate()
        hashes = {signed(other, "guess", "10.0.0.1"), signed(db, "guess", "10.0.0.1"), signed(db, "x", "10.0.0.1")}
        assert len(hashes) == 3


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'store.sqlite'}") as db:
        db.migrate()
        batch_of(db, 2)
        files = sorted(tmp_path.iterdir())
        assert len(files) == 3
        assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}


def test_sqlite_waits_for_the_disk_and_lets_readers_read(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'store.sqlite'}") as db:
        db.migrate()
        with db.reading() as connection:
            found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
        assert found == ["wal", 2]
        who = joined(db, batch_of(db, 2))
        with db.writing(), twin(db) as reader:
            assert rater(db, who) is not None
            assert rater(reader, who) is not None


def test_a_database_is_named_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "研究 mappe" / "store.sqlite"
    file.parent.mkdir()
    with opened(f"sqlite:///{file}") as db:
        assert db.name == f"sqlite:///{file}"
