"""The tables of the first version, and a history that the database refuses to change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

SQLITE_TRIGGERS = (
    """
    CREATE TRIGGER events_stay BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only added'); END
    """,
    """
    CREATE TRIGGER events_kept BEFORE DELETE ON events
    WHEN NOT EXISTS (SELECT 1 FROM raters WHERE id = OLD.rater_id AND state = 'deleted')
    BEGIN SELECT RAISE(ABORT, 'events are only added'); END
    """,
)
POSTGRESQL_TRIGGERS = (
    """
    CREATE FUNCTION voirdire_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM raters WHERE id = OLD.rater_id AND state = 'deleted') THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'events are only added' USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    """
    CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION voirdire_events_stay()
    """,
)


def upgrade() -> None:
    """Make the tables."""
    _batches()
    _people()
    _work()
    _history()
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    for trigger in SQLITE_TRIGGERS if on_sqlite else POSTGRESQL_TRIGGERS:
        op.execute(trigger)


def _batches() -> None:
    op.create_table(
        "service", sa.Column("name", sa.Text, nullable=False), sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_service"),
    )  # fmt: skip
    op.create_table(
        "batches",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
    )
    op.create_table(
        "batch_pools",
        sa.Column("batch_id", sa.Integer, nullable=False),
        sa.Column("pool", sa.Text, nullable=False),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "pool", name="pk_batch_pools"),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_batch_pools_batch_id"),
        sa.UniqueConstraint("batch_id", "pool", "wanted", name="uq_batch_pools_batch_id_pool_wanted"),
        sa.CheckConstraint("wanted >= 1", name=op.f("ck_batch_pools_wanted")),
    )


def _people() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("batch_id", sa.Integer, nullable=False),
        sa.Column("pool", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("most_raters", sa.Integer),
        sa.Column("revoked_at", sa.Double),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.ForeignKeyConstraint(
            ["batch_id", "pool"], ["batch_pools.batch_id", "batch_pools.pool"], name="fk_invitations_batch_id"
        ),
        sa.UniqueConstraint("token_hash", name="uq_invitations_token_hash"),
        sa.CheckConstraint("most_raters >= 1", name=op.f("ck_invitations_most_raters")),
    )
    op.create_table(
        "guesses",
        sa.Column("id", Number, nullable=False),
        sa.Column("who_hash", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_guesses"),
    )
    op.create_index("ix_guesses_who_hash_at", "guesses", ["who_hash", "at"])
    op.create_index("ix_guesses_at", "guesses", ["at"])
    op.create_table("raters", *_rater_columns(), *_rater_rules())
    op.create_index("ix_raters_batch_id_pool", "raters", ["batch_id", "pool"])
    op.create_index("ix_raters_invitation_id", "raters", ["invitation_id"])


def _rater_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("batch_id", sa.Integer, nullable=False),
        sa.Column("pool", sa.Text, nullable=False),
        sa.Column("invitation_id", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("attributes", sa.Text, nullable=False),
        sa.Column("external_hash", sa.Text),
        sa.Column("resume_hash", sa.Text),
        sa.Column("joined_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("deleted_at", sa.Double),
    ]


def _rater_rules() -> list[sa.Constraint]:
    return [
        sa.PrimaryKeyConstraint("id", name="pk_raters"),
        sa.ForeignKeyConstraint(["invitation_id"], ["invitations.id"], name="fk_raters_invitation_id"),
        sa.ForeignKeyConstraint(
            ["batch_id", "pool"], ["batch_pools.batch_id", "batch_pools.pool"], name="fk_raters_batch_id"
        ),
        sa.UniqueConstraint("batch_id", "external_hash", name="uq_raters_batch_id_external_hash"),
        sa.UniqueConstraint("resume_hash", name="uq_raters_resume_hash"),
        sa.CheckConstraint("state IN ('screened_out', 'active', 'finished', 'deleted')", name=op.f("ck_raters_state")),
    ]


def _work() -> None:
    op.create_table("assignments", *_assignment_columns(), *_assignment_rules())
    op.create_table(
        "answers",
        sa.Column("assignment_id", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("answered_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("assignment_id", "question", name="pk_answers"),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_answers_assignment_id", ondelete="CASCADE"
        ),
    )


def _assignment_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("batch_id", sa.Integer, nullable=False),
        sa.Column("pool", sa.Text, nullable=False),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("rater_id", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("slot", sa.Integer),
        sa.Column("assigned_at", sa.Double, nullable=False),
        sa.Column("done_at", sa.Double),
    ]


def _assignment_rules() -> list[sa.Constraint]:
    held = "(slot IS NOT NULL) = (kind = 'item' AND state IN ('open', 'done'))"
    return [
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_assignments_rater_id"),
        sa.ForeignKeyConstraint(
            ["batch_id", "pool", "wanted"],
            ["batch_pools.batch_id", "batch_pools.pool", "batch_pools.wanted"],
            name="fk_assignments_batch_id",
        ),
        sa.UniqueConstraint("batch_id", "pool", "item_id", "slot", name="uq_assignments_batch_id_pool_item_id_slot"),
        sa.UniqueConstraint("rater_id", "kind", "item_id", name="uq_assignments_rater_id_kind_item_id"),
        sa.UniqueConstraint("rater_id", "place", name="uq_assignments_rater_id_place"),
        sa.CheckConstraint("kind IN ('item', 'repeat', 'gold')", name=op.f("ck_assignments_kind")),
        sa.CheckConstraint("state IN ('open', 'done', 'returned', 'surplus')", name=op.f("ck_assignments_state")),
        sa.CheckConstraint("slot BETWEEN 1 AND wanted", name=op.f("ck_assignments_slot")),
        sa.CheckConstraint(held, name=op.f("ck_assignments_slot_held")),
    ]


def _history() -> None:
    op.create_table(
        "events",
        sa.Column("id", Number, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("batch_id", sa.Integer),
        sa.Column("rater_id", sa.Text),
        sa.Column("assignment_id", sa.Text),
        sa.Column("key", sa.Text),
        sa.Column("question", sa.Text),
        sa.Column("value", sa.Text),
        sa.Column("comment", sa.Text),
        sa.Column("language", sa.Text),
        sa.Column("seconds", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_events_rater_id"),
        sa.UniqueConstraint("rater_id", "key", name="uq_events_rater_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "verdicts",
        sa.Column("batch_id", sa.Integer, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("decided_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "item_id", name="pk_verdicts"),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_verdicts_batch_id"),
    )
