"""What stands in the ``result`` of an annotation or prediction: answers, and what is no answer about the whole item.

The shapes are those of the editor's tags (``web/libs/editor/src/tags/control`` of Label Studio) and of
``label_studio_sdk.label_interface.control_tags`` 2.1.2: ``{"from_name", "to_name", "type", "value": {type: ...}}``;
a result about a region of the item has the region's place in its value too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.answer_rows import CHOICES, NUMBER, PAIRWISE, RATING, TEXT, Answer, Given
from voirdire.exchange.importers.records import ID, Record

VALUES = {RATING: "rating", CHOICES: "choices", NUMBER: "number", PAIRWISE: "selected", TEXT: "text"}
"""Type of a result -> the key of its value."""

KINDS = ("taxonomy", "datetime", "ranker", "chatmessage", "reactcode", "paragraphlabels", "relation")
"""Types about whole items that no rating scale holds; every other type marks a region."""

SIDES = {"left": "a", "right": "b"}
REGION, KIND, TEXTS = "labelstudio.left.region", "labelstudio.left.kind", "labelstudio.left.text"


def answers_of(results: Sequence[Record], given: Given, account: Account, *, texts: bool) -> None:
    """Add the answers of some results; what is none is counted as left out.

    texts : whether what raters wrote is taken
    """
    for result in results:
        account.read()
        kind = str(result.need("type", str)).casefold()
        if kind not in VALUES:
            account.left(KIND if kind in KINDS else REGION, at=result)
            continue
        value, key = result.inside("value"), VALUES[kind]
        if set(value.value) - {key} or result.value.get("item_index") is not None:
            account.left(REGION, at=result)
            continue
        name = result.need("from_name", ID)
        given.seen.add(name)
        found = _value(value, kind, key)
        if found is None:
            account.left(MISSING, at=result)
        elif kind == TEXT and not texts:
            account.left(TEXTS, at=result)
        else:
            given.answers.append(Answer(name, kind, found))


def _value(value: Record, kind: str, key: str) -> Any:
    """What was answered; None where nothing was. No star is no answer: a rating begins at one."""
    if kind in (RATING, NUMBER):
        number = value.may(key, float)
        return None if kind == RATING and number == 0 else number
    if kind == PAIRWISE:
        side = value.may(key, str)
        if side is not None and side not in SIDES:
            raise value.error("labelstudio.side", key, side)
        return None if side is None else SIDES[side]
    listed = value.value.get(key)
    if listed is None or isinstance(listed, str):
        return listed or None if kind == TEXT or listed is None else [listed]
    listed = value.need(key, list)
    wrong = next((one for one in listed if not isinstance(one, str)), None)
    if wrong is not None:
        raise value.error("importing.field_kind", key, wrong, wanted=str)
    told = [one for one in listed if one.strip()]
    return ("\n".join(told) if kind == TEXT else told) or None
