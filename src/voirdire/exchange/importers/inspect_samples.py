"""One sample of a log of Inspect AI: its scores, what they say, and why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voirdire.exchange.importers import judged
from voirdire.exchange.importers.records import ID, Record

VALUES = (str, int, float, bool)
LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
ATTACHMENT = "attachment://"


@dataclass(frozen=True)
class Sample:
    """A sample.

    record : where it stands; scores : scorer -> record of its score
    """

    record: Record
    scores: Mapping[str, Record] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its id, as text."""
        return str(self.record.need("id", ID))

    @property
    def epoch(self) -> int:
        """The epoch: which time the sample was run."""
        return int(self.record.need("epoch", int))

    @property
    def error(self) -> str | None:
        """What went wrong, or the limit that ended the sample; None where it ran to its end."""
        message = judged.lookup(self.record.value, "error.message")
        limit = judged.lookup(self.record.value, "limit.type")
        return str(message) if message else f"limit: {limit}" if limit else None

    @property
    def invalidated(self) -> bool:
        """Whether somebody declared the sample invalid."""
        return bool(self.record.value.get("invalidation"))

    def values(self, scorer: str) -> dict[str, Any]:
        """Score -> value, of one scorer; none where it gave no score."""
        score = self.scores.get(scorer)
        return {} if score is None else judged.scores_in(scorer, score.value["value"])

    def graded(self, scorer: str) -> bool:
        """Whether a model graded for the scorer."""
        return bool(self._grading(scorer))

    def grader(self, scorer: str) -> str | None:
        """The model whose message the grade is."""
        said = [message.get("model") for message in self._grading(scorer) if isinstance(message, dict)]
        return next((str(model) for model in reversed(said) if model), None)

    def status(self, scorer: str, value: Any) -> str:
        """Why there is a value or none."""
        if self.record.value.get("error"):
            return judged.ERROR
        if scorer not in self.scores:
            return judged.ERROR if self.error else judged.PENDING
        missing = value is None or (isinstance(value, float) and math.isnan(value))
        filtered = judged.lookup(self.record.value, "output.choices.0.stop_reason") == "content_filter"
        return judged.REFUSED if missing and filtered else judged.OK

    def raw(self, scorer: str, *, graded: bool) -> str | None:
        """What the judge said: the grader's explanation, or what the model answered."""
        score = self.scores.get(scorer)
        if graded:
            return self._text(score.value.get("explanation")) if score is not None else None
        output = judged.lookup(self.record.value, "output.completion")
        message = output if output else judged.lookup(self.record.value, "output.choices.0.message.content")
        return self._text(message)

    def item(self) -> dict[str, Any]:
        """What is known of the item: the text of its input, and the target, which no number uses."""
        target = self.record.value.get("target")
        return {"text": self._text(self.record.value.get("input")), "true_target": target or None}

    def _grading(self, scorer: str) -> list[Any]:
        score = self.scores.get(scorer)
        found = judged.lookup(score.value, "metadata.grading") if score is not None else None
        return found if isinstance(found, list) else []

    def _text(self, content: Any) -> str | None:
        """The text of a text, of messages of a user, or of parts of a message; attachments are put in."""
        if isinstance(content, str):
            key = content.removeprefix(ATTACHMENT)
            stored = judged.lookup(self.record.value, "attachments") if key != content else None
            return stored.get(key, content) if isinstance(stored, dict) else content
        if not isinstance(content, list):
            return None
        parts = [part for part in content if isinstance(part, dict) and part.get("role", "user") == "user"]
        texts = [self._text(part.get("text", part.get("content"))) for part in parts]
        return "\n".join(text for text in texts if text) or None


def of_record(record: Record, results: Mapping[str, Any]) -> Sample:
    """A sample of a log. Raises InputError for one without an id, an epoch, or with a score of another kind.

    results : of the header; the first version of logs has one score a sample, whose scorer stands there
    """
    record.need("id", ID)
    record.need("epoch", int)
    record.may("error", dict)
    if "scores" not in record.value and record.may("score", dict):
        name = judged.lookup(results, "scorer.name") or judged.lookup(results, "scores.0.name") or "score"
        return Sample(record, {str(name): _checked(record.inside("score"))})
    holder = record.inside("scores")
    return Sample(record, {name: _checked(holder.inside(name)) for name in holder.value if holder.value[name]})


def letters(value: Any) -> Any:
    """Inspect's letters as its own metrics count them: C 1, P 0.5, I and N 0; anything else as it is.

    >>> letters("P"), letters("4"), letters(2)
    (0.5, '4', 2)
    """
    return LETTERS.get(value, value) if isinstance(value, str) else value


def _checked(score: Record) -> Record:
    """A score whose value is one that Inspect has. Raises InputError."""
    value = score.value.get("value")
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    if "value" not in score.value:
        raise score.error("importing.field_missing", "value", known=", ".join(map(str, score.value)) or "-")
    wrong = [one for one in inner if one is not None and not isinstance(one, VALUES)]
    if wrong:
        raise score.error("inspect.value", "value", wrong[0])
    return score
