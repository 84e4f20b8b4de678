"""Replay, control and Python judges, each asked alone."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from voirdire.corpus.shown import Item
from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import Call, CallFailed, ImagePart, JudgeSpec, Prompt, Reply, TextPart
from voirdire.judging.providers import calling, control, replay


def kit(folder: Path = Path(), seed: int = 0) -> Any:
    material = SimpleNamespace(folder=folder, evaluation="q1")
    return SimpleNamespace(material=material, seed=seed, timeout=0.2, shared={})


def call(item: str = "i1", condition: str = "neutral_en", **changes: Any) -> Call:
    prompt = Prompt((TextPart("Rate it."), ImagePart(Path("a.png")), TextPart("1 to 5")), "en")
    given = {"question": "q1", "repeat": 1, "levels": (1, 2, 3, 4, 5), "factors": {"language": "en"}, **changes}
    return Call("run-1-1", prompt, Item(item, texts={"en": "tea"}), condition, **given)


def spec(model: str, provider: str = "python", **changes: Any) -> JudgeSpec:
    return JudgeSpec(f"{provider}/{model}", provider, model, **changes)


def ask(judge: Any, *calls: Call) -> list[Any]:
    """The reply or the failure of every call, all asked at once."""

    async def all_of_them() -> list[Any]:
        try:
            return list(await asyncio.gather(*(judge.ask(one) for one in calls), return_exceptions=True))
        finally:
            await judge.close()

    return asyncio.run(all_of_them())


# Python functions


def failing(_: Item) -> int:
    raise LookupError("no such tea")  # noqa: TRY003


@pytest.mark.parametrize(
    ("answer", "rating", "said"), [(4, 4.0, ""), (3.5, 3.5, ""), ("4.", None, "4."), (Reply("5"), None, "5")]
)
def test_answers(answer: Any, rating: float | None, said: str) -> None:
    (reply,) = ask(calling.from_object(lambda item: answer), call())
    assert (reply.rating, reply.text) == (rating, said)


def test_numbers_of_numpy() -> None:
    import numpy as np

    (reply,) = ask(calling.from_object(lambda item: np.float32(2)), call())
    assert reply.rating == 2.0
    (failed,) = ask(calling.from_object(lambda item: np.array([1, 2])), call())
    assert failed.kind == "request"


@pytest.mark.parametrize("answer", [None, True, float("nan"), float("inf"), [4], {"rating": 4}])
def test_what_is_no_rating_is_an_error(answer: Any) -> None:
    (failed,) = ask(calling.from_object(lambda item: answer), call())
    assert isinstance(failed, CallFailed)
    assert failed.kind == "request"
    assert "The function returned" in failed.why


def test_an_exception_ends_the_cell_only() -> None:
    first, second = ask(calling.from_object(lambda item: 4 if item.id == "i2" else failing(item)), call(), call("i2"))
    assert (first.kind, first.why) == ("request", "LookupError: no such tea")
    assert second.rating == 4.0


@pytest.mark.parametrize("error", [SystemExit(2), StopIteration("end"), StopAsyncIteration(), TimeoutError("own")])
def test_no_exception_gets_through(error: BaseException) -> None:
    def judge(item: Item) -> int:
        raise error

    async def waiting(item: Item) -> int:
        raise error

    for function in (judge, waiting):
        (failed,) = ask(calling.from_object(function), call())
        assert isinstance(failed, CallFailed)
        assert type(error).__name__ in failed.why


def test_a_function_sees_the_condition() -> None:
    seen = []

    def judge(item: Item, condition: calling.Asked) -> int:
        seen.append(condition)
        return condition.levels[-1]

    (reply,) = ask(calling.from_object(judge), call(design="aa", repeat=2))
    (told,) = seen
    assert reply.rating == 5.0
    assert (str(told), told.language, told.factors, told.repeat) == ("neutral_en/aa", "en", {"language": "en"}, 2)
    assert (told.prompt, told.images) == (("Rate it.", "1 to 5"), (Path("a.png"),))


def test_a_plain_function_runs_in_a_thread_one_at_a_time() -> None:
    inside, most, threads = [], [], set()

    def judge(item: Item) -> int:
        inside.append(item.id)
        most.append(len(inside))
        threads.add(threading.current_thread())
        time.sleep(0.01)
        inside.remove(item.id)
        return 3

    replies = ask(calling.from_object(judge), *(call(f"i{n}") for n in range(8)))
    assert [reply.rating for reply in replies] == [3.0] * 8
    assert max(most) == 1
    assert threading.main_thread() not in threads


def test_threads_is_a_parameter(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import threading\nbarrier = threading.Barrier(3, timeout=20)\ndef judge(item):\n"
                    "    barrier.wait()\n    return 4\n")  # fmt: skip
    judge = calling.make(spec(f"{file}:judge", parameters={"threads": 3}), kit())
    assert [reply.rating for reply in ask(judge, call("a"), call("b"), call("c"))] == [4.0] * 3


def test_a_coroutine_is_awaited_and_timed() -> None:
    async def judge(item: Item, condition: calling.Asked) -> int:
        await asyncio.sleep(60 if item.id == "slow" else 0)
        return 2

    made = calling.CallingJudge("mine", judge, timeout=0.05)
    quick, slow = ask(made, call(), call("slow"))
    assert quick.rating == 2.0
    assert slow.kind == "timeout"


def test_an_object_that_can_be_called() -> None:
    @dataclass
    class Rule:
        level: int

        async def __call__(self, item: Item) -> int:
            return self.level

    judge = calling.from_object(Rule(5), "rule")
    assert judge.name == "rule"
    assert judge.settings["function"].endswith(":test_an_object_that_can_be_called.<locals>.Rule")
    assert ask(judge, call())[0].rating == 5.0


def test_a_module_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_judge_module.py").write_text("def judge(item, condition):\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    judge = calling.make(spec("my_judge_module:judge"), kit())
    assert ask(judge, call())[0].rating == 1.0
    assert judge.settings["function"] == "my_judge_module:judge"


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("json", "target"),
        (":dumps", "target"),
        ("no_such_module_here:judge", "import"),
        ("no_such_file.py:judge", "import"),
        ("json:no_such_name", "import"),
        ("math:pi", "not_callable"),
    ],
)
def test_functions_that_are_not_there(model: str, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        calling.make(spec(model), kit())
    assert caught.value.key == f"cli_run.python.{key}"
    assert model.split(":")[0] in str(caught.value)


def test_a_module_that_fails_is_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit('gone')\n")
    with pytest.raises(UsageError, match="SystemExit: gone"):
        calling.make(spec(f"{tmp_path / 'broken.py'}:judge"), kit())


@pytest.mark.parametrize("function", [lambda: 4, lambda a, b, c: 4, lambda *, item: 4])
def test_other_arguments_are_refused(function: Any) -> None:
    with pytest.raises(UsageError, match="item, condition"):
        calling.from_object(function)


@pytest.mark.parametrize("parameters", [{"temperature": 0}, {"threads": 0}, {"threads": "two"}, {"threads": True}])
def test_other_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="threads"):
        calling.make(spec("math:floor", parameters=parameters), kit())


# Control judges


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two items, two pools; us gives 4.5 and 1, cn rates the first item alone (2)."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "corpus.toml").write_text('name = "small"\n')
    (folder / "items.csv").write_text("item_id,text\ni1,tea\ni2,coffee\n")
    (folder / "questions.csv").write_text("question,level,min,max\nq1,ordinal,1,5\n")
    rows = ["r1,us,i1,4", "r2,us,i1,5", "r1,us,i2,1", "r2,us,i2,1", "r3,cn,i1,2", "r4,cn,i1,2"]
    given = "\n".join(f"{row[:2]},{row.split(',')[1]},{row.split(',')[2]},q1,{row[-1]}" for row in rows)
    (folder / "ratings.csv").write_text(f"rater_id,pool,item_id,question,rating\n{given}\n")
    return folder


@pytest.mark.parametrize(
    ("model", "rating"),
    [
        ("constant", 3.0),
        ("constant_4", 4.0),
        ("copy_us", 4.5),
        ("copy_us_rounded", 5.0),
        ("copy_cn", 2.0),
        ("midpoint_us_cn", 3.25),
        ("midpoint_cn_us", 3.25),
        ("midpoint_us_cn_rounded", 3.0),
    ],
)
def test_controls(model: str, rating: float, corpus: Path) -> None:
    judge = control.make(spec(model, "control"), kit(corpus))
    assert ask(judge, call())[0].rating == rating


def test_controls_agree_with_those_of_the_audit(corpus: Path) -> None:
    import numpy as np

    from voirdire.scales import Scale
    from voirdire.simulation.controls import PREFIX, control_judges

    table = [[4.5, 1.0], [2.0, np.nan]]
    theirs = control_judges(table, ["us", "cn"], Scale("ordinal", 1, 5), np.random.default_rng(0))
    for name, ratings in theirs.items():
        if name == "control:random":
            continue
        ours = ask(control.make(spec(name.removeprefix(PREFIX), "control"), kit(corpus)), call("i1"), call("i2"))
        for reply, rating in zip(ours, ratings, strict=True):
            assert isinstance(reply, CallFailed) if np.isnan(rating) else reply.rating == rating, name


def test_random_is_of_the_cell_and_the_seed() -> None:
    judge = control.make(spec("random", "control"), kit())
    calls = [call(f"i{n}", repeat=repeat) for n in range(200) for repeat in (1, 2)]
    ratings = [reply.rating for reply in ask(judge, *calls)]
    assert ratings == [reply.rating for reply in reversed(ask(judge, *reversed(calls)))]
    assert set(ratings) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert ratings[::2] != ratings[1::2]
    other = control.make(spec("random", "control"), kit(seed=1))
    assert ratings != [reply.rating for reply in ask(other, *calls)]


def test_an_item_without_a_consensus_is_an_error(corpus: Path) -> None:
    (failed,) = ask(control.make(spec("copy_cn", "control"), kit(corpus)), call("i2"))
    assert (failed.kind, failed.why) == ("request", "Pool cn has no consensus for item i2.")


def test_a_level_that_the_scale_lacks_is_an_error() -> None:
    (failed,) = ask(control.make(spec("constant_7", "control"), kit()), call())
    assert (failed.kind, failed.why) == ("request", "The scale has no level 7; it has 1, 2, 3, 4, 5.")


@pytest.mark.parametrize("model", ["", "copies", "constant_x", "copy_fr", "midpoint_us_us", "copy_us_rounded_rounded"])
def test_unknown_controls(model: str, corpus: Path) -> None:
    with pytest.raises(UsageError, match="no control judge") as caught:
        control.make(spec(model, "control"), kit(corpus))
    assert "constant" in str(caught.value)


def test_controls_take_no_parameters() -> None:
    with pytest.raises(UsageError, match="temperature"):
        control.make(spec("random", "control", parameters={"temperature": 1}), kit())


# Replay


def recording(folder: Path, frame: pl.DataFrame, suffix: str = "csv") -> Path:
    from voirdire.tables import write_table

    return write_table(frame, folder / f"judgments.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_ratings_are_replayed(suffix: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"item_id": ["i1", "i2"], "condition": "neutral_en", "rating": [4, None], "judge": "a/b"})
    judge = replay.make(spec(str(recording(tmp_path, frame, suffix)), "replay"), kit())
    first, second, third = ask(judge, call("i1"), call("i2"), call("i3"))
    assert first.rating == 4.0
    assert (second.rating, second.text) == (None, "")
    assert (third.kind, third.why) == ("request", f"judgments.{suffix} has no judgment of this cell.")
    assert judge.settings["judge"] == "a/b"


def test_replies_are_replayed_raw(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"item_id": "i1", "rating": 4, "reply": "four", "status": "ok", "reasoning": "It is tea."},
        {"item_id": "i2", "rating": None, "reply": "I cannot.", "status": "refused"},
        {"item_id": "i3", "rating": None, "reply": None, "status": "error"},
        {"item_id": "i4", "rating": None, "reply": None, "status": "pending"},
        {"item_id": "i5", "rating": 2, "reply": None, "status": "ok"},
        {"item_id": "i6", "rating": 2, "reply": None, "status": "malformed"},
        {"item_id": "i7", "rating": "two", "reply": None, "status": "ok"},
    ]
    frame = pl.DataFrame([{name: None if v is None else str(v) for name, v in row.items()} for row in rows])
    file = recording(tmp_path, frame.with_columns(condition=pl.lit("neutral_en")))
    judge = replay.make(spec(str(file), "replay"), kit())
    one, two, three, four, five, six, seven = ask(judge, *(call(f"i{n}") for n in range(1, 8)))
    assert (one.text, one.rating, one.reasoning) == ("four", None, "It is tea.")
    assert (two.text, two.refusal) == ("I cannot.", "recorded")
    assert [failed.kind for failed in (three, four)] == ["request", "request"]
    assert "error" in three.why
    assert five.rating == 2.0
    assert (six.rating, six.text) == (None, "")
    assert (seven.rating, seven.text) == (None, "two")


def test_every_key_counts(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "item_id": "i1",
            "condition": ["neutral_en", "neutral_en", "neutral_en/ac", "neutral_en", "neutral_en"],
            "design": ["base", "aa", None, "base", "base"],
            "question": ["q1", "q1", "q1", "q2", "q1"],
            "repeat": [1, 1, 1, 1, 2],
            "rating": [1, 2, 3, 4, 5],
        }
    )
    judge = replay.make(spec(str(recording(tmp_path, frame)), "replay"), kit())
    calls = [call(), call(design="aa"), call(design="ac"), call(question="q2"), call(repeat=2), call(repeat=3)]
    replies = ask(judge, *calls)
    assert [reply.rating for reply in replies[:-1]] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert isinstance(replies[-1], CallFailed)


def test_one_judge_of_several(tmp_path: Path) -> None:
    frame = pl.DataFrame({"item_id": "i1", "condition": "neutral_en", "rating": [1, 5], "judge": ["a/x", "b#y"]})
    file = recording(tmp_path, frame)
    assert ask(replay.make(spec(f"{file}#a/x", "replay"), kit()), call())[0].rating == 1.0
    assert ask(replay.make(spec(f"{file}#b#y", "replay"), kit()), call())[0].rating == 5.0
    with pytest.raises(InputError, match=r"several judges.*a/x, b#y"):
        replay.make(spec(str(file), "replay"), kit())
    with pytest.raises(InputError, match="no judge 'c'"):
        replay.make(spec(f"{file}#c", "replay"), kit())


GOOD: dict[str, Any] = {"item_id": ["i1"], "condition": ["neutral_en"], "rating": ["4"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"condition": None}, "column 'condition'"),
        ({"rating": None}, "column 'rating'"),
        ({"item_id": [""]}, "row 2, column 'item_id'"),
        ({"condition": [""]}, "row 2, column 'condition'"),
        ({"repeat": ["one"]}, "row 2, column 'repeat': 'one'"),
        ({"status": ["done"]}, "row 2, column 'status': 'done'"),
        ({"item_id": ["i1", "i1"], "condition": ["c", "c"], "rating": ["1", "1"]}, "row 3: item i1 in condition c"),
    ],
)
def test_broken_recordings(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    columns = {name: values for name, values in {**GOOD, **changes}.items() if values is not None}
    file = recording(tmp_path, pl.DataFrame(columns))
    with pytest.raises(InputError) as caught:
        replay.make(spec(str(file), "replay"), kit())
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert str(file) in caught.value.message("zh")


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        replay.make(spec(str(tmp_path / "none.csv"), "replay"), kit())


def test_ratings_do_not_depend_on_the_direction_of_the_scale(tmp_path: Path) -> None:
    """A reply k to a reversed scale is read as low + high - k afterwards, so that a number is exchanged here."""
    frame = pl.DataFrame({"item_id": ["i1", "i2"], "condition": "neutral_en", "rating": [4, 5], "reply": [None, "2"]})
    replayed = replay.make(spec(str(recording(tmp_path, frame)), "replay"), kit())
    one, two = ask(replayed, call("i1", reversed=True), call("i2", reversed=True))
    assert (one.rating, two.rating, two.text) == (2.0, None, "2")
    assert ask(control.make(spec("constant_5", "control"), kit()), call(reversed=True))[0].rating == 1.0
    assert ask(calling.from_object(lambda item: 4.5), call(reversed=True))[0].rating == 1.5
    assert ask(calling.from_object(lambda item: Reply(rating=4.5)), call(reversed=True))[0].rating == 4.5
