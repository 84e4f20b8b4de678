"""A run of 1e8 judgments on one machine: ``python bench/hundred_million.py --help``.

Simulated judgments (six judges in ten conditions and five designs, so 300 cells an item) are written as a folder of
Parquet files to a temporary folder, which is deleted afterwards. Three processes, one after the other, then read them
into the cube; sum the statistics of all cells by one group-by; and audit them by the command line. Each tells its wall
and CPU seconds and its peak memory. ``--judgments 1e6`` is the quick run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SEED = 1
JUDGES = tuple(f"judge-{place + 1}" for place in range(6))
CONDITIONS = tuple(
    f"{persona}_{language}" for persona, language in product(("none", "us", "cn", "eu", "jp"), ("en", "zh"))
)
DESIGNS = ("base", "aa", "ac", "ca", "cc")
CELLS = len(JUDGES) * len(CONDITIONS) * len(DESIGNS)
RATERS = 5


def humans(n_items: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame, np.ndarray]:
    """Items, ratings of two pools of five, and the pools' opinions (2, I)."""
    ids = pl.Series("item_id", [f"item-{place:07d}" for place in range(n_items)])
    culture = rng.choice(["us", "cn"], n_items)
    shift = np.where(culture == "us", 0.4, -0.4)
    opinion = np.stack([3.4 + shift, 3.6 - shift]) + rng.normal(0, 0.9, (2, n_items))
    parts = []
    for pool, mean in zip(("us", "cn"), opinion, strict=True):
        for rater in range(RATERS):
            values = np.clip(np.rint(mean + rng.normal(0, 0.7, n_items)), 1, 5).astype(np.int8)
            parts.append(pl.DataFrame({"item_id": ids, "rater_id": f"{pool}-{rater}", "pool": pool, "rating": values}))
    return pl.DataFrame({"item_id": ids, "culture": culture}), pl.concat(parts), opinion


def write(folder: Path, n_judgments: int) -> dict[str, Any]:
    """The tables of so many judgments: a file for each judge and condition with the five designs of every item."""
    rng = np.random.default_rng(SEED)
    n_items = max(60, n_judgments // CELLS)
    items, ratings, opinion = humans(n_items, rng)
    items.write_parquet(folder / "items.parquet")
    ratings.write_parquet(folder / "ratings.parquet")
    pl.DataFrame({"judge": JUDGES, "origin": ["us", "us", "us", "cn", "cn", "cn"]}).write_csv(folder / "judges.csv")
    personas, languages = zip(*(name.split("_") for name in CONDITIONS), strict=True)
    conditions = pl.DataFrame({"condition": CONDITIONS, "persona": personas, "language": languages})
    conditions.write_csv(folder / "conditions.csv")
    judged = folder / "judgments"
    judged.mkdir()
    for place, (judge, condition) in enumerate(product(JUDGES, CONDITIONS)):
        weight = 0.5 + 0.05 * (place % 7 - 3)
        latent = (1 - weight) * opinion[0] + weight * opinion[1]
        rows = []
        for design in DESIGNS:
            noise = rng.normal(0, 0.6, n_items)
            values = np.clip(np.rint(3.8 + 0.5 * (latent - 3.8) + noise), 1, 5).astype(np.int8)
            rows.append(items.select("item_id").with_columns(design=pl.lit(design), rating=pl.Series(values)))
        table = pl.concat(rows).select(pl.lit(judge).alias("judge"), pl.lit(condition).alias("condition"), pl.all())
        table.write_parquet(judged / f"{judge}-{condition}.parquet", row_group_size=500_000)
    size = sum(path.stat().st_size for path in judged.iterdir())
    return {
        "items": n_items,
        "judgments": n_items * CELLS,
        "files": len(list(judged.iterdir())),
        "parquet_mb": size / 1e6,
    }


def read(folder: Path) -> tuple[Any, Any]:
    """The corpus and the judgments, as the audit reads them."""
    from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments

    corpus = read_corpus(CorpusOptions(folder / "ratings.parquet", items=folder / "items.parquet"))
    options = JudgmentOptions(
        folder / "judgments",
        judges=folder / "judges.csv",
        conditions=folder / "conditions.csv",
        factors=("design",),
    )
    return corpus, read_judgments(options, corpus)


def part_read(folder: Path) -> dict[str, Any]:
    """Reading alone; ratings and judgments apart."""
    start = time.perf_counter()
    _, judgments = read(folder)
    coded = next(iter(judgments.rows.questions.values()))
    return {"seconds": time.perf_counter() - start, "cube_mb": (coded.codes.nbytes + coded.status.nbytes) / 1e6}


def part_group(folder: Path) -> dict[str, Any]:
    """MAE and bias against both pools, delta, T, shares of low and high ratings of all 300 cells, checked."""
    from voirdire.analysis.panels import build_cells, build_panel
    from voirdire.stats import alignment, scale_use, tilt  # noqa: F401  (they declare the features)
    from voirdire.stats.features import Features
    from voirdire.stats.level_cube import LevelCube

    corpus, judgments = read(folder)
    question = corpus.questions[0]
    panel = build_panel(corpus, question)
    cube = build_cells(judgments, question, corpus, panel).held
    assert isinstance(cube, LevelCube)
    wanted = [(name, (k,)) for k in (0, 1) for name in ("abs_error", "signed_error")]
    wanted += [
        ("error_difference", (0, 1)),
        ("tilt_sum", (0, 1)),
        ("tilted", (0, 1)),
        ("low_ratings", ()),
        ("high_ratings", ()),
    ]
    start = time.perf_counter()
    levels = Features(panel.arrays, cube.values[:, None] * np.ones((1, panel.n_items)))
    tables = np.stack([levels.get(name, target).T for name, target in wanted])
    made = time.perf_counter()
    sums = cube.sums(tables)
    done = time.perf_counter()
    first = Features(panel.arrays, LevelCube(cube.codes[:1], cube.values).ratings())
    worst = max(
        float(np.abs(first.get(name, target).sum() - sums[f, 0]) / panel.n_items)
        for f, (name, target) in enumerate(wanted)
    )
    return {"tables": len(tables), "tables_seconds": made - start, "seconds": done - made, "difference": worst}


def part_audit(folder: Path, draws: int, fits: int) -> list[str]:
    """The command of the audit."""
    tables = [f"--{name}={folder / file}" for name, file in TABLES.items()]
    options = ["--factors", "design", "--draws", str(draws), "--decomposition-draws", str(fits)]
    options += ["--out", str(folder / "report")]
    return [str(Path(sys.executable).with_name("voirdire")), "audit", *tables, *options]


TABLES = {
    "ratings": "ratings.parquet",
    "items": "items.parquet",
    "judgments": "judgments",
    "judges": "judges.csv",
    "conditions": "conditions.csv",
}
PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {"read": part_read, "group": part_group}


def measured(command: Sequence[str]) -> dict[str, Any]:
    """Wall and CPU seconds, peak memory and the last line of a process of its own."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    told = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    cpu = usage.ru_utime + usage.ru_stime
    wall = time.perf_counter() - start
    return {"exit": process.returncode, "wall": wall, "cpu": cpu, "peak_mb": usage.ru_maxrss / 1024, **told}


def run(n_judgments: int, parts: Sequence[str], draws: tuple[int, int], keep: Path | None) -> dict[str, Any]:
    """Write the tables and measure every part."""
    with tempfile.TemporaryDirectory(dir=keep) as name:
        folder = Path(name)
        start = time.perf_counter()
        result: dict[str, Any] = {"made": write(folder, n_judgments)}
        result["made"]["seconds"] = time.perf_counter() - start
        print(json.dumps(result["made"]), file=sys.stderr)
        for part in parts:
            own = [sys.executable, __file__, "--part", part, "--folder", str(folder)]
            result[part] = measured(part_audit(folder, *draws) if part == "audit" else own)
            print(part, json.dumps(result[part]), file=sys.stderr)
    return result


def table(results: Sequence[dict[str, Any]]) -> str:
    """The results as Markdown."""
    lines = ["| judgments | items | part | wall s | CPU s | peak MB | of which |", "|---|---|---|---|---|---|---|"]
    for result in results:
        made = result["made"]
        for part in ("read", "group", "audit"):
            if part in result:
                row = result[part]
                known = ("exit", "wall", "cpu", "peak_mb")
                more = ", ".join(f"{name} {value:.3g}" for name, value in row.items() if name not in known)
                lines.append(
                    f"| {made['judgments']:,} | {made['items']:,} | {part} | {row['wall']:.1f} | {row['cpu']:.1f} "
                    f"| {row['peak_mb']:,.0f} | {more} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for and print the table; ``--json`` keeps the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=float, nargs="*", default=[1e8], help="how many, one run for each")
    parser.add_argument("--parts", nargs="*", default=["read", "group", "audit"], choices=["read", "group", "audit"])
    parser.add_argument("--draws", type=int, default=200, help="resamples of the audit")
    parser.add_argument("--decomposition-draws", type=int, default=0, help="resamples of the split of T in the audit")
    parser.add_argument("--temporary", type=Path, help="where the temporary folder is made")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(PARTS[options.part](options.folder)))
        return
    draws = options.draws, options.decomposition_draws
    results = [run(int(size), options.parts, draws, options.temporary) for size in options.judgments]
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
