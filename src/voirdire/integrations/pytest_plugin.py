"""A pytest plugin: a test fails when a profile does not meet a policy.

    @pytest.mark.voirdire(profile="audit", policy="policy.toml")
    def test_the_judge_may_be_used(): ...

    def test_it_in_code(voirdire):
        voirdire.check("audit", "policy.toml")

Importing this module imports nothing of voirdire that is heavy: every pytest run of an environment loads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from voirdire.analysis.policy_rules import PolicyResult

MARKER = "voirdire"
FAIL, SKIP, XFAIL = "fail", "skip", "xfail"
LACKING = "voirdire_not_enough"
INI = ("voirdire_profile", "voirdire_policy", "voirdire_not_enough", "voirdire_lang")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings of pytest's configuration file."""
    from voirdire.texts import text

    for name in INI:
        parser.addini(name, text(f"integrations.pytest.{name}"), default="")


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    from voirdire.texts import text

    config.addinivalue_line("markers", text("integrations.pytest.marker"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the policies of a marked test before it runs, as a part of the test."""
    for mark in item.iter_markers(MARKER):
        _Checker(item.config, item).check(*mark.args, **mark.kwargs)


@pytest.fixture
def voirdire(request: pytest.FixtureRequest) -> _Checker:
    """Checks profiles against policies: ``voirdire.check(profile, policy)``."""
    return _Checker(request.config, request.node)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tests that were let off for lack of evidence, whatever pytest is told to print of skipped tests."""
    from voirdire.texts import text

    reports = [report for name in ("skipped", "xfailed") for report in terminalreporter.stats.get(name, ())]
    stories = [
        (report.nodeid, said)
        for report in reports
        for key, said in getattr(report, "user_properties", ())
        if key == LACKING
    ]
    if stories:
        terminalreporter.section(text("integrations.pytest.lacking", str(config.getini("voirdire_lang") or "en")))
    for place, said in stories:
        terminalreporter.write_line(place)
        terminalreporter.write_line(said)


@dataclass(frozen=True)
class _Checker:
    """Checks with the settings of a run of pytest, for one of its tests."""

    config: pytest.Config
    node: pytest.Item

    def check(self, profile: Any = None, policy: Any = None, *, not_enough: str | None = None) -> PolicyResult:
        """The result of a policy that is met; otherwise the test fails with every check that did not pass.

        profile : Profile, or path of an audit's folder or profile.json; policy : Policy, or path of a policy file.
            Paths are relative to pytest's root folder; what is left out, the configuration says
        not_enough : ``fail``, ``skip`` or ``xfail``: what becomes of the test where evidence is lacking
        """
        __tracebackhide__ = True
        from voirdire.app.check import check
        from voirdire.errors import VoirdireError

        lang = self._setting("lang") or "en"
        choice = not_enough or self._setting("not_enough") or FAIL
        try:
            _check_choice(choice)
            result = check(self._source(profile, "profile"), self._source(policy, "policy"))
        except VoirdireError as error:
            pytest.fail(error.message(lang), pytrace=False)
        if result.outcome == "pass":
            return result
        story = told(result, lang)
        if result.outcome == "not_enough" and choice != FAIL:
            self.node.user_properties.append((LACKING, story))
        if result.outcome == "not_enough" and choice == SKIP:
            pytest.skip(story)
        if result.outcome == "not_enough" and choice == XFAIL:
            pytest.xfail(story)
        pytest.fail(story, pytrace=False)

    def _setting(self, name: str) -> str:
        return str(self.config.getini(f"voirdire_{name}") or "")

    def _source(self, given: Any, name: str) -> Any:
        """What was given, or what the configuration says; paths from the root folder."""
        from voirdire.errors import UsageError

        found = given if given is not None else self._setting(name)
        if isinstance(found, str) and not found:
            raise UsageError("integrations.pytest.nothing_given", name=name)
        return self.config.rootpath / found if isinstance(found, str | Path) else found


def _check_choice(choice: str) -> None:
    from voirdire.errors import UsageError

    known = (FAIL, SKIP, XFAIL)
    if choice not in known:
        raise UsageError("integrations.pytest.choice", value=choice, known=", ".join(known))


def told(result: PolicyResult, lang: str = "en") -> str:
    """The outcome in a sentence, then a line for each check that did not pass: rule, place, value, interval, reason."""
    from voirdire.app.check import line, summary

    return "\n".join(
        [summary(result, lang), *(line(check, lang) for check in result.checks if check.outcome != "pass")]
    )
