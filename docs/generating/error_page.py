"""``reference/errors.md``: the tree of errors, and every sentence that is raised."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from generating.common import SOURCE, plain
from voirdire import errors
from voirdire.texts import catalogue

TREE = ("InputError", "UsageError", "SignatureError", "PolicyError", "RunStopped", "Unavailable")
REFUSALS = (
    "Refused", "NotYours", "Closed", "Full", "BadValue", "KeyReused", "Deleted", "NotFinished", "Forbidden", "NotThere",
)  # fmt: skip
RAISING = (
    {name: (name, "") for name in TREE}
    | {"refuse": ("InputError", "input."), "Torn": ("InputError", "")}
    | dict.fromkeys(("NotFoundError", "WrongStateError", *REFUSALS), ("UsageError", ""))
    | dict.fromkeys(("Broken", "NotHere", "_error", "error"), ("InputError", "material."))
)


def page() -> str:
    """The page of errors: the tree, and every sentence that is raised."""
    tree = inspect.getdoc(errors) or ""
    lines = ["# Errors", "", "```", tree.split("\n\n")[1], "```", ""]
    lines += ["An error has a `key`, its `fields` and `message(lang)`. `exit_code` is 3; 4 for RunStopped.", ""]
    known, every = catalogue("en"), set(_raised())
    for name in TREE:
        raised = sorted(key for kind, key in every if kind == name and key in known)
        lines += [f"## {name}", "", *(f"- `{key}`: {plain(' '.join(known[key].split()))}" for key in raised), ""]
    return "\n".join(lines)


def _raised() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            kind = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if kind in RAISING and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                tree, prefix = RAISING[kind]
                prefix = "study." if prefix == "material." and path.parent.name == "annotation" else prefix
                yield tree, f"{prefix}{node.args[0].value}"
