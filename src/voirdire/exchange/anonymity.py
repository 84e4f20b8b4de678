"""k-anonymity of the raters: how many look alike in what is released of them.

Source: Sweeney, k-anonymity: a model for protecting privacy, 2002, definition 3: every combination of values of the
released attributes must occur at least k times. An empty cell counts as a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from voirdire.errors import UsageError

POOL = "pool"
DEFAULT_K = 5
TRIED_AT_ONCE = 10
"""Up to so many columns every choice of them is looked at; beyond it they are added one by one."""


@dataclass(frozen=True)
class Anonymity:
    """What holds of the raters in a release.

    k : what was asked for; smallest : raters in the smallest group (0 when there are no raters)
    columns : the released attributes, without the pool
    """

    k: int
    smallest: int
    columns: tuple[str, ...]


def smallest_group(raters: pl.DataFrame, columns: Sequence[str]) -> int:
    """Raters in the smallest group that is alike in all columns; all of them when there are no columns.

    >>> raters = pl.DataFrame({"pool": ["us", "us", "cn"], "age": ["20s", "30s", None]})
    >>> smallest_group(raters, ["pool"]), smallest_group(raters, ["pool", "age"]), smallest_group(raters, [])
    (1, 1, 3)
    """
    if not columns or raters.is_empty():
        return raters.height
    return int(raters.group_by(list(columns)).len()["len"].min())  # type: ignore[arg-type]


def check_anonymity(
    raters: pl.DataFrame, columns: Sequence[str], k: int, of_ratings: Mapping[str, str] | None = None
) -> Anonymity:
    """Whether every rater looks like at least ``k - 1`` others.

    raters : one row a rater, with ``pool`` and the columns
    columns : released attributes of raters, without the pool, which is always released
    of_ratings : those of them that stand in the ratings -> their names there

    Raises UsageError that names the columns and the smallest group, and which columns could be released instead.
    """
    if k < 1:
        raise UsageError("release.k_small", value=k)
    smallest = smallest_group(raters, [POOL, *columns])
    if raters.is_empty() or smallest >= k:
        return Anonymity(k, smallest, tuple(columns))
    groups = raters.group_by([POOL, *columns]).len()
    few = groups.filter(pl.col("len") < k)
    fields = {"smallest": smallest, "k": k, "count": int(few["len"].sum()), "raters": raters.height}
    pools = raters.group_by(POOL, maintain_order=True).len().sort("len", maintain_order=True)
    if pools["len"][0] < k:
        raise UsageError("release.pool_small", pool=pools[POOL][0] or "-", **fields | {"smallest": pools["len"][0]})
    most = next(_widest(raters, columns, k))
    told = {"columns": ", ".join(columns), "instead": _listed(name for name in most if name not in (of_ratings or {}))}
    if not of_ratings:
        raise UsageError("release.group_small", **told, **fields)
    told["ratings"] = _listed(of_ratings[name] for name in most if name in of_ratings)
    raise UsageError("release.group_small_ratings", **told, **fields)


def _listed(names: Iterable[str]) -> str:
    return ",".join(names) or "none"


def _widest(raters: pl.DataFrame, columns: Sequence[str], k: int) -> Iterator[tuple[str, ...]]:
    """The most columns that can be released together; the pool alone can be."""
    if len(columns) <= TRIED_AT_ONCE:
        choices = (chosen for size in range(len(columns), -1, -1) for chosen in combinations(columns, size))
        yield from (chosen for chosen in choices if smallest_group(raters, [POOL, *chosen]) >= k)
        return
    kept: list[str] = []
    for column in columns:
        if smallest_group(raters, [POOL, *kept, column]) >= k:
            kept.append(column)
    yield tuple(kept)
