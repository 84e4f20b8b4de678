"""Names that are made of others: slices, selections and cells, each of which parses back to what it was made of."""

from __future__ import annotations

_SLICE = {"%": "%25", "&": "%26", "=": "%3D"}
_CELL = {"%": "%25", "|": "%7C"}
CELL = "judge."


def level_name(column: str, level: str) -> str:
    """A column and one of its levels; ``%``, ``&`` and ``=`` inside them are percent-encoded.

    >>> level_name("culture", "cn"), level_name("category", "food & drink")
    ('culture=cn', 'category=food %26 drink')
    """
    return f"{_held(column, _SLICE)}={_held(level, _SLICE)}"


def levels_of(name: str) -> list[tuple[str, str]]:
    """The columns and levels of a slice or selection.

    >>> levels_of("culture=cn&category=food %26 drink")
    [('culture', 'cn'), ('category', 'food & drink')]
    """
    pairs = (part.partition("=") for part in name.split("&"))
    return [(_freed(column, _SLICE), _freed(level, _SLICE)) for column, _, level in pairs]


def cell_column(judge: str, condition: str) -> str:
    """The column of a judge's ratings in a table of items; ``%`` and ``|`` inside the names are percent-encoded.

    >>> cell_of(cell_column("a|b", "c|d"))
    ('a|b', 'c|d')
    """
    return f"{CELL}{_held(judge, _CELL)}|{_held(condition, _CELL)}"


def cell_of(column: str) -> tuple[str, str]:
    """The judge and condition of such a column."""
    judge, _, condition = column.removeprefix(CELL).partition("|")
    return _freed(judge, _CELL), _freed(condition, _CELL)


def _held(name: str, marks: dict[str, str]) -> str:
    for mark, code in marks.items():
        name = name.replace(mark, code)
    return name


def _freed(name: str, marks: dict[str, str]) -> str:
    for mark, code in reversed(marks.items()):
        name = name.replace(code, mark)
    return name
