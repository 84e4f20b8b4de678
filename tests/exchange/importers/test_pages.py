"""The pages of docs/howto/import: every command in a ``console`` block is run, and prints what the page says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from voirdire import plugins
from voirdire.cli.main import run
from voirdire.exchange.importers.recognise import importer
from voirdire.texts import text

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "howto" / "import"
DATA = Path(__file__).parent / "data"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "index.md")
RELEASES = {"csv", "parquet", "hf", "croissant"}
FORMATS = sorted(set(plugins.BUILT_IN[plugins.IMPORTERS]) - RELEASES)


def steps(page: Path) -> list[tuple[str, str]]:
    """Every command of a page, and what it prints. A command may go on behind a backslash at the end of a line."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M):
        for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def shown(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints: ``voirdire ...``, ``cat FILE`` or ``head -n N FILE``."""
    words = shlex.split(command)
    if words[0] == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    if words[:2] == ["head", "-n"]:
        return "".join(Path(words[3]).read_text(encoding="utf-8").splitlines(keepends=True)[: int(words[2])])
    assert words[0] == "voirdire", command
    run(words[1:])
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DATA / page.stem, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    found = steps(page)
    assert any(command.startswith("voirdire import ") for command, _ in found)
    for command, printed in found:
        assert shown(command, capsys) == printed, command


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_page_that_names_what_it_knows(name: str) -> None:
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    known = importer(name)
    named = [f"`{option} {entry}" for option, entries in (
        ("--set", known.settings), ("--map", known.maps), ("--keep", known.keeps)
    ) for entry in entries]  # fmt: skip
    assert [entry for entry in named if entry not in page] == []


@pytest.mark.parametrize("name", [*FORMATS, *sorted(RELEASES)])
def test_the_index_lists_every_format(name: str) -> None:
    known = importer(name)
    assert known.name == name
    line = next(
        line
        for line in (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `{name}` |")
    )
    assert text(known.title).casefold() in line.casefold()
    assert f"({name}.md)" in line or name in RELEASES


@pytest.mark.parametrize("name", [*FORMATS, *sorted(RELEASES)])
def test_every_sentence_of_a_format_is_in_the_catalogue(name: str) -> None:
    known = importer(name)
    for key in (known.title, *known.settings.values(), *known.maps.values(), *known.keeps.values()):
        assert text(key, "en") != text(key, "zh")
