"""Which thing was shown first, said so that no name of a thing can be taken for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from voirdire.corpus.sides import SHOWN_FIRST, SIDES
from voirdire.exchange.importers.pairwise_things import LABELS


def say_sides(rows: Iterable[dict[str, Any]], items: Iterable[Mapping[str, Any]]) -> None:
    """Where a thing is called a or b itself, ``shown_first`` says ``side 1`` or ``side 2``, which is no name.

    rows : ratings or judgments whose ``shown_first`` says a or b, changed in place

    >>> votes = [{"shown_first": "b"}, {"shown_first": None}]
    >>> say_sides(votes, [{"a": "tea", "b": "cola"}]); votes[0]
    {'shown_first': 'b'}
    >>> say_sides(votes, [{"a": "B", "b": "c"}]); votes
    [{'shown_first': 'side 2'}, {'shown_first': None}]
    """
    roles = dict(zip(LABELS[:2], SIDES, strict=True))
    if not any(str(item.get(side)).strip().casefold() in roles for item in items for side in roles):
        return
    for row in rows:
        if row.get(SHOWN_FIRST) in roles:
            row[SHOWN_FIRST] = roles[row[SHOWN_FIRST]]
