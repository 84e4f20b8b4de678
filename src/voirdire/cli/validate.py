"""``voirdire validate``."""

from __future__ import annotations

import typer

from voirdire.cli import options as o
from voirdire.cli.build import add
from voirdire.cli.finish import run_audit


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "validate", validate, "cli.validate")


def validate(
    ctx: typer.Context,
    folder: o.Folder = None,
    ratings: o.Ratings = None,
    items: o.Items = None,
    raters: o.Raters = None,
    questions: o.Questions = None,
    shares: o.Shares = None,
    map: o.Map = None,
    question_columns: o.QuestionColumns = None,
    rater_columns: o.RaterColumns = None,
    pool_columns: o.PoolColumns = None,
    question_name: o.QuestionName = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    level: o.Level = None,
    scale: o.ScaleOption = None,
    labels: o.Labels = None,
    positive: o.Positive = None,
    missing_label: o.MissingLabel = None,
    aggregate: o.Aggregate = None,
    anonymous_raters: o.AnonymousRaters = False,
    encoding: o.Encoding = None,
    duplicates: o.Duplicates = None,
    two_pools: o.TwoPools = None,
    unknown_items: o.UnknownItems = None,
    out_of_scale: o.OutOfScale = None,
    exclude_items: o.ExcludeItems = None,
    pair: o.Pair = None,
    all_pairs: o.AllPairs = False,
    slice: o.Slice = None,
    consensus: o.Consensus = None,
    min_raters: o.MinRaters = None,
    draws: o.Draws = None,
    confidence: o.Confidence = None,
    resample: o.Resample = None,
    interval: o.IntervalOption = None,
    permutations: o.Permutations = None,
    gate_reliability: o.GateReliability = None,
    seed: o.Seed = None,
    out: o.Out = None,
    no_compared: o.NoCompared = False,
    json: o.Json = False,
    lang: o.Lang = None,
    config: o.Config = None,
) -> None:
    run_audit(ctx, "validate")
