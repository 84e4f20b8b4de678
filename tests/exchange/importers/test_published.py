"""LeWiDi, votes, MT-Bench, JUDGE-BENCH, AltTest, PRISM and DICES: value by value, the reckoning, what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voirdire
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers import alttest, dices, judgebench, lewidi, mtbench, prism, votes
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables
from voirdire.exchange.importers.people import read_people
from voirdire.exchange.importers.tables import finish, write

DATA = Path(__file__).parent / "data"


def read(importer: Importer, *files: str | Path, **options: Any) -> tuple[Tables, Account]:
    assert importer.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    paths = [DATA / importer.name / file for file in files]
    made = importer.read(paths, ImportOptions(**options), account)
    assert account.balanced
    return made, account


def rows(frame: pl.DataFrame | None, *columns: str) -> list[tuple[Any, ...]]:
    assert frame is not None
    return frame.select(columns or frame.columns).rows()


def counts(account: Account) -> tuple[int, int, dict[str, int]]:
    return account.answers, account.taken, dict(account.counts)


RECOGNISED = [
    *(
        (lewidi, f"lewidi/{name}.json", "yes")
        for name in ("sarcasm_dev", "irony_dev", "nli_dev", "posts_dev", "broken")
    ),
    *((lewidi, f"lewidi/{name}_annotators_meta.json", "nearly") for name in ("sarcasm", "irony")),
    *((votes, f"votes/{name}", "yes") for name in ("arena.json", "drinks.csv", "unnamed.jsonl", "broken.csv")),
    *((votes, name, "no") for name in ("votes/other.csv", "mtbench/human.json", "crowdkit/comparisons.csv")),
    *((mtbench, f"mtbench/{name}", "yes") for name in ("human.json", "gpt4_pair.json", "gpt-4_pair.jsonl")),
    *((mtbench, name, kind) for name, kind in (("mtbench/gpt-4_single.jsonl", "nearly"), ("votes/arena.json", "no"))),
    *((judgebench, f"judgebench/{name}.json", "yes") for name in ("recipes", "broken")),
    *((alttest, f"alttest/{name}_annotations.json", "yes") for name in ("human", "llm", "broken_human")),
    *((alttest, f"alttest/{name}.json", kind) for name, kind in (("prompts", "nearly"), ("mine", "no"))),
    *((prism, f"prism/{name}.jsonl", "yes") for name in ("utterances", "conversations", "broken")),
    (prism, "prism/survey.jsonl", "nearly"),
    *((dices, f"dices/{name}.csv", "yes") for name in ("dices_350", "broken")),
]


@pytest.mark.parametrize(("module", "file", "kind"), RECOGNISED, ids=str)
def test_recognised(module: Any, file: str, kind: str) -> None:
    assert module.IMPORTER.recognise(DATA / file).kind == kind


@pytest.mark.parametrize("module", [lewidi, votes, mtbench, judgebench, alttest, prism, dices])
def test_nothing_else_is_recognised(module: Any, tmp_path: Path) -> None:
    known = {name for one, name, _ in RECOGNISED if one is module}
    others = [path for path in DATA.rglob("*") if path.is_file() and str(path.relative_to(DATA)) not in known]
    others = [path for path in others if module.__name__.rpartition(".")[2] not in path.parts]
    assert [path for path in others if module.IMPORTER.recognise(path).kind == "yes"] == []
    (tmp_path / "a.json").write_text('{"a": ')
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    for name in ("a.json", "b.parquet", "none.csv", "."):
        assert module.IMPORTER.recognise(tmp_path / name).kind == "no"


def test_lewidi_of_2025() -> None:
    made, account = read(lewidi.IMPORTER, "sarcasm_dev.json", "sarcasm_annotators_meta.json")
    assert rows(made.ratings) == [
        ("007", "Ann1", "sarcasm_detection", "6"),
        ("007", "Ann2", "sarcasm_detection", "5"),
        ("8", "Ann2", "sarcasm_detection", "4"),
        ("8", "Ann4", "sarcasm_detection", "1"),
    ]
    assert counts(account) == (5, 4, {"importing.left.missing": 1})
    assert rows(made.items, "item_id", "context", "response", "lang", "context+speaker")[1] == (
        *("8", "小王又迟到了。", "你真准时。", "zh", "12_346"),
    )
    assert rows(made.items, "text")[0] == (
        "context: It has rained for a week. Ann opens the window.\nresponse: What a lovely summer ☀️",
    )
    assert rows(made.raters) == [
        ("Ann1", "Female", "22", "Chinese"),
        ("Ann2", "Male", "33", "German"),
        ("Ann4", None, None, "Chinese"),
    ]
    assert rows(made.questions, "question", "level", "min", "max") == [("sarcasm_detection", "ordinal", "1", "6")]
    assert made.languages == ("en", "zh")
    made, _ = read(lewidi.IMPORTER, "irony_dev.json", "irony_annotators_meta.json")
    assert rows(made.ratings, "rater_id", "rating") == [("Ann0", "0"), ("Ann20", "1")]
    assert rows(made.raters, "rater_id", "Age", "Employment status") == [("Ann0", "19", None), ("Ann20", "60", "Other")]
    assert rows(made.items, "source", "given_level") == [("reddit", "1")]
    assert rows(made.questions, "labels", "positive") == [("0;1", "1")]


def test_lewidi_with_several_labels_at_once() -> None:
    made, account = read(lewidi.IMPORTER, "nli_dev.json")
    assert rows(made.ratings, "rater_id", "question", "rating") == [
        *(("Ann1", "contradiction", "0"), ("Ann1", "entailment", "0"), ("Ann1", "neutral", "1")),
        *(("Ann2", "contradiction", "0"), ("Ann2", "entailment", "1"), ("Ann2", "neutral", "1")),
    ]
    assert counts(account) == (6, 6, {})
    assert made.comments is None
    assert [(note.key, note.fields) for note in made.notes] == [("research.lewidi.explanations", {"count": 3})]
    made, _ = read(lewidi.IMPORTER, "nli_dev.json", with_text_of_raters=True)
    assert rows(made.comments)[1] == (
        *("49", "Ann2", "natural_language_inference", '"The next year" may be the year of building.'),
    )
    assert made.notes == ()


def test_lewidi_of_2023() -> None:
    made, account = read(lewidi.IMPORTER, "posts_train.json", "posts_dev.json")
    hate, rude = "hate_speech_detection", "aggressive_language_detection"
    expected = [("train-1", hate, "0011"), ("train-1", rude, "0111"), ("dev-1", hate, "000"), ("dev-1", rude, "0001")]
    assert rows(made.ratings) == [
        (item, f"Ann{n}", question, value)
        for item, question, values in expected
        for n, value in enumerate(values, start=1)
    ]
    assert counts(account) == (16, 15, {"importing.left.missing": 1})
    assert rows(made.raters)[1:3] == [("Ann2", "target group"), ("Ann3", "control group")]
    assert rows(made.items, "item_id", "text") == [
        ("train-1", "Cheap tickets, says the minister :-)"),
        ("dev-1", "<user> 这也叫新闻？"),
    ]
    made, account = read(lewidi.IMPORTER, "talk_dev.json")
    assert rows(made.ratings, "rater_id", "question", "rating")[:3] == [
        *(("Ann2", "abusivness_detection", "-2"), ("Ann3", "abusivness_detection", "0")),
        ("Ann8", "abusivness_detection", "1"),
    ]
    assert rows(made.questions, "question", "min", "max")[0] == ("abusivness_detection", "-3", "1")
    assert rows(made.items, "text", "agent", "user") == [
        ('prev_user: hi\nagent: Please go on.\nuser: You are "smart", bot', "Please go on.", 'You are "smart", bot'),
    ]
    assert counts(account) == (9, 9, {})


def test_lewidi_that_is_not_as_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has 2 entries for 3 annotators: 0,1") as caught:
        read(lewidi.IMPORTER, "broken.json")
    assert (caught.value.fields["line"], caught.value.fields["field"]) == (12, "annotations")
    made, account = read(lewidi.IMPORTER, "broken.json", skip_broken=True)
    assert rows(made.ratings, "item_id", "rater_id", "rating") == [("1", "Ann1", "0"), ("1", "Ann2", "1")]
    assert [error.fields["line"] for error in account.broken_records] == [12, 22]
    with pytest.raises(InputError, match="two data sets"):
        read(lewidi.IMPORTER, "nli_dev.json", "talk_dev.json", skip_broken=True)
    file = tmp_path / "people.json"
    for text, said in (('{"Ann1": {"Age": 22,, }}', "line 1: this is no JSON"), ('{"Ann1": 1}', "object of objects")):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            read_people(file)
    file.write_text('{"Ann1": {"Age": "22, or so,}",\n},}')
    assert read_people(file).frame.rows() == [("Ann1", "22, or so,}")]
    entry = {"annotation task": "t", "text": "x", "annotators": "A,B", "soft_label": {}, "annotations": {"B": "4"}}
    file.write_text(json.dumps({"1": entry, "2": {**entry, "annotations": 7}}))
    with pytest.raises(InputError, match="the field 'annotations' is 7"):
        read(lewidi.IMPORTER, file)
    _, account = read(lewidi.IMPORTER, file, skip_broken=True)
    assert counts(account) == (4, 1, {"importing.left.missing": 1, "importing.left.broken": 2})


def test_votes() -> None:
    made, account = read(votes.IMPORTER, "drinks.csv")
    assert rows(made.ratings) == [
        ("q1: cola | tea", "u1", "preference", "b", "b", "US"),
        ("q1: cola | tea", "u2", "preference", "b", "a", "US"),
        ("q1: cola | tea", "张三", "preference", "tie", "b", "CN"),
        ("q2: tea | 牛奶 🥛", "u1", "preference", "b", "a", "US"),
    ]
    assert rows(made.items) == [("q1: cola | tea", "cola", "tea"), ("q2: tea | 牛奶 🥛", "tea", "牛奶 🥛")]
    assert counts(account) == (5, 4, {"importing.left.missing": 1})
    assert rows(made.questions) == [("preference", "pairwise", "a;b;tie")]
    made, _ = read(votes.IMPORTER, "drinks.csv", settings={"order": "unknown", "question": "taste"})
    assert made.ratings is not None
    assert "shown_first" not in made.ratings.columns
    assert set(made.ratings["question"]) == {"taste"}
    with pytest.raises(UsageError, match="shown, unknown"):
        read(votes.IMPORTER, "drinks.csv", settings={"order": "left"})


def test_votes_of_chatbot_arena(tmp_path: Path) -> None:
    made, account = read(votes.IMPORTER, "arena.json")
    columns = ("item_id", "rater_id", "rating", "shown_first", "at", "language", "given")
    assert rows(made.ratings, *columns) == [
        (
            *("c0fc42: koala-13b | vicuna-13b", "arena_user_973", "b", "b"),
            *("2023-04-24T15:53:11.132200Z", "English", None),
        ),
        (
            *("003f5e: koala-13b | vicuna-13b", "arena_user_12", "tie", "a"),
            *("2023-04-24T15:53:20Z", "Chinese", "tie (bothbad)"),
        ),
    ]
    assert rows(made.items, "text", "response_a", "response_b") == [
        ("Count to 3 🙂", "3", "1, 2, 3"),
        ("写一首诗", "不会", "诗"),
    ]
    assert counts(account) == (3, 2, {"importing.left.missing": 1})
    assert not made.personal_ids
    file = tmp_path / "a.parquet"
    records = json.loads((DATA / "votes/arena.json").read_text(encoding="utf-8"))
    kept = [{name: one for name, one in record.items() if name != "openai_moderation"} for record in records[:2]]
    pl.DataFrame([{**record, "judge": f"arena_user_10.0.0.{n}"} for n, record in enumerate(kept)]).write_parquet(file)
    assert votes.IMPORTER.recognise(file).kind == "yes"
    again, _ = read(votes.IMPORTER, file)
    assert not again.personal_ids
    assert rows(again.ratings, "item_id", "rating") == rows(made.ratings, "item_id", "rating")
    assert finish(again, ImportOptions(), "x").tables["ratings"]["rater_id"].to_list() == ["r1", "r2"]


def test_votes_of_nobody_and_votes_that_are_broken(tmp_path: Path) -> None:
    made, _ = read(votes.IMPORTER, "unnamed.jsonl")
    assert rows(made.ratings) == [
        ("x | y", f"slot {n}", "preference", vote) for n, vote in ((1, "a"), (2, "b"), (3, "b"))
    ]
    assert made.read == {"anonymous_raters": True}
    with pytest.raises(InputError, match="and so is the other thing") as caught:
        read(votes.IMPORTER, "broken.csv")
    assert (caught.value.fields["line"], caught.value.fields["field"]) == (3, "right")
    _, account = read(votes.IMPORTER, "broken.csv", skip_broken=True)
    assert [(error.fields["line"], error.fields["field"]) for error in account.broken_records] == [
        *((3, "right"), (4, "winner"), (5, "voter")),
    ]
    with pytest.raises(InputError, match="not clear which columns hold this: a, b, winner"):
        read(votes.IMPORTER, "other.csv", skip_broken=True)
    with pytest.raises(InputError, match="not clear which columns hold this: z"):
        read(votes.IMPORTER, "other.csv", mapping={"a": "z"})
    (tmp_path / "a.jsonl").write_text('7\n{"a": "x", "b": "y", "winner": "x"}\n')
    _, account = read(votes.IMPORTER, tmp_path / "a.jsonl", skip_broken=True)
    assert counts(account) == (2, 1, {"importing.left.broken": 1})
    with pytest.raises(InputError, match="Import them one after the other"):
        read(votes.IMPORTER, "drinks.csv", "unnamed.jsonl")


FIRST, SECOND = "81 turn 1: alpaca-13b | gpt-4", "81 turn 2: alpaca-13b | gpt-4"


def test_mtbench() -> None:
    made, account = read(mtbench.IMPORTER, "human.json", "gpt4_pair.json")
    assert rows(made.ratings) == [
        (FIRST, "author_2", "preference", "b", "author"),
        (FIRST, "expert_3", "preference", "b", "expert"),
        (FIRST, "expert_10", "preference", "tie", "expert"),
        (SECOND, "expert_3", "preference", "a", "expert"),
    ]
    assert rows(made.items) == [
        (
            *(FIRST, "alpaca-13b", "gpt-4", "81", "1", "Write a post about Hainan 🏝️"),
            *("Hainan is warm.", "海南：a long post."),
        ),
        (
            *(SECOND, "alpaca-13b", "gpt-4", "81", "2", "Write a post about Hainan 🏝️\n\nBegin every line with A."),
            *("Aha.", "A long post."),
        ),
    ]
    assert rows(made.judgments, "item_id", "judge", "condition", "rating", "status", "given") == [
        (FIRST, "gpt4_pair", "-", "b", "ok", "model_b"),
        (SECOND, "gpt4_pair", "-", "tie", "ok", "tie (inconsistent)"),
    ]
    assert [(note.key, note.fields) for note in made.notes] == [("research.mtbench.inconsistent", {"count": 1})]
    assert counts(account) == (7, 6, {"importing.left.missing": 1})


def test_mtbench_judged_in_both_orders(tmp_path: Path) -> None:
    made, account = read(mtbench.IMPORTER, "gpt-4_pair.jsonl")
    assert rows(made.judgments, "item_id", "judge", "rating", "status", "shown_first", "prompt_name", "raw") == [
        (FIRST, "gpt-4", "b", "ok", "b", "pair-v2", "[[A]]"),
        (FIRST, "gpt-4", "b", "ok", "a", "pair-v2", "[[B]]"),
        (SECOND, "gpt-4", "b", "ok", "b", "pair-v2-multi-turn", "[[A]]"),
        (SECOND, "gpt-4", None, "malformed", "a", "pair-v2-multi-turn", "我说不准"),
    ]
    assert counts(account) == (4, 4, {})
    file = tmp_path / "a.jsonl"
    game = {"question_id": 1, "model_1": "x", "model_2": "y", "g1_winner": "error", "g1_judgment": "$ERROR$"}
    game |= {"g2_winner": "tie", "judge": ["m", "p"], "turn": 1}
    file.write_text(json.dumps(game))
    made, _ = read(mtbench.IMPORTER, file)
    assert rows(made.judgments, "rating", "status") == [(None, "error"), ("tie", "ok")]
    file.write_text(json.dumps({**game, "g2_winner": "nobody"}))
    with pytest.raises(InputError, match="line 1: the field 'g2_winner' is nobody"):
        read(mtbench.IMPORTER, file)
    _, account = read(mtbench.IMPORTER, "broken.jsonl", skip_broken=True)
    assert [(error.fields["line"], error.fields["field"]) for error in account.broken_records] == [
        *((2, "winner"), (3, "model_b")),
    ]


def folder(importer: Importer, out: Path, *files: str, **options: Any) -> Path:
    made, _ = read(importer, *files, **options)
    out.mkdir()
    write(finish(made, ImportOptions(**options), "x"), out)
    return out


def test_an_audit_of_mtbench(tmp_path: Path) -> None:
    people = folder(mtbench.IMPORTER, tmp_path / "people", "human.json")
    judged = folder(mtbench.IMPORTER, tmp_path / "judged", "gpt-4_pair.jsonl")
    profile = voirdire.audit(ratings=people, judgments=judged, draws=0)
    one = {"judge": "gpt-4", "condition": "-"}
    assert profile.get("agreement", pool="author", **one).value == 1
    assert profile.get("agreement", pool="expert", **one).value == 0.25
    assert profile.get("position.consistency", **one).value == 1


def test_judgebench(tmp_path: Path) -> None:
    made, account = read(judgebench.IMPORTER, "recipes.json")
    assert rows(made.ratings) == [
        *(("baked_ziti_5", f"slot {n}", "fluency", value, "crowd") for n, value in ((1, "3"), (2, "4"))),
        *(
            ("baked_ziti_5", f"slot {n + 1}", "Missing Steps", value, "crowd")
            for n, value in enumerate(("yes", "yes", "no"))
        ),
        *(("2", f"slot {n}", "fluency", value, "crowd") for n, value in ((1, "6"), (2, "4"))),
        *(("2", f"slot {n}", "taste", value, "crowd") for n, value in ((1, "1"), (2, "2"))),
    ]
    assert counts(account) == (11, 9, {"importing.left.missing": 1, "research.judgebench.left.mean": 1})
    assert rows(made.questions, "question", "level", "min", "max", "labels") == [
        ("fluency", "ordinal", "1", "6", None),
        ("Missing Steps", "nominal", None, None, "yes;no"),
        ("taste", "ordinal", "1", "3", None),
    ]
    assert rows(made.items, "item_id", "text") == [
        ("baked_ziti_5", "Salt the water 🧂.\nBoil it."),
        ("2", "title: 番茄炒蛋\ntext: 先炒蛋。"),
    ]
    assert (made.name, made.read) == ("Rewritten recipes (a small example)", {"anonymous_raters": True})
    made, _ = read(judgebench.IMPORTER, "recipes.json", settings={"places": "yes"})
    assert rows(made.ratings, "rater_id")[0] == ("rater 1",)
    assert made.read == {}
    with pytest.raises(InputError, match="is Perhaps, which is none of the labels") as caught:
        read(judgebench.IMPORTER, "broken.json")
    assert caught.value.fields["line"] == 9
    _, account = read(judgebench.IMPORTER, "broken.json", skip_broken=True)
    assert [error.fields["line"] for error in account.broken_records] == [9, 10, 11]
    file = tmp_path / "a.json"
    metric = {"metric": "m", "category": "graded", "worst": 0, "best": 1}
    scores = {"individual_human_scores": [0.5, "x"]}
    file.write_text(json.dumps({"annotations": [metric], "instances": [{"id": 1, "annotations": {"m": scores}}]}))
    with pytest.raises(InputError, match="is x and has to be of the kind number"):
        read(judgebench.IMPORTER, file)
    file.write_text(file.read_text().replace('"x"', "1"))
    assert rows(read(judgebench.IMPORTER, file)[0].questions, "level") == [("interval",)]
    file.write_text(file.read_text().replace("graded", "ranked"))
    with pytest.raises(InputError, match="is ranked; a metric is graded or categorical"):
        read(judgebench.IMPORTER, file)


def test_alttest(tmp_path: Path) -> None:
    made, account = read(alttest.IMPORTER, "human_annotations.json", "llm_annotations.json", "prompts.json")
    assert rows(made.ratings) == [
        ("article 1__re1", "worker_0", "label", "yes"),
        ("article 1__re2", "worker_0", "label", "no"),
        ("article 1__re1", "工人_1", "label", "no"),
        ("第二篇__re1", "工人_1", "label", "yes"),
    ]
    assert rows(made.judgments, "item_id", "judge", "rating") == [
        *(("article 1__re1", "gemini_flash", "yes"), ("article 1__re2", "gemini_flash", "yes")),
        *(("第二篇__re1", "gemini_flash", "no"), ("article 1__re1", "gpt-4o", "no"), ("第二篇__re1", "gpt-4o", "yes")),
    ]
    assert rows(made.items)[0] == (
        *("article 1__re1", "Does the article 📰 ask who is responsible?", "article 1", "re1"),
    )
    assert counts(account) == (11, 9, {"importing.left.missing": 2})
    with pytest.raises(InputError, match="people or of LLMs"):
        read(alttest.IMPORTER, "mine.json")
    made, _ = read(alttest.IMPORTER, "mine.json", settings={"judges": "mine.json", "question": "stars"})
    assert rows(made.judgments, "item_id", "judge", "question", "rating") == [
        *(("1", "ann", "stars", "4"), ("2", "ann", "stars", "5")),
    ]
    (tmp_path / "my_llm_annotations.json").write_text('{"i1": "A", "i2": null}')
    assert alttest.IMPORTER.recognise(tmp_path / "my_llm_annotations.json").kind == "yes"
    made, _ = read(alttest.IMPORTER, tmp_path / "my_llm_annotations.json")
    assert rows(made.judgments, "item_id", "judge", "rating") == [("i1", "my_llm_annotations", "A")]
    with pytest.raises(InputError, match=r"line 2: the field 'worker_0\.2'"):
        read(alttest.IMPORTER, "broken_human_annotations.json")
    made, account = read(alttest.IMPORTER, "broken_human_annotations.json", skip_broken=True)
    assert rows(made.ratings, "item_id", "rater_id", "rating") == [("1", "worker_0", "yes"), ("1", "worker_2", "no")]
    assert counts(account) == (4, 2, {"importing.left.broken": 2})


def test_prism() -> None:
    made, account = read(prism.IMPORTER, "utterances.jsonl", "survey.jsonl")
    assert rows(made.ratings) == [
        ("ut0", "user0", "score", "65", "true"),
        ("ut1", "user0", "score", "1", "false"),
        ("ut3", "user1", "score", "100", "true"),
    ]
    assert counts(account) == (4, 3, {"importing.left.missing": 1})
    assert rows(made.items, "item_id", "text", "prompt", "model_name")[2:] == [
        ("ut2", "很难说。", "什么是公平？", "model-a"),
        ("ut3", "人人平等。", "什么是公平？", "model-b"),
    ]
    assert rows(made.raters, "rater_id", "age", "religion", "ethnicity", "reside_country", "special_region") == [
        ("user0", "18-24 years old", "Non-religious", "White", "United Kingdom", "UK"),
        ("user1", "25-34 years old", "Prefer not to say", "Asian", "Chile", "Asia"),
    ]
    assert made.raters is not None
    told = made.raters.write_csv()
    assert not any(words in told for words in ("Leeds", "茶", "business", "643ec1", "2023-11-22", "Be kind"))
    assert rows(made.questions, "level", "min", "max") == [("interval", "1", "100")]
    made, _ = read(prism.IMPORTER, "conversations.jsonl")
    assert rows(made.ratings, "item_id", "rater_id", "rating") == [("c0-0-0", "user0", "65"), ("c0-0-1", "user0", "1")]
    assert rows(made.items, "text", "prompt")[0] == ("Mostly.", "Is tea healthy? 🍵")
    assert "open_feedback" not in made.items.columns  # type: ignore[union-attr]


def test_prism_that_is_not_as_it_should_be() -> None:
    with pytest.raises(InputError, match="the field 'score' is 165"):
        read(prism.IMPORTER, "broken.jsonl")
    _, account = read(prism.IMPORTER, "broken.jsonl", skip_broken=True)
    assert [error.fields["line"] for error in account.broken_records] == [2, 3, 4]
    with pytest.raises(InputError, match="Give one of them"):
        read(prism.IMPORTER, "utterances.jsonl", "conversations.jsonl")
    with pytest.raises(InputError, match="Leave the file out"):
        read(prism.IMPORTER, "../dices/broken.csv")


def test_dices() -> None:
    made, account = read(dices.IMPORTER, "dices_350.csv")
    first, whole = "297540056537427", "Q1_whole_conversation_evaluation"
    none, foreign = dices.WHOLE_ANSWERS[0], dices.WHOLE_ANSWERS[3]
    answers = [
        *(("0", first, whole, none), ("0", first, "Q2_harmful_content_insensitive", "No")),
        *(("0", first, "Q4_misinformation", "Unsure"), ("0", first, "Q_overall", "No")),
        *(("1", first, whole, none), ("1", first, "Q2_harmful_content_insensitive", "Yes")),
        *(("1", first, "Q4_misinformation", "No"), ("1", first, "Q_overall", "Yes")),
        *(("0", "003", whole, foreign), ("0", "003", "Q4_misinformation", "No")),
        ("0", "003", "Q_overall", "No"),
    ]
    assert rows(made.ratings, "item_id", "rater_id", "question", "rating") == answers
    assert rows(made.ratings, "seconds", "at")[::10] == [
        *(("74.144", "2022-10-06T22:47:46Z"), ("1", "2022-10-06T22:50:00Z")),
    ]
    assert counts(account) == (12, 11, {"importing.left.missing": 1})
    assert rows(made.raters) == [
        (first, "Woman", "Multiracial", "gen x+", "High school or below", "Phase1"),
        ("003", "Man", "White", "gen z", "College degree or higher", "Phase2"),
    ]
    assert rows(made.items, "item_id", "response", "degree_of_harm", "true_safety_gold") == [
        ("0", "Tell me more.", "Benign", "No"),
        ("1", "That is silly.", "Moderate", "Yes"),
    ]
    assert rows(made.questions, "question", "labels", "positive")[-1] == ("Q_overall", "Yes;No;Unsure", "Yes")
    assert [note.key for note in made.notes] == [f"research.dices.{name}" for name in ("polarity", "words", "gold")]


def test_dices_in_part_and_broken() -> None:
    made, account = read(dices.IMPORTER, "dices_350.csv", settings={"questions": "Q_overall"})
    assert rows(made.ratings, "rating") == [("No",), ("Yes",), ("No",)]
    assert counts(account) == (12, 3, {"research.dices.left.question": 9})
    with pytest.raises(InputError, match="there is no question 'Q7'"):
        read(dices.IMPORTER, "dices_350.csv", settings={"questions": "Q7"})
    with pytest.raises(InputError, match="is Maybe; an answer is Yes, No, Unsure") as caught:
        read(dices.IMPORTER, "broken.csv")
    assert caught.value.fields["line"] == 3
    made, account = read(dices.IMPORTER, "broken.csv", skip_broken=True)
    assert rows(made.ratings, "question", "rating")[-1] == ("Q_overall", "No")
    assert counts(account) == (9, 3, {"importing.left.broken": 6})
    assert rows(made.raters) == [("1", "Man", "US")]
