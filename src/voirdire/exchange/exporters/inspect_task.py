"""Cells as a task of Inspect AI: the same messages, examples and images that ``voirdire run`` would send.

A sample of ``cells.jsonl`` is a cell without its judge and repeat, in the form that ``inspect_ai.dataset.json_dataset``
reads (inspect_ai 0.3.285: ``input`` is a list of messages, an image is a path beside the file, ``metadata`` an object).
``task.py`` is the same for every corpus but for the number of repeats, which Inspect calls epochs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from voirdire.corpus.shown import Item
from voirdire.exchange.exporters.contract import Cells, Exporter
from voirdire.judging.nouns import AskedQuestion, Condition, Prompt, TextPart
from voirdire.judging.steps import Cell

TASK, SAMPLES, IMAGES = "task.py", "cells.jsonl", "images"
SHAPE = 1
"""The number of the shape of the metadata, which the scorer and the importer of logs look for."""
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}


def write_inspect(cells: Cells, folder: Path, lang: str) -> None:  # noqa: ARG001 - messages have their conditions' languages
    """Write task.py, cells.jsonl and the images that the messages show."""
    pictures = Pictures(cells, folder)
    with (folder / SAMPLES).open("w", encoding="utf-8") as file:
        for number, sample in enumerate(samples(cells, pictures), start=1):
            file.write(json.dumps({"id": number, **sample}, ensure_ascii=False, allow_nan=False) + "\n")
    template = files(__package__).joinpath("inspect_task.template").read_text(encoding="utf-8")
    (folder / TASK).write_text(template.replace("REPEATS", str(int(cells.plan.repeats))), encoding="utf-8")


class Pictures:
    """The images of the messages: each is written once, under the digest of what is sent."""

    def __init__(self, cells: Cells, folder: Path) -> None:
        self.store = cells.plan.images
        self.folder = folder / IMAGES
        self.paths: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        """The path of an image below the folder of the task."""
        known = self.paths.get(path)
        if known is None:
            encoded, facts = self.store.encoded(path), self.store.facts(path)
            name = facts.sent_sha256 + ENDINGS.get(encoded.media_type, "")
            self.folder.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(base64.b64decode(encoded.base64))
            known = self.paths[path] = f"{IMAGES}/{name}"
        return known


def samples(cells: Cells, pictures: Pictures) -> Iterator[dict[str, Any]]:
    """Every cell as a sample, by item, condition and question."""
    for item in cells.plan.items:
        for condition in cells.plan.conditions:
            for question in cells.plan.questions:
                cell = Cell(0, item.id, condition.full_name, question.id, 1, "")
                prompt = cells.plan.prompt(cell)
                about = _identity(cells, item, condition, question)
                again = [_added(prompt, cells.plan.prompt(cell, n)) for n in range(1, len(condition.tightening) + 1)]
                told = {"again": again, "prompt_digest": prompt.digest, **_shown(cells, cell)}
                yield {"input": [_message(prompt, pictures)], "target": "", "metadata": about | told}


def _identity(cells: Cells, item: Item, condition: Condition, question: AskedQuestion) -> dict[str, Any]:
    """Which cell a sample is, the scale as it is asked, and every pool's consensus on the question's own scale."""
    levels = cells.plan.levels(Cell(0, item.id, condition.full_name, question.id, 1, ""))
    pools = cells.consensus.get(question.id, {})
    return {
        "voirdire": SHAPE,
        "item_id": item.id,
        "condition": condition.name,
        "design": condition.design,
        "question": question.id,
        "low": levels[0],
        "high": levels[-1],
        "reversed": condition.reversed,
        "consensus": {pool: means[item.id] for pool, means in pools.items() if item.id in means},
        "factors": dict(condition.factors),
        "condition_digest": condition.digest,
    }


def _shown(cells: Cells, cell: Cell) -> dict[str, str]:
    """Flags of the item's text and the examples shown, as in the judgments of a run; nothing where there are none."""
    shown = cells.plan.shown(cell)
    return {name: value for name, value in (("flags", shown.flags), ("demonstrations", shown.demonstrations)) if value}


def _message(prompt: Prompt, pictures: Pictures) -> dict[str, Any]:
    """The one message of a user: plain text where there is nothing else."""
    if len(prompt.parts) == 1 and isinstance(prompt.parts[0], TextPart):
        return {"role": "user", "content": prompt.parts[0].text}
    content = [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image", "image": pictures.of(part.path)}
        for part in prompt.parts
    ]
    return {"role": "user", "content": content}


def _added(prompt: Prompt, tightened: Prompt) -> str:
    """What a message after a malformed reply has at its end and the first one has not."""
    first, later = prompt.parts[-1], tightened.parts[-1]
    if not isinstance(first, TextPart) or not isinstance(later, TextPart) or not later.text.startswith(first.text):
        raise ValueError(prompt.digest)
    return later.text[len(first.text) :]


EXPORTER = Exporter("cells", write_inspect)
