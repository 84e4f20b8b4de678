"""Scores of PyRIT: ``Score.to_dict()`` (0.8) or ``model_dump`` (1.x) as a JSON array, JSONL, or in a list ``scores``.

The fields are those of ``pyrit.models.Score`` of pyrit 0.8.1, which made the fixtures, and 1.1.0 (both MIT): ``id``,
``score_value``, ``score_type`` (``true_false``, ``float_scale``), ``score_category``, ``score_rationale``,
``scorer_class_identifier`` and ``prompt_request_response_id``, in 1.x ``message_piece_id``, a list of categories, and
``status`` (``complete``, ``undetermined``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.records import ID, Record, head_record
from voirdire.exchange.importers.scored import MODEL, SETTINGS, Score, read_scores, records_of

THINGS = ("prompt_request_response_id", "message_piece_id")
NAMES = ("class_name", "__type__", "scorer_name")
TYPES = ("true_false", "float_scale", "unknown")


def recognise(path: Path) -> Recognition:
    """Scores by their fields, also inside the pieces of a conversation."""
    head = head_record(path)
    inner = head.get("scores") if isinstance(head, dict) else None
    first = inner[0] if isinstance(inner, list) and inner else head
    return YES if isinstance(first, dict) and {"score_value", "score_type"} <= set(first) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every score as a judgment of its scorer."""
    return read_scores(paths, records_of(paths, account, "scores"), _tell, options, account)


def _tell(record: Record) -> list[Score]:
    if "score_type" not in record.value and "scores" in record.value:
        return [score for one in record.each("scores") for score in _scored(one)]
    return _scored(record)


def _scored(one: Record) -> list[Score]:
    kind = one.need("score_type", str)
    if kind not in TYPES:
        raise one.error("scored.source", "score_type", kind, known=", ".join(TYPES))
    scorer = one.inside("scorer_class_identifier").value
    judge = next((str(scorer[name]) for name in NAMES if scorer.get(name)), None)
    item = next((found for name in THINGS if (found := one.may(name, ID))), None)
    value: Any = one.value.get("score_value")
    category = one.value.get("score_category")
    named = category if isinstance(category, str) else ", ".join(category) if isinstance(category, list) else ""
    value = value.casefold() if kind == "true_false" and isinstance(value, str) else value
    status = judged.MALFORMED if one.value.get("status") == "undetermined" else judged.OK
    return [Score(item, MODEL, judge, named or judge or kind, value, status, raw=one.may("score_rationale", str))]


IMPORTER = Importer("pyrit", "pyrit.title", recognise, read=read, side="judgments", settings=dict(SETTINGS))
