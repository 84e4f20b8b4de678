"""Questions for raters from the questions table of a corpus."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import Asked, Option, Widget
from voirdire.annotation.study_defaults import with_ends
from voirdire.annotation.study_entries import NAME, NAME_LENGTH, Where, shown
from voirdire.annotation.study_questions import MOST_LEVELS, WIDGETS, check_level, check_question, levels
from voirdire.corpus.levels import scale_of_labels
from voirdire.corpus.questions import Declared, roles
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.scales import WITHOUT_ORDER, Scale

_SPLIT = re.compile(r"[|;]")


def questions_of_table(corpus: Shown) -> tuple[tuple[Asked, Where], ...]:
    """Every question of the corpus's questions table, with its place; none where there is no table.

    Columns beside those that the audit reads: ``low_end.<lang>``, ``high_end.<lang>``, ``labels.<lang>``,
    ``help.<lang>`` and ``widget``. Without ``widget`` it follows from the scale: buttons up to 11 levels (a slider for
    placement), a slider up to 101, a choice of labels, else a number. Labels that mean no answer become not applicable.
    The words of an item stand in the place of the evaluation question, which is the first where no question has that
    role.
    """
    declared, table = corpus.questions.declared, corpus.questions.table
    if table is None:
        return ()
    role, _ = roles(list(declared), corpus.questions)
    evaluation = next((name for name in declared if role[name] == "evaluation"), next(iter(declared), ""))
    rows = {row["question"]: row for row in table.frame.iter_rows(named=True)}
    found = []
    for name, one in declared.items():
        where = Where(table.file, name)
        made = _asked(name, replace(one, role=role[name]), rows[name], corpus, where)
        made = with_ends(replace(made, of_item=name == evaluation))
        check_question(made, where)
        found.append((made, where))
    return tuple(found)


def _asked(name: str, declared: Declared, row: Mapping[str, Any], corpus: Shown, where: Where) -> Asked:
    if not NAME.fullmatch(name):
        raise where.error("name_form", entry="question", value=shown(name), count=NAME_LENGTH)
    scale = _scale(name, declared, corpus, where)
    widget = _widget(row, scale, declared.role, where)
    worded = {kind: _texts(row, kind) for kind in ("low_end", "high_end", "help")}
    for entry in ("low_end", "high_end"):
        if worded[entry] and widget not in MOST_LEVELS:
            raise where.error("entry_pointless", entry=entry, value=widget)
    made = Asked(
        name,
        widget,
        declared.role,
        scale.level,
        None if widget == "choice" else scale.low,
        None if widget == "choice" else scale.high,
        tuple(Option(label) for label in declared.spec.labels) if widget == "choice" else (),
        declared.text,
        worded["help"],
        worded["low_end"],
        worded["high_end"],
        not_applicable=bool(scale.missing),
        positive=declared.spec.positive,
    )
    return replace(made, options=_options(made, _texts(row, "labels"), where))


def _scale(name: str, declared: Declared, corpus: Shown, where: Where) -> Scale:
    """The scale as the audit makes it of labels or ends; of a number without ends where the level says so."""
    spec, table = declared.spec, corpus.questions.table
    assert table is not None
    check_level(spec.level, where)
    for entry, end in (("min", spec.low), ("max", spec.high)):
        if end is not None and not math.isfinite(end):
            raise where.error("kind", entry=entry, value=str(end), known="1, 2.5")
    if spec.labels:
        scale = scale_of_labels(name, spec, table)
        check_level(scale.level, where)
        return scale
    if spec.level in WITHOUT_ORDER:
        raise where.error("table_no_labels")
    if spec.level in (None, "ordinal") and (spec.low is None or spec.high is None):
        raise where.error("table_no_scale")
    whole = all(end is not None and float(end).is_integer() for end in (spec.low, spec.high))
    return Scale(spec.level or ("ordinal" if whole else "interval"), spec.low, spec.high, missing=spec.missing)


def _widget(row: Mapping[str, Any], scale: Scale, role: str | None, where: Where) -> Widget:
    named = row.get("widget")
    if named is not None:
        found = next((widget for widget in WIDGETS[:-1] if widget == named), None)
        if found is None:
            raise where.unknown("widget", named, WIDGETS[:-1])
        if (found == "choice") != bool(scale.labels):
            known = "choice" if scale.labels else ", ".join(one for one in WIDGETS[:-1] if one != "choice")
            raise where.error("widget_level", value=found, level=str(scale), known=known)
        return found
    if scale.labels:
        return "choice"
    if scale.low is None or scale.high is None or not (scale.low.is_integer() and scale.high.is_integer()):
        return "number"
    count = int(scale.high - scale.low) + 1
    if count <= MOST_LEVELS["buttons"]:
        return "slider" if role == "placement" else "buttons"
    return "slider" if count <= MOST_LEVELS["slider"] else "number"


def _texts(row: Mapping[str, Any], kind: str) -> dict[str, str]:
    """language -> cell, of ``kind.<lang>`` and, but for labels, of the plain column."""
    found = {name[len(kind) + 1 :]: cell for name, cell in row.items() if name.startswith(f"{kind}.") and cell}
    return found if kind == "labels" or not row.get(kind) else {UNKNOWN_LANGUAGE: row[kind], **found}


def _options(asked: Asked, words: Mapping[str, str], where: Where) -> tuple[Option, ...]:
    """Options with the words of the columns ``labels.<lang>``: one for each label, or for each level of numbers."""
    values: Sequence[str] = levels(asked)
    if not words or not values:
        return asked.options
    told = {language: [part.strip() for part in _SPLIT.split(cell)] for language, cell in words.items()}
    for language, parts in told.items():
        if len(parts) != len(values) or not all(parts):
            raise where.error("table_labels", entry=f"labels.{language}", count=len(parts), wanted=len(values))
    return tuple(
        Option(value, {language: parts[place] for language, parts in told.items()})
        for place, value in enumerate(values)
    )
