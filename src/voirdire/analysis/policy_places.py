"""Where the limits of a policy apply: the names of a profile, and every place that a requirement covers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import polars as pl

from voirdire.analysis.policy_rules import EACH, Requirement, Rule
from voirdire.errors import PolicyError


def places(
    requirement: Requirement, rule: Rule, known: dict[str, list[Any]], meta: Mapping[str, Any], file: str
) -> list[dict[str, str]]:
    """Every place that a limit covers, as the columns of the estimates table."""
    chosen = {place: _names(requirement, place, known, meta, rule, file) for place in rule.places}
    found: list[dict[str, str]] = []
    for question in chosen["question"]:
        pairs = _detailed(question, known, meta)
        here = {**chosen, "question": [question]}
        if _all_of(requirement, "pair") and "pair" in chosen:
            here["pair"] = pairs
        grid = (dict(zip(here, names, strict=True)) for names in product(*here.values()))
        partners = {frozenset(pair) for pair in pairs} if _all_of(requirement, "against") else None
        found += [_columns(place) for place in grid if "against" not in place or _meets(place, partners)]
    return found


def pairs_left(
    requirement: Requirement, rule: Rule, known: dict[str, list[Any]], meta: Mapping[str, Any], file: str
) -> list[tuple[str, int, int]]:
    """Questions of which not every pair that the requirement means was reported: question, pairs left, pairs."""
    place = next((place for place in ("pair", "against") if place in rule.places), None)
    if place is None or not _all_of(requirement, place):
        return []
    pools = set(_names(requirement, "pool", known, meta, rule, file)) if place == "against" else set(known["pool"])
    meant = {frozenset(pair) for pair in known["pair"] if pools & set(pair)}
    found = []
    for question in _names(requirement, "question", known, meta, rule, file):
        left = meant - {frozenset(pair) for pair in _detailed(question, known, meta)}
        found += [(question, len(left), len(meant))] if left else []
    return found


def _all_of(requirement: Requirement, place: str) -> bool:
    """Whether a requirement means every name of a place: by ``each``, or by silence."""
    return requirement.places.get(place, (EACH,)) == (EACH,)


def _detailed(question: str, known: dict[str, list[Any]], meta: Mapping[str, Any]) -> list[Any]:
    """The pairs that judges were held between at a question."""
    own = (meta.get("detail_pairs_by_question") or {}).get(question)
    found = own if own is not None else meta.get("detail_pairs") or meta.get("pairs") or known["pair"]
    return [tuple(pair) for pair in found]


def _meets(place: Mapping[str, Any], partners: set[frozenset[str]] | None) -> bool:
    """Whether a pool and the pool it is set against are two, and where all are meant, a pair of the profile."""
    pools = frozenset((place["pool"], place["against"]))
    return len(pools) == 2 and (partners is None or pools in partners)


def _columns(place: Mapping[str, Any]) -> dict[str, str]:
    pool, pool_b = place.get("pair", (place.get("pool", ""), place.get("against", "")))
    return {
        "question": place["question"],
        "pool": pool,
        "pool_b": pool_b,
        "judge": place.get("judge", ""),
        "condition": place.get("condition", ""),
        "slice": place["slice"],
    }


def _names(
    requirement: Requirement, place: str, known: dict[str, list[Any]], meta: Mapping[str, Any], rule: Rule, file: str
) -> list[Any]:
    given = requirement.places.get(place)
    usual = {"slice": ("all",), "condition": _all_conditions(meta)}
    if given is None and place in usual:
        return list(usual[place])
    given = given or (EACH,)
    if given == (EACH,):
        return _each(place, known, meta, rule)
    names = {*known["pool" if place == "pair" else place], *(("*",) if place in ("judge", "condition") else ())}
    for name in [part for entry in given for part in (entry if place == "pair" else (entry,))]:
        if name not in names:
            where = f"[[require]] {requirement.number}"
            listed = ", ".join(sorted(names)) or "-"
            raise PolicyError("policy.name_unknown", file=file, place=where, entry=place, name=name, known=listed)
    return list(given)


def _all_conditions(meta: Mapping[str, Any]) -> tuple[str, ...]:
    conditions = list(meta.get("conditions", []))
    return tuple(conditions) if len(conditions) == 1 else ("*",)


def _each(place: str, known: dict[str, list[Any]], meta: Mapping[str, Any], rule: Rule) -> list[Any]:
    """What ``each`` stands for: the names of the profile itself, without the selections made of them."""
    listed: dict[str, list[Any]] = {
        "judge": meta.get("judges") or [name for name in known["judge"] if name != "*" and "=" not in name],
        "condition": meta.get("conditions") or ["*"],
        "pair": known["pair"],
        "slice": known["slice"],
        "question": known["question"],
        "pool": known["pool"],
        "against": known["pool"],
    }
    if place == "question" and "judge" in rule.places:
        return list(meta.get("judged_questions") or known["question"])
    return list(listed[place])


def known_names(estimates: pl.DataFrame, meta: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The names of the profile by kind, in the profile's order, then those that only its estimates hold."""

    def merged(first: list[str], *columns: str) -> list[str]:
        found = {name for column in columns for name in estimates[column].unique().to_list() if name}
        return list(dict.fromkeys([*first, *sorted(found)]))

    pools = merged([pool["name"] for pool in meta.get("pools", [])], "pool", "pool_b")
    judges = [name for name in merged(list(meta.get("judges", [])), "judge") if not name.startswith("control:")]
    pairs = [tuple(pair) for pair in meta.get("pairs", [])] or [
        (a, b) for place, a in enumerate(pools) for b in pools[place + 1 :]
    ]
    return {
        "question": merged([question["id"] for question in meta.get("questions", [])], "question"),
        "pool": pools,
        "against": pools,
        "pair": pairs,
        "judge": judges,
        "condition": merged(list(meta.get("conditions", [])), "condition"),
        "slice": merged(["all"], "slice"),
    }
