"""``reference/commands.md``: every command with its arguments and options."""

from __future__ import annotations

from typing import Any

from generating.common import leaves, plain
from voirdire.cli.build import build_app

EXITS = """Exit codes: 0 ok, 3 broken input or wrong usage, 4 interrupted, or a run that
stopped with cells pending (the same command goes on), 70 a fault of voirdire itself.
1 (fail) and 2 (not enough evidence) are given by `check` alone.

Errors are printed on standard error in plain words; with `--json` a document with the key `error` stands on
standard output as well. A progress bar appears on standard error after two seconds, when that is a terminal.
Options that `--config` takes from a file stand in [configuration](configuration.md#options-in-a-file-config), with
the environment variables.
"""


def page() -> str:
    """The page of commands and their options."""
    root = build_app("en")
    parts = [f"# Commands\n\n{plain(root.help)}\n", _options(root), EXITS]
    parts += [_command(name, command) for name, command in leaves(root)]
    return "\n".join(parts)


def _command(name: str, command: Any) -> str:
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    shown = " ".join(str(param.metavar or param.name.upper()) for param in arguments)
    example = command.epilog or ""
    lines = [f"## {name} {shown}".rstrip(), "", plain(command.help), ""]
    if example:
        lines += ["```sh", example.split(": ", 1)[1], "```", ""]
    lines += [f"- `{param.metavar or param.name.upper()}`: {plain(param.help)}" for param in arguments]
    return "\n".join([*lines, *([""] if arguments else []), _options(command)])


def _options(command: Any) -> str:
    lines, panel = [], None
    for param in command.params:
        if not param.opts[0].startswith("-"):
            continue
        heading = getattr(param, "rich_help_panel", None)
        if heading != panel:
            lines += ["", f"**{heading}**", ""]
            panel = heading
        value = "" if param.is_flag else f" {param.metavar or 'TEXT'}"
        lines.append(f"- `{param.opts[0]}{value}`: {plain(param.help)}")
    return "\n".join([*lines, ""]).lstrip("\n")
