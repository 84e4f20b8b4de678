"""A run of six judges over three wire formats, as a process that can be killed.

``python -m tests.judging.kill_run make CORPUS ITEMS`` writes the corpus, ``... run CORPUS OUT URL IN_FLIGHT`` runs or
resumes and exports; its last line is JSON: seconds, CPU seconds, peak memory, cells.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from voirdire.judging.export import export
from voirdire.judging.grid import load_grid
from voirdire.judging.images import ImageStore
from voirdire.judging.limits import Limits
from voirdire.judging.material import read_material
from voirdire.judging.nouns import JudgeSpec
from voirdire.judging.plan import Plan
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.make import make_judge, parse_spec
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Summary, run

NAMES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "ZAI_API_KEY")
KEYS = dict.fromkeys(NAMES, "sk-test-0123456789abcdef")
JUDGES = {
    "openai/gpt-4o": "/openai/v1", "openai/gpt-4.1": "/openai/v1", "zai/glm-4.6v": "/zai/v1",
    "anthropic/claude-sonnet-4-5": "", "anthropic/claude-opus-4-1": "", "google/gemini-2.5-flash": "",
}  # fmt: skip


def make_corpus(folder: Path, items: int) -> None:
    """Small PNG items, each image its own, with a question in two languages."""
    from PIL import Image

    (folder / "images").mkdir(parents=True)
    rows = ["item_id,image,prompt.en,prompt.zh"]
    for item in range(items):
        name = f"images/{item:04d}.png"
        Image.new("RGB", (16, 16), (item % 256, item // 256, 7)).save(folder / name)
        rows.append(f"i{item:04d},{name},How usual is what picture {item} shows?,图 {item} 中的情形有多常见？")
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "questions.csv").write_text("question,role,level,min,max\nq1,evaluation,ordinal,1,5\n", encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "killed"\n', encoding="utf-8")


def specs_at(url: str) -> tuple[JudgeSpec, ...]:
    return tuple(parse_spec(name, base_url=url + path) for name, path in JUDGES.items())


def perform(corpus: Path, out: Path, url: str, in_flight: int, **more: Any) -> Summary:
    """Run or resume; the tables are written when nothing is pending."""
    material = read_material(corpus)
    images = ImageStore(corpus)
    grid, _ = load_grid("paper-baseline").for_languages(material.languages)
    plan = Plan(material, grid, specs_at(url), images)
    plan.check()
    with RunFolder(out) as folder:
        kit = Kit(images, material, 0, KEYS, folder.ledger.run_id)
        judges = [make_judge(spec, kit) for spec in plan.specs]
        folder.register(plan, judges)
        limits = Limits(concurrency=in_flight, backoff=0.01, backoff_cap=0.2)
        summary = asyncio.run(run(plan, judges, folder.ledger, limits=limits, **more))
        if summary.stopped is None:
            export(out)
    return summary


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make_corpus(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        wall, cpu = time.perf_counter(), time.process_time()
        ended = perform(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
        told = {
            "seconds": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "done": ended.progress.done,
            "total": ended.progress.total,
            "stopped": ended.stopped and str(ended.stopped),
        }
        print(json.dumps(told))
