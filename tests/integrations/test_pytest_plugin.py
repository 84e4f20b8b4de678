"""The pytest plugin, in runs of pytest inside this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.policy.fakes import profile

pytest_plugins = ["pytester"]

NEAR = '[[require]]\nname = "near us"\nmax_mae = 0.6\njudge = "a"\npool = "us"\n'
FAR = '[[require]]\nname = "near cn"\nmax_mae = 0.6\njudge = "a"\npool = "cn"\n'
UNDECIDED = '[[require]]\nname = "near cn"\nmax_mae = 0.8\njudge = "a"\npool = "cn"\n'
MARKED = """
import pytest

@pytest.mark.voirdire(profile="audit", policy="policy.toml"{more})
def test_judge():
    assert {inside}
"""


def ran(pytester: pytest.Pytester, policy: str, test: str, ini: str = "") -> pytest.RunResult:
    """A run of one test file, in which the plugin is loaded once, whether it is installed or not."""
    profile().save(pytester.path / "audit")
    (pytester.path / "policy.toml").write_text(policy, encoding="utf-8")
    pytester.makepyfile(test)
    pytester.makeini(f"[pytest]\n{ini}")
    loaded = ("-p", "no:voirdire", "-p", "voirdire.integrations.pytest_plugin", "--strict-markers")
    return pytester.runpytest_inprocess(*loaded, "-p", "no:randomly", "-p", "no:cacheprovider")


def marked(more: str = "", inside: str = "True") -> str:
    return MARKED.format(more=more, inside=inside)


def test_a_met_policy_lets_the_test_run(pytester: pytest.Pytester) -> None:
    ran(pytester, NEAR, marked()).assert_outcomes(passed=1)
    ran(pytester, NEAR, marked(inside="False")).assert_outcomes(failed=1)


def test_a_file_that_is_skipped_as_a_whole(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_other="import pytest\npytest.skip('nothing here', allow_module_level=True)")
    ran(pytester, NEAR, marked()).assert_outcomes(passed=1, skipped=1)


def test_a_failure_names_rule_value_interval_and_pool(pytester: pytest.Pytester) -> None:
    result = ran(pytester, NEAR + FAR, marked(inside="1 / 0"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "The policy is not met: 1 of 2 checks fail, 0 lack evidence.",
        "FAIL: near cn: mae at most 0.6; q1, cn, a: 0.8 [[]0.7, 0.9]; items 60; the whole interval is outside*",
    ])  # fmt: skip
    assert "ZeroDivisionError" not in result.stdout.str()
    assert "near us" not in result.stdout.str()


@pytest.mark.parametrize(
    ("choice", "outcome"), [("", "failed"), ("fail", "failed"), ("skip", "skipped"), ("xfail", "xfailed")]
)
def test_what_too_little_evidence_means(pytester: pytest.Pytester, choice: str, outcome: str) -> None:
    result = ran(pytester, UNDECIDED, marked(), f"voirdire_not_enough = {choice}")
    result.assert_outcomes(**{outcome: 1})
    assert "The policy is not decided: 1 of 1 checks lack evidence" in result.stdout.str()
    lacking = "*voirdire: not enough evidence*"
    if outcome == "failed":
        result.stdout.no_fnmatch_line(lacking)
    else:
        result.stdout.fnmatch_lines(
            [lacking, "*::test_judge", "The policy is not decided*", "*both sides of the limit*"]
        )
    more = f", not_enough={choice!r}" if choice else ""
    ran(pytester, UNDECIDED, marked(more), "voirdire_not_enough = xfail").assert_outcomes(
        **{outcome if choice else "xfailed": 1}
    )


def test_a_failed_policy_is_never_skipped(pytester: pytest.Pytester) -> None:
    ran(pytester, FAR + UNDECIDED, marked(", not_enough='skip'")).assert_outcomes(failed=1)


def test_the_fixture(pytester: pytest.Pytester) -> None:
    code = """
    from voirdire import Policy, Profile

    def test_paths(voirdire):
        result = voirdire.check("audit/profile.json", "policy.toml")
        assert [check.outcome for check in result.checks] == ["pass"]

    def test_settings(voirdire):
        voirdire.check()

    def test_objects(voirdire):
        voirdire.check(Profile.load("audit"), Policy.of({"require": [{"max_mae": 0.6, "judge": "a", "pool": "cn"}]}))
    """
    result = ran(pytester, NEAR, code, "voirdire_profile = audit\nvoirdire_policy = policy.toml\nvoirdire_lang = zh")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*不通过*cn*"])


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (marked(", not_enough='maybe'"), "not_enough is 'maybe' and can be one of: fail, skip, xfail."),
        ("def test_it(voirdire):\n    voirdire.check(policy='policy.toml')", "No profile was named."),
        ("def test_it(voirdire):\n    voirdire.check('nowhere', 'policy.toml')", "nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(pytester: pytest.Pytester, test: str, words: str) -> None:
    result = ran(pytester, NEAR, test)
    result.assert_outcomes(failed=1)
    assert words in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_other_people_do_not_pay_for_it(root: Path) -> None:
    """Every run of pytest in an environment with voirdire loads the plugin: nothing heavy comes with it."""
    heavy = {"numpy", "polars", "scipy", "orjson", "PIL", "aiohttp", "typer", "voirdire.app", "voirdire.analysis"}
    code = f"import sys, voirdire.integrations.pytest_plugin; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
