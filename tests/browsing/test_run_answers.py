"""A run's ledger is read as its exported table is read beside the same corpus, and looks at a growing run are few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from tests.judging.corpora import demonstrated
from tests.judging.engine_world import corpus, go, plan_of, repeated
from tests.judging.fakes import FakeJudge

from voirdire.app.view import view
from voirdire.browsing.run_answers import stamp_of_run
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.browsing.sources import RunSource
from voirdire.corpus.corpus import Judgments
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.reading import read_judgments
from voirdire.errors import UsageError
from voirdire.judging.export import export
from voirdire.judging.grid import load_grid
from voirdire.judging.nouns import Call, Reply
from voirdire.judging.run_folder import RunFolder


def answer(call: Call, judge: str = "a") -> Reply:
    """Judge a keeps to 1-4 but once, judge b says 5 every time; some answers are none."""
    place = int(call.item.id[1:])
    if place == 3:
        return Reply("", refusal="policy")
    if place == 4:
        return Reply("I cannot say")
    return Reply("5" if judge == "b" or place == 5 else str(1 + place % 4))


def rated(folder: Path, question: str = "q1,evaluation,ordinal,1,5", marks: tuple[str, ...] = ("1", "4")) -> Path:
    """Ratings for all items; marks : of the two pools."""
    names = pl.read_csv(folder / "items.csv")["item_id"].to_list()
    lines = [
        f"{name},{pool}{rater},{pool},q1,{mark}"
        for name in names for pool, mark in zip(("us", "cn"), marks, strict=True) for rater in "xy"
    ]  # fmt: skip
    (folder / "ratings.csv").write_text("item_id,rater_id,pool,question,rating\n" + "\n".join(lines) + "\n")
    (folder / "questions.csv").write_text(
        f"question,role,level,min,max,labels\n{question}{',' * (5 - question.count(','))}\n"
    )
    return folder


def plain(tmp_path: Path) -> tuple[Path, Path]:
    folder = corpus(tmp_path / "corpus", 7)
    judges = [FakeJudge(answer, "a"), FakeJudge(lambda call: answer(call, "b"), "b")]
    go(plan_of(folder, grid=repeated("neutral", 2)), tmp_path / "run", judges=judges)
    return rated(folder), tmp_path / "run"


def narrower(tmp_path: Path) -> tuple[Path, Path]:
    folder, run = plain(tmp_path)
    return rated(folder, "q1,evaluation,ordinal,1,4"), run


def other_question(tmp_path: Path) -> tuple[Path, Path]:
    folder, run = plain(tmp_path)
    return rated(folder, "q1,evaluation,nominal,,", ("yes", "no")), run


def with_labels(tmp_path: Path) -> tuple[Path, Path]:
    folder = rated(
        corpus(tmp_path / "corpus", 4), "q1,evaluation,ordinal,,,never|sometimes|always", ("never", "always")
    )
    go(plan_of(folder), tmp_path / "run", lambda call: Reply(str(int(call.item.id[1:]) % 3)))
    return folder, tmp_path / "run"


def reversed_on_own_scales(tmp_path: Path) -> tuple[Path, Path]:
    folder = corpus(tmp_path / "corpus", 3)
    lines = (folder / "items.csv").read_text(encoding="utf-8").splitlines()
    ends = ("min,max", "0,10", "1,4", ",")
    (folder / "items.csv").write_text("\n".join(f"{line},{end}" for line, end in zip(lines, ends, strict=True)) + "\n")
    grid = load_grid("neutral").for_languages(["en"])[0]
    turned = replace(grid.conditions[0], name="turned", reversed=True, instruction="1 is best.")
    plan = plan_of(folder, grid=replace(grid, conditions=(grid.conditions[0], turned)))
    go(plan, tmp_path / "run", lambda call: Reply("4" if call.condition == "turned" else "2"))
    return rated(folder), tmp_path / "run"


def with_designs(tmp_path: Path) -> tuple[Path, Path]:
    folder = demonstrated(tmp_path / "c")
    go(plan_of(folder, ["a"], "paper-icl"), tmp_path / "run")
    return folder, tmp_path / "run"


def unfinished(tmp_path: Path) -> tuple[Path, Path]:
    folder, plan = rated(corpus(tmp_path / "corpus", 2)), plan_of(tmp_path / "corpus")
    with RunFolder(tmp_path / "run") as run:
        run.register(plan, [FakeJudge(answer, spec.name) for spec in plan.specs])
    return folder, tmp_path / "run"


WORLDS = (plain, narrower, other_question, with_labels, reversed_on_own_scales, with_designs, unfinished)


@pytest.mark.parametrize("scale", [(), ("1:9",), ("b=1:9",)], ids=str)
@pytest.mark.parametrize("world", WORLDS)
def test_a_ledger_is_read_as_its_export_is_read(
    world: Callable[[Path], tuple[Path, Path]], scale: tuple[str, ...], tmp_path: Path
) -> None:
    folder, run = world(tmp_path)
    if scale == ("b=1:9",) and world is with_designs:
        pytest.skip("no such judge there")
    shelf = view([folder, run], judge_scale=scale).shelves[0]
    assert shelf.corpus is not None
    (source,) = ShelfNumbers(shelf).sources
    assert isinstance(source, RunSource)
    export(run)
    told = read_judgments(JudgmentOptions(run, judge_scale=scale), shelf.corpus)
    found = source.judgments("q1")
    assert isinstance(found, Judgments)
    assert found.table.equals(told.table.filter(pl.col("question") == "q1"))
    assert found.rank_only == told.rank_only
    assert found.maps == told.maps
    assert source.questions() == ("q1",)


def test_a_scale_narrower_than_the_run_leaves_out_and_tells_apart(tmp_path: Path) -> None:
    folder, run = narrower(tmp_path)
    numbers = ShelfNumbers(view([folder, run]).shelves[0])
    said = numbers.judged("q1").said
    assert said is not None
    assert said.rank_only == {"b"}
    (source,) = numbers.sources
    mine = source.of_item("q1", "i0005").filter(pl.col("judge") == "a")
    assert set(mine["status"]) == {"out_of_scale"}
    assert mine["value"].null_count() == mine.height == 4


def test_a_scale_of_a_judge_that_nobody_knows_is_refused_before_any_page(tmp_path: Path) -> None:
    folder, run = unfinished(tmp_path)
    with pytest.raises(UsageError, match="no judge 'z'"):
        view([folder, run], judge_scale=("z=0:10",))
    with pytest.raises(UsageError, match="--judge-scale"):
        view([folder, run], judge_scale=("9",))


def test_the_page_of_an_item_reads_no_growing_ledger_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, run = plain(tmp_path)
    (source,) = ShelfNumbers(view([folder, run]).shelves[0]).sources
    assert source.said("q1", pl.Series(["i0000"])) is not None
    stamps = iter(range(100))
    monkeypatch.setattr("voirdire.browsing.sources.stamp_of_run", lambda _: next(stamps))
    monkeypatch.setattr("voirdire.browsing.sources.judgments_of_run", lambda *_: pytest.fail("read again"))
    assert source.of_item("q1", "i0001").height == 8


def test_a_growing_run_that_takes_long_to_read_is_read_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = unfinished(tmp_path)
    numbers, clock, reads = ShelfNumbers(view([folder]).shelves[0]), [0.0], []

    class Growing(RunSource):
        def stamp(self) -> float:
            return clock[0]

        def said(self, question: str, items: pl.Series) -> None:
            reads.append(clock[0])
            clock[0] += 2.0

    numbers.__dict__["sources"] = (Growing(tmp_path),)
    monkeypatch.setattr("voirdire.browsing.shelf_numbers.time", SimpleNamespace(monotonic=lambda: clock[0]))
    for clock[0] in (0.0, 5.0, 25.0, 26.5, 27.0, 51.0, 52.5):
        numbers.judged("q1")
    assert reads == [0.0, 26.5, 52.5]


def test_a_log_that_goes_away_between_two_looks_at_it_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = unfinished(tmp_path)
    before = stamp_of_run(run)
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    assert stamp_of_run(run) == before
