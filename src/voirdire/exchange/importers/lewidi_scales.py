"""Scales of LeWiDi's questions, as the soft labels of the items tell them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.exchange.importers.cells import cell, question
from voirdire.exchange.importers.records import Record

TASK = "annotation task"
KNOWN = {"abus": range(-3, 2), "sarcasm": range(1, 7), "paraphras": range(-5, 6)}
"""Task, by a part of its name -> its scale, as the readme files of both editions tell it. ConvAbuse: -3 to -1 abusive,
0 ambiguous, 1 not abusive, while its soft labels are of abusive or not. CSC (sarcasm): 1 to 6, while its soft labels
begin at 0, which nobody answers. Paraphrase: -5 to 5."""


@dataclass
class Scales:
    """Labels by question, in the order in which the questions first occur.

    labels : question -> labels that are known; tasks : question -> what was asked
    given : question whose scale only soft labels tell -> the labels that somebody gave
    """

    labels: dict[str, list[str]] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    given: dict[str, set[str]] = field(default_factory=dict)

    def answers(self, record: Record, task: str, soft: Any, given: str | None) -> Iterator[tuple[str, str | None]]:
        """The question and the answer; where several labels may be given, a question for each with 1 or 0.

        Raises InputError for an answer that is none of the labels.
        """
        known = [str(cell(_number(name))) for name in soft] if isinstance(soft, dict) else []
        if isinstance(soft, dict) and soft and all(isinstance(part, dict) for part in soft.values()):
            yield from self._several(record, list(map(str, soft)), given)
            return
        scale = next((levels for part, levels in KNOWN.items() if part in task), None)
        known = known if scale is None else list(map(str, scale))
        value = None if given is None else str(cell(_number(given)))
        if value is not None and known and value not in known:
            raise record.error("research.lewidi.label", "annotations", given, known=", ".join(known))
        self._add(task, [*known, *([value] if value is not None else [])], record.need(TASK, str))
        if value is not None and scale is None:
            self.given.setdefault(task, set()).add(value)
        yield task, value

    def further(self, name: str, value: str | None) -> None:
        """Another question that the annotators answered."""
        self._add(name, [] if value is None else [value], name.replace("_", " "))

    def questions(self) -> list[dict[str, Any]]:
        """The questions table."""
        return [self._row(name, labels) for name, labels in self.labels.items()]

    def unused(self) -> list[Note]:
        """Ends of a scale that only the soft labels tell, and that nobody gave: whether they are levels is not sure."""
        notes = []
        for name, given in self.given.items():
            row = self._row(name, self.labels[name])
            ends = [str(row[end]) for end in ("min", "max") if row["level"] == "ordinal"]
            lacking = ", ".join(end for end in ends if end not in given)
            if lacking:
                fields = {"question": name, "low": ends[0], "high": ends[1], "value": lacking}
                notes.append(Note("research.lewidi.unused", fields, "warning"))
        return notes

    def _several(self, record: Record, labels: list[str], given: str | None) -> Iterator[tuple[str, str | None]]:
        chosen = [] if given is None else [part.strip() for part in given.split(",")]
        wrong = next((label for label in chosen if label not in labels), None)
        if wrong is not None:
            raise record.error("research.lewidi.label", "annotations", given, known=", ".join(labels))
        for label in labels:
            self._add(label, ["0", "1"], f"{record.need(TASK, str)}: {label}")
            yield label, None if given is None else str(int(label in chosen))

    def _add(self, name: str, labels: list[str], told: str) -> None:
        known = self.labels.setdefault(name, [])
        known += [label for label in labels if label not in known]
        self.tasks.setdefault(name, told)

    def _row(self, name: str, labels: list[str]) -> dict[str, Any]:
        text = {"en": self.tasks[name]}
        if set(labels) <= {"0", "1"}:
            return question(name, "nominal", labels=("0", "1"), positive="1", text=text)
        if all(label.lstrip("-").isdecimal() for label in labels):
            numbers = [int(label) for label in labels]
            return question(name, "ordinal", min(numbers), max(numbers), text=text)
        return question(name, "nominal", labels=labels, text=text)


def _number(name: Any) -> Any:
    """``1.0`` as 1: MultiPICo writes labels as decimals in some places and as whole numbers in others."""
    try:
        return float(name)
    except (TypeError, ValueError):
        return name
