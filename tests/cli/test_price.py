"""``voirdire price``: cells, tokens and dollars, without keys and without asking anybody."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.small_corpus import build

import voirdire
from voirdire.cli.main import run

PRICES = """
currency = "USD"
as_of = "2026-01-31"

[[price]]
model = "openai/*"
input = 2.0
output = 8.0
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("price") / "corpus")


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(PRICES)
    return file


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_the_paper_grid_is_priced(corpus: Path, prices: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["price", str(corpus), "--judge", "openai/gpt-4o", "--judge", "control/random", "--prices", str(prices)]
    assert run([*args, "--grid", "paper-baseline", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["items"], found["conditions"], found["repeats"], found["cells"]) == (12, 10, 1, 240)
    paid, local = found["judges"]
    assert (paid["judge"], paid["cells"]) == ("openai/gpt-4o", 120)
    assert 120 < paid["input_tokens"]["low"] < paid["input_tokens"]["expected"] < paid["input_tokens"]["high"]
    expected = (paid["input_tokens"]["expected"] * 2.0 + paid["output_tokens"]["expected"] * 8.0) / 1e6
    assert paid["cost_usd"]["expected"] == pytest.approx(expected)
    assert paid["price"]["as_of"] == "2026-01-31"
    assert (local["input_tokens"], local["cost_usd"]["high"]) == (None, 0)
    assert found["cost_usd"] == paid["cost_usd"]
    assert [path.name for path in Path.cwd().iterdir()] == ["prices.toml"]


def test_what_is_printed(corpus: Path, prices: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["price", str(corpus), "--judge", "openai/gpt-4o", "--judge", "zai/glm-4.6v", "--prices", str(prices)]
    assert run([*args, "--repeats", "3", "--limit", "5"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "items 5 x conditions 2 x questions 1 x repeats 3 x judges 2 = 60 cells",
        "the first 5 of 12 items",
        "2026-01-31",
        "Expected cost: $",
        "for want of a price: zai/glm-4.6v",
    ):
        assert words in printed
    assert run([*args, "--lang", "zh"]) == 0
    printed = capsys.readouterr().out
    for words in ("= 48 个单元", "预计费用", "因缺少价格而未计入：zai/glm-4.6v"):
        assert words in printed


@pytest.mark.parametrize(
    ("judge", "words"),
    [("control/random", "every judge runs on this machine"), ("zai/glm-4.6v", "cost is not known")],
)
def test_the_last_line(judge: str, words: str, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["price", str(corpus), "--judge", judge]) == 0
    assert words in capsys.readouterr().out.splitlines()[-1]


def test_a_model_that_nobody_knows_is_told(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["price", str(corpus), "--judge", "openai/gtp-4o-typo"]) == 0
    assert "Warning: openai/gtp-4o-typo is not in the table of models" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "No judge is named"),
        (["--judge", "gpt-4o"], "gpt-4o"),
        (["--judge", "opnai/gpt-4o"], "opnai"),
        (["--judge", "openai/gpt-4o", "--judge", "openai/gpt-4o"], "Two judges are named 'openai/gpt-4o'"),
        (["--judge", "openai/gpt-4o", "--grid", "papre"], "papre"),
        (["--judge", "openai/gpt-4o", "--questions", "q7"], "q7"),
        (["--judge", "openai/gpt-4o", "--repeats", "0"], "--repeats is 0"),
        (["--judge", "openai/gpt-4o", "--limit", "0"], "--limit is 0"),
        (["--judge", "openai/gpt-4o", "--resize", "4"], "4"),
        (["--judges", "none.toml"], "none.toml"),
        (["--judge", "openai/gpt-4o", "--prices", "none.toml"], "none.toml"),
    ],
)
def test_errors(args: list[str], words: str, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["price", str(corpus), *args]) == 3
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert run(["price", str(corpus), *args, "--lang", "zh"]) == 3
    assert "错误：" in capsys.readouterr().err


def test_from_python(corpus: Path, prices: Path) -> None:
    found = voirdire.price(corpus, ["openai/gpt-4o", "zai/glm-4.6v"], prices=prices, grid=["neutral"])
    assert (found.cells, found.unpriced) == (48, ("zai/glm-4.6v",))
    assert 0 < found.cost.low < found.cost.expected < found.cost.high
    with pytest.raises(voirdire.UsageError, match="repeats"):
        voirdire.price(corpus, "openai/gpt-4o", repeat=2)


def test_a_large_run_is_estimated_from_some_of_its_prompts(corpus: Path) -> None:
    from voirdire.app.price import prompt_facts
    from voirdire.app.run_inputs import options_of, read_run

    plan = read_run(corpus, options_of("openai/gpt-4o", "paper-baseline", {})).plan
    assert len(list(prompt_facts(plan))) == 120
    assert len(list(prompt_facts(plan, most=30))) == 30
