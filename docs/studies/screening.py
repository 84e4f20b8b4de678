"""Planted failures and good pairs, screened: python docs/studies/screening.py [seeds]."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.screening import Screening, screen
from voirdire.construction.screening_pilot import Answers, Pilot
from voirdire.construction.screening_rule import Rule
from voirdire.scales import Scale
from voirdire.simulation.pools import to_scale

FIVE = Scale("ordinal", 1, 5)
YES_NO = Scale("nominal", 0, 1, ("no", "yes"), "yes")
KINDS = {"good": "", "factual": "factual", "piled": "factual", "uncontested": "uncontested", "stereotype": "stereotype"}
"""What is planted -> the failure mode that should be found; a piled pair is also uncontested."""

OWN_OF_PAIR = 0.3
SIZES = (3, 4, 5, 8, 12)


@dataclass(frozen=True)
class Design:
    """How many pairs of each kind are piloted, by how many raters a pool.

    gap : of the good pairs, on average; noise, severity : sd of a rating around what its rater sees, and of raters
    rest : sd of what is left between the pools on uncontested pairs
    fact, beyond, marked : how loud failures are: the mean answer on subjectivity, how far from the middle of the scale
        piled opinions are, and the share of raters who call an item a stereotype
    """

    raters: int
    pairs: Mapping[str, int]
    gap: float = 1.5
    noise: float = 0.7
    severity: float = 0.25
    rest: float = 0.1
    fact: float = 4.4
    beyond: float = 2.4
    marked: float = 0.85


def planted(design: Design, rng: np.random.Generator) -> tuple[Pilot, dict[str, str]]:
    """A pilot with planted pairs, and concept -> kind."""
    kinds = [kind for kind, count in design.pairs.items() for _ in range(count)]
    names = {f"{kind}-{place:03d}": kind for place, kind in enumerate(kinds)}
    items = tuple(ConceptItem(f"{name}-{c}", name, "food", c, c) for name in names for c in ("us", "cn"))
    latent = np.concatenate([_latent(kind, design, rng) for kind in kinds])
    marked = np.concatenate([_marked(kind, design.marked, rng) for kind in kinds])
    fact = np.repeat([design.fact if kind == "factual" else 1.7 for kind in kinds], 2)
    n, pools = design.raters, 2
    shape = (len(items), pools, n)
    item, pool, rater = (axis.ravel() for axis in np.indices(shape))
    severity = design.severity * rng.standard_normal((1, pools, n))
    rated = to_scale(latent[:, :, None] + severity + design.noise * rng.standard_normal(shape), FIVE)
    view = np.repeat(OWN_OF_PAIR * rng.standard_normal((len(kinds), pools, n)), 2, axis=0)
    asked = to_scale(fact[:, None, None] + view + 0.6 * rng.standard_normal(shape), FIVE)
    ticked = (rng.random(shape) < marked[:, None, None]).astype(float)

    def answers(question: str, scale: Scale, values: np.ndarray) -> Answers:
        return Answers(question, scale, item, pool * n + rater, pool, values.ravel())

    parts = (answers("q1", FIVE, rated), answers("q3", FIVE, asked), answers("stereotype", YES_NO, ticked))
    return Pilot(items, ("us", "cn"), *parts), names


def _latent(kind: str, design: Design, rng: np.random.Generator) -> np.ndarray:
    """(2, 2) latent opinion of a pair's two items in two pools; a pool mostly likes its own realisation better."""
    if kind == "piled":
        return np.full((2, 2), 3 + rng.choice([-1, 1]) * design.beyond) + 0.1 * rng.standard_normal((2, 2))
    if kind == "uncontested":
        return 3.7 + 0.4 * rng.standard_normal((2, 1)) + design.rest * rng.standard_normal((2, 2))
    sign = np.where(rng.random(2) < 0.8, 1, -1) * np.array([1, -1])
    half = sign * (design.gap + 0.4 * rng.standard_normal(2)) / 2
    middle = 3.2 + 0.3 * rng.standard_normal(2)
    return np.stack([middle + half, middle - half], axis=1)


def _marked(kind: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """(2,) chance that a rater calls an item a stereotype: one or both items of such a pair."""
    both = rng.random() < 0.5
    return np.array([share, share if both else 0.2]) if kind == "stereotype" else np.full(2, 0.06)


def outcomes(screening: Screening, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(kind, what became of it): kept, undecided, dropped, or dropped for another mode than the planted one."""
    for pair in screening.pairs:
        kind = names[pair.concept]
        failed = {one.mode for one in pair.measures if one.verdict == "drop"}
        right = not failed or KINDS[kind] in failed or (kind == "piled" and "uncontested" in failed)
        yield kind, pair.verdict if right else "other"


def tally(design: Design, seeds: int, rule: Rule | None = None) -> dict[str, Counter[str]]:
    """kind -> outcome -> pairs, over seeds."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in design.pairs}
    for seed in range(seeds):
        pilot, names = planted(design, np.random.default_rng(seed))
        for kind, outcome in outcomes(screen(pilot, rule), names):
            found[kind][outcome] += 1
    return found


LARGE = {"good": 20, "factual": 5, "piled": 5, "uncontested": 5, "stereotype": 5}
SMALL = {"good": 4, "factual": 2, "piled": 2, "uncontested": 2, "stereotype": 2}


SETTINGS = {
    "40 pairs": (Design(0, LARGE), SIZES),
    "12 pairs": (Design(0, SMALL), SIZES),
    "40 pairs, gap 1 (the least that counts)": (Design(0, LARGE, gap=1.0), (3, 5, 8)),
    "40 pairs, noisy raters (noise 1, severity 0.5)": (Design(0, LARGE, noise=1.0, severity=0.5), (3, 5, 8)),
    "40 pairs, faint failures (subjectivity 3.8, piled 1.9 from the middle, stereotype 65 %)": (
        Design(0, LARGE, fact=3.8, beyond=1.9, marked=0.65),
        (3, 5, 8, 12),
    ),
}


def calibration(seeds: int) -> None:
    """Print how often a gap is found where there is none at all, and how often its absence is."""
    print("\n### No gap at all\n\n| severity | raters | a gap is found | that there is none | pairs |")
    print("|---|---|---|---|---|")
    for severity in (0.0, 0.25, 0.5):
        for n in (3, 5, 8):
            design = Design(n, {"good": 10, "uncontested": 10}, severity=severity, rest=0.0)
            found: Counter[str] = Counter()
            for seed in range(seeds):
                pilot, names = planted(design, np.random.default_rng(seed))
                pairs = [pair for pair in screen(pilot).pairs if names[pair.concept] == "uncontested"]
                found.update(pair.measure("gap").verdict for pair in pairs)
            total = sum(found.values())
            shares = " | ".join(f"{found[name] / total:.3f}" for name in ("keep", "drop"))
            print(f"| {severity:g} | {n} | {shares} | {total} |")


def main(seeds: int) -> None:
    """Print the shares as a table of Markdown for each size of pilot."""
    for title, (design, sizes) in SETTINGS.items():
        print(f"\n### {title}\n\n| planted | raters | kept | undecided | dropped | for another reason | pairs |")
        print("|---|---|---|---|---|---|---|")
        for n in sizes:
            for kind, found in tally(replace(design, raters=n), seeds).items():
                total = sum(found.values())
                shares = [f"{found[name] / total:.2f}" for name in ("keep", "undecided", "drop", "other")]
                if kind == "good":
                    shares[2:] = [f"{(found['drop'] + found['other']) / total:.3f}", "-"]
                print(f"| {kind} | {n} | {' | '.join(shares)} | {total} |")


if __name__ == "__main__":
    started = time.process_time()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    main(count)
    calibration(count)
    print(f"\n{time.process_time() - started:.0f} CPU seconds")
