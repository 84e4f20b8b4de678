"""Everything of one item: people's distributions, judges' ratings, raw replies; from tables, runs and audits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.browsing.large_run import large_run
from tests.judging.corpora import demonstrated
from tests.judging.engine_world import corpus, go, plan_of
from tests.judging.fakes import FakeJudge

from voirdire.app.audit import audit
from voirdire.app.view import view
from voirdire.browsing import shelf_numbers
from voirdire.browsing.item_detail import answers_about, levels_of_scale, replies_about
from voirdire.browsing.item_filters import Filters, Order
from voirdire.browsing.run_answers import counts_of_run, rows_of_run, tries_of_run
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.browsing.sources import RunSource, names_in
from voirdire.browsing.table_answers import table_answers
from voirdire.judging.export import export
from voirdire.judging.grid import load_grid
from voirdire.judging.nouns import Call, CallFailed, Reply
from voirdire.judging.run_folder import RunFolder
from voirdire.scales import Scale

EVIL = "<script>alert(1)</script>"
ITEMS = "item_id,pair_id,culture,text\na,p,us,tea\nb,p,cn,rice\nc,,us,none rated\n"
RATINGS = """item_id,rater_id,pool,rating
a,u1,us,5
a,u2,us,4
a,u3,us,5
a,c1,cn,1
a,c2,cn,2
b,u1,us,3
b,u2,us,1
b,c1,cn,3
"""
JUDGMENTS = f"""item_id,judge,condition,repeat,rating,status,raw
a,m,x,1,4,ok,I say 4
a,m,x,2,2,ok,now 2 {EVIL}
a,m,y,1,,refused,I will not
a,k,x,1,1,ok,1
b,k,x,1,9,ok,9
b,k,y,1,3,ok,3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("items", ITEMS), ("ratings", RATINGS), ("judgments", JUDGMENTS)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def numbers_of(*folders: Path, **options: object) -> ShelfNumbers:
    library = view(folders, **options)
    told = library.audits[0].profile.meta["questions"] if library.audits else ()
    return ShelfNumbers(library.shelves[0], told)


def test_people_are_counted_level_by_level(folder: Path) -> None:
    (question,) = answers_about(numbers_of(folder), "a")
    us, cn = question.pools
    assert [(level.name, level.count) for level in us.levels] == [("1", 0), ("2", 0), ("3", 0), ("4", 1), ("5", 2)]
    assert (us.consensus, us.n, cn.consensus, cn.n) == (pytest.approx(14 / 3), 3, 1.5, 2)
    assert sum(level.share for level in us.levels) == pytest.approx(1)


def test_judges_answer_under_each_condition_and_missing_ones_have_no_number(folder: Path) -> None:
    (question,) = answers_about(numbers_of(folder), "a")
    m, k = question.judges
    assert [(one.repeat, one.value, one.status) for one in m.conditions["x"]] == [(1, 4.0, "ok"), (2, 2.0, "ok")]
    assert [(one.value, one.status) for one in m.conditions["y"]] == [(None, "refused")]
    assert (m.mean, m.without_rating, k.mean) == (3.0, 1, 1.0)
    assert question.n_judgments == 4
    (other,) = answers_about(numbers_of(folder), "b")
    assert [(one.value, one.status) for one in other.judges[0].conditions["x"]] == [(None, "out_of_scale")]


def test_an_item_that_nobody_rated_has_no_answers_and_says_why_in_the_table(folder: Path) -> None:
    numbers = numbers_of(folder)
    assert answers_about(numbers, "c") == ()
    row = numbers.frame("rating", (0, 1)).row(2, named=True)
    assert (row["item_id"], row["gap.why"], row["disagreement.why"]) == ("c", "no_consensus", "not_judged")


def test_replies_come_from_the_file_that_was_read_and_from_no_other(folder: Path) -> None:
    numbers = numbers_of(folder)
    table = table_answers(numbers.sources[0], folder)
    assert table is not None
    (replies,) = replies_about(numbers, "a", {0: table})
    assert [(one.judge, one.condition, one.repeat, one.text) for one in replies.read(None, 0)][:3] == [
        ("m", "x", 1, "I say 4"), ("m", "x", 2, f"now 2 {EVIL}"), ("m", "y", 1, "I will not"),
    ]  # fmt: skip
    (folder / "judgments.csv").write_text(JUDGMENTS + "a,k,z,1,1,ok,later\n")
    assert table_answers(numbers.sources[0], folder) is None


def test_an_audit_alone_has_consensuses_and_judgments_and_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    audit(folder / "ratings.csv", folder / "judgments.csv", items=folder / "items.csv", draws=0, permutations=1).save(
        out
    )
    whole, alone = numbers_of(folder), numbers_of(out)
    assert alone.shelf.corpus is None
    (question,) = answers_about(alone, "a")
    assert [(pool.pool, pool.consensus, pool.levels) for pool in question.pools] == [
        ("us", pytest.approx(14 / 3), ()), ("cn", 1.5, ()),
    ]  # fmt: skip
    assert {judge.judge: judge.mean for judge in question.judges} == {"m": 3.0, "k": 1.0}
    names = [f"{name}" for name in ("item_id", "gap", "widest", "anchor", "tilt", "tilt_most", "disagreement")]
    first, second = (each.frame("rating", (0, 1)).select(names) for each in (whole, alone))
    rated = second["item_id"].to_list()
    assert first.filter(pl.col("item_id").is_in(rated)).equals(second.sort("item_id"))


def answer(call: Call) -> Reply | Exception:
    if call.item.id == "i0001" and call.condition.endswith("zh"):
        return Reply(text=f"no number here {EVIL}")
    if call.item.id == "i0002":
        return Reply(text="", refusal="policy")
    return Reply(text="4", reasoning="because")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    plan = plan_of(corpus(tmp_path / "corpus"), ("a", "b"), "neutral")
    go(plan, tmp_path / "run", answer)
    return tmp_path / "run"


def test_an_audit_alone_knows_who_answers_on_another_scale(folder: Path, tmp_path: Path) -> None:
    lines = [f"{item},z,{cell},1,{value},ok," for item, value in (("a", 90), ("b", 20)) for cell in "xy"]
    (folder / "judgments.csv").write_text(JUDGMENTS + "\n".join(lines) + "\n")
    audit(folder, draws=0, permutations=1).save(tmp_path / "audit")
    whole, alone = numbers_of(folder), numbers_of(tmp_path / "audit")
    for numbers in (whole, alone):
        said = numbers.judged("rating").said
        assert said is not None
        assert said.rank_only == {"z"}
    frames = [numbers.frame("rating", (0, 1)).sort("item_id").drop("n", "search") for numbers in (whole, alone)]
    assert frames[1].select(frames[0].columns).equals(frames[0].filter(pl.col("item_id").is_in(frames[1]["item_id"])))
    assert frames[1]["disagreement"].null_count() < frames[1].height


def test_numbers_of_a_run_are_no_labels(run: Path, tmp_path: Path) -> None:
    """A corpus whose question has labels beside a run that asked for numbers: none of them is taken for a label."""
    labelled = tmp_path / "corpus"
    names = rows_of_run(run, "q1")["item_id"].unique().to_list()
    lines = [f"{name},{pool},{pool},q1,{label}" for name in names for pool, label in (("us", "yes"), ("cn", "no"))]
    (labelled / "ratings.csv").write_text("item_id,rater_id,pool,question,rating\n" + "\n".join(lines) + "\n")
    (labelled / "questions.csv").write_text("question,level\nq1,nominal\n")
    numbers = ShelfNumbers(replace(view([labelled]).shelves[0], judged=(run,)))
    assert numbers.frame("q1", (0, 1))["tilt"].null_count() == len(names)
    rows = pl.concat(numbers.sources[0].of_item("q1", name) for name in names)
    said = numbers.judged("q1").said
    assert said is not None
    assert said.rank_only == {"a", "b"}
    assert set(rows["value"].drop_nulls()) == {4.0}


def test_a_ledger_read_now_is_the_table_that_is_exported_later(run: Path) -> None:
    export(run)
    table = pl.read_parquet(run / "judgments.parquet").select(
        "item_id", "judge", "condition", "repeat", "rating", "status"
    )
    rows = rows_of_run(run, "q1").rename({"value": "rating"})
    keys = ["judge", "item_id", "condition", "repeat"]
    assert rows.sort(keys).select(table.columns).equals(table.sort(keys))
    assert {"ok", "malformed", "refused"} == set(rows["status"])
    assert rows_of_run(run, "other").is_empty()


def test_every_attempt_of_an_item_is_told(run: Path) -> None:
    tries = tries_of_run(run, "i0001")
    bad = [one for one in tries if one.condition.endswith("zh") and one.judge == "a"]
    assert len(bad) > 1
    assert [one.number for one in bad] == list(range(1, len(bad) + 1))
    assert {one.kind for one in bad} == {"malformed"}
    assert all(EVIL in one.text for one in bad)
    assert next(one for one in tries if one.kind == "ok").reasoning == "because"
    assert tries_of_run(run, "' OR 1=1 --") == []
    assert counts_of_run(run, "' OR 1=1 --") == {}


def test_reversed_scales_and_items_own_scales_are_turned_as_in_the_export(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "corpus", 2)
    lines = (folder / "items.csv").read_text(encoding="utf-8").splitlines()
    ends = ("min,max", "0,10", ",")
    (folder / "items.csv").write_text("\n".join(f"{line},{end}" for line, end in zip(lines, ends, strict=True)) + "\n")
    grid = load_grid("neutral").for_languages(["en"])[0]
    first = grid.conditions[0]
    turned = replace(first, name="turned", reversed=True, instruction="1 is best.")
    go(plan_of(folder, ["a"], replace(grid, conditions=(first, turned))), tmp_path / "run", lambda _: Reply("2"))
    rows = rows_of_run(tmp_path / "run", "q1").sort("item_id", "condition")
    assert rows.select("condition", "value").rows() == [
        ("neutral_en", 2.0),
        ("turned", 8.0),
        ("neutral_en", 2.0),
        ("turned", 4.0),
    ]


def test_conditions_of_designs_are_named_as_an_audit_names_them(tmp_path: Path) -> None:
    go(plan_of(demonstrated(tmp_path / "c"), ["a"], "paper-icl"), tmp_path / "run")
    export(tmp_path / "run")
    table = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    named = {f"{condition}/{design}" for condition, design in table.select("condition", "design").iter_rows()}
    assert set(rows_of_run(tmp_path / "run", "q1")["condition"]) == named
    assert {one.condition for one in tries_of_run(tmp_path / "run", table["item_id"][0])} == named


def test_a_run_alone_has_judges_and_no_pools(run: Path) -> None:
    numbers = numbers_of(run)
    (name,) = numbers.questions
    frame = numbers.frame(name, None)
    assert set(frame["gap.why"]) == {"no_pools"}
    assert frame["mean.0"].to_list()[0] == 4.0
    assert numbers.judged_questions == (name,)
    (replies,) = replies_about(numbers, "i0000", {})
    assert {one.text for one in replies.read(None, 0)} == {"4"}


def test_a_run_that_grew_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(corpus(tmp_path / "corpus"), ("a",), "neutral")
    judges = [FakeJudge(answer, "a")]
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, judges)
    monkeypatch.setattr("voirdire.browsing.shelf_numbers.STILL", 0.0)
    numbers = numbers_of(tmp_path / "corpus", tmp_path / "run")
    before = numbers.frame("q1", None)
    assert before["status.pending"].sum() == before["asked"].sum() > 0
    assert numbers.frame("q1", None) is before
    go(plan, tmp_path / "run", answer, judges)
    after = numbers.frame("q1", None)
    assert after["status.pending"].sum() == 0
    assert after["mean.0"].drop_nulls().to_list() == [4.0] * len(after["mean.0"].drop_nulls())


def test_a_judge_of_two_sources_is_told_apart() -> None:
    one, two = RunSource(Path("one"), "one"), RunSource(Path("two"), "two")
    assert names_in([one, two, two], [["m"], ["m"], ["m"]]) == [["m"], ["m (two)"], ["m (two, 2)"]]


def test_a_fine_scale_is_shown_in_ten_ranges_that_hold_every_rating() -> None:
    values = [place / 7 for place in range(701)]
    bins = levels_of_scale(Scale("interval", 0, 100), values)
    assert len(bins) == 10
    assert [sum(one.holds(value) for one in bins) for value in values] == [1] * len(values)


def test_failed_calls_are_told_with_their_reason(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "corpus", 1), ("a",), "neutral")
    go(plan, tmp_path / "run", lambda _: CallFailed("request", "bad request", status=400))
    (first, *_) = tries_of_run(tmp_path / "run", "i0000")
    assert (first.kind, first.status, first.note, first.text) == ("request", 400, "bad request", "")


def test_levels_are_named_as_they_were_given() -> None:
    levels = levels_of_scale(Scale("interval", -1e9, 1e9), [-0.0, 99.99, 999.6, 1234567.0])
    assert [level.name for level in levels] == ["0", "99.99", "999.6", "1234567"]


def test_calls_are_counted_first_and_read_in_parts(tmp_path: Path) -> None:
    large_run(tmp_path / "run", items=1, judges=10, ended=1)
    counts = counts_of_run(tmp_path / "run", "i0")
    assert counts == {f"m{judge}": 12 for judge in range(10)}
    first, rest = tries_of_run(tmp_path / "run", "i0"), tries_of_run(tmp_path / "run", "i0", start=60)
    assert len(first) == len(rest) == 60
    assert {one.judge for one in first + rest} == set(counts)
    of_one = tries_of_run(tmp_path / "run", "i0", "m7")
    assert of_one == [one for one in rest if one.judge == "m7"]
    assert tries_of_run(tmp_path / "run", "i0", "m7", 10) == of_one[10:]


def test_pairs_share_what_is_the_same_for_all_and_orders_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = numbers_of(folder)
    made: list[str] = []

    def counted(name: str) -> Callable[..., object]:
        real = getattr(shelf_numbers, name)

        def make(*told: object) -> object:
            made.append(name)
            return real(*told)

        return make

    for name in ("question_numbers", "pair_numbers", "ordered"):
        monkeypatch.setattr(shelf_numbers, name, counted(name))
    first, other = numbers.frame("rating", (0, 1)), numbers.frame("rating", (1, 0))
    assert sorted(made) == ["pair_numbers", "pair_numbers", "question_numbers"]
    assert first["gap"].to_list() == [None if gap is None else -gap for gap in other["gap"]]
    gaps = dict(first.select("n", "gap").iter_rows())
    everything, some = (
        numbers.listed("rating", (0, 1), Filters(text=text), Order("gap"))["n"].to_list() for text in ("", "rice")
    )
    assert everything == sorted(gaps, key=lambda n: -abs(gaps[n]) if gaps[n] is not None else 1)
    assert some == [2]
    assert made[3:] == ["ordered"]
    monkeypatch.setattr(shelf_numbers, "MOST_BYTES", 0)
    numbers.frame("rating", (1, 0))
    numbers.frame("rating", (0, 1))
    assert made[4:] == ["pair_numbers"]
