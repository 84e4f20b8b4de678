from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.judging.wiring import call, kit

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


PACKAGE = """
from voirdire.judging.nouns import Reply


class Mine:
    def __init__(self, spec, kit):
        self.name, self.lane, self.settings = spec.name, "mine", {"model": spec.model, "seed": kit.seed}

    async def ask(self, call):
        return Reply(rating=float(max(call.levels)))

    async def close(self):
        pass
"""


def test_a_package_adds_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real distribution on the path, found by its metadata."""
    (tmp_path / "provider_of_tests.py").write_text(PACKAGE, encoding="utf-8")
    metadata = tmp_path / "provider_of_tests-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: provider-of-tests\nVersion: 1.0\n")
    points = f"[{plugins.PROVIDERS}]\nmine = provider_of_tests:Mine\n"
    (metadata / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    judge = make_judge(parse_spec("mine/some/model"), kit())
    assert judge.settings == {"model": "some/model", "seed": 0}
    assert asyncio.run(judge.ask(call())).rating == 5.0
