"""``[screening]`` of corpus.toml: by which rule pairs were screened, what was suggested, and what people overruled.

::

    [screening]
    suggested = {keep = 16, drop = 1, undecided = 1}
    rules = [{question = "q1", concepts = 18, confidence = 0.9, least_gap = 0.25, ...}]
    unusual = [{name = "least_gap", value = 0.01, usual = 0.25}]      # thresholds other than voirdire's
    same_ratings = 18        # concepts whose ratings are those by which they were screened, where they are many
    overruled = [{concept = "teapot", suggested = "drop", reasons = ["gap"], decided = "keep", by = "ana", why = "..."}]

``suggested`` counts the concepts that are frozen, and ``overruled`` those of them whose verdict is a person's and not
the one that was suggested. A corpus that says nothing of its screening has no such table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.corpus.corpus import Note

SECTION = "screening"
VERDICTS = ("keep", "drop", "undecided")
LEAD = "lead"
"""Who decides on the lead's pages: whoever holds the lead's secret."""


def screening_notes(told: Mapping[str, Any]) -> tuple[Note, ...]:
    """What ``[screening]`` says; none where it says nothing. What is of another form is passed over.

    >>> told = {"suggested": {"keep": 16, "drop": 1, "undecided": 0}, "unusual": [{"name": "least_gap", "value": 0.01}]}
    >>> [note.key for note in screening_notes(told)]
    ['screened.suggested', 'screened.unusual']
    """
    return tuple(_notes(told))


def _notes(told: Mapping[str, Any]) -> Iterator[Note]:
    suggested = told.get("suggested")
    if isinstance(suggested, Mapping):
        yield Note("screened.suggested", {name: str(suggested.get(name, 0)) for name in VERDICTS})
    same = told.get("same_ratings")
    if isinstance(same, int) and same > 0:
        yield Note("screened.same_ratings", {"count": str(same)}, "warning")
    for row in _rows(told, "unusual"):
        fields = {name: str(row.get(name, "")) for name in ("name", "value", "usual")}
        yield Note("screened.unusual", fields, "warning")
    for row in _rows(told, "overruled"):
        fields = {name: str(row.get(name, "")) for name in ("concept", "by", "why")}
        fields["reasons"] = ", ".join(_texts(row.get("reasons")))
        kind = "drop" if row.get("suggested") == "drop" else "undecided"
        yield Note(f"screened.kept_{kind}{'_by_lead' if fields['by'] == LEAD else ''}", fields, "warning")


def _rows(told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = told.get(name)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []
