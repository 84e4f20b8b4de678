"""Delimited text to a frame of text: the delimiter is sniffed, ragged rows are found before they are read."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from voirdire.errors import InputError

DELIMITERS = ",;\t|"
_QUOTED = re.compile(rb'"[^"]*"')


@dataclass(frozen=True)
class Parsed:
    """A frame of text, the number of its first row, its delimiter and irregular row numbers."""

    frame: pl.DataFrame
    first_row: int = 2
    delimiter: str = ""
    rows: Sequence[int] = ()


def parse_delimited(data: bytes, file: str, suffixes: Sequence[str] = ()) -> Parsed:
    r"""Parse UTF-8 bytes with a header.

    >>> parse_delimited(b"a;b\n1;2,5\n", "x.csv").frame.rows()
    [('1', '2,5')]
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    body_start, header_line = _first_record(data)
    delimiter = "\t" if ".tsv" in suffixes else sniff(header_line)
    if header_line.count('"') % 2 or "\n" in header_line:
        body_start, header_line = _shortest_record(data, delimiter)
    names = header_names(next(_records(header_line, delimiter, file), (1, []))[1], file)
    body = data[body_start:].rstrip(b"\n")
    if not names:
        return Parsed(pl.DataFrame(), delimiter=delimiter)
    if not body:
        return Parsed(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), delimiter=delimiter)
    frame = _fast(body, names, delimiter)
    if frame is not None:
        return Parsed(frame, 2, delimiter)
    return _careful(data.decode(), names, delimiter, file)


def sniff(header: str) -> str:
    """The delimiter that a header holds most often outside quotes; a comma when it holds none.

    >>> sniff('"a,b";c;d')
    ';'
    """
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


def header_names(cells: list[str], file: str) -> list[str]:
    """Column names: stripped, unnamed ones called ``column_2`` by their place. A name twice is refused."""
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    if len(set(names)) == len(names):
        return names
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in seen:
            raise InputError("input.header_duplicate", file=file, row=1, column=name, first=seen[name], second=place)
        seen[name] = place
    return names


def _first_record(data: bytes) -> tuple[int, str]:
    start = quotes = 0
    while True:
        end = data.find(b"\n", start)
        stop = len(data) if end < 0 else end
        quotes += data.count(b'"', start, stop)
        if end < 0 or quotes % 2 == 0:
            return stop + 1, data[:stop].decode()
        start = end + 1


def _shortest_record(data: bytes, delimiter: str) -> tuple[int, str]:
    """The header as the csv reader ends it: a quotation mark inside an unquoted name opens nothing."""
    text = data.decode()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    next(reader, None)
    lines = text.split("\n", reader.line_num)[: reader.line_num]
    header = "\n".join(lines)
    return len(header.encode()) + 1, header


def _fast(body: bytes, names: list[str], delimiter: str) -> pl.DataFrame | None:
    """Polars' reader, taken only when every row has as many fields as the header; else None."""
    bare = _QUOTED.sub(b"", body) if b'"' in body else body
    if b'"' in bare or b"\n\n" in bare or bare.startswith(b"\n"):
        return None
    chars = np.frombuffer(bare, dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(chars == 10) + 1])
    fields = np.add.reduceat(chars == ord(delimiter), starts[starts < len(chars)], dtype=np.int32)
    if len(fields) != len(starts) or (fields != len(names) - 1).any():
        return None
    schema = dict.fromkeys(names, pl.String)
    try:
        frame = pl.read_csv(io.BytesIO(body), has_header=False, schema=schema, separator=delimiter)
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.height == len(starts) else None


def _careful(text: str, names: list[str], delimiter: str, file: str) -> Parsed:
    numbers: list[int] = []
    records: list[list[str]] = []
    for number, record in _records(text, delimiter, file):
        if number == 1 or not record:
            continue
        if len(record) != len(names):
            raise InputError(
                "input.row_ragged",
                file=file,
                row=number,
                value=len(record),
                expected=len(names),
                column=names[min(len(record), len(names)) - 1],
            )
        numbers.append(number)
        records.append(record)
    frame = pl.DataFrame(records, schema=dict.fromkeys(names, pl.String), orient="row")
    regular = not numbers or numbers[-1] == len(numbers) + 1
    return Parsed(frame, 2, delimiter, () if regular else numbers)


def _records(text: str, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    limit = csv.field_size_limit(sys.maxsize)
    number = 0
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            number += 1
            yield number, record
    except csv.Error as error:
        raise InputError("input.row_quotes", file=file, row=number + 1, value=str(error)) from error
    finally:
        csv.field_size_limit(limit)
