"""The shift between two languages of a scale: numbers, intervals that hold, and what cannot be said."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_1samp
from tests.construction.building import build_text, make, pairs

from voirdire.app.build_equivalence import build_equivalence
from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import History, read_history
from voirdire.construction.translation.equivalence import read_equivalence
from voirdire.construction.translation.outcome import read_outcome
from voirdire.construction.translation.shifts import detectable, mean_with_interval, shift_of, stretch_of
from voirdire.corpus.equivalence import equivalence_notes, rows_of
from voirdire.errors import InputError, UsageError

ITEMS = [f"i{place}" for place in range(12)]
COLUMNS = ["rater_id", "item_id", "question", "language", "rating"]


def pilot(
    rng: np.random.Generator, raters: int, shift: float, *, items: int = 8, noise: float = 0.5, own: float = 0.2
) -> pl.DataFrame:
    """Ratings from 1 to 5; every rater is shifted by their own amount around ``shift`` in the second language."""
    rows = []
    merit = rng.normal(3, 0.8, items)
    for rater in range(raters):
        mine = shift + rng.normal(0, own)
        for item, language in product(range(items), ("en", "zh")):
            seen = merit[item] + rng.normal(0, noise) + (mine if language == "zh" else 0.0)
            rows.append((f"r{rater}", ITEMS[item], "q1", language, int(np.clip(round(seen), 1, 5))))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def compared(frame: pl.DataFrame, **more: float) -> tuple:
    return read_equivalence(frame, ITEMS, ["en", "zh"], **more).compared


def test_by_hand() -> None:
    rows = [("a", "i0", 3, 4), ("a", "i1", 2, 2), ("b", "i0", 1, 3), ("b", "i1", 5, 5), ("b", "i2", 4, 5)]
    long = [
        (who, item, "q1", lang, value)
        for who, item, *both in rows
        for lang, value in zip(("en", "zh"), both, strict=True)
    ]
    (one,) = compared(pl.DataFrame(long, schema=COLUMNS, orient="row"))
    assert one.shift.value == pytest.approx((0.5 + 1.0) / 2)
    assert (one.shift.raters, one.shift.pairs, one.items, one.shift.method) == (2, 5, 3, "t")
    expected = ttest_1samp([0.5, 1.0], 0).confidence_interval(0.95)
    assert (one.shift.low, one.shift.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("n", [6, 9, 12])
def test_exact_p_and_interval_against_all_changes_of_signs(n: int) -> None:
    """The p is scipy's exact one; the interval holds the shifts that the test by signs does not reject."""
    x = np.random.default_rng(n).normal(0.4, 1, n)
    found = mean_with_interval(x)
    exact = permutation_test((x,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p == pytest.approx(exact.pvalue)
    assert found.low is not None
    assert found.high is not None
    for shift, kept in ((found.low - 1e-6, False), (found.low + 1e-6, True), (found.high + 1e-6, False)):
        p = mean_with_interval(x - shift).p
        assert p is not None
        assert (p > 0.05) == kept


def test_t_beyond_sixteen_raters() -> None:
    x = np.random.default_rng(1).normal(0.2, 1, 25)
    found, expected = mean_with_interval(x), ttest_1samp(x, 0)
    assert found.method == "t"
    assert found.p == pytest.approx(expected.pvalue)
    assert found.low == pytest.approx(expected.confidence_interval(0.95).low)


@pytest.mark.parametrize(("raters", "shift"), [(4, 0.0), (6, 0.0), (8, 0.5), (12, -0.5), (20, 0.3)])
def test_planted_shifts_are_in_the_interval(raters: int, shift: float) -> None:
    """Of 300 pilots, at most as many miss as chance allows; what is planted is the mean of discrete answers."""
    rng = np.random.default_rng([raters, 7])
    truth = np.mean([compared(pilot(rng, 300, shift))[0].shift.value for _ in range(3)])
    held = 0
    for _ in range(300):
        found = compared(pilot(rng, raters, shift))[0].shift
        held += found.low is not None and found.low - 1e-9 <= truth <= found.high + 1e-9
    assert held >= 0.92 * 300


@pytest.mark.parametrize("raters", [3, 6, 8, 12, 25])
def test_what_a_pilot_could_see_is_what_it_sees(raters: int) -> None:
    """Four intervals in five leave out 0 at the smallest shift that is said to be seen."""
    rng = np.random.default_rng(raters)
    found = [mean_with_interval(rng.normal(detectable(0.5, raters), 0.5, raters)) for _ in range(500)]
    assert 0.75 < np.mean([(one.low or 0) > 0 or (one.high or 0) < 0 for one in found]) < 0.85


NUMBERS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)


@given(NUMBERS)
def test_swapping_the_languages_flips_the_sign(rows: list[tuple[int, int, int]]) -> None:
    who, a, b = (np.array(column) for column in zip(*rows, strict=True))
    for measure in (shift_of, stretch_of):
        one, other = measure(a, b, who), measure(b, a, who)
        assert (one.undefined, one.no_interval) == (other.undefined, other.no_interval)
        assert one.raters == other.raters
        if one.value is not None:
            assert one.value == pytest.approx(-other.value, abs=1e-9)
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
            assert one.p == pytest.approx(other.p)


@given(NUMBERS)
def test_order_and_a_constant_change_nothing(rows: list[tuple[int, int, int]]) -> None:
    who, a, b = (np.array(column) for column in zip(*rows, strict=True))
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    one, other = shift_of(a, b, who), shift_of(a[order] + 7, b[order] + 7, 5 - who[order])
    assert one.value == pytest.approx(other.value, abs=1e-9)
    assert (one.low is None) == (other.low is None)
    if one.low is not None:
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-9)


def test_findings() -> None:
    rng = np.random.default_rng(11)
    assert compared(pilot(rng, 40, 0.0))[0].finding == "equal"
    assert compared(pilot(rng, 12, 0.8))[0].finding == "shifted"
    assert compared(pilot(rng, 12, 0.8), margin=3.0)[0].finding == "small"
    assert compared(pilot(rng, 3, 0.0))[0].finding == "open"


def test_ends_that_are_milder_show_as_another_use_of_the_scale() -> None:
    rng = np.random.default_rng(2)
    first = rng.normal(3, 1, (10, 9))
    who = np.repeat(np.arange(10), 9)
    second = 3 + 1.5 * (first - 3) + rng.normal(0, 0.1, first.shape)
    found = stretch_of(first.ravel(), second.ravel(), who)
    assert found.low is not None
    assert found.low > 0.2
    shift = shift_of(first.ravel(), second.ravel(), who)
    assert shift.low is not None
    assert shift.low < 0 < shift.high


def test_what_cannot_be_said() -> None:
    frame = pilot(np.random.default_rng(0), 1, 0.5)
    (one,) = compared(frame)
    assert (one.finding, one.shift.no_interval, one.shift.value is None) == ("undefined", "one_rater", False)
    (one,) = compared(frame.filter(pl.col("language") == "en"))
    assert (one.finding, one.shift.undefined, one.stretch.undefined) == ("undefined", "no_pairs", "few_items")
    same = pl.DataFrame(
        [(who, "i0", "q1", lang, 3) for who in "abcdefgh" for lang in ("en", "zh")], schema=COLUMNS, orient="row"
    )
    (one,) = compared(same)
    assert (one.shift.value, one.shift.no_interval, one.shift.low) == (0.0, "no_spread", None)


def test_pools_apart_and_together() -> None:
    rng = np.random.default_rng(4)
    frame = pilot(rng, 12, 0.0).with_columns(
        pool=pl.when(pl.col("rater_id").str.slice(1).cast(pl.Int64) < 6).then(pl.lit("us")).otherwise(pl.lit("cn"))
    )
    found = compared(frame)
    assert [(one.pool, one.shift.raters) for one in found] == [("*", 12), ("us", 6), ("cn", 6)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rating": "good"}, r"row 1, column 'rating'.*'good'"),
        ({"rating": "inf"}, "'inf'"),
        ({"language": "fr"}, r"row 1, column 'language'.*'fr'"),
        ({"rater_id": None}, r"row 1, column 'rater_id'"),
        ({"item_id": None}, r"row 1, column 'item_id'"),
        ({"question": None}, r"row 1, column 'question'"),
    ],
)
def test_rows_that_cannot_be_read(change: dict[str, str | None], what: str) -> None:
    rows = [dict(zip(COLUMNS, ("a", "i0", "q1", "en", "3"), strict=True)) | change]
    with pytest.raises(InputError, match=what):
        compared(pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String)))


def test_tables_that_cannot_be_read() -> None:
    frame = pilot(np.random.default_rng(0), 2, 0.0)
    with pytest.raises(InputError, match="'language'"):
        compared(frame.drop("language"))
    with pytest.raises(InputError, match=r"rater 'r0' rated this item .* in row 1"):
        compared(pl.concat([frame, frame.head(1)]))
    with pytest.raises(InputError, match="another pool"):
        compared(frame.with_columns(pool=pl.col("language")))
    with pytest.raises(InputError, match="concept-culture"):
        read_equivalence(frame, ["other"], ["en", "zh"])
    for wrong in ({"margin": 0.0}, {"margin": float("nan")}, {"confidence": 1.0}):
        with pytest.raises(UsageError):
            compared(frame, **wrong)


def test_what_is_left_out_is_counted() -> None:
    frame = pilot(np.random.default_rng(0), 3, 0.0).with_columns(pl.col("rating").cast(pl.String))
    more = [("r0", "elsewhere", "q1", "en", "3"), ("r0", "i9", "q1", "en", None), ("r1", "i10", "q1", "zh", "2")]
    found = read_equivalence(
        pl.concat([frame, pl.DataFrame(more, schema=frame.schema, orient="row")]), ITEMS, ["en", "zh"]
    )
    counts = {note.key.rsplit(".", 1)[1]: note.fields.get("count", 1) for note in found.notes}
    assert counts == {"left_out": 1, "empty": 1, "single": 1, "range": 1}
    assert found.compared[0].shift.pairs == 24


def test_table_and_history(tmp_path: Path) -> None:
    folder = make(tmp_path / "mine", pairs("tea", "rice"))
    rows = [
        (who, item, lang, value + (lang == "zh") * (place % 3))
        for place, who in enumerate("abcdefg")
        for item, value in (("tea-us", 2), ("tea-cn", 3), ("rice-us", 1))
        for lang in ("en", "zh")
    ]
    frame = pl.DataFrame(rows, schema=["rater_id", "item_id", "language", "rating"], orient="row")
    frame.write_csv(tmp_path / "r.csv")
    made = build_equivalence(folder, ratings=tmp_path / "r.csv")
    assert build_equivalence(folder, ratings=tmp_path / "r.csv").equivalence == made.equivalence
    events = list(read_history(folder).of_kind("equivalence"))
    assert len(events) == 1
    assert events[0]["compared"][0]["shift"]["raters"] == 7
    table = pl.read_csv(made.table)
    assert table["question"].to_list() == ["rating"]
    assert table["value"][0] == pytest.approx(made.equivalence.compared[0].shift.value)


def test_ratings_that_are_on_no_scale(tmp_path: Path) -> None:
    """A slip of the pen is no shift: it is refused where the scale is known, and shown where it is not."""
    folder = make(tmp_path / "mine", pairs("tea"))
    rows = [(who, "tea-us", "q1", lang, 4) for who in "abcdef" for lang in ("en", "zh")]
    rows[7] = ("d", "tea-us", "q1", "zh", 44)
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    frame.write_csv(tmp_path / "r.csv")
    (note,) = build_equivalence(folder, ratings=frame).equivalence.notes
    assert (note.key, dict(note.fields)) == (
        "translation.equivalence.note.range", {"question": "q1", "low": "4", "high": "44"}
    )  # fmt: skip
    (folder / "questions.csv").write_text("question,min,max\nq1,1,5\n", encoding="utf-8")
    for source in (tmp_path / "r.csv", frame.drop("question")):
        with pytest.raises(InputError, match=r"row [89].*'44' is not on the scale of the question '.*', from 1 to 5"):
            build_equivalence(folder, ratings=source)
    study = '[[questions]]\nid = "q1"\nwidget = "slider"\nlow = 1\nhigh = 44\ntext.en = "How usual?"\n'
    (folder / "annotation.toml").write_text(study, encoding="utf-8")
    assert build_equivalence(folder, ratings=frame).equivalence.notes == ()


def test_what_is_frozen_of_it_is_of_the_words_as_they_are(tmp_path: Path) -> None:
    folder = make(tmp_path / "mine", pairs("tea"))
    questions = folder / "questions.csv"
    head = "question,text.en,text.zh,low_end.en,low_end.zh\n"
    questions.write_text(f"{head}q1,How usual?,多常见？,not,不\nq2,How good?,多好？,bad,差\n", encoding="utf-8")
    columns = ["rater_id", "item_id", "question", "language", "rating"]
    rows = [(who, "tea-us", "q1", lang, 2 + (lang == "zh")) for who in "abcdef" for lang in ("en", "zh")]
    rows += [("g", "tea-us", "q1", "en", 2), ("g", "tea-us", "q1", "zh", 4)]
    frame = pl.DataFrame(rows, schema=columns, orient="row")

    def told() -> dict[str, Any]:
        build, concepts = read_build_file(folder), read_concepts(folder)
        return read_outcome(folder, build, concepts, read_history(folder))

    assert told() == {"checked": False}
    build_equivalence(folder, ratings=frame)
    first = told()
    assert (first["compared"][0]["finding"], first["outdated"], first["unchecked"]) == ("shifted", [], ["q2"])
    assert [note.key for note in equivalence_notes(first)] == ["equivalence.shifted", "equivalence.question_unchecked"]
    questions.write_text(questions.read_text("utf-8").replace("不", "毫不"), encoding="utf-8")
    for _ in range(2):  # the same ratings once more are still of the old words
        assert (told()["outdated"], list(rows_of(told()))) == (["q1"], [])
        build_equivalence(folder, ratings=frame)
    build_equivalence(folder, ratings=frame.with_columns(pl.lit(3).alias("rating")))
    assert (told()["outdated"], told()["compared"][0]["finding"]) == ([], "undefined")
    one_language = make(tmp_path / "one", pairs("tea"), build_text(languages=("en",)))
    assert read_outcome(one_language, read_build_file(one_language), read_concepts(one_language), History()) == {}
    assert equivalence_notes({"checked": True, "compared": [3, {"finding": "?"}], "outdated": 5}) == ()
