"""Numbers, texts and the order of rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.exchange.ordering import in_order, partition, split_name
from voirdire.exchange.release_tables import as_csv, judge_tables, typed
from voirdire.tables import as_text

TEXTS = st.one_of(
    st.none(),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).map(str.strip).filter(bool),
)


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_the_text_of_a_cell_is_never_lost(cells: list[str | None]) -> None:
    """Numbers are numbers only where they are written back as they were."""
    column = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
    made = typed(column)
    assert as_csv(made) == as_csv(column)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1, max_size=8))
def test_numbers_come_back_from_csv(values: list[float | None]) -> None:
    frame = pl.DataFrame({"n": range(len(values)), "x": pl.Series(values, dtype=pl.Float64)})
    rows = csv.DictReader(io.StringIO(as_csv(frame).decode()))
    assert [float(row["x"]) if row["x"] else None for row in rows] == values


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_parquet_gives_the_same_csv(tmp_path_factory: pytest.TempPathFactory, cells: list[str | None]) -> None:
    frame = typed(pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)}))
    file = tmp_path_factory.mktemp("p") / "x.parquet"
    frame.write_parquet(file)
    assert as_csv(pl.read_parquet(file)) == as_csv(frame)


def test_what_becomes_a_number() -> None:
    frame = pl.DataFrame({"rating": ["4.0", "3.5"], "code": ["01", "02"], "n": ["1", None], "item_id": ["1", "2"]})
    made = typed(frame.with_columns(big=pl.lit("12345678901234567890"), odd=pl.lit("inf")))
    kinds = {name: dtype for name, dtype in made.schema.items() if dtype != pl.String}
    assert kinds == {"rating": pl.Float64, "n": pl.Int64}


def test_every_kind_of_column_of_judgments(tmp_path: Path) -> None:
    from datetime import datetime

    file = tmp_path / "judgments.parquet"
    frame = pl.DataFrame(
        {"item": ["a"], "model": ["j"], "small": pl.Series([1], dtype=pl.Int8), "cost": [float("nan")], "ok": [True]}
        | {
            "flags": [["x", "y"]],
            "at": [datetime(2026, 1, 1)],
            "nothing": [None],
            "half": pl.Series([0.5], dtype=pl.Float32),
        }
    )
    frame.write_parquet(file)
    table = judge_tables(file)["judgments"]
    assert table.columns[:2] == ["item_id", "judge"]
    assert set(table.dtypes) == {pl.String, pl.Int64, pl.Float64, pl.Boolean}
    assert table.row(0, named=True)["cost"] is None
    assert as_text(table)["half"][0] == "0.5"


def test_whole_numbers_of_more_than_64_bits_stay_text(tmp_path: Path) -> None:
    rows = {"item_id": ["a"], "judge": ["j"], "rating": [1], "seed": pl.Series([2**64 - 1], dtype=pl.UInt64)}
    pl.DataFrame(rows).write_parquet(tmp_path / "j.parquet")
    assert judge_tables(tmp_path / "j.parquet")["judgments"]["seed"].to_list() == [str(2**64 - 1)]


def test_judgments_in_several_files(tmp_path: Path) -> None:
    for design in ("aa", "cc"):
        (tmp_path / f"design={design}").mkdir()
        pl.DataFrame({"item_id": ["a"], "judge": ["j"], "rating": [1.0]}).write_parquet(
            tmp_path / f"design={design}/x.parquet"
        )
    table = judge_tables(tmp_path)["judgments"]
    assert table["design"].to_list() == ["aa", "cc"]


SPLITS = ["test", None, "pilot", "Demonstration", "rejected", "my own", "all"]


@given(st.lists(st.sampled_from(SPLITS), min_size=1, max_size=12), st.randoms())
def test_parts_put_together_are_the_table(splits: list[str | None], random: object) -> None:
    items = pl.DataFrame({"item_id": [str(n) for n in range(len(splits))], "split": pl.Series(splits, dtype=pl.String)})
    rows = [(item, f"r{n}", pool, q, n) for item in items["item_id"] for n in range(2) for pool in "ba" for q in "yx"]
    random.shuffle(rows)  # type: ignore[attr-defined]
    ratings = pl.DataFrame(rows, schema=["item_id", "rater_id", "pool", "question", "rating"], orient="row")
    raters = ratings.select("rater_id", "pool").unique()
    tables = in_order({"items": items, "ratings": ratings, "raters": raters})
    for name in ("items", "ratings"):
        parts = partition(tables[name], tables["items"])
        assert set(parts) == {split_name(split) for split in splits}
        assert pl.concat(list(parts.values())).equals(tables[name])
    assert tables["ratings"].sort(pl.all()).equals(ratings.sort(pl.all()))
