"""What every folder of public ratings needs to be audited, and what an audit of it leaves behind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.cli.main import run

FAST = ("--draws", "40", "--permutations", "40")
FAST_AUDIT = ("--decomposition-draws", "20")


@dataclass(frozen=True)
class Case:
    """A command on one folder; ``{folder}`` in an option is the folder itself."""

    name: str
    folder: str
    command: str = "audit"
    options: tuple[str, ...] = ()

    def arguments(self, data: Path) -> list[str]:
        folder = str(data / self.folder)
        return [self.command, folder, *(option.format(folder=folder) for option in self.options)]


UNSURE = ("--missing-label", "unsure")
COPIED = ("--exclude-items", "pools_copied == 'yes'")
CASES = {
    case.name: case
    for case in (
        Case("crehate", "crehate", options=(*UNSURE, "--duplicates", "first")),
        Case("seegull", "seegull", "validate", (*UNSURE, "--anonymous-raters", *COPIED)),
        Case("seegull with copies", "seegull", "validate", (*UNSURE, "--anonymous-raters")),
        Case("seegull three labels", "seegull", "validate", ("--anonymous-raters", *COPIED)),
        Case("seegull bare", "seegull", "validate"),
        Case("seegull_multi", "seegull_multi", "validate", (*UNSURE, "--anonymous-raters")),
        Case("dices350", "dices350", "validate"),
        Case("dices350 two labels", "dices350", "validate", ("--missing-label", "Unsure")),
        Case("multipico", "multipico", "validate"),
        Case("trust_ama", "trust_ama", "validate", ("--questions", "{folder}/questions.csv")),
        Case("hanna", "hanna", options=("--scale", "1:5")),
        Case("mena_values", "mena_values", options=("--out-of-scale", "exclude", "--shares", "{folder}/pool_dist.csv")),
        Case("psa001", "psa001", "validate", ("--level", "ordinal", "--scale", "1:9")),
        Case("viescore", "viescore", options=("--judge-scale", "0:10")),
        Case("viescore undeclared", "viescore"),
        Case("cems_pairs", "cems_pairs", "validate"),
        Case("cems_pairs votes", "cems_pairs", "validate", ("--level", "pairwise")),
    )
}


@dataclass(frozen=True)
class Audit:
    """The files of one audit."""

    out: Path
    estimates: pl.DataFrame
    profile: dict[str, Any]

    def intake(self, table: str) -> dict[str, Any]:
        return next(entry for entry in self.profile["meta"]["intake"] if entry["table"] == table)

    def rows(self, statistic: str, **place: str) -> pl.DataFrame:
        found = self.estimates.filter(pl.col("statistic") == statistic)
        for column, value in place.items():
            found = found.filter(pl.col(column) == value)
        return found

    def row(self, statistic: str, **place: str) -> dict[str, Any]:
        return self.rows(statistic, **{"slice": "all", "params": "", **place}).row(0, named=True)


def audit(case: Case, data: Path, out: Path) -> Audit:
    """Run the command of a case and read what it wrote."""
    command = case.arguments(data)
    fast = (*FAST, *FAST_AUDIT) if command[0] == "audit" else FAST
    assert run([*command, "--out", str(out), *fast]) == 0
    texts = ("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice", "excluded")
    estimates = pl.read_csv(out / "estimates.csv", infer_schema_length=None)
    estimates = estimates.with_columns(pl.col(texts).cast(pl.String).fill_null(""))
    return Audit(out, estimates, json.loads((out / "profile.json").read_text(), parse_constant=_no_constant))


def _no_constant(name: str) -> None:
    raise AssertionError(name)
