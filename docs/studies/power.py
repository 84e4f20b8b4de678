"""Power by formula beside power in simulated corpora: python docs/studies/power.py [simulations]."""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl

from voirdire.analysis.power import PowerOptions, power_table

EFFECTS = (("delta", 0.2), ("tilt", 0.15), ("orientation", 0.7))
SETTINGS = (
    {"raters": (3,), "reliability": 0.6},
    {"raters": (5,), "reliability": 0.85},
    {"raters": (10,), "reliability": 0.95},
    {"raters": (5,), "reliability": 0.85, "slope": 0.3, "divergence": 2.0},
)


def main(simulations: int) -> None:
    """Print every plan as a line of Markdown, and how far formula and simulation are apart for each effect."""
    parts = []
    for setting in SETTINGS:
        options = PowerOptions(
            EFFECTS, (60, 120, 240, 480), repeats=(1, 3), simulations=simulations, seed=11, **setting
        )
        plans = power_table(options).plans
        parts.append(plans.with_columns(slope=pl.lit(options.slope), divergence=pl.lit(options.divergence)))
    table = pl.concat(parts)
    print("| effect | divergence | slope | raters | reliability | repeats | items | formula | simulated [95 %] |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in table.iter_rows(named=True):
        interval = f"{row['simulated']:.2f} [{row['simulated_low']:.2f}, {row['simulated_high']:.2f}]"
        print(
            f"| {row['statistic']} {row['wanted']:g} | {row['divergence']:g} | {row['slope']:g} | {row['raters']} "
            f"| {row['reliability']:.2f} | {row['repeats']} | {row['items']} | {row['power']:.2f} | {interval} |"
        )
    off = (pl.col("power") - pl.col("simulated")).alias("off")
    inside = pl.col("power").is_between("simulated_low", "simulated_high").alias("inside")
    print("\n| effect | plans | mean difference | mean absolute | largest | formula inside the interval |")
    print("|---|---|---|---|---|---|")
    for (name,), part in table.with_columns(off, inside).group_by("statistic", maintain_order=True):
        values = part["off"].to_numpy()
        print(
            f"| {name} | {len(values)} | {values.mean():+.3f} | {np.abs(values).mean():.3f} "
            f"| {np.abs(values).max():.3f} | {part['inside'].sum()} of {len(values)} |"
        )


if __name__ == "__main__":
    started = time.process_time()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
    print(f"\n{time.process_time() - started:.0f} CPU seconds")
