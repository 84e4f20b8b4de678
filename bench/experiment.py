"""The analysis of the paper's size, 187,800 judgments, against pandas, scipy and statsmodels, in one run.

``python bench/experiment.py --data FOLDER`` where FOLDER holds ratings.csv.gz, items.csv.gz, judgments.csv.gz,
judges.csv and conditions.csv of the paper's design; ``--reference FILE`` is a program of its own that computes every
statistic once (pandas, scipy, statsmodels) and is run as ``FILE DATA OUT``. See bench/README.md.
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
from importlib.metadata import version
from pathlib import Path
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
for _name in THREADS:
    os.environ.setdefault(_name, "1")

import experiment_peers as peers  # noqa: E402
import numpy as np  # noqa: E402

DRAWS, FIT_DRAWS = 2_000, 500
SAME_DRAWS = 2
SEED = 1
QUESTIONS = ("q1", "q2", "q3", "q4")
TABLES = ("ratings.csv.gz", "items.csv.gz", "judgments.csv.gz", "judges.csv", "conditions.csv")
STATISTICS = {
    "err_us": ("mae", "", 0), "err_cn": ("mae", "", 1), "delta": ("delta", "", 2), "t": ("tilt", "", 2),
    "rating": ("mean_rating", "", None), "low": ("share_low", "", None), "high": ("share_high", "", None),
    "pearson_us": ("pearson", "", 0), "pearson_cn": ("pearson", "", 1),
}  # fmt: skip
PARTS = {
    "evaluate": ("add_pools", "add_roles", "add_validity", "add_judges", "add_extras", "add_verdicts"),
    "experiment.add": (),
}


class Ours:
    """The same statistics of the same cells by the audit's own machinery."""

    def __init__(self, data: Path) -> None:
        from voirdire.analysis.evaluate import contexts_of, judged_cells
        from voirdire.analysis.options import AuditOptions
        from voirdire.analysis.rows import Table
        from voirdire.app.inputs import read_inputs

        inputs = read_inputs({**named(data), "question_columns": QUESTIONS[:1], "pairs": ("us,cn",)})
        assert inputs.judgments is not None
        self.context = contexts_of(inputs.corpus, AuditOptions(pairs=(("us", "cn"),)), Table({}))[0]
        self.judged = judged_cells(self.context, inputs.corpus, inputs.judgments)
        frame = self.judged.cells.frame
        self.cells = list(zip(frame["judge"], frame["condition"], strict=True))
        self.items = inputs.corpus.items["item_id"].gather(self.context.panel.item_rows).to_list()
        own = self.context.pools
        self.targets = {0: (own.index("us"),), 1: (own.index("cn"),), 2: (own.index("us"), own.index("cn")), None: ()}

    def draws(self, weights: np.ndarray) -> np.ndarray:
        """(3 slices, 9 statistics, cells, draws) under item weights (draws, I)."""
        from voirdire.analysis.context import subset
        from voirdire.statistic import REGISTRY
        from voirdire.stats.level_cube import LevelFeatures
        from voirdire.stats.resampling import block_sums

        slices = []
        for name in peers.SLICES:
            mask = self.context.slices["all" if name == "all" else f"culture={name}"]
            levels = self.judged.cells.held.on_items(mask)
            features = LevelFeatures(subset(self.context.panel.arrays, mask), levels)
            sums: dict[Any, np.ndarray] = {}
            for target in self.targets.values():
                wanted = [REGISTRY[s, p].features for s, p, t in STATISTICS.values() if self.targets[t] == target]
                parts = sorted({part for group in wanted for part in group})
                blocks = block_sums(weights[:, mask], [features.get(part, target) for part in parts])
                sums |= {(part, target): block for part, block in zip(parts, blocks, strict=True)}
            slices.append(
                [
                    REGISTRY[s, p].numbers(tuple(sums[part, self.targets[t]] for part in REGISTRY[s, p].features))
                    for s, p, t in STATISTICS.values()
                ]
            )
        return np.array(slices)

    def intervals(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Ends of the 95 % intervals of all, drawing included."""
        from voirdire.stats.resampling import item_weights, percentile

        return np.stack(percentile(self.draws(item_weights(len(self.items), draws, rng)), 0.95))


def named(data: Path) -> dict[str, Path]:
    """The tables by the names of the audit's options."""
    return {file.split(".")[0]: data / file for file in TABLES}


def cpu_of(work: Callable[[], object]) -> float:
    """CPU seconds of a piece of work in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def check_equal(ours: Ours, table: Any) -> float:
    """Largest difference between the two sides on the same draws; stops beyond 1e-9."""
    rng = np.random.default_rng(SEED)
    place = [peers.cells(table).index(cell) for cell in ours.cells]
    worst = 0.0
    for _ in range(SAME_DRAWS):
        drawn = rng.integers(len(ours.items), size=len(ours.items))
        weights = np.bincount(drawn, minlength=len(ours.items))[None].astype(np.uint8)
        theirs = peers.draw(table, np.array(ours.items)[drawn])[..., place]
        worst = max(worst, float(np.abs(ours.draws(weights)[..., 0] - theirs).max()))
    if not worst < 1e-9:
        raise SystemExit(f"the sides differ by {worst}")  # noqa: TRY003
    return worst


def cells_task(data: Path, run: int, fits: int) -> dict[str, float]:
    """CPU seconds of the bootstrap of all cells on both sides, and of the peer's cumulative probits, scaled."""
    ours, table = Ours(data), peers.long_table(data)
    worst = check_equal(ours, table)
    rng = np.random.default_rng(SEED)
    items = np.array(ours.items)
    mine = min(cpu_of(lambda: ours.intervals(DRAWS, rng)) for _ in range(3))

    def loop() -> None:
        drawn = [peers.draw(table, items[rng.integers(len(items), size=len(items))]) for _ in range(run)]
        np.quantile(drawn, [0.025, 0.975], axis=0)

    theirs = cpu_of(loop) * DRAWS / run
    one = cpu_of(lambda: [peers.fit(table, cell * 7, items) for cell in range(fits)]) / fits
    return {"difference": worst, "ours": mine, "pandas": theirs, "run": run, "fit": one, "fits": fits}


def parts_task(data: Path, draws: int) -> dict[str, float]:
    """CPU seconds of each part of the evaluation by name, and of writing the report, in one process."""
    import voirdire.analysis.evaluate as whole
    from voirdire.analysis.experiment import add
    from voirdire.app.audit import write
    from voirdire.app.inputs import read_inputs

    spent: dict[str, float] = {}
    for module, names in ((whole, PARTS["evaluate"]), (add, [n for n in vars(add) if n.startswith("add_")])):
        for name in names:
            if name != "add_experiment":
                setattr(module, name, _timed(getattr(module, name), name, spent))
    options = {**named(data), "question_columns": QUESTIONS, "pairs": ("us,cn",), "draws": draws}
    start = time.process_time()
    inputs = read_inputs(options)
    spent["reading"] = time.process_time() - start
    start = time.process_time()
    profile = whole.evaluate(inputs.corpus, inputs.judgments, inputs.options)
    spent["evaluate"] = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        spent["report"] = cpu_of(lambda: write(lambda: profile, Path(folder), "en", None))
    return {**spent, "rows": profile.estimates.height}


def _timed(work: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def run(*given: Any, **more: Any) -> Any:
        start = time.process_time()
        try:
            return work(*given, **more)
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - start

    return run


def process(command: Sequence[str]) -> dict[str, Any]:
    """Wall and CPU seconds, peak memory and what a process of its own tells in its last line."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = child.stdout.read().splitlines()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall, cpu = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    told = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    return {"exit": child.returncode, "wall": wall, "cpu": cpu, "peak_mb": usage.ru_maxrss / 1024, **told}


def audit(data: Path, out: Path, draws: int) -> dict[str, Any]:
    """``voirdire audit`` of the four questions, report and figures, as a process of its own."""
    tables = [f"--{name}={path}" for name, path in named(data).items()]
    options = ["--question-columns", ",".join(QUESTIONS), "--pair", "us,cn", "--draws", str(draws), "--out", str(out)]
    return process([str(Path(sys.executable).with_name("voirdire")), "audit", *tables, *options])


def summary(result: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = ["| task | side | CPU s | peak MB | voirdire is |", "|---|---|---|---|---|"]
    cells, whole = result.get("cells"), result.get("audit")
    if cells:
        ratio = cells["pandas"] / cells["ours"]
        lines.append(f"| 9 statistics, 300 cells, 3 slices, {DRAWS:,} draws | voirdire | {cells['ours']:.2f} | | 1 |")
        side = f"pandas and scipy loop (est. from {cells['run']:.0f} draws)"
        lines.append(f"| | {side} | {cells['pandas']:,.0f} | | {ratio:,.0f} times faster |")
    if whole:
        lines.append(
            f"| the whole audit, report and figures | voirdire | {whole['cpu']:.0f} (wall {whole['wall']:.0f}) "
            f"| {whole['peak_mb']:,.0f} | 1 |"
        )
    once = result.get("reference", {"cpu": 0.0, "peak_mb": 0.0})
    if cells and whole:
        fits = cells["fit"] * 300
        total = once["cpu"] + cells["pandas"] + fits * (1 + FIT_DRAWS)
        told = f"points once {once['cpu']:.0f}, the loop, 300 OrderedModel fits once {fits:.0f} and {FIT_DRAWS} times"
        lines.append(
            f"| | plain ({told}; est.) | {total:,.0f} | {once['peak_mb']:,.0f} "
            f"| {total / whole['cpu']:,.0f} times faster |"
        )
    if "parts" in result:
        lines += ["", "| part of the audit | CPU s |", "|---|---|"]
        known = ("exit", "wall", "cpu", "peak_mb", "rows")
        ordered = sorted((s, n) for n, s in result["parts"].items() if n not in known)
        lines += [f"| {name} | {seconds:.2f} |" for seconds, name in reversed(ordered)]
    return "\n".join(lines)


def main() -> None:
    """Run the tasks one after the other and print the tables; ``--json`` keeps the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--reference", type=Path, help="a program that computes every statistic once")
    parser.add_argument("--tasks", nargs="*", default=["cells", "parts", "audit", "reference"])
    parser.add_argument("--draws", type=int, default=DRAWS, help="resamples of the audit")
    parser.add_argument("--run", type=int, default=3, help="draws of the pandas loop that are run and scaled")
    parser.add_argument("--fits", type=int, default=3, help="statsmodels fits that are run and scaled")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    packages = ("numpy", "scipy", "polars", "pandas", "statsmodels", "voirdire")
    result: dict[str, Any] = {"versions": {name: version(name) for name in packages}}
    with tempfile.TemporaryDirectory() as folder:
        for task in options.tasks:
            if task == "cells":
                result[task] = cells_task(options.data, options.run, options.fits)
            elif task == "parts":
                result[task] = parts_task(options.data, options.draws)
            elif task == "audit":
                result[task] = audit(options.data, Path(folder) / "out", options.draws)
            elif options.reference:
                command = [sys.executable, str(options.reference), str(options.data), str(Path(folder) / "out.json")]
                result[task] = process(command)
            print(task, json.dumps(result.get(task)), file=sys.stderr)
    print(summary(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
