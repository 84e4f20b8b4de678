"""Projects for Potato: a folder with config and items for each pool and each language in which it reads.

Keys of the config as ``potato-annotation`` 2.12.1 has them (``python -m potato.validate_cli``); the config is JSON,
which every reader of YAML takes. A label has a ``name``, which is stored whatever is shown (``displayed_label``), so
that answers of every language come back as the same values. Images are served from ``media_directory``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from voirdire.annotation.nouns import NOT_APPLICABLE, Asked, PoolPlan
from voirdire.annotation.wording import said
from voirdire.exchange.exporters.tasks import (
    COMMENT,
    Material,
    Task,
    TaskExporter,
    choices,
    project_name,
    worded_field,
    wording,
)
from voirdire.exchange.importers.labelstudio_items import OUR_ITEM, OUR_LANGUAGE, OUR_POOL, OURS
from voirdire.exchange.importers.potato import CONFIGS, DATA
from voirdire.exchange.release_images import write_images
from voirdire.exchange.release_tables import as_csv
from voirdire.texts import text, ui_of

TEXT, PROMPT, IMAGE, MEDIA = "text", "prompt", "image", "/media/"


def write(material: Material, folder: Path, lang: str) -> None:
    """Write a project for each pool and language, with its images, the questions table and README.md."""
    lines: list[str] = []
    taken: set[str] = set()
    for plan, language in material.projects:
        name = project_name(plan, language, taken)
        tasks = material.tasks(plan, language)
        project = folder / name
        project.mkdir()
        items = (json.dumps(_item(one, plan, language, material), ensure_ascii=False) for one in tasks)
        (project / DATA).write_text("".join(f"{line}\n" for line in items), encoding="utf-8", newline="\n")
        config = json.dumps(_config(material, tasks, plan, language), ensure_ascii=False, indent=1)
        (project / CONFIGS[0]).write_text(config + "\n", encoding="utf-8", newline="\n")
        write_images(material.images, project)
        lines.append(text("potato.readme.project", lang, file=name, pool=plan.name, language=language))
    (folder / "questions.csv").write_bytes(as_csv(material.questions))
    fields: dict[str, Any] = {
        "name": material.told.name,
        "projects": "\n".join(lines),
        "names": " ".join(sorted(taken)),
    }
    fields |= {"count": material.items.height, "first": min(taken), "raters": material.study.raters_per_item}
    parts = "\n".join(text(f"potato.readme.{part}", lang, **fields) for part in ("intro", "collect", "take_back"))
    (folder / "README.md").write_text(parts, encoding="utf-8", newline="\n")


def _item(task: Task, plan: PoolPlan, language: str, material: Material) -> dict[str, str]:
    found = {"id": task.item, OUR_ITEM: task.item, OUR_POOL: plan.name, OUR_LANGUAGE: language}
    found |= {TEXT: task.text, PROMPT: task.prompt, IMAGE: task.image}
    if task.image:
        found[f"{OURS}image"] = MEDIA + quote(task.image)
    for number, asked in enumerate(material.study.questions, start=1):
        if asked.of_item:
            found[worded_field(number)] = wording(asked, task, language)
    return found


def _config(material: Material, tasks: Sequence[Task], plan: PoolPlan, language: str) -> dict[str, Any]:
    schemes = [scheme for asked in material.study.questions for scheme in _schemes(asked, language)]
    return {
        "annotation_task_name": f"{material.told.name} ({plan.name}, {language})",
        "task_dir": ".",
        "data_files": [DATA],
        "item_properties": {"id_key": "id", "text_key": TEXT},
        "output_annotation_dir": "annotation_output/",
        "media_directory": ".",
        "assignment_strategy": "random",
        "max_annotations_per_item": material.study.raters_per_item,
        "user_config": {"allow_all_users": True, "users": []},
        "instance_display": {"fields": _shown(material, tasks)},
        "annotation_schemes": schemes,
    }


def _shown(material: Material, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """The fields of an item that are put to the raters, above the questions."""
    pictured, worded = any(task.image for task in tasks), any(task.text for task in tasks)
    fields = [{"key": f"{OURS}image", "type": "image"}] if pictured else []
    fields += [{"key": TEXT if worded else PROMPT, "type": "text"}] if worded or not pictured else []
    prompted = any(task.prompt for task in tasks)
    own = [number for number, asked in enumerate(material.study.questions, start=1) if asked.of_item and prompted]
    return fields + [{"key": worded_field(number), "type": "text"} for number in own]


def _schemes(asked: Asked, language: str) -> list[dict[str, Any]]:
    """A question, and the line for a comment below it."""
    words = said(asked.text, language) or asked.text.get("en", "") or asked.id
    helped = said(asked.help, language)
    told: dict[str, Any] = {"name": asked.id, "description": f"{words} ({helped})" if helped else words}
    if asked.required and not (asked.not_applicable and asked.widget in ("slider", "number")):
        told["label_requirement"] = {"required": True}
    found = [told | _answers(asked, language)]
    if asked.comment:
        found.append({"annotation_type": "text", "name": f"{asked.id} {COMMENT}", "description": f"{words} …"})
    return found


def _answers(asked: Asked, language: str) -> dict[str, Any]:
    """What can be answered: sliders of whole numbers, numbers, texts, and labels for all else."""
    answers = choices(asked, language)
    ends = {"min_value": asked.low, "max_value": asked.high}
    whole = {name: int(end) if end.is_integer() else end for name, end in ends.items() if end is not None}
    if asked.widget == "text":
        return {"annotation_type": "text"}
    if asked.widget == "slider":
        return {
            "annotation_type": "slider",
            **whole,
            "starting_value": int(((asked.low or 0) + (asked.high or 0)) // 2),
        }
    if not answers:
        return {"annotation_type": "number", **whole}
    labels = [{"name": value, "displayed_label": words} for value, words in answers]
    if asked.not_applicable:
        words = text("rating.page.not_applicable", ui_of(language))
        labels.append({"name": NOT_APPLICABLE, "displayed_label": words})
    return {"annotation_type": "radio", "labels": labels}


EXPORTER = TaskExporter(write)
