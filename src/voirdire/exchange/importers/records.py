"""Records of JSON, JSONL and delimited files, each with the line it begins in, and typed access to their fields.

What cannot be read goes to ``Account.broken``: it is raised, or with ``--skip-broken`` left out and counted, and
reading goes on with the next record where the syntax tells where that begins.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from voirdire.delimited import header_names, sniff
from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.archives import MOST
from voirdire.exchange.importers.jsonwalk import DECODER, Part, Walker
from voirdire.tables import as_utf8

ID = "id"
"""The kind of a field that names something: a text or a whole number, given as text."""

OWN = (ID, "item_id", "_id", "uid", "key", "custom_id")
"""Fields in which records name themselves, for errors to name them."""

KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
"""Kinds of fields by the names that JSON has for them."""

SHOWN = 60
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Record:
    """A part of a file: a whole record, or an object inside one.

    value : what it holds; line : where its record begins, counted from 1
    place : which record it is, where its line holds several: ``#17, id 42``; errors name it beside the line
    field : where it stands in its record, ``annotations[0].result``; key : its name, where records are entries of an
    object
    """

    value: Any
    file: str
    line: int
    field: str = ""
    key: str = ""
    place: str = ""

    def need(self, name: str, kind: type | str) -> Any:
        """A field that must be there and of a kind: a type, or ``ID``. Raises InputError that names it.

        >>> Record({"id": 7, "score": 4}, "a.json", 1).need("id", ID)
        '7'
        """
        found = self.may(name, kind)
        if found is None:
            raise self.error("importing.field_missing", name, known=_names(self.value))
        return found

    def may(self, name: str, kind: type | str) -> Any:
        """A field of a kind, or None where it is absent or null. Raises InputError where it is of another kind."""
        value = self._object().get(name)
        if value is None:
            return None
        if not _is(value, kind):
            raise self.error("importing.field_kind", name, value, wanted=kind)
        return str(value) if kind == ID else value

    def inside(self, name: str) -> Record:
        """An object that stands in a field; an empty one where the field is absent or null."""
        return Record(self.may(name, dict) or {}, self.file, self.line, self._path(name), name, self.place)

    def each(self, name: str) -> list[Record]:
        """The objects of a list that stands in a field; none where the field is absent or null."""
        found = self.may(name, list) or []
        inner = f"{self._path(name)}["
        parts = [Record(value, self.file, self.line, f"{inner}{n}]", place=self.place) for n, value in enumerate(found)]
        wrong = next((part for part in parts if not isinstance(part.value, dict)), None)
        if wrong is not None:
            raise wrong.error("importing.field_kind", "", wrong.value, wanted=dict)
        return parts

    def error(self, key: str, name: str = "", value: Any = "", **fields: Any) -> InputError:
        """An error about a field of this record: file, line, field and value are filled in.

        ``importing.field_kind`` takes ``wanted``, a kind.
        """
        if "wanted" in fields:
            fields["wanted"] = KINDS.get(fields["wanted"], "string, integer")
        where = self._path(name) if name else self.field or "-"
        line = f"{self.line} ({self.place})" if self.place else self.line
        return InputError(key, file=self.file, line=line, field=where, value=shown(value), **fields)

    def wrong(self, name: str, value: Any, why: str) -> InputError:
        """An error about a field, with the reason in words: for packages that have no catalogue of sentences."""
        return self.error("importing.record_field", name, value, why=why)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.error("importing.field_kind", "", self.value, wanted=dict)
        return self.value

    def _path(self, name: str) -> str:
        return f"{self.field}.{name}" if self.field else name


def shown(value: Any) -> str:
    """A value as an error shows it: short.

    >>> shown({"a": "b" * 100})
    '{"a": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...'
    """
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def read_text(path: Path, encoding: str | None = None) -> str:
    """A text file, also as ``.gz``, without a byte order mark; its lines end in newlines alone. Raises InputError."""
    try:
        stored = path.read_bytes()
    except IsADirectoryError as error:
        raise InputError("importing.is_folder", file=str(path)) from error
    except FileNotFoundError as error:
        raise InputError("input.file_missing", file=str(path)) from error
    except OSError as error:
        raise InputError("input.file_unreadable", file=str(path), value=error.strerror or str(error)) from error
    text = as_utf8(_unpacked(stored, path), path, encoding).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _unpacked(stored: bytes, path: Path) -> bytes:
    """The bytes of a file, out of gzip where it is packed. Raises InputError where they are damaged or too many."""
    if stored[:2] != b"\x1f\x8b":
        return stored
    try:
        with gzip.open(io.BytesIO(stored)) as opened:
            found = opened.read(MOST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError("input.file_damaged", file=str(path), value=str(error)) from error
    if len(found) > MOST:
        raise InputError("importing.packed_large", file=str(path), most=MOST)
    return found


def json_records(path: Path, account: Account, at: Sequence[str] = (), *, entries: bool = False) -> Iterator[Record]:
    r"""The records of a JSON file: the elements of an array, or a single object.

    at : names that lead from the outermost object to the array, where it stands inside
    entries : the records are the entries of an object instead; ``Record.key`` is the name of each

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "a.json"
    >>> _ = file.write_text('[{"id": 1},\n {"id": 2}]')
    >>> [(record.line, record.need("id", ID)) for record in json_records(file, Account())]
    [(1, '1'), (2, '2')]
    """
    yield from parse_records(read_text(path), str(path), account, at, entries=entries)


def parse_records(
    text: str, file: str, account: Account, at: Sequence[str] = (), *, entries: bool = False
) -> Iterator[Record]:
    """As ``json_records``, of a text that was read already (a member of an archive)."""
    walker = Walker(text, file, account)
    for step in at:
        walker.enter(step)
    found = walker.entries() if entries else walker.elements() if walker.peek() == "[" else walker.single()
    for part in found:
        yield Record(part.value, file, part.line, key=part.key, place=_place(part))
    if not at:
        walker.end()


def _place(part: Part) -> str:
    """Which record of a line it is: its number, and its id or name where it has one."""
    told = part.value if isinstance(part.value, dict) else {}
    name = part.key or next((str(told[name]) for name in OWN if _is(told.get(name), ID)), "")
    return f"{part.place}, id {shown(name)}" if part.place and name else part.place


def jsonl_records(path: Path, account: Account) -> Iterator[Record]:
    """The records of a JSONL file, one a line; blank lines are passed over."""
    yield from parse_lines(read_text(path), str(path), account)


def parse_lines(text: str, file: str, account: Account) -> Iterator[Record]:
    r"""As ``jsonl_records``, of a text that was read already.

    >>> account = Account(skip_broken=True)
    >>> [record.line for record in parse_lines('{"a": 1}\n\n{"a"\n{"a": 2}', "a.jsonl", account)]
    [1, 4]
    >>> account.broken_records[0].fields["line"]
    3
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", str(error))
            broken = InputError("importing.json_broken", file=file, line=number, at=number, why=why, value=shown(line))
            account.broken(broken, at=Record(None, file, number))
        else:
            yield Record(value, file, number)


def delimited_records(
    path: Path, account: Account, encoding: str | None = None, *, header: bool = True
) -> tuple[tuple[str, ...], Iterator[Record]]:
    r"""Column names of a csv or tsv file, and its rows as records of texts; empty cells are None.

    header : whether the first row names the columns; they are called 1, 2, ... otherwise

    The delimiter is found (``, ; tab |``). A row with more or fewer fields than the header is broken.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "a.csv"
    >>> _ = file.write_text('task;label\n"a\nb";1\nc;\n')
    >>> columns, rows = delimited_records(file, Account())
    >>> columns, [(row.line, row.value["label"]) for row in rows]
    (('task', 'label'), [(2, '1'), (4, None)])
    """
    text, file = read_text(path, encoding), str(path)
    head = text[: text.find("\n")] if "\n" in text else text
    rows = _rows(text, "\t" if ".tsv" in path.suffixes else sniff(head), file)
    first = next(rows, (1, []))
    if not first[1]:
        raise InputError("input.file_empty", file=file)
    if not header:
        rows = chain([first], rows)
    columns = tuple(header_names(first[1] if header else [str(n + 1) for n in range(len(first[1]))], file))
    return columns, _named(rows, columns, file, account)


def head_of(path: Path, size: int = 65_536) -> str:
    """The first characters of a text file, for recognising it; empty where there is no text. Never raises.

    >>> head_of(Path("there/is/none"))
    ''
    """
    try:
        with path.open("rb") as opened:
            zipped = opened.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as opened:
            data = opened.read(size)
    except (OSError, EOFError, zlib.error):
        return ""
    if b"\0" in data:
        return ""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def head_columns(path: Path) -> tuple[str, ...]:
    """The column names of a delimited file, for recognising it; empty where the first line is no header."""
    head = head_of(path)
    line = head.split("\n", 1)[0]
    if not line.strip() or line.lstrip()[0] in "[{":
        return ()
    try:
        return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=sniff(line)), []))
    except csv.Error:
        return ()


def head_record(path: Path) -> Any:
    """The first record of a JSON array, of a JSONL file, or a single object, for recognising it; None where it is none.

    A record that is longer than the head that is looked at is given as far as ``{"field": ...}`` can be told: as a
    dict of the fields that are complete. Never raises.
    """
    text = head_of(path)
    start = _BLANK.match(text).end()  # type: ignore[union-attr]
    if text[start : start + 1] == "[":
        start = _BLANK.match(text, start + 1).end()  # type: ignore[union-attr]
    try:
        return DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return _fields_so_far(text, start)


def _fields_so_far(text: str, start: int) -> dict[str, Any] | None:
    """The complete fields at the beginning of an object that is cut off."""
    found: dict[str, Any] = {}
    try:
        for part in Walker(text, "", Account(), start).entries():
            found[part.key] = part.value
    except InputError:
        return found or None
    return found


def _rows(text: str, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of every row; lines without any cell are passed over."""
    limit = csv.field_size_limit(sys.maxsize)
    line = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError("importing.row_quotes", file=file, line=line, value=str(error)) from error
    finally:
        csv.field_size_limit(limit)


def _named(
    rows: Iterator[tuple[int, list[str]]], columns: Sequence[str], file: str, account: Account
) -> Iterator[Record]:
    for line, cells in rows:
        if len(cells) != len(columns):
            fields = {"value": len(cells), "expected": len(columns)}
            account.broken(
                InputError("importing.row_ragged", file=file, line=line, **fields), at=Record("", file, line)
            )
            continue
        values = {name: cell.strip() or None for name, cell in zip(columns, cells, strict=True)}
        yield Record(values, file, line)


def _is(value: Any, kind: type | str) -> bool:
    if kind == ID:
        return (isinstance(value, str) and value != "") or (isinstance(value, int) and not isinstance(value, bool))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind) if isinstance(kind, type) else False


def _names(value: Any) -> str:
    return shown(", ".join(map(str, value))) if isinstance(value, dict) and value else "-"
