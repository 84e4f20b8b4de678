"""The numbers of an audit that a dashboard shows, as one JSON document of a stable shape.

docs/howto/dashboard.md describes the shape. An estimate is an object with ``value``, ``label``, ``low``, ``high``,
``n``, ``undefined`` and ``signature``, or null where nobody computed it. JSON has no NaN: a number that is undefined is
null and says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from voirdire.exchange.exporters.contract import Exporter
from voirdire.reporting.access import ALL, Cell, ProfileLike, Row, View

SCHEMA = "voirdire.dashboard/1"
"""The shape's name and number; the number changes when a name in the document changes or goes."""
POOL = ("n_items", "n_raters", "n_ratings", "reliability", "alpha", "gate")
PAIR = ("gap_test.p", "cross_pool_mad", "noise_floor", "gate.divergent")
AGAINST = ("mae", "bias", "mae_vs_constant", "agreement", "verdict")
BETWEEN = ("delta", "tilt", "tilt:form=ratio", "orientation.w", "orientation.verdict", "verdict")
NAMES = {"orientation.w": "w", "tilt:form=ratio": "tilt_ratio"}


def write_dashboard(profile: ProfileLike, lang: str) -> str:  # noqa: ARG001 - names and numbers have no language
    """The document as text, a line for each pool, pair and judge."""
    view = View(profile)
    document = {
        "schema": SCHEMA,
        "voirdire": str(view.meta.get("voirdire", "")),
        "name": view.meta.get("name") or None,
        "simulated": bool(view.meta.get("simulated")),
        "questions": [_about(view, question) for question in view.questions],
        "pools": [one for question in _ids(view) for one in _pools(view, question)],
        "pairs": [one for question in _ids(view) for one in _pairs(view, question)],
        "judges": [one for question in view.judged for one in _judges(view, question)],
    }
    return _lines(document)


def _ids(view: View) -> list[str]:
    return [question["id"] for question in view.questions]


def _about(view: View, question: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: question.get(name) for name in ("level", "low", "high")}
    labels = list(question.get("labels") or [])
    return {"id": question["id"], **told, "labels": labels, "judged": question["id"] in view.judged}


def _pools(view: View, question: str) -> list[dict[str, Any]]:
    return [
        {"question": question, "pool": pool, **_numbers(view, POOL, question=question, pool=pool)}
        for pool in view.pools_of(question)
    ]


def _pairs(view: View, question: str) -> list[dict[str, Any]]:
    """Every pair of pools, also those that the report does not show in full."""
    names = view.pools_of(question)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return [
        {"question": question, "pool": a, "pool_b": b} | _numbers(view, PAIR, question=question, pool=a, pool_b=b)
        for a, b in pairs
    ]


def _judges(view: View, question: str) -> list[dict[str, Any]]:
    """Each judge under each condition and over all, and each control judge: against every pool, between every pair."""
    cells = list(dict.fromkeys([*view.main_cells(), *view.full_cells(), *view.controls(question)]))
    return [_judge(view, question, cell) for cell in cells]


def _judge(view: View, question: str, cell: Cell) -> dict[str, Any]:
    place = {"question": question, "judge": cell.judge, "condition": cell.condition}
    pools = view.pools_of(question)
    pairs = [(a, b) for n, a in enumerate(pools) for b in pools[n + 1 :]]
    return {
        **place,
        "all_conditions": cell.condition == ALL,
        "control": cell.judge.startswith("control:"),
        "pools": [{"pool": pool, **_numbers(view, AGAINST, **place, pool=pool)} for pool in pools],
        "pairs": [{"pool": a, "pool_b": b, **_numbers(view, BETWEEN, **place, pool=a, pool_b=b)} for a, b in pairs],
    }


def _numbers(view: View, names: tuple[str, ...], **place: str) -> dict[str, Any]:
    found = {}
    for name in names:
        statistic, _, params = name.partition(":")
        found[NAMES.get(name, statistic).replace(".", "_")] = _estimate(view.row(statistic, params=params, **place))
    return found


def _estimate(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    numbers = {name: getattr(row, name) for name in ("value", "label", "low", "high", "n", "undefined")}
    return {**numbers, "signature": row.signature}


def _lines(document: Mapping[str, Any]) -> str:
    """JSON with a line for each entry of a list, so that two documents can be compared line by line."""
    parts = []
    for name, value in document.items():
        shown = _json(value)
        if isinstance(value, list) and value:
            shown = "[\n" + ",\n".join(f"  {_json(entry)}" for entry in value) + "\n ]"
        parts.append(f" {_json(name)}: {shown}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


EXPORTER = Exporter("profile", write_dashboard)
