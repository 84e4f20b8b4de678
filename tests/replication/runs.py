"""The audits that the reference is compared with: the command of the issue, and the variants that the map names."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import voirdire

COLUMNS = ("q1", "q2", "q3", "q4")
DRAWS = 200


def tables(data: Path) -> dict[str, Path]:
    """The files of the simulated corpus by the names of the command's options."""
    return {
        "ratings": data / "ratings.csv.gz",
        "items": data / "items.csv.gz",
        "judgments": data / "judgments.csv.gz",
        "judges": data / "judges.csv",
        "conditions": data / "conditions.csv",
    }


def command(data: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The command of the issue with few draws."""
    files = [text for name, path in tables(data).items() for text in (f"--{name}", str(path))]
    options = ["--question-columns", ",".join(COLUMNS), "--pair", "us,cn", "--draws", str(DRAWS), "--out", str(out)]
    return subprocess.run(
        [sys.executable, "-m", "voirdire", "audit", *files, *options, *more],
        capture_output=True,
        text=True,
        check=False,
    )


def in_python(data: Path, run: Mapping[str, Any] | None = None, **options: Any) -> voirdire.Profile:
    """The same audit through Python; ``run`` as the map describes a variant."""
    frames: dict[str, Any] = dict(tables(data))
    questions = COLUMNS
    if run is not None:
        questions = COLUMNS[:1]
        items = pl.read_csv(frames["items"])
        kept = _keep(items, run.get("items", {}))
        frames["items"] = kept
        ids = kept["item_id"].implode()
        for name in ("ratings", "judgments"):
            frame = pl.read_csv(frames[name]).filter(pl.col("item_id").is_in(ids))
            frames[name] = _keep(frame, run.get(name, {}))
        options = {"draws": 0, "permutations": 1, **run.get("options", {}), **options}
    chosen = {"pairs": (("us", "cn"),), "draws": 2, "permutations": 2, **options}
    return voirdire.audit(**frames, question_columns=questions, **chosen)


def _keep(frame: pl.DataFrame, values: Mapping[str, str]) -> pl.DataFrame:
    return frame.filter(*(pl.col(name) == value for name, value in values.items()))


def once(folder: Path, make: Any) -> Path:
    """Call ``make(folder)`` in one process only; the others wait for its result."""
    done = folder / "done.json"
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        for _ in range(1200):
            if done.exists():
                break
            time.sleep(0.5)
    else:
        done.with_suffix(".part").write_text(json.dumps(make(folder)))
        done.with_suffix(".part").rename(done)
    result = json.loads(done.read_text())
    if result["code"]:
        raise AssertionError(result["said"])
    return folder
