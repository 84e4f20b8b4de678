"""What the explanations claim: tables are those of the studies, tests that they name exist, deviations are real."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from math import comb
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from voirdire.stats.alpha import alpha
from voirdire.texts import catalogue

ROOT = Path(__file__).resolve().parents[2]
EXPLANATION = ROOT / "docs" / "explanation"
FIGURES = EXPLANATION / "figures"
IMPORTED = {"scikit-learn": "sklearn"}
LARGEST_FIGURE = 60_000


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(text: str, columns: int) -> list[list[str]]:
    """The rows of all tables of a page with so many columns."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    return [row for row in found if len(row) == columns]


@cache
def study(name: str) -> ModuleType:
    """A script of docs/studies, which imports others beside it."""
    folder = ROOT / "docs" / "studies"
    spec = importlib.util.spec_from_file_location(f"study_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_several_pools_says_what_crehate_says(shared_data: Path) -> None:
    averaged, text = study("averaged"), page("explanation/several-pools.md")
    assert averaged.table_of(averaged.distances(shared_data / "crehate")) in text
    shares = averaged.shares(shared_data / "crehate")
    split = averaged.split_majorities(shares)
    assert f"on {split['any two']} of the {shares.height} posts the majorities of the five countries" in text
    assert f"the majorities of Singapore and the United States differ on {split['SG, US']}." in text
    for name, *cells in rows(text, 7):
        if name in shares["item_id"].to_list():
            row = shares.row(by_predicate=pl.col("item_id") == name)
            assert [float(cell) for cell in cells] == pytest.approx(list(row[1:]), abs=1e-9)


@pytest.mark.slow
def test_tilt_and_orientation_are_as_the_page_says() -> None:
    """A few corpora lie within what the page gives for 95 of 100, with some room."""
    figures = study("tilt_figures")
    told = {row[0]: row[2:] for row in rows(page("explanation/tilt-is-not-orientation.md"), 4)}
    assert set(told) >= {*figures.JUDGES, *figures.COPIES}
    judges = {name: character for name, (_, character) in figures.JUDGES.items()}
    corpora = [figures.one_corpus(judges, seed) for seed in range(1000, 1004)]
    for name in (*judges, *figures.COPIES):
        for place in range(2):
            value, low, high = (float(number) for number in re.findall(r"[+-]?\d+\.\d+", told[name][place]))
            found = np.mean([corpus[name][place] for corpus in corpora])
            assert abs(found - value) <= max(high - low, 0.02) / 2, (name, place)


def test_figures_are_small_and_say_what_they_show() -> None:
    named = re.findall(r"!\[([^]]+)\]\(figures/([^)]+)\)", page("explanation/tilt-is-not-orientation.md"))
    assert {name for _, name in named} == {path.name for path in FIGURES.iterdir()}
    for words, name in named:
        drawn = (FIGURES / name).read_text(encoding="utf-8")
        assert len(words) > 40
        assert len(drawn) < LARGEST_FIGURE
        assert drawn.startswith("<svg")
        assert "<title>" in drawn
        assert 'fill="white"' in drawn, "a figure on a dark page needs a ground of its own"
        assert not re.search(r"<(script|image|foreignObject)|href=\"(?!#)", drawn)


def compared() -> list[list[str]]:
    return [row for row in rows(page("explanation/other-programs.md"), 4) if "`tests/" in row[3]]


def test_comparisons_are_really_tested() -> None:
    assert len(compared()) > 20
    for _, program, _, test in compared():
        path = ROOT / test.strip("`")
        assert path.is_file(), test
        name = re.match(r"[\w-]+", program)
        assert name is not None
        module = IMPORTED.get(name[0], name[0])
        code = path.read_text(encoding="utf-8")
        assert re.search(rf"(import|from) {module}\b|importorskip\(\"{module}[.\"]", code), (program, test)


def test_numbers_of_the_replication_are_those_of_its_page() -> None:
    counted = r"computed (\d+) numbers on \w+ (?:simulated )?corpus[.,] (?:and the|The) audit's rows hold (\d+) of them"
    pages = ("explanation/other-programs.md", "studies/replication.md")
    assert len({re.findall(counted, page(name))[0] for name in pages}) == 1


def test_every_published_value_has_ours_and_its_definition() -> None:
    table = page("studies/replication.md").split("\n## Published values\n")[1].split("\n###")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(cells) > 60
    assert [row[0] for row in cells if not all(cell.strip() for cell in row[:4]) or "in no row" in row[2]] == []


def test_versions_are_those_that_are_pinned() -> None:
    pins = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    for name, version in {pair for row in compared() for pair in re.findall(r"([\w-]+) (\d+\.\d+\.\d+)", row[1])}:
        assert f"\n{name}=={version} " in pins, (name, version)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[\w/.]+)`", page("explanation/other-programs.md")))))
def test_files_that_are_named_exist(name: str) -> None:
    assert (ROOT / name).is_file()


def counts_of(shared_data: Path) -> np.ndarray:
    """(items, 5) ratings of q1 by the US pool of the simulated corpus."""
    ratings = pl.read_csv(shared_data / "simulated-voirdire" / "ratings.csv.gz").filter(pl.col("pool") == "us")
    items = np.unique(ratings["item_id"].to_numpy(), return_inverse=True)[1]
    counts = np.zeros((items.max() + 1, 5))
    np.add.at(counts, (items, ratings["q1"].to_numpy() - 1), 1)
    return counts


def gwet(counts: np.ndarray) -> float:
    """Alpha as irrCAC computes it: Gwet's ordinal weights, and a correction of the agreement for few ratings."""
    steps = np.abs(np.arange(5)[:, None] - np.arange(5))
    weights = 1 - np.vectorize(lambda step: comb(int(step) + 1, 2))(steps) / comb(5, 2)
    raters = counts.sum(1)
    agreement = ((counts * (counts @ weights - 1)).sum(1) / (raters.mean() * (raters - 1))).mean()
    few = 1 / raters.sum()
    shares = (counts / raters.mean()).mean(0)
    chance = shares @ weights @ shares
    return float(((1 - few) * agreement + few - chance) / (1 - chance))


def with_too_many_pairs(counts: np.ndarray, times: float) -> float:
    """Ordinal alpha from coincidences that are so many times too large."""
    pairs = np.einsum("ik,il->kl", counts, counts) - np.diag(counts.sum(0))
    pairs *= times / (counts.sum(1)[0] - 1)
    each = pairs.sum(1)
    ends = np.cumsum(each)
    middle = ends - each / 2
    distance = (middle[:, None] - middle) ** 2
    return float(1 - (each.sum() - 1) * (pairs * distance).sum() / (each @ distance @ each))


def test_deviations_of_other_programs_are_as_told(shared_data: Path) -> None:
    counts, text = counts_of(shared_data), page("explanation/other-programs.md")
    ours = alpha(counts, np.arange(5.0), "ordinal").value
    assert ours is not None
    assert with_too_many_pairs(counts, 1) == pytest.approx(ours, abs=1e-12)
    assert f"gives {gwet(counts):.4f} where krippendorff and voirdire give {ours:.4f}" in text
    assert f"gives {with_too_many_pairs(counts, 4):.6f} on the same ratings instead of {ours:.6f}" in text


def test_chinese_words_of_the_glossary_are_those_in_use() -> None:
    used = "\n".join(catalogue("zh").values())
    words = [word for row in rows(page("glossary.md"), 3) for word in re.findall("[\u4e00-\u9fff]+", row[1])]
    assert len(words) > 60
    assert [word for word in words if word not in used and word != "中文"] == []
