"""Whatever the code offers stands in the documentation; each check is shown to find what is taken out of a page."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from tests.setup.scan import modules

import voirdire
from voirdire import plugins
from voirdire.errors import VoirdireError
from voirdire.simulation.presets import paired_world
from voirdire.simulation.tables import simulate_tables
from voirdire.texts import catalogue

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
VARIABLE = re.compile(r"VOIRDIRE_[A-Z]+(?:_[A-Z]+)*")


@pytest.fixture(scope="module")
def generating() -> Iterator[Callable[[str], ModuleType]]:
    """A module of docs/generating by its name."""
    sys.path.insert(0, str(DOCS))
    try:
        yield lambda name: importlib.import_module(f"generating.{name}")
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("name", ["common", "declared_keys", "forge_to_site", "usual_values"])
def test_examples_of_the_machinery(name: str, generating: Callable[[str], ModuleType]) -> None:
    found = doctest.testmod(generating(name))
    assert found.attempted > 0
    assert found.failed == 0


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def lacking(page: str, names: Iterator[str] | list[str]) -> list[str]:
    """Names that do not stand in a page, each as it would be written there."""
    return [name for name in names if name not in page]


def sections(page: str, mark: str = "##") -> dict[str, str]:
    """Heading -> the text below it."""
    parts = re.split(rf"^{mark} (.+)$", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_and_option_is_documented(generating: Callable[[str], ModuleType]) -> None:
    from voirdire.cli.build import build_app

    common = generating("common")

    def missing(page: str) -> list[str]:
        told = {heading.split(" ", 1)[1]: text for heading, text in sections(page).items() if " " in heading}
        found = []
        for name, command in common.leaves(build_app("en")):
            whole = name.removeprefix("voirdire ")
            here = next((text for heading, text in told.items() if f"{heading} ".startswith(f"{whole} ")), "")
            for param in command.params:
                written = (f"`{param.opts[0]}", f"`{param.metavar or param.name.upper()}`")
                if not any(one in here for one in written) or common.plain(param.help) not in here:
                    found.append(f"{name} {param.opts[0]}")
        return found

    page = read("reference/commands.md")
    assert missing(page) == []
    assert "voirdire check --policy" in missing(page.replace("- `--policy FILE`", "- "))
    assert "voirdire price --prices" in missing(page.replace("\n## voirdire price", "\n## voirdire other"))


def test_every_statistic_and_reason_is_documented() -> None:
    known = [key for key in catalogue("en") if key.startswith(("statistics.", "undefined."))]
    wanted = [f"\n- `{key.removeprefix('undefined.')}`" for key in known if key.startswith("undefined.")]
    wanted += [f"\n### {key[11:-5]}\n" for key in known if key.startswith("statistics.") and key.endswith(".name")]
    page = read("reference/estimates.md")
    assert lacking(page, wanted) == []
    assert lacking(page.replace("\n### tilt\n", "\n"), wanted) == ["\n### tilt\n"]


def kinds_of_errors() -> set[str]:
    """Every class of errors by its name, whatever was imported before."""
    for module in pkgutil.walk_packages(voirdire.__path__, "voirdire."):
        if not module.name.endswith(("__main__", "pytest_plugin")):
            importlib.import_module(module.name)

    def below(kind: type) -> Iterator[str]:
        yield kind.__name__
        for inner in kind.__subclasses__():
            yield from below(inner)

    return set(below(VoirdireError))


def raised_keys() -> set[str]:
    """Keys of all errors that are made with their key written out."""
    kinds, found = kinds_of_errors(), set()
    for _, tree in modules():
        for node in ast.walk(tree):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in kinds and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    return found & set(catalogue("en"))


def test_every_error_is_documented() -> None:
    page, keys = read("reference/errors.md"), sorted(raised_keys())
    assert len(keys) > 500
    assert lacking(page, [f"\n- `{key}`: " for key in keys]) == []
    assert lacking(page.replace("`input.file_missing`", ""), ["\n- `input.file_missing`: "]) != []


def test_every_column_is_documented(generating: Callable[[str], ModuleType]) -> None:
    tables, declared = generating("tables"), generating("declared_tables").declared_tables()
    grouped = [name for group in tables._texts()["group"] for name in group["tables"]]
    assert sorted(grouped) == sorted(declared) == sorted(tables.described())
    told = {name: set(one["columns"]) for name, one in tables.described().items()}
    assert {name: set(columns) ^ told[name] for name, columns in declared.items() if set(columns) != told[name]} == {}
    here = sections(read("reference/tables.md"), "###")
    written = {name: here[tables.described()[name]["title"]] for name in declared}
    wanted = [(name, f"| `{column}` |") for name, columns in declared.items() for column in columns]
    assert [one for one in wanted if one[1] not in written[one[0]]] == []
    undone = {**written, "estimates": written["estimates"].replace("| `low` |", "")}
    assert [one for one in wanted if one[1] not in undone[one[0]]] == [("estimates", "| `low` |")]


def test_every_column_that_is_recognised_is_documented(generating: Callable[[str], ModuleType]) -> None:
    from voirdire.corpus.columns import ITEM_COLUMNS, NAMES

    page, names = read("reference/tables.md"), generating("declared_tables").other_names
    assert lacking(page, [f"| `{column}` |" for column in (*NAMES, *ITEM_COLUMNS)]) == []
    assert lacking(page, [names(column) for column in NAMES]) == []
    assert lacking(page, ["| `a_new_column` |"]) != []


def test_every_column_of_a_simulation_is_documented(generating: Callable[[str], ModuleType]) -> None:
    described = generating("tables").described()
    simulated = simulate_tables(paired_world(items=8), seed=0)

    def strange(table: str, frame: pl.DataFrame) -> list[str]:
        plain = {column.split(".")[0] for column in frame.columns}
        return sorted(plain - {column.split(".")[0] for column in described[table]["columns"]})

    for table in ("items", "questions", "raters", "ratings", "judgments"):
        assert strange(table, getattr(simulated, table)) == []
    assert strange("ratings", simulated.ratings.with_columns(mood=pl.lit(1))) == ["mood"]


def test_every_key_of_a_configuration_is_documented(generating: Callable[[str], ModuleType]) -> None:
    declared = generating("declared_keys").declared_keys()
    described = generating("configuration").described()
    told = {file["id"]: {name: set(keys) for name, keys in file["keys"].items()} for file in described["file"]}
    asked = {file: {name: set(keys) for name, keys in tables.items()} for file, tables in declared.items()}
    assert asked == told
    assert all(len(keys) == len(set(keys)) for tables in declared.values() for keys in tables.values())
    here = sections(read("reference/configuration.md"))

    def missing(pages: Mapping[str, str]) -> list[str]:
        titles = {file["id"]: file["title"] for file in described["file"]}
        every = ((file, key) for file, tables in declared.items() for keys in tables.values() for key in keys)
        return [key for file, key in every if f"| `{key}` |" not in pages[titles[file]] and key != "any other"]

    assert missing(here) == []
    undone = {**here, "build.toml": here["build.toml"].replace("| `max_ratio` |", "")}
    assert missing(undone) == ["max_ratio"]


def test_a_new_key_is_noticed(generating: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """The readers are asked for their keys: one more that a reader asks for has to be told of."""
    from voirdire.construction import build_file

    def balance(entries: Any) -> build_file.Balance:
        entries.has("a_new_key")
        return build_file.Balance()

    monkeypatch.setattr(build_file, "_balance", balance)
    assert generating("declared_keys").declared_keys()["build"]["[balance]"] == ("a_new_key",)


def test_every_option_of_a_config_file_is_documented(generating: Callable[[str], ModuleType]) -> None:
    page = sections(read("reference/configuration.md"))["Options in a file: --config"]
    wanted = [f"| `{name.replace('_', '-')}` |" for name in generating("declared_keys").options_of_config()]
    assert len(wanted) > 50
    assert lacking(page, wanted) == []
    assert lacking(page.replace("| `seed` |", ""), wanted) == ["| `seed` |"]


def test_every_environment_variable_is_documented(generating: Callable[[str], ModuleType]) -> None:
    told = generating("declared_keys")
    page = sections(read("reference/configuration.md"))["Environment variables"]
    named = {
        name for path in (ROOT / "src").rglob("*.*") if path.suffix in (".py", ".toml") for name in variables(path)
    }
    keys = [key for both in told.provider_variables().values() for names in both for key in names]
    assert lacking(page, [f"`{name}`" for name in sorted(named | set(keys))]) == []
    assert lacking(page, ["`VOIRDIRE_NEW`"]) != []


def test_every_variable_of_the_tests_is_documented() -> None:
    named = {name for path in (ROOT / "tests").rglob("*.py") for name in variables(path)}
    page = read("reference/configuration.md") + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert lacking(page, sorted(named - {"VOIRDIRE_NEW"})) == []


def variables(path: Path) -> list[str]:
    return VARIABLE.findall(path.read_text(encoding="utf-8"))


def test_every_plugin_group_and_what_is_built_in_is_documented() -> None:
    here = sections(read("reference/extensions.md"))

    def missing(pages: Mapping[str, str]) -> list[str]:
        every = ((group, name) for group in plugins.GROUPS for name in plugins.BUILT_IN.get(group, {}))
        return [name for group, name in every if f"`{name}`" not in pages.get(f"`{group}`", pages.get(group, ""))]

    assert set(here) == set(plugins.GROUPS)
    assert missing(here) == []
    assert missing({**here, plugins.PROVIDERS: ""}) != []


def test_every_format_has_a_how_to() -> None:
    taken = read("howto/import/index.md")
    given = "\n".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "howto").rglob("*.md")))
    importers = [f"| `{name}` |" for name in plugins.BUILT_IN[plugins.IMPORTERS]]
    exporters = [name for name in plugins.BUILT_IN[plugins.EXPORTERS] if f"voirdire export {name} " not in given]
    assert lacking(taken, importers) == []
    assert lacking(read("howto/release.md"), [f"| `{name}` |" for name in exporters]) == []
    assert len(exporters) < len(plugins.BUILT_IN[plugins.EXPORTERS])
    assert lacking(taken.replace("| `prism` |", ""), importers) == ["| `prism` |"]
