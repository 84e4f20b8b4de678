"""What a screening suggested and what a person decided, in the history of the corpus that is being built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.construction.concepts import CONCEPTS_FILE, is_text, read_concepts
from voirdire.construction.history import Book, Clock, Event, History, digest_of, open_history, utc_now
from voirdire.construction.screening import Screening
from voirdire.construction.screening_rule import DROP, KEEP, UNDECIDED
from voirdire.construction.seen import Marks, changed, now_of, over
from voirdire.corpus.screened import VERDICTS
from voirdire.errors import UsageError

SCREENED, DECIDED = "screened", "screening_decision"
CONFIRM, OVERRULE, DECIDE, WITHDRAW = "confirm", "overrule", "decide", "withdraw"
DECISIONS = (KEEP, DROP, UNDECIDED)
MOST_NAME, MOST_WHY = 64, 2000
Seen = Mapping[str, Marks]
"""Item -> marks of what was seen of it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a pair stands.

    suggested : by the latest screening, ``undecided`` where it was in none; reasons : the measures behind it
    decided : by a person, or None; by, why, at : of that decision; seen : what was suggested then, and seen_reasons
        why, None where the history does not tell
    shown : item -> marks of what the raters of that screening saw; judged : of what the person saw who decided
    team : members of the construction team who were among those raters, each with the id or name found there
    rule : by which it was suggested, and question, empty where the history does not tell
    """

    concept: str
    suggested: str = UNDECIDED
    reasons: tuple[str, ...] = ()
    decided: str | None = None
    by: str = ""
    why: str = ""
    at: str = ""
    seen: str = ""
    seen_reasons: tuple[str, ...] | None = None
    shown: Seen = field(default_factory=dict, repr=False)
    judged: Seen = field(default_factory=dict, repr=False)
    team: tuple[tuple[str, str], ...] = ()
    rule: Mapping[str, Any] = field(default_factory=dict, repr=False)
    question: str = ""

    @property
    def outdated(self) -> bool:
        """Whether the person saw another suggestion than the latest one, or the same for other reasons."""
        if self.decided is None:
            return False
        return self.seen != self.suggested or self.seen_reasons not in (None, self.reasons)

    @property
    def basis(self) -> Seen:
        """Item -> marks of what the verdict is about: what the person saw, else what the raters did."""
        return self.judged if self.decided is not None and self.judged else self.shown

    @property
    def mark(self) -> str:
        """Digest of where the pair stands, to say what a person looked at."""
        return digest_of([self.suggested, list(self.reasons), self.decided, self.by, self.at])

    @property
    def verdict(self) -> str:
        """What holds: what a person decided, else what was suggested."""
        return self.decided or self.suggested


def outcomes(history: History) -> dict[str, Outcome]:
    """concept -> where it stands, of all concepts that were screened or decided on.

    >>> screened = {"kind": "screened", "pairs": {"tea": {"verdict": "drop", "reasons": ["gap"]}}}
    >>> outcomes(History((screened,)))["tea"].verdict
    'drop'
    """
    found: dict[str, Outcome] = {}
    for event in history.of_kind(SCREENED, DECIDED):
        if event["kind"] == DECIDED and event.get("verdict") in DECISIONS:
            known = found.get(event["concept"]) or Outcome(event["concept"])
            found[known.concept] = _decided(known, event)
        for concept, verdict, reasons in _suggested(event) if event["kind"] == SCREENED else ():
            known = found.get(concept) or Outcome(concept)
            found[concept] = replace(known, suggested=verdict, reasons=reasons, **_screened(event, concept))
    return found


def _suggested(event: Event) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Concept, verdict and reasons of a screening; what was written by other hands and is none is passed over."""
    pairs = event.get("pairs")
    for concept, told in pairs.items() if isinstance(pairs, Mapping) else ():
        if isinstance(told, Mapping) and told.get("verdict") in VERDICTS:
            reasons = told.get("reasons")
            yield concept, told["verdict"], tuple(map(str, reasons)) if isinstance(reasons, list) else ()


def _screened(event: Event, concept: str) -> dict[str, Any]:
    """What a screening tells of a concept beside its verdict."""
    rule = event.get("rule")
    return {
        "shown": _seen(event.get("shown"), concept),
        "team": _members(event.get("team")),
        "rule": dict(rule) if isinstance(rule, Mapping) else {},
        "question": str(event.get("question", "")),
    }


def _seen(told: Any, concept: str) -> Seen:
    """Item -> marks, of a concept; what was written by other hands and is none is passed over."""
    items = told.get(concept) if isinstance(told, Mapping) else None
    listed = items.items() if isinstance(items, Mapping) else ()
    return {
        str(item): {str(part): str(digest) for part, digest in marks.items()}
        for item, marks in listed
        if isinstance(marks, Mapping)
    }


def _members(told: Any) -> tuple[tuple[str, str], ...]:
    """(author, value) of the team's members among the raters of a screening, as its event tells."""
    rows = told if isinstance(told, list) else []
    return tuple((str(one.get("author", "")), str(one.get("value", ""))) for one in rows if isinstance(one, Mapping))


def _decided(known: Outcome, event: Event) -> Outcome:
    if event["verdict"] == UNDECIDED:
        return replace(known, decided=None, by="", why="", at="", seen="", seen_reasons=None, judged={})
    why, seen = (str(event.get(name, "")) for name in ("note", "suggested"))
    told = event.get("reasons")
    reasons = tuple(map(str, told)) if isinstance(told, list) else None
    judged = _seen(event.get("shown"), known.concept)
    by, at = event["by"], event["at"]
    return replace(
        known, decided=event["verdict"], by=by, at=at, why=why, seen=seen, seen_reasons=reasons, judged=judged
    )


def record(
    folder: Path | str, screening: Screening, told: Mapping[str, Any] | None = None, *, clock: Clock = utc_now
) -> dict[str, Outcome]:
    """Append a screening to the history, unless it is the same as the latest one; where every pair stands then.

    told : what else the event tells: ``team``, members of the construction team among its raters; ``shown``, concept
        -> item -> marks of what its raters saw. Where the same tables were screened before, their raters saw what was
        written down then.
    """
    pairs = {pair.concept: {"verdict": pair.verdict, "reasons": list(pair.reasons)} for pair in screening.pairs}
    event: dict[str, Any] = {"rule": screening.rule.as_dict(), "question": screening.question, "pairs": pairs}
    event |= {"tables": list(screening.digests), **(told or {})}
    with open_history(folder, clock) as book:
        latest = list(book.history.of_kind(SCREENED))
        before = [one for one in latest if one.get("tables") == event["tables"]]
        if "shown" in event:
            event["shown"] = {name: _first(before, name, marks) for name, marks in event["shown"].items()}
        event["digest"] = digest_of(event)
        if not latest or latest[-1].get("digest") != event["digest"]:
            book.append({"kind": SCREENED, **event})
        return outcomes(book.history)


def _first(before: Sequence[Event], concept: str, marks: Seen) -> Seen:
    """What was seen of a concept when its tables were screened first; texts that were empty then as they are now."""
    first: Seen = next((seen for one in before if (seen := _seen(one.get("shown"), concept))), {})
    return {item: over(now, first[item]) if item in first else now for item, now in marks.items()}


def decide(
    folder: Path | str,
    concept: str,
    verdict: str,
    by: str,
    *,
    why: str = "",
    seen: str | None = None,
    clock: Clock = utc_now,
) -> Outcome:
    """Confirm or overrule what was suggested for a pair, or decide what was left undecided.

    verdict : keep or drop; ``undecided`` takes an earlier decision back
    why : needed for everything but a confirmation of what raters saw as it stands now
    seen : the ``mark`` of the outcome that the person looked at; refused when it is another one now

    Raises UsageError (``screening.decide.*``) for another verdict, a pair that no screening names, a decision without
    a name or without a reason.

    >>> import tempfile
    >>> from voirdire.construction.history import open_history
    >>> folder = tempfile.mkdtemp()
    >>> with open_history(folder) as book:
    ...     book.append({"kind": "screened", "pairs": {"tea": {"verdict": "undecided", "reasons": ["gap"]}}})
    >>> decide(folder, "tea", "keep", "ana", why="the gap is known from the first round").verdict
    'keep'
    """
    if verdict not in DECISIONS:
        raise UsageError("screening.decide.verdict", value=verdict, known=", ".join(DECISIONS))
    name, reason = by.strip(), why.strip()
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise UsageError("screening.decide.nobody", count=MOST_NAME)
    if len(reason) > MOST_WHY or not is_text(reason):
        raise UsageError("screening.decide.long", count=MOST_WHY)
    with open_history(folder, clock) as book:
        known = outcomes(book.history).get(concept)
        if seen is not None and known is not None and seen != known.mark:
            raise UsageError("screening.decide.moved", value=concept)
        return _decide(book, concept, verdict, name, reason)


def _decide(book: Book, concept: str, verdict: str, by: str, why: str) -> Outcome:
    known = outcomes(book.history)
    if concept not in known:
        raise UsageError("screening.decide.unknown", value=concept, known=", ".join(list(known)[:20]) or "-")
    suggested = known[concept].suggested
    step = step_of(suggested, verdict)
    if step == WITHDRAW and known[concept].decided is None:
        raise UsageError("screening.decide.nothing", value=concept)
    if step != CONFIRM and not why:
        raise UsageError("screening.decide.reason", value=concept, suggested=suggested)
    shown = _shown_now(book.folder, concept)
    parts = {item: changed(marks, shown.get(item, {})) for item, marks in known[concept].shown.items()}
    if not why and any(parts.values()):
        named = "; ".join(f"{item} ({', '.join(found)})" for item, found in parts.items() if found)
        raise UsageError("freezing.decide_changed", value=concept, parts=named)
    told: dict[str, Any] = {"concept": concept, "by": by, "verdict": verdict, "suggested": suggested, "note": why}
    told |= {"reasons": list(known[concept].reasons), **({"shown": {concept: shown}} if shown else {})}
    book.append({"kind": DECIDED, "action": step, **told})
    return outcomes(book.history)[concept]


def _shown_now(folder: Path, concept: str) -> Seen:
    """What there is to see of a concept now; empty in a folder without concepts."""
    if not (folder / CONCEPTS_FILE).is_file():
        return {}
    return now_of(folder, read_concepts(folder).by_concept().get(concept, ()))


def step_of(suggested: str, verdict: str) -> str:
    """What a decision does to a suggestion.

    >>> step_of("drop", "drop"), step_of("drop", "keep"), step_of("undecided", "keep"), step_of("keep", "undecided")
    ('confirm', 'overrule', 'decide', 'withdraw')
    """
    if verdict == UNDECIDED:
        return WITHDRAW
    if suggested == UNDECIDED:
        return DECIDE
    return CONFIRM if suggested == verdict else OVERRULE
