"""The tables. Times are seconds since 1970 (UTC); secrets of links are kept as hashes only.

What the database itself refuses: an item with more raters of a pool than the batch wants (``slot`` is one of
1 .. wanted, and unique for the item), an item twice in a rater's order, a key of a rater that was used before, a
change to the history.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# SQLite counts up by itself only in a column that is called INTEGER
Number = BigInteger().with_variant(Integer, "sqlite")

service = Table("service", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

batches = Table(
    "batches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("spec", Text, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("created_at", Double, nullable=False),
)

batch_pools = Table(
    "batch_pools",
    metadata,
    Column("batch_id", Integer, ForeignKey("batches.id"), primary_key=True),
    Column("pool", Text, primary_key=True),
    Column("wanted", Integer, nullable=False),
    UniqueConstraint("batch_id", "pool", "wanted"),
    CheckConstraint("wanted >= 1", name="wanted"),
)
"""``wanted`` : raters per item. The row is what claims of this pool lock, so that they go one after the other."""

invitations = Table(
    "invitations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch_id", Integer, nullable=False),
    Column("pool", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("token_hash", Text, nullable=False),
    Column("most_raters", Integer),
    Column("revoked_at", Double),
    Column("created_at", Double, nullable=False),
    ForeignKeyConstraint(["batch_id", "pool"], ["batch_pools.batch_id", "batch_pools.pool"]),
    UniqueConstraint("token_hash"),
    CheckConstraint("most_raters >= 1", name="most_raters"),
)

guesses = Table(
    "guesses",
    metadata,
    Column("id", Number, primary_key=True),
    Column("who_hash", Text, nullable=False),
    Column("at", Double, nullable=False),
    Index(None, "who_hash", "at"),
    Index(None, "at"),
)

raters = Table(
    "raters",
    metadata,
    Column("id", Text, primary_key=True),
    Column("batch_id", Integer, nullable=False),
    Column("pool", Text, nullable=False),
    Column("invitation_id", Integer, ForeignKey("invitations.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("attributes", Text, nullable=False),
    Column("external_hash", Text),
    Column("resume_hash", Text),
    Column("joined_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("deleted_at", Double),
    ForeignKeyConstraint(["batch_id", "pool"], ["batch_pools.batch_id", "batch_pools.pool"]),
    UniqueConstraint("batch_id", "external_hash"),
    UniqueConstraint("resume_hash"),
    Index(None, "batch_id", "pool"),
    Index(None, "invitation_id"),
    CheckConstraint("state IN ('screened_out', 'active', 'finished', 'deleted')", name="state"),
)
"""A deleted rater keeps its id, pool and times; ``seen_at`` is what leases are counted from."""

assignments = Table(
    "assignments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("batch_id", Integer, nullable=False),
    Column("pool", Text, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("rater_id", Text, ForeignKey("raters.id"), nullable=False),
    Column("item_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Column("slot", Integer),
    Column("assigned_at", Double, nullable=False),
    Column("done_at", Double),
    ForeignKeyConstraint(
        ["batch_id", "pool", "wanted"], ["batch_pools.batch_id", "batch_pools.pool", "batch_pools.wanted"]
    ),
    UniqueConstraint("batch_id", "pool", "item_id", "slot"),
    UniqueConstraint("rater_id", "kind", "item_id"),
    UniqueConstraint("rater_id", "place"),
    CheckConstraint("kind IN ('item', 'repeat', 'gold')", name="kind"),
    CheckConstraint("state IN ('open', 'done', 'returned', 'surplus')", name="state"),
    CheckConstraint("slot BETWEEN 1 AND wanted", name="slot"),
    CheckConstraint("(slot IS NOT NULL) = (kind = 'item' AND state IN ('open', 'done'))", name="slot_held"),
)
"""``place`` : in the rater's order. ``slot`` : which of the item's places in its pool, 1 .. wanted, it takes."""

answers = Table(
    "answers",
    metadata,
    Column("assignment_id", Text, ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True),
    Column("question", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("answered_at", Double, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", Number, primary_key=True),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("batch_id", Integer),
    Column("rater_id", Text, ForeignKey("raters.id")),
    Column("assignment_id", Text),
    Column("key", Text),
    Column("question", Text),
    Column("value", Text),
    Column("comment", Text),
    Column("language", Text),
    Column("seconds", Double),
    UniqueConstraint("rater_id", "key"),
    sqlite_autoincrement=True,
)
"""Every change, only ever added to; those of a rater go when the rater is deleted. Numbers are not used again.

kind : ``answer`` (value NULL: taken back), ``assigned``, ``returned``, ``taken_again``, ``joined``, ``finished``,
``deleted``, ``opened``, ``closed``, ``invited``, ``revoked``, ``corpus_changed`` (value: digests and items, as JSON);
key : of an answer, made by the page
"""

verdicts = Table(
    "verdicts",
    metadata,
    Column("batch_id", Integer, ForeignKey("batches.id"), primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("decided_at", Double, nullable=False),
)
