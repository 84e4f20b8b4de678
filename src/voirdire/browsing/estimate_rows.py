"""The estimates of an audit, looked through: by statistic, question, pools, judge, condition and slice."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

FIELDS = ("statistic", "question", "pool", "pool_b", "judge", "condition", "slice")
EMPTY = "-"
"""What stands in a filter for an empty cell (an estimate of no judge, of no second pool)."""


def asked_of(query: Mapping[str, str]) -> dict[str, str]:
    """The filters that a query names, by column.

    >>> asked_of({"judge": "m", "pool": "", "page": "2"})
    {'judge': 'm'}
    """
    return {name: query[name] for name in FIELDS if query.get(name)}


def matching(estimates: pl.DataFrame, asked: Mapping[str, str]) -> pl.DataFrame:
    """The rows that agree with every filter; none where a filter names what no row has.

    >>> frame = pl.DataFrame({"judge": ["m", ""], "value": [1.0, 2.0]})
    >>> matching(frame, {"judge": "-"})["value"].to_list()
    [2.0]
    """
    wanted = [pl.col(name) == ("" if value == EMPTY and not _is_level(estimates, name) else value)
              for name, value in asked.items()]  # fmt: skip
    return estimates.filter(*wanted) if wanted else estimates


def levels(estimates: pl.DataFrame, asked: Mapping[str, str]) -> dict[str, list[str]]:
    """What each filter can be set to given the others, in the order of the estimates; ``-`` for an empty cell."""
    found = {}
    for name in FIELDS:
        others = {other: value for other, value in asked.items() if other != name}
        held = matching(estimates, others)[name].unique(maintain_order=True).to_list()
        found[name] = [value or EMPTY for value in held if value or not _is_level(estimates, name)]
    return found


def _is_level(estimates: pl.DataFrame, name: str) -> bool:
    """Whether ``-`` is itself a name (judgments without a condition have the condition ``-``)."""
    return EMPTY in estimates[name]
