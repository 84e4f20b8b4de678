"""A persona or a design of demonstrations that is left blank is the level without any."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis import builders
from tests.experiment.factorial import Factorial

from voirdire.analysis.evaluate import contexts_of, judged_cells, source_of
from voirdire.analysis.experiment.design import Design, read_design
from voirdire.analysis.rows import Table
from voirdire.corpus.corpus import Judgments, Note

WORLD = Factorial(n_items=12)


def design_of(judgments: Judgments) -> Design:
    corpus, _ = WORLD.tables()
    (context,) = contexts_of(corpus, builders.QUICK, Table(source_of(corpus, judgments)))
    return read_design(judgments, judged_cells(context, corpus, judgments), context.pools, context.options)


def blank(column: str, level: str, **more: object) -> Judgments:
    """The judgments with one level of a factor left blank."""
    _, judgments = WORLD.tables()
    cells = judgments.cells.with_columns(pl.col(column).replace({level: None}))
    return replace(judgments, cells=cells, **more)


def test_blank_persona_is_no_persona() -> None:
    named, found = design_of(WORLD.tables()[1]), design_of(blank("persona", "none"))
    assert found.neutral == {"-"}
    for pool in ("", "us", "cn"):
        assert (found.persona_masks(found.mask())[pool] == named.persona_masks(named.mask())[pool]).all()


@pytest.mark.parametrize("key_factors", [(), ("design",)])
def test_blank_design_is_the_baseline(key_factors: tuple[str, ...]) -> None:
    found = design_of(blank("design", "base", key_factors=key_factors))
    assert found.baseline == "-"
    assert [block.name for block in found.blocks] == ["design=-", "design=aa"]
    assert sum(block.mask.sum() for block in found.blocks) == found.mask().sum()


def test_condition_that_is_not_listed_has_no_level() -> None:
    notes = (Note("conditions_unlisted", {}, "warning"),)
    judgments = blank("persona", "none", notes=notes)
    lost = pl.col("language") == "en"
    columns = [pl.when(lost).then(None).otherwise(pl.col(name)).alias(name) for name in judgments.factors]
    found = design_of(replace(judgments, cells=judgments.cells.with_columns(columns)))
    assert set(found.frame.filter(pl.col("language").is_null())["persona"]) == {None}
    assert "-" in found.levels("persona")


def test_block_without_a_baseline_does_not_depend_on_the_order_of_rows() -> None:
    _, judgments = WORLD.tables()
    cells = judgments.cells.with_columns(pl.col("design").replace({"base": "zz"}))
    for ordered in (cells, cells.reverse()):
        assert design_of(replace(judgments, cells=ordered)).blocks[0].name == "design=aa"
