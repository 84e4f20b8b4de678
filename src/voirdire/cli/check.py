"""``voirdire check``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import has, text

ProfilePath = Annotated[Path, typer.Argument(help="cli.option.profile", metavar="PROFILE")]
PolicyPath = Annotated[Path, typer.Option("--policy", help="cli.option.policy", metavar="FILE")]
COLUMNS = ("requirement", "limit", "place", "number", "outcome", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "check", check, "cli.check")


def check(
    ctx: typer.Context, profile: ProfilePath, policy: PolicyPath, json: o.Json = False, lang: o.Lang = None
) -> None:
    from voirdire.app.check import check as run_check

    language = ctx.find_object(str) or "en"
    result = run_check(profile, policy)
    if json:
        show.json({"command": "check", **document(result)})
    else:
        columns = [text(f"policy.column.{column}", language) for column in COLUMNS]
        show.out(show.table(columns, [row(check, language) for check in result.checks]))
        show.out("")
        show.out(summary(result, language))
    raise typer.Exit(result.exit_code)


def document(result: Any) -> dict[str, Any]:
    """The result for machines: outcome, exit code and every check with its numbers."""
    return {
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "checks": [asdict(check) for check in result.checks],
    }


def row(check: Any, lang: str) -> list[str]:
    """One check as a line of the table."""
    return [
        check.name or str(check.requirement),
        text(f"policy.rule.{check.rule}", lang, limit=check.limit),
        place(check),
        number(check),
        text(f"policy.outcome.{check.outcome}", lang),
        reason(check, lang),
    ]


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


def reason(check: Any, lang: str) -> str:
    """Why a check has its outcome, in words."""
    key = f"undefined.{check.undefined}"
    why = text(key, lang) if check.undefined and has(key, lang) else str(check.undefined or "")
    return text(f"policy.reason.{check.reason}", lang, why=why, n=check.n, min_n=check.min_n)


def summary(result: Any, lang: str) -> str:
    """The outcome of the whole policy in one sentence."""
    outcomes = [check.outcome for check in result.checks]
    passed, failed, unsure = (outcomes.count(outcome) for outcome in ("pass", "fail", "not_enough"))
    counts = {"total": len(outcomes), "passed": passed, "failed": failed, "unsure": unsure}
    return text(f"policy.overall.{result.outcome}", lang, **counts)
