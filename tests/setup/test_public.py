from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint

import pytest

import voirdire
from voirdire import plugins
from voirdire.errors import UsageError
from voirdire.exchange.exporters.contract import Exporter
from voirdire.exchange.exporters.tasks import TaskExporter
from voirdire.exchange.importers.contract import Importer
from voirdire.version import VERSION

NAMES = [name for name in voirdire.__all__ if name != "__version__"]


def test_one_public_list() -> None:
    assert voirdire.__all__ == sorted(voirdire.__all__)
    assert set(NAMES) == set(voirdire._HOMES)
    assert set(voirdire.__all__) <= set(dir(voirdire))


@pytest.mark.parametrize("name", NAMES)
def test_public_name(name: str) -> None:
    found = getattr(voirdire, name)
    assert found is getattr(import_module(voirdire._HOMES[name]), name)
    assert found.__doc__


def test_unknown_name() -> None:
    with pytest.raises(AttributeError):
        voirdire.there_is_no_such_name  # noqa: B018


def test_version() -> None:
    assert voirdire.__version__ == VERSION


def test_import_is_light() -> None:
    """Under 0.3 CPU seconds, and nothing heavy is imported."""
    code = (
        "import sys, time; start = time.process_time(); import voirdire; cost = time.process_time() - start; "
        "heavy = {'polars', 'numpy', 'scipy', 'altair', 'typer', 'rich', 'jinja2'} & set(sys.modules); "
        "print(cost, sorted(heavy))"
    )
    costs = []
    for _ in range(3):
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        cost, heavy = printed.split(" ", 1)
        assert heavy.strip() == "[]"
        costs.append(float(cost))
    assert min(costs) < 0.3


def test_errors_speak_without_a_catalogue_call() -> None:
    assert "zz" in str(UsageError("errors.language_unknown", value="zz", known="en, zh"))


@pytest.mark.parametrize("group", sorted(plugins.GROUPS))
def test_built_ins_load(group: str) -> None:
    for name in plugins.available(group):
        found = plugins.load(group, name)
        assert callable(found) or isinstance(found, Importer | Exporter | TaskExporter)


def test_unknown_group_and_name() -> None:
    with pytest.raises(UsageError, match="no plugin group"):
        plugins.available("voirdire.nothing")
    with pytest.raises(UsageError, match="no plugin 'nothing'"):
        plugins.load(plugins.EXPORTERS, "nothing")


def test_a_package_adds_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("mine", "json:dumps", plugins.EXPORTERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [added] if group == plugins.EXPORTERS else [])
    assert plugins.load(plugins.EXPORTERS, "mine")([1]) == "[1]"


def test_a_broken_plugin_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("mine", "json:there_is_no_such_thing", plugins.EXPORTERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [broken])
    with pytest.raises(UsageError, match="cannot be loaded"):
        plugins.load(plugins.EXPORTERS, "mine")


def test_a_name_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    second = EntryPoint("html", "other:render", plugins.RENDERERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [second])
    with pytest.raises(UsageError, match="Two packages"):
        plugins.available(plugins.RENDERERS)
