"""Tasks and labeling configs for Label Studio: a project for each pool and each language in which it reads.

Tags and attributes as the pages of labelstud.io/tags and ``label_studio_sdk.label_interface`` 2.1.2 have them. A
``Choice`` has an alias, which stands in the export whatever words are shown, so that answers of every language come
back as the same values. Images are named as local files, ``/data/local-files/?d=images/...`` (labelstud.io/guide/
storage, "Local storage"): their paths start below LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT, which is the folder that is
written here. Inside a tag ``$name`` is replaced by the task's data, so a dollar sign of ours is written in full width.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
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
from voirdire.exchange.importers.labelstudio_items import LOCAL, OUR_ITEM, OUR_LANGUAGE, OUR_POOL
from voirdire.exchange.release_images import write_images
from voirdire.exchange.release_tables import as_csv
from voirdire.texts import text, ui_of

OBJECT, TEXT, IMAGE = "item", "text", "image"
STEP = "0.01"


def write(material: Material, folder: Path, lang: str) -> None:
    """Write tasks, configs, images, the questions table and README.md."""
    lines = []
    taken: set[str] = set()
    for plan, language in material.projects:
        name = project_name(plan, language, taken)
        tasks = material.tasks(plan, language)
        written = json.dumps([_task(one, plan, language, material) for one in tasks], ensure_ascii=False, indent=1)
        (folder / f"{name}.json").write_text(written + "\n", encoding="utf-8", newline="\n")
        (folder / f"{name}.xml").write_text(_config(material, tasks, language), encoding="utf-8", newline="\n")
        lines.append(text("labelstudio.readme.project", lang, file=name, pool=plan.name, language=language))
    write_images(material.images, folder)
    (folder / "questions.csv").write_bytes(as_csv(material.questions))
    (folder / "README.md").write_text(_readme(material, lines, sorted(taken), lang), encoding="utf-8", newline="\n")


def _task(task: Task, plan: PoolPlan, language: str, material: Material) -> dict[str, Any]:
    data: dict[str, Any] = {OUR_ITEM: task.item, OUR_POOL: plan.name, OUR_LANGUAGE: language}
    data |= {TEXT: task.text, "prompt": task.prompt}
    data |= {IMAGE: f"{LOCAL}{quote(task.image)}" if task.image else ""}
    for number, asked in enumerate(material.study.questions, start=1):
        data[worded_field(number)] = wording(asked, task, language)
    return {"data": data}


def _config(material: Material, tasks: Sequence[Task], language: str) -> str:
    """The labeling config: the item, then every question with its answers."""
    view = ET.Element("View")
    pictured, worded = any(task.image for task in tasks), any(task.text for task in tasks)
    if pictured:
        ET.SubElement(view, "Image", name=OBJECT, value=f"${IMAGE}")
    if worded or not pictured:
        name = f"{OBJECT}_text" if pictured else OBJECT
        ET.SubElement(view, "Text", name=name, value=f"${TEXT}" if worded else "$prompt")
    for number, asked in enumerate(material.study.questions, start=1):
        ET.SubElement(view, "Header", value=f"${worded_field(number)}", size="5")
        if said(asked.help, language):
            ET.SubElement(view, "Header", value=_static(said(asked.help, language)), size="6")
        _ask(view, asked, language)
        if asked.comment:
            _control(view, "TextArea", f"{asked.id} {COMMENT}", required=False)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _ask(view: ET.Element, asked: Asked, language: str) -> None:
    """The control of a question."""
    answers = choices(asked, language)
    if asked.widget == "text":
        _control(view, "TextArea", asked.id, required=asked.required)
    elif asked.widget == "slider" or not answers:
        ends = {"min": asked.low, "max": asked.high}
        told = {name: f"{end:g}" for name, end in ends.items() if end is not None}
        slider = {"slider": "true", "step": "1"} if asked.widget == "slider" else {"step": STEP}
        _control(view, "Number", asked.id, required=asked.required and not asked.not_applicable, **told, **slider)
    else:
        inline = {"choice": "single-radio", "showInline": "true"}
        control = _control(view, "Choices", asked.id, required=asked.required, **inline)
        for value, words in answers:
            ET.SubElement(control, "Choice", alias=value, value=_static(words))
        if asked.not_applicable:
            words = text("rating.page.not_applicable", ui_of(language))
            ET.SubElement(control, "Choice", alias=NOT_APPLICABLE, value=words)


def _control(view: ET.Element, tag: str, name: str, *, required: bool, **told: str) -> ET.Element:
    must = {"required": "true"} if required else {}
    return ET.SubElement(view, tag, {"name": name, "toName": OBJECT, **told, **must})


def _static(words: str) -> str:
    """Words that stand in a tag as they are.

    >>> _static("$5 or more")
    '＄5 or more'
    """
    return words.replace("$", "＄")


def _readme(material: Material, projects: Sequence[str], names: Sequence[str], lang: str) -> str:
    exports = " ".join(f"{name}.export.json" for name in names)
    fields: dict[str, Any] = {"name": material.told.name, "projects": "\n".join(projects), "exports": exports}
    fields |= {"count": material.items.height, "raters": material.study.raters_per_item}
    parts = ["intro", "set_up", *(["images"] if material.images else []), "collect", "take_back"]
    return "\n".join(text(f"labelstudio.readme.{part}", lang, **fields) for part in parts)


EXPORTER = TaskExporter(write)
