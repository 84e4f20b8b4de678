"""The commands that read files, from end to end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.conftest import FAST

import voirdire
from voirdire.cli.main import run

WRITTEN = {"report.html", "report.md", "estimates.csv", "profile.json", "tables", "figures", "compared"}


@pytest.fixture(scope="module")
def audited(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of the simulated corpus, written by the command line."""
    out = tmp_path_factory.mktemp("audited") / "audit"
    assert run(["audit", str(simulated), "--pair", "us,cn", "--out", str(out), *FAST]) == 0
    return out


def test_audit_writes_what_it_names(audited: Path) -> None:
    assert {path.name for path in audited.iterdir()} == WRITTEN
    estimates = pl.read_csv(audited / "estimates.csv", infer_schema_length=None)
    given = estimates.select(pl.sum_horizontal(pl.col("value", "label", "undefined").is_not_null()))
    assert given.to_series().unique().to_list() == [1]
    printed = estimates["signature"].to_list()
    assert [str(voirdire.Signature.parse(text)) for text in printed] == printed


def test_python_and_the_command_line_give_the_same(audited: Path, simulated: Path) -> None:
    loaded = voirdire.Profile.load(audited)
    made = voirdire.audit(
        ratings=simulated / "ratings.csv",
        judgments=simulated / "judgments.csv",
        items=simulated / "items.csv",
        raters=simulated / "raters.csv",
        questions=simulated / "questions.csv",
        judges=simulated / "judges.csv",
        conditions=simulated / "conditions.csv",
        pairs=("us", "cn"),
        draws=60,
        permutations=40,
    )
    numbers = [name for name in made.estimates.columns if name != "signature"]
    assert made.estimates.select(numbers).equals(loaded.estimates.select(numbers))
    page = made.to_html(lang="zh")
    assert page.lstrip().lower().startswith("<!doctype html")
    assert re.search(r"[\u4e00-\u9fff]", made._repr_html_() + page)


def test_rows_in_are_rows_used_and_left_out(audited: Path) -> None:
    for intake in voirdire.Profile.load(audited).meta["intake"]:
        assert intake["rows_in"] == intake["rows_used"] + sum(intake["excluded"].values())


def test_the_summary(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(simulated), "--out", str(tmp_path / "out"), *FAST]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("ratings (ratings.csv): ")
    assert str(tmp_path / "out" / "report.html") in captured.out.replace("\n", "")
    assert captured.err == ""


def test_validate_knows_no_judges(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(simulated), "--out", str(tmp_path), "--json", "--lang", "zh", *FAST]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == "validate"
    assert {Path(file).name for file in document["files"]} >= {"report.html", "profile.json"}
    assert all(Path(file).exists() for file in document["files"])
    assert {row["statistic"] for row in document["results"]} >= {"gate"}
    assert {row["judge"] for row in document["results"]} == {""}
    assert re.search(r"[\u4e00-\u9fff]", (tmp_path / "report.html").read_text(encoding="utf-8"))
    with pytest.raises(voirdire.UsageError, match="does not take judgments"):
        voirdire.validate(simulated, judgments=simulated / "judgments.csv")


def test_a_policy_on_a_real_profile(audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = voirdire.Profile.load(audited)
    rows = profile.estimates.filter(statistic="mae", condition="*", slice="all", params="")
    found = rows.filter(pl.col("high").is_not_null(), judge=profile.meta["judges"][0])
    judge, pool, high = found.select("judge", "pool", "high").row(0)

    def check(limit: float) -> Any:
        return voirdire.check(
            profile, voirdire.Policy.of({"require": [{"max_mae": limit, "judge": judge, "pool": pool}]})
        )

    assert check(high + 0.01).outcome == "pass"
    assert check(0).outcome == "fail"
    file = tmp_path / "policy.toml"
    file.write_text(
        "[[require]]\ngate = true\nmax_mae = 9\nmax_percent_of_human = 9999\nmax_abs_tilt = 2\nmax_abs_tilt_ratio = 9\n"
        "max_abs_delta = 9\nmax_abs_delta_sq = 99\nmax_missing_share = 1\nbetter_than_constant = true\n",
        encoding="utf-8",
    )
    assert run(["check", str(audited), "--policy", str(file), "--json"]) in (0, 1, 2)
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert {check["rule"] for check in checks if check["reason"] in ("absent", "no_place")} == set()


def test_the_documented_policy_can_be_applied(audited: Path, root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "howto" / "policy.md").read_text(encoding="utf-8")
    file = tmp_path / "policy.toml"
    file.write_text(re.findall(r"^```toml\n(.*?)^```", page, flags=re.S | re.M)[0], encoding="utf-8")
    result = voirdire.check(audited, file)
    assert {check.rule for check in result.checks} >= {"gate", "max_mae", "max_percent_of_human"}
    assert {check.rule for check in result.checks if check.reason in ("absent", "no_place")} == set()


def test_options_from_a_file(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "options.toml"
    file.write_text(f'folder = "{simulated}"\ndraws = 60\npermutations = 40\nout = "there"\n', encoding="utf-8")
    assert run(["validate", "--config", str(file), "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["report"]) == tmp_path / "there" / "report.html"


def test_out_must_be_a_folder(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(["validate", str(simulated), "--out", str(tmp_path / "file")]) == 3
    assert "is a file" in capsys.readouterr().err


def test_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "--out", str(tmp_path / "a"), "--items", "24", "--judge", "mine=compressed"]) == 0
    assert str(tmp_path / "a") in capsys.readouterr().out
    assert pl.read_csv(tmp_path / "a" / "judges.csv")["judge"].to_list() == ["mine"]
    assert run(["simulate", "--out", str(tmp_path / "b"), "--items", "24", "--judge", "mine=compressed", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert Path(files["ratings"]).read_bytes() == (tmp_path / "a" / "ratings.csv").read_bytes()
