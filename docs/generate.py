"""Write the reference pages from the code: ``python docs/generate.py`` (``--check`` only compares)."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import voirdire
from voirdire import errors, plugins
from voirdire.cli.build import build_app
from voirdire.texts import catalogue, text

HERE = Path(__file__).resolve().parent
SOURCE = Path(voirdire.__file__).parent
MADE = "<!-- Written by docs/generate.py from the code. Do not edit. -->\n"
TREE = ("InputError", "UsageError", "SignatureError", "PolicyError", "RunStopped", "Unavailable")
REFUSALS = ("Refused", "NotYours", "Closed", "Full", "BadValue", "KeyReused", "Deleted", "NotFinished", "Forbidden")
RAISING = (
    {name: (name, "") for name in TREE}
    | {"refuse": ("InputError", "input."), "NotFoundError": ("UsageError", ""), "WrongStateError": ("UsageError", "")}
    | dict.fromkeys(REFUSALS, ("UsageError", ""))
    | dict.fromkeys(("Broken", "NotHere", "_error", "error"), ("InputError", "material."))
)


def pages() -> dict[Path, str]:
    """Every generated page by its path."""
    made = {"commands": commands(), "estimates": estimates(), "errors": error_page(), "extensions": extensions()}
    return {HERE / "reference" / f"{name}.md": f"{MADE}\n{page.strip()}\n" for name, page in made.items()}


def commands() -> str:
    """The page of commands and their options."""
    root = build_app("en")
    parts = [f"# Commands\n\n{root.help}\n", _options(root), EXITS]
    parts += [_command(name, command) for name, command in _leaves(root)]
    return "\n".join(parts)


EXITS = """Exit codes: 0 ok, 3 broken input or wrong usage, 4 interrupted, or a run that
stopped with cells pending (the same command goes on), 70 a fault of voirdire itself.
1 (fail) and 2 (not enough evidence) are given by `check` alone.

Errors are printed on standard error in plain words; with `--json` a document with the key `error` stands on
standard output as well. A progress bar appears on standard error after two seconds, when that is a terminal.
"""


def _leaves(group: Any, prefix: str = "voirdire") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        full = f"{prefix} {name}"
        if hasattr(command, "commands"):
            yield from _leaves(command, full)
        else:
            yield full, command


def _command(name: str, command: Any) -> str:
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    shown = " ".join(str(param.metavar or param.name.upper()) for param in arguments)
    example = command.epilog or ""
    lines = [f"## {name} {shown}".rstrip(), "", command.help, ""]
    if example:
        lines += ["```sh", example.split(": ", 1)[1], "```", ""]
    lines += [f"- `{param.metavar or param.name.upper()}`: {param.help}" for param in arguments]
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
        lines.append(f"- `{param.opts[0]}{value}`: {param.help}")
    return "\n".join([*lines, ""]).lstrip("\n")


def estimates() -> str:
    """The page of estimates: every statistic by its name, and every reason why one is undefined."""
    for module in pkgutil.walk_packages([str(SOURCE / "stats")], "voirdire.stats."):
        import_module(module.name)
    from voirdire.statistic import REGISTRY

    declared: dict[str, list[Any]] = {}
    for statistic in REGISTRY.values():
        declared.setdefault(statistic.name, []).append(statistic)
    known = catalogue("en")
    names = [key.removeprefix("statistics.").removesuffix(".name") for key in known if _is_name(key)]
    lines = ["# Estimates", "", ESTIMATES]
    for name in names:
        lines += [
            f"### {name}",
            "",
            f"{known[f'statistics.{name}.name']}. {known.get(f'statistics.{name}.help', '')}",
            "",
        ]
        lines += [_declaration(statistic) for statistic in declared.get(name, [])]
    lines += ["## Why an estimate is undefined", ""]
    lines += [f"- `{key.removeprefix('undefined.')}`: {known[key]}" for key in known if key.startswith("undefined.")]
    return "\n".join(lines)


ESTIMATES = """`estimates.csv` and `Profile.estimates` hold one row an estimate. Columns: `statistic`, `params`
(`k=v,k=v`), `question`, `pool`, `pool_b`, `judge`, `condition`, `slice` (empty where they do not apply; `*` for all
judges or conditions), then exactly one of `value`, `label` (a verdict, a gate) and `undefined` (the reason), `low`
and `high` (the interval), `n`, `excluded` (`reason=count;...`) and `signature`.

`judge` and `condition` hold a name, a selection (`origin=us`, `persona=us&design=base`) or `*`. Control judges are
named `control:...`. `slice` is `all`, `culture=cn` or `culture=cn&category=food`.

Slices and selections parse back: split at `&`, then at the first `=`. A `%`, `&` or `=` inside a column's name or a
level is percent-encoded (`category=food %26 drink`), in policies and after `--select` as well. A judge or condition
stands under its own name; `*` and names that begin with `control:` are refused, and so is a name that a level of a
covariate or factor has too, unless both mean the same cells. An item column `anchor` is sliced as `anchor_given`.

In `estimates.csv` a name that a spreadsheet would take for a formula (it begins with `=`, `+`, `@` or `-`) has an
apostrophe before it; `profile.json` and Python have it bare. `profile.json` is written last: where it stands, all
other files of its run do.

## The statistics
"""


def _is_name(key: str) -> bool:
    return key.startswith("statistics.") and key.endswith(".name")


def _declaration(statistic: Any) -> str:
    params = ",".join(f"{name}={value}" for name, value in statistic.params.items())
    facts = {
        "params": f"`{params}`" if params else "",
        "of": statistic.per.replace("_", " and "),
        "scale": "" if statistic.scale in ("any", "numeric") else statistic.scale,
        "bounds": statistic.bounds,
        "over several cells": statistic.across.replace("_", " "),
        "interval": statistic.interval.replace("_", " "),
        "undefined when": ", ".join(f"`{reason}`" for reason, _ in statistic.undefined),
        "source": statistic.source,
    }
    told = " ".join(statistic.doc.split())
    return f"{told}\n\n" + "\n".join(f"- {name}: {fact}" for name, fact in facts.items() if fact) + "\n"


def error_page() -> str:
    """The page of errors: the tree, and every sentence that is raised."""
    tree = inspect.getdoc(errors) or ""
    lines = ["# Errors", "", "```", tree.split("\n\n")[1], "```", ""]
    lines += ["An error has a `key`, its `fields` and `message(lang)`. `exit_code` is 3; 4 for RunStopped.", ""]
    known = catalogue("en")
    for name in TREE:
        raised = sorted({key for kind, key in _raised() if kind == name and key in known})
        lines += [f"## {name}", "", *(f"- `{key}`: {known[key]}" for key in raised), ""]
    return "\n".join(lines)


def _raised() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            kind = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if kind in RAISING and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                tree, prefix = RAISING[kind]
                prefix = "study." if prefix == "material." and path.parent.name == "annotation" else prefix
                yield tree, f"{prefix}{node.args[0].value}"


def extensions() -> str:
    """The page of plugin groups."""
    lines = ["# Plugin groups", "", inspect.getdoc(plugins) or "", "", "The groups and what is built in:", ""]
    for group, key in plugins.GROUPS.items():
        built_in = ", ".join(f"`{name}`" for name in plugins.BUILT_IN.get(group, {})) or "nothing yet"
        lines.append(f"- `{group}`: {text(key)} Built in: {built_in}.")
    return "\n".join(lines)


def main() -> int:
    """Write or compare the pages; gives the number of pages that differ when comparing."""
    stale = [path for path, page in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != page]
    if "--check" in sys.argv:
        print("\n".join(str(path) for path in stale) or "up to date")
        return len(stale)
    for path, page in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
