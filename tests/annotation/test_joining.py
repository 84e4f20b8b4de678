from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.annotation.studies import batch_of, given, joined, opened, rate_all

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import work
from voirdire.annotation.batches import set_open
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import by_token, guessed_wrong, invitations, invite, revoke, too_many_guesses
from voirdire.annotation.nouns import Batch, Invitation, Rater
from voirdire.annotation.raters import (
    by_resume,
    delete_rater,
    join,
    rater,
    raters,
    resume_link,
    returning,
    set_language,
)
from voirdire.annotation.refusals import BadValue, Closed, Deleted, Full
from voirdire.annotation.schema import events, metadata
from voirdire.errors import NotFoundError, UsageError


@pytest.fixture
def batch(db: Database) -> Batch:
    return batch_of(db, 4)


def link(db: Database, batch: Batch, most: int | None = None, pool: str = "us") -> Invitation:
    return invite(db, batch.id, pool, most_raters=most, now=0.0)[0]


def come(db: Database, invitation: Invitation, **fields: Any) -> Rater:
    return join(db, invitation, **{"language": "en", "attributes": {}, "passed": True, "now": 1.0, **fields})


def everything(db: Database) -> str:
    """Every value of every table."""
    with db.reading() as connection:
        return "\n".join(
            str(tuple(row)) for table in metadata.sorted_tables for row in connection.execute(select(table))
        )


def test_a_link_is_known_by_its_token_and_only_a_hash_is_kept(db: Database, batch: Batch) -> None:
    invitation, token = invite(db, batch.id, "us", label="mail", now=5.0)
    assert by_token(db, token) == invitation
    assert (invitation.pool, invitation.label, invitation.joined, invitation.revoked) == ("us", "mail", 0, False)
    assert len(token) >= 32
    assert token not in everything(db)


def test_unknown_tokens_open_nothing(db: Database, batch: Batch) -> None:
    link(db, batch)
    for token in ("", "a" * 32, "a\0", "\ud800", "' OR 1=1 --"):
        assert by_token(db, token) is None
        assert by_resume(db, token) is None


def test_a_revoked_link_opens_nothing(db: Database, batch: Batch) -> None:
    invitation, token = invite(db, batch.id, "us", now=0.0)
    revoke(db, invitation.id, 1.0)
    revoke(db, invitation.id, 2.0)
    assert by_token(db, token) is None
    assert [one.revoked for one in invitations(db, batch.id)] == [True]
    with pytest.raises(Closed, match="revoked"):
        come(db, invitation)


def test_links_lead_into_known_pools_of_known_batches(db: Database, batch: Batch) -> None:
    with pytest.raises(UsageError, match=r"no pool “de”\. Known pools: us, cn"):
        link(db, batch, pool="de")
    with pytest.raises(UsageError, match="0 raters cannot join"):
        link(db, batch, 0)
    for label in ("a\0", "a" * 81):
        with pytest.raises(UsageError, match="cannot be kept as a name"):
            invite(db, batch.id, "us", label=label, now=0.0)
    for number in (0, 99, 2**70, -1):
        with pytest.raises(NotFoundError):
            invite(db, number, "us", now=0.0)
        with pytest.raises(NotFoundError):
            revoke(db, number, 0.0)


def test_as_many_join_as_a_link_is_for(db: Database, batch: Batch) -> None:
    invitation = link(db, batch, 2)
    come(db, invitation)
    come(db, invitation, passed=False)
    come(db, invitation)
    assert invitations(db, batch.id)[0].joined == 2
    with pytest.raises(Full):
        come(db, invitation)


def test_a_personal_link_brings_its_rater_back(db: Database, batch: Batch) -> None:
    invitation = link(db, batch, 1)
    assert returning(db, invitation) is None
    first = come(db, invitation)
    assert returning(db, invitation) == first
    assert come(db, invitation) == first
    assert len(raters(db, batch.id)) == 1


def test_a_link_for_many_brings_nobody_back(db: Database, batch: Batch) -> None:
    invitation = link(db, batch)
    come(db, invitation)
    assert returning(db, invitation) is None


def test_the_same_external_id_is_the_same_rater_and_only_a_keyed_hash_is_kept(db: Database, batch: Batch) -> None:
    invitation, other = link(db, batch), link(db, batch)
    first = come(db, invitation, external="5f3a-prolific")
    assert come(db, invitation, external="5f3a-prolific") == first
    assert come(db, other, external="5f3a-prolific") == first
    assert returning(db, other, "5f3a-prolific") == first
    assert come(db, invitation, external="other").id != first.id
    assert "5f3a-prolific" not in everything(db)


def test_the_same_external_id_in_another_batch_is_another_rater(db: Database, batch: Batch) -> None:
    first = come(db, link(db, batch), external="x")
    assert come(db, link(db, batch_of(db, 2)), external="x").id != first.id


def test_who_does_not_pass_leaves_nothing_but_that(db: Database, batch: Batch) -> None:
    found = come(db, link(db, batch), passed=False, attributes={"age": "24-30"})
    assert (found.state, found.attributes) == ("screened_out", {})
    assert rate_all(db, found.id) == 0


def test_attributes_that_are_kept_come_back(db: Database, batch: Batch) -> None:
    found = come(db, link(db, batch), attributes={"languages": ["en", "中文"], "age": "24-30"})
    assert rater(db, found.id) == found
    assert found.attributes == {"languages": ["en", "中文"], "age": "24-30"}


def test_nobody_joins_a_closed_batch_but_who_joined_is_known(db: Database, batch: Batch) -> None:
    invitation = link(db, batch, 1)
    first = come(db, invitation)
    set_open(db, batch.id, False, 2.0)
    assert come(db, invitation) == first
    with pytest.raises(Closed):
        come(db, link(db, batch))


def test_pages_are_in_a_language_of_the_pool(db: Database, batch: Batch) -> None:
    with pytest.raises(BadValue, match="Its languages: en"):
        come(db, link(db, batch), language="zh")
    found = come(db, link(db, batch, pool="cn"), language="zh")
    set_language(db, found.id, "en")
    again = rater(db, found.id)
    assert again is not None
    assert again.language == "en"
    with pytest.raises(BadValue):
        set_language(db, found.id, "ko\0")


def test_a_resume_link_leads_to_its_rater_until_the_next(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    first = resume_link(db, who)
    found = by_resume(db, first)
    assert found is not None
    assert found.id == who
    second = resume_link(db, who)
    assert by_resume(db, first) is None
    assert by_resume(db, second) == found
    assert second not in everything(db)


def test_a_deleted_rater_leaves_an_id_and_a_pool_only(db: Database, batch: Batch) -> None:
    invitation = link(db, batch, 1, "cn")
    who = come(db, invitation, language="zh", attributes={"age": "24-30"}, external="prolific-7").id
    token = resume_link(db, who)
    rate_all(db, who)
    first = work(db, who)[0]
    save(db, who, given(first.id, "q1", "2", comment="my own words"), 2.0)
    kept = come(db, link(db, batch))
    rate_all(db, kept.id)
    counts = delete_rater(db, who, 3.0)
    assert (counts.assignments, counts.answers, counts.events) == (4, 8, 11)
    found = rater(db, who)
    assert found is not None
    assert (found.state, found.pool, found.attributes, found.language) == ("deleted", "cn", {}, "")
    assert by_resume(db, token) is None
    assert returning(db, invitation, "prolific-7") is None
    assert work(db, who) == []
    left = everything(db)
    assert "my own words" not in left
    assert "24-30" not in left
    assert first.id not in left
    assert len(work(db, kept.id)) == 4
    with pytest.raises(Deleted):
        delete_rater(db, who, 4.0)


def test_what_was_deleted_is_not_in_the_file_any_more(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    with opened(f"sqlite:///{file}") as db:
        db.migrate()
        made = batch_of(db, 4)
        who = come(db, link(db, made), attributes={"affiliation": "attribute of theirs"}).id
        rate_all(db, who)
        save(db, who, given(work(db, who)[0].id, "q1", "2", comment="words of theirs"), 2.0)
    assert b"words of theirs" in file.read_bytes()
    assert b"attribute of theirs" in file.read_bytes()
    with opened(f"sqlite:///{file}") as db:
        delete_rater(db, who, 3.0)
    assert b"of theirs" not in file.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == [file.name]


def test_numbers_of_events_are_not_used_again_after_a_deletion(db: Database, batch: Batch) -> None:
    who = joined(db, batch)
    with db.reading() as connection:
        last = connection.execute(select(func.max(events.c.id))).scalar_one()
    delete_rater(db, who, 1.0)
    with db.reading() as connection:
        assert connection.execute(select(func.max(events.c.id))).scalar_one() > last


def test_the_label_of_a_personal_link_goes_with_its_rater(db: Database, batch: Batch) -> None:
    for most in (1, 2):
        invitation, _ = invite(db, batch.id, "us", label=f"link for {most}", most_raters=most, now=0.0)
        delete_rater(db, join(db, invitation, language="en", attributes={}, passed=True, now=0.0).id, 1.0)
    assert [one.label for one in invitations(db, batch.id)][-2:] == ["", "link for 2"]


def test_a_personal_link_may_be_used_again_after_a_deletion(db: Database, batch: Batch) -> None:
    invitation = link(db, batch, 1)
    first = come(db, invitation)
    delete_rater(db, first.id, 2.0)
    assert come(db, invitation).id != first.id


def test_nobody_who_is_not_there_can_be_deleted_or_asked_for(db: Database, batch: Batch) -> None:
    for name in ("nobody", "", "a\0", "\ud800", "a" * 65):
        assert rater(db, name) is None
        for act in (delete_rater, resume_link):
            with pytest.raises(Deleted):
                act(db, name, *([1.0] if act is delete_rater else []))


def test_wrong_tokens_are_counted_by_address_for_ten_minutes(db: Database) -> None:
    for number in range(20):
        assert not too_many_guesses(db, "10.0.0.1", 100.0 + number)
        guessed_wrong(db, "10.0.0.1", 100.0 + number)
    assert too_many_guesses(db, "10.0.0.1", 119.0)
    assert too_many_guesses(db, "10.0.0.1", 700.0)
    assert not too_many_guesses(db, "10.0.0.1", 701.0)
    assert not too_many_guesses(db, "10.0.0.2", 119.0)
    assert "10.0.0.1" not in everything(db)
    guessed_wrong(db, "10.0.0.2", 10_000.0)
    assert everything(db).count("(") == len(everything(db).splitlines()) == 2
