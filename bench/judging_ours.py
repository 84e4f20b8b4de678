"""Our side of the judging bench: one run of the runner, told as one line ``RB {json}``.

``judging_ours.py FOLDER ITEMS CELLS BASE_URL OUT [IN_FLIGHT]``; the corpus is made with ``--make`` first, outside any
timing: ``judging_ours.py --make FOLDER IMAGES ITEMS`` where IMAGES is a folder of JPEG files.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from pathlib import Path

QUESTION = (
    "You are shown one image and the instruction that was used to produce it. Judge how well the image fits the "
    "instruction for a viewer who grew up in {place}. Consider the objects, the setting, the people and the cultural "
    "details, and do not reward mere visual polish. Instruction: a family shares the first meal of the "
    "new year at home."
)


def make(folder: Path, images: Path, items: int) -> None:
    """A corpus folder of JPEG items, each file its own (the bytes after the image's end differ)."""
    (folder / "images").mkdir(parents=True)
    sources = sorted(images.glob("*.jpg"))
    lines = ["item_id,image,prompt.en"]
    for item in range(items):
        name = f"{item:05d}.jpg"
        (folder / "images" / name).write_bytes(sources[item % len(sources)].read_bytes() + item.to_bytes(4, "big"))
        lines.append(f'i{item:05d},images/{name},"{QUESTION.format(place=("the United States", "China")[item % 2])}"')
    (folder / "items.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "questions.csv").write_text("question,role,level,min,max\nq1,evaluation,ordinal,1,5\n", encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "bench"\n', encoding="utf-8")


def run(folder: Path, items: int, cells: int, base_url: str, out: Path, in_flight: int) -> dict[str, object]:
    """One run of ``cells`` cells; CPU and wall seconds of the job, from reading the corpus to the exported table."""
    cpu = time.process_time()
    import aiohttp  # noqa: F401  (what is imported on first use is import time in the peers too)
    import PIL.Image  # noqa: F401
    import polars as pl  # noqa: F401

    import voirdire
    import voirdire.app.run
    import voirdire.judging.providers.http
    import voirdire.judging.runner

    imported = time.process_time() - cpu
    shutil.rmtree(out, ignore_errors=True)
    wall, cpu = time.perf_counter(), time.process_time()
    result = voirdire.run(
        folder,
        "compatible/mock-judge",
        out=out,
        base_url=base_url,
        limit=items,
        repeats=max(1, cells // items),
        concurrency=in_flight,
    )
    spent, ended = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = result.judgments["status"].value_counts()
    ledger = sum(path.stat().st_size for path in out.glob("ledger*"))
    return {
        "cells": cells,
        "ok": int(counts.filter(counts["status"] == "ok")["count"].sum()),
        "job_s": ended,
        "job_cpu": spent,
        "import_cpu": imported,
        "ledger_bytes": ledger,
        "peak_mb": peak,
    }


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        make(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        folder, items, cells, base_url, out, *rest = sys.argv[1:]
        told = run(Path(folder), int(items), int(cells), base_url, Path(out), int(rest[0]) if rest else 64)
        print("RB " + json.dumps(told))
