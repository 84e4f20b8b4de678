"""``voirdire speccurve``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.config import collect
from voirdire.cli.finish import Reader
from voirdire.texts import text


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "speccurve", speccurve, "speccurve.command")


def speccurve(
    ctx: typer.Context,
    folder: o.Folder = None,
    ratings: o.Ratings = None,
    judgments: o.Judgments = None,
    items: o.Items = None,
    raters: o.Raters = None,
    questions: o.Questions = None,
    judges: o.Judges = None,
    conditions: o.Conditions = None,
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
    factors: o.Factors = None,
    judge_columns: o.JudgeColumns = None,
    judge_name: o.JudgeName = None,
    judged_question: o.JudgedQuestion = None,
    judge_scale: o.JudgeScale = None,
    duplicate_judgments: o.DuplicateJudgments = None,
    pair: o.Pair = None,
    all_pairs: o.AllPairs = False,
    slice: o.Slice = None,
    consensus: o.Consensus = None,
    factor_role: o.FactorRole = None,
    persona: o.Persona = None,
    min_raters: o.MinRaters = None,
    min_gap: o.MinGap = None,
    draws: o.Draws = None,
    confidence: o.Confidence = None,
    seed: o.Seed = None,
    out: o.Out = None,
    json: o.Json = False,
    lang: o.Lang = None,
    config: o.Config = None,
) -> None:
    from voirdire.app.speccurve import speccurve_to

    language = ctx.find_object(str) or "en"
    with show.Progress(language) as progress:
        written = speccurve_to(
            out or Path("voirdire-speccurve"),
            language,
            progress=progress,
            told=Reader(language, quiet=json),
            **collect(ctx.params),
        )
    if json:
        show.json(document(written))
    else:
        show.out("")
        show.out(account(written, language))


def document(written: Any) -> dict[str, Any]:
    """What ``--json`` prints: the place of the files and, for each judge, pair and number, what becomes of the sign."""
    from voirdire.version import VERSION

    return {
        "command": "speccurve",
        "voirdire": VERSION,
        "report": str(written.report),
        "files": [str(path) for path in written.files],
        "results": written.curve.summary().to_dicts(),
    }


def account(written: Any, lang: str) -> str:
    """The sentences of every judge and where the page is."""
    from voirdire.reporting.speccurve_page import sentences

    lines = []
    for judge, told in sentences(written.curve.summary(), lang):
        lines += [show.clean(judge), *(f"  {show.clean(sentence)}" for sentence in told)]
    done = text("speccurve.done", lang, count=len(written.files), file=show.clean(written.report))
    return "\n".join([*lines, "", done])
