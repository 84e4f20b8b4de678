"""The items table that raters are shown: images, splits, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.construction.building import make, pairs
from tests.construction.freeze_world import author, photographs, screened

from voirdire.annotation.material import check_pictures, read_shown
from voirdire.app.build_items import build_items
from voirdire.cli.main import run
from voirdire.construction.authoring import move
from voirdire.construction.screening_decisions import decide
from voirdire.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = make(tmp_path / "corpus", pairs("tea", "rice", "soup"))
    photographs(place, [f"{name}-{culture}" for name in ("tea", "rice") for culture in ("us", "cn")])
    return place


def test_what_raters_are_shown(folder: Path) -> None:
    made = build_items(folder, regime="photographs")
    shown = read_shown(made.file)
    check_pictures(shown)
    assert list(shown.items) == ["tea-us", "tea-cn", "rice-us", "rice-cn"]
    assert (made.items, made.rejected, made.lacking) == (4, 0, ("soup-us", "soup-cn"))
    assert shown.pairs == {"tea-us": "tea", "tea-cn": "tea", "rice-us": "rice", "rice-cn": "rice"}
    assert (shown.cultures, shown.languages) == (("us", "cn"), ("en", "zh"))
    assert shown.image("tea-us") == (folder / "images" / "photographs" / "tea-us.png").resolve()


def test_rejected_and_dropped_concepts_keep_their_rows(folder: Path) -> None:
    author(folder)
    move(folder, "reject", "tea", "bo", reason="uncontested", note="Both pools liked both.")
    screened(folder, ("rice", "soup"), "drop")
    decide(folder, "rice", "drop", "ana")
    made = build_items(folder, regime="photographs")
    table = pl.read_csv(made.file)
    assert table["split"].to_list() == ["rejected"] * 4
    assert (made.rejected, made.lacking) == (4, ("soup-us", "soup-cn"))


def test_no_image_at_all_and_no_name_of_a_regime(folder: Path) -> None:
    with pytest.raises(UsageError) as error:
        build_items(folder)
    assert error.value.key == "cli_build.items_none"
    with pytest.raises(UsageError):
        build_items(folder, regime="../photographs")
    assert not (folder / "items.csv").exists()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command(folder: Path, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["build", "items", str(folder), "--regime", "photographs", "--lang", lang]
    assert run(command) == 0
    assert "soup-us" in capsys.readouterr().out
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["items"], told["lacking"]) == (4, ["soup-us", "soup-cn"])
