"""Bringing a database to the form of this version, with Alembic's steps in ``versions``."""

from __future__ import annotations

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.runtime.migration import MigrationStep, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from voirdire.errors import UsageError

VERSION_TABLE = "voirdire_version"
ONE_AT_A_TIME = 7_305_201_844
"""The number of the lock under which processes that start together migrate one after the other."""


def upgrade(connection: Connection, name: str) -> None:
    """Run the steps that a database lacks, in the caller's transaction.

    name : of the database, for errors. Raises UsageError when a newer version wrote it.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ONE_AT_A_TIME})
    scripts = ScriptDirectory(str(Path(__file__).parent))
    known = {script.revision for script in scripts.walk_revisions()}

    def lacking(heads: object, _: MigrationContext) -> list[MigrationStep]:
        lower = next(iter(heads), "base") if isinstance(heads, tuple) else "base"
        steps = [script for script in scripts.iterate_revisions("head", lower) if script.revision != lower]
        return [RevisionStep.upgrade_from_script(scripts.revision_map, script) for script in reversed(steps)]

    context = MigrationContext.configure(connection, opts={"fn": lacking, "version_table": VERSION_TABLE})
    newer = set(context.get_current_heads()) - known
    if newer:
        raise UsageError("annotation.database_newer", value=name, version=", ".join(sorted(newer)))
    with Operations.context(context):
        context.run_migrations()
