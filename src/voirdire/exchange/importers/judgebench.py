"""JUDGE-BENCH: one JSON object a data set, with metrics, instances and the scores of people in lists.

``annotations`` lists the metrics (graded with worst and best; categorical with labels_list), ``instances`` the items
with ``individual_human_scores``, ``mean_human`` and ``majority_human`` by metric: ``data/example.json`` and the data of
github.com/dmg-illc/JUDGE-BENCH (commit da3694d). The scores have no ids of raters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import cell, question
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.published import described, first_of
from voirdire.exchange.importers.records import ID, Record, head_of, json_records
from voirdire.exchange.importers.tables import RATINGS, frame

METRICS, INSTANCES, SCORES = "annotations", "instances", "individual_human_scores"
MEANS = ("mean_human", "majority_human")
HOLE = "{{ instance }}"
GRADED, CATEGORICAL = "graded", "categorical"
EXPERTS = {"true": "expert", "false": "crowd"}


@dataclass
class _Metric:
    """A metric as the file tells it, and whether its scores are whole numbers so far."""

    name: str
    category: str
    labels: tuple[str, ...] = ()
    ends: tuple[float, float] | None = None
    prompt: str | None = None
    whole: bool = True

    @property
    def scale(self) -> tuple[Any, ...]:
        """What has to be the same in every file."""
        return self.category, self.labels, self.ends

    @property
    def shown(self) -> str:
        """The scale in words of the file."""
        return (
            f"{self.category}: {', '.join(f'{part:g}' for part in self.ends) if self.ends else ', '.join(self.labels)}"
        )

    def row(self) -> dict[str, Any]:
        """The question. Ends are the least and the greatest, whichever is the worst one.

        Which of two labels counts as 1 the file does not say: the reader knows it by the words, or asks.
        """
        text = {"en": self.prompt}
        if self.category == CATEGORICAL:
            return question(self.name, "nominal", labels=self.labels, text=text)
        low, high = sorted(self.ends) if self.ends else (None, None)
        whole = self.whole and all(end is None or float(end).is_integer() for end in (low, high))
        return question(self.name, "ordinal" if whole else "interval", low, high, text=text)


@dataclass
class _Found:
    metrics: dict[str, _Metric] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    reversed: list[str] = field(default_factory=list)


def recognise(path: Path) -> Recognition:
    """An object with a list of metrics and a list of instances."""
    if path.suffix != ".json":
        return NO
    first = first_of(path)
    metrics = first.get(METRICS)
    listed = isinstance(metrics, list) and metrics and isinstance(metrics[0], dict) and "metric" in metrics[0]
    return YES if listed and (INSTANCES in first or f'"{INSTANCES}"' in head_of(path)) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The scores of people; a person is a place in a list unless --set places=yes says that places are people."""
    found, people = _Found(), options.flag("places")
    name = ""
    for path in paths:
        about = first_of(path)
        name = name or str(about.get("dataset") or "")
        pool = EXPERTS.get(str(about.get("expert_annotator")).casefold())
        _metrics(path, found, account)
        for record in json_records(path, account, (INSTANCES,)):
            with account.record(record):
                rows: list[dict[str, Any]] = []
                item = {"item_id": record.need("id", ID), **described(record.value.get("instance"))}
                for metric in record.inside(METRICS).value:
                    rows += _scores(record, metric, found, account, people)
                found.rows += [{"item_id": item["item_id"], **row, "pool": pool} for row in rows]
                found.items.append(item)
    notes = [] if people else [Note("research.judgebench.slots")]
    notes += [Note("research.judgebench.reversed", {"name": metric}) for metric in found.reversed]
    return Tables(
        ratings=frame(found.rows, RATINGS),
        items=frame(found.items, ("item_id", "text")),
        questions=frame([metric.row() for metric in found.metrics.values()]),
        name=name,
        notes=tuple(notes),
        read={} if people else {"anonymous_raters": True},
    )


def _metrics(path: Path, found: _Found, account: Account) -> None:
    """What the file says of its metrics, which is needed whole."""
    for record in json_records(path, account, (METRICS,)):
        name, category = record.need("metric", str), record.need("category", str)
        if category not in (GRADED, CATEGORICAL):
            raise record.error("research.judgebench.category", "category", category)
        metric = _Metric(name, category, prompt=_prompt(record.may("prompt", str)))
        if category == CATEGORICAL:
            metric.labels = tuple(str(cell(label)) for label in record.need("labels_list", list))
        else:
            worst, best = record.need("worst", float), record.need("best", float)
            metric.ends = (worst, best)
            found.reversed += [name] if worst > best else []
        known = found.metrics.setdefault(name, metric)
        if known.scale != metric.scale:
            raise InputError(
                "research.judgebench.scales", file=str(path), value=name, first=known.shown, second=metric.shown
            )


def _scores(record: Record, name: str, found: _Found, account: Account, people: bool) -> list[dict[str, Any]]:
    """The scores of one metric. Where a file gives only their mean, there is no rating to take."""
    inside = record.inside(METRICS).inside(name)
    metric = found.metrics.get(name)
    if metric is None:
        raise record.error("research.judgebench.metric", f"{METRICS}.{name}", name, known=", ".join(found.metrics))
    scores = inside.may(SCORES, list)
    if scores is None:
        told = any(inside.value.get(mean) is not None for mean in MEANS)
        account.read()
        account.left("research.judgebench.left.mean" if told else MISSING, at=record)
        return []
    rows = []
    for place, score in enumerate(scores, start=1):
        account.read()
        value = _value(inside, place, score, metric)
        if value is None:
            account.left(MISSING, at=record)
            continue
        account.took()
        rater = f"rater {place}" if people else f"slot {place}"
        rows.append({"rater_id": rater, "question": name, "rating": value})
    return rows


def _value(inside: Record, place: int, score: Any, metric: _Metric) -> str | None:
    """A score as a cell; None where there is none. Raises InputError for one that the metric does not know."""
    where = f"{SCORES}[{place - 1}]"
    value = cell(score)
    if value is None or value.casefold() == "nan":
        return None
    if metric.category == CATEGORICAL:
        if value not in metric.labels:
            raise inside.error("research.judgebench.label", where, score, known=", ".join(metric.labels))
        return value
    number = _number(value)
    if number is None:
        raise inside.error("importing.field_kind", where, score, wanted=float)
    metric.whole = metric.whole and number.is_integer()
    return value


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _prompt(prompt: str | None) -> str | None:
    return " ".join(prompt.replace(HOLE, " ").split()) or None if prompt else None


IMPORTER = Importer(
    "judgebench",
    "research.judgebench.title",
    recognise,
    read=read,
    settings={"places": "research.judgebench.settings.places"},
)
