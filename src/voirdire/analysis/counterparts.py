"""Items that show what another item shows, in another regime: no second item of their concept."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from voirdire.corpus.corpus import Note

COUNTERPART = "counterpart"


def second_images(items: pl.DataFrame) -> pl.Series:
    """Whether an item is the later one of two of which one names the other; one of the two names is enough.

    items : item_id and, where there is one, ``counterpart``, in the order of the table

    >>> rows = {"item_id": ["tea", "tea.photo", "rice"], "counterpart": [None, "tea", "soup"]}
    >>> second_images(pl.DataFrame(rows)).to_list()
    [False, True, False]
    """
    if COUNTERPART not in items.columns:
        return pl.repeat(False, items.height, eager=True)
    ids, named = (items[name].cast(pl.String).to_list() for name in ("item_id", COUNTERPART))
    place = {item: index for index, item in enumerate(ids)}
    later = {max(index, place[other]) for index, other in enumerate(named) if place.get(other, index) != index}
    return pl.Series([index in later for index in range(items.height)], dtype=pl.Boolean)


def together_notes(items: pl.DataFrame, rows: Sequence[int]) -> tuple[Note, ...]:
    """A warning where items and their counterparts are counted side by side; rows : of the items that are rated."""
    rated = items[list(rows)]
    second = second_images(rated)
    if not second.any():
        return ()
    naming = rated[COUNTERPART].cast(pl.String).fill_null("") != ""
    rule = f"{COUNTERPART} != ''" if (naming == second).all() else "COLUMN == 'REGIME'"
    return (Note("regimes.note.together", {"count": int(second.sum()), "rule": rule}, "warning"),)
