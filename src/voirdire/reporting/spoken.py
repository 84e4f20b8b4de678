"""What the marks of a chart say: in words for a screen reader and a box at the pointer, and as rows of a table.

A point of a chart's data that stands for a number carries ``said`` (the words, drawn as the mark's accessible name),
and the same in parts: ``heads`` (what it is a number of), ``shown`` and ``interval``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from voirdire.reporting.access import Row, View
from voirdire.reporting.blocks import Figure
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.words import Words

DESCRIPTION = "said:N"


def spoken(heads: Sequence[str], shown: str, interval: str = "", statistic: str = "") -> dict[str, Any]:
    """What a mark says, as fields of its point. statistic : what the number is called, where the chart has several.

    >>> spoken(["judge-1", "us"], "0.83", "[0.7, 0.9]")["said"]
    'judge-1, us: 0.83 [0.7, 0.9]'
    """
    named = [View.clean(head) for head in heads if head]
    value = " ".join(part for part in (statistic, shown, interval) if part)
    said = f"{', '.join(named)}: {value}" if named else value
    return {"said": said, "heads": [View.clean(head) for head in heads], "shown": shown, "interval": interval}


def estimate(heads: Sequence[str], row: Row, words: Words, width: float | None, statistic: str = "") -> dict[str, Any]:
    """What the mark of an estimate says; the number is rounded as in the tables."""
    shown = "" if row.value is None else words.number(row.statistic, row.value, width)
    return spoken(heads, shown, words.interval(row, width), statistic)


def behind(figure: Figure) -> Grid | None:
    """The table behind a chart: its own, or a row for every mark that stands for a number; None where no mark does."""
    if figure.data is not None:
        return replace(figure.data, id=f"{figure.name}-data")
    found = {(tuple(p["heads"]), p["shown"], p["interval"]): None for p in _points(figure.spec)}
    count = max((len(heads) for heads, _, _ in found), default=0)
    if not count or len(figure.heads) != count:
        return None
    kept = [place for place in range(count) if any(heads[place : place + 1] != ("",) for heads, _, _ in found)]
    lines = tuple(
        Line(tuple((*heads, *[""] * count)[place] for place in kept), (Entry(shown, interval),))
        for heads, shown, interval in found
    )
    titles = tuple(figure.heads[place] for place in kept)
    return Grid(f"{figure.name}-data", figure.caption, titles, (Column(figure.column),), (("", lines),))


def _points(part: Any) -> Iterator[dict[str, Any]]:
    """Every point that says something, in the order of the chart's data."""
    if isinstance(part, dict):
        if "said" in part and "heads" in part:
            yield part
        else:
            for value in part.values():
                yield from _points(value)
    elif isinstance(part, list):
        for value in part:
            yield from _points(value)
