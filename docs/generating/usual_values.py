"""What holds where a key is left out, where a class of the code declares it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache

from voirdire.analysis.policy_rules import Requirement
from voirdire.annotation.nouns import Asked, Screening, Study
from voirdire.construction.build_file import Balance, SplitPlan
from voirdire.construction.imaging.settings import ImageSettings
from voirdire.construction.screening_rule import Rule
from voirdire.judging.providers.capability import Capability, Price

CLASSES: Mapping[tuple[str, str], type] = {
    ("annotation", ""): Study,
    ("annotation", "[[questions]]"): Asked,
    ("annotation", "[[screening]]"): Screening,
    ("build", "[balance]"): Balance,
    ("build", "[images]"): ImageSettings,
    ("build", "[screening]"): Rule,
    ("build", "[splits]"): SplitPlan,
    ("models", "[[model]] and [family.NAME]"): Capability,
    ("policy", "[[require]]"): Requirement,
    ("prices", "[[price]]"): Price,
}
"""File and table -> the class that it becomes."""


@cache
def usual_values(file: str, table: str) -> Mapping[str, str]:
    """Key -> what holds without it, as TOML; keys without a usual value of their own are left out.

    >>> usual_values("build", "[balance]"), usual_values("annotation", "")["lease_minutes"]
    ({'min_per_category': '1'}, '60')
    """
    kind = CLASSES.get((file, table))
    told = {} if kind is None else {one.name: one.default for one in fields(kind)}
    return {name: _as_toml(value) for name, value in told.items() if value not in (MISSING, None, "", ())}


def _as_toml(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
