"""Two small audits of the same items, for comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.analysis.builders import FIVE, corpus, judgments, rated

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.browsing.compared import read_compared
from voirdire.browsing.comparison import Side
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.scales import Scale

DRAWS = 200


def made(
    items: range = range(40),
    *,
    judges: Mapping[str, float] | None = None,
    lost: Mapping[str, tuple[int, ...]] | None = None,
    conditions: tuple[str, ...] = ("c0", "c1"),
    repeats: int = 1,
    scale: Scale = FIVE,
    noise: int = 0,
) -> tuple[Corpus, Judgments]:
    """Two pools with three raters. What a number of an item or a judge is depends on its name alone.

    judges : name -> how much its ratings lie above the truth; lost : judge -> items that it did not answer
    noise : seed of what judges add
    """
    levels = int(scale.high or len(scale.labels)) if not scale.nominal else len(scale.labels)
    low = 0 if scale.nominal else 1

    def level(value: float) -> float:
        return float(np.clip(round(value), low, levels - (1 - low)))

    pools: dict[str, dict[str, list[float]]] = {"us": {}, "cn": {}}
    rows: list[Any] = []
    for n in items:
        rng = np.random.default_rng(n)
        truth = {"us": rng.uniform(low, levels), "cn": rng.uniform(low, levels)}
        for pool, values in pools.items():
            values[f"i{n:02}"] = [level(truth[pool] + rng.normal(0, 0.7)) for _ in range(3)]
        for place, (judge, shift) in enumerate((judges or {"m": 0.3, "k": -0.4}).items()):
            for c, condition in enumerate(conditions):
                for repeat in range(repeats):
                    own = np.random.default_rng([n, place, c, repeat, noise])
                    value = level(sum(truth.values()) / 2 + shift + own.normal(0, 0.8))
                    gone = n in (lost or {}).get(judge, ())
                    rows.append(
                        (f"i{n:02}", judge, condition, repeat, None if gone else value, "malformed" if gone else "ok")
                    )
    return corpus(rated(pools), scale), judgments(rows)


def side(folder: Path, given: tuple[Corpus, Judgments | None], **options: Any) -> Side:
    """An audit written to a folder and read back."""
    chosen = {"draws": DRAWS, "permutations": 20, "decomposition_draws": 0, **options}
    evaluate(*given, AuditOptions(**chosen)).save(folder)
    return Side(folder.name, folder.name, Profile.load(folder), read_compared(folder))
