"""The registry of extension points: what voirdire brings itself and what installed packages add.

A package adds to a group by an entry point in its ``pyproject.toml``::

    [project.entry-points."voirdire.importers"]
    mytool = "my_package.mytool:IMPORTER"

Built-ins stand in the same registry, as entry points of voirdire's own, and load by the same path. Nothing is
imported before it is asked for, so a module of a lower layer may call what a higher layer registered.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from voirdire.errors import UsageError

PROVIDERS = "voirdire.providers"
STATISTICS = "voirdire.statistics"
IMPORTERS = "voirdire.importers"
EXPORTERS = "voirdire.exporters"
RENDERERS = "voirdire.renderers"

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        PROVIDERS: "plugins.providers",
        STATISTICS: "plugins.statistics",
        IMPORTERS: "plugins.importers",
        EXPORTERS: "plugins.exporters",
        RENDERERS: "plugins.renderers",
    }
)
"""Every group and the catalogue key of the sentence that says what belongs in it."""

_IMPORTERS = "voirdire.exchange.importers"
_PUBLISHED = ("lewidi", "votes", "mtbench", "judgebench", "alttest", "prism", "dices")
_HTTP = "voirdire.judging.providers.http:make"

BUILT_IN: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        PROVIDERS: {
            **dict.fromkeys(("openai", "anthropic", "google", "zai", "moonshot"), _HTTP),
            **dict.fromkeys(("openrouter", "dashscope", "compatible"), _HTTP),
            "embedded": "voirdire.judging.providers.embedded:make",
            "replay": "voirdire.judging.providers.replay:make",
            "control": "voirdire.judging.providers.control:make",
            "python": "voirdire.judging.providers.calling:make",
        },
        IMPORTERS: {
            "csv": f"{_IMPORTERS}.releases:CSV",
            "parquet": f"{_IMPORTERS}.releases:PARQUET",
            "hf": f"{_IMPORTERS}.releases:HF",
            "croissant": f"{_IMPORTERS}.releases:CROISSANT",
            "datasets": f"{_IMPORTERS}.datasets_folder:IMPORTER",
            "crowdkit": f"{_IMPORTERS}.crowdkit:IMPORTER",
            "wide": f"{_IMPORTERS}.wide:IMPORTER",
            **{name: f"{_IMPORTERS}.{name}:IMPORTER" for name in _PUBLISHED},
            "labelstudio": f"{_IMPORTERS}.labelstudio:IMPORTER",
            "argilla": f"{_IMPORTERS}.argilla:IMPORTER",
            "inspect": f"{_IMPORTERS}.inspect_logs:IMPORTER",
            "lmms-eval": f"{_IMPORTERS}.lmms_eval:IMPORTER",
            "promptfoo": f"{_IMPORTERS}.promptfoo:IMPORTER",
            "potato": f"{_IMPORTERS}.potato:IMPORTER",
            "qualtrics": f"{_IMPORTERS}.qualtrics:IMPORTER",
            "openai-batch": f"{_IMPORTERS}.openai_batch:IMPORTER",
            "langfuse": f"{_IMPORTERS}.langfuse:IMPORTER",
            "langsmith": f"{_IMPORTERS}.langsmith:IMPORTER",
            "mlflow": f"{_IMPORTERS}.mlflow_scores:IMPORTER",
            "pyrit": f"{_IMPORTERS}.pyrit:IMPORTER",
        },
        EXPORTERS: {
            "csv": "voirdire.exchange.tabular:write_csv",
            "parquet": "voirdire.exchange.tabular:write_parquet",
            "hf": "voirdire.exchange.hf:write_hf",
            "croissant": "voirdire.exchange.croissant:write_croissant",
            "inspect": "voirdire.exchange.exporters.inspect_task:EXPORTER",
            "dashboard": "voirdire.exchange.exporters.dashboard:EXPORTER",
            "model-card": "voirdire.exchange.exporters.model_card:EXPORTER",
            "labelstudio": "voirdire.exchange.exporters.labelstudio_tasks:EXPORTER",
            "potato": "voirdire.exchange.exporters.potato_tasks:EXPORTER",
        },
        RENDERERS: {
            "html": "voirdire.reporting.render:render_html",
            "notebook": "voirdire.reporting.terminal:notebook",
        },
    }
)
"""What voirdire itself registers: group -> name -> ``module:attribute``."""


def available(group: str) -> dict[str, EntryPoint]:
    """Every plugin of a group by name, built-ins first, nothing imported.

    Raises UsageError for an unknown group and for a name that two packages claim.

    >>> "html" in available("voirdire.renderers")
    True
    """
    if group not in GROUPS:
        raise UsageError("plugins.group_unknown", group=group, known=", ".join(GROUPS))
    found = {name: EntryPoint(name, target, group) for name, target in BUILT_IN.get(group, {}).items()}
    for point in entry_points(group=group):
        known = found.get(point.name)
        if known is not None and known.value != point.value:
            raise UsageError("plugins.name_twice", group=group, name=point.name, first=known.value, second=point.value)
        found[point.name] = point
    return found


def load(group: str, name: str) -> Any:
    """The object that a plugin names, imported now.

    Raises UsageError when the group has no such plugin, or when the plugin cannot be imported.
    """
    found = available(group)
    if name not in found:
        raise UsageError("plugins.name_unknown", group=group, name=name, known=", ".join(sorted(found)) or "-")
    try:
        return found[name].load()
    except (ImportError, AttributeError) as error:
        raise UsageError("plugins.broken", group=group, name=name, target=found[name].value, why=str(error)) from error
