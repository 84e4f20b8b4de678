"""Small tables for the tests of the input."""

import polars as pl

HEADER = "item_id,rater_id,pool,rating"
TWO_POOLS = ("a,u,us,1", "b,u,us,5", "a,c,cn,2", "b,c,cn,4")


def table(header, *rows):
    """A frame of text from lines of csv without quoting; empty cells are null."""
    names = header.split(",")
    cells = [row.split(",") for row in rows]
    columns = {name: [row[place] or None for row in cells] for place, name in enumerate(names)}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


def two_pools(*more):
    """Two raters in two pools on items a and b, from 1 to 5, and further rows."""
    return table(HEADER, *TWO_POOLS, *more)


def answers(*values):
    """One answer a row: rater u in pool us, an item each."""
    return table(HEADER, *[f"i{place},u,us,{value}" for place, value in enumerate(values)])


def balanced(*intakes):
    """Whether every row is used or left out for a reason."""
    return all(one.rows_in == one.rows_used + sum(one.excluded.values()) for one in intakes)


def keys(read):
    """The keys of the notes, without their prefix."""
    return [note.key.removeprefix("input.note.") for note in read.notes]
