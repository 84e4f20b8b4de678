"""Verification by a person, from Python and by the commands: what counts as verified, and what a later change does."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.construction.building import make, pair, pairs, write_rows
from tests.construction.mock_translator import KEY, forward, serving
from tests.construction.translation_world import PRICES, corpus, states

from voirdire.app.build_check import build_check
from voirdire.app.build_translate import build_verify
from voirdire.cli.main import run
from voirdire.construction.authoring import assign, move, write
from voirdire.construction.history import read_history
from voirdire.construction.standing import standings
from voirdire.construction.translation.verifying import read_standings, unverified, verify, withdraw
from voirdire.errors import UsageError

TEA = "tea/prompt/zh"


def test_verified_as_it_stands_and_changed_later(tmp_path: Path) -> None:
    folder = make(tmp_path, pairs("tea", "rice"))
    assert states(folder) == {TEA: "unverified", "rice/prompt/zh": "unverified"}
    one = verify(folder, TEA, "dai", note="Read aloud.")
    assert (one.state, one.by, one.text) == ("verified", "dai", "你会喜欢tea吗？")
    make(tmp_path, [*pair("tea", prompt_zh="你喜欢tea吗？"), *pair("rice")])
    assert states(folder)[TEA] == "changed"
    assert not read_standings(folder)[TEA].moved
    make(tmp_path, [*pair("tea", prompt_en="Does tea please you?"), *pair("rice")])
    assert read_standings(folder)[TEA].moved
    make(tmp_path, pairs("tea", "rice"))
    assert states(folder)[TEA] == "verified"
    (event,) = read_history(folder).of_kind("translation")
    assert (event["text_id"], event["concept"], event["by"], event["note"]) == (TEA, "tea", "dai", "Read aloud.")
    assert (event["source"], event["text"], event["corrected"]) == ("Would tea please you?", "你会喜欢tea吗？", False)


def test_corrected_and_taken_back(tmp_path: Path) -> None:
    folder = make(tmp_path, pairs("tea", "rice"))
    one = verify(folder, TEA, "dai", text="  这合您的口味吗？ ")
    assert (one.state, one.text) == ("verified", "这合您的口味吗？")
    assert read_standings(folder)["rice/prompt/zh"].text == "你会喜欢rice吗？"
    assert withdraw(folder, TEA, "eve").state == "unverified"
    with pytest.raises(UsageError, match="nothing to take back"):
        withdraw(folder, TEA, "eve")
    assert [one.name for one in unverified(folder)] == [TEA, "rice/prompt/zh"]


def test_a_translation_verified_after_acceptance_is_no_change_of_the_concept(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea", prompt_zh=""))
    for action, by, note in (("submit", "ana", ""), ("review", "bo", "Fine."), ("accept", "bo", "")):
        move(folder, action, "tea", by, note=note)
    verify(folder, TEA, "dai", text="你会喜欢茶吗？")
    assert build_check(folder).checked.findings == ()


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"name": "nobody"}, "no text 'nobody'"),
        ({"by": "  "}, "--by"),
        ({"by": "a\nb"}, "--by"),
        ({"text": "  "}, "empty"),
        ({"text": "a\x1b[1m"}, "control characters"),
        ({"text": "a" * 10_001}, "10000"),
        ({"text": "a", "take": "file"}, "contradict"),
        ({"take": "both"}, "--take both"),
        ({"take": "proposal"}, "nothing to verify"),
        ({"seen": "0" * 64}, "changed since"),
        ({"note": "a" * 4001}, "4001 characters, more than the 4000"),
        ({"note": "a\udcff"}, "control characters"),
    ],
)
def test_what_is_refused(tmp_path: Path, said: dict[str, Any], what: str) -> None:
    folder = make(tmp_path, pair("tea"))
    before = (folder / "concepts.csv").read_bytes()
    with pytest.raises(UsageError, match=what):
        verify(folder, **{"name": TEA, "by": "dai", **said})
    assert (folder / "concepts.csv").read_bytes() == before
    assert read_history(folder).events == ()


def test_notes_of_a_withdrawal_are_checked_too(tmp_path: Path) -> None:
    folder = make(tmp_path, pairs("tea"))
    verify(folder, TEA, "dai")
    before = (folder / "history.jsonl").read_bytes()
    for note in ("a" * 4001, "\x1b[31mred"):
        with pytest.raises(UsageError, match="control characters"):
            withdraw(folder, TEA, "dai", note=note)
    assert (folder / "history.jsonl").read_bytes() == before


def test_the_author_of_a_translation_is_told_when_they_verify_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written by command, or into the table and handed in; whoever else verifies it, it is no more their own."""
    folder = make(tmp_path, pairs("tea", "rice"))
    assign(folder)
    authors = {name: one.author for name, one in standings(read_history(folder)).items()}
    write(folder, "tea", authors["tea"], prompts={"zh": "茶合您的口味吗？"})
    move(folder, "submit", "rice", authors["rice"])
    assert "as an author too" in printed(capsys, "build", "verify", folder, TEA, "--by", authors["tea"].upper())
    assert "as an author too" in printed(capsys, "build", "verify", folder, "--status")
    verify(folder, "rice/prompt/zh", authors["rice"])
    assert {name: one.own for name, one in read_standings(folder).items()} == {TEA: True, "rice/prompt/zh": True}
    assert told(capsys, "build", "verify", folder, TEA, "--by", "dai")["verified_own"] is False
    verify(folder, "rice/prompt/zh", authors["rice"], text="您爱吃米饭吗？")
    assert not any(one.own for one in read_standings(folder).values())


def test_what_was_seen_is_what_is_verified(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    seen = read_standings(folder)[TEA].digest
    write_rows(folder, pair("tea", prompt_zh="换了"))
    with pytest.raises(UsageError, match="changed since"):
        verify(folder, TEA, "dai", seen=seen)
    assert verify(folder, TEA, "dai", seen=read_standings(folder)[TEA].digest).state == "verified"


def test_many_verify_at_once(tmp_path: Path) -> None:
    """Processes and threads wait for each other: no text and no event is lost."""
    names = [f"c{place}" for place in range(12)]
    folder = make(tmp_path, pairs(*names))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: verify(folder, f"{name}/prompt/zh", "dai", text=f"{name} 好吗？"), names))
    assert set(states(folder).values()) == {"verified"}
    assert len(list(read_history(folder).of_kind("translation"))) == 12


def printed(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> str:
    assert run([str(arg) for arg in args]) == code
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> Any:
    return json.loads(printed(capsys, *args, "--json", code=code))


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOIRDIRE_API_KEY", KEY)


@pytest.mark.usefixtures("keyed")
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus(tmp_path / "mine", ["tea", "rice", "mud"], {"mud": "REFUSE"})
    with serving() as (url, _):
        model = ("--judge", "compatible/m", "--base-url", url)
        out = printed(capsys, "build", "translate", folder, *model, "--back", "--to", "zh")
        assert "compatible/m translates: 3 of 3 texts are asked for." in out
        assert "2 proposed, 1 refused, 0 unusable, 0 failed, 0 pending. Cost of this model in all sessions: " in out
        assert "mud/prompt/zh: compatible/m declined: 抱歉" in out
        assert "Texts: missing 1, proposed 2." in out
        made = told(capsys, "build", "translate", folder, *model)
        assert (made["states"], made["complete"]) == ({"proposed": 2, "missing": 1}, True)
    status = printed(capsys, "build", "verify", folder, "tea", "--status", "--lang", "zh")
    assert f"草案： {forward('Would tea please you?')}" in status
    assert "回译： Would tea please you?" in status
    out = printed(capsys, "build", "verify", folder, TEA, "--by", "dai")
    assert out.startswith("tea/prompt/zh: verified by dai: ")
    one = told(capsys, "build", "verify", folder, "mud/prompt/zh", "--by", "dai", "--text", "泥好吗？")
    assert (one["state"], one["text"], one["verified_by"]) == ("verified", "泥好吗？", "dai")
    listed = told(capsys, "build", "verify", folder, "--status")
    assert listed["states"] == {"verified": 2, "proposed": 1}
    assert "rice/prompt/zh" in printed(capsys, "build", "check", folder)
    out = printed(capsys, "build", "translate", folder, "--accept-unverified")
    assert "without a person having verified them: 1." in out
    assert printed(capsys, "build", "verify", folder, TEA, "--by", "dai", "--withdraw").endswith("unverified.\n")
    assert build_verify(folder, TEA, by="dai").state == "verified"


def test_several_in_one_command_and_numbers_that_only_one_text_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"prompt_en": "Would two cups on a November day please you?", "prompt_zh": "你会喜欢11月里的2杯茶吗？"}
    folder = make(tmp_path, [*pair("tea", **said), *pair("rice")])
    assert "only one of the two texts has: 2, 11." in printed(capsys, "build", "verify", folder, "tea", "--status")
    out = printed(capsys, "build", "verify", folder, TEA, "rice/prompt/zh", TEA, "--by", "dai")
    assert [line.split(":")[0].strip() for line in out.splitlines()] == [
        TEA, "Numbers in digits that only one of the two texts has", "rice/prompt/zh",
    ]  # fmt: skip
    both = told(capsys, "build", "verify", folder, TEA, "rice/prompt/zh", "--by", "dai")["texts"]
    assert [one["other_numbers"] for one in both] == [["2", "11"], []]


@pytest.mark.usefixtures("keyed")
def test_commands_that_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus(tmp_path / "mine")
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    with serving() as (url, _):
        model = ("--judge", "compatible/m", "--base-url", url, "--prices", prices)
        made = told(capsys, "build", "translate", folder, *model, "--budget", "0.01", code=4)
    assert made["error"]["key"] == "translation.stopped_budget"
    assert made["calls"] == 0
    for args, what in (
        (("verify", folder), "tea/prompt/zh"),
        (("verify", folder, TEA), "--by"),
        (("verify", folder, "--status", "--by", "dai"), "--by means nothing"),
        (("verify", folder, TEA, "rice/prompt/zh", "--by", "dai", "--text", "a"), "2 are named"),
        (("verify", folder, TEA, "--by", "dai", "--withdraw", "--text", "a"), "--text means nothing with --withdraw"),
        (("verify", folder, "nobody", "--status"), "no text 'nobody'"),
        (("translate", folder), "--judge"),
    ):
        assert run(["build", *(str(arg) for arg in args)]) == 3
        assert what in capsys.readouterr().err


def test_equivalence_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make(tmp_path / "mine", pairs("tea", "rice"))
    lines = ["rater_id,item_id,question,language,rating"]
    for place, who in enumerate("abcdefgh"):
        for item, value in (("tea-us", 2), ("tea-cn", 3), ("rice-us", 1), ("rice-cn", 4)):
            lines.append(f"{who},{item},q1,en,{value}")
            lines.append(f"{who},{item},q1,zh,{value + (place % 4 > 0)}")
    ratings = tmp_path / "both.csv"
    ratings.write_text("\n".join(lines))
    out = printed(capsys, "build", "equivalence", folder, "--ratings", ratings)
    assert "q1, zh beside en (raters: 8, items: 4)" in out
    assert "Shift: +0.75 (+" in out
    assert "In zh the same raters rate the same items higher than in en." in out
    assert "do not mean the same in both languages" in out
    made = told(capsys, "build", "equivalence", folder, "--ratings", ratings, "--margin", "2", "--lang", "zh")
    assert made["compared"][0]["finding"] == "small"
    assert "偏移存在" in " ".join(made["compared"][0]["said"])
    assert run(["build", "equivalence", str(folder), "--ratings", str(folder / "concepts.csv")]) == 3
    assert "rater_id" in capsys.readouterr().err
