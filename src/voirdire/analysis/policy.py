"""Policies: what a profile must satisfy before a judge is used, and whether it does.

A policy is a TOML file of requirements. A requirement names places (question, pool, pair, judge, condition,
slice) and limits; every limit is checked at every place it covers, with the interval and never the point:

- the whole interval inside the limit: pass
- the whole interval outside: fail
- the interval on both sides, or no estimate, or no interval, or too few items: not enough evidence

Over all checks a fail beats a lack of evidence, and a lack of evidence beats a pass.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.analysis.policy_places import known_names, pairs_left, places
from voirdire.analysis.policy_rules import (
    EACH,
    KEY,
    MIN_N,
    NOT_ENOUGH,
    PLACES,
    RULES,
    SWITCHES,
    Check,
    PolicyResult,
    Requirement,
    Rule,
    decide,
)
from voirdire.errors import PolicyError

SETTINGS = ("name", "min_n")
MADE_BY = ("folds=",)  # params that say how every row of a statistic was made; all others make another number
ASKED = "missing_share"  # its n counts the items that a judge was to rate
PLACE_COLUMNS = ("question", "pool", "pool_b", "judge", "condition", "slice")
NUMBERS = ("value", "label", "undefined", "low", "high", "n", "signature", "items", "pairs", "pairs_left")


@dataclass(frozen=True)
class Policy:
    """The requirements of one policy file."""

    requirements: tuple[Requirement, ...]
    file: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file. Raises PolicyError for a file that is missing, no TOML or wrongly filled in."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise PolicyError("policy.file_missing", file=str(path)) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PolicyError("policy.not_toml", file=str(path), why=str(error)) from error
        return cls.of(table, file=str(path))

    @classmethod
    def of(cls, table: Mapping[str, Any], file: str = "policy") -> Policy:
        """A policy from the tables of its file.

        >>> policy = Policy.of({"require": [{"max_mae": 0.8, "pool": "us"}]})
        >>> policy.requirements[0].limits["max_mae"], policy.requirements[0].places["pool"]
        (0.8, ('us',))
        """
        _known_keys(table, ("defaults", "require"), file, "-")
        defaults, entries = table.get("defaults", {}), table.get("require", [])
        if not isinstance(defaults, dict) or not isinstance(entries, list) or not entries:
            raise PolicyError("policy.no_requirement", file=file)
        _known_keys(defaults, (*PLACES, "min_n"), file, "[defaults]")
        requirements = (_requirement(entry, defaults, number, file) for number, entry in enumerate(entries, start=1))
        return cls(tuple(requirements), file)

    def check(self, estimates: pl.DataFrame, meta: Mapping[str, Any]) -> PolicyResult:
        """Check a profile's estimates against every requirement.

        Raises PolicyError when the policy names a question, pool, judge, condition or slice that the profile
        does not have.
        """
        known = known_names(estimates, meta)
        index = _index(estimates)
        checks = (_checks(requirement, known, meta, index, self.file) for requirement in self.requirements)
        return PolicyResult(tuple(chain.from_iterable(checks)))


Index = dict[tuple[Any, ...], list[dict[str, Any]]]


def _index(estimates: pl.DataFrame) -> Index:
    """The rows that rules look at, by what identifies them: more than one of a key is a profile's fault."""
    statistics = {rule.statistic for rule in RULES.values()}
    index: Index = {}
    for row in estimates.filter(pl.col("statistic").is_in(sorted(statistics))).iter_rows(named=True):
        index.setdefault(_key(row), []).append(row)
    return index


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What identifies a row for a rule: its place and its params, but for those that every such row has."""
    params = ",".join(part for part in row["params"].split(",") if not part.startswith(MADE_BY))
    return tuple(params if column == "params" else row[column] for column in KEY)


def _checks(
    requirement: Requirement, known: dict[str, list[Any]], meta: Mapping[str, Any], index: Index, file: str
) -> Iterator[Check]:
    nowhere = dict.fromkeys(PLACE_COLUMNS, "")
    for rule in requirement.limits:
        covered = places(requirement, RULES[rule], known, meta, file)
        yield from (_check(requirement, rule, place, index) for place in covered)
        if not covered:
            yield _outcome(requirement, rule, nowhere, (NOT_ENOUGH, "no_place"), {})
        for question, left, pairs in pairs_left(requirement, RULES[rule], known, meta, file):
            counts = {"pairs": pairs, "pairs_left": left}
            yield _outcome(requirement, rule, {**nowhere, "question": question}, (NOT_ENOUGH, "pairs_left"), counts)


def _check(requirement: Requirement, rule: str, place: dict[str, str], index: Index) -> Check:
    rows = _find(index, RULES[rule], place)
    if len(rows) > 1:
        return _outcome(requirement, rule, place, (NOT_ENOUGH, "ambiguous"), {})
    row = rows[0] if rows else None
    decided = decide(rule, requirement.limits[rule], row, requirement.min_n)
    asked = index.get((ASKED, "", place["question"], "", "", place["judge"], place["condition"], place["slice"]), [])
    items = {"items": asked[0]["n"]} if len(asked) == 1 else {}
    return _outcome(requirement, rule, place, decided, {**(row or {}), **items})


def _outcome(
    requirement: Requirement, rule: str, place: dict[str, str], decided: tuple[str, str], row: Mapping[str, Any]
) -> Check:
    outcome, reason = decided
    found: dict[str, Any] = {name: row[name] for name in NUMBERS if name in row}
    return Check(
        requirement=requirement.number,
        name=requirement.name,
        rule=rule,
        limit=requirement.limits[rule],
        outcome=outcome,
        reason=reason,
        min_n=requirement.min_n,
        **{**place, **found},
    )


def _find(index: Index, rule: Rule, place: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a place: one, or none; limits on absolute values do not care for the order of a pair."""
    pairs = [(place["pool"], place["pool_b"])]
    if rule.decides in ("nearest_zero", "nearest_half") and place["pool"] != place["pool_b"]:
        pairs.append((place["pool_b"], place["pool"]))
    found: list[dict[str, Any]] = []
    for pool, pool_b in pairs:
        key = (rule.statistic, rule.params, place["question"], pool, pool_b)
        found += index.get((*key, place["judge"], place["condition"], place["slice"]), [])
    return found


def _requirement(entry: Any, defaults: Mapping[str, Any], number: int, file: str) -> Requirement:
    where = f"[[require]] {number}"
    if not isinstance(entry, dict):
        raise PolicyError("policy.no_requirement", file=file)
    _known_keys(entry, (*RULES, *PLACES, *SETTINGS), file, where)
    limits = {rule: _limit(entry[rule], rule, file, where) for rule in RULES if rule in entry}
    if not limits:
        raise PolicyError("policy.no_rule", file=file, place=where, known=", ".join(RULES))
    used = {place for rule in limits for place in RULES[rule].places}
    for place in PLACES:
        if place in entry and place not in used:
            rules = ", ".join(limits)
            raise PolicyError("policy.place_unused", file=file, place=where, entry=place, rules=rules)
    merged = {**defaults, **entry}
    named = {place: _place(merged[place], place, file, where) for place in PLACES if place in merged}
    min_n = merged.get("min_n", MIN_N)
    if not isinstance(min_n, int) or isinstance(min_n, bool) or min_n < 0:
        raise PolicyError("policy.value_count", file=file, place=where, entry="min_n", value=min_n)
    return Requirement(number, limits, named, str(entry.get("name", "")), min_n)


def _limit(value: Any, rule: str, file: str, where: str) -> float:
    if rule in SWITCHES:
        if value is not True:
            raise PolicyError("policy.value_true", file=file, place=where, entry=rule, value=value)
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise PolicyError("policy.value_limit", file=file, place=where, entry=rule, value=value)
    return float(value)


def _place(value: Any, place: str, file: str, where: str) -> tuple[Any, ...]:
    """One name, a list of names, or ``each``; for a pair two names or a list of such."""
    if isinstance(value, str) and value and (place != "pair" or value == EACH):
        return (value,)
    entries = [value] if place == "pair" and _two_names(value) else value
    fits = _two_names if place == "pair" else _is_name
    if not isinstance(entries, list) or not entries or not all(fits(entry) for entry in entries):
        key = "policy.value_pair" if place == "pair" else "policy.value_names"
        raise PolicyError(key, file=file, place=where, entry=place, value=value)
    return tuple(tuple(entry) if place == "pair" else entry for entry in entries)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _two_names(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(_is_name(name) for name in value) and value[0] != value[1]
    )


def _known_keys(table: Mapping[str, Any], known: tuple[str, ...], file: str, where: str) -> None:
    for key in table:
        if key not in known:
            raise PolicyError("policy.key_unknown", file=file, place=where, entry=key, known=", ".join(known))
