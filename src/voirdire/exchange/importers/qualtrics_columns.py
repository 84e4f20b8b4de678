"""The columns of Qualtrics' csv export: what each holds, by its ImportId, and which item and question it is of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from voirdire.corpus.columns import normal
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.records import ID, Record, delimited_records

_PERSONAL = (
    "ipAddress recipientLastName recipientFirstName recipientEmail externalDataReference locationLatitude "
    "locationLongitude"
)
_OWN = "startDate endDate status progress duration finished recordedDate _recordId distributionChannel userLanguage"
PERSONAL, OWN = frozenset(_PERSONAL.split()), frozenset(_OWN.split())
"""ImportIds of personal data, and of what else Qualtrics itself records of a response."""

PIDS = ("prolific_pid", "prolific_id")
_QUESTION = re.compile(r"(?:\w+_)?(?:QID|BL_|FL_|SC_)\w*")
_ASIDE = re.compile(r"_(?:DO(?:_\w+)?|FIRST_CLICK|LAST_CLICK|PAGE_SUBMIT|CLICK_COUNT)$")


@dataclass(frozen=True)
class Column:
    """A column: its name, the wording below it, and its ImportId with further fields beside it."""

    name: str
    text: str
    told: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The ImportId."""
        return str(self.told.get("ImportId", ""))

    @property
    def asked(self) -> bool:
        """Whether it belongs to a question or block, and not to embedded data."""
        return _QUESTION.fullmatch(self.id) is not None

    @property
    def typed(self) -> bool:
        """Whether it holds text in the rater's own words."""
        return self.id.endswith("_TEXT")

    @property
    def aside(self) -> bool:
        """Whether it holds times or an order of display, which is no answer."""
        return self.asked and _ASIDE.search(self.id) is not None

    @property
    def one_choice(self) -> bool:
        """Whether it is one choice of a question of which several may be chosen."""
        return "choiceId" in self.told


@dataclass(frozen=True)
class Target:
    """What a column is of. more : further columns of the table of items, such as its text."""

    item: str
    question: str
    more: Mapping[str, Any]


def read_columns(path: Path, account: Account) -> tuple[dict[str, Column], Iterator[Record]]:
    """The columns, told by three header rows, and the responses. Raises InputError where the rows are not there."""
    names, records = delimited_records(path, account)
    heads = list(islice(records, 2))
    if len(heads) < 2 or not any("ImportId" in str(value) for value in heads[1].value.values()):
        raise InputError("qualtrics.headers", file=str(path))
    found = {}
    for name in names:
        told = _told(heads[1], name)
        found[name] = Column(name, heads[0].value[name] or "", told)
    return found, records


def _told(head: Record, name: str) -> Mapping[str, Any]:
    value = head.value[name]
    try:
        told = json.loads(value or "{}")
    except (json.JSONDecodeError, RecursionError) as error:
        raise head.error("qualtrics.import_id", name, value) from error
    if not isinstance(told, dict):
        raise head.error("qualtrics.import_id", name, value)
    return told


def own(columns: Mapping[str, Column], wanted: str) -> str | None:
    """The name of the column with an ImportId."""
    return next((name for name, column in columns.items() if column.id == wanted), None)


def rater_column(columns: Mapping[str, Column], mapped: str | None, path: Path) -> str:
    """The column that says who rated: the mapped one, a Prolific id, else the id of the response."""
    if mapped is not None and mapped not in columns:
        raise InputError("qualtrics.column_unknown", file=str(path), value=mapped, known=", ".join(columns))
    pids = [name for name in columns if normal(name) in PIDS]
    found = mapped or (pids[0] if len(pids) == 1 else own(columns, "_recordId"))
    if found is None or (len(pids) > 1 and mapped is None):
        raise InputError("qualtrics.rater", file=str(path), value=", ".join(pids) or "-")
    return found


def targets(columns: Mapping[str, Column], path: Path, table: str | None, pattern: str | None) -> dict[str, Target]:
    """Column -> item and question, by a table or a pattern. Raises where neither is given, and where nothing fits."""
    if table is None and pattern is None:
        asked = [name for name, column in columns.items() if column.asked and not (column.aside or column.typed)]
        raise InputError("qualtrics.items_needed", file=str(path), known=", ".join(asked))
    found = _by_table(Path(table), columns, path) if table is not None else {}
    if pattern is not None:
        form = _form(pattern)
        for name, column in columns.items():
            match = form.fullmatch(name)
            if match and name not in found and column.asked and not column.aside:
                parts = match.groupdict()
                found[name] = Target(parts["item"], parts.get("question") or "rating", {})
    if not found:
        raise InputError("qualtrics.nothing_fits", file=str(path), value=pattern or table, known=", ".join(columns))
    return found


def _by_table(table: Path, columns: Mapping[str, Column], path: Path) -> dict[str, Target]:
    names, records = delimited_records(table, Account())
    lacking = [name for name in ("column", "item_id") if name not in names]
    if lacking:
        raise InputError("qualtrics.items_table", file=str(table), value=", ".join(lacking))
    found = {}
    for record in records:
        name, item = record.need("column", ID), record.need("item_id", ID)
        if name not in columns:
            raise record.error("qualtrics.no_column", "column", name, export=str(path))
        more = {key: value for key, value in record.value.items() if key not in ("column", "item_id", "question")}
        found[name] = Target(item, record.may("question", ID) or "rating", more)
    return found


def _form(pattern: str) -> re.Pattern[str]:
    """``{item}_{question}`` as a regular expression; the item is as short as it can be."""
    if "{item}" not in pattern or pattern.count("{item}") > 1 or pattern.count("{question}") > 1:
        raise UsageError("qualtrics.pattern", value=pattern)
    parts = re.split(r"(\{item\}|\{question\})", pattern)
    made = {"{item}": "(?P<item>.+?)", "{question}": "(?P<question>.+)"}
    return re.compile("".join(made.get(part, re.escape(part)) for part in parts))


def about(columns: Mapping[str, Column], named: Sequence[str], rater: str, path: Path) -> list[str]:
    """The columns that tell of raters: embedded data, and those that are named."""
    unknown = [name for name in named if name not in columns]
    if unknown:
        raise InputError("qualtrics.column_unknown", file=str(path), value=unknown[0], known=", ".join(columns))
    told = [
        name
        for name, column in columns.items()
        if column.id and not column.asked and column.id not in OWN | PERSONAL and name != rater
    ]
    return list(dict.fromkeys([*told, *named]))
