"""The demonstration corpus, whose ratings nobody gave: every release of it says so, and an audit of it is the same."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

from voirdire.app.audit import audit
from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.exchange.release import ReleaseOptions
from voirdire.simulation.demo import write_demo

FORMS = ("csv", "parquet", "hf", "croissant")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the corpus and what the simulated judges said."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_nobody_rated_it(demo: Path, tmp_path: Path, form: str) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    release = export(form, demo / "corpus", out, ReleaseOptions(demo / "simulated-judges")).release
    assert {name: frame.height for name, frame in release.tables.items()} == {
        "items": 30, "questions": 4, "raters": 10, "ratings": 1200, "judgments": 900, "judges": 3, "conditions": 10,
    }  # fmt: skip
    assert "nobody gave them" in (out / "README.md").read_text(encoding="utf-8")
    take_in(form, [out], back)
    assert tomllib.loads((back / "corpus.toml").read_text(encoding="utf-8"))["simulated"] is True
    drawings = sorted(path.name for path in (demo / "corpus" / "images").iterdir())
    assert sorted(path.name for path in (back / "images").iterdir()) == drawings
    assert "truth" not in " ".join(path.name for path in back.rglob("*")), "what was planted stays at home"


def test_croissant_and_the_card_say_so(demo: Path, tmp_path: Path) -> None:
    for form in ("croissant", "hf"):
        export(form, demo / "corpus", tmp_path / form)
    document = json.loads((tmp_path / "croissant" / "croissant.json").read_text(encoding="utf-8"))
    assert "simulated" in document["keywords"]
    assert document["rai:dataAnnotationProtocol"].startswith("The ratings are simulated: nobody gave them.\nq1: ")
    assert '  - "simulated"\n' in (tmp_path / "hf" / "README.md").read_text(encoding="utf-8").split("\n---\n")[0]


def test_the_audit_is_the_same(demo: Path, tmp_path: Path) -> None:
    """But for what is drawn by lot over raters, whose order is another."""
    out, back = tmp_path / "out", tmp_path / "back"
    export("hf", demo / "corpus", out, ReleaseOptions(demo / "simulated-judges"))
    take_in("hf", [out], back)
    folders = {demo / "corpus": demo / "simulated-judges", back: back / "judgments"}
    was, now = (audited(corpus, judged / "judgments.csv") for corpus, judged in folders.items())
    key = ["statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice"]
    both = was.join(now, on=key, how="full", nulls_equal=True, suffix="_now")
    assert both.height == was.height == now.height
    fixed = both.filter(~pl.col("statistic").str.contains("gap_test|equalised|split_half"))
    assert fixed.filter(pl.col("value").is_null() != pl.col("value_now").is_null()).is_empty()
    assert fixed.filter((pl.col("value") - pl.col("value_now")).abs() > 1e-9)["statistic"].unique().to_list() == []
    assert fixed["value"].count() > 500


def audited(corpus: Path, judged: Path) -> pl.DataFrame:
    """The estimates of one judge in one condition."""
    one = pl.read_csv(judged).filter(judge="sim-faithful", condition="neutral_en")
    return audit(folder=corpus, judgments=one, draws=20, permutations=20, decomposition_draws=20).estimates
