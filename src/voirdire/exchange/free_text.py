"""Which columns hold words of raters' own, and which cells give a rater away."""

from __future__ import annotations

import re
from collections.abc import Collection

import polars as pl

from voirdire.corpus.levels import NO_ANSWER

NAMED = re.compile(
    r"(?i)(^|[_.\s-])(comments?|remarks?|notes?|written|free_?text|reasons?|rationales?|explanations?|feedback|"
    r"justifications?|thoughts|why)($|[_.\s-])|评论|意见|理由|备注|说明"
)
LONG = 40
"""A cell of more characters is written, not chosen."""
WORDS = re.compile(r"\S+\s+\S+\s+\S+|[\u3400-\u9fff]{12,}")
FEW = 12
"""As many different cells of several words may be the labels of a list."""
LEAST_ID = 4
FEWEST = 3
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+|https?://|\+\d[\d\s()-]{7,}")
"""An e-mail address, a web address or a telephone number."""


def is_free_text(column: pl.Series) -> bool:
    r"""Whether a column of raters' answers holds words of their own: by its name, or by what stands in it.

    Text counts when its column is called a comment, note, reason or the like, when a cell is longer than 40 characters
    or has a line break, and when more than 12 different cells have three words or more. Numbers and short labels never
    count.

    >>> is_free_text(pl.Series("age", ["20s", "30s"])), is_free_text(pl.Series("comment", ["ok"]))
    (False, True)
    >>> is_free_text(pl.Series("q", ["a line\nand another"])), is_free_text(pl.Series("comment", [3, 4]))
    (True, False)
    """
    cells = column.drop_nulls()
    if cells.dtype != pl.String or cells.is_empty() or cells.cast(pl.Float64, strict=False).null_count() == 0:
        return False
    if NAMED.search(column.name) or (cells.str.len_chars() > LONG).any() or cells.str.contains("\n").any():
        return True
    return cells.filter(cells.str.contains(WORDS.pattern)).n_unique() > FEW


def is_answer_text(answers: pl.Series, labels: Collection[str] = ()) -> bool:
    """Whether the answers to a question are words of raters' own, and not chosen from a list.

    answers : named like the question; labels : what the question declares. What is declared, or means no answer, and
    numbers are none; else answers count that are free text as a column would be, hold an address, or are more than 12.

    >>> is_answer_text(pl.Series("why", ["taste", "habit"])), is_answer_text(pl.Series("q", ["yes", "no", "3"]))
    (True, False)
    >>> is_answer_text(pl.Series("why", ["Taste", "habit"]), ["taste", "habit"])
    False
    """
    chosen = [*(label.strip().casefold() for label in labels), *NO_ANSWER]
    given = answers.drop_nulls().str.strip_chars().alias(answers.name)
    left = given.filter(~given.str.to_lowercase().is_in(chosen) & given.cast(pl.Float64, strict=False).is_null())
    return is_free_text(left) or left.str.contains(ADDRESS.pattern).any() or left.n_unique() > FEW


def is_identifier(column: pl.Series) -> bool:
    """Whether a column of the raters table tells everyone apart, or holds addresses: no attribute but a name.

    column : one cell a rater. Numbers that differ for everyone count too; columns of fewer than three cells do not

    >>> is_identifier(pl.Series(["ann", "bob", "cy"])), is_identifier(pl.Series(["20s", "20s", "30s"]))
    (True, False)
    >>> is_identifier(pl.Series(["a@x.org", None, None]))
    True
    """
    cells = column.drop_nulls()
    if cells.dtype == pl.String and cells.str.contains(ADDRESS.pattern).any():
        return True
    return len(cells) >= FEWEST and cells.n_unique() == len(cells)


def naming_columns(frame: pl.DataFrame, ids: Collection[str]) -> list[str]:
    """Columns in which a cell is, as a whole, the id of a rater. Ids of digits or of under four characters are no sign.

    >>> naming_columns(pl.DataFrame({"item_id": ["a"], "author": ["ann@x.org"]}), ["ann@x.org", "7"])
    ['author']
    """
    telling = [name for name in ids if len(name) >= LEAST_ID and not name.isdigit()]
    texts = [name for name in frame.columns if frame[name].dtype == pl.String]
    return [name for name in texts if telling and frame[name].is_in(telling).any()]
