"""``reference/extensions.md``: the groups of plugins, and what is built in."""

from __future__ import annotations

import inspect

from generating.common import plain
from voirdire import plugins
from voirdire.texts import text


def page() -> str:
    """The page of plugin groups."""
    told = (inspect.getdoc(plugins) or "").replace("``", "`").replace("::\n", ":\n")
    lines = ["# Plugin groups", "", told, "", "How to write one: [extend it](../howto/extend.md).", ""]
    for group, key in plugins.GROUPS.items():
        built_in = ", ".join(f"`{name}`" for name in plugins.BUILT_IN.get(group, {})) or "nothing"
        lines += [f"## {group}", "", f"{plain(text(key))} Built in: {built_in}.", ""]
    return "\n".join(lines)
