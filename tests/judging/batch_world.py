"""A small corpus with images, a run folder, and one judge of each provider on the mock, for tests of batches."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from tests.mock_provider import Behaviour, MockProvider

from voirdire.corpus.corpus import Note
from voirdire.judging.batching import run_batches
from voirdire.judging.grid import load_grid
from voirdire.judging.images import ImageStore
from voirdire.judging.material import read_material
from voirdire.judging.nouns import Judge
from voirdire.judging.plan import Plan
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.make import make_judge, parse_spec
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Summary, run

MODELS = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5", "google": "gemini-2.5-flash"}
BASES = {"openai": "/openai/v1", "anthropic": "", "google": ""}
KEYS = {
    "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef",
    "GOOGLE_API_KEY": "AIzaTest0123456789abcdef",
}
ROUGH = Behaviour(
    validate=True,
    malformed=0.15,
    refusal=0.05,
    server=0.05,
    rate_limit=0.03,
    batch_expire=0.03,
    garbage=0.02,
    drop=0.02,
)


def corpus(folder: Path, items: int = 12, side: int = 8) -> Path:
    """An items table with images; every image is another one."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = ["item_id,image,alt,prompt.en,prompt.zh"]
    for number in range(items):
        picture = BytesIO()
        Image.effect_noise((side, side), 50 + number).save(picture, "PNG")
        (folder / "images" / f"{number}.png").write_bytes(picture.getvalue() + bytes([number % 256]))
        rows.append(f"i{number},images/{number}.png,Tea number {number},Is it usual here?,这里常见吗？")
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "items.csv"


def plan_of(items: Path, url: str, providers: Sequence[str] = tuple(MODELS), grid: str = "neutral") -> Plan:
    specs = [parse_spec(f"{name}/{MODELS[name]}", base_url=url + BASES[name]) for name in providers]
    return Plan(read_material(items), load_grid(grid), specs, ImageStore(items.parent))


def judges_of(plan: Plan, timeout: float = 10.0) -> list[Judge]:
    kit = Kit(plan.images, plan.material, 0, KEYS, plan.run_id, timeout)
    return [make_judge(spec, kit) for spec in plan.specs]


@dataclass
class Told:
    """Notes of a run."""

    notes: list[Note] = field(default_factory=list)

    def __call__(self, note: Note) -> None:
        self.notes.append(note)

    def count(self, name: str) -> int:
        return sum(note.key == f"batch.note.{name}" for note in self.notes)


async def batches(folder: Path, plan: Plan, told: Told | None = None, **options: Any) -> Summary:
    """Run a plan by batches in a run folder."""
    judges = judges_of(plan)
    with RunFolder(folder) as home:
        home.register(plan, judges)
        options = {"poll_seconds": 0.01, "signals": False, **options}
        return await run_batches(plan, judges, home.ledger, tell=told, **options)


async def ordinary(folder: Path, plan: Plan) -> Summary:
    judges = judges_of(plan)
    with RunFolder(folder) as home:
        home.register(plan, judges)
        return await run(plan, judges, home.ledger, signals=False)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with RunFolder(folder) as home, home.ledger.writing() as db:
        return db.execute(query).fetchall()


JUDGMENTS = (
    "SELECT i.name, k.name, j.name, c.repeat, o.status, o.rating FROM cell c JOIN item i ON i.id = c.item"
    " JOIN condition k ON k.id = c.condition JOIN judge j ON j.id = c.judge JOIN outcome o ON o.cell = c.id"
    " ORDER BY 1, 2, 3, 4"
)


def judgments(folder: Path) -> list[tuple[Any, ...]]:
    return rows(folder, JUDGMENTS)


def statuses(folder: Path) -> Counter[str]:
    return Counter(row[4] for row in judgments(folder))


def on_mock(behaviour: Behaviour, work: Callable[[MockProvider], Any]) -> Any:
    """Run a test's coroutine beside a mock."""

    async def go() -> Any:
        async with MockProvider(behaviour) as mock:
            return await work(mock)

    return asyncio.run(go())


def main() -> None:
    """``python -m tests.judging.batch_world ITEMS RUN URL PROVIDER...``: a run of its own process, to be killed."""
    items, folder, url, *providers = sys.argv[1:]
    summary = asyncio.run(batches(Path(folder), plan_of(Path(items), url, providers), poll_seconds=0.05))
    print(summary.progress.done, summary.progress.total, flush=True)


if __name__ == "__main__":
    main()
