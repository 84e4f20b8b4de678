"""Recovery of planted truth by the decomposition: W, PI, the test of neutrality and the split of T.

Run: ``python docs/studies/recovery.py`` (``--corpora 100`` for a look). Each corpus is drawn anew with
``voirdire.simulation``; all judges of a world share its pools, so that one call fits them all. What is tested is the
product's own code: Shrinkage, regressors, fit_all, neutrality, deviance, ratio_interval,
slope_covariance, efficient_scores and split. The tables of recovery.md are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))

from recovery_tables import (
    LEVEL,
    Fields,
    blind_table,
    conditions_table,
    copies_table,
    ends_line,
    five_table,
    pi_table,
    split_table,
    summary,
    w_table,
    weight_of,
)
from recovery_worlds import (
    BENCHES,
    CONDITIONS,
    CUTS,
    LEVELS,
    SHARED,
    Bench,
    design_of,
    drawn,
    five_pools,
    planted_design,
    planted_model,
)

from voirdire.simulation.judges import judge_items
from voirdire.simulation.presets import paper_world, ten_conditions
from voirdire.simulation.world import FIVE, Humans, draw_judges
from voirdire.stats.counterfactual import PARTS, Outcomes, split
from voirdire.stats.decomposition import (
    CellFits,
    code_cells,
    efficient_scores,
    expanded_cuts,
    fieller,
    fit_all,
    neutrality,
    slope_covariance,
)
from voirdire.stats.features import Array, PoolArrays
from voirdire.stats.profiling import deviance, fixed, ratio_interval

SLICES = ("all", "cn")
CHUNK = 50
ENDS_EVERY = 5
COPY_FIELDS = ("copy_p", "copy_separated", "copy_side")


def ratio_fields(name: str, fits: CellFits, over: Array, under: Array, planted: Array, ends: bool) -> Fields:
    """``name``: a ratio of slopes (C,); ``name_in``: whether its profile interval holds the planted value.

    That is so when the likelihood falls by less than half a chi-squared quantile at the value, which takes one fit.
    With ``ends`` the interval's ends are found as in an audit, and ``name_agrees`` says whether they say the same.
    """
    from scipy.stats import chi2

    inside, agrees = (np.full(len(fits.slopes), np.nan) for _ in range(2))
    for part in fits.parts:
        value = planted[part.cells]
        across = over - value[:, None] * under
        ratio, _ = deviance(part.data, part.fit, fixed(across, np.zeros(len(value))))
        inside[part.cells] = ratio <= chi2.ppf(LEVEL, 1)
        if ends:
            low, high = ratio_interval(part.data, part.fit, over, under, LEVEL)
            agrees[part.cells] = ((low <= value) & (value <= high)) == (inside[part.cells] == 1)
    return {name: (fits.slopes @ over) / (fits.slopes @ under), f"{name}_in": inside, f"{name}_agrees": agrees}


def related(fits: CellFits, under: Array) -> Array:
    """(C,) 1 where the profile interval of a sum of slopes lies above 0, which is when W is printed."""
    from scipy.stats import chi2

    found = np.zeros(len(fits.slopes))
    for part in fits.parts:
        ratio, _ = deviance(part.data, part.fit, fixed(under, np.zeros(len(part.cells))))
        found[part.cells] = (part.fit.slopes @ under > 0) & (ratio > chi2.ppf(LEVEL, 1))
    return found


def one_corpus(bench: Bench, seed: tuple[int, ...]) -> Fields:
    """Field -> (judges,) or (judges, slices, parts) of one corpus."""
    rng = np.random.default_rng(seed)
    humans, pools = drawn(bench, rng)
    ratings = [judge_items(humans.expected, humans.cultures, judge, FIVE, rng)[0] for judge in bench.judges.values()]
    x = design_of(humans, pools)
    coded = code_cells(np.stack(ratings), CUTS.levels)
    fits = fit_all(coded, x, len(ratings))
    a, b, lead = np.eye(x.shape[1])[:3]
    ends, judges = seed[-1] % ENDS_EVERY == 0, bench.judges.values()
    found = ratio_fields("w", fits, b, a + b, np.array([weight_of(judge) for judge in judges]), ends)
    planted_pi = np.array([judge.permissiveness for judge in judges])
    found |= ratio_fields("pi", fits, lead, a + b, planted_pi, ends)
    found |= {"defined": related(fits, a + b), "p": neutrality(fits, b - a)[1]}
    raw = fit_all(coded, design_of(humans, pools, correct=False), len(ratings))
    found |= {"raw_w": (raw.slopes @ b) / (raw.slopes @ (a + b)), "raw_p": neutrality(raw, b - a)[1]}
    found |= copies_of(pools, x, b - a) if ends else {name: np.full(4, np.nan) for name in COPY_FIELDS}
    return found | splits(bench, humans, pools, np.stack(ratings), x, fits)


def copies_of(pools: PoolArrays, x: Array, contrast: Array) -> Fields:
    """COPY_FIELDS (4,) of judges that give the observed consensus: of a, of b rounded to levels, then as they are."""
    copies = np.concatenate([np.floor(pools.mean + 0.5), pools.mean])
    fits = fit_all(code_cells(copies, CUTS.levels), x, len(copies))
    side = (fits.slopes @ contrast > 0).astype(float)
    return dict(zip(COPY_FIELDS, (neutrality(fits, contrast)[1], fits.separated.astype(float), side), strict=True))


def splits(bench: Bench, humans: Humans, pools: PoolArrays, ratings: Array, x: Array, fits: CellFits) -> Fields:
    """``split`` and ``planted`` (judges, slices, parts) of T, the first from the fits, the second from the truth."""
    outcomes = Outcomes.of(pools.mean[0], pools.mean[1], LEVELS)
    slices = np.stack([np.ones(len(x)), humans.cultures == "cn"])
    found = {name: np.full((len(ratings), len(SLICES), len(PARTS)), np.nan) for name in ("split", "planted")}
    truth = planted_design(humans)
    for part in fits.parts:
        if len(part.values) != len(LEVELS):
            continue
        place = ratings[part.cells].astype(int) - 1
        seen = tuple(table[np.arange(len(x)), place] for table in (outcomes.tilt, outcomes.delta))
        every = np.ones(place.shape)
        tilt, _ = split(expanded_cuts(part), part.fit.slopes, x, outcomes, (seen[0], seen[1]), every, slices)
        found["split"][part.cells] = tilt.transpose(1, 2, 0)
    for cell, judge in enumerate(bench.judges.values()):
        if judge.noise and not judge.uniform:
            cuts, slopes = planted_model(judge, humans)
            nothing = np.zeros((1, len(x)))
            tilt, _ = split(cuts, slopes, truth, outcomes, (nothing, nothing), nothing + 1, slices)
            found["planted"][cell] = tilt[:, 0].T
    return found


def five_corpus(seed: tuple[int, ...]) -> Fields:
    """Weights b_k / sum(b) of five pools and PI: field -> (judges, pools) or (judges,)."""
    world, judges = five_pools()
    rng = np.random.default_rng(seed)
    humans, pools = drawn(Bench("five", "", world, judges), rng)
    ratings = [judge_items(humans.expected, humans.cultures, judge, FIVE, rng)[0] for judge in judges.values()]
    x = design_of(humans, pools)
    fits = fit_all(code_cells(np.stack(ratings), CUTS.levels), x, len(ratings))
    axes, k = np.eye(x.shape[1]), len(pools.mean)
    every = axes[:k].sum(0)
    weights = np.array([judge.weights or (1 / k,) * k for judge in judges.values()])
    ends = seed[-1] % ENDS_EVERY == 0
    parts = [ratio_fields("w", fits, axes[pool], every, weights[:, pool], ends) for pool in range(k)]
    found = {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
    found |= ratio_fields("pi", fits, axes[k], every, np.array([j.permissiveness for j in judges.values()]), ends)
    return found | {"p": neutrality(fits, axes[1] - axes[0])[1]}


def conditions_corpus(seed: tuple[int, ...]) -> Fields:
    """Mean coefficients of ten conditions that share noise of items: field -> (judges,)."""
    from scipy.stats import t as student

    base = replace(paper_world(CONDITIONS), side=(), noise=SHARED)
    bare = tuple(replace(c, pull={}) for c in ten_conditions())
    rng = np.random.default_rng(seed)
    bench = Bench("conditions", "", replace(base, conditions=bare), CONDITIONS)
    humans, pools = drawn(bench, rng)
    ratings = draw_judges(humans, rng).ratings[:, :, 0]
    n_judges, n_conditions, items = ratings.shape
    cells = ratings.reshape(-1, items)
    x = design_of(humans, pools)
    fits = fit_all(code_cells(cells, CUTS.levels), x, len(cells))
    matrix = np.repeat(np.eye(n_judges), n_conditions, axis=1)
    a, b, _ = np.eye(x.shape[1])[:3]
    mean = matrix @ fits.slopes / n_conditions
    covariance = slope_covariance(fits, matrix)
    over, under = b, a + b
    moments = tuple(np.einsum("p,spq,q->s", u, covariance, v) for u, v in ((over, over), (over, under), (under, under)))
    t = float(student.ppf((1 + LEVEL) / 2, items - 1))
    low, high = fieller(mean @ over, mean @ under, (moments[0], moments[1], moments[2]), t)
    by_item = matrix @ efficient_scores(fits, b - a, len(cells))
    score = by_item.sum(1) / np.sqrt(by_item.var(1, ddof=1) * items)
    single = neutrality(fits, b - a)[1].reshape(n_judges, n_conditions)
    smallest = np.minimum(single.min(1) * n_conditions, 1)
    p = 2 * student.sf(np.abs(score), items - 1)
    planted = np.array([weight_of(judge) for judge in CONDITIONS.values()])
    found = {"w": (mean @ over) / (mean @ under), "w_in": ((low <= planted) & (planted <= high)).astype(float)}
    return found | {"p": p, "p_smallest": smallest}


def stacked(runs: list[Fields]) -> Fields:
    """Field -> (corpora, ...)."""
    return {name: np.stack([run[name] for run in runs]) for name in runs[0]}


def chunk(
    job: Callable[[tuple[int, ...]], Fields], name: str, seeds: list[tuple[int, ...]], kept: Path | None
) -> Fields:
    """A run of corpora, read where it was kept before."""
    path = None if kept is None else kept / f"{name.replace(' ', '_')}-{seeds[0][-1]}-{len(seeds)}.npz"
    if path is not None and path.is_file():
        with np.load(path) as found:
            return dict(found)
    made = stacked([job(each) for each in seeds])
    if path is not None:
        np.savez(path, **made)
    return made


@dataclass(frozen=True)
class Runner:
    """How many corpora are drawn, from which seed, in how many processes, and where they are kept."""

    corpora: int
    seed: int
    processes: int
    kept: Path | None

    def __call__(self, job: Callable[[tuple[int, ...]], Fields], name: str, label: int) -> Fields:
        """A job on every corpus, each from a seed of its own."""
        places = range(0, self.corpora, CHUNK)
        runs = [[(self.seed, label, at) for at in range(p, min(p + CHUNK, self.corpora))] for p in places]
        if self.processes == 1:
            parts = [chunk(job, name, seeds, self.kept) for seeds in runs]
        else:
            with ProcessPoolExecutor(self.processes) as pool:
                parts = [f.result() for f in [pool.submit(chunk, job, name, seeds, self.kept) for seeds in runs]]
        return {field: np.concatenate([part[field] for part in parts]) for field in parts[0]}


def main() -> None:
    """Run the worlds and print the tables; ``--json`` keeps the rows."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose name holds this text")
    parser.add_argument("--json", type=Path, help="write every row here")
    parser.add_argument("--keep", type=Path, help="folder of finished corpora; a second run goes on from there")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    run = Runner(options.corpora, options.seed, options.processes, options.keep)
    everything: list[dict[str, object]] = []
    for label, bench in enumerate(BENCHES):
        if options.only in bench.name:
            rows = summary(bench.name, bench.judges, run(partial(one_corpus, bench), bench.name, label))
            everything += rows
            print(f"### {bench.name}: {bench.told}\n", w_table(rows), pi_table(rows), sep="\n\n", end="\n\n")
            if bench is BENCHES[0]:
                print(blind_table(rows), end="\n\n")
                for place, name in enumerate(SLICES):
                    print(f"Split of T, slice {name}", split_table(rows, place), sep="\n\n", end="\n\n")
    print(copies_table(everything), ends_line(everything), sep="\n\n", end="\n\n", flush=True)
    others = (
        ("conditions", conditions_corpus, partial(conditions_table, CONDITIONS)),
        ("five", five_corpus, partial(five_table, five_pools()[1])),
    )
    for label, (name, job, made) in enumerate(others, start=len(BENCHES)):
        if options.only in name:
            text, rows = made(run(job, name, label))
            print(f"### {name}\n", text, sep="\n", end="\n\n", flush=True)
            everything += [{"world": name, **row} for row in rows]
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
