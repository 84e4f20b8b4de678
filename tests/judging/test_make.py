from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest
from tests.judging.wiring import kit

from voirdire import plugins
from voirdire.errors import UsageError
from voirdire.judging.providers.catalog import provider_names
from voirdire.judging.providers.make import make_judge, parse_spec


def test_parts_of_a_name() -> None:
    spec = parse_spec(
        " openrouter/z-ai/glm-4.6v ",
        base_url="https://h/v1",
        key_env="MY_KEY",
        parameters={"temperature": 0},
        covariates={"origin": "cn"},
        called="glm",
    )
    assert (spec.name, spec.provider, spec.model) == ("glm", "openrouter", "z-ai/glm-4.6v")
    assert (spec.base_url, spec.key_env, spec.parameters) == ("https://h/v1", "MY_KEY", {"temperature": 0})
    assert spec.covariates == {"origin": "cn"}
    assert parse_spec("openai/gpt-4o").name == "openai/gpt-4o"


@pytest.mark.parametrize("name", ["", "gpt-4o", "openai/", "/gpt-4o", "/"])
def test_another_shape(name: str) -> None:
    with pytest.raises(UsageError, match="provider/model"):
        parse_spec(name)


def test_an_unknown_provider_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"anthropic.*compatible.*openai.*zai"):
        parse_spec("opnai/gpt-4o")


def test_every_provider_of_the_catalogue_is_registered() -> None:
    registered = plugins.available(plugins.PROVIDERS)
    assert set(provider_names()) <= set(registered)
    assert {"embedded", "replay", "control", "python"} <= set(registered)


def made_by_a_package(spec: Any, kit: Any) -> tuple[str, int]:
    return spec.model, kit.seed


def test_a_package_adds_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:made_by_a_package", plugins.PROVIDERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == plugins.PROVIDERS else [])
    monkeypatch.setattr(EntryPoint, "load", lambda self: made_by_a_package)
    assert make_judge(parse_spec("mine/some/model"), kit()) == ("some/model", 0)
