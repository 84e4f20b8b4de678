"""Wide tables of ratings, a cell a rating: for irrCAC a row a subject, for krippendorff a row a rater.

irrCAC (Python 0.4: ``CAC(ratings)``) takes raw ratings with subjects as rows and raters as columns, with or without a
column of the subjects' names (``Units``). krippendorff (0.9: ``alpha(reliability_data)``) takes coders as rows and
units as columns, with nan for a missing value, which its example writes as ``*``. The two are transposed to each
other. Which one a file is, is taken from its header and first column, where these say it; it is asked otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.corpus.columns import NAMES, normal
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.records import Record, delimited_records, head_columns, head_of
from voirdire.exchange.importers.tables import RATINGS, frame

ITEMS, RATERS = "items", "raters"
WORDS = {
    ITEMS: ("unit", "subject", "item", "task", "question", "document", "case", "example", "target", "条目", "单元"),
    RATERS: ("rater", "coder", "observer", "annotator", "judge", "worker", "reviewer", "评分者", "标注者", "编码者"),
}
UNNAMED = ("", "Unnamed: 0")
"""Headers of a column of names without a name of its own, as pandas writes and reads it."""
TRUTHS: tuple[str, ...] = (
    "gold",
    "gold_label",
    "gold_standard",
    "goldlabel",
    "true_label",
    "truth",
    "ground_truth",
    "gt",
)
TRUTHS += ("consensus", "majority", "mean", "median")
"""Columns beside those of raters that are nobody's ratings."""

ABSENT = ("*", "na", "nan", "")
HEADER = ("yes", "no")
SHOWN_ROWS = 20


@dataclass(frozen=True)
class Shape:
    """How a table stands: what its rows are (None where nothing says it), and whether its first column names them."""

    rows: str | None
    named: bool


def shape_of(header: Sequence[str], first: Sequence[str]) -> Shape:
    """What header and first column say; both must not contradict each other.

    >>> shape_of(["Units", "Rater1", "Rater2"], ["1", "2"]), shape_of(["Rater1", "Rater2"], ["3", "4"])
    (Shape(rows='items', named=True), Shape(rows='items', named=False))
    >>> shape_of(["", "u1", "u2"], ["Coder A", "Coder B"]), shape_of(["x", "y"], ["1", "2"])
    (Shape(rows='raters', named=True), Shape(rows=None, named=False))
    """
    corner = _named_by(header[0]) if header else None
    across = {_numbered(name) for name in header[1:]}
    across_rows = {ITEMS: RATERS, RATERS: ITEMS}.get(next(iter(across)) or "") if len(across) == 1 else None
    down = {_numbered(cell) for cell in first}
    down_rows = next(iter(down)) if len(down) == 1 else None
    if header and _numbered(header[0]) is not None and {_numbered(header[0])} == across:
        return Shape(across_rows, named=False)
    found = {one for one in (corner, across_rows, down_rows) if one is not None}
    blank = not header or header[0].strip() in UNNAMED
    named = blank or any(one is not None for one in (corner, down_rows, across_rows))
    return Shape(next(iter(found)) if len(found) == 1 else None, named)


def recognise(path: Path) -> Recognition:
    """A delimited table whose header says what its columns are, and nothing else stands in it."""
    lines = [line for line in head_of(path).split("\n")[:SHOWN_ROWS] if line.strip()]
    if len(lines) < 2 or lines[0].lstrip()[:1] in ("{", "["):
        return NO
    mark = max(",;\t|", key=lines[0].count)
    header = [cell.strip().strip('"') for cell in lines[0].split(mark)]
    first = [line.split(mark)[0].strip().strip('"') for line in lines[1:]]
    across = {_numbered(name) for name in header[1:]}
    return YES if len(header) > 2 and len(across) == 1 and None not in across and shape_of(header, first).rows else NO


def may_be(path: Path) -> bool:
    """Whether a table that is not recognised may be a wide one all the same: its first column names items or raters."""
    header = head_columns(path)
    lines = [line for line in head_of(path).split("\n")[1:SHOWN_ROWS] if line.strip()]
    mark = max(",;\t|", key=head_of(path).split("\n", 1)[0].count)
    first = [line.split(mark)[0].strip().strip('"') for line in lines]
    long = {*NAMES["rater_id"][0].split(), *NAMES["rating"][0].split(), "rater_id", "rating", "question"}
    others = {normal(name) for name in header[1:]}
    return len(header) > 2 and bool(first) and not others & long and shape_of(header, first).rows is not None


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every cell of every file; several files are several questions, called as the files are."""
    rows: list[dict[str, Any]] = []
    notes = []
    given = options.setting("question", default="rating") or "rating"
    named = options.setting("header", HEADER, HEADER[0]) == HEADER[0]
    for path in paths:
        header, listed = _rows(path, account, named)
        shape = _shape(path, header, listed, options, named)
        asked = given if len(paths) == 1 else path.name.split(".")[0]
        labels = _labels(header, shape, named)
        nobody = _nobodys(labels.values(), shape)
        labels = {column: label for column, label in labels.items() if label not in nobody}
        found = _cells(listed, labels, shape, asked, options, account)
        rows += found
        notes.append(Note(f"wide.rows_are_{shape.rows}", {"file": path.name}))
        if nobody:
            notes.append(Note("wide.nobodys", {"file": path.name, "columns": ", ".join(nobody)}, "warning"))
        if not shape.named:
            notes.append(Note("wide.numbered", {"file": path.name}))
    return Tables(ratings=frame(rows, RATINGS), notes=tuple(notes))


def _rows(path: Path, account: Account, named: bool) -> tuple[tuple[str, ...], list[Record]]:
    try:
        header, records = delimited_records(path, account, header=named)
    except InputError as error:
        if error.key != "input.header_duplicate":
            raise
        raise InputError("wide.no_header", file=str(path), value=error.fields["column"]) from error
    return header, list(records)


def _labels(header: Sequence[str], shape: Shape, named: bool) -> dict[str, str]:
    """Column -> what its ratings are of; without a header they are numbered behind the column of names."""
    columns = header[1:] if shape.named else header
    return {name: name if named else str(place) for place, name in enumerate(columns, start=1)}


def _nobodys(labels: Iterable[str], shape: Shape) -> list[str]:
    """Columns of a truth or a mean beside the raters' columns; in a table of raters by row they are items.

    >>> _nobodys(["Rater1", "Rater2", "Gold label"], Shape("items", named=True))
    ['Gold label']
    """
    return [label for label in labels if shape.rows == ITEMS and normal(label) in TRUTHS]


def _shape(
    path: Path, header: Sequence[str], records: Sequence[Record], options: ImportOptions, has_header: bool
) -> Shape:
    first = [str(record.value[header[0]] or "") for record in records[:SHOWN_ROWS]]
    corner = (head_columns(path) or ("",))[0]
    found = shape_of([corner, *header[1:]], first) if has_header else shape_of(["-"], first)
    rows = options.setting("rows", (ITEMS, RATERS)) or found.rows
    named = {"first": True, "none": False}.get(options.setting("ids", ("first", "none")) or "", found.named)
    if rows is None:
        raise InputError("wide.which_way", file=str(path), columns=", ".join(header[:5]))
    if "ids" not in options.settings and not found.named and found.rows is None:
        raise InputError("wide.which_ids", file=str(path), column=header[0])
    return Shape(rows, named)


def _cells(
    records: Sequence[Record],
    columns: Mapping[str, str],
    shape: Shape,
    asked: str,
    options: ImportOptions,
    account: Account,
) -> list[dict[str, Any]]:
    """A row a cell that holds a rating. A row without its name has its number, counted from 1."""
    absent = {*ABSENT, *(word.strip().casefold() for word in options.settings.get("missing", "").split(","))}
    rows = []
    for number, record in enumerate(records, start=1):
        with account.record(record):
            account.read(len(columns))
            name = record.need(next(iter(record.value)), str) if shape.named else str(number)
            found = []
            for column, label in columns.items():
                value = record.value[column]
                if value is None or value.casefold() in absent:
                    account.left(MISSING, at=record)
                    continue
                item, rater = (name, label) if shape.rows == ITEMS else (label, name)
                found.append({"item_id": item, "rater_id": rater, "question": asked, "rating": value})
            account.took(len(found))
            rows += found
    return rows


def _named_by(corner: str) -> str | None:
    """What the header of the first column says that the rows are."""
    name = normal(corner)
    for kind, column in ((ITEMS, "item_id"), (RATERS, "rater_id")):
        known = {*NAMES[column][0].split(), column}
        if name in known or _word(name.removesuffix("_id").removesuffix("s")) == kind:
            return kind
    return None


def _numbered(name: str) -> str | None:
    """Whether a name is that of one of many items or raters: a word and a number or a letter."""
    match = re.fullmatch(r"(.*?)[\s_.#-]*(\d+|[A-Za-z])?\s*:?", name.strip())
    return _word(match[1]) if match and match[2] else None


def _word(name: str) -> str | None:
    found = [kind for kind, words in WORDS.items() if name.strip().casefold() in words]
    return found[0] if found else None


IMPORTER = Importer(
    "wide",
    "wide.title",
    recognise,
    read=read,
    settings={
        "rows": "wide.settings.rows",
        "ids": "wide.settings.ids",
        "header": "wide.settings.header",
        "question": "wide.settings.question",
        "missing": "wide.settings.missing",
    },
)
