"""Which pool each persona speaks for, and which level is the one without a persona."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from voirdire.analysis.options import AuditOptions
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError

NOTHING = frozenset({"none", "neutral", "base", "baseline", "no", "-", "", "0", "zero_shot", "unprompted"})
"""Names of a level that has nothing of its factor, whatever their case."""


@dataclass(frozen=True)
class Personas:
    """The levels of a persona factor.

    pool_of : level -> pool; neutral : levels without a persona; notes : what was concluded, or is missing
    """

    pool_of: Mapping[str, str]
    neutral: frozenset[str]
    notes: tuple[Note, ...] = ()


def read_personas(frame: pl.DataFrame, column: str | None, pools: tuple[str, ...], options: AuditOptions) -> Personas:
    """The part of every level of the persona factor (``column`` of ``frame``; None: there is none).

    A level speaks for the pool of its name or of ``options.personas``. Levels of known names (``none``, ``neutral``,
    ``-``, ...), those said to be ``none``, and a single one beside personas have no persona.

    Raises UsageError for a level or pool that does not exist, or personas without a persona factor.

    >>> frame = pl.DataFrame({"persona": ["us", "cn", "nobody"]})
    >>> read = read_personas(frame, "persona", ("us", "cn"), AuditOptions())
    >>> sorted(read.neutral), read.notes[0].fields
    (['nobody'], {'level': 'nobody', 'column': 'persona'})
    """
    if column is None:
        if options.personas:
            raise UsageError("audit.persona_no_factor", value=options.personas[0][0])
        return Personas({}, frozenset())
    levels = sorted(frame[column].drop_nulls().unique())
    pool_of, said = _pools_said(levels, pools, options)
    neutral = said | {level for level in levels if level.lower() in NOTHING and level not in pool_of}
    other = [level for level in levels if level not in pool_of and level not in neutral]
    if pool_of and not neutral and len(other) == 1:
        taken = Note("audit.note.persona_taken", {"level": other[0], "column": column})
        return Personas(pool_of, frozenset(other), (taken,))
    return Personas(pool_of, frozenset(neutral), _missing(column, levels, pool_of, frozenset(neutral), options))


def _pools_said(
    levels: list[str], pools: tuple[str, ...], options: AuditOptions
) -> tuple[dict[str, str], frozenset[str]]:
    """Level -> pool, by name or as told, and the levels told to be without a persona."""
    by_name = {pool.lower(): pool for pool in pools}
    found = {level: by_name[level.lower()] for level in levels if level.lower() in by_name}
    nobody = set()
    for level, pool in options.personas:
        if level not in levels:
            raise UsageError("audit.persona_unknown", value=level, known=", ".join(levels))
        if pool in pools:
            found[level] = pool
        elif pool.lower() in NOTHING:
            found.pop(level, None)
            nobody.add(level)
        else:
            raise UsageError("audit.persona_pool", value=level, pool=pool, known=", ".join(pools))
    return found, frozenset(nobody)


def _missing(
    column: str, levels: list[str], pool_of: Mapping[str, str], neutral: frozenset[str], options: AuditOptions
) -> tuple[Note, ...]:
    told = {"column": column, "levels": ", ".join(levels)}
    if not pool_of:
        asked = dict(options.factor_roles).get("persona") == column
        return (Note("audit.note.persona_no_pool", told, "warning"),) if asked else ()
    return () if neutral else (Note("audit.note.persona_no_neutral", told, "warning"),)
