from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.errors import InputError, UsageError
from voirdire.judging.providers.capability import LIMITS, RESERVED, merge
from voirdire.judging.providers.catalog import (
    SETTINGS,
    capability,
    own_models,
    price_of,
    provider_entry,
    provider_names,
    read_models,
)
from voirdire.judging.tokens import RULES
from voirdire.texts import LANGUAGES, text

TABLE = tomllib.loads(files("voirdire.judging.providers").joinpath("models.toml").read_text(encoding="utf-8"))
PAPER = {
    "openai/gpt-5.5": {"max_completion_tokens": 8192},
    "moonshot/kimi-k2.6": {"max_completion_tokens": 16384},
    "anthropic/claude-opus-4-7": {"max_tokens": 64},
    "zai/glm-5v-turbo": {
        "thinking": {"type": "disabled"}, "temperature": 0.01, "do_sample": False, "max_tokens": 64,
    },
    "openrouter/meta-llama/llama-4-scout": {"temperature": 0, "max_tokens": 64},
    "dashscope/qwen3-vl-flash": {"enable_thinking": False, "temperature": 0, "max_tokens": 64},
}  # fmt: skip


def of(name: str) -> Any:
    return capability(*name.split("/", 1))


# ---------------------------------------------------------------- providers


def test_the_providers() -> None:
    assert provider_names() == (
        "openai", "anthropic", "google", "zai", "moonshot", "openrouter", "dashscope", "compatible",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["openai", "anthropic", "google", "zai", "moonshot", "openrouter", "dashscope"])
def test_a_provider_says_where_it_is_and_where_that_stands(name: str) -> None:
    entry = provider_entry(name)
    assert entry.url({}).startswith("https://")
    assert entry.key_env
    assert entry.source
    assert all(source.startswith("https://") for source in entry.source)
    assert re.fullmatch(r"20\d\d-\d\d", entry.as_of)


def test_base_url_given_then_environment_then_own() -> None:
    entry = provider_entry("openai")
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}
    assert entry.url(environment, "http://localhost:1/v1/") == "http://localhost:1/v1"
    assert entry.url(environment) == "http://127.0.0.1:9/v1"
    assert entry.url({"OPENAI_BASE_URL": ""}) == "https://api.openai.com/v1"


def test_a_compatible_server_needs_an_address() -> None:
    entry = provider_entry("compatible")
    with pytest.raises(UsageError, match="--base-url"):
        entry.url({})
    assert entry.url({"VOIRDIRE_BASE_URL": "http://localhost:8000/v1"}) == "http://localhost:8000/v1"


def test_keys() -> None:
    google = provider_entry("google")
    assert google.key({"GEMINI_API_KEY": "second", "GOOGLE_API_KEY": "first"}) == "first"
    assert google.key({"GEMINI_API_KEY": " second\n"}) == "second"
    assert google.key({"MINE": "own", "GOOGLE_API_KEY": "first"}, "MINE") == "own"
    with pytest.raises(UsageError, match="GOOGLE_API_KEY, GEMINI_API_KEY"):
        google.key({"GOOGLE_API_KEY": " "})
    with pytest.raises(UsageError, match="MINE"):
        google.key({"GOOGLE_API_KEY": "secret"}, "MINE")


def test_a_key_of_openai_is_not_sent_to_another_server() -> None:
    entry = provider_entry("compatible")
    assert entry.key({"OPENAI_API_KEY": "secret"}) is None
    assert entry.key({"VOIRDIRE_API_KEY": "local"}) == "local"


def test_unknown_provider() -> None:
    with pytest.raises(UsageError, match="opnai"):
        provider_entry("opnai")


# ---------------------------------------------------------------- the table of models


@pytest.mark.parametrize("name", PAPER)
def test_the_six_judges_of_the_paper(name: str) -> None:
    known = of(name)
    assert known.known
    assert known.images
    assert known.developer
    assert known.origin == ("cn" if name.split("/")[0] in ("moonshot", "zai", "dashscope") else "us")
    assert known.settle({})[0] == PAPER[name]


@pytest.mark.parametrize("name", PAPER)
def test_their_temperature(name: str) -> None:
    rules = {"openai": "rejected", "moonshot": "fixed", "anthropic": "rejected", "zai": "clipped"}
    assert of(name).temperature == rules.get(name.split("/")[0], "free")


def test_every_entry_names_its_source() -> None:
    for entry in TABLE["model"]:
        family = TABLE["family"].get(entry.get("family"), {})
        assert entry.get("guess") or entry.get("source") or family.get("source"), entry
    for name, family in TABLE["family"].items():
        assert all(source.startswith("https://") for source in family["source"]), name
        assert re.fullmatch(r"20\d\d-\d\d", family["as_of"]), name


def test_every_price_names_its_document_and_date() -> None:
    prices = [entry["price"] for entry in TABLE["model"] if "price" in entry]
    assert prices
    for price in prices:
        assert price["source"].startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d", price["as_of"])
        assert price["cached_input"] <= price["input"] <= price["output"]


def test_every_family_is_used_and_no_pattern_stands_twice() -> None:
    assert {entry.get("family") for entry in TABLE["model"]} - {None} == set(TABLE["family"])
    patterns = [(entry["provider"], pattern) for entry in TABLE["model"] for pattern in entry["match"]]
    assert len(patterns) == len(set(patterns))


def test_no_entry_hides_a_later_one() -> None:
    """The pattern itself, with its stars filled in, finds its own entry."""
    for entry in TABLE["model"]:
        for pattern in entry["match"]:
            found = capability(entry["provider"], pattern.replace("*", ""))
            wanted = {**TABLE["family"].get(entry.get("family"), {}), **entry}
            assert found.max_tokens == wanted.get("max_tokens", found.max_tokens), (entry["provider"], pattern)
            assert found.temperature == wanted.get("temperature", "unknown"), (entry["provider"], pattern)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("openai/gpt-4o-2024-08-06", "temperature", "free"),
        ("openai/gpt-4.1-mini", "logprobs", True),
        ("openai/o3", "temperature", "rejected"),
        ("openai/o4-mini", "max_tokens_field", "max_completion_tokens"),
        ("openai/gpt-5", "logprobs", False),
        ("openai/o3-mini", "images", False),
        ("openai/gpt-5-chat-latest", "temperature", "free"),
        ("anthropic/claude-sonnet-4-5-20250929", "temperature", "free"),
        ("anthropic/claude-3-5-haiku-20241022", "batch", True),
        ("google/gemini-2.5-flash", "max_tokens_field", "generationConfig.maxOutputTokens"),
        ("google/models/gemini-2.5-flash", "known", True),
        ("google/models/gemini-2.5-flash", "max_tokens", 8192),
        ("google/gemini-2.0-flash-thinking-exp", "max_tokens", 8192),
        ("google/gemini-3-pro-preview", "temperature_value", None),
        ("zai/glm-4.6", "images", False),
        ("zai/glm-4.6v", "images", True),
        ("dashscope/qwen-vl-max", "known", True),
        ("dashscope/qwen3-vl-8b-thinking", "thinking", True),
        ("openrouter/x-ai/grok-4", "developer", "xAI"),
        ("openrouter/anthropic/claude-opus-4.7", "temperature", "rejected"),
        ("openrouter/openai/gpt-5.5", "temperature", "rejected"),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", "developer", "Anthropic"),
        ("openrouter/qwen/qwen3-vl-8b-thinking", "developer", "Alibaba"),
        ("openrouter/qwen/qwen3-vl-8b-thinking", "known", True),
        ("openrouter/deepseek/deepseek-chat-v3", "images", False),
        ("compatible/Qwen/Qwen3-VL-8B-Instruct", "temperature", "free"),
        ("compatible/anthropic/claude-opus-4-7", "temperature", "unknown"),
    ],
)
def test_families(name: str, field: str, value: object) -> None:
    assert getattr(of(name), field) == value


@pytest.mark.parametrize(
    "name",
    [
        *("openai/gpt-4o-search-preview", "openai/gpt-4o-mini-search-preview-2025-03-11"),
        *("openai/gpt-4o-audio-preview", "openai/gpt-4o-mini-realtime-preview", "openai/gpt-4o-transcribe"),
        *("openrouter/openai/gpt-4o-search-preview", "openrouter/openai/gpt-4o-mini-search-preview"),
        *("openrouter/anthropic/claude-3.7-sonnet:thinking", "openrouter/meta-llama/llama-4-scout:thinking"),
        *("openrouter/google/gemini-2.5-flash-lite:thinking", "openrouter/openai/gpt-4o:thinking"),
        *("openrouter/deepseek/deepseek-r1:thinking", "openrouter/google/gemini-2.0-flash-thinking-exp:free"),
    ],
)
def test_special_members_are_sent_no_temperature_and_have_room(name: str) -> None:
    sent, _ = of(name).settle({})
    assert "temperature" not in sent
    assert sent[of(name).max_tokens_field] >= 4096


def test_a_model_that_searches_refuses_sampling_parameters() -> None:
    sent, notes = of("openai/gpt-4o-search-preview").settle({"temperature": 0, "top_p": 0.5})
    assert sent == {"max_completion_tokens": 4096}
    assert {note.fields["name"] for note in notes if note.key == "spending.note_dropped"} == {"temperature", "top_p"}


@pytest.mark.parametrize(
    ("model", "levels"),
    [
        ("gpt-5", ["minimal", "low", "medium", "high"]),
        ("gpt-5.1", ["off", "low", "medium", "high"]),
        ("gpt-5.1-2025-11-13", ["off", "low", "medium", "high"]),
        ("gpt-5.2", ["off", "low", "medium", "high", "xhigh"]),
        ("gpt-5.5", ["off", "low", "medium", "high", "xhigh"]),
    ],
)
def test_efforts_of_a_model(model: str, levels: list[str]) -> None:
    assert list(of(f"openai/{model}").reasoning) == levels


def test_an_unknown_model_is_treated_with_care() -> None:
    unknown = of("openai/some-future-model")
    sent, notes = unknown.settle({})
    assert not unknown.known
    assert unknown.price is None
    assert sent == {"max_completion_tokens": 4096}
    assert [note.key for note in notes] == ["spending.note_unknown"]
    assert unknown.settle({"temperature": 0.3})[0]["temperature"] == 0.3


def test_prices_only_where_a_document_says_so() -> None:
    price = price_of("anthropic", "claude-opus-4-7")
    assert price is not None
    assert (price.input, price.output, price.batch) == (5.0, 25.0, 0.5)
    assert price_of("openai", "some-future-model") is None


# ---------------------------------------------------------------- settle


def test_a_rejected_temperature_is_never_sent_and_said() -> None:
    sent, notes = of("anthropic/claude-opus-4-7").settle({"temperature": 0, "top_p": 0.5})
    assert sent == {"max_tokens": 64}
    assert [(note.key, note.fields["name"]) for note in notes] == [
        ("spending.note_dropped", "top_p"),
        ("spending.note_dropped", "temperature"),
    ]


def test_a_fixed_temperature_is_never_sent() -> None:
    kimi = of("moonshot/kimi-k2.6")
    assert [note.key for note in kimi.settle({"temperature": 0})[1]] == ["spending.note_fixed"]
    assert kimi.settle({"temperature": 1})[1] == ()
    assert "temperature" not in kimi.settle({"temperature": 1})[0]


@pytest.mark.parametrize(("asked", "sent"), [(0, 0.01), (0.5, 0.5), (1, 0.99), (2, 0.99)])
def test_a_clipped_temperature_is_said(asked: float, sent: float) -> None:
    body, notes = of("zai/glm-5v-turbo").settle({"temperature": asked})
    assert body["temperature"] == sent
    assert [note.kind for note in notes] == ([] if asked == sent else ["warning"])
    assert ("do_sample" in body) == (asked == 0)


def test_anthropic_takes_temperatures_to_one() -> None:
    assert of("anthropic/claude-sonnet-4-5").settle({"temperature": 1.5})[0]["temperature"] == 1


def test_a_temperature_depends_on_the_level_of_reasoning() -> None:
    gpt, claude = of("openai/gpt-5.5"), of("anthropic/claude-sonnet-4-5")
    assert gpt.settle({"reasoning": "off", "temperature": 0.2})[0] == {
        "reasoning_effort": "none", "temperature": 0.2, "max_completion_tokens": 64,
    }  # fmt: skip
    assert "temperature" not in gpt.settle({"reasoning": "low", "temperature": 0.2})[0]
    sent, notes = claude.settle({"reasoning": "medium", "temperature": 0})
    assert sent == {"thinking": {"type": "enabled", "budget_tokens": 4096}, "max_tokens": 8192}
    assert [note.key for note in notes] == ["spending.note_dropped"]


def test_a_thinking_budget_fits_into_the_limit() -> None:
    for name in {entry.get("family") for entry in TABLE["model"]} - {None}:
        family = TABLE["family"][name]
        for level, sent in family.get("reasoning", {}).items():
            budget = sent.get("thinking", {}).get("budget_tokens", 0)
            config = sent.get("generationConfig", {}).get("thinkingConfig", {})
            assert max(budget, config.get("thinkingBudget", 0)) < sent.get(
                "max_tokens", family.get("max_tokens", 4096)
            ), (
                name,
                level,
            )


def test_models_that_think_have_room_to_think() -> None:
    for entry in TABLE["model"]:
        merged = {**TABLE["family"].get(entry.get("family"), {}), **entry}
        assert not merged.get("thinking") or merged["max_tokens"] >= 8192, entry["match"]


@pytest.mark.parametrize("name", LIMITS)
def test_the_limit_by_any_name(name: str) -> None:
    assert of("openai/gpt-4o").settle({name: 7})[0] == {"temperature": 0, "max_completion_tokens": 7}
    assert of("google/gemini-2.0-flash").settle({name: 7})[0] == {
        "generationConfig": {"temperature": 0, "maxOutputTokens": 7}
    }


def test_settings_go_where_the_provider_wants_them() -> None:
    asked = {"top_p": 0.9, "seed": 3, "reasoning": "off", "generationConfig": {"mediaResolution": "LOW"}}
    assert of("google/gemini-2.5-flash").settle(asked)[0] == {
        "generationConfig": {
            "thinkingConfig": {"thinkingBudget": 0},
            "topP": 0.9,
            "seed": 3,
            "mediaResolution": "LOW",
            "temperature": 0,
            "maxOutputTokens": 64,
        }
    }


def test_default_leaves_a_setting_to_the_provider() -> None:
    assert of("openai/gpt-4o").settle({"temperature": "default"})[0] == {"max_completion_tokens": 64}
    assert of("openai/gpt-4o").settle({"temperature": None, "max_tokens": "default"})[0] == {
        "max_completion_tokens": 64
    }
    assert "thinking" not in of("zai/glm-5v-turbo").settle({"reasoning": "default"})[0]


def test_a_field_of_the_providers_own_is_sent_as_it_stands() -> None:
    provider = {"order": ["DeepInfra"], "allow_fallbacks": False}
    sent, _ = of("openrouter/meta-llama/llama-4-scout").settle({"provider": provider, "reasoning": {"enabled": False}})
    assert sent["provider"] == provider
    assert sent["reasoning"] == {"enabled": False}
    sent["provider"]["order"].append("other")
    assert provider["order"] == ["DeepInfra"]


def test_logprobs_are_dropped_where_there_are_none() -> None:
    assert of("openai/gpt-4o").settle({"logprobs": True})[0]["logprobs"] is True
    assert "logprobs" not in of("openai/gpt-5.5").settle({"logprobs": True})[0]
    assert "logprobs" not in of("dashscope/qwen3-vl-flash").settle({"logprobs": True})[0]


@pytest.mark.parametrize(
    ("parameters", "key"),
    [
        *[({name: 1}, "spending.parameter_reserved") for name in RESERVED],
        ({"temperature": "hot"}, "spending.parameter_value"),
        ({"temperature": -1}, "spending.parameter_value"),
        ({"temperature": float("nan")}, "spending.parameter_value"),
        ({"temperature": True}, "spending.parameter_value"),
        ({"top_p": -0.1}, "spending.parameter_value"),
        ({"seed": "a"}, "spending.parameter_value"),
        ({"max_tokens": 0}, "spending.limit_value"),
        ({"max_tokens": True}, "spending.limit_value"),
        ({"max_tokens": 1.5}, "spending.limit_value"),
        ({"reasoning": "enormous"}, "spending.reasoning_unknown"),
        ({"reasoning": 3}, "spending.reasoning_unknown"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], key: str) -> None:
    with pytest.raises(UsageError) as caught:
        of("openai/gpt-5.5").settle(parameters)
    assert caught.value.key == key
    assert all(caught.value.message(lang) for lang in LANGUAGES)


every_model = st.sampled_from(
    [(entry["provider"], pattern.replace("*", "")) for entry in TABLE["model"] for pattern in entry["match"]]
)


@given(every_model, st.floats(0, 5), st.integers(1, 100_000))
def test_what_is_sent_is_within_the_rules(name: tuple[str, str], temperature: float, limit: int) -> None:
    model = capability(*name)
    before = capability(*name).settle({})
    sent, notes = model.settle({"temperature": temperature, "max_tokens": limit})
    flat = {**sent, **sent.get("generationConfig", {})}
    low, high = model.temperature_range
    assert "temperature" not in flat or low <= flat["temperature"] <= high
    assert model.temperature not in ("rejected", "fixed") or "temperature" not in flat
    assert flat[model.max_tokens_field.rpartition(".")[2]] == limit == model.limit({"max_tokens": limit})
    assert flat.get("temperature") == temperature or notes or model.temperature_value == temperature
    for note in notes:
        assert all(text(note.key, lang, **note.fields) for lang in LANGUAGES)
    assert capability(*name).settle({}) == before


def test_merge_keeps_what_is_not_named() -> None:
    inner = {"a": {"b": [1]}}
    merged = merge({"a": {"c": 2}, "d": 3}, inner)
    merged["a"]["b"].append(2)
    assert merged == {"a": {"c": 2, "b": [1, 2]}, "d": 3}
    assert inner == {"a": {"b": [1]}}


# ---------------------------------------------------------------- a user's own file

OWN = """
[family.mine]
temperature = "free"
temperature_value = 0.2
source = ["https://example.org/docs"]

[[model]]
provider = "compatible"
match = ["house-*"]
family = "mine"
max_tokens = 32
price = { input = 0, output = 0 }

[[model]]
provider = "anthropic"
match = ["claude-opus-4-7"]
family = "claude-budget"
"""


def write(folder: Path, content: str) -> Path:
    path = folder / "models.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_own_entries_come_first(tmp_path: Path) -> None:
    own = own_models({"VOIRDIRE_MODELS": str(write(tmp_path, OWN))})
    house = capability("compatible", "house-7b", own)
    assert house.known
    assert house.settle({}) == ({"temperature": 0.2, "max_tokens": 32}, ())
    assert house.price is not None
    assert capability("anthropic", "claude-opus-4-7", own).temperature == "free"
    assert capability("openai", "gpt-4o", own) == capability("openai", "gpt-4o")


@pytest.mark.parametrize(
    ("content", "key", "named"),
    [
        ("[[model]\n", "spending.not_toml", ""),
        ("", "spending.models_none", ""),
        ("[models]\n", "spending.models_none", "models"),
        ('[[model]]\nprovider = "nobody"\nmatch = ["x"]\n', "spending.models_provider", "[[model]] 1"),
        ('[[model]]\nprovider = "openai"\n', "spending.models_value", "match"),
        ('[[model]]\nprovider = "openai"\nmatch = "x"\n', "spending.models_value", "match"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nfamily = "f"\n', "spending.models_family", "f"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\ntemprature = "free"\n', "spending.models_key", "temprature"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\ntemperature = "any"\n', "spending.models_value", "any"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nimages = 1\n', "spending.models_value", "images = true"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nmax_tokens = 0\n', "spending.models_value", "max_tokens"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nimage_rule = { kind = "x" }\n', "spending.models_value", "x"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nprice = { input = 1 }\n', "spending.models_value", "price"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nreasoning = { off = 1 }\n', "spending.models_value", "off"),
        ('[[model]]\nprovider = "openai"\nmatch = ["x"]\nreasoning_level = "o"\n', "spending.models_level", "o"),
        (
            '[family.a]\nimages = "yes"\n\n[[model]]\nprovider = "openai"\nmatch = ["x"]\n',
            "spending.models_value",
            "yes",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, content: str, key: str, named: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_models(path)
    assert caught.value.key == key
    for lang in LANGUAGES:
        assert str(path) in caught.value.message(lang)
        assert named in caught.value.message(lang)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read"):
        read_models(tmp_path / "none.toml")


# ---------------------------------------------------------------- the page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "providers.md"


def rows(first: str) -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_page_lists_every_provider() -> None:
    listed = {row[0].strip("`"): row[1:] for row in rows("provider")}
    assert tuple(listed) == provider_names()
    for name, (key, address, change) in listed.items():
        entry = provider_entry(name)
        assert tuple(re.findall(r"`(\w+)`", key)) == entry.key_env
        assert address.strip("`") == (entry.base_url or "none")
        assert tuple(re.findall(r"`(\w+)`", change)) == entry.base_url_env


def test_the_page_says_of_models_what_the_table_says() -> None:
    listed = rows("judge")
    assert {row[0].strip("`") for row in listed} >= set(PAPER)
    for name, temperature, thinking, limit in listed:
        model = of(name.strip("`"))
        assert temperature.split(",")[0].split(" ")[0] == model.temperature, name
        sent = model.settle({})[0]
        at_zero = {**sent, **sent.get("generationConfig", {})}.get("temperature") == 0
        assert ("0 by default" in temperature) == at_zero, name
        assert (thinking == "yes") == model.thinking, name
        assert int(limit) == model.max_tokens, name


def test_the_page_explains_every_setting() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in SETTINGS if not re.search(rf"\b{name}\b", page)] == []
    assert [kind for kind in RULES if f"`{kind}`" not in page] == []


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(# models\.toml.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert example
    own = read_models(write(tmp_path, example[1]))
    assert capability("compatible", "house-7b", own).settle({}) == (
        {"thinking": {"type": "disabled"}, "temperature": 0, "max_tokens": 64},
        (),
    )
    assert capability("anthropic", "claude-opus-9", own).temperature == "rejected"
