"""Annotation schemes of Potato: the kind of answer that each takes, told by its config or the user, else inferred.

An answer is stored as ``{label: value}``. In radio, multiselect and likert the label is the answer (a likert point is
``scale_3`` before version 2, ``3`` from then on); in the other kinds the label is a fixed word and the value answers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.records import Record, read_text, shown

RADIO, MULTI, LIKERT, SELECT, SLIDER, NUMBER = "radio", "multiselect", "likert", "select", "slider", "number"
PAIRWISE, PAIRSCALE, RATES, TEXT, OTHER = "pairwise", "pairwise_scale", "multirate", "text", "other"
KINDS = (RADIO, MULTI, LIKERT, SELECT, SLIDER, NUMBER, PAIRWISE, PAIRSCALE, RATES, TEXT, OTHER)
NAMED = {**{kind: kind for kind in KINDS}, "confidence": LIKERT, "textbox": TEXT, "text_edit": TEXT}
"""Potato's ``annotation_type`` -> our kind; every other one is ``other``."""

FIXED = {
    "slider": SLIDER, "select-one": SELECT, "selection": PAIRWISE, "scale_value": PAIRSCALE, "number": NUMBER,
    "text_box": TEXT, "_data": OTHER,
}  # fmt: skip
"""The label under which a kind stores its value, whatever the scheme is called."""

FREE, BAD = "free_response", "bad_text"
_FLAGS = ("true", "True", "on", "yes", "Yes")
_POINT = re.compile(r"(?:scale_)?(\d+)")


@dataclass(frozen=True)
class Scheme:
    """A scheme: its kind and what its config says of the scale.

    told : whether the kind was told, by the config or by the user
    """

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    text: str = ""
    told: bool = True


@dataclass
class Answers:
    """What was stored for a scheme, everywhere: its labels in order, and whether several were chosen at once."""

    stored: list[tuple[Record, Mapping[str, Any], bool]] = field(default_factory=list)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, in order."""
        found = (label for _, values, _ in self.stored for label in values if label != FREE)
        return tuple(dict.fromkeys(found))


def unchosen(value: Any) -> bool:
    """Whether a value says that nothing was chosen or filled in; the number 0 says something.

    >>> [unchosen(value) for value in (None, False, "", "false", 0, "0")]
    [True, True, True, True, False, False]
    """
    return value is None or value is False or (isinstance(value, str) and value in ("", "false", "False"))


def chosen(values: Mapping[str, Any], legacy: bool) -> list[str]:
    """The labels that an annotator chose.

    legacy : stored before version 2, which stores what is chosen alone, by the number of its key

    >>> chosen({"good": True, "bad": False, "0": "0"}, legacy=False)
    ['good', '0']
    """
    off = () if legacy else (0, "0")
    return [
        label
        for label, value in values.items()
        if label != FREE and (not (unchosen(value) or value in off) or str(value) == label != "")
    ]


def point(label: str) -> str | None:
    """The number of a likert point; None where a label is none.

    >>> point("scale_3"), point("3"), point("bad_text")
    ('3', '3', None)
    """
    found = _POINT.fullmatch(label)
    return found[1] if found else None


def is_flag(scheme: str, label: str, value: Any) -> bool:
    """Whether a value says that its label is chosen, or is not: a flag, or the label again."""
    return isinstance(value, bool) or unchosen(value) or value in (0, *_FLAGS, label, f"{scheme}:::{label}", scheme)


def infer(name: str, answers: Answers) -> Scheme:
    """The kind of a scheme that nobody tells, where what is stored leaves one alone.

    Raises InputError where it could be several: free text, choices by the numbers of their keys, rates of several rows.
    """
    if answers.labels == ("",):
        return Scheme(name, _of_column(name, answers), told=False)
    labels = tuple(label for label in answers.labels if label not in (BAD, ""))
    if len(labels) == 1 and labels[0] in FIXED:
        return Scheme(name, FIXED[labels[0]], told=False)
    points = bool(labels) and all(point(label) for label in labels)
    several = False
    for place, values, legacy in answers.stored:
        both = len(chosen(values, legacy)) > 1 and "" not in values
        several = several or both
        for label, value in values.items():
            scored = points and point(str(value)) == point(label)
            if label not in (FREE, "") and ((points and both) or not (is_flag(name, label, value) or scored)):
                raise place.error("potato.kind_unknown", name, f"{label}: {shown(value)}", kinds=", ".join(KINDS))
    if points:
        return Scheme(name, LIKERT, told=False)
    return Scheme(name, MULTI if several else RADIO, labels, told=False)


def _of_column(name: str, answers: Answers) -> str:
    """The kind of a scheme whose answers are the cells of one column (Parquet): lists of labels, or numbers."""
    for place, values, _ in answers.stored:
        if not str(values[""]).startswith("[") and number(values[""]) is None:
            raise place.error("potato.kind_unknown", name, values[""], kinds=", ".join(KINDS))
    lists = any(str(values[""]).startswith("[") for _, values, _ in answers.stored)
    return MULTI if lists else NUMBER


def listed(value: Any) -> list[str]:
    """The labels of a cell: of a list each, else the cell.

    >>> listed('["warm", "dry"]'), listed("warm")
    (['warm', 'dry'], ['warm'])
    """
    try:
        found = json.loads(value) if isinstance(value, str) and value.startswith("[") else value
    except json.JSONDecodeError:
        return [str(value)]
    return [str(one) for one in found] if isinstance(found, list) else [str(value)]


def number(value: Any) -> float | None:
    """A value as a number; None where it is none.

    >>> number("70"), number("4.5"), number("much")
    (70, 4.5, None)
    """
    try:
        found = float(str(value))
    except ValueError:
        return None
    if not math.isfinite(found):
        return None
    return int(found) if found.is_integer() else found


def read_types(told: str | None) -> dict[str, Scheme]:
    """``--set types=topic=radio,why=text``. Raises UsageError for a kind that there is not.

    >>> read_types("topic=radio")["topic"].kind
    'radio'
    """
    found = {}
    for part in (told or "").split(","):
        name, _, kind = part.strip().rpartition("=")
        if not part.strip():
            continue
        if not name or kind not in KINDS:
            raise UsageError("potato.type", value=part.strip(), known=", ".join(KINDS))
        found[name] = Scheme(name, kind)
    return found


def read_config(path: Path, *, must: bool = True) -> dict[str, Scheme] | None:
    """The schemes of a Potato config in JSON. None where it is other YAML and need not be read.

    Raises InputError for a file that is no JSON, and for a scheme without a name or type.
    """
    text = read_text(path)
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        if not must:
            return None
        raise InputError("potato.config_yaml", file=str(path)) from error
    found = {}
    for part in Record(config, str(path), 1).each("annotation_schemes"):
        scheme = _scheme(part)
        found[scheme.name] = scheme
    return found


def _scheme(part: Record) -> Scheme:
    name, named = part.need("name", str).strip(), part.need("annotation_type", str)
    kind = NAMED.get(named, OTHER)
    labels = tuple(_label(one) for one in part.may("labels", list) or [])
    low, high = part.may("min_value", float), part.may("max_value", float)
    if kind == LIKERT:
        low, high = (None, None) if labels else (1, part.may("size", int))
    if kind == PAIRWISE and part.value.get("mode") == "scale":
        ends = part.inside("scale")
        low, high = ends.may("min", float), ends.may("max", float)
        kind, low, high = PAIRSCALE, -3 if low is None else low, 3 if high is None else high
    if kind == SLIDER and labels:
        kind = RADIO
    return Scheme(name, kind, labels, low, high, part.may("description", str) or "")


def _label(one: Any) -> str:
    return str(one.get("name", "") if isinstance(one, Mapping) else one).strip()


def schemes_of(told: Mapping[str, Scheme], answers: Mapping[str, Answers]) -> dict[str, Scheme]:
    """Every scheme that is told or answered."""
    found = dict(told)
    for name, stored in answers.items():
        if name not in found:
            found[name] = infer(name, stored)
        elif found[name].kind in (RADIO, MULTI):
            known = found[name]
            cells = (label for _, values, _ in stored.stored if "" in values for label in listed(values[""]))
            labels = tuple(dict.fromkeys((*known.labels, *filter(None, stored.labels), *cells)))
            found[name] = Scheme(name, known.kind, labels, text=known.text)
    return found
