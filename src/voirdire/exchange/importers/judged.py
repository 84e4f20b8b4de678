"""What the importers of judgments share: names of items, judges, conditions and questions, and the rows themselves.

A name is made by a pattern over the record, ``{eval.model}`` or ``{vars.item_id} {prompt.label}``. A pattern only looks
fields up; nothing in it is run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import JUDGMENTS, cell, frame
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.known import PATTERN, Known
from voirdire.exchange.importers.records import Record
from voirdire.tables import read_table

OK, MALFORMED, REFUSED, ERROR, PENDING = "ok", "malformed", "refused", "error", "pending"
NONE = "-"
NOT_ASKED = "judged.left.not_asked"

SETTINGS: Mapping[str, str] = {
    "item": "judged.settings.item",
    "judge": "judged.settings.judge",
    "condition": "judged.settings.condition",
    "scores": "judged.settings.scores",
    "questions": "judged.settings.questions",
}
"""Settings of most formats of judgments, and the keys of the sentences that explain them."""

SAME, FIRST = "same", "first"
TEXTS: Mapping[str, str] = {"texts": "judged.settings.texts"}
"""The setting of formats that say what their items are, and its sentence."""

_HOLE = re.compile(r"\{([^{}]*)\}")
_WHOLE = re.compile(r"-?[0-9]{1,6}")


def lookup(known: Any, path: str) -> Any:
    """What stands at a dotted path, also where a name has dots itself; None where nothing does.

    >>> lookup({"a": {"b.c": 4}, "d": [7]}, "a.b.c"), lookup({"a": {"b.c": 4}}, "a.x"), lookup({"d": [7]}, "d.0")
    (4, None, 7)
    """
    if isinstance(known, list):
        head, _, rest = path.partition(".")
        inner = known[int(head)] if head.isascii() and head.isdigit() and int(head) < len(known) else None
        return lookup(inner, rest) if rest else inner
    if not isinstance(known, Mapping):
        return None
    if path in known:
        return known[path]
    cuts = [at for at, char in enumerate(path) if char == "."]
    heads = ((path[:at], path[at + 1 :]) for at in cuts if path[:at] in known)
    return next((found for head, rest in heads if (found := lookup(known[head], rest)) is not None), None)


def fill(pattern: str, known: Mapping[str, Any]) -> str | None:
    """A pattern with the fields of a record; None where one of them is absent or empty.

    >>> fill("{sample.id} of {model}", {"sample": {"id": 7}, "model": "m"}), fill("{x}", {})
    ('7 of m', None)
    """
    found = {path: cell(lookup(known, path)) for path in _HOLE.findall(pattern)}
    if any(value is None for value in found.values()):
        return None
    return _HOLE.sub(lambda hole: found[hole[1]] or "", pattern).strip() or None


@dataclass(frozen=True)
class Naming:
    """How things are called: patterns of item, judge and condition, the scores that are taken, and their questions.

    needed : whether item and judge have to be there; a condition that is not is ``-``
    """

    item: str
    judge: str
    condition: str
    scores: tuple[str, ...] = ()
    questions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: ImportOptions, *, item: str, judge: str, condition: str) -> Naming:
        """The patterns of the settings, or those that a format has without them. Raises UsageError."""
        asked = options.setting("scores", default="") or ""
        return cls(
            _pattern(options, "item", item),
            _pattern(options, "judge", judge),
            _pattern(options, "condition", condition),
            tuple(name.strip() for name in asked.split(",") if name.strip()),
            _renamed(options),
        )

    def wanted(self, score: str) -> bool:
        """Whether a score is taken."""
        return not self.scores or score in self.scores

    def question(self, score: str) -> str:
        """The question that a score answers."""
        return self.questions.get(score, score)

    def cell_of(self, known: Mapping[str, Any], record: Record) -> dict[str, str]:
        """Item, judge and condition of a record. Raises InputError that names the field that is missing."""
        return {
            "item_id": self.item_of(known, record),
            "judge": self._named(self.judge, known, record, "judge"),
            "condition": fill(self.condition, known) or NONE,
        }

    def item_of(self, known: Mapping[str, Any], record: Record) -> str:
        """The item of a record. Raises InputError that names the field that is missing."""
        return self._named(self.item, known, record, "item")

    def _named(self, pattern: str, known: Mapping[str, Any], record: Record, setting: str) -> str:
        found = fill(pattern, known)
        if found is None:
            lacking = next((path for path in _HOLE.findall(pattern) if cell(lookup(known, path)) is None), pattern)
            shown = ", ".join(map(str, known))
            raise record.error("judged.name_missing", lacking, setting=setting, known=shown, pattern=pattern)
        return found


def row(
    where: Mapping[str, str], question: str, value: Any = None, status: str = OK, repeat: int = 1, **more: Any
) -> dict[str, Any]:
    """A row of the judgments; a value that is missing or NaN is malformed unless a status says why there is none.

    >>> row({"item_id": "a", "judge": "m", "condition": "-"}, "q", float("nan"), raw="?")["status"]
    'malformed'
    """
    rating = cell(value)
    told = MALFORMED if status == OK and rating is None else status
    rating = rating if told == OK else None
    return {**where, "question": question, "repeat": repeat, "rating": rating, "status": told, **more}


def scores_in(name: str, value: Any) -> dict[str, Any]:
    """Score -> value: the entries of an object by their names, those of a list by their numbers, else the one.

    >>> scores_in("tone", {"warm": 4}), scores_in("tone", [1, 2]), scores_in("tone", "C")
    ({'warm': 4}, {'tone.1': 1, 'tone.2': 2}, {'tone': 'C'})
    """
    if isinstance(value, dict):
        return {str(key): entry for key, entry in value.items()}
    if isinstance(value, list):
        return {f"{name}.{n}": entry for n, entry in enumerate(value, start=1)}
    return {name: value}


def shared_names(scores: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Names of scores that several scorers give, of pairs of scorer and name.

    >>> sorted(shared_names([("s1", "quality"), ("s2", "quality"), ("s2", "tone"), ("s2", "quality")]))
    ['quality']
    """
    by: dict[str, set[str]] = {}
    for scorer, name in scores:
        by.setdefault(name, set()).add(scorer)
    return frozenset(name for name, scorers in by.items() if len(scorers) > 1)


def told_apart(scorer: str, name: str, shared: Collection[str]) -> str:
    """A score's name, behind that of its scorer where others give one of that name too.

    >>> told_apart("s1", "quality", ["quality"]), told_apart("s1", "tone", ["quality"]), told_apart("q", "q", ["q"])
    ('s1.quality', 'tone', 'q')
    """
    return f"{scorer}.{name}" if name in shared and name != scorer else name


def known_items(options: ImportOptions, how: str) -> Known:
    """What is said of items: the same whenever an id comes again, or what was said first (``--set texts=first``).

    how : a pattern that tells items of several files apart
    """
    lenient = options.setting("texts", (SAME, FIRST), SAME) == FIRST
    return Known(PATTERN, how, partial=True, lenient=lenient)


def judged_tables(
    rows: Sequence[Mapping[str, Any]],
    items: Mapping[str, Mapping[str, Any]],
    notes: Sequence[Note] = (),
    judges: pl.DataFrame | None = None,
    conditions: pl.DataFrame | None = None,
) -> Tables:
    """The tables of an import of judgments; cells that stand there more than once are said.

    items : id -> what is known of the item
    """
    judgments = frame(rows, JUDGMENTS)
    told = [*notes, *told_twice(judgments)]
    described = frame([{"item_id": name, **known} for name, known in items.items()], ("item_id",)) if items else None
    return Tables(judgments=judgments, items=described, judges=judges, conditions=conditions, notes=tuple(told))


def check_scores(naming: Naming, found: Sequence[str], file: str) -> None:
    """Raises InputError for a score that was asked for, or is given a question, and does not occur."""
    wrong = next((name for name in (*naming.scores, *naming.questions) if name not in found), None)
    if wrong is not None:
        raise InputError("judged.score_unknown", file=file, value=wrong, known=", ".join(dict.fromkeys(found)) or NONE)


def take(account: Account, made: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that stand in the tables, counted as read and taken."""
    account.read(len(made))
    account.took(len(made))
    return list(made)


def levels_of(options: ImportOptions) -> dict[str, tuple[int, ...]]:
    """Question -> the integers that are ratings, of the questions table; ``*`` for all, of ``--set scale=1:5``.

    Raises UsageError for a scale that is none.
    """
    found: dict[str, tuple[int, ...]] = {}
    asked = options.setting("scale")
    if asked is not None:
        low, _, high = asked.partition(":")
        found["*"] = _span(low, high) or ()
        if not found["*"]:
            raise UsageError("judged.scale", value=asked)
    if options.questions is not None:
        table = read_table(options.questions).frame
        for declared in table.iter_rows(named=True):
            span = _span(declared.get("min"), declared.get("max"))
            if declared.get("question") and span:
                found[str(declared["question"])] = span
    return found


def _span(low: Any, high: Any) -> tuple[int, ...] | None:
    first, last = (int(str(end)) if _WHOLE.fullmatch(str(end)) else None for end in (low, high))
    return tuple(range(first, last + 1)) if first is not None and last is not None and 0 < last - first < 1000 else None


def _pattern(options: ImportOptions, setting: str, default: str) -> str:
    pattern = options.setting(setting, default=default) or default
    if _HOLE.sub("", pattern).strip("{}") != _HOLE.sub("", pattern) or "{}" in pattern:
        raise UsageError("judged.pattern", name=setting, value=pattern)
    return pattern


def _renamed(options: ImportOptions) -> dict[str, str]:
    """The score that answers each question: ``q1=strict; q2=tone`` as score -> question."""
    found: dict[str, str] = {}
    for entry in (options.setting("questions", default="") or "").split(";"):
        ours, equals, theirs = entry.partition("=")
        if not entry.strip():
            continue
        if not equals or not ours.strip() or not theirs.strip():
            raise UsageError("judged.questions", value=entry.strip())
        found[theirs.strip()] = ours.strip()
    return found


def told_twice(judgments: pl.DataFrame, *further: str) -> list[Note]:
    """A note of judgments that stand there more than once; ``further`` : columns that tell them apart too."""
    key = [name for name in JUDGMENTS if name not in ("rating", "status")]
    key += [name for name in further if name in judgments.columns]
    count = judgments.height - judgments.n_unique(key)
    return [Note("judged.note.twice", {"count": count}, "warning")] if count else []
