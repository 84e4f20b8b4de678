"""A walk through a JSON text that knows the line of each part, and goes on behind a broken one where it can.

Each part is parsed by Python's own scanner as a whole, so that a file of 100 MB takes a few seconds; lines are counted
from part to part.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf
from typing import Any

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account

SHOWN = 60
_BLANK = re.compile(r"[ \t\r\n]*")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}"]', re.S)
_EXTRA, _TRAILING, _COMMA, _EXPECTED = "Extra data", "Trailing comma", "Expecting ',' delimiter", "Expecting '{}'"
"""In the words of Python's own scanner, whose messages stand in the same place."""

_CLOSES = {"{": "}", "[": "]"}


def _not_finite(name: str) -> None:
    if name != "NaN":
        raise ValueError(name)


def _finite(number: str) -> float:
    found = float(number)
    if isinf(found):
        raise ValueError(number)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = max((name for name, _ in pairs), key=Counter(name for name, _ in pairs).__getitem__)
        raise ValueError(f"'{twice[:SHOWN]}' twice in one object")  # noqa: TRY003
    return found


DECODER = json.JSONDecoder(parse_constant=_not_finite, parse_float=_finite, object_pairs_hook=_once)
"""NaN, which Python's json writes for a missing number, is null; a number that is infinite or too large is refused, and
so is an object that has a name twice, of which Python's json silently keeps the last."""


@dataclass(frozen=True, slots=True)
class Part:
    """An element of an array, or an entry of an object; file and line are those of its beginning.

    place : which element it is, where the line does not tell it: ``#17``
    """

    value: Any
    file: str
    line: int
    key: str = ""
    place: str = ""


class Walker:
    r"""A place in a JSON text.

    >>> walker = Walker('{"meta": 1, "rows": [{"a": 1},\n{"a": 2}]}', "a.json", Account())
    >>> walker.enter("rows")
    >>> [(part.line, part.value) for part in walker.elements()]
    [(1, {'a': 1}), (2, {'a': 2})]
    """

    def __init__(self, text: str, file: str, account: Account, start: int = 0) -> None:
        self.text, self.file, self.account = text, file, account
        self.place = start
        self._counted, self._line = 0, 1
        self._number = 0
        self._one_line = "\n" not in text.rstrip()

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        self.place = _BLANK.match(self.text, self.place).end()  # type: ignore[union-attr]
        return self.text[self.place : self.place + 1]

    def enter(self, step: str) -> None:
        """Go to the value of a field of the object that stands here."""
        line = self._here()
        self._take("{")
        while self.peek() == '"':
            name = self._value()
            self._take(":")
            if name == step:
                self.peek()
                return
            self._value()
            if self.peek() == ",":
                self.place += 1
        raise InputError("importing.field_missing", file=self.file, line=line, field=step, value="", known="-")

    def single(self) -> Iterator[Part]:
        """The one value that stands here."""
        if not self.peek():
            raise InputError("importing.json_empty", file=self.file)
        self._one_line = False
        yield from self._part("")

    def elements(self) -> Iterator[Part]:
        """The elements of the array that stands here."""
        self._take("[")
        while self.peek() not in ("]", ""):
            yield from self._part("")
            self._comma("]")
        self._close("]")

    def entries(self) -> Iterator[Part]:
        """The entries of the object that stands here."""
        self._take("{")
        while self.peek() not in ("}", ""):
            key = self._value()
            self._take(":")
            self.peek()
            yield from self._part(str(key))
            self._comma("}")
        self._close("}")

    def end(self) -> None:
        """Raises InputError where more stands behind the value: JSONL in a .json file, or two exports in one."""
        if self.peek():
            raise self._error(_EXTRA, self.place)

    def _here(self) -> int:
        """The line of this place; places only ever go forward."""
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def _part(self, key: str) -> Iterator[Part]:
        """The value that stands here; nothing where it is broken and was passed over."""
        start, before, line = self.place, self._line, self._here()
        self._number += 1
        place = f"#{self._number}" if self._one_line or (self._number > 1 and line == before) else ""
        try:
            value = self._value()
        except InputError as error:
            error.fields["line"] = f"{line} ({place})" if place else line
            self._pass_over(error, start, line)
        else:
            yield Part(value, self.file, line, key, place)

    def _pass_over(self, broken: InputError, start: int, line: int) -> None:
        cut = broken.fields["cut"]
        stop = len(self.text) if cut else self._over(start)
        if self.account.skip_broken and stop is None:
            raise InputError("importing.json_lost", **broken.fields) from broken
        self.account.broken(broken, at=Part(None, self.file, line))
        self.place = len(self.text) if stop is None else stop

    def _over(self, start: int) -> int | None:
        """Where the value that begins here ends by its brackets; None where they do not close."""
        open_ones: list[str] = []
        if self.text[start : start + 1] not in _CLOSES:
            return None
        for match in _STRUCTURE.finditer(self.text, start):
            found = match.group()
            if found in _CLOSES:
                open_ones.append(_CLOSES[found])
            elif found == '"' or (found in _CLOSES.values() and found != open_ones.pop()):
                return None
            if not open_ones:
                return match.end()
        return None

    def _comma(self, close: str) -> None:
        found = self.peek()
        if found == ",":
            self.place += 1
            if self.peek() == close:
                raise self._error(_TRAILING, self.place)
        elif found not in (close, ""):
            raise self._error(_COMMA, self.place)

    def _close(self, close: str) -> None:
        """Over the bracket; a file that ends before it was cut off."""
        if self.peek():
            self._take(close)
        elif not any(error.fields.get("cut") for error in self.account.broken_records):
            self.account.broken(
                self._error(_EXPECTED.format(close), self.place), at=Part(None, self.file, self._here())
            )

    def _take(self, char: str) -> None:
        if self.peek() != char:
            raise self._error(_EXPECTED.format(char), self.place)
        self.place += 1

    def _value(self) -> Any:
        self.peek()
        try:
            value, self.place = DECODER.raw_decode(self.text, self.place)
        except (ValueError, RecursionError) as error:
            raise self._error(getattr(error, "msg", str(error)), getattr(error, "pos", self.place)) from error
        return value

    def _error(self, why: str, place: int) -> InputError:
        """Names the line where the value begins that cannot be read, and the line where that shows."""
        at = self.text.count("\n", 0, place) + 1
        value = self.text[self.place : self.place + SHOWN].split("\n")[0]
        cut = place >= len(self.text.rstrip()) or why.startswith("Unterminated string")
        fields = {"line": self._here(), "at": at, "why": why, "value": value, "cut": cut}
        return InputError("importing.json_broken", file=self.file, **fields)


__all__ = ["DECODER", "Part", "Walker"]
