"""What a user may say about the tables: one frozen class for the ratings, one for the judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.corpus.frozen import Frozen

Source = Any
"""A path, a Polars frame, a pandas frame, or None."""


@dataclass(frozen=True)
class CorpusOptions:
    """How the ratings and what belongs to them are read.

    ratings : path or frame; or a corpus folder with ``corpus.toml``
    items, raters, questions, shares : further tables (``shares``: item_id, pool, question, label, share)
    mapping : our name -> the file's name, where it is not recognised (``{"rater_id": "worker"}``); a name of one
        table only is written ``judgments.rating``
    question_columns : half-wide tables, a column per question
    rater_columns, pool_columns : wide tables, a column per rater (with a rater table) or per pool (of means)
    pools : rules ``"us: country == 'US'"`` over rater attributes; ``pool_column`` : the column that names the pool
    level, low, high, labels, positive : the scale of questions that the questions table does not declare
    missing_labels : labels that mean no answer, for every question
    aggregate : pools (or ``("all",)``) whose rows are the pool's own means
    anonymous_raters : rater ids are slots that mean nothing across items
    encoding : of text files, when it is not UTF-8
    duplicates : a rater twice on one item and question: ``refuse``, ``mean``, ``first`` or ``last``
    two_pools : a rater in two pools: ``refuse``, ``exclude`` (left out and counted) or ``separate`` (ids that are
        reused between pools: two different people)
    unknown_items : ratings of items that the items table lacks: ``refuse`` or ``exclude``
    out_of_scale : ratings outside a declared scale: ``refuse`` or ``exclude``
    exclude_items : rules over item columns, ``"pools_copied == 'yes'"``
    question_name : of a long table without a question column
    name, simulated, frozen : what ``corpus.toml`` of the folder says of it
    """

    ratings: Source
    items: Source = None
    raters: Source = None
    questions: Source = None
    shares: Source = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    question_columns: tuple[str, ...] = ()
    rater_columns: tuple[str, ...] = ()
    pool_columns: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    pool_column: str | None = None
    level: str | None = None
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    positive: str | None = None
    missing_labels: tuple[str, ...] = ()
    aggregate: tuple[str, ...] = ()
    anonymous_raters: bool = False
    encoding: str | None = None
    duplicates: str = "refuse"
    two_pools: str = "refuse"
    unknown_items: str = "refuse"
    out_of_scale: str = "refuse"
    exclude_items: tuple[str, ...] = ()
    question_name: str = "rating"
    name: str = ""
    simulated: bool = False
    frozen: Frozen | None = None


@dataclass(frozen=True)
class JudgmentOptions:
    """How the judgments are read.

    judgments : path or frame; a run folder that holds ``judgments.*`` (and ``judges.*``, ``conditions.*``); or a
        folder of Parquet files, which are read in pieces (as is a large Parquet file)
    judges, conditions : tables of covariates and factors
    factors : extra key columns; without it one is taken only when the keys are not unique otherwise
    judge_columns : wide tables, a column per judge; ``judge_name`` : the judge of a table that names none
    judged_question : what judgments without a question column answer; the first question by default
    judge_scale : ``"0:10"`` for every judge, ``"NAME=0:10"`` for one
    missing_labels : answers that mean no rating
    duplicates : the same cell twice without a repeat column: ``refuse``, ``repeat`` (number them), ``first``, ``last``
    other_corpus : judgments of another version of a frozen corpus are meant
    """

    judgments: Source
    judges: Source = None
    conditions: Source = None
    factors: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    judge_columns: tuple[str, ...] = ()
    judge_name: str | None = None
    judged_question: str | None = None
    judge_scale: tuple[str, ...] = ()
    missing_labels: tuple[str, ...] = ()
    encoding: str | None = None
    duplicates: str = "refuse"
    other_corpus: bool = False
