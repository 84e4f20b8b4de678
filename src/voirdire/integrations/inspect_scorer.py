"""A scorer, a solver and a metric for Inspect AI: replies are read by voirdire's rules and reported for every pool.

Made for inspect_ai 0.3.285 or later; without it each of these names raises UsageError. A sample says in its metadata
what it asks: ``low`` and ``high`` (the ends of the scale), ``reversed``, ``again`` (what is added to the message after
malformed replies) and ``consensus`` (pool -> value). ``voirdire export inspect`` writes all of them.

    from voirdire.integrations.inspect_scorer import ask_again, rating

    Task(dataset=..., solver=ask_again(), scorer=rating())
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from voirdire.errors import InputError, UsageError
from voirdire.integrations.pooled import Answer, Rated, per_pool, read_answer
from voirdire.judging.work import MALFORMED_RETRIES

FINISHES = {"max_tokens": "length", "model_length": "length", "content_filter": "filter"}
REASONS = {"malformed": "invalid_response_format", "refused": "refusal"}
"""Inspect's own words for why a sample has no score."""


def rating(low: float | None = None, high: float | None = None) -> Any:
    """A scorer: the rating on the question's own scale, or no score where the reply is none, with the reason.

    low, high : the ends of the scale, for samples whose metadata do not say them

    Its metrics are those of ``pools``.
    """
    return _parts().rating(low=low, high=high)


def ask_again() -> Any:
    """A solver: asks, and after a malformed reply asks anew with one more sentence, as ``voirdire run`` does."""
    return _parts().ask_again()


def pools() -> Any:
    """A metric: ``mae`` against every pool's consensus and ``delta`` between every pair, over all that was rated.

    Where several questions are asked, their names stand before the numbers.
    """
    return _parts().pools()


def answer_of(state: Any, low: float | None = None, high: float | None = None) -> Answer:
    """The reply of a sample, as it was read. Raises InputError for a sample that does not say its scale."""
    told = state.metadata or {}
    first, last = told.get("low", low), told.get("high", high)
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        raise InputError("integrations.sample_scale", sample=state.sample_id)
    finish = FINISHES.get(str(state.output.stop_reason), "stop")
    turned = bool(told.get("reversed"))
    return read_answer(state.output.completion, first, last, reversed_scale=turned, finish=finish)


def numbers(scores: list[Any]) -> dict[str, float]:
    """The numbers of ``pools`` from Inspect's scores of samples that have a value."""
    by_question: dict[str, list[Rated]] = {}
    for one in scores:
        told: Mapping[str, Any] = one.sample_metadata or {}
        rated = Rated(one.sample_id, one.score.as_float(), told.get("consensus") or {})
        by_question.setdefault(str(told.get("question", "")), []).append(rated)
    several = len(by_question) > 1
    return {
        f"{question}: {name}" if several else name: value
        for question, rated in by_question.items()
        for name, value in per_pool(rated).items()
    }


@cache
def _parts() -> SimpleNamespace:
    """What Inspect's registry knows; made when it is asked for, so that this module can be read without Inspect."""
    try:
        from inspect_ai import scorer, solver
    except ImportError as error:
        raise UsageError("integrations.inspect_missing") from error
    metric = scorer.metric(name="voirdire_pools", scores="unreduced")(lambda: numbers)
    made = scorer.scorer(metrics=[metric()], name="voirdire")(_scoring)
    return SimpleNamespace(rating=made, pools=metric, ask_again=solver.solver(name="voirdire_ask_again")(_asking))


def _scoring(low: float | None = None, high: float | None = None) -> Any:
    from inspect_ai.scorer import Score

    async def score(state: Any, target: Any) -> Any:  # noqa: ARG001 - pools have consensuses, a target is nobody's
        answer = answer_of(state, low, high)
        reading = answer.reading
        told = {"status": reading.kind, "why": reading.why, "attempts": state.metadata.get("attempts", 1)}
        if answer.rating is None:
            return Score.unscored(reason=REASONS[reading.kind], explanation=answer.said(), metadata=told)
        return Score(value=answer.rating, answer=str(reading.rating), metadata=told)

    return score


def _asking() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        first, again = list(state.messages), (state.metadata or {}).get("again") or [""]
        state = await generate(state)
        attempts = 1
        while attempts <= MALFORMED_RETRIES and answer_of(state).reading.kind == "malformed":
            added = again[min(attempts, len(again)) - 1]
            state.messages = [*first[:-1], with_added(first[-1], added)]
            state = await generate(state)
            attempts += 1
        state.metadata["attempts"] = attempts
        return state

    return solve


def with_added(message: Any, added: str) -> Any:
    """A message with a sentence at the end of its last text."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": message.content + added})
    *before, last = message.content
    return message.model_copy(update={"content": [*before, last.model_copy(update={"text": last.text + added})]})
