"""Judges from a TOML file (``--judges``), one ``[[judge]]`` each.

::

    [[judge]]
    model = "openai/gpt-4o"
    origin = "us"

    [[judge]]
    name = "local"
    model = "compatible/qwen2-vl"
    base_url = "http://localhost:8000/v1"
    key_env = "MY_SERVER_KEY"
    origin = "cn"
    parameters = { temperature = 0.0 }

Everything that is not named above is a covariate: a column of the judges table that the audit can select by.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import JudgeSpec
from voirdire.judging.providers.keys import scrub
from voirdire.plugins import PROVIDERS, available

OWN = ("name", "model", "base_url", "key_env", "parameters")
FILES = ("replay", "python")
NEVER_KEYS = ("name", "model", "base_url")
"""Texts of an entry that may look like a key and are none, or are looked at elsewhere."""
_SECRET = re.compile(
    r"key|token|(?:.*[ _.-])?(?:(?:api|access|auth|bearer|secret|private)[ _-]?(?:key|token)"
    r"|secret|passw(?:or)?d|authorization|bearer|credentials?)",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_judges(path: Path) -> tuple[JudgeSpec, ...]:
    """The judges of a file, in its order.

    Paths of replay tables and of Python files are relative to the file. Raises InputError, naming the file and the
    entry, for what cannot be read as meant; a value that may be a key is never shown.
    """
    entries = _entries(path)
    specs = tuple(_spec(path, number, entry) for number, entry in enumerate(entries, start=1))
    seen: dict[str, int] = {}
    for number, spec in enumerate(specs, start=1):
        if spec.name in seen:
            first = seen[spec.name]
            raise InputError("cli_run.judges.twice", file=str(path), entry=number, first=first, value=spec.name)
        seen[spec.name] = number
    return specs


def _entries(path: Path) -> list[Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("cli_run.judges.missing", file=str(path), why=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("cli_run.judges.not_toml", file=str(path), why=str(error)) from error
    other = [name for name in table if name != "judge"]
    if other:
        raise InputError("cli_run.judges.outside", file=str(path), value=other[0])
    entries = table.get("judge")
    if not isinstance(entries, list) or not entries:
        raise InputError("cli_run.judges.none", file=str(path))
    return entries


def _spec(path: Path, number: int, entry: Any) -> JudgeSpec:
    if not isinstance(entry, Mapping):
        raise InputError("cli_run.judges.none", file=str(path))
    _refuse_secrets(path, number, entry)
    model = _text(path, number, entry, "model")
    if model is None:
        raise InputError("cli_run.judges.no_model", file=str(path), entry=number)
    provider, mark, rest = model.partition("/")
    if not (provider and mark and rest):
        raise InputError("cli_run.judges.model", file=str(path), entry=number, value=model)
    known = available(PROVIDERS)
    if provider not in known:
        named = ", ".join(sorted(known))
        raise InputError("cli_run.judges.provider", file=str(path), entry=number, value=provider, known=named)
    key_env = _text(path, number, entry, "key_env")
    if key_env is not None and not _VARIABLE.fullmatch(key_env):
        raise InputError("cli_run.judges.key_env", file=str(path), entry=number)
    return JudgeSpec(
        name=_text(path, number, entry, "name") or model,
        provider=provider,
        model=_placed(path, provider, rest),
        base_url=_text(path, number, entry, "base_url"),
        key_env=key_env,
        parameters=_parameters(path, number, entry),
        covariates=_covariates(path, number, entry),
    )


def _placed(path: Path, provider: str, model: str) -> str:
    """The name of a file beside the judges file, seen from the working folder; every other model as it is."""
    file = model.rpartition(":")[0] if provider == "python" else model
    if provider not in FILES or (provider == "python" and not file.endswith(".py")):
        return model
    return model if Path(file).is_absolute() else str(path.parent / model)


def _text(path: Path, number: int, entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError("cli_run.judges.not_text", file=str(path), entry=number, column=name)
    return value


def _parameters(path: Path, number: int, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = entry.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise InputError("cli_run.judges.parameters", file=str(path), entry=number)
    return parameters


def _covariates(path: Path, number: int, entry: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in entry.items():
        if name in OWN:
            continue
        if isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, str | int | float | date | datetime | time) and name != "judge":
            found[name] = str(value)
        else:
            raise InputError("cli_run.judges.covariate", file=str(path), entry=number, column=name)
    return found


def _refuse_secrets(path: Path, number: int, entry: Mapping[str, Any]) -> None:
    """A key in the file would be written into the run; it belongs in the environment."""
    for name, value in _named_values(entry):
        if _SECRET.fullmatch(name) or (name not in NEVER_KEYS and _is_key(value)):
            raise InputError("cli_run.judges.secret", file=str(path), entry=number, column=name)


def _named_values(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every name at any depth, with its value; the parts of a list have the name of the list."""
    for name, value in table.items():
        for part in value if isinstance(value, list) else [value]:
            yield name, part
            if isinstance(part, Mapping):
                yield from _named_values(part)


def _is_key(value: Any) -> bool:
    """Whether a text looks like a key: in the form of one, with a digit."""
    return isinstance(value, str) and any(map(str.isdigit, value)) and scrub(value) != value


def check_names(specs: tuple[JudgeSpec, ...]) -> None:
    """Raise UsageError when two judges of a run have one name.

    >>> check_names((JudgeSpec("openai/gpt-4o", "openai", "gpt-4o"),))
    """
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError("cli_run.judges.one_name", value=name)
