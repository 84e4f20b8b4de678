from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judging.engine_world import corpus, go, plan_of, repeated
from tests.judging.fakes import FakeJudge, good

from voirdire.errors import InputError, UsageError
from voirdire.judging.grid import Grid, load_grid
from voirdire.judging.run_folder import LEDGER, RunFolder, write_whole
from voirdire.judging.toml_text import toml_text

ROOT = Path(__file__).resolve().parents[2]


def test_a_second_process_is_told_who_writes(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from voirdire.judging.run_folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])): print('in', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "in\n"
        with pytest.raises(UsageError, match=f"process \\(id {first.pid}\\)"):
            RunFolder(tmp_path / "run")
        first.kill()
        first.wait()
    with RunFolder(tmp_path / "run") as folder:
        assert (tmp_path / "run" / "run.lock").read_text() == str(os.getpid())
        assert folder.ledger.run_id


def test_twice_in_one_process_is_refused_too(tmp_path: Path) -> None:
    with RunFolder(tmp_path), pytest.raises(UsageError, match=str(os.getpid())):
        RunFolder(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        RunFolder(tmp_path / "run")


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        RunFolder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_lock_is_given_back_where_the_ledger_is_broken(tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_bytes(b"no database" * 100)
    for _ in range(2):
        with pytest.raises(InputError, match="cannot be read"):
            RunFolder(tmp_path)


def test_more_items_judges_and_conditions_may_come(tmp_path: Path) -> None:
    few = plan_of(corpus(tmp_path / "c"), ["a"])
    go(replace_items(few, 1), tmp_path / "run")
    summary = go(plan_of(tmp_path / "c", ["a", "b"], "paper-baseline"), tmp_path / "run")
    assert (summary.progress.done, summary.progress.total) == (60, 60)


def replace_items(plan, count: int):
    plan.material = replace(plan.material, items=plan.material.items[:count])
    return plan


def changed(folder: Path, old: str, new: str) -> None:
    items = folder / "items.csv"
    items.write_text(items.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_a_changed_question_of_an_item_is_refused(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    changed(tmp_path / "c", "picture 1 shows", "image 1 shows")
    with pytest.raises(InputError, match=r"Item 'i0001'.*\(en changed; 1 such items\)"):
        go(plan_of(tmp_path / "c"), tmp_path / "run")


def test_a_changed_image_is_refused(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    (tmp_path / "c/images/0001.png").write_bytes((tmp_path / "c/images/0002.png").read_bytes())
    with pytest.raises(InputError, match="image changed"):
        go(plan_of(tmp_path / "c"), tmp_path / "run")


def test_another_language_may_come(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    plan = plan_of(folder, ["a"], grid_in("en"))
    go(plan, tmp_path / "run")
    changed(folder, "图 1 中的情形有多常见", "图 1 里的情形有多常见")
    with pytest.raises(InputError, match="zh changed"):
        go(plan_of(folder, ["a"], grid_in("en")), tmp_path / "run")


def grid_in(language: str) -> Grid:
    return load_grid("neutral").for_languages([language])[0]


def test_a_changed_condition_is_refused(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    grid = load_grid("neutral")
    other = replace(grid, conditions=(replace(grid.conditions[0], digest="f" * 16), *grid.conditions[1:]))
    with pytest.raises(InputError, match="Condition 'neutral_en'"):
        go(plan_of(tmp_path / "c", grid=other), tmp_path / "run")


def test_a_judge_with_other_parameters_is_refused(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    go(plan, tmp_path / "run")
    judge = FakeJudge(good, "a")
    judge.settings = {"parameters": {"temperature": 1}}
    with pytest.raises(InputError, match=r"Judge 'a'.*parameters changed"):
        go(plan, tmp_path / "run", judges=[judge])


def test_fewer_repeats_leave_the_others_unasked(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("neutral", 3))
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [FakeJudge(good, "a")])
    summary = go(plan_of(tmp_path / "c", ["a"], repeated("neutral", 2)), tmp_path / "run")
    assert (summary.progress.total, summary.progress.done) == (12, 12)


def test_the_manifest_says_what_was_asked_of_whom(tmp_path: Path) -> None:
    judge = FakeJudge(good, "a")
    judge.settings = {"model": "m", "parameters": {"temperature": 0.0, "stop": ["\n"]}, "nothing": None}
    plan = plan_of(corpus(tmp_path / "c"), ["a"], seed=5)
    go(plan, tmp_path / "run", judges=[judge])
    told = tomllib.loads((tmp_path / "run/run.toml").read_text(encoding="utf-8"))
    assert told["run"]["id"] == plan.run_id
    assert told["run"]["seed"] == 5
    assert told["corpus"]["items"] == 3
    assert [one["name"] for one in told["condition"]] == ["neutral_en", "neutral_zh"]
    assert told["condition"][0]["digest"] == plan.conditions[0].digest
    assert told["judge"][0]["settings"] == {"model": "m", "parameters": {"temperature": 0.0, "stop": ["\n"]}}


def test_write_whole_leaves_the_old_file_where_writing_fails(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "one")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a", "two \ud800")
    assert (tmp_path / "a").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "value", ["plain", 'quo"te', "back\\slash", "new\nline", "\x00\x1f\x7f", "中文", "🙂", "", "'''", "a = 1 # b"]
)
def test_toml_reads_back(value: str) -> None:
    table = {"t": {value or "k": value, "deep": {"list": [value, 1, 2.5, True], "e": 1e-07, "big": 1e20}}}
    assert tomllib.loads(toml_text(table)) == table


def test_the_prices_of_a_session_are_written_down(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a", "b"])
    price = {"input": 1.0, "output": 2.0, "cached_input": None, "as_of": "2026-05", "source": "a page"}
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [FakeJudge(good, "a"), FakeJudge(good, "b")], prices={"a": price})
    told = tomllib.loads((tmp_path / "run" / "run.toml").read_text(encoding="utf-8"))
    assert told["judge"][0]["price"] == {name: value for name, value in price.items() if value is not None}
    assert "price" not in told["judge"][1]
