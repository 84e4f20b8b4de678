"""The page, the figures and the command of the specification curve."""

from __future__ import annotations

import json

import polars as pl
import pytest

from voirdire.app.simulate import simulate
from voirdire.app.speccurve import speccurve_to
from voirdire.cli.main import run
from voirdire.reporting.speccurve_figure import curve, level_name, overview

COMMAND = ["speccurve", "--draws", "20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("sim")
    simulate(made, items=36, judges=["=cmd()<b>=oriented_us", "level=constant:4"], seed=3)
    return made


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    return speccurve_to(tmp_path_factory.mktemp("out"), "zh", folder=folder, draws=20)


def test_what_is_written(written):
    names = {path.name for path in written.files}
    assert {"speccurve.html", "speccurve.md", "speccurve.csv", "summary.csv", "speccurve-1.svg"} <= names
    page = written.report.read_text("utf-8")
    assert "设定曲线" in page
    assert "<script" not in page
    assert "=cmd()&lt;b&gt;" in page
    rows = pl.read_csv(written.folder / "speccurve.csv")
    assert rows.height == written.curve.frame.height
    assert set(rows["judge"]) == {"'=cmd()<b>", "level"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_figures_hold_every_defined_value(written, lang):
    frame = written.curve.frame
    chart = overview(frame, lang, ("us", "cn")).to_dict(validate=False)
    points = [row for data in _data(chart) for row in data if "spread" in row]
    defined = frame.filter(pl.col("value").is_not_null())
    values = sorted(row["value"] for row in points if not row["main"])
    assert values == sorted(defined.filter(~pl.col("main"))["value"].to_list())
    one = curve(frame, lang, ("us", "cn"), "level", "tilt").to_dict(validate=False)
    assert max(len(data) for data in _data(one)) >= frame.filter(judge="level", statistic="tilt")["value"].count()


def _data(part):
    if isinstance(part, dict):
        values = part.get("data", {}).get("values") if isinstance(part.get("data"), dict) else None
        yield from ([values] if values else [])
        yield from (found for entry in part.values() for found in _data(entry))
    elif isinstance(part, list):
        yield from (found for entry in part for found in _data(entry))


def test_a_figure_of_nothing_is_none(written):
    assert overview(written.curve.frame, "en", ("us", "us")) is None
    assert curve(written.curve.frame, "en", ("us", "cn"), "level", "orientation.w") is None


def test_levels_in_words():
    assert level_name("subset", "culture=a%26b", "en") == "culture: a&b"
    assert level_name("min_gap", 0.5, "en") == "at least 0.5"
    assert level_name("min_gap", None, "en") == "does not apply"


def test_the_command(folder, tmp_path, capsys):
    assert run([*COMMAND, str(folder), "--out", str(tmp_path / "a"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["statistic"] for row in told["results"]} == {"tilt", "delta", "orientation.w"}
    assert run([*COMMAND, str(folder), "--out", str(tmp_path / "b"), "--lang", "zh"]) == 0
    assert "符号" in capsys.readouterr().out
