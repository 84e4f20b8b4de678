from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.construction.building import make, pair, pairs, write_rows

from voirdire.cli.annotate import next_link
from voirdire.cli.main import run
from voirdire.construction.authoring import text_digest
from voirdire.construction.concepts import read_concepts

AUTHORS = ["--author", "ana", "--author", "bo", "--author", "chen"]
MEAL = "celebratory-meal"


@pytest.fixture
def begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "corpus"
    assert run(["build", "new", str(folder), *AUTHORS]) == 0
    capsys.readouterr()
    return folder


def printed(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> str:
    assert run([str(arg) for arg in args]) == code
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> Any:
    return json.loads(printed(capsys, *args, "--json", code=code))


def test_from_nothing_to_a_split(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "build", "verify", begun, f"{MEAL}/prompt/zh", "--by", "dai")
    checked = told(capsys, "build", "check", begun, "--strict")
    assert (checked["ok"], checked["findings"], checked["items"]) == (True, [], 2)
    author = ("build", "author", begun)
    assert told(capsys, *author)["planned"] == [MEAL]
    assert told(capsys, *author, "submit", MEAL, "--by", "ana")["concepts"][0]["state"] == "drafted"
    told(capsys, *author, "review", MEAL, "--by", "bo", "--note", "Say which celebration.")
    new = ("--question", "en=How good is this for a birthday = a feast?", "--realisation", "us=A cake")
    told(capsys, *author, "write", MEAL, "--by", "ana", *new)
    assert read_concepts(begun).items[1].prompts["en"] == "How good is this for a birthday = a feast?"
    told(capsys, *author, "revise", MEAL, "--by", "ana")
    accepted = told(capsys, *author, "accept", MEAL, "--by", "bo")["concepts"][0]
    assert (accepted["state"], accepted["waiting"], list(accepted["can"])) == ("accepted", "", ["revise", "reject"])
    told(capsys, *author, "add", "soup", "--by", "ana", "--category", "food")
    status = told(capsys, *author)
    assert (status["states"]["accepted"], status["states"]["open"]) == (1, 1)
    assert status["people"]["bo"] == {"writes": 1, "reviews": 1}
    assert [one["concept"] for one in told(capsys, *author, "--by", "bo")["concepts"]] == ["soup"]
    events = told(capsys, *author, "history", MEAL)["events"]
    assert [one.get("action", one["kind"]) for one in events] == [
        "verify",
        "assigned",
        "submit",
        "review",
        "write",
        "revise",
        "accept",
    ]
    made = told(capsys, "build", "split", begun)
    assert (made["splits"], made["waiting"], made["written"]) == ({MEAL: "test"}, ["soup"], True)


def test_one_concept_with_its_text(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    author = ("build", "author", begun)
    printed(capsys, *author, "submit", MEAL, "--by", "ana")
    printed(capsys, *author, "review", MEAL, "--by", "bo", "--note", "Say which.")
    out = printed(capsys, *author, "status", MEAL)
    assert "Shown in us: A roast turkey" in out
    assert out.count("Question (en): How suitable is this meal") == 1
    assert "Question (zh): 这顿饭" in out
    assert "Said last, by bo: Say which." in out
    assert "Possible now: revise (ana); accept (bo); reject (bo, ana)" in out
    document = told(capsys, *author, "status", MEAL)
    assert document["text"]["us"]["prompt"]["zh"].startswith("这顿饭")
    assert document["digest"] == text_digest(read_concepts(begun).items)
    assert told(capsys, *author)["text"] is None


def test_errors_leave_with_three(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(begun, pair("tea", prompt_en=""), (begun / "build.toml").read_text())
    found = told(capsys, "build", "check", begun, code=3)
    assert not found["ok"]
    assert {one["kind"] for one in found["findings"] if one["level"] == "error"} == {"question_missing"}
    out = printed(capsys, "build", "check", begun, code=3)
    assert "Errors: 2." in out
    assert "row 2, column 'prompt.en'" in out


def test_warnings_count_when_strict(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(begun, pairs("tea", "teas"), (begun / "build.toml").read_text())
    assert "No errors." in printed(capsys, "build", "check", begun)
    assert "Look at:" in printed(capsys, "build", "check", begun, "--strict", code=3)


def test_findings_of_a_kind_are_told_in_part(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(begun, pairs(*(f"c{number}" for number in range(8))), (begun / "build.toml").read_text())
    write_rows(begun, [{**one, "realisation": ""} for one in pairs(*(f"c{number}" for number in range(8)))])
    out = printed(capsys, "build", "check", begun, code=3)
    assert out.count("Error:") == 10
    assert "6 more of this kind" in out
    assert len(told(capsys, "build", "check", begun, code=3)["findings"]) >= 16


def test_raters_who_are_authors(begun: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    raters = tmp_path / "raters.csv"
    pl.DataFrame({"rater_id": ["r1", "Ana"], "pool": ["us", "cn"]}).write_csv(raters)
    assert "'Ana' is the author 'ana'" in printed(capsys, "build", "check", begun, "--raters", raters, code=3)
    step = ("build", "author", begun, "submit", MEAL, "--by", "ana", "--raters", raters)
    assert told(capsys, *step, code=3)["error"]["key"] == "build.finding.author_rates"
    assert told(capsys, "build", "author", begun)["states"]["open"] == 1


@pytest.mark.parametrize(
    ("args", "key"),
    [
        (["author", "DIR", "accept", MEAL, "--by", "bo"], "authoring.move_illegal"),
        (["author", "DIR", "accept", "--by", "bo"], "authoring.concept_missing"),
        (["author", "DIR", "accept", MEAL], "authoring.by_missing"),
        (["author", "DIR", "approve", MEAL], "authoring.action_unknown"),
        (["author", "DIR", "status", "tea"], "authoring.concept_unknown"),
        (["author", "DIR", "write", MEAL, "--by", "ana", "--question", "What?"], "cli_author.pair_form"),
        (
            ["author", "DIR", "write", MEAL, "--by", "ana", "--question", "en=a", "--question", "en=b"],
            "cli_author.pair_form",
        ),
        (["check", "DIR/none"], "build.file.unreadable"),
        (["items", "DIR/none"], "build.file.unreadable"),
        (["new", "DIR"], "build.new.exists"),
        (["split", "DIR", "--pilot", "9"], "build.split.too_few"),
        (["split", "DIR", "--ratings", "DIR/none.csv"], "input.file_missing"),
    ],
)
def test_mistakes(begun: Path, capsys: pytest.CaptureFixture[str], args: list[str], key: str) -> None:
    given = [arg.replace("DIR", str(begun)) for arg in args]
    before = {path.name: path.read_bytes() for path in begun.iterdir() if path.name.startswith("concepts")}
    assert told(capsys, "build", *given, code=3)["error"]["key"] == key
    assert {path.name: path.read_bytes() for path in begun.iterdir() if path.name.startswith("concepts")} == before


def test_texts_cannot_steer_the_terminal(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**one, "realisation": "a\x1b[31m", "category": "\x1b]0;x\x07"} for one in pair("tea")]
    make(begun, rows, (begun / "build.toml").read_text())
    out = printed(capsys, "build", "check", begun, code=3)
    assert "\x1b" not in out
    assert "\\x1b" in out
    (begun / "history.jsonl").write_text('{"kind": "remark\\u001b[1m", "by": "\\u001b", "note": "\\u0007"}\n')
    assert "\x1b" not in printed(capsys, "build", "author", begun, "history")


def test_a_torn_line_is_told(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "build", "author", begun, "assign")
    with (begun / "history.jsonl").open("a") as file:
        file.write('{"at": "2026-')
    for command in (("check",), ("author",), ("split", "--dry-run")):
        assert "row 2: this line was cut off" in printed(capsys, "build", command[0], begun, *command[1:])


def test_missing_levels_are_named(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(begun, pairs("a", "b"), (begun / "build.toml").read_text())
    ratings = begun / "ratings.csv"
    rows = {"item_id": ["a-us", "b-us"], "rater_id": ["r", "r"], "pool": ["us", "us"], "rating": [1, 5]}
    pl.DataFrame(rows).write_csv(ratings)
    out = printed(capsys, "build", "split", begun, "--ratings", ratings, "--scale", "1:5")
    assert "Pool us, culture us: 0 of 1 demonstration items at level 3, and no more are rated so." in out
    assert "Pool us, culture us: 0 of 1 demonstration items at level 5" not in out
    made = told(capsys, "build", "split", begun, "--ratings", ratings, "--scale", "1:5", "--per-level", 2)
    assert {"pool": "us", "culture": "us", "level": 1, "items": 1, "available": 1} in made["missing"]


def test_what_is_kept_as_test_could_be_taken(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(begun, pairs("a", "b"), (begun / "build.toml").read_text())
    printed(capsys, "build", "split", begun)
    ratings = begun / "ratings.csv"
    pl.DataFrame({"item_id": ["a-us"], "rater_id": ["r"], "pool": ["us"], "rating": [3]}).write_csv(ratings)
    args = ("build", "split", begun, "--ratings", ratings, "--scale", "1:5")
    assert "at level 3, and 1 could be taken (--again)" in printed(capsys, *args)
    assert told(capsys, *args, "--again")["counts"]["demonstration"] == 1


@pytest.mark.parametrize("command", ["new", "check", "author", "split"])
@pytest.mark.parametrize(("lang", "example"), [("en", "Example:"), ("zh", "示例：")])
def test_help(capsys: pytest.CaptureFixture[str], command: str, lang: str, example: str) -> None:
    out = printed(capsys, "build", command, "--help", "--lang", lang)
    assert f"{example} voirdire build {command}".replace("： ", "：") in out
    assert "cli_" not in out


def test_in_chinese(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "没有错误" in printed(capsys, "build", "check", begun, "--lang", "zh")
    assert "未编写" in printed(capsys, "build", "author", begun, "--lang", "zh")
    assert "种子 0" in printed(capsys, "build", "split", begun, "--lang", "zh")
    assert run(["build", "author", str(begun), "accept", MEAL, "--by", "bo", "--lang", "zh"]) == 3
    assert "现在可以进行：submit (ana)" in capsys.readouterr().err


def test_a_step_with_several_concepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path, pairs("tea", "rice", "hat", "bread"))
    author = ("build", "author", folder)
    rows = told(capsys, *author, "submit", "tea", "bread", "--by", "ana")["concepts"]
    assert [(row["concept"], row["state"]) for row in rows] == [("tea", "drafted"), ("bread", "drafted")]
    assert run([*map(str, author), "submit", "rice", "hat", "--by", "bo"]) == 3
    captured = capsys.readouterr()
    assert "rice" in captured.out
    assert "hat" not in captured.out
    assert "chen" in captured.err
    for action in ("write", "status"):
        assert run([*map(str, author), action, "tea", "rice", "--by", "ana"]) == 3
        assert f"{action} takes one concept" in capsys.readouterr().err


def test_commands_that_are_printed_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my corpus"
    assert printed(capsys, "build", "new", folder, *AUTHORS).endswith(f"voirdire build check '{folder}'\n")
    assert "Name the authors" not in printed(capsys, "build", "new", tmp_path / "second", *AUTHORS)
    assert "Name the authors" in printed(capsys, "build", "new", tmp_path / "third")
    items = folder / "items.csv"
    assert run(["annotate", str(items)]) == 3
    assert f"Make it: voirdire build items '{folder}'" in capsys.readouterr().err
    items.write_text("item_id\n")
    written = [tmp_path / "p" / name for name in ("ratings.csv", "verdicts.csv")]
    monkeypatch.setattr("voirdire.web.serving.export_batch", lambda *_: written)
    out = printed(capsys, "annotate", items, "--export", tmp_path / "p")
    assert out.endswith(f"Next: voirdire build screen '{folder}' --ratings {tmp_path / 'p'}\n")
    monkeypatch.setattr("voirdire.web.serving.export_batch", lambda *_: written[:1])
    assert "voirdire audit --ratings" in printed(capsys, "annotate", items, "--export", tmp_path / "p")


def test_what_becomes_of_the_leads_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOIRDIRE_LEAD_SECRET", raising=False)
    assert "new link" in next_link("en")
    monkeypatch.setenv("VOIRDIRE_LEAD_SECRET", "a" * 40)
    assert "stays the same" in next_link("en")
