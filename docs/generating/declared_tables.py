"""Which tables there are, and which columns and types, as the code declares them.

Where a table has no declaration, a small one is made and its columns are read off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import polars as pl

TYPES: Mapping[str, str] = {
    "String": "text",
    "Float64": "number",
    "Int64": "whole number",
    "Boolean": "`true` or `false`",
    "TEXT": "text",
    "REAL": "number",
    "INTEGER": "whole number",
}
Columns = dict[str, str]


def declared_tables() -> dict[str, Columns]:
    """Table -> column -> type in words, empty where the code keeps every cell as text until it is read."""
    return {**_inputs(), **_run(), **_audit(), **_planning(), **_collected(), **_build()}


def other_names(column: str) -> str:
    """The names by which a column is recognised besides its own; those in brackets where nothing better is there."""
    from voirdire.corpus.columns import NAMES

    likely, weak = NAMES.get(column, ("", ""))
    return ", ".join([*likely.split(), *(f"({name})" for name in weak.split())])


def _inputs() -> dict[str, Columns]:
    from voirdire.corpus import columns, judgment_steps, longform, questions, shares, shown, sides

    items = ("item_id", *dict.fromkeys((*columns.ITEM_COLUMNS, *shown.WORDED)))
    raters_see = ("text", "widget", "low_end", "high_end", "help")
    named: Mapping[str, Iterable[str]] = {
        "ratings": (*longform.KEYS, sides.SHOWN_FIRST),
        "items": (*items, "regime", "counterpart", "level", "min", "max"),
        "raters": ("rater_id", "pool"),
        "questions": (*questions.COLUMNS, *raters_see),
        "shares": shares.COLUMNS,
        "judgments": (*judgment_steps.TARGETS, sides.SHOWN_FIRST),
        "judges": ("judge",),
        "conditions": ("condition",),
    }
    return {table: dict.fromkeys(names, "") for table, names in named.items()}


def _run() -> dict[str, Columns]:
    from voirdire.judging import export, ledger

    found = {"run-judgments": _typed(export.SCHEMA)}
    with sqlite3.connect(":memory:") as db:
        db.executescript(f"{ledger.SCHEMA}{ledger.REOPENED};{ledger.HELD_TABLE}")
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            told = db.execute(f"PRAGMA table_info({table})").fetchall()
            found[f"ledger-{table}"] = {name: TYPES[kind] for _, name, kind, *_ in told}
    return found


def _audit() -> dict[str, Columns]:
    from voirdire.analysis import exhibits, item_tables, rows

    return {
        "estimates": _typed(rows.COLUMNS),
        "compared-items": {"item_id": ""},
        "compared-consensus": _typed(item_tables.CONSENSUS_COLUMNS),
        "compared-judgments": _typed(item_tables.JUDGMENT_COLUMNS),
        "compared-shares": _typed(item_tables.SHARE_COLUMNS),
        "distributions": _typed(exhibits.DISTRIBUTIONS),
    }


def _planning() -> dict[str, Columns]:
    from voirdire.analysis.power import PowerOptions, power_table
    from voirdire.analysis.specifications import SPECIFICATIONS
    from voirdire.analysis.survival import survival
    from voirdire.simulation.presets import paired_world
    from voirdire.simulation.tables import simulate_tables

    row = {name: ["1" if kind == pl.String else 1] for name, kind in SPECIFICATIONS.items()}
    row |= {"statistic": ["tilt"], "subset": ["all"], "main": [True]}
    curve = pl.DataFrame(row, schema_overrides=SPECIFICATIONS)
    power = power_table(PowerOptions(items=(60,), simulations=0))
    tables = simulate_tables(paired_world(items=8), seed=0)
    return {
        "speccurve": _typed(SPECIFICATIONS),
        "speccurve-summary": dict.fromkeys(survival(curve).columns, ""),
        "power-plans": dict.fromkeys(power.plans.columns, ""),
        "power-needed": dict.fromkeys(power.needed.columns, ""),
        "truth-items": _each_pool(tables.truth_items.columns),
        "truth-judges": {**_each_pool(tables.truth_judges.columns), "design": ""},
    }


def _collected() -> dict[str, Columns]:
    from voirdire.annotation import progress, rating_tables
    from voirdire.annotation.verdicts import ItemVerdict, PoolAnswers, verdicts_table

    verdict = ItemVerdict("a", "keep", {"us": PoolAnswers({}, 1)})
    names = {
        "collected-ratings": rating_tables.RATED,
        "collected-repeats": progress.REPEATED,
        "collected-checks": rating_tables.CHECKED,
        "collected-comments": rating_tables.WRITTEN,
    }
    found = {table: dict.fromkeys(columns, "") for table, columns in names.items()}
    return {**found, "collected-verdicts": _each_pool(verdicts_table([verdict]).columns)}


def _build() -> dict[str, Columns]:
    from voirdire.construction import concepts, screening
    from voirdire.construction.translation import equivalence

    return {
        "concepts": dict.fromkeys((*concepts.NEEDED, "prompt", "alt", *concepts.OPTIONAL), ""),
        "screening": _typed(screening.COLUMNS),
        "equivalence": dict.fromkeys((*equivalence.NEEDED, "question", "pool"), ""),
    }


def _typed(schema: Mapping[str, object]) -> Columns:
    return {name: TYPES[str(kind)] for name, kind in schema.items()}


def _each_pool(columns: Iterable[str]) -> Columns:
    """Columns of which each pool has one, under the pool's name."""
    return dict.fromkeys((f"{name.split('.')[0]}.POOL" if "." in name else name for name in columns), "")
