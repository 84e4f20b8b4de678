"""Where the records and the settings of an Argilla data set are.

``Dataset.to_disk`` of the package argilla 2.8 (Apache-2.0) writes ``.argilla/records.json`` and
``.argilla/settings.json`` (before 2.1 both beside each other in the folder); a data set pushed to a hub has
``.argilla/settings.json`` and Parquet files of the flattened records; ``records.to_json`` writes the records alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.answer_rows import CHOICES, RATING, TEXT, Control
from voirdire.exchange.importers.datasets_files import Part, is_data_set, parts_of
from voirdire.exchange.importers.records import ID, Record, head_of, json_records, jsonl_records

FOLDER, SETTINGS, RECORDS = ".argilla", "settings.json", "records.json"
SPAN, RANKING = "span", "ranking"
KINDS = {"rating": RATING, "label_selection": CHOICES, "multi_label_selection": CHOICES, "text": TEXT}
"""Types of questions in the settings -> what they are to us; spans and rankings are nothing that a scale holds."""


@dataclass(frozen=True)
class Source:
    """A file of records. part : where it is Arrow or Parquet"""

    file: Path
    part: Part | None = None

    def records(self, account: Account) -> Iterator[Record]:
        """The records, nested or flattened."""
        if self.part is not None:
            return self.part.records(account)
        return json_records(self.file, account) if is_array(self.file) else jsonl_records(self.file, account)

    def label(self, question: str, value: Any) -> Any:
        """A suggestion as its label, where the file keeps the label's number; no suggestion has a number too."""
        told = None if self.part is None else self.part.features.get(f"{question}.suggestion")
        names = told.get("names") if isinstance(told, Mapping) and told.get("_type") == "ClassLabel" else None
        if not isinstance(names, list) or not isinstance(value, int) or not 0 <= value < len(names):
            return value
        return names[value]


def is_array(file: Path) -> bool:
    """Whether a file of records is one JSON array; it is JSONL otherwise."""
    return head_of(file, 1_024).lstrip()[:1] == "["


def sources_of(path: Path) -> list[Source]:
    """The files of records of a path."""
    if path.is_dir():
        found = next((file for file in _places(path, RECORDS) if file.is_file()), None)
        return [Source(part.file, part) for part in parts_of(path)] if found is None else [Source(found)]
    return [Source(part.file, part) for part in parts_of(path)] if is_data_set(path) else [Source(path)]


def settings_beside(path: Path) -> Path | None:
    """The settings of a folder, or beside the records of one."""
    if path.is_dir():
        return next((file for file in _places(path, SETTINGS) if file.is_file()), None)
    beside = path.parent / SETTINGS
    return beside if path.name == RECORDS and beside.is_file() else None


def is_folder(path: Path) -> bool:
    """Whether a folder is a data set of Argilla's."""
    settings = settings_beside(path)
    return settings is not None and (
        settings.parent.name == FOLDER or any(file.is_file() for file in _places(path, RECORDS))
    )


def read_settings(file: Path, language: str | None) -> dict[str, Control]:
    """The questions of a data set by name. Raises InputError where the file holds something else.

    language : in which the titles of the questions are; None: they are left out
    """
    records = list(json_records(file, Account()))
    if len(records) != 1 or not isinstance(records[0].value, dict) or "questions" not in records[0].value:
        raise InputError("argilla.settings_form", file=str(file))
    return {
        name: control
        for one in records[0].each("questions")
        for name, control in [(one.need("name", ID), _control(one, language))]
    }


def _control(one: Record, language: str | None) -> Control:
    told = one.inside("settings")
    kind, name = told.need("type", str), one.need("name", ID)
    title = one.may("title", str)
    text = {language: title} if language and title and title != name else {}
    if kind not in KINDS:
        return Control(name, kind, text=text)
    if kind == "text":
        return Control(name, TEXT, text=text)
    options = [option.value.get("value") for option in told.each("options")]
    if kind != "rating":
        labels = tuple(str(option) for option in options)
        return Control(name, CHOICES, labels=labels, multiple=kind == "multi_label_selection", text=text)
    levels = sorted(option for option in options if isinstance(option, int) and not isinstance(option, bool))
    if len(levels) != len(options) or not levels:
        raise told.error("argilla.options", "options", options)
    if levels == list(range(levels[0], levels[-1] + 1)):
        return Control(name, RATING, levels[0], levels[-1], text=text)
    return Control(name, RATING, labels=tuple(map(str, levels)), text=text)


def _places(folder: Path, name: str) -> Sequence[Path]:
    return (folder / FOLDER / name, folder / name)
