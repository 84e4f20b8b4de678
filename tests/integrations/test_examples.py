"""The examples of the pages: the code that stands there, the workflow and its steps."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml
from tests.cli.conftest import FAST

from voirdire.cli.main import run
from voirdire.simulation.presets import paired_world
from voirdire.simulation.tables import simulate_tables

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"
CONSENSUS = {"us": 4.0, "cn": 2.0}
TOLD = {"low": 1, "high": 5, "consensus": CONSENSUS}


def example(page: str, kind: str = "python", place: int = 0) -> str:
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", (HOWTO / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    return blocks[place]


def names_of(code: str, **given: Any) -> dict[str, Any]:
    """What the code of a page defines; it is ours, and stands in the checkout."""
    names = dict(given)
    exec(compile(code, "page", "exec"), names)
    return names


def test_promptfoo_assertion() -> None:
    get_assert = names_of(example("tools/promptfoo.md"))["get_assert"]
    assert get_assert("4", {"vars": TOLD}) == {
        "pass": True,
        "score": 0.5,
        "reason": "us: 1.00, cn: 0.50",
        "namedScores": {"near us": 1.0, "near cn": 0.5},
    }
    refused = get_assert("about 4", {"vars": TOLD})
    assert (refused["pass"], refused["reason"]) == (False, "The reply is no rating (words).")
    assert "namedScores" not in refused


def test_promptfoo_configuration() -> None:
    config = yaml.safe_load(example("tools/promptfoo.md", "yaml"))
    [test] = config["tests"]
    assert set(TOLD) <= set(test["vars"])
    assert test["assert"] == [{"type": "python", "value": "file://pools.py"}]
    assert "{{dish}}" in config["prompts"][0]


def judged(metric: Any, reply: str, case: Any = SimpleNamespace) -> tuple[Any, bool]:
    metric.measure(case(input="How typical?", actual_output=reply, metadata=TOLD))
    return metric.score, metric.is_successful()


def test_deepeval_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    deepeval = pytest.importorskip("deepeval.metrics", reason="deepeval is not installed")
    from deepeval.test_case import LLMTestCase

    near = names_of(example("tools/deepeval.md"))["NearPool"]
    assert issubclass(near, deepeval.BaseMetric)
    assert judged(near("us"), "4", LLMTestCase) == (1.0, True)
    assert judged(near("cn"), "4", LLMTestCase) == (0.5, False)
    assert judged(near("cn"), "about 4", LLMTestCase) == (None, False)


def test_deepeval_code_without_deepeval() -> None:
    """What the metric computes, where only DeepEval's base class is missing."""
    code = example("tools/deepeval.md").replace("from deepeval.metrics import BaseMetric\n", "")
    near = names_of(code, BaseMetric=object)["NearPool"]
    assert [judged(near(pool), "4") for pool in CONSENSUS] == [(1.0, True), (0.5, False)]
    silent = near("us")
    assert judged(silent, "4.") == (None, False)
    assert (silent.error, silent.__name__) == ("The reply is no rating (decorated).", "Near us")


def test_pages_are_python() -> None:
    for page in ("tools/inspect.md", "ci/pytest.md"):
        compile(example(page), page, "exec")
    compile(example("tools/deepeval.md", place=1), "page", "exec")


def workflow() -> dict[str, Any]:
    return yaml.load((HOWTO / "ci" / "voirdire.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def step(name: str) -> dict[str, Any]:
    return next(one for one in workflow()["jobs"]["audit"]["steps"] if one.get("name") == name)


def test_workflow_has_the_rights_it_needs_and_no_more() -> None:
    known = workflow()
    assert set(known["on"]) == {"pull_request"}
    assert known["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert known["concurrency"]["cancel-in-progress"] == "true"
    steps = known["jobs"]["audit"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert not [step for step in steps if "${{" in step.get("run", "")], "expressions in scripts can be injected"
    assert [step.get("name") for step in steps if "run" in step][-2:] == ["Comment", "Policy"]
    assert [one["name"] for one in steps if "GH_TOKEN" in one.get("env", {})] == ["Comment"]
    assert steps[0]["with"] == {"persist-credentials": "false"}
    assert known["env"]["VOIRDIRE"] == "voirdire==VERSION", "nobody installs whatever is newest"
    watched = [path.removesuffix("/**") for path in known["on"]["pull_request"]["paths"]]
    assert watched == [*list(known["env"].values())[1:], ".github/workflows/voirdire.yml"]


def test_steps_of_the_workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the steps on the way of a job that goes well, one after the other, but installation and comment.

    The pages of the audit are not drawn: other tests do it, and it takes longest.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("voirdire.reporting.report.write_report", lambda *_, **__: [])
    made = simulate_tables(paired_world(items=12), seed=1)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "corpus.toml").write_text('name = "x"\n', encoding="utf-8")
    made.ratings.filter(pl.col("question") == made.ratings["question"][0]).write_csv(corpus / "ratings.csv")
    made.items.write_csv(corpus / "items.csv")
    made.judgments.filter(pl.col("judge") == made.judgments["judge"][0]).write_csv(tmp_path / "judgments.csv")
    (tmp_path / "policy.toml").write_text("[[require]]\nmin_n = 5\nmax_mae = 4\n", encoding="utf-8")
    env = {**workflow()["env"], "GITHUB_STEP_SUMMARY": "summary.md"}
    lines = [line for name in ("Audit", "Table of pools", "Policy") for line in step(name)["run"].splitlines()]
    assert [done(line, env) for line in lines] == [0, 0, 0, 0]
    card = (tmp_path / "pools.md").read_text(encoding="utf-8")
    assert "| us |" in card
    assert card.startswith("<!-- voirdire: pools -->\n")
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == card
    (tmp_path / "policy.toml").write_text("[[require]]\nmin_n = 5\nmax_mae = 0.0001\n", encoding="utf-8")
    assert done(lines[-1], env) == 1


GH = """#!/bin/bash
printf '%s ' "$@" >> calls.txt; echo >> calls.txt
case "$*" in *--jq*) cat known.txt;; esac
"""


@pytest.mark.parametrize(("known", "last"), [("7\n9\n", "PATCH repos/o/r/issues/comments/7"), ("", "POST repos/o/r/")])
def test_the_comment_takes_the_place_of_its_own(tmp_path: Path, known: str, last: str) -> None:
    (tmp_path / "gh").write_text(GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "known.txt").write_text(known, encoding="utf-8")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REPOSITORY": "o/r", "NUMBER": "3"}
    subprocess.run(["bash", "-e", "-c", step("Comment")["run"]], cwd=tmp_path, env=env, check=True)
    first, second = (tmp_path / "calls.txt").read_text(encoding="utf-8").splitlines()
    assert first.startswith("api repos/o/r/issues/3/comments --paginate")
    assert f"--method {last}" in second
    assert second.endswith("--field body=@pools.md ")


def test_an_audit_that_stops_is_told(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text("old\n" * 60 + "Error: row 3 ``` <b>\n", encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "GITHUB_STEP_SUMMARY": "summary.md"}
    subprocess.run(["bash", "-e", "-c", step("No table")["run"]], cwd=tmp_path, env=env, check=True)
    told = (tmp_path / "pools.md").read_text(encoding="utf-8")
    assert told.startswith("<!-- voirdire: pools -->\n\n**There is no audit")
    assert told.endswith("    Error: row 3 ``` <b>\n")
    assert told.count("    old\n") == 39
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == told


def done(line: str, env: dict[str, str]) -> int:
    """The exit code of a line, audits with few draws."""
    words = shlex.split(Template(line.partition(" 2>&1 | tee ")[0]).substitute(env))
    if words[0] == "voirdire":
        return run([*words[1:], *(FAST if words[1] == "audit" else ())])
    return subprocess.run(["bash", "-ec", line], env={**env, "PATH": "/usr/bin:/bin"}, check=False).returncode
