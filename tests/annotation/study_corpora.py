"""Small corpora and studies in TOML for the tests of studies."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.study_file import StudyRead, find_study
from voirdire.errors import VoirdireError
from voirdire.texts import LANGUAGES, text

FULL: dict[str, Any] = {
    "name": "teas",
    "raters_per_item": 3,
    "items_per_rater": 4,
    "repeats": 2,
    "lease_minutes": 20.5,
    "seed": 7,
    "pools": [
        {"name": "us", "languages": ["en"], "consent": {"en": "I agree."}, "completion_code": "ABC"},
        {
            "name": "cn",
            "languages": ["zh", "en"],
            "title": {"zh": "茶", "en": "Tea"},
            "consent": {"zh": "我同意。", "en": "I agree."},
            "welcome": {"zh": "您好。", "en": "Hello."},
            "completion_url": "https://example.org/done?cc=1",
        },
    ],
    "questions": [
        {
            "id": "fit",
            "role": "evaluation",
            "low": 1,
            "high": 3,
            "low_end": {"en": "bad", "zh": "差"},
            "high_end": {"en": "good", "zh": "好"},
            "options": [{"value": "2", "text": {"en": "middling", "zh": "一般"}}],
            "not_applicable": True,
            "comment": True,
        },
        {
            "id": "kind",
            "options": ["green", "black", "milk"],
            "text": {"en": "Kind?", "zh": "种类？"},
            "required": False,
        },
        {"id": "cups", "widget": "number", "low": 0, "level": "ratio", "text": "?", "help": "0, 1, 2.5"},
        {"id": "remark", "widget": "text", "text": {"en": "More?", "zh": "还有吗？"}},
    ],
    "screening": [
        {"id": "here", "text": "?", "options": ["yes", "no"], "accept": ["yes"]},
        {
            "id": "reads",
            "kind": "many",
            "text": "?",
            "options": [{"value": "en"}, {"value": "zh", "text": {"en": "Chinese", "zh": "中文"}}, "fr"],
            "accept": {"cn": ["zh", "en"]},
            "all_of": True,
            "keep": True,
        },
    ],
    "gold": [{"item": "a1", "question": "fit", "accept": [2, 3]}, {"item": "a1", "question": "kind", "accept": "milk"}],
}


def picture(seed: int = 0, size: tuple[int, int] = (24, 16), kind: str = "PNG", **options: Any) -> bytes:
    """Bytes of a small picture that differs by its seed."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def item(name: str, culture: str | None = "us", **more: Any) -> dict[str, Any]:
    """A row of an items table: a text and a question in two languages."""
    worded = {"prompt.en": f"Is {name} usual?", "prompt.zh": f"{name}常见吗？"}
    told = {"text.en": f"About {name}", "text.zh": f"关于{name}"}
    return {"item_id": name, "pair_id": f"p-{name[0]}", "culture": culture, **worded, **told, **more}


def corpus(folder: Path, rows: list[dict[str, Any]] | None = None, **tables: list[dict[str, Any]]) -> Path:
    """A corpus folder of text items, four of two cultures unless rows are given; further tables by name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.toml").write_text('name = "small"\n', encoding="utf-8")
    usual = [item("a1"), item("a2", "cn"), item("b1"), item("b2", "cn")]
    for name, table in {"items": usual if rows is None else rows, **tables}.items():
        pl.DataFrame(table, infer_schema_length=None).write_csv(folder / f"{name}.csv")
    return folder


def toml(table: dict[str, Any]) -> str:
    """A table as TOML, everything below the first level inline."""
    return "".join(f"{json.dumps(key, ensure_ascii=False)} = {_value(value)}\n" for key, value in table.items())


def study_of(folder: Path, table: dict[str, Any] | str | None = None, **options: Any) -> StudyRead:
    """The study of a corpus folder, with an ``annotation.toml`` where one is given."""
    if table is not None:
        source = table if isinstance(table, str) else toml(table)
        (folder / "annotation.toml").write_text(source, encoding="utf-8")
    return find_study(folder, shown_of(folder), **options)


def shown_of(folder: Path) -> Shown:
    """What raters are shown of a corpus folder."""
    return read_shown(folder)


def told(error: VoirdireError) -> str:
    """The English sentence; the Chinese one must be there too."""
    assert all(text(error.key, lang, **error.fields) for lang in LANGUAGES)
    return error.message()


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_value(one)}" for key, one in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
