from __future__ import annotations

import importlib
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import voirdire
from voirdire.analysis.policy import Policy
from voirdire.analysis.policy_rules import PLACES, RULES
from voirdire.cli.build import build_app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        yield importlib.import_module("generate")
    finally:
        sys.path.remove(str(ROOT / "docs"))


def commands() -> dict[str, Any]:
    def leaves(group: Any, prefix: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, command in group.commands.items():
            nested = hasattr(command, "commands")
            found |= leaves(command, f"{prefix} {name}") if nested else {f"{prefix} {name}": command}
        return found

    return leaves(build_app("en"), "voirdire")


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def test_reference_pages_are_up_to_date(generator: ModuleType) -> None:
    stale = [path.name for path, page in generator.pages().items() if path.read_text(encoding="utf-8") != page]
    assert stale == [], "run: python docs/generate.py"


def test_every_limit_and_place_of_a_policy_is_documented() -> None:
    page = (ROOT / "docs" / "howto" / "policy.md").read_text(encoding="utf-8")
    assert [name for name in (*RULES, *PLACES) if f"`{name}" not in page] == []


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name in voirdire.__all__ if not (getattr(voirdire, name).__doc__ or "").strip()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_exist(page: Path) -> None:
    known = commands()
    for block in blocks(page, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if not words or not words[0].endswith("voirdire"):
                continue
            name = next(name for name in known if words[1 : len(name.split())] == name.split()[1:])
            options = {opt for param in known[name].params for opt in param.opts}
            assert {word.split("=")[0] for word in words if word.startswith("--")} <= options | {"--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_examples_can_be_read(page: Path) -> None:
    for block in blocks(page, "toml"):
        table = tomllib.loads(block)
        if "require" in table:
            assert Policy.of(table).requirements
        elif "ratings" in table:
            options = {param.name for param in commands()["voirdire audit"].params}
            assert {key.replace("-", "_") for key in table} <= options


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_python_stand_in_fences(page: Path) -> None:
    """Without a fence a prompt is three quotations in a quotation."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert [line for line in text.splitlines() if line.startswith(">>>")] == []


def test_quick_start_is_two_complete_commands() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Quick start\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^```sh\n(.*?)^```", section, flags=re.S | re.M)
    assert len(found) == 2
    for block, pins in zip(found, ("run.txt", "dev.txt"), strict=True):
        assert block.startswith("python3 -m venv .uv")
        assert "git clone" not in block
        assert f"requirements/{pins}" in block
    assert found[0].rstrip().endswith("voirdire demo")
    assert "pytest" in found[1]


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_pins_have_hashes_and_name_no_host(name: str) -> None:
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if re.match(r"[a-z0-9]", line)]
    assert pins
    assert all("==" in line for line in pins)
    assert sum("--hash=sha256:" in line for line in lines) >= len(pins)
    assert not [line for line in lines if "://" in line or "index-url" in line or "find-links" in line]


def test_pins_cover_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["oracles"]]
    asked += [entry for entry in project["dependency-groups"]["dev"] if isinstance(entry, str)]
    pinned = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    names = [re.split(r"[<>=~! ]", entry, maxsplit=1)[0].lower() for entry in asked]
    assert [name for name in names if not re.search(rf"^{re.escape(name)}==", pinned, flags=re.M)] == []
