"""``[equivalence]`` of corpus.toml: do the words of the rating scales mean the same in each language of the corpus?

::

    [equivalence]
    checked = true
    at = "2026-04-18T09:30:00.000Z"
    margin = 0.25
    confidence = 0.95
    compared = [{question = "q1", pool = "*", first = "en", second = "zh", finding = "equal", shift = 0.02, ...}]
    unchecked = ["q2"]      # questions that nobody compared
    outdated = ["q3"]       # questions whose words were changed since

A corpus in one language has no such table, and neither has one that says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.corpus.corpus import Note

SECTION = "equivalence"
ALL = "*"
EQUAL, SHIFTED, SMALL, OPEN, UNDEFINED = "equal", "shifted", "small", "open", "undefined"
SHOWN = (EQUAL, SMALL)
"""Findings that nobody needs to be warned of."""

FINDINGS = (EQUAL, SMALL, SHIFTED, OPEN, UNDEFINED)


def equivalence_notes(told: Mapping[str, Any]) -> tuple[Note, ...]:
    """What ``[equivalence]`` says; none where it says nothing. What is of another form is passed over.

    The comparisons of all raters together, and of single pools where the words are shown to differ.

    >>> equivalence_notes({"checked": False})[0].key, equivalence_notes({})
    ('equivalence.unchecked', ())
    >>> row = {"question": "q1", "pool": "*", "finding": "equal", "shift": -0.02, "low": -0.1, "high": 0.06}
    >>> found, = equivalence_notes({"checked": True, "margin": 0.25, "compared": [row]})
    >>> found.key, found.fields["value"], found.kind
    ('equivalence.equal', '−0.02', 'info')
    """
    if not told:
        return ()
    if told.get("checked") is not True:
        return (Note("equivalence.unchecked", {}, "warning"),)
    notes = [_note(row, told) for row in rows_of(told) if row.get("pool") == ALL or row.get("finding") == SHIFTED]
    notes += [Note("equivalence.outdated", {"question": one}, "warning") for one in _names(told, "outdated")]
    notes += [Note("equivalence.question_unchecked", {"question": one}, "warning") for one in _names(told, "unchecked")]
    return tuple(notes)


def rows_of(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The comparisons in words that still stand: those of questions whose words were changed since are left out."""
    rows = told.get("compared", [])
    outdated = set(_names(told, "outdated"))
    for row in rows if isinstance(rows, list | tuple) else []:
        if isinstance(row, Mapping) and row.get("finding") in FINDINGS and row.get("question") not in outdated:
            yield row


def row_fields(row: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, str]:
    """What a sentence about a comparison names."""
    names = {name: str(row.get(name, "")) for name in ("question", "first", "second", "pool", "raters", "items")}
    numbers = {"value": row.get("shift"), "low": row.get("low"), "high": row.get("high")}
    margin = told.get("margin")
    shown = f"{margin:g}" if isinstance(margin, int | float) else "-"
    return {**names, "margin": shown, **{name: signed(value) for name, value in numbers.items()}}


def signed(value: Any) -> str:
    """A number with its sign and two decimals.

    >>> signed(0.25), signed(-0.1), signed(None)
    ('+0.25', '−0.10', '-')
    """
    return f"{value:+.2f}".replace("-", "\u2212") if isinstance(value, int | float) else "-"


def _note(row: Mapping[str, Any], told: Mapping[str, Any]) -> Note:
    finding = str(row["finding"])
    key = "equivalence.shifted_pool" if row.get("pool") != ALL else f"equivalence.{finding}"
    return Note(key, row_fields(row, told), "info" if finding in SHOWN else "warning")


def _names(told: Mapping[str, Any], key: str) -> list[str]:
    found = told.get(key, [])
    return [str(one) for one in found] if isinstance(found, list | tuple) else []
