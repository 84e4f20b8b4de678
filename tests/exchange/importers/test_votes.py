"""Tables of votes: what a word means, which item a vote is of, and voters that are judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.tables import finish, write
from voirdire.exchange.importers.votes import IMPORTER

HEAD = "item,model_a,model_b,winner,judge\n"


def read(file: Path, written: str, *, skip_broken: bool = False, **settings: str) -> Tables:
    file.write_text(written, encoding="utf-8")
    account = Account(skip_broken=skip_broken)
    assert IMPORTER.read is not None
    made = IMPORTER.read([file], ImportOptions(settings=settings, skip_broken=skip_broken), account)
    assert account.balanced
    return made


def votes(made: Tables) -> list[tuple[Any, ...]]:
    assert made.ratings is not None
    return made.ratings.select("item_id", "rating").rows()


@pytest.mark.parametrize("skip", [False, True])
def test_a_number_that_is_a_name_and_the_other_place_is_not_guessed(tmp_path: Path, skip: bool) -> None:
    written = HEAD + "q1,2,5,1,u1\nq1,2,5,2,u2\nq2,7,2,2,u1\n"
    with pytest.raises(InputError, match=r"v\.csv, line 3: .* --set winner=names or --set winner=sides"):
        read(tmp_path / "v.csv", written, skip_broken=skip)
    sides = read(tmp_path / "v.csv", written, winner="sides")
    assert votes(sides) == [("q1: 2 | 5", "a"), ("q1: 2 | 5", "b"), ("q2: 2 | 7", "a")]


@pytest.mark.parametrize("word", ["left", "b", "both"])
def test_a_word_that_is_a_name_and_another_place_is_not_guessed(tmp_path: Path, word: str) -> None:
    things = f"{word},tea" if word == "b" else f"tea,{word}"
    with pytest.raises(InputError, match="line 2"):
        read(tmp_path / "v.csv", HEAD + f"q1,{things},{word},u1\n")
    made = read(tmp_path / "v.csv", HEAD + f"q1,{things},{word},u1\n", winner="names")
    assert made.items is not None
    assert made.items[votes(made)[0][1]].to_list() == [word]


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(("codes", "key"), [("01", "code"), ("11", "only_1"), ("13", "code")])
def test_codes_that_do_not_count_from_1_are_refused_as_a_whole(
    tmp_path: Path, codes: str, key: str, skip: bool
) -> None:
    written = HEAD + f"q1,p,q,{codes[0]},u1\nq1,p,q,{codes[1]},u2\n"
    with pytest.raises(InputError) as error:
        read(tmp_path / "v.csv", written, skip_broken=skip)
    assert error.value.key == f"votes.{key}"


def test_codes_from_0(tmp_path: Path) -> None:
    made = read(tmp_path / "v.csv", HEAD + "q1,p,q,0,u1\nq1,p,q,1,u2\nq1,p,q,tie,u3\n", winner="from0")
    assert [vote for _, vote in votes(made)] == ["a", "b", "tie"]


def test_a_turn_is_an_item_of_its_own(tmp_path: Path) -> None:
    one = {"question_id": 81, "model_a": "gpt", "model_b": "llama", "judge": "alice"}
    lines = [{**one, "winner": "model_a", "turn": 1}, {**one, "winner": "model_b", "turn": 2}]
    made = read(tmp_path / "v.jsonl", "\n".join(map(json.dumps, lines)))
    assert votes(made) == [("81 turn 1: gpt | llama", "a"), ("81 turn 2: gpt | llama", "b")]


def test_names_that_would_make_one_item_of_two(tmp_path: Path) -> None:
    made = read(tmp_path / "v.csv", "model_a,model_b,winner,judge\na | b,c,c,u1\na,b | c,a,u1\n")
    assert made.items is not None
    assert made.items.rows() == [("a || b | c", "a | b", "c"), ("a | b || c", "a", "b | c")]
    with pytest.raises(InputError, match=r"line 3: the item 'q: x: a \| z' stands for other two things"):
        read(tmp_path / "v.csv", HEAD + "q: x,a,z,a,u1\nq,x: a,z,z,u1\n")


def test_voters_that_are_judges_keep_both_orders_and_are_audited(tmp_path: Path) -> None:
    people = HEAD + "q1,tea,cola,tea,u1\nq1,cola,tea,tea,u2\nq2,tea,cola,cola,u1\nq2,tea,cola,cola,u2\n"
    rated = read(tmp_path / "people.csv", people, order="shown")
    judge = HEAD + "q1,tea,cola,tea,m\nq1,cola,tea,cola,m\nq2,tea,cola,tie,m\nq2,tea,cola,cola,m\n"
    made = read(tmp_path / "judge.csv", judge, order="shown", **{"as": "judgments"})
    assert made.ratings is None
    assert made.judgments is not None
    assert made.judgments.select("item_id", "judge", "repeat", "rating", "shown_first", "status").rows() == [
        ("q1: cola | tea", "m", "1", "b", "b", "ok"),
        ("q1: cola | tea", "m", "1", "a", "a", "ok"),
        ("q2: cola | tea", "m", "1", "tie", "b", "ok"),
        ("q2: cola | tea", "m", "2", "a", "b", "ok"),
    ]
    for name, tables, options in (("r", rated, ImportOptions(pool="all")), ("j", made, ImportOptions())):
        (tmp_path / name).mkdir()
        write(finish(tables, options, name), tmp_path / name)
    report = voirdire.audit(ratings=tmp_path / "r", judgments=tmp_path / "j", draws=20)
    assert report is not None


def test_judges_have_no_pools_and_need_a_name(tmp_path: Path) -> None:
    assert IMPORTER.read is not None
    with pytest.raises(UsageError):
        IMPORTER.read([], ImportOptions(pool="all", settings={"as": "judgments"}), Account())
    with pytest.raises(InputError, match="judge"):
        read(tmp_path / "v.csv", "a,b,winner\np,q,p\n", **{"as": "judgments"})


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_judged_questions_of_other_names_are_told_how_an_import_names_them(lang: str) -> None:
    fields = {"file": "j.csv", "row": 1, "column": "question", "value": "q", "known": "typical, known"}
    assert "--set questions=" in InputError("input.all_unknown_question", **fields).message(lang)
