"""Sessions of translations at a server that misbehaves: what is proposed, refused, unusable; the budget; kills."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.construction.mock_translator import KEY, State, back, forward, serving
from tests.construction.translation_world import CALL, ENVIRONMENT, MODEL, PRICES, corpus, states, translate
from tests.mock_provider.plan import Behaviour
from tests.mock_provider.process import spawn

from voirdire.annotation.study_template import study_template
from voirdire.app.build_translate import build_translate
from voirdire.cli.main import run
from voirdire.construction.concepts import read_concepts
from voirdire.construction.translation.proposals import read_proposals
from voirdire.construction.translation.verifying import read_standings, take_unverified, unverified, verify
from voirdire.errors import InputError, UsageError
from voirdire.judging.ledger import Ledger
from voirdire.judging.nouns import RunStopped

ROOT = Path(__file__).resolve().parents[2]


def test_proposed_and_translated_back(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", words={"tea": "Say {name}, 3 times."})
    before = (folder / "concepts.csv").read_bytes()
    with serving() as (url, state):
        result = translate(folder, url, back=True)
    assert result.stopped is None
    assert states(result) == {"tea/prompt/zh": "proposed", "rice/prompt/zh": "proposed"}
    tea = result.standings["tea/prompt/zh"]
    assert tea.proposal is not None
    assert tea.back is not None
    assert tea.proposal.text == forward(tea.unit.source)
    assert "{name}" in tea.proposal.text
    assert (tea.back.text, tea.back.source) == (tea.unit.source, tea.proposal.text)
    assert tea.proposal.served == "m-0901"
    assert (folder / "concepts.csv").read_bytes() == before
    assert max(state.ids.values()) == 1
    assert state.keys == {f"Bearer {KEY}"}


def test_who_translates_back_does_not_see_the_source(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", ["tea"], more='[translation]\nguidance = "Plain words."')
    with serving() as (url, state):
        translate(folder, url, back=True)
    there, again = state.prompts
    assert "Would tea please you?" in there
    assert "Plain words." in there
    assert "tea" not in again
    assert "Plain words." not in again


def test_own_words_of_voirdire_are_not_translated_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOIRDIRE_API_KEY", KEY)
    folder = corpus(tmp_path / "mine", ["tea"])
    (folder / "items.csv").write_text(
        "item_id,culture,prompt.en,prompt.zh,text\na,us,Good?,好吗？,x\nb,cn,Good?,好吗？,y\n"
    )
    study = study_template(folder / "items.csv", pools=("us=en", "cn=zh,en"))
    assert study.count("30 years") == 1
    (folder / "annotation.toml").write_text(study.replace("24 至 30 岁", forward("24 to 30 years")), encoding="utf-8")
    with serving() as (url, state):
        result = translate(folder, url, back=True)
        names = {one.name for one in result.standings.values() if one.unit.file == "annotation.toml"}
        assert set(result.usual) == names - {"age/screening-option-3/zh"}
        assert len(names) > 15
        assert {one.state for one in result.standings.values() if one.name in names} == {"unverified"}
        asked = "Would tea please you?"
        assert sorted(state.sources()) == sorted([asked, forward(asked), forward("24 to 30 years")])
        single = translate(folder, url, back=True, only=("age/screening/zh",))
        assert single.usual == ()
        assert single.standings["age/screening/zh"].back is not None
        command = ["build", "translate", str(folder), "--judge", MODEL, "--base-url", url, "--back"]
        assert run(command) == 0
        assert f"own words in both languages: {len(names) - 2}." in capsys.readouterr().out


def test_the_same_command_again_asks_nothing(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine")
    with serving() as (url, state):
        translate(folder, url, back=True)
        asked = sum(state.ids.values())
        result = translate(folder, url, back=True)
    assert sum(state.ids.values()) == asked == 4
    assert {one.back.status for one in result.standings.values() if one.back} == {"ok"}


def test_what_goes_wrong_is_told_apart(tmp_path: Path) -> None:
    marks = ("REFUSE", "BLOCKED", "CHATTY", "EXPLAIN", "ENGLISH", "BROKEN", "BAD", "fine")
    folder = corpus(tmp_path / "mine", [f"c{place}" for place in range(len(marks))], {
        f"c{place}": mark for place, mark in enumerate(marks)
    })  # fmt: skip
    with serving() as (url, state):
        result = translate(folder, url)
        calls = state.tries
    found = {mark: result.standings[f"c{place}/prompt/zh"].proposal for place, mark in enumerate(marks)}
    status = {mark: one.status for mark, one in found.items() if one}
    assert status == {
        "REFUSE": "refused", "BLOCKED": "refused", "CHATTY": "malformed", "EXPLAIN": "ok", "ENGLISH": "malformed",
        "BROKEN": "ok", "BAD": "error", "fine": "ok",
    }  # fmt: skip
    why = {mark: one.why for mark, one in found.items() if one}
    assert why["CHATTY"].startswith("explained: Here is the translation")
    assert why["ENGLISH"].startswith("script: Would")
    assert "cannot do that" in why["BAD"]
    tries = {mark: next(count for source, count in calls.items() if mark in source) for mark in marks}
    assert (tries["EXPLAIN"], tries["CHATTY"], tries["REFUSE"], tries["BROKEN"]) == (2, 6, 1, 2)
    assert states(result)["c0/prompt/zh"] == "missing"
    assert [one.name for one in unverified(folder)] == list(result.standings)


def test_failed_requests_are_asked_again_when_told(tmp_path: Path) -> None:
    """A refused request is a verdict on its text once the model has answered anything else."""
    folder = corpus(tmp_path / "mine", words={"rice": "BAD"})
    with serving() as (url, state):
        assert translate(folder, url).stopped is None
        translate(folder, url)
        assert sum(state.ids.values()) == 2
        translate(folder, url, retry_errors=True)
        assert sum(state.ids.values()) == 3


def test_another_model_is_another_proposal(tmp_path: Path) -> None:
    """A refusal of one model stands beside the proposal of another; a good proposal is not asked for again."""
    folder = corpus(tmp_path / "mine", words={"tea": "REFUSE"})
    with serving() as (url, state):
        translate(folder, url)
        state.prompts.clear()
        translate(folder, url, judge="compatible/other")
        assert len(state.prompts) == 1
        translate(folder, url, judge="compatible/other", only=("rice",))
    found = [(one.name, one.model, one.status) for one in read_proposals(folder)]
    assert ("rice/prompt/zh", "compatible/other", "ok") in found
    assert ("tea/prompt/zh", "compatible/m", "refused") in found
    assert len(found) == 4


def test_a_changed_source_is_translated_anew(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", ["tea"])
    with serving() as (url, _):
        translate(folder, url)
        verify(folder, "tea/prompt/zh", "dai")
        path = folder / "concepts.csv"
        path.write_text(path.read_text("utf-8").replace("please you", "please your guests"), "utf-8")
        assert states(folder) == {"tea/prompt/zh": "changed"}
        result = translate(folder, url)
    tea = result.standings["tea/prompt/zh"]
    assert (tea.state, tea.moved, tea.differs) == ("changed", True, True)
    with pytest.raises(UsageError, match="--take"):
        verify(folder, "tea/prompt/zh", "dai")
    assert verify(folder, "tea/prompt/zh", "dai", take="proposal").text == forward("Would tea please your guests?")


def test_unverified_words_in_the_files(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine")
    with serving() as (url, _):
        translate(folder, url)
    result = build_translate(folder, accept_unverified=True)
    assert len(result.taken) == 2
    assert all(one.state == "unverified" and one.taken for one in result.taken)
    assert {item.prompts["zh"] for item in read_concepts(folder).items if item.concept == "tea"} == {
        forward("Would tea please you?")
    }
    assert len(unverified(folder)) == 2
    assert take_unverified(folder) == ()
    assert verify(folder, "tea/prompt/zh", "dai").taken is False
    assert [one.name for one in unverified(folder)] == ["rice/prompt/zh"]


def test_the_budget_is_a_hard_stop(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", [f"c{place}" for place in range(40)])
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    with serving() as (url, state):
        first = translate(folder, url, budget=4.0, prices=prices, concurrency=2)
        asked = sum(state.ids.values())
        assert isinstance(first.stopped, RunStopped)
        assert (first.stopped.key, first.stopped.exit_code) == ("translation.stopped_budget", 4)
        assert 0 < asked * CALL <= 4.0
        assert translate(folder, url, budget=4.0, prices=prices, concurrency=2).stopped is not None
        assert sum(state.ids.values()) * CALL <= 4.0
        second = translate(folder, url, budget=40.0, prices=prices, back=True)
    assert second.stopped is None
    assert len(state.ids) == sum(state.ids.values()) == 80
    assert second.progress[-1].cost == pytest.approx(80 * CALL)


def test_what_cannot_be_asked_is_told_before(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", more='[translation]\njudge = "compatible/m"\nwords = 1')
    with pytest.raises(InputError, match="words"):
        build_translate(folder)
    folder = corpus(tmp_path / "mine")
    with pytest.raises(UsageError, match="--judge"):
        build_translate(folder)
    for options, what in (
        ({"to": ("fr",)}, "--to fr"),
        ({"only": ("nobody",)}, "--only nobody"),
        ({"concurrency": 0}, "--concurrency"),
        ({"budget": 1.0}, "compatible/m"),
        ({"judge": "nobody/m"}, "nobody"),
    ):
        given = {"judge": MODEL, "base_url": "http://127.0.0.1:9/v1", "environment": ENVIRONMENT, **options}
        with pytest.raises(UsageError, match=what):
            build_translate(folder, **given)
    assert not (folder / "translation-run").exists()


def test_one_language_is_nothing_to_translate(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine")
    path = folder / "build.toml"
    path.write_text(path.read_text().replace("['en', 'zh']", "['en']"))
    with pytest.raises(UsageError, match="one language"):
        build_translate(folder, judge=MODEL)
    assert unverified(folder) == ()


def test_no_key_stands_in_any_file(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "mine", words={"tea": "BAD"})
    with serving() as (url, _):
        translate(folder, url, back=True)
    for path in folder.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def start(folder: Path, url: str, prices: Path, budget: float = 1000.0) -> subprocess.Popen[str]:
    numbers = ("4", str(budget), str(prices))
    command = [sys.executable, "-m", "tests.construction.kill_translations", str(folder), url, *numbers]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def killed_after(state: State, calls: int, process: subprocess.Popen[str], more: float) -> None:
    """Kill a session some time after so many further calls have come, unless it ends before."""
    before, until = sum(state.ids.values()), time.monotonic() + 60
    while sum(state.ids.values()) < before + calls and time.monotonic() < until and process.poll() is None:
        time.sleep(0.01)
    time.sleep(more)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    """Killed at moments of its own: nothing is lost, only calls in flight are repeated, the budget counts them."""
    rng = np.random.default_rng(5)
    folder = corpus(tmp_path / "mine", [f"c{place}" for place in range(60)])
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    kills = 0
    with serving(State(latency=0.05)) as (url, state):
        while kills < 4:
            killed_after(state, 8, start(folder, url, prices), float(rng.uniform(0, 0.2)))
            kills += 1
        state.latency = 0.0
        process = start(folder, url, prices)
        said, wrong = process.communicate(timeout=100)
    assert (process.returncode, said.strip()) == (0, "None"), wrong
    assert len(state.ids) == 120
    assert sum(state.ids.values()) <= 120 + 4 * kills
    for one in read_standings(folder).values():
        assert one.proposal is not None
        assert one.back is not None
        assert one.proposal.text == forward(one.unit.source)
        assert one.back.text == back(one.proposal.text) == one.unit.source
    with Ledger(folder / "translation-run" / "ledger.sqlite") as ledger:
        known, held = sum(ledger.costs().values()), ledger.held()
    assert known == pytest.approx(120 * CALL)
    assert known + held >= sum(state.ids.values()) * CALL - 1e-9


@pytest.mark.slow
def test_the_budget_holds_over_kills(tmp_path: Path) -> None:
    """Whatever was in flight when a session was killed is counted as spent: the sum of all calls stays below."""
    folder = corpus(tmp_path / "mine", [f"c{place}" for place in range(200)])
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    budget = 30.0
    with serving(State(latency=0.03)) as (url, state):
        for kill in range(3):
            killed_after(state, 20, start(folder, url, prices, budget), 0.02 * kill)
            assert sum(state.ids.values()) * CALL <= budget
        process = start(folder, url, prices, budget)
        said, wrong = process.communicate(timeout=100)
    assert process.returncode == 0, wrong
    assert "budget" in said
    assert sum(state.ids.values()) * CALL <= budget
    assert len(state.ids) > 40


@pytest.mark.parametrize(
    ("judge", "path", "key"),
    [
        ("openai/gpt-4o", "/v1", "OPENAI_API_KEY"),
        ("anthropic/claude-opus-4-7", "", "ANTHROPIC_API_KEY"),
        ("google/gemini-2.5-pro", "/v1beta", "GEMINI_API_KEY"),
    ],
)
def test_every_wire_format(tmp_path: Path, judge: str, path: str, key: str) -> None:
    """Bodies that the providers' schemas allow, with room for a translation; failures on the way are asked again."""
    folder = corpus(tmp_path / "mine", ["tea", "rice", "soup", "cake", "wine", "bread"])
    behaviour = Behaviour(content="你会喜欢它吗？", validate=True, server=0.2, rate_limit=0.2, retry_after=0.01, seed=3)
    with spawn(behaviour) as mock:
        result = translate(folder, f"{mock.url}{path}", judge=judge, environment={key: KEY})
        counts = mock.stats()["counts"]
    assert set(states(result).values()) == {"proposed"}
    assert {one.candidate for one in result.standings.values()} == {"你会喜欢它吗？"}
    assert counts.get("refused_body", 0) == 0
    assert counts["calls"] > 6


def test_what_a_model_does_not_take_is_told(tmp_path: Path) -> None:
    more = "[translation]\nparameters = { temperature = 0 }"
    folder = corpus(tmp_path / "mine", ["tea"], more=more)
    with spawn(Behaviour(content="你会喜欢它吗？", validate=True)) as mock:
        result = translate(folder, mock.url, judge="anthropic/claude-opus-4-7", environment={"ANTHROPIC_API_KEY": KEY})
    assert [note.key for note in result.notes] == ["spending.note_dropped"]
    assert states(result) == {"tea/prompt/zh": "proposed"}
