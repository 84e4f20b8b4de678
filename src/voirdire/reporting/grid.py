"""Tables as data: built once, written as HTML, Markdown, LaTeX, CSV and to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from voirdire.reporting.access import Row, View
from voirdire.reporting.apart import headings
from voirdire.reporting.words import DASH, Words


@dataclass(frozen=True)
class Entry:
    """What stands in one cell: a value with its interval, a word, or a mark with the reason.

    interval : the second line of the cell: an interval, or a few words beside the value
    heat : 0 to 1 (or -1 to 1 on a diverging map) where the cell is coloured
    strong : the best of its column
    """

    text: str = ""
    interval: str = ""
    reason: str = ""
    mark: str = ""
    numeric: bool = True
    heat: float | None = None
    diverging: bool = False
    strong: bool = False


@dataclass(frozen=True)
class Column:
    """A column: its heading, the heading above it, the explanation, its definition's footnote, whose numbers it has."""

    title: str
    group: str = ""
    help: str = ""
    footnote: int | None = None
    numeric: bool = True
    statistic: str = ""


@dataclass(frozen=True)
class Line:
    """A row: its heading cells and its entries."""

    heads: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Grid:
    """A table. ``groups`` are (heading or "", lines); ``reasons`` explain its marks; ``notes`` stand below.

    compact : set as narrow as its words allow, for a table that is read on a telephone
    """

    id: str
    caption: str
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    notes: tuple[str, ...] = ()
    reasons: tuple[tuple[str, str], ...] = ()
    heat: bool = False
    compact: bool = False

    @property
    def lines(self) -> list[Line]:
        """All rows, whatever their group."""
        return [line for _, lines in self.groups for line in lines]

    def has(self, *statistics: str) -> bool:
        """Whether a column holds one of these statistics."""
        return any(column.statistic in statistics for column in self.columns)

    @property
    def grouped_columns(self) -> list[tuple[str, int]]:
        """The upper headings with the number of columns below each; empty when no column has one."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans if any(title for title, _ in spans) else []


class Footnotes:
    """Definitions in the order of their first use, and reasons marked by letters.

    >>> notes = Footnotes()
    >>> notes.mark("constant_side"), notes.mark("too_few_items"), notes.mark("constant_side")
    ('a', 'b', 'a')
    """

    def __init__(self) -> None:
        self.definitions: dict[str, int] = {}
        self.examples: dict[str, Row] = {}
        self.marks: dict[str, str] = {}

    def number(self, row: Row) -> int:
        """The footnote of this estimate's definition."""
        self.examples.setdefault(row.definition, row)
        return self.definitions.setdefault(row.definition, len(self.definitions) + 1)

    def mark(self, reason: str) -> str:
        """The letter of a reason: a to z, then aa, ab and so on."""
        if reason not in self.marks:
            self.marks[reason] = _letters(len(self.marks))
        return self.marks[reason]


@dataclass(frozen=True)
class Spec:
    """A column to be filled: the statistic, where it is looked up, and how the heading reads.

    place : the parts of the place that the column fixes (a pool, a judge); the row's key gives the others
    symmetric : the pair may stand in either order
    heat : maps a value to 0..1 (or -1..1 when diverging) for a coloured cell
    second : what stands below the value instead of its interval
    """

    statistic: str
    params: str = ""
    title: str = ""
    group: str = ""
    place: Mapping[str, str] = field(default_factory=dict)
    symmetric: bool = False
    heat: Callable[[float], float] | None = None
    diverging: bool = False
    plain: bool = False
    second: Callable[[Row], str] | None = None


Key = Mapping[str, str]
Member = tuple[tuple[str, ...], Key]


@dataclass
class Builder:
    """Fills tables from estimates: a profile, a language, a question (its scale's width), the report's footnotes."""

    view: View
    words: Words
    footnotes: Footnotes
    question: str = ""
    width: float | None = 4

    def table(
        self,
        name: str,
        caption: str,
        heads: Sequence[str],
        specs: Sequence[Spec],
        groups: Iterable[tuple[str, Sequence[Member]]],
        notes: Sequence[str] = (),
    ) -> Grid | None:
        """A table of estimates: one column for each definition that occurs, none for what nobody computed.

        A column that no row of the first group fills (what only control judges have) is left out. Columns that would
        read alike are told apart by what differs in their definitions.
        """
        members = [(title, list(block)) for title, block in groups]
        keys = [key for _, block in members for _, key in block]
        filled, absent = self._fill(specs, keys)
        first = range(len(members[0][1]) if len(members) > 1 else 0)
        filled = [(spec, rows) for spec, rows in filled if not first or any(place in rows for place in first)]
        if not filled:
            return None
        titles = headings(
            self.words, [(self._title(spec), spec.group, next(iter(rows.values()))) for spec, rows in filled]
        )
        columns = tuple(
            replace(self._column(spec, rows), title=title) for (spec, rows), title in zip(filled, titles, strict=True)
        )
        blocks = self._lines(members, filled)
        if not blocks:
            return None
        heat = any(spec.heat for spec, _ in filled)
        reasons = _reasons(line for _, block in blocks for line in block)
        return Grid(name, caption, tuple(heads), columns, blocks, (*notes, *absent), reasons, heat)

    def find(self, spec: Spec, key: Key) -> Row | None:
        """The estimate of a column for a row's key."""
        place = {**key, **spec.place}
        row = self.view.row(spec.statistic, params=spec.params, question=self.question, **place)
        if row is None and spec.symmetric:
            place["pool"], place["pool_b"] = place.get("pool_b", ""), place.get("pool", "")
            row = self.view.row(spec.statistic, params=spec.params, question=self.question, **place)
        return row

    def entry(self, row: Row | None, spec: Spec | None = None) -> Entry:
        """How one estimate is printed."""
        if row is None:
            return Entry()
        if row.undefined is not None:
            return Entry(DASH, reason=self.words.reason(row.undefined), mark=self.footnotes.mark(row.undefined))
        if row.label is not None:
            return Entry(self.words.label(row.statistic, row.label, row.pool, row.pool_b), numeric=False)
        if row.value is None:
            return Entry()
        shown = self.words.number(row.statistic, row.value, self.width)
        interval = self._below(row, spec)
        if spec is None or spec.heat is None:
            return Entry(shown, interval)
        return Entry(shown, interval, heat=spec.heat(row.value), diverging=spec.diverging)

    def _below(self, row: Row, spec: Spec | None) -> str:
        if spec is None or not (spec.plain or spec.second):
            return self.words.interval(row, self.width)
        return spec.second(row) if spec.second else ""

    def _fill(self, specs: Sequence[Spec], keys: list[Key]) -> tuple[list[tuple[Spec, dict[int, Row]]], list[str]]:
        filled: list[tuple[Spec, dict[int, Row]]] = []
        absent: dict[tuple[str, str], list[str]] = {}
        for spec in specs:
            for rows in self._by_definition(spec, keys).values():
                reasons = {row.undefined for row in rows.values()}
                if len(keys) > 1 and None not in reasons and len(reasons) == 1:
                    reason = str(next(iter(reasons)))
                    absent.setdefault((reason, ""), []).append(self._title(spec))
                else:
                    filled.append((spec, rows))
        notes = [
            self.words.t(
                "not_defined_here", names=self.words.list(list(dict.fromkeys(titles))), reason=self.words.reason(reason)
            )
            for (reason, _), titles in absent.items()
        ]
        return filled, notes

    def _by_definition(self, spec: Spec, keys: list[Key]) -> dict[str, dict[int, Row]]:
        """The estimates of a column by their place among the rows, split where definitions differ."""
        split: dict[str, dict[int, Row]] = {}
        for place, key in enumerate(keys):
            row = self.find(spec, key)
            if row is not None:
                split.setdefault(row.definition, {})[place] = row
        return split

    def _lines(
        self, members: list[tuple[str, list[Member]]], filled: list[tuple[Spec, dict[int, Row]]]
    ) -> tuple[tuple[str, tuple[Line, ...]], ...]:
        blocks: list[tuple[str, tuple[Line, ...]]] = []
        place = 0
        for title, block in members:
            lines: list[Line] = []
            for heads, _ in block:
                entries = tuple(self.entry(rows.get(place), spec) for spec, rows in filled)
                place += 1
                if any(entry.text for entry in entries):
                    lines.append(Line(heads, entries))
            if lines:
                blocks.append((title, tuple(lines)))
        return tuple(blocks)

    def _title(self, spec: Spec) -> str:
        return spec.title or self.words.statistic(spec.statistic, spec.params)

    def _column(self, spec: Spec, rows: dict[int, Row]) -> Column:
        _, explained = self.words.defined(spec.statistic, spec.params, votes=self.view.votes(self.question))
        footnote = self.footnotes.number(next(iter(rows.values())))
        numeric = all(row.label is None for row in rows.values())
        return Column(self._title(spec), spec.group, explained, footnote, numeric, spec.statistic)


def _reasons(lines: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    found = {entry.mark: entry.reason for line in lines for entry in line.entries if entry.mark}
    return tuple(sorted(found.items(), key=lambda pair: (len(pair[0]), pair[0])))


def _letters(place: int) -> str:
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(97 + rest) + letters
    return letters
