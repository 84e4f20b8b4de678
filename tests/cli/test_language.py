from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from voirdire.cli.build import build_app
from voirdire.cli.language import decide
from voirdire.cli.main import run
from voirdire.errors import UsageError
from voirdire.texts import catalogue


@pytest.mark.parametrize(
    ("args", "environ", "expected"),
    [
        ([], {}, "en"),
        (["audit", "--lang", "zh"], {}, "zh"),
        (["--lang=zh", "audit"], {"VOIRDIRE_LANG": "en"}, "zh"),
        (["--lang", "en"], {"LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"VOIRDIRE_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, "zh"),
        ([], {"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ([], {"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
        ([], {"LANG": "de_DE.UTF-8"}, "en"),
        (["--", "--lang", "zh"], {}, "en"),
        (["audit", "--lang"], {}, "en"),
    ],
)
def test_decide(args: list[str], environ: dict[str, str], expected: str) -> None:
    assert decide(args, environ) == expected


@pytest.mark.parametrize(("args", "environ"), [(["--lang", "fr"], {}), ([], {"VOIRDIRE_LANG": "fr"})])
def test_unknown_language(args: list[str], environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="no language 'fr'"):
        decide(args, environ)


def test_unknown_language_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--lang", "fr"]) == 3
    assert "no language 'fr'" in capsys.readouterr().err


COMMANDS = ["", "demo", "audit", "validate", "check", "signature", "signature explain", "signature diff", "simulate"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_in_both_languages(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    english = capsys.readouterr().out
    assert run([*command.split(), "--help", "--lang", "zh"]) == 0
    chinese = capsys.readouterr().out
    assert "Usage:" in english
    assert "用法：" in chinese
    assert "Usage" not in chinese
    assert not re.search(r"[\u4e00-\u9fff]", english)
    assert not re.search(r"cli\.(option|panel|frame)", english + chinese)
    if command and command != "signature":
        assert "Example: voirdire" in re.sub(r"\s+", " ", english)
        assert "--json" in english
        assert "--lang" in english


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_stands_in_brackets_stands_in_the_help(
    lang: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brackets are no markup: [translation] of build.toml, [pool], [question]."""
    monkeypatch.setenv("COLUMNS", "400")

    def visit(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], set[str]]]:
        said = " ".join(str(one.help) for one in (command, *command.params) if one.help)
        if found := set(re.findall(r"\[[^\]]+\]+", said)):
            yield path, found
        for name, child in getattr(command, "commands", {}).items():
            yield from visit(child, (*path, name))

    seen = dict(visit(build_app(lang), ()))
    assert {"[translation]", "[pool]", "[question]"} <= set().union(*seen.values())
    for path, names in seen.items():
        run([*path, "--help", "--lang", lang])
        shown = " ".join(capsys.readouterr().out.split())
        assert {name for name in names if name not in shown} == set(), path


def test_languages_do_not_leak(capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "--help", "--lang", "zh"])
    run(["audit", "--help"])
    assert "选项" not in capsys.readouterr().out.split("Usage:")[1]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_help_is_a_sentence_of_the_catalogue(lang: str) -> None:
    sentences = set(catalogue(lang).values())

    def visit(command: object, path: str) -> None:
        assert command.help in sentences, path  # type: ignore[attr-defined]
        for param in command.params:  # type: ignore[attr-defined]
            assert param.help in sentences, f"{path} {param.name}"
        for name, child in getattr(command, "commands", {}).items():
            visit(child, f"{path} {name}")

    visit(build_app(lang), "voirdire")
