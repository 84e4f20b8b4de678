"""``voirdire check``: does a profile meet a policy?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from voirdire.analysis.policy import Policy
from voirdire.analysis.policy_rules import PolicyResult
from voirdire.texts import has, text


class Words(NamedTuple):
    """A check in words: the requirement, its limit, where, what was found, on how many items, the outcome, why."""

    requirement: str
    limit: str
    place: str
    number: str
    items: str
    outcome: str
    reason: str


def check(profile: Any, policy: Any) -> PolicyResult:
    """Check a profile against a policy.

    Parameters
    ----------
    profile : Profile, or the path of an audit's folder or of its profile.json
    policy : Policy, or the path of a policy file

    Raises InputError when the profile and PolicyError when the policy cannot be read.

    The result's ``outcome`` is ``pass``, ``fail`` or ``not_enough``, its ``exit_code`` 0, 1 or 2.
    """
    from voirdire.analysis.profile import Profile

    rules = policy if isinstance(policy, Policy) else Policy.load(Path(policy))
    found = profile if isinstance(profile, Profile) else Profile.load(Path(profile))
    return rules.check(found.estimates, found.meta)


def words(check: Any, lang: str) -> Words:
    """One check in words."""
    return Words(
        check.name or str(check.requirement),
        text(f"policy.rule.{check.rule}", lang, limit=check.limit),
        place(check),
        number(check),
        items(check, lang),
        text(f"policy.outcome.{check.outcome}", lang),
        reason(check, lang),
    )


def line(check: Any, lang: str) -> str:
    """One check in one line, for places without a table."""
    return text("policy.line", lang, **words(check, lang)._asdict())


def place(check: Any) -> str:
    """Where a check applies, without what says nothing."""
    pools = " / ".join(pool for pool in (check.pool, check.pool_b) if pool)
    condition = "" if check.condition in ("*", "-") else check.condition
    named = "" if check.slice == "all" else check.slice
    return ", ".join(part for part in (check.question, pools, check.judge, condition, named) if part) or "-"


def number(check: Any) -> str:
    """The number found and its interval."""
    if check.label is not None:
        return str(check.label)
    if check.value is None:
        return "-"
    ends = "" if check.low is None or check.high is None else f" [{check.low:.3g}, {check.high:.3g}]"
    return f"{check.value:.3g}{ends}"


def items(check: Any, lang: str) -> str:
    """The items that a number rests on, and of how many where the judge was to rate more."""
    if check.n is None:
        return "-"
    if check.items is None or check.items <= check.n:
        return str(check.n)
    return text("policy.items", lang, n=check.n, items=check.items)


def reason(check: Any, lang: str) -> str:
    """Why a check has its outcome, in words."""
    key = f"undefined.{check.undefined}"
    why = text(key, lang) if check.undefined and has(key, lang) else str(check.undefined or "")
    counts = {"n": check.n or 0, "min_n": check.min_n, "pairs": check.pairs, "left": check.pairs_left}
    return text(f"policy.reason.{check.reason}", lang, why=why, **counts)


def summary(result: Any, lang: str) -> str:
    """The outcome of the whole policy in one sentence."""
    outcomes = [check.outcome for check in result.checks]
    passed, failed, unsure = (outcomes.count(outcome) for outcome in ("pass", "fail", "not_enough"))
    counts = {"total": len(outcomes), "passed": passed, "failed": failed, "unsure": unsure}
    return text(f"policy.overall.{result.outcome}", lang, **counts)
