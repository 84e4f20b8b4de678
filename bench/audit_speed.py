"""Speed of the audit against plain loops, in one run: ``python bench/audit_speed.py --help``.

CPU seconds are those of the process (time.process_time), one BLAS thread unless the environment says otherwise. A
loop that would take too long is run on fewer draws and scaled linearly; the table says so (``est.``). Every peer's
numbers are first compared with ours on the same draws.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import ours
import peers

from voirdire.simulation.presets import paper_grid
from voirdire.simulation.tables import simulate_tables, write_tables
from voirdire.simulation.world import draw_humans, draw_judges

SEED = 1
ALPHA_DRAWS, CELL_DRAWS = 1_000, 2_000
SAME_DRAWS = 3
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Timing:
    """CPU seconds of a task by one side; ``run_draws`` were run and scaled to ``draws``."""

    times: int
    task: str
    side: str
    draws: int
    run_draws: int
    cpu: float

    @property
    def scaled(self) -> bool:
        """Whether the loop was run on fewer draws than it stands for."""
        return self.run_draws < self.draws


@dataclass(frozen=True)
class Arrays:
    """One draw of the paper-like grid: counts and ratings of pool us, consensuses (2, I), ratings (60, I)."""

    counts: np.ndarray
    pool: np.ndarray
    consensus: np.ndarray
    cells: np.ndarray


def arrays(times: int) -> Arrays:
    """The data at so many times the paper's 626 items."""
    rng = np.random.default_rng(SEED)
    humans = draw_humans(paper_grid(times), rng)
    cells = draw_judges(humans, rng).ratings[:, :, 0]
    pool = humans.ratings["q1"][0]
    counts = np.stack([(pool == level).sum(1) for level in ours.LEVELS], axis=1)
    return Arrays(counts, pool, humans.consensus(), cells.reshape(-1, cells.shape[-1]))


def runs_at(times: int) -> int:
    """How often each side is run; the least counts, on both sides."""
    return {1: 10, 10: 3}.get(times, 1)


def timed(work: Callable[[], object], repeats: int = 1) -> float:
    """Least CPU seconds of ``repeats`` runs."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def loop(
    times: int, task: str, side: str, draws: int, run: int, draw: Callable[[np.ndarray], np.ndarray | float], n: int
) -> Timing:
    """Time ``run`` draws of a loop and scale them to ``draws``; drawing items and taking quantiles are part of it.

    The least of as many runs as on our side.
    """
    rng = np.random.default_rng(SEED)
    draw(rng.integers(n, size=n))
    spent = timed(
        lambda: np.quantile([draw(rng.integers(n, size=n)) for _ in range(run)], [0.025, 0.975], axis=0), runs_at(times)
    )
    return Timing(times, task, side, draws, run, spent * draws / run)


def check_equal(data: Arrays, frame: object) -> float:
    """Largest difference of any peer's number from ours on the same draws; raises beyond 1e-9."""
    n = data.consensus.shape[1]
    rng = np.random.default_rng(SEED + 1)
    worst = 0.0
    for _ in range(SAME_DRAWS):
        items = rng.integers(n, size=n)
        mine = ours.alpha_point(data.counts[items])
        others = [peers.alpha_value_counts(data.counts, items), peers.alpha_reliability_data(data.pool, items)]
        weights = np.bincount(items, minlength=n)[None].astype(np.uint8)
        cells = ours.resample(data.cells, data.consensus, weights)[..., 0]
        loops = [peers.numpy_draw(data.cells, data.consensus, items), peers.pandas_draw(frame, items)]
        worst = max(worst, *(abs(mine - other) for other in others), *(np.abs(cells - other).max() for other in loops))
    if not worst < 1e-9:
        raise SystemExit(f"the sides differ by {worst}")  # noqa: TRY003
    return worst


def compare(times: int) -> tuple[list[Timing], float]:
    """Both tasks at one size, every side."""
    data = arrays(times)
    n = data.consensus.shape[1]
    frame = peers.pandas_frame(data.cells, data.consensus)
    worst = check_equal(data, frame)
    few = {1: (200, 200, 4), 10: (100, 20, 2)}.get(times, (10, 4, 1))
    rng = np.random.default_rng(SEED)
    best = runs_at(times)
    rows = [
        Timing(
            times, "alpha", "voirdire", ALPHA_DRAWS, ALPHA_DRAWS,
            timed(lambda: ours.alpha_draws(data.counts, ALPHA_DRAWS, rng), best),
        ),
        loop(times, "alpha", "krippendorff, value counts", ALPHA_DRAWS, few[0],
             lambda items: peers.alpha_value_counts(data.counts, items), n),
        loop(times, "alpha", "krippendorff, ratings", ALPHA_DRAWS, few[0],
             lambda items: peers.alpha_reliability_data(data.pool, items), n),
        Timing(
            times, "cells", "voirdire", CELL_DRAWS, CELL_DRAWS,
            timed(lambda: ours.intervals(data.cells, data.consensus, CELL_DRAWS, rng), best),
        ),
        loop(times, "cells", "numpy loop", CELL_DRAWS, few[1],
             lambda items: peers.numpy_draw(data.cells, data.consensus, items), n),
        loop(times, "cells", "pandas loop", CELL_DRAWS, few[2], lambda items: peers.pandas_draw(frame, items), n),
    ]  # fmt: skip
    return rows, worst


def full_audit(times: int, folder: Path) -> dict[str, float]:
    """Wall and CPU seconds and peak memory (MB) of ``voirdire audit`` as a process of its own."""
    corpus, out = folder / f"corpus{times}", folder / f"out{times}"
    files = write_tables(simulate_tables(paper_grid(times), SEED), corpus, "parquet")
    tables = ("ratings", "items", "questions", "judgments", "judges", "conditions")
    options = [part for name in tables for part in (f"--{name}", str(files[name]))]
    command = [str(Path(sys.executable).with_name("voirdire")), "audit", *options, "--out", str(out)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    row = {"times": times, "items": 626 * times, "judgments": 37_560 * times, "exit": process.returncode}
    return row | {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}


def table(rows: list[Timing], audits: list[dict[str, float]]) -> str:
    """The results as Markdown."""
    lines = ["| task | items | side | draws | CPU s | voirdire is |", "|---|---|---|---|---|---|"]
    for row in rows:
        mine = next(r.cpu for r in rows if (r.times, r.task, r.side) == (row.times, row.task, "voirdire"))
        note = f"{row.draws:,}" + (f" (est. from {row.run_draws})" if row.scaled else "")
        factor = "1" if row.side == "voirdire" else f"{row.cpu / mine:,.0f} times faster"
        lines.append(f"| {row.task} | {626 * row.times:,} | {row.side} | {note} | {row.cpu:,.3g} | {factor} |")
    if audits:
        lines += ["", "| full audit: items | judgments | exit | wall s | CPU s | CPU s an item | peak MB |"]
        lines += ["|---|---|---|---|---|---|---|"]
        for run in audits:
            each = run["cpu"] / run["items"]
            lines.append(
                f"| {run['items']:,} | {run['judgments']:,} | {run['exit']} | {run['wall']:.1f} | {run['cpu']:.1f} "
                f"| {each:.5f} | {run['peak_mb']:,.0f} |"
            )
    return "\n".join(lines)


def one_thread() -> None:
    """Start again with one BLAS thread, unless the environment says how many."""
    if not set(THREADS) <= set(os.environ):
        environment = dict.fromkeys(THREADS, "1") | dict(os.environ)
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def main() -> None:
    """Run the comparison and print the table; ``--json`` keeps the numbers."""
    one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, nargs="*", default=[1, 10, 100], help="sizes, times 626 items")
    parser.add_argument("--no-audit", action="store_true", help="leave the full audit out")
    parser.add_argument("--no-peers", action="store_true", help="the full audit only")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    rows: list[Timing] = []
    worst = 0.0
    for times in [] if options.no_peers else options.times:
        more, difference = compare(times)
        rows, worst = rows + more, max(worst, difference)
        print(f"{times}x compared", file=sys.stderr)
    audits = []
    with tempfile.TemporaryDirectory() as folder:
        for times in [] if options.no_audit else options.times:
            audits.append(full_audit(times, Path(folder)))
            print(f"{times}x audited", file=sys.stderr)
    packages = {name: version(name) for name in ("numpy", "scipy", "polars", "pandas", "krippendorff", "voirdire")}
    print(table(rows, audits))
    used = ", ".join(f"{name} {number}" for name, number in packages.items())
    print(
        f"\nLargest difference from a peer on the same draws: {worst:.1e}. Python {platform.python_version()}, {used}"
    )
    if options.json:
        result = {"timings": [asdict(row) for row in rows], "audits": audits, "difference": worst, "versions": packages}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
