"""One table in, one table out: every cell is read as text first, so that nothing is coerced in silence.

Kinds of file: csv, tsv (any delimiter of ``, ; tab |``, with or without BOM), jsonl, parquet; ``.gz`` behind the
text kinds. Polars frames and pandas frames are taken too (pandas is recognised by its shape, never imported).
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.delimited import Parsed, parse_delimited
from voirdire.errors import InputError

KINDS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FRAME = "DataFrame"


@dataclass(frozen=True)
class Table:
    """A table read as text.

    frame : every column ``pl.String``, surrounding blanks stripped, empty cells null
    file : how errors name it; ``digest`` : sha256 of the file's bytes (of the cells, for a data frame)
    first_row : the number an editor shows for the first data row (2 below a header)
    rows : those numbers where blank lines make them irregular
    headers : name of a column now -> its name in the file, where they differ
    parts : where a table is several files, the first row of each (counted from 0 over all) and the file
    """

    frame: pl.DataFrame
    file: str
    digest: str
    first_row: int = 1
    delimiter: str = ""
    rows: Sequence[int] = field(default=(), repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    parts: Sequence[tuple[int, str]] = field(default=(), repr=False)

    def header(self, column: str) -> str:
        """The file's own name of a column that was renamed."""
        return self.headers.get(column, column)

    def row(self, index: int) -> int:
        """The number that an editor shows for a row, counted from 0 here.

        >>> read_table(pl.DataFrame({"a": ["x"]})).row(0)
        1
        """
        return self.rows[index] if len(self.rows) else index + self.first_row

    def place(self, index: int) -> tuple[str, int]:
        """The file that a row stands in, and its number there.

        >>> table = Table(pl.DataFrame(), "folder", "", parts=((0, "a.parquet"), (10, "b.parquet")))
        >>> table.place(12), read_table(pl.DataFrame({"a": ["x"]})).place(0)
        (('b.parquet', 3), ('DataFrame', 1))
        """
        start, file = next((part for part in reversed(self.parts) if part[0] <= index), (0, self.file))
        return file, self.row(index - start)

    @property
    def shown_columns(self) -> str:
        """The first columns, for a sentence, by the names that the file has for them."""
        more = ", ..." if self.frame.width > 20 else ""
        return ", ".join(self.header(name) for name in self.frame.columns[:20]) + more

    @property
    def name(self) -> str:
        """The file's bare name, as reports print it."""
        return Path(self.file).name


def read_table(source: Any, encoding: str | None = None) -> Table:
    """Read one table from a path or a data frame; every cell as text.

    Raises InputError when the file is missing, is of an unknown kind, has bytes that are not of its encoding,
    a header that names a column twice, or a row with too few or too many fields.

    >>> read_table(pl.DataFrame({"item_id": [1, 2], "rating": [4.0, None]})).frame.rows()
    [('1', '4'), ('2', None)]
    """
    if isinstance(source, (str, Path)):
        return _read_path(Path(source), encoding)
    if isinstance(source, Table):
        return source
    frame = as_polars(source)
    _refuse_duplicate_names(frame.columns, FRAME)
    text = as_text(frame)
    return Table(text, FRAME, frame_digest(text))


def is_frame(source: Any) -> bool:
    """Whether this is a data frame that ``read_table`` takes."""
    return isinstance(source, (pl.DataFrame, pl.LazyFrame)) or (hasattr(source, "columns") and hasattr(source, "iloc"))


def as_polars(source: Any) -> pl.DataFrame:
    """A Polars frame from a Polars or pandas frame; a named pandas index becomes a column."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if not is_frame(source):
        raise InputError("input.frame_unknown", value=type(source).__name__)
    named = [name for name in source.index.names if name is not None and name not in source.columns]
    if named:
        source = source.reset_index(named)
    names = [str(name) for name in source.columns]
    _refuse_duplicate_names(names, FRAME)
    return pl.DataFrame([_from_pandas(source.iloc[:, place], name) for place, name in enumerate(names)])


def frame_digest(frame: pl.DataFrame) -> str:
    """sha256 of a frame's cells written as csv."""
    digest = hashlib.sha256(",".join(frame.columns).encode())
    for part in frame.iter_slices(200_000):
        digest.update(part.write_csv(include_header=False).encode())
    return digest.hexdigest()


def write_table(frame: pl.DataFrame, path: str | Path) -> Path:
    """Write csv, csv.gz, tsv, jsonl or parquet, by the name's ending.

    >>> import tempfile
    >>> out = write_table(pl.DataFrame({"a": [1]}), tempfile.mkdtemp() + "/a.csv.gz")
    >>> read_table(out).frame.rows()
    [('1',)]
    """
    path = Path(path)
    kind, zipped = _kind(path)
    if kind == "parquet":
        frame.write_parquet(path)
        return path
    if kind == "jsonl":
        data = frame.write_ndjson().encode()
    else:
        separator = "\t" if ".tsv" in path.suffixes else ","
        data = frame.write_csv(separator=separator).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)
    return path


def _kind(path: Path) -> tuple[str, bool]:
    zipped = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if zipped else path.suffix.lower()
    if suffix not in KINDS or (zipped and KINDS[suffix] == "parquet"):
        raise InputError("input.file_kind", file=str(path), value=path.suffix or path.name)
    return KINDS[suffix], zipped


def _read_path(path: Path, encoding: str | None) -> Table:
    try:
        if not path.is_file():
            raise InputError("input.file_is_folder" if path.is_dir() else "input.file_missing", file=str(path))
        kind, zipped = _kind(path)
        stored = path.read_bytes()
    except OSError as error:
        raise InputError("input.file_unreadable", file=str(path), value=error.strerror or str(error)) from error
    digest = hashlib.sha256(stored).hexdigest()
    if kind == "parquet":
        return Table(as_text(_read_parquet(stored, path)), str(path), digest)
    data = as_utf8(stored, path, encoding, zipped=zipped)
    parsed = _parse_jsonl(data, str(path)) if kind == "jsonl" else parse_delimited(data, str(path), path.suffixes)
    if not parsed.frame.width:
        raise InputError("input.file_empty", file=str(path))
    return Table(_stripped(parsed.frame), str(path), digest, parsed.first_row, parsed.delimiter, parsed.rows)


def as_utf8(stored: bytes, path: Path, encoding: str | None = None, *, zipped: bool = False) -> bytes:
    """The bytes of a text file as UTF-8 without a byte order mark.

    Raises InputError for a damaged gzip file and for the first byte that is not of the encoding, which is UTF-8 unless
    another one is named.

    >>> as_utf8("\ufeffé".encode(), Path("a.csv")).decode()
    'é'
    """
    try:
        data = gzip.decompress(stored) if zipped else stored
    except (OSError, EOFError, zlib.error) as error:
        raise InputError("input.file_damaged", file=str(path), value=str(error)) from error
    return _as_utf8(data, path, encoding)


def _read_parquet(stored: bytes, path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(stored))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("input.file_damaged", file=str(path), value=str(error)[:200]) from error


def _as_utf8(data: bytes, path: Path, encoding: str | None) -> bytes:
    if encoding is None and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("input.bytes_utf16", file=str(path))
    if encoding is not None:
        try:
            return data.removeprefix(b"\xef\xbb\xbf").decode(encoding).removeprefix("\ufeff").encode()
        except LookupError as error:
            raise InputError("input.encoding_unknown", value=encoding) from error
        except UnicodeDecodeError as error:
            raise _bad_bytes(data, error, path, encoding) from error
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise _bad_bytes(data, error, path, "utf-8") from error
    return data.removeprefix(b"\xef\xbb\xbf")


def _bad_bytes(data: bytes, error: UnicodeDecodeError, path: Path, encoding: str) -> InputError:
    before = data[: error.start].decode(encoding, errors="replace")
    line_start = before.rfind("\n") + 1
    return InputError(
        "input.bytes_not_encoding",
        file=str(path),
        row=before.count("\n") + 1,
        column=len(before) - line_start + 1,
        value="0x" + data[error.start : error.start + 1].hex(),
        encoding=encoding,
        hint=_guess_encoding(data),
    )


def _guess_encoding(data: bytes) -> str:
    """gb18030 when its text is Chinese and most bytes beyond ASCII stand together, as accented letters do not."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return "cp1252"
    runs = re.findall(rb"[\x80-\xff]+", data)
    together = sum(len(run) > 1 for run in runs) * 2 >= len(runs)
    return "gb18030" if together and any("\u4e00" <= char <= "\u9fff" for char in text) else "cp1252"


def _parse_jsonl(data: bytes, file: str) -> Parsed:
    lines = data.split(b"\n")
    filled = [number for number, line in enumerate(lines, start=1) if line.strip()]
    frame = _fast_jsonl(data) if filled else pl.DataFrame()
    if frame is None or frame.height != len(filled):
        frame = _careful_jsonl(lines, file)
    blank = bool(filled) and filled[-1] != len(filled)
    return Parsed(frame, first_row=1, rows=filled if blank else ())


def _fast_jsonl(data: bytes) -> pl.DataFrame | None:
    try:
        names = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None).columns
        return pl.read_ndjson(io.BytesIO(data), schema=dict.fromkeys(names, pl.String))
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None


def _careful_jsonl(lines: list[bytes], file: str) -> pl.DataFrame:
    """Line by line: nested cells as JSON text. Raises InputError for the first line that is no JSON object."""
    import orjson

    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError("input.json_broken", file=file, row=number, value=str(error)) from error
        if not isinstance(record, dict):
            raise InputError("input.json_not_object", file=file, row=number, value=line[:40].decode(errors="replace"))
        records.append(record)
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [_json_text(record.get(name)) for record in records] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


def _json_text(cell: Any) -> str | None:
    import orjson

    return cell if cell is None or isinstance(cell, str) else orjson.dumps(cell).decode()


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Every cell as text without surrounding blanks, null where it is empty; whole floats as whole numbers."""
    return _stripped(frame.select([_column_as_text(frame[name]) for name in frame.columns]))


def _column_as_text(column: pl.Series) -> pl.Series:
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if column.is_finite().all() and (column == column.round()).all() and (column.abs().max() or 0) < 2**53:  # type: ignore[operator]
            column = column.cast(pl.Int64)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Duration):
        values = [None if cell is None else str(cell) for cell in column.to_list()]
        return pl.Series(column.name, values, dtype=pl.String)
    return column.cast(pl.String)


def _stripped(frame: pl.DataFrame) -> pl.DataFrame:
    clean = frame.select(pl.all().str.strip_chars())
    blank = [name for name in clean.columns if (clean[name] == "").any()]
    return clean.with_columns(pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in blank)


def _from_pandas(column: Any, name: str) -> pl.Series:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf" and hasattr(column.dtype, "itemsize") and not column.isna().any():
        return pl.Series(name, column.to_numpy())
    if kind in "iuf":
        values = [None if gone else value for value, gone in zip(column, column.isna(), strict=True)]
        return pl.Series(name, values, strict=False)
    cells = [None if gone else _plain(value) for value, gone in zip(column, column.isna(), strict=True)]
    return pl.Series(name, cells, dtype=pl.String)


def _plain(value: Any) -> str:
    """An object as text; a whole float as the whole number that it is."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refuse_duplicate_names(names: Sequence[str], file: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            first = list(names).index(name) + 1
            raise InputError("input.header_duplicate", file=file, row=1, column=name, first=first, second=place + 1)


def csv_row(cells: Sequence[str]) -> str:
    """One csv line, for hints that show a row.

    >>> csv_row(["a", "b,c"])
    'a,"b,c"'
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
