from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from voirdire.annotation.as_json import spec_from_json, spec_to_json, study_from_json, study_to_json
from voirdire.annotation.nouns import Asked, BatchSpec, Gold, Option, PoolPlan, Screening, Study

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
TEXTS = st.dictionaries(st.sampled_from(["en", "zh", "und"]), TEXT, max_size=2)
NUMBERS = st.none() | st.floats(-10, 10)
OPTIONS = st.lists(st.builds(Option, TEXT, TEXTS), max_size=3).map(tuple)
WORDS = st.lists(TEXT, max_size=3).map(tuple)
QUESTIONS = st.builds(
    Asked, TEXT, st.sampled_from(["buttons", "slider", "choice", "number", "text"]), role=st.none() | TEXT,
    low=NUMBERS, high=NUMBERS, options=OPTIONS, text=TEXTS, help=TEXTS, low_end=TEXTS, required=st.booleans(),
)  # fmt: skip
SCREENING = st.builds(
    Screening, TEXT, OPTIONS, text=TEXTS, kind=st.sampled_from(["one", "many"]),
    accept=st.dictionaries(TEXT, WORDS, max_size=2), all_of=st.booleans(), keep=st.booleans(),
)  # fmt: skip
STUDIES = st.builds(
    Study, TEXT, st.lists(QUESTIONS, max_size=3).map(tuple),
    st.lists(st.builds(PoolPlan, TEXT, WORDS, title=TEXTS, completion_code=TEXT), max_size=2).map(tuple),
    screening=st.lists(SCREENING, max_size=2).map(tuple),
    gold=st.lists(st.builds(Gold, TEXT, TEXT, WORDS), max_size=2).map(tuple),
    raters_per_item=st.integers(1, 9), items_per_rater=st.none() | st.integers(1, 99), lease_minutes=st.floats(1, 99),
)  # fmt: skip


@given(st.builds(BatchSpec, TEXT, STUDIES, WORDS, st.sampled_from(["rating", "pilot"]), st.dictionaries(TEXT, TEXT)))
def test_a_batch_is_read_back_as_it_was(spec: BatchSpec) -> None:
    assert spec_from_json(spec_to_json(spec)) == spec


@given(STUDIES)
def test_a_study_is_read_back_as_it_was(study: Study) -> None:
    assert study_from_json(study_to_json(study)) == study


def test_a_batch_of_an_earlier_version_gets_the_defaults_of_new_fields() -> None:
    study = Study("s", (Asked("q", "buttons", comment=False),), (PoolPlan("us", ("en",)),), lease_minutes=60.0)
    spec = BatchSpec("b", study, ("a",))
    raw = orjson.loads(spec_to_json(spec))
    del raw["study"]["lease_minutes"], raw["study"]["questions"][0]["comment"], raw["pairs"]
    raw["study"]["gone_since"] = 1
    assert spec_from_json(orjson.dumps(raw).decode()) == spec
