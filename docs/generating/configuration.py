"""``reference/configuration.md``: the keys of every configuration file, and environment variables."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from generating.common import code, plain, table
from generating.declared_keys import declared_keys, options_of_config, provider_variables, variables
from generating.usual_values import usual_values
from voirdire.cli.config import LISTS, PATHS
from voirdire.integrations.pytest_plugin import INI
from voirdire.texts import text

TEXTS = Path(__file__).with_name("configuration.toml")
INTRODUCTION = """Nothing needs to be configured: every file here is for what the usual values do not say. Files are
TOML, and a key that is not known is refused by its name, with those that are. A path in a file starts from the folder
of the file. Keys of providers never stand in a file: they come from [the environment](#environment-variables).
"""
CONFIG = """## Options in a file: --config

`--config FILE.toml` holds options of {commands}, so that one of them can be repeated. Keys are the options without
dashes at the front (`question-columns` or `question_columns`); what is given on the command line goes before. An
option that can be repeated takes a list; `map` may be a table. Which command takes what stands in
[commands](commands.md). [Example](../howto/input.md#options-in-a-file).
"""
INI_FILE = """## pytest

Keys of the table `[tool.pytest.ini_options]` in pyproject.toml (or of `pytest.ini`), for
[the pytest plugin](../howto/ci/pytest.md). They hold where the marker and the call say nothing.
"""
ENVIRONMENT = """## Environment variables

A variable that is empty counts as not set.
"""
PROXIES = """`https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` (or in capital letters) name proxies for calls of
judges; an address on this machine never goes through one.
"""
HEADS = ("key", "meaning", "value", "without it")


@cache
def described() -> Mapping[str, Any]:
    """The texts of the page."""
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))


def page() -> str:
    """The page of configuration."""
    lines = ["# Configuration", "", INTRODUCTION]
    declared = declared_keys()
    for file in described()["file"]:
        lines += [f"## {file['title']}", "", file["about"].strip(), ""]
        for name, keys in declared[file["id"]].items():
            told = file["keys"][name]
            rows = {key: _usual(told[key], usual_values(file["id"], name), key) for key in keys}
            lines += [*_heading(name), *_keys(rows), ""]
    return "\n".join([*lines, *_config(), *_ini(), *_environment()])


def _heading(name: str) -> tuple[str, ...]:
    if name == "written":
        return ("What voirdire writes there, and reads again; not for you to fill in:", "")
    return (f"### `{name}`", "") if name else ()


def _usual(told: list[str], usual: Mapping[str, str], key: str) -> list[str]:
    """What is told of a key, with ``=`` filled in from the code."""
    value, without, meaning = told
    return [value, code(usual[key]) if without == "=" else without, meaning]


def _keys(told: Mapping[str, list[str]]) -> list[str]:
    rows = [[code(name) if name != "any other" else name, told[name][2], *told[name][:2]] for name in told]
    filled = [place for place in range(len(HEADS)) if any(row[place] for row in rows)]
    return table([HEADS[place] for place in filled], [[row[place] for place in filled] for row in rows])


def _config() -> Iterator[str]:
    options = options_of_config()
    commands = list(dict.fromkeys(name for _, names in options.values() for name in names))
    yield CONFIG.format(commands=", ".join(f"`{name}`" for name in commands[:-1]) + f" and `{commands[-1]}`")
    rows = []
    for name, (param, taking) in options.items():
        rows.append([code(name.replace("_", "-")), f"{plain(param.help)}{_of(taking, commands)}", _kind(name, param)])
    yield from table(("key", "meaning", "value"), rows)
    yield ""


def _of(taking: tuple[str, ...], commands: list[str]) -> str:
    """Which commands take an option, where not all do."""
    others = [name for name in commands if name not in taking]
    said, named = ("Not", others) if len(others) == 1 else ("Only", taking)
    return f" {said} of {', '.join(map(code, named))}." if others else ""


def _kind(name: str, param: Any) -> str:
    if getattr(param, "is_flag", False):
        return "true or false"
    if name in PATHS:
        return "path"
    shown = f"`{param.metavar or 'TEXT'}`"
    if name in LISTS or getattr(param, "multiple", False):
        return f"list of {shown}"
    return shown


def _ini() -> Iterator[str]:
    yield INI_FILE
    yield from table(("key", "meaning"), [(code(name), plain(text(f"integrations.pytest.{name}"))) for name in INI])
    yield ""


def _environment() -> Iterator[str]:
    yield ENVIRONMENT
    told = described()["variables"]
    yield from table(("variable", "meaning", "value"), [(code(name), *reversed(told[name])) for name in variables()])
    yield from ("", "Keys and addresses of providers, of which the first that is set counts:", "")
    rows = [(code(name), *map(_names, both)) for name, both in provider_variables().items()]
    yield from table(("provider", "key", "address"), rows)
    yield from ("", "A judge can name another variable for its key (`key_env`).", PROXIES)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
