"""Whether an answer is one that the question can have."""

from __future__ import annotations

import math
import re

from voirdire.annotation.nouns import NOT_APPLICABLE, Asked, Given, PoolPlan, Study
from voirdire.annotation.refusals import BadValue
from voirdire.annotation.study_questions import levels
from voirdire.annotation.untrusted import LONGEST_TEXT, is_text, short

KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
LONGEST_SECONDS = 86_400.0


def check_given(study: Study, plan: PoolPlan, given: Given) -> None:
    """Raise BadValue for an answer that the study does not allow: question, value, comment, language, seconds."""
    known = {question.id: question for question in study.questions}
    question = known.get(given.question)
    if question is None:
        raise BadValue("annotation.question_unknown", value=short(given.question), known=", ".join(known))
    if given.value is not None and not allowed(question, given.value):
        raise BadValue("annotation.bad_value", question=question.id, value=short(given.value), known=told(question))
    if given.comment and not (question.comment and is_text(given.comment)):
        raise BadValue("annotation.bad_comment", question=question.id, limit=LONGEST_TEXT)
    if given.language and given.language not in plan.languages:
        raise BadValue("annotation.language", value=short(given.language), known=", ".join(plan.languages))
    if not math.isfinite(given.seconds) or given.seconds < 0:
        raise BadValue("annotation.bad_seconds", question=question.id, value=given.seconds)


def check_key(key: str) -> None:
    """Raise BadValue for a key that is not 16 to 64 characters of A-Z a-z 0-9 - _."""
    if not KEY.fullmatch(key):
        raise BadValue("annotation.bad_key", value=short(key))


def allowed(question: Asked, value: str) -> bool:
    """Whether a value is an answer to a question.

    >>> allowed(Asked("q", "buttons", low=1, high=5), "5"), allowed(Asked("q", "buttons", low=1, high=5), "5.0")
    (True, False)
    """
    if value == NOT_APPLICABLE and question.not_applicable:
        return True
    if question.widget == "text":
        return bool(value.strip()) and is_text(value)
    if question.widget == "number":
        whole = question.level != "ordinal" or "." not in value
        return whole and bool(NUMBER.fullmatch(value)) and _within(question, float(value))
    return value in levels(question)


def told(question: Asked) -> str:
    """What a question takes, for an error."""
    if question.widget in ("number", "text"):
        ends = ("" if end is None else f"{end:g}" for end in (question.low, question.high))
        known = ["..".join(ends)] if question.widget == "number" else [f"1..{LONGEST_TEXT}"]
    else:
        known = list(levels(question))
    return ", ".join([*known, *([NOT_APPLICABLE] if question.not_applicable else [])])


def _within(question: Asked, number: float) -> bool:
    return (question.low is None or number >= question.low) and (question.high is None or number <= question.high)
