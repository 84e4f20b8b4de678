"""Which demonstrations a frozen corpus offers: at which levels, by the ratings that are frozen with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.freezing.failures import some
from voirdire.construction.splits import DEMONSTRATION, Coverage, Rated, coverage
from voirdire.corpus.corpus import Corpus, Note
from voirdire.errors import InputError
from voirdire.judging.asked import default_question, held_out_consensus, levels_of


def demonstrations_of(
    items: Sequence[ConceptItem], corpus: Corpus, per_level: int
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """What ``[construction]`` says of the demonstrations, and what is said of it.

    corpus : the ratings that are frozen; per_level : the demonstrations wanted of each pool, culture and level
    A corpus may do without any. Levels are known of a question that can be put to judges (``levels_of``).
    """
    splits = {item.concept: item.split for item in items}
    count = sum(split == DEMONSTRATION for split in splits.values())
    told: dict[str, Any] = {"demonstrations": count}
    if not count:
        return told, (Note("freezing.note.no_demonstrations"),)
    rated = _rated(items, corpus)
    if rated is None:
        return told, ()
    by_concept: dict[str, list[ConceptItem]] = {}
    for item in items:
        by_concept.setdefault(item.concept, []).append(item)
    missing = [one for one in coverage(splits, by_concept, rated) if one.items < per_level]
    told["demonstrations_lacking"] = [
        {"pool": one.pool, "culture": one.culture, "level": one.level, "items": one.items} for one in missing
    ]
    if not missing:
        return told, ()
    fields = {"count": len(missing), "question": rated.question, "places": some(list(_places(missing)))}
    return told, (Note("freezing.note.lacking", fields, "warning"),)


def _rated(items: Sequence[ConceptItem], corpus: Corpus) -> Rated | None:
    """The pools' means on the evaluation question, or the first; None where its answers have no levels."""
    questions = {one.id: one for one in corpus.questions}
    name = default_question({one.id: one.role for one in corpus.questions})
    try:
        levels = levels_of(questions[name].scale, name)
    except InputError:
        return None
    consensus = held_out_consensus(corpus, [item.id for item in items]).get(name)
    return None if consensus is None else Rated(name, consensus, levels)


def _places(missing: Iterable[Coverage]) -> Iterable[str]:
    """Pool and culture with the levels that lack a demonstration."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in missing:
        found.setdefault((one.pool, one.culture), []).append(str(one.level))
    return (f"{pool}/{culture}: {' '.join(levels)}" for (pool, culture), levels in found.items())
