"""Reading a table of a specification: every key is asked for by its kind, and what is left over is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.errors import UsageError


class SpecTable:
    """One table of a TOML file, which remembers what was asked of it.

    place : how messages name it (``judge 2``); empty for the top of the file
    """

    def __init__(self, table: Any, file: str, place: str = "") -> None:
        self.file, self.place = file, place
        if not isinstance(table, Mapping):
            raise UsageError("simulation.spec.table", file=file, entry=place)
        self.table = table
        self.asked: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        self.asked.add(key)
        return key in self.table

    def number(
        self, key: str, default: float | None = None, least: float | None = None, most: float | None = None
    ) -> Any:
        """A number within ends; the default where the key is absent."""
        value = self._get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._kind(key, "number")
        if (least is not None and value < least) or (most is not None and value > most) or value != value:
            ends = {"low": "-" if least is None else f"{least:g}", "high": "-" if most is None else f"{most:g}"}
            raise UsageError("simulation.spec.range", file=self.file, entry=self._named(key), value=value, **ends)
        return value

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number; required without a default."""
        value = self.number(key, default, least)
        if value is None:
            raise self.missing(key)
        if value != int(value):
            raise self._kind(key, "whole")
        return int(value)

    def text(self, key: str, default: str | None = None, known: tuple[str, ...] = ()) -> str:
        """A text, one of the known ones where there are some; required without a default."""
        value = self._get(key, default)
        if value is None:
            raise self.missing(key)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._kind(key, "text")
        if known and value not in known:
            names = ", ".join(known)
            raise UsageError("simulation.spec.known", file=self.file, entry=self._named(key), value=value, known=names)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """true or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self._kind(key, "flag")
        return value

    def tables(self, key: str, noun: str = "") -> list[SpecTable]:
        """A list of tables (``[[judge]]``), empty where there is none."""
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self._kind(key, "tables")
        return [SpecTable(entry, self.file, f"{noun or key} {rank + 1}") for rank, entry in enumerate(value)]

    def inner(self, key: str) -> SpecTable:
        """A table inside this one, empty where there is none."""
        return SpecTable(self._get(key, {}), self.file, self._named(key))

    def numbers(self, key: str, known: tuple[str, ...] = ()) -> dict[str, float]:
        """A table of names and numbers; names outside ``known`` are refused where that is given."""
        inner = self.inner(key)
        for name in inner.table:
            if known and name not in known:
                raise UsageError(
                    "simulation.spec.known", file=self.file, entry=self._named(key), value=name, known=", ".join(known)
                )
        return {name: float(inner.number(name)) for name in inner.table}

    def for_each(self, key: str, names: tuple[str, ...]) -> tuple[float, ...] | None:
        """A number for each name: a table of them, a list in their order, or one number for all. None where absent."""
        if not self.has(key):
            return None
        value = self.table[key]
        if isinstance(value, Mapping):
            given = self.numbers(key, names)
            for name in names:
                if name not in given:
                    raise UsageError("simulation.spec.missing", file=self.file, entry=f"{self._named(key)}.{name}")
            return tuple(given[name] for name in names)
        values = value if isinstance(value, list) else [value] * len(names)
        if len(values) != len(names) or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
            raise self._kind(key, "for_each")
        return tuple(float(entry) for entry in values)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty where there is none."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
            raise self._kind(key, "texts")
        return tuple(value)

    def labels(self, key: str) -> dict[str, str]:
        """A table of names and texts."""
        inner = self.inner(key)
        return {name: inner.text(name) for name in inner.table}

    def done(self) -> None:
        """Refuse what nobody asked for. Raises UsageError with the known keys."""
        for name in self.table:
            if name not in self.asked:
                known = ", ".join(sorted(self.asked))
                raise UsageError("simulation.spec.unknown", file=self.file, entry=self._named(str(name)), known=known)

    def missing(self, key: str) -> UsageError:
        """The error of a key that has to be there."""
        return UsageError("simulation.spec.missing", file=self.file, entry=self._named(key))

    def _get(self, key: str, default: Any) -> Any:
        self.asked.add(key)
        return self.table.get(key, default)

    def _named(self, key: str) -> str:
        return f"{self.place}: {key}" if self.place else key

    def _kind(self, key: str, wanted: str) -> UsageError:
        value = self.table.get(key)
        return UsageError(f"simulation.spec.kind.{wanted}", file=self.file, entry=self._named(key), value=value)
