"""Folders that need an option are refused without it, and the refusal says which row it is and what to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from voirdire.cli.main import run

REFUSED = {
    ("audit", "crehate"): ("ratings.csv, row 2, column 'rating': 'unsure'", "'hate'", "--missing-label unsure"),
    ("audit", "crehate", "--missing-label", "unsure"): (
        "ratings.csv, row 6023, column 'rater_id': 'r0305'",
        "'SBIC-224'",
        "row 6022",
        "--duplicates first",
    ),
    ("validate", "seegull_multi"): (
        "ratings.csv.gz, row 313, column 'rating': 'unsure'",
        "'offensiveness'",
        "--missing-label unsure",
    ),
    ("audit", "mena_values"): (
        "ratings.csv, row 3243, column 'rating': the mean '0.67'",
        "1 - 5",
        "28 means in all",
        "--exclude-items",
        "--out-of-scale exclude",
    ),
    ("validate", "trust_ama", "--pair", "US,GERMANY"): ("GERMANY", "DE"),
    ("audit", "multipico", "--judgments", "nowhere.csv"): ("nowhere.csv",),
}


@pytest.mark.parametrize("given", REFUSED, ids=" ".join)
def test_a_refusal_names_what_is_missing(
    given: tuple[str, ...], shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, folder, *options = given
    assert run([command, str(shared_data / folder), *options, "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    assert said.startswith("Error: ")
    assert "Traceback" not in said
    flat = " ".join(said.split())
    for words in REFUSED[given]:
        assert words in flat
    assert not (tmp_path / "out").exists()
