"""The options of the commands, each once. Help texts are keys of the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def _path(*names: str, panel: str = "files") -> Any:
    return typer.Option(*names, help=_key(names), rich_help_panel=f"cli.panel.{panel}", metavar="FILE")


def _option(*names: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=_key(names), rich_help_panel=f"cli.panel.{panel}", metavar=metavar)


def _key(names: tuple[str, ...]) -> str:
    return f"cli.option.{names[0].removeprefix('--').replace('-', '_')}"


Words = list[str] | None
RATED = ("raters", "questions", "pool", "pool_column", "scale", "map", "missing_label")
"""How ratings are read, for commands on a corpus that is being built: their items are those of its concepts."""

Folder = Annotated[Path | None, typer.Argument(help="cli.option.folder", metavar="[FOLDER]")]
Ratings = Annotated[Path | None, _path("--ratings")]
Judgments = Annotated[Path | None, _path("--judgments")]
Items = Annotated[Path | None, _path("--items")]
Raters = Annotated[Path | None, _path("--raters")]
Questions = Annotated[Path | None, _path("--questions")]
Judges = Annotated[Path | None, _path("--judges")]
Conditions = Annotated[Path | None, _path("--conditions")]
Shares = Annotated[Path | None, _path("--shares")]

Map = Annotated[Words, _option("--map", panel="reading", metavar="OURS=THEIRS")]
QuestionColumns = Annotated[Words, _option("--question-columns", panel="reading", metavar="Q1,Q2")]
RaterColumns = Annotated[Words, _option("--rater-columns", panel="reading", metavar="C1,C2")]
PoolColumns = Annotated[Words, _option("--pool-columns", panel="reading", metavar="C1,C2")]
QuestionName = Annotated[str | None, _option("--question-name", panel="reading", metavar="NAME")]
Pool = Annotated[Words, _option("--pool", panel="reading", metavar="RULE")]
PoolColumn = Annotated[str | None, _option("--pool-column", panel="reading", metavar="COLUMN")]
Level = Annotated[str | None, _option("--level", panel="reading", metavar="LEVEL")]
ScaleOption = Annotated[str | None, _option("--scale", panel="reading", metavar="LOW:HIGH")]
Labels = Annotated[Words, _option("--labels", panel="reading", metavar="A,B,C")]
Positive = Annotated[str | None, _option("--positive", panel="reading", metavar="LABEL")]
MissingLabel = Annotated[Words, _option("--missing-label", panel="reading", metavar="LABEL")]
Aggregate = Annotated[Words, _option("--aggregate", panel="reading", metavar="POOL|all")]
AnonymousRaters = Annotated[bool, _option("--anonymous-raters", panel="reading")]
Encoding = Annotated[str | None, _option("--encoding", panel="reading", metavar="NAME")]
Duplicates = Annotated[str | None, _option("--duplicates", panel="reading", metavar="RULE")]
TwoPools = Annotated[str | None, _option("--two-pools", panel="reading", metavar="RULE")]
UnknownItems = Annotated[str | None, _option("--unknown-items", panel="reading", metavar="RULE")]
OutOfScale = Annotated[str | None, _option("--out-of-scale", panel="reading", metavar="RULE")]
ExcludeItems = Annotated[Words, _option("--exclude-items", panel="reading", metavar="RULE")]

Factors = Annotated[Words, _option("--factors", panel="judges", metavar="C1,C2")]
JudgeColumns = Annotated[Words, _option("--judge-columns", panel="judges", metavar="C1,C2")]
JudgeName = Annotated[str | None, _option("--judge-name", panel="judges", metavar="NAME")]
JudgedQuestion = Annotated[str | None, _option("--judged-question", panel="judges", metavar="NAME")]
JudgeScale = Annotated[Words, _option("--judge-scale", panel="judges", metavar="[JUDGE=]LOW:HIGH")]
DuplicateJudgments = Annotated[str | None, _option("--duplicate-judgments", panel="judges", metavar="RULE")]
OtherCorpus = Annotated[bool, _option("--other-corpus", panel="judges")]

Pair = Annotated[Words, _option("--pair", panel="analysis", metavar="A,B")]
AllPairs = Annotated[bool, _option("--all-pairs", panel="analysis")]
Slice = Annotated[Words, _option("--slice", panel="analysis", metavar="COLUMN")]
Select = Annotated[Words, _option("--select", panel="analysis", metavar="SELECTION")]
Consensus = Annotated[str | None, _option("--consensus", panel="analysis", metavar="mean|median")]
MinRaters = Annotated[int | None, _option("--min-raters", panel="analysis", metavar="N")]
FactorRole = Annotated[Words, _option("--factor-role", panel="analysis", metavar="ROLE=COLUMN")]
Persona = Annotated[Words, _option("--persona", panel="analysis", metavar="LEVEL=POOL")]
Regime = Annotated[str | None, _option("--regime", panel="analysis", metavar="COLUMN")]
MinGap = Annotated[float | None, _option("--min-gap", panel="analysis", metavar="X")]
Draws = Annotated[int | None, _option("--draws", panel="analysis", metavar="N")]
DecompositionDraws = Annotated[int | None, _option("--decomposition-draws", panel="analysis", metavar="N")]
Confidence = Annotated[float | None, _option("--confidence", panel="analysis", metavar="X")]
Resample = Annotated[str | None, _option("--resample", panel="analysis", metavar="items|items+raters")]
IntervalOption = Annotated[str | None, _option("--interval", panel="analysis", metavar="percentile|bca")]
Permutations = Annotated[int | None, _option("--permutations", panel="analysis", metavar="N")]
GateReliability = Annotated[float | None, _option("--gate-reliability", panel="analysis", metavar="X")]
Seed = Annotated[int | None, _option("--seed", panel="analysis", metavar="N")]

Out = Annotated[Path | None, _option("--out", panel="output", metavar="DIR")]
NoCompared = Annotated[bool, _option("--no-compared", panel="output")]
Json = Annotated[bool, _option("--json", panel="output")]
Lang = Annotated[str | None, _option("--lang", panel="output", metavar="en|zh")]


def _use_config(ctx: typer.Context, path: Path | None) -> Path | None:
    from voirdire.cli.config import read_config

    if path is not None:
        names = [name for param in ctx.command.params if (name := param.name) not in (None, "config", "help")]
        ctx.default_map = {**read_config(path, [str(name) for name in names]), **(ctx.default_map or {})}
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="cli.option.config",
        rich_help_panel="cli.panel.output",
        metavar="FILE",
        is_eager=True,
        callback=_use_config,
    ),
]
