"""Options from a TOML file (``--config``) and their form on the way to a function of ``voirdire.app``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, UsageError

PATHS = ("folder", "ratings", "judgments", "items", "raters", "questions", "judges", "conditions", "shares", "out")
LISTS = ("question_columns", "rater_columns", "pool_columns", "judge_columns", "factors", "labels", "aggregate")
REPEATED = {
    "pool": "pools",
    "missing_label": "missing_labels",
    "exclude_items": "exclude_items",
    "judge_scale": "judge_scale",
    "slice": "slices",
    "select": "selects",
}
SHOWN = ("json", "lang", "config", "out")


def read_config(path: Path, known: Iterable[str]) -> dict[str, Any]:
    """The options of a TOML file by their names in Python; paths are relative to the file.

    Raises InputError for a file that cannot be read and UsageError for an option that the command lacks.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("cli.config.missing", file=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("cli.config.not_toml", file=str(path), why=str(error)) from error
    names = {name.replace("_", "-") for name in known}
    options: dict[str, Any] = {}
    for key, value in table.items():
        if key.replace("_", "-") not in names:
            raise UsageError("cli.config.unknown", file=str(path), entry=key, known=", ".join(sorted(names)))
        name = key.replace("-", "_")
        options[name] = str(path.parent / value) if name in PATHS and isinstance(value, str) else _plain(value)
    return options


def collect(params: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command as keyword arguments of its function; what was not given is left out.

    >>> collect({"pair": ["us,cn"], "scale": "1:5", "map": ["rater_id=worker"], "seed": None, "slice": []})
    {'pairs': (('us', 'cn'),), 'low': 1.0, 'high': 5.0, 'mapping': {'rater_id': 'worker'}}
    """
    options: dict[str, Any] = {}
    for name, value in params.items():
        if value is None or value == [] or value == () or value is False or name in SHOWN:
            continue
        if name in LISTS:
            options[name] = tuple(part.strip() for entry in value for part in entry.split(",") if part.strip())
        elif name in REPEATED:
            options[REPEATED[name]] = tuple(value)
        elif name == "map":
            options["mapping"] = dict(_split(entry, "=", "--map") for entry in value)
        elif name == "pair":
            options["pairs"] = tuple(_split(entry, ",", "--pair") for entry in value)
        elif name == "factor_role":
            options["factor_roles"] = tuple(_split(entry, "=", "--factor-role") for entry in value)
        elif name == "persona":
            options["personas"] = tuple(_split(entry, "=", "--persona") for entry in value)
        elif name == "scale":
            options["low"], options["high"] = (_number(end, value) for end in _split(value, ":", "--scale"))
        elif name == "no_compared":
            options["compared"] = False
        else:
            options[name] = value
    return options


def _split(entry: str, mark: str, option: str) -> tuple[str, str]:
    first, found, second = (part.strip() for part in entry.partition(mark))
    if not (first and found and second):
        raise UsageError("cli.usage.two_parts", option=option, value=entry, mark=mark)
    return first, second


def _number(end: str, whole: str) -> float:
    try:
        return float(end)
    except ValueError as error:
        raise UsageError("cli.usage.two_parts", option="--scale", value=whole, mark=":") from error


def _plain(value: Any) -> Any:
    """TOML's numbers and lists as the command line would give them."""
    if isinstance(value, dict):
        return [f"{name}={entry}" for name, entry in value.items()]
    if isinstance(value, list):
        return [",".join(map(str, entry)) if isinstance(entry, list) else str(entry) for entry in value]
    return value
