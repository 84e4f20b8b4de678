"""``reference/estimates.md``: every statistic by its name, and every reason why one is undefined."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from generating.common import SOURCE, plain
from voirdire.texts import catalogue

ESTIMATES = """`estimates.csv` and `Profile.estimates` hold one row an estimate. Columns: `statistic`, `params`
(`k=v,k=v`), `question`, `pool`, `pool_b`, `judge`, `condition`, `slice` (empty where they do not apply; `*` for all
judges or conditions), then exactly one of `value`, `label` (a verdict, a gate) and `undefined` (the reason), `low`
and `high` (the interval), `n`, `excluded` (`reason=count;...`) and `signature`.

`judge` and `condition` hold a name, a selection (`origin=us`, `persona=us&design=base`) or `*`. Control judges are
named `control:...`. `slice` is `all`, `culture=cn` or `culture=cn&category=food`.

Slices and selections parse back: split at `&`, then at the first `=`. A `%`, `&` or `=` inside a column's name or a
level is percent-encoded (`category=food %26 drink`), in policies and after `--select` as well. A judge or condition
stands under its own name; `*` and names that begin with `control:` are refused, and so is a name that a level of a
covariate or factor has too, unless both mean the same cells. An item column `anchor` is sliced as `anchor_given`.

In `estimates.csv` a name that a spreadsheet would take for a formula (it begins with `=`, `+`, `@` or `-`) has an
apostrophe before it; `profile.json` and Python have it bare. `profile.json` is written last: where it stands, all
other files of its run do.

## The statistics

Under each name stands what the number says, for a reader of the report; where more is declared, how it is computed
(r is a judge's rating, m_a and m_b are the consensuses of the first and the second pool); *of*: a pool, a pair, a
judge, of which there is one row each; *over several cells*: how cells are put together; *undefined when*: reasons,
which are [told below](#why-an-estimate-is-undefined); and the *source*. *Jury Duty* is
[the study behind voirdire](../glossary.md#the-study-behind-voirdire). An introduction to the main numbers:
[what the numbers mean](../explanation/numbers.md).
"""


def page() -> str:
    """The page of estimates: every statistic by its name, and every reason why one is undefined."""
    for module in pkgutil.walk_packages([str(SOURCE / "stats")], "voirdire.stats."):
        import_module(module.name)
    from voirdire.statistic import REGISTRY

    declared: dict[str, list[Any]] = {}
    for statistic in REGISTRY.values():
        declared.setdefault(statistic.name, []).append(statistic)
    known = catalogue("en")
    names = [key.removeprefix("statistics.").removesuffix(".name") for key in known if _is_name(key)]
    lines = ["# Estimates", "", ESTIMATES]
    for name in names:
        lines += [
            f"### {name}",
            "",
            plain(f"{known[f'statistics.{name}.name']}. {known.get(f'statistics.{name}.help', '')}"),
            "",
        ]
        lines += [_declaration(statistic) for statistic in declared.get(name, [])]
    lines += ["## Why an estimate is undefined", ""]
    lines += [
        f"- `{key.removeprefix('undefined.')}`: {plain(known[key])}" for key in known if key.startswith("undefined.")
    ]
    return "\n".join(lines)


def _is_name(key: str) -> bool:
    return key.startswith("statistics.") and key.endswith(".name")


def _declaration(statistic: Any) -> str:
    params = ",".join(f"{name}={value}" for name, value in statistic.params.items())
    facts = {
        "params": f"`{params}`" if params else "",
        "of": statistic.per.replace("_", " and "),
        "scale": "" if statistic.scale in ("any", "numeric") else statistic.scale,
        "bounds": statistic.bounds,
        "over several cells": statistic.across.replace("_", " "),
        "interval": statistic.interval.replace("_", " "),
        "undefined when": ", ".join(f"`{reason}`" for reason, _ in statistic.undefined),
        "source": statistic.source,
    }
    told = plain(" ".join(statistic.doc.split()))
    return f"{told}\n\n" + "\n".join(f"- {name}: {plain(fact)}" for name, fact in facts.items() if fact) + "\n"
