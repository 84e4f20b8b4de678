"""The opening where no judge's orientation can be stated."""

from __future__ import annotations

import polars as pl
import pytest
from tests.experiment.test_orientation import audited, world

from voirdire.reporting.terminal import terminal


@pytest.mark.parametrize(
    ("lang", "opening"), [("en", "no orientation can be stated of any judge"), ("zh", "无法说明任何评判模型的取向")]
)
def test_one_reason_for_all_judges_is_said_once(lang: str, opening: str) -> None:
    tables = world(n_items=60)
    means = tables["ratings"].group_by("item_id", "pool").agg(pl.col("rating").mean()).sort("item_id", "pool")
    tables["ratings"] = means.rename({"rating": "value"})
    shown = str(terminal(audited(tables), lang)).replace("\n  ", " ")
    assert shown.count(opening) == 1
    assert "follows_b" in shown
