"""Showing results: text and JSON on standard output, progress and errors on standard error."""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from voirdire.errors import Lines, VoirdireError
from voirdire.texts import has, text

PATIENCE = 2.0


def clean(value: Any) -> str:
    r"""Text of unknown origin with control characters made visible, so that it cannot steer a terminal.

    >>> clean("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value))


def pasted(path: Any) -> str:
    """A path as it stands in a command that is printed: clean, and in quotation marks where a shell needs them.

    >>> pasted("my corpus"), pasted("mine/研究")
    ("'my corpus'", 'mine/研究')
    """
    shown = clean(path)
    return shown if re.fullmatch(r"[\w@%+=:,./-]+", shown) else shlex.quote(shown)


def sentence(error: VoirdireError, lang: str) -> str:
    r"""The sentence of an error, in lines where it has several; what its fields hold cannot steer a terminal.

    >>> from voirdire.errors import Lines
    >>> error = VoirdireError("cli.file", file="a\nb", why=Lines("no\nroom\x07"))
    >>> print(sentence(error, "en"))
    a\nb: no
    room\x07...
    """
    shown = copy(error)
    shown.fields = {name: _field(value) for name, value in error.fields.items()}
    return lines(shown.message(lang))


def lines(printed: str) -> str:
    """Text of several lines, each of which is clean."""
    return "\n".join(map(clean, printed.split("\n")))


def _field(value: Any) -> Any:
    return clean(value) if isinstance(value, str | Path) and not isinstance(value, Lines) else value


def out(printed: str, end: str = "\n") -> None:
    """Print on standard output. A reader that went away (``| head``) is no error."""
    try:
        sys.stdout.write(printed + end)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UnicodeEncodeError:
        sys.stdout.buffer.write((printed + end).encode("utf-8"))


def err(printed: str) -> None:
    """Print on standard error."""
    try:
        sys.stderr.write(printed + "\n")
    except UnicodeEncodeError:
        sys.stderr.write(printed.encode("ascii", "backslashreplace").decode() + "\n")


def json(document: Any) -> None:
    """Print one JSON document on standard output: keys as given, no NaN."""
    import orjson

    out(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode())


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A plain table as wide as the terminal."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(Text(column), overflow="fold")
    for row in rows:
        grid.add_row(*(Text(clean(cell)) for cell in row))
    width = Console().width if sys.stdout.isatty() else 160
    console = Console(file=StringIO(), width=width, force_terminal=sys.stdout.isatty(), highlight=False)
    console.print(grid)
    return console.file.getvalue().rstrip("\n")  # type: ignore[attr-defined]


class Progress:
    """A progress bar on standard error, shown when the work has taken two seconds; off when not a terminal.

    Called with a stage (a key of the catalogue's ``cli.stage`` table) and the share done of the whole.
    """

    def __init__(self, lang: str, *, on: bool | None = None, patience: float = PATIENCE) -> None:
        self.lang = lang
        self.on = sys.stderr.isatty() if on is None else on
        self.bar: Any = None
        self._told = ("read", 0.0)
        self._task: Any = None
        self._ended = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._start)
        self._timer.daemon = True

    def __call__(self, stage: str, fraction: float) -> None:
        """Tell the stage and the share done."""
        self._told = (stage, min(max(fraction, 0.0), 1.0))
        if self.bar is not None:
            self.bar.update(self._task, description=self._words(stage), completed=self._told[1])

    def __enter__(self) -> Self:
        if self.on:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._ended = True
            self._timer.cancel()
            if self.bar is not None:
                self.bar.stop()

    def _words(self, stage: str) -> str:
        key = f"cli.stage.{stage}"
        return text(key, self.lang) if has(key, self.lang) else clean(stage)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with self._lock:
            if not self._ended:
                bar: Any = Bar(*columns, console=Console(stderr=True), transient=True)
                stage, fraction = self._told
                self._task = bar.add_task(self._words(stage), total=1.0, completed=fraction)
                bar.start()
                self.bar = bar
