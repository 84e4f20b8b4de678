"""Questions of a study: read from ``annotation.toml``, checked, and written as a questions table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from voirdire.annotation.nouns import NOT_APPLICABLE, Asked, Option, Widget
from voirdire.annotation.study_entries import Entries, Where, listed
from voirdire.corpus.corpus import ROLES
from voirdire.corpus.levels import Spec, scale_of_labels
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.errors import InputError
from voirdire.scales import LEVELS, PAIRWISE
from voirdire.tables import Table

WIDGETS: tuple[Widget, ...] = ("buttons", "slider", "choice", "number", "text")
FITTING: Mapping[Widget, tuple[str, ...]] = {
    "buttons": ("ordinal", "interval", "ratio"),
    "slider": ("ordinal", "interval", "ratio"),
    "choice": ("nominal", "ordinal"),
    "number": ("ordinal", "interval", "ratio"),
    "text": ("nominal",),
}
"""Which levels of measurement a widget can ask for."""

MOST_LEVELS: Mapping[Widget, int] = {"buttons": 11, "slider": 101}
MOST_OPTIONS = 30
_NO_ROWS = pl.DataFrame()
POINTLESS: Mapping[Widget, tuple[str, ...]] = {
    "buttons": (),
    "slider": (),
    "choice": ("low", "high", "low_end", "high_end"),
    "number": ("low_end", "high_end", "options", "positive"),
    "text": ("level", "role", "low", "high", "low_end", "high_end", "options", "positive", "not_applicable", "comment"),
}
"""Entries that mean nothing beside a widget."""


def read_question(entries: Entries) -> Asked:
    """A question as it stands in the file. Raises InputError for what cannot be asked so."""
    widget = _widget(entries)
    for name in POINTLESS[widget]:
        if name in entries.table:
            raise entries.where.error("entry_pointless", entry=name, value=widget)
    made = Asked(
        id=entries.name("id"),
        widget=widget,
        role=entries.choice("role", ROLES),
        level=entries.choice("level", LEVELS) or _usual_level(widget),
        low=entries.number("low"),
        high=entries.number("high"),
        options=read_options(entries),
        text=entries.texts("text"),
        help=entries.texts("help"),
        low_end=entries.texts("low_end"),
        high_end=entries.texts("high_end"),
        of_item=entries.flag("of_item", default=entries.table.get("role") == "evaluation"),
        required=entries.flag("required", default=widget != "text"),
        not_applicable=entries.flag("not_applicable", default=False),
        comment=entries.flag("comment", default=False),
        positive=entries.value("positive", entries.table["positive"]) if entries.has("positive") else None,
    )
    entries.close()
    check_question(made, entries.where)
    return made


def read_options(entries: Entries) -> tuple[Option, ...]:
    """Options, each a value or a table with ``value`` and ``text``."""
    if not entries.has("options"):
        return ()
    given = entries.table["options"]
    if not isinstance(given, list) or not given:
        raise entries.where.error("kind", entry="options", value="…", known='["...", "..."]')
    found = tuple(_option(entries, place, one) for place, one in enumerate(given, start=1))
    _check_options(found, entries.where)
    return found


def check_question(asked: Asked, where: Where) -> None:
    """Refuse a question whose widget, level, ends and options do not fit each other."""
    check_level(asked.level, where)
    if asked.level not in FITTING[asked.widget]:
        known = listed([widget for widget in WIDGETS[:-1] if asked.level in FITTING[widget]])
        raise where.error("widget_level", value=asked.widget, level=asked.level, known=known)
    if asked.low is not None and asked.high is not None and asked.low >= asked.high:
        raise where.error("ends_reversed", low=f"{asked.low:g}", high=f"{asked.high:g}")
    _check_options(asked.options, where)
    if asked.widget in MOST_LEVELS:
        _check_levels(asked, where)
    if asked.widget == "choice" and len(asked.options) < 2:
        raise where.error("options_few", count=len(asked.options))
    _check_positive(asked, where)


def check_level(level: str | None, where: Where) -> None:
    """Refuse votes between two things: no widget asks for them."""
    if level == PAIRWISE:
        raise where.error("votes")


def levels(asked: Asked) -> tuple[str, ...]:
    """What a rater can answer, as it is kept: whole numbers, or the values of the options; empty for free answers.

    >>> levels(Asked("q", "buttons", low=1, high=3)), levels(Asked("q", "number"))
    (('1', '2', '3'), ())
    """
    if asked.widget == "choice":
        return tuple(option.value for option in asked.options)
    if asked.widget in MOST_LEVELS and asked.low is not None and asked.high is not None:
        return tuple(str(value) for value in range(int(asked.low), int(asked.high) + 1))
    return ()


def questions_table(questions: Sequence[Asked]) -> pl.DataFrame:
    """The rated questions as a questions table, which the audit reads and a further study can be made from.

    Free texts are no ratings and are left out. Columns that no question fills are left out too.

    >>> questions_table([Asked("q1", "buttons", "evaluation", low=1, high=5, text={"en": "Good?"})]).rows()
    [('q1', 'evaluation', 'ordinal', '1', '5', 'buttons', 'Good?')]
    """
    rows = [_row(asked) for asked in questions if asked.widget != "text"]
    fixed = ["question", "role", "level", "min", "max", "labels", "positive", "widget"]
    more = list(dict.fromkeys(name for row in rows for name in row if name not in fixed))
    table = pl.DataFrame(
        [{name: row.get(name) for name in (*fixed, *more)} for row in rows],
        schema=dict.fromkeys((*fixed, *more), pl.String),
    )
    return table.select([name for name in table.columns if name == "question" or table[name].null_count() < len(rows)])


def _row(asked: Asked) -> dict[str, str]:
    labels = [option.value for option in asked.options] if asked.widget == "choice" else []
    ends = {"min": asked.low, "max": asked.high}
    row = {"question": asked.id, "role": asked.role, "level": asked.level, "widget": asked.widget}
    row |= {name: f"{end:g}" for name, end in ends.items() if end is not None}
    row |= {"labels": "|".join(labels), "positive": asked.positive}
    for kind, texts in (("text", asked.text), ("low_end", asked.low_end), ("high_end", asked.high_end)):
        row |= {_column(kind, language): said for language, said in texts.items()}
    for language in dict.fromkeys(language for option in asked.options for language in option.text):
        if asked.widget == "choice":
            words = [option.text.get(language, option.value) for option in asked.options]
            row[_column("labels", language)] = "|".join(word.replace("|", "/").replace(";", ",") for word in words)
    return {name: value for name, value in row.items() if value}


def _column(kind: str, language: str) -> str:
    return kind if language == UNKNOWN_LANGUAGE and kind != "labels" else f"{kind}.{language}"


def _widget(entries: Entries) -> Widget:
    """The widget that is named, or the one that fits what else is said."""
    named = entries.choice("widget", WIDGETS)
    if named is not None:
        return next(widget for widget in WIDGETS if widget == named)
    if "low" not in entries.table and "high" not in entries.table and "options" in entries.table:
        return "choice"
    return "slider" if entries.table.get("role") == "placement" else "buttons"


def _usual_level(widget: Widget) -> str:
    return {"choice": "nominal", "text": "nominal", "number": "interval"}.get(widget, "ordinal")


def _option(entries: Entries, place: int, given: object) -> Option:
    if not isinstance(given, Mapping):
        return Option(entries.value("options", given))
    inner = Entries(Where(entries.where.file, f"{entries.where.place}: options {place}"), given)
    if not inner.has("value"):
        raise inner.where.error("key_missing", value="value")
    option = Option(inner.value("value", given["value"]), inner.texts("text"))
    inner.close()
    return option


def _check_options(options: Sequence[Option], where: Where) -> None:
    values = [option.value for option in options]
    for place, value in enumerate(values):
        if value in values[:place]:
            raise where.error("value_twice", entry="options", value=value)
        if value == NOT_APPLICABLE:
            raise where.error("value_reserved", entry="options", value=value)
    if len(values) > MOST_OPTIONS:
        raise where.error("too_many", entry="options", count=len(values), limit=MOST_OPTIONS)


def _check_levels(asked: Asked, where: Where) -> None:
    if asked.low is None or asked.high is None:
        raise where.error("ends_missing", value=asked.widget)
    if not (asked.low.is_integer() and asked.high.is_integer()):
        raise where.error("ends_not_whole", value=asked.widget, low=f"{asked.low:g}", high=f"{asked.high:g}")
    count, most = int(asked.high - asked.low) + 1, MOST_LEVELS[asked.widget]
    if count > most:
        raise where.error("too_many_levels", value=asked.widget, count=count, limit=most)
    known = levels(asked)
    for option in asked.options:
        if option.value not in known:
            raise where.unknown("options", option.value, known)


def _check_positive(asked: Asked, where: Where) -> None:
    """Of two labels one counts as 1: it is named, or a word such as yes tells it."""
    known = tuple(option.value for option in asked.options)
    two = asked.widget == "choice" and asked.level == "nominal" and len(known) == 2
    if asked.positive is not None and not two:
        raise where.error("positive_of_many", value=asked.positive, count=len(known))
    if asked.positive is not None and asked.positive not in known:
        raise where.unknown("positive", asked.positive, known)
    if two:
        try:
            scale_of_labels(asked.id, Spec("nominal", labels=known, positive=asked.positive), Table(_NO_ROWS, "", ""))
        except InputError as error:
            raise where.error("positive_needed", value=listed(known)) from error
