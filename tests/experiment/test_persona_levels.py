"""Which level of a persona factor speaks for which pool, which has no persona, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.analysis.builders import QUICK
from tests.experiment.factorial import Factorial
from tests.experiment.parts import experiment_of

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.experiment.design import Design
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.errors import UsageError
from voirdire.texts import text

WORLD = Factorial(n_items=12)
SMALL = Factorial(n_items=12, languages=("en",), designs=("base",))


def called(world: Factorial = WORLD, **names: str) -> tuple[Corpus, Judgments]:
    """The run with other names of its persona levels."""
    corpus, judgments = world.tables()
    return corpus, replace(judgments, cells=judgments.cells.with_columns(pl.col("persona").replace(names)))


def design_of(made: tuple[Corpus, Judgments], **options: Any) -> Design:
    return experiment_of(made, **options).design


def keys(design: Design) -> list[tuple[str, str]]:
    return [(note.key, note.kind) for note in design.notes]


@pytest.mark.parametrize("nothing", ["none", "neutral", "-", "None"])
def test_a_level_is_told_to_be_without_a_persona(nothing: str) -> None:
    made = called(none="nobody", cn="crowd")
    design = design_of(made, personas=(("nobody", nothing), ("crowd", "cn")))
    assert (design.neutral, dict(design.pool_of), keys(design)) == ({"nobody"}, {"us": "us", "crowd": "cn"}, [])


def test_a_level_called_as_a_pool_may_be_told_to_be_without_a_persona() -> None:
    design = design_of(called(), personas=(("us", "none"),))
    assert (design.neutral, dict(design.pool_of)) == ({"us", "none"}, {"cn": "cn"})


def test_the_only_level_without_a_pool_is_taken_for_no_persona() -> None:
    named, found = design_of(called()), design_of(called(none="nobody"))
    assert keys(named) == []
    assert (found.neutral, keys(found)) == ({"nobody"}, [("audit.note.persona_taken", "info")])
    assert "'nobody'" in text(found.notes[0].key, "en", **found.notes[0].fields)
    for pool in ("", "us", "cn"):
        assert (found.persona_masks(found.mask())[pool] == named.persona_masks(named.mask())[pool]).all()


def test_a_level_without_a_pool_beside_none_is_not_taken() -> None:
    design = design_of(called(cn="br"))
    assert (design.neutral, dict(design.pool_of), keys(design)) == ({"none"}, {"us": "us"}, [])


def test_personas_of_which_none_is_without_are_warned_of() -> None:
    design = design_of(called(none="nobody", cn="crowd"))
    assert (design.neutral, keys(design)) == (set(), [("audit.note.persona_no_neutral", "warning")])
    assert design.notes[0].fields["levels"] == "crowd, nobody, us"


def test_a_persona_column_without_pools_is_warned_of() -> None:
    made = called(us="yank", cn="crowd")
    design = design_of(made, factor_roles=(("persona", "persona"),))
    assert keys(design) == [("audit.note.persona_no_pool", "warning")]
    assert "--persona" in text(design.notes[0].key, "en", **design.notes[0].fields)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"factor_roles": (("persona", "persona"), ("detail", "persona"))}, "audit.role_twice"),
        ({"personas": (("us", "mars"),)}, "audit.persona_pool"),
        ({"personas": (("mars", "us"),)}, "audit.persona_unknown"),
    ],
)
def test_roles_and_personas_that_cannot_be_are_refused(options: dict[str, Any], key: str) -> None:
    with pytest.raises(UsageError) as caught:
        design_of(called(), **options)
    assert caught.value.key == key


def test_personas_without_a_persona_factor_point_to_its_option() -> None:
    corpus, judgments = called(us="yank", cn="crowd")
    other = replace(
        judgments,
        cells=judgments.cells.rename({"persona": "who"}),
        factors=tuple("who" if name == "persona" else name for name in judgments.factors),
    )
    with pytest.raises(UsageError, match="--factor-role persona=COLUMN"):
        design_of((corpus, other), personas=(("yank", "us"),))
    design = design_of((corpus, other), personas=(("yank", "us"),), factor_roles=(("persona", "who"),))
    assert dict(design.pool_of) == {"yank": "us"}


def test_the_profile_tells_the_notes_and_that_culture_is_not_known() -> None:
    corpus, judgments = called(SMALL, none="nobody")
    quick = replace(QUICK, draws=10, decomposition_draws=2, permutations=10)
    keys = [note["key"] for note in evaluate(corpus, judgments, quick).meta["notes"]]
    assert keys.count("audit.note.persona_taken") == 1
    assert "audit.note.no_culture" not in keys
    renamed = replace(corpus, items=corpus.items.rename({"culture": "country"}))
    notes = evaluate(renamed, judgments, quick).meta["notes"]
    (note,) = [note for note in notes if note["key"] == "audit.note.no_culture"]
    assert (note["kind"], note["fields"]) == ("info", {"columns": "country"})
