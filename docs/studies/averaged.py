"""What one averaged human column hides: crehate, five countries, judges against each and against all together.

Run: ``python docs/studies/averaged.py FOLDER``, where FOLDER holds crehate's ratings.csv and judgments.csv. Prints the
tables of docs/explanation/several-pools.md. The column of all raters together is computed here alone, to show what it
does: nothing in voirdire makes it.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import polars as pl

POOLS = ("AU", "GB", "SG", "US", "ZA")
TOGETHER = "all together"


def shares(folder: Path) -> pl.DataFrame:
    """item_id, a share of "hate" for each pool, and that of all raters together."""
    ratings = pl.read_csv(folder / "ratings.csv", infer_schema_length=0).filter(pl.col("rating") != "unsure")
    ratings = ratings.unique(["item_id", "rater_id"], keep="first", maintain_order=True)
    ratings = ratings.with_columns(pl.col("rating").cast(pl.Float64))
    wide = (
        ratings.group_by("item_id", "pool").agg(pl.col("rating").mean()).pivot("pool", index="item_id", values="rating")
    )
    together = ratings.group_by("item_id").agg(pl.col("rating").mean().alias(TOGETHER))
    return wide.join(together, on="item_id").select("item_id", *POOLS, TOGETHER).sort("item_id")


def distances(folder: Path) -> pl.DataFrame:
    """judge, condition and its mean absolute distance from every pool and from all raters together."""
    judged = pl.read_csv(folder / "judgments.csv").join(shares(folder), on="item_id")
    apart = [(pl.col("rating") - pl.col(name)).abs().mean().alias(name) for name in (*POOLS, TOGETHER)]
    return judged.group_by("judge", "condition").agg(apart).sort("judge", "condition")


def split_majorities(table: pl.DataFrame) -> dict[str, int]:
    """On how many items the majorities of two pools differ, and of any two of the five."""
    says = table.select(pl.col(pool) > 0.5 for pool in POOLS)
    found = {f"{a}, {b}": int((says[a] != says[b]).sum()) for a, b in combinations(POOLS, 2)}
    count = says.sum_horizontal()
    return found | {"any two": int(((count > 0) & (count < len(POOLS))).sum())}


def table_of(found: pl.DataFrame) -> str:
    """The distances as a table; the least of each column is bold."""
    columns = (*POOLS, TOGETHER)
    least = {name: found[name].min() for name in columns}
    lines = [f"| judge | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in found.iter_rows(named=True):
        cells = [f"**{row[name]:.3f}**" if row[name] == least[name] else f"{row[name]:.3f}" for name in columns]
        lines.append(f"| {row['judge'].rsplit('-', 1)[0]}, {row['condition']} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    data = Path(sys.argv[1])
    print(table_of(distances(data)))
    print(shares(data).height, split_majorities(shares(data)))
    print(shares(data).filter(pl.col("item_id").is_in(["SBIC-934", "AU-YouTube-1", "SBIC-881", "ZA-Reddit-72"])))
