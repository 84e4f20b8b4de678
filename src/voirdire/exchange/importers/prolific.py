"""Prolific's demographic export of a study: one row a submission, with what participants say of themselves.

Columns as Prolific writes them: Submission id, Participant id, Status, times and codes of the submission, then the
demographics. Answers that a participant no longer lets be seen stand as DATA_EXPIRED or CONSENT_REVOKED.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from voirdire.corpus.columns import normal
from voirdire.tables import Table, read_table

SUBMISSION, PARTICIPANT, STATUS = "submission_id", "participant_id", "status"
WITHDRAWN = ("DATA_EXPIRED", "CONSENT_REVOKED")
GOOD = ("APPROVED", "AWAITING REVIEW", "ACTIVE")
_OF_SUBMISSION = (
    "submission_id session_id status custom_study_tncs_accepted_at started_at completed_at reviewed_at archived_at "
    "time_taken completion_code total_approvals"
)
OF_SUBMISSION = frozenset(_OF_SUBMISSION.split())
"""Columns that tell of the submission and not of the participant."""


def is_export(frame: pl.DataFrame) -> bool:
    """Whether a table is this export.

    >>> is_export(pl.DataFrame({"Submission id": ["s"], "Participant id": ["p"], "Status": ["APPROVED"]}))
    True
    """
    return {SUBMISSION, PARTICIPANT, STATUS} <= {normal(name) for name in frame.columns}


def of_participants(frame: pl.DataFrame) -> pl.DataFrame:
    """The export without the columns of submissions; what was withdrawn is missing. Other tables stay as they are.

    >>> of_participants(pl.DataFrame({"Submission id": ["s"], "Participant id": ["p"], "Status": ["APPROVED"],
    ...     "Age": ["DATA_EXPIRED"]})).rows()
    [('p', None)]
    """
    if not is_export(frame):
        return frame
    kept = [name for name in frame.columns if normal(name) not in OF_SUBMISSION]
    texts = [name for name in kept if frame[name].dtype == pl.String]
    gone = (pl.when(~pl.col(name).is_in(WITHDRAWN)).then(pl.col(name)).alias(name) for name in texts)
    return frame.select(kept).with_columns(gone)


def not_approved(path: Path | None) -> dict[str, str]:
    """Participant -> status, of those none of whose submissions stands: returned, timed out, rejected.

    path : a table of raters; empty where it is none of Prolific's
    """
    if path is None or path.suffix == ".json":
        return {}
    table: Table = read_table(path)
    if not is_export(table.frame):
        return {}
    named = {normal(name): name for name in table.frame.columns}
    found: dict[str, str] = {}
    good: set[str] = set()
    for participant, status in table.frame.select(named[PARTICIPANT], named[STATUS]).iter_rows():
        if participant is None:
            continue
        plain = (status or "").upper().replace("_", " ").replace("-", " ")
        found[participant] = plain.casefold()
        if plain in GOOD:
            good.add(participant)
    return {participant: status for participant, status in found.items() if participant not in good}
