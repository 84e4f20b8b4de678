"""From the command line or a file of options to the options of Python."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
import typer

from voirdire.analysis.options import AuditOptions
from voirdire.app.inputs import Inputs, find_tables, option_names, read_inputs
from voirdire.cli.build import build_app
from voirdire.cli.config import REPEATED, SHOWN, collect, read_config
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.errors import InputError, UsageError

RATINGS = pl.DataFrame(
    {
        "item_id": ["a", "a", "b", "b"],
        "rater_id": ["u", "v", "u", "v"],
        "pool": ["us", "cn"] * 2,
        "rating": [1, 5, 2, 4],
    }
)
JUDGMENTS = pl.DataFrame({"item_id": ["a", "b"], "judge": "m", "rating": [3, 4]})
NO_OPTION = {"name", "simulated", "frozen"}


def test_every_option_of_python_is_on_the_command_line() -> None:
    """By its own name, or by the one that REPEATED and collect give it."""
    renamed = {**REPEATED, "map": "mapping", "pair": "pairs", "factor_role": "factor_roles", "persona": "personas"}
    renamed |= {"no_compared": "compared"}
    params = {renamed.get(param.name, param.name) for param in build_app("en").commands["audit"].params}
    assert set(option_names()) - NO_OPTION - {"low", "high"} <= params
    assert params - set(SHOWN) - {"scale", "help"} <= set(option_names())


def test_collect() -> None:
    given = {
        "question_columns": ["q1,q2", "q3"],
        "pool": ["us: country == 'US, or so'"],
        "map": ["rater_id=worker=2"],
        "pair": ["us, cn", "us,uk"],
        "scale": "-1:1",
        "slice": ["length"],
        "seed": 0,
        "draws": None,
        "all_pairs": False,
        "anonymous_raters": True,
        "no_compared": True,
        "out": Path("x"),
        "json": True,
    }
    assert collect(given) == {
        "question_columns": ("q1", "q2", "q3"),
        "pools": ("us: country == 'US, or so'",),
        "mapping": {"rater_id": "worker=2"},
        "pairs": (("us", "cn"), ("us", "uk")),
        "low": -1.0,
        "high": 1.0,
        "compared": False,
        "slices": ("length",),
        "seed": 0,
        "anonymous_raters": True,
    }


def test_config_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "audit.toml"
    file.write_text(
        'ratings = "r.csv"\nquestion-columns = ["q1", "q2"]\n'
        'pair = [["us", "cn"]]\nseed = 7\nmap = {rater_id = "who"}\n',
        encoding="utf-8",
    )
    read = read_config(file, ["ratings", "question_columns", "pair", "seed", "map"])
    assert read == {
        "ratings": str(tmp_path / "r.csv"),
        "question_columns": ["q1", "q2"],
        "pair": ["us,cn"],
        "seed": 7,
        "map": ["rater_id=who"],
    }


def test_config_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_config(tmp_path / "none.toml", ["seed"])
    (tmp_path / "a.toml").write_text("[", encoding="utf-8")
    with pytest.raises(InputError, match="is not TOML"):
        read_config(tmp_path / "a.toml", ["seed"])
    (tmp_path / "b.toml").write_text("sede = 1", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no option 'sede'. Known: seed"):
        read_config(tmp_path / "b.toml", ["seed"])


def parsed(args: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    seen: dict[str, object] = {}

    def keep(ctx: typer.Context, command: str) -> None:
        seen.update(collect(ctx.params))

    monkeypatch.setattr("voirdire.cli.audit.run_audit", keep)
    build_app("en").main(["audit", *args], standalone_mode=False, obj="en")
    return seen


def test_the_command_line_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "audit.toml"
    file.write_text('ratings = "r.csv"\ndraws = 5\nseed = 7\nslice = ["length"]\nanonymous-raters = true\n', "utf-8")
    seen = parsed(["--seed", "9", "--config", str(file)], monkeypatch)
    expected = {"ratings": tmp_path / "r.csv", "draws": 5, "seed": 9, "slices": ("length",), "anonymous_raters": True}
    assert seen == expected


def test_defaults_are_those_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed([], monkeypatch) == {}


def test_read_frames() -> None:
    inputs = read_inputs({"ratings": RATINGS, "judgments": JUDGMENTS, "pairs": "us,cn", "confidence": 0.9})
    assert inputs.options == AuditOptions(pairs=(("us", "cn"),), level=0.9)
    assert inputs.judgments is not None
    assert inputs.judgments.table.height == 2
    assert [entry.table for entry in inputs.told.intake] == ["ratings", "judgments"]


def test_read_pandas_frames() -> None:
    inputs = read_inputs({"ratings": RATINGS.to_pandas(), "judgments": JUDGMENTS.to_pandas()})
    assert inputs.corpus.pools == ("us", "cn")


def test_a_corpus_and_judgments_are_taken_as_they_are() -> None:
    first = read_inputs({"ratings": RATINGS, "judgments": JUDGMENTS})
    second = read_inputs({"ratings": first.corpus, "judgments": first.judgments})
    assert second.corpus is first.corpus
    assert second.judgments is first.judgments


@pytest.mark.parametrize("pairs", [("us", "cn"), ["us,cn"], [("us", "cn")], "us,cn", (("us", "cn"),)])
def test_pairs_in_every_form(pairs: object) -> None:
    assert read_inputs({"ratings": RATINGS, "pairs": pairs}).options.pairs == (("us", "cn"),)


@pytest.mark.parametrize("pairs", [[("us", "us")], ["us"], [("us", "cn", "uk")]])
def test_pairs_that_are_none(pairs: object) -> None:
    with pytest.raises(UsageError, match="two different pools"):
        read_inputs({"ratings": RATINGS, "pairs": pairs})


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no option 'question_column'.*question_columns"):
        read_inputs({"ratings": RATINGS, "question_column": "q1"})


def test_no_ratings() -> None:
    with pytest.raises(UsageError, match="no ratings"):
        read_inputs({"judgments": JUDGMENTS})


def test_options_of_both_readers_are_kept_apart() -> None:
    shared = {field.name for field in fields(CorpusOptions)} & {field.name for field in fields(JudgmentOptions)}
    assert shared == {"mapping", "missing_labels", "encoding", "duplicates"}
    twice = pl.concat([RATINGS, RATINGS])
    read = read_inputs({"ratings": twice, "judgments": JUDGMENTS, "duplicates": "first"})
    assert read.corpus.ratings.height == 4


def test_mapping_serves_both_tables() -> None:
    ratings, judgments = RATINGS.rename({"rater_id": "who"}), JUDGMENTS.rename({"judge": "oracle"})
    read = read_inputs({"ratings": ratings, "judgments": judgments, "mapping": {"rater_id": "who", "judge": "oracle"}})
    assert isinstance(read, Inputs)
    assert read.judgments is not None
    assert read.judgments.judges["judge"].to_list() == ["m"]


def test_a_folder_of_tables(tmp_path: Path) -> None:
    RATINGS.write_csv(tmp_path / "ratings.csv")
    JUDGMENTS.write_parquet(tmp_path / "judgments.parquet")
    for options in ({"folder": tmp_path}, {"ratings": tmp_path}, {"ratings": str(tmp_path)}):
        read = read_inputs(options)
        assert read.corpus.ratings.height == 4
        assert read.judgments is not None
    assert read_inputs({"folder": tmp_path}, judged=False).judgments is None


def test_a_named_table_takes_precedence_over_the_folder(tmp_path: Path) -> None:
    RATINGS.write_csv(tmp_path / "ratings.csv")
    JUDGMENTS.write_csv(tmp_path / "judgments.csv")
    read = read_inputs({"folder": tmp_path, "judgments": JUDGMENTS.head(1)})
    assert read.judgments is not None
    assert read.judgments.table.height == 1


def test_folders_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        find_tables(tmp_path / "none", ("ratings",))
    with pytest.raises(InputError, match="holds no table of ratings"):
        read_inputs({"folder": tmp_path})
    (tmp_path / "ratings.csv").touch()
    (tmp_path / "ratings.tsv").touch()
    with pytest.raises(InputError, match=r"ratings\.csv and ratings\.tsv"):
        read_inputs({"folder": tmp_path})
