"""The audit: from a corpus and judgments to a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import Context, Mask
from voirdire.analysis.counterparts import together_notes
from voirdire.analysis.engine import load_plugins
from voirdire.analysis.exhibits import distributions, splitting_items
from voirdire.analysis.experiment.add import add_experiment
from voirdire.analysis.experiment.design import Design, Experiment, read_design
from voirdire.analysis.item_tables import item_tables
from voirdire.analysis.judge_extras import add_extras
from voirdire.analysis.judge_rows import Judged, add_judges, with_controls
from voirdire.analysis.judge_tests import family_of
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.panels import Panel, build_cells, build_panel
from voirdire.analysis.pool_rows import add_pools
from voirdire.analysis.preference_rows import (
    Things,
    add_judged_preferences,
    add_preferences,
    things_notes,
    things_of,
)
from voirdire.analysis.profile import Profile
from voirdire.analysis.roles import add_roles
from voirdire.analysis.rows import Table
from voirdire.analysis.selections import item_slices, select, slicing_column
from voirdire.analysis.specification_rows import specification_rows
from voirdire.analysis.specifications import SPECIFICATIONS
from voirdire.analysis.validity import add_validity
from voirdire.analysis.verdicts import add_verdicts
from voirdire.corpus.corpus import Corpus, Intake, Judgments, Note
from voirdire.corpus.intake import merged
from voirdire.corpus.sides import thing_columns, votes_among
from voirdire.errors import InputError, UsageError
from voirdire.stats.agreement import anchor_classes
from voirdire.stats.features import Features
from voirdire.version import VERSION

Progress = Callable[[str, float], None]
MOST_DETAILED = 3
KNOWN = frozenset({"category", "split"})
"""Columns of items that are known to be no culture."""


def evaluate(
    corpus: Corpus,
    judgments: Judgments | None = None,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Every estimate of the pools (section 1) and, with judgments, of the judges against every pool (section 2).

    Parameters
    ----------
    corpus, judgments : as ``read_corpus`` and ``read_judgments`` give them
    options : defaults of :class:`AuditOptions` when left out
    progress : called with a step's name and the share done

    Raises
    ------
    UsageError : options that name pools, columns or selections that do not exist
    InputError : nothing to compare: no ratings, or no judgment of a rated item
    """
    options = options or AuditOptions()
    tell = progress or _silent
    table = Table(source_of(corpus, judgments))
    load_plugins()
    contexts = contexts_of(corpus, options, table)
    judged = judged_questions(contexts, judgments)
    things = {context.panel.question.id: things_of(corpus, context.panel) for context in contexts}
    steps = len(contexts) + len(judged) + 1
    for done, context in enumerate(contexts):
        tell("pools", done / steps)
        add_pools(context)
        add_roles(context, corpus)
        add_preferences(context, things[context.panel.question.id])
    add_validity(contexts, table)
    cells: dict[str, Judged] = {}
    designs: dict[str, Design] = {}
    curves = [pl.DataFrame(schema=SPECIFICATIONS)]
    by_role = {known.panel.question.role: known for known in contexts if known.panel.question.role}
    asked = [context for context in contexts if context.panel.question.id in judged]
    for done, context in enumerate(asked, start=len(contexts)):
        assert judgments is not None
        question = context.panel.question.id
        tell("judges", done / steps)
        cells[question] = _judge(context, corpus, judgments, things[question])
        designs[question] = design = read_design(judgments, cells[question], context.pools, context.options)
        add_experiment(experiment := Experiment(context, cells[question], design, corpus, by_role))
        curves.append(specification_rows(experiment))
    add_verdicts(contexts, cells, table)
    tell("report", (steps - 1) / steps)
    compared, large = item_tables(corpus.items, contexts, judgments, tuple(cells), options.compared)
    told = [*_told(corpus, contexts, designs), *things_notes(things), *large]
    return Profile(
        table.frame(),
        _meta(corpus, judgments, options, contexts, cells, told)
        | {"designs": {question: design.told for question, design in designs.items()}},
        distributions(contexts, cells),
        splitting_items(contexts, cells, corpus),
        pl.concat(curves),
        compared,
    )


def _silent(step: str, share: float) -> None:
    """Tell nobody."""


def _judge(context: Context, corpus: Corpus, judgments: Judgments, things: Things) -> Judged:
    judged = judged_cells(context, corpus, judgments)
    add_judges(context, judged)
    add_extras(context, judged)
    add_judged_preferences(context, judged, things)
    return judged


def judged_cells(context: Context, corpus: Corpus, judgments: Judgments) -> Judged:
    """The judges' cells of a question with the controls behind them. Raises InputError without a common item."""
    question = context.panel.question
    built = build_cells(judgments, question, corpus, context.panel)
    if (built.status == built.reasons.index("absent")).all():
        raise InputError("audit.nothing_in_common", question=question.id)
    selections = select(judgments, built.frame, context.options.selects)
    rank_only = frozenset(judge for judge, asked in judgments.rank_only if asked == question.id)
    return with_controls(context, built, selections, rank_only)


def judged_questions(contexts: list[Context], judgments: Judgments | None) -> list[str]:
    """The rated questions that judgments answer."""
    if judgments is None:
        return []
    known = {context.panel.question.id for context in contexts}
    judged = [name for name in judgments.questions if name in known]
    if not judged:
        raise InputError("audit.nothing_judged", questions=", ".join(sorted(known)))
    return judged


def contexts_of(corpus: Corpus, options: AuditOptions, table: Table) -> list[Context]:
    """A context for every rated question. Raises InputError when nothing is rated."""
    contexts = []
    for question in corpus.questions:
        panel = build_panel(corpus, question, consensus=options.consensus, min_raters=options.min_raters)
        if not panel.n_items:
            continue
        pairs = _pairs(panel, options)
        detail = _detail(panel, options, pairs)
        slices = item_slices(corpus, panel.item_rows, options.slices, things=columns_of_things(corpus))
        slices |= _anchor_slices(panel, detail)
        contexts.append(Context(panel, options, table, pairs, detail, slices))
    if not contexts:
        raise InputError("audit.no_ratings")
    return contexts


def columns_of_things(corpus: Corpus) -> frozenset[str]:
    """Columns of items that name the two things of a pairwise vote: which stands in which means nothing."""
    columns = [thing_columns(corpus.items.columns, question.scale) for question in votes_among(corpus.questions)]
    return frozenset(name for pair in columns if pair for name in pair)


def _pairs(panel: Panel, options: AuditOptions) -> tuple[tuple[int, int], ...]:
    """Every pair of pools; those asked for first and in the order asked for."""
    asked: list[tuple[int, int]] = []
    for pair in options.pairs:
        if pair[0] == pair[1]:
            raise UsageError("audit.pair_same", pool=pair[0])
        for pool in pair:
            if pool not in panel.pools:
                raise UsageError("audit.pool_unknown", pool=pool, known=", ".join(panel.pools))
        places = (panel.pools.index(pair[0]), panel.pools.index(pair[1]))
        if frozenset(places) not in {frozenset(known) for known in asked}:
            asked.append(places)
    taken = {frozenset(pair) for pair in asked}
    return (*asked, *(pair for pair in combinations(range(len(panel.pools)), 2) if frozenset(pair) not in taken))


def _detail(panel: Panel, options: AuditOptions, pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The pairs that judges are held against: those asked for, all of up to three pools, or the three widest."""
    if options.all_pairs or (len(panel.pools) <= MOST_DETAILED and not options.pairs):
        return pairs
    if options.pairs:
        return pairs[: len({frozenset(pair) for pair in options.pairs})]
    beyond = {pair: _beyond_noise(panel, pair) for pair in pairs}
    ranked = sorted((pair for pair in pairs if beyond[pair] > -np.inf), key=lambda pair: -beyond[pair])
    return tuple(ranked[:MOST_DETAILED])


def _beyond_noise(panel: Panel, pair: tuple[int, int]) -> float:
    """cross_pool_mad less its noise floor (0 where unknown); -inf without common items."""
    features = Features(panel.arrays)
    both = features.get("both", pair).sum()
    if both == 0:
        return -np.inf
    return float((features.get("abs_gap", pair).sum() - features.get("noise_gap", pair).sum()) / both)


def _anchor_slices(panel: Panel, detail: tuple[tuple[int, int], ...]) -> Mapping[str, Mask]:
    """Slices by anchor class, where there is one pair to define it and the scale has four levels or more."""
    from voirdire.analysis.context import scale_codes

    if len(detail) != 1 or "levels" not in scale_codes(panel):
        return {}
    classes = anchor_classes(Features(panel.arrays), *detail[0])
    return {f"anchor={name}": mask for name, mask in classes.items() if mask.any()}


def source_of(corpus: Corpus, judgments: Judgments | None) -> dict[str, str]:
    """Digests of the tables and the version: what every signature says of its material."""
    tables = [*corpus.intake, *(judgments.intake if judgments else ())]
    digests = {entry.table: entry.digest[:8] for entry in tables if entry.digest}
    return {**digests, "voirdire": VERSION}


def _meta(
    corpus: Corpus,
    judgments: Judgments | None,
    options: AuditOptions,
    contexts: list[Context],
    cells: Mapping[str, Judged],
    told: Sequence[Note],
) -> dict[str, Any]:
    first = contexts[0]
    detail = {context.panel.question.id: _named(context, context.detail) for context in contexts}
    lead = next((context for context in contexts if context.panel.question.id in cells), first)
    return {
        "voirdire": VERSION,
        "name": corpus.name,
        "simulated": corpus.simulated,
        "corpus": corpus.frozen.as_dict() if corpus.frozen else {},
        "judged_corpus": dict(judgments.made_on) if judgments else {},
        "seed": options.seed,
        "options": _plain(asdict(options)),
        "intake": [_intake(entry) for entry in [*corpus.intake, *(judgments.intake if judgments else ())]],
        "left_out": {c.panel.question.id: dict(c.panel.excluded) for c in contexts if c.panel.excluded},
        "notes": [_note(note) for note in [*corpus.notes, *(judgments.notes if judgments else ()), *told]],
        "questions": [_question(context) for context in contexts],
        "pools": _pools(contexts),
        "pairs": _named(first, first.pairs),
        "detail_pairs": _named(lead, lead.detail),
        "detail_pairs_by_question": detail,
        "judged_questions": list(cells),
        **_judges_meta(judgments, cells),
        "slices": list(lead.slices),
        "families": _families(cells, contexts),
    }


def _told(corpus: Corpus, contexts: list[Context], designs: Mapping[str, Design]) -> tuple[Note, ...]:
    """Notes of the designs, each once; that no column says of which culture an item is; and items of two regimes."""
    notes = [note for design in designs.values() for note in design.notes]
    known = KNOWN | columns_of_things(corpus)
    columns = [name for name in corpus.items.columns if name not in known and slicing_column(corpus.items[name])]
    paired = any(context.detail for context in contexts if context.panel.question.id in designs)
    if paired and columns and "culture" not in corpus.items.columns:
        notes.append(Note("audit.note.no_culture", {"columns": ", ".join(columns)}))
    return merged((*notes, *together_notes(corpus.items, contexts[0].panel.item_rows.tolist())))


def _judges_meta(judgments: Judgments | None, cells: Mapping[str, Judged]) -> dict[str, Any]:
    if judgments is None or not cells:
        nothing: dict[str, Any] = {
            name: [] for name in ("judges", "conditions", "cells", "factors", "key_factors", "covariates")
        }
        return {**nothing, "judges_covariates": {}}
    frame = judgments.cells
    rows = frame.rows(named=True)
    covariates = {
        row["judge"]: {name: row[name] for name in judgments.covariates} for row in judgments.judges.rows(named=True)
    }
    return {
        "judges": frame["judge"].unique(maintain_order=True).to_list(),
        "conditions": frame["condition"].unique(maintain_order=True).to_list(),
        "cells": [{**row} for row in rows],
        "factors": list(judgments.factors),
        "key_factors": list(judgments.key_factors),
        "covariates": list(judgments.covariates),
        "judges_covariates": covariates,
        "rank_only": sorted([judge, question] for judge, question in judgments.rank_only),
    }


def _families(cells: Mapping[str, Judged], contexts: list[Context]) -> list[dict[str, Any]]:
    return [
        {
            "statistic": "delta_test",
            "question": context.panel.question.id,
            "pair": list(context.names(pair).values()),
            "slice_set": "all",
            "size": int(family_of(cells[context.panel.question.id]).sum()),
        }
        for context in contexts
        if context.panel.question.id in cells
        for pair in context.detail
    ]


def _pools(contexts: list[Context]) -> list[dict[str, Any]]:
    names = contexts[0].pools
    aggregate = {pool for context in contexts for pool in context.panel.aggregate}
    return [{"name": name, "color_index": k, "aggregate": name in aggregate} for k, name in enumerate(names)]


def _question(context: Context) -> dict[str, Any]:
    question, scale = context.panel.question, context.panel.scale
    return {
        "id": question.id,
        "role": question.role,
        "text": dict(question.text),
        "scale": "per_item:0:1" if context.panel.normalised else str(scale),
        "level": scale.level,
        "low": scale.low,
        "high": scale.high,
        "labels": list(scale.labels),
        "positive": scale.positive,
        "missing": list(scale.missing),
        "inferred": question.inferred,
        "normalised": context.panel.normalised,
        "n_items": context.panel.n_items,
    }


def _named(context: Context, pairs: tuple[tuple[int, int], ...]) -> list[list[str]]:
    return [[context.pools[a], context.pools[b]] for a, b in pairs]


def _intake(entry: Intake) -> dict[str, Any]:
    return {**asdict(entry), "excluded": dict(entry.excluded)}


def _note(note: Note) -> dict[str, Any]:
    return {"key": note.key, "fields": _plain(dict(note.fields)), "kind": note.kind}


def _plain(value: Any) -> Any:
    """Tuples as lists and unknown objects as text, so that JSON holds it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
