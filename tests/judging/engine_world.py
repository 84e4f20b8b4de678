"""A small corpus with images, its plan, and fake judges: what tests of the engine share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.judging.fakes import FakeJudge, good
from tests.judging.kill_run import make_corpus

from voirdire.judging.grid import Grid, load_grid
from voirdire.judging.images import ImageStore
from voirdire.judging.material import read_material
from voirdire.judging.nouns import Call, JudgeSpec, Reply
from voirdire.judging.plan import Plan
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Summary, run

Answer = Callable[[Call], Reply | Exception]


def corpus(folder: Path, items: int = 3) -> Path:
    """A corpus of small images with questions in English and Chinese."""
    if not folder.exists():
        make_corpus(folder, items)
    return folder


def plan_of(folder: Path, judges: Sequence[str] = ("a", "b"), grid: Grid | str = "neutral", **more: Any) -> Plan:
    """The plan of a corpus; specs of the provider ``python``."""
    material = read_material(folder)
    specs = [JudgeSpec(name, "python", f"{name}.py", covariates={"origin": "us"}) for name in judges]
    plan = Plan(material, load_grid(grid) if isinstance(grid, str) else grid, specs, ImageStore(folder), **more)
    plan.check()
    return plan


def repeated(grid: str, repeats: int) -> Grid:
    """A named grid with repeats."""
    return replace(load_grid(grid), repeats=repeats)


def go(plan: Plan, out: Path, answer: Answer = good, judges: Sequence[FakeJudge] | None = None, **more: Any) -> Summary:
    """Run a plan with fake judges, in real time."""
    asked = judges if judges is not None else [FakeJudge(answer, spec.name) for spec in plan.specs]
    with RunFolder(out) as folder:
        folder.register(plan, asked)
        return asyncio.run(run(plan, asked, folder.ledger, signals=False, **more))
