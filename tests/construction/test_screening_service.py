"""A pilot that was answered in the annotation service is screened as it was exported."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("sqlalchemy")

from tests.annotation.lead_world import rated_world

from voirdire.annotation.database import Database
from voirdire.annotation.export import write_export
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.screening import screen
from voirdire.construction.screening_pilot import read_pilot
from voirdire.corpus.options import CorpusOptions
from voirdire.tables import read_table


def test_a_pilot_of_the_service(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'annotation.sqlite'}")
    database.migrate()
    try:
        shown, batch = rated_world(database, tmp_path / "corpus", kind="pilot", per_item=5)
        write_export(database, batch.id, shown, tmp_path / "out")
    finally:
        database.dispose()
    items = tuple(
        ConceptItem(f"{culture}-{pair}", f"p{pair}", "food", culture, "a table")
        for pair in range(6)
        for culture in ("us", "cn")
    )
    concepts = Concepts(items, read_table(pl.DataFrame({"concept": ["p0"]})))
    pilot = read_pilot(concepts, CorpusOptions(tmp_path / "out"))
    assert pilot.pools == ("us", "cn")
    assert (pilot.evaluation.question, len(pilot.evaluation.value)) == ("q1", 12 * 2 * 5)
    assert pilot.subjectivity is not None
    assert pilot.subjectivity.question == "q3"
    assert pilot.votes["cn-5"] == {"stereotype": 10}
    found = {pair.concept: pair for pair in screen(pilot).pairs}
    assert list(found) == [f"p{pair}" for pair in range(6)]
    assert found["p5"].measure("stereotype").verdict == "drop"
    assert found["p5"].verdict == "drop"
    assert found["p0"].measure("gap").verdict == "keep"
    assert all(one.undefined is None for pair in found.values() for one in pair.measures)
