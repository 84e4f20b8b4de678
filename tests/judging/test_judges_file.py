from __future__ import annotations

from pathlib import Path

import pytest

from voirdire.errors import InputError, UsageError
from voirdire.judging.judges_file import check_names, read_judges
from voirdire.judging.nouns import JudgeSpec


def written(folder: Path, text: str) -> Path:
    file = folder / "judges.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_whole_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        [[judge]]
        model = "openai/gpt-4o"
        origin = "us"

        [[judge]]
        name = "本地"
        model = "compatible/org/model"
        base_url = "http://localhost:8000/v1"
        key_env = "MY_SERVER_KEY"
        origin = "cn"
        size = 72
        open = true
        released = 2025-01-01
        parameters = { temperature = 0.0, max_tokens = 8, stop = ["."] }
        """,
    )
    first, second = read_judges(file)
    assert first == JudgeSpec("openai/gpt-4o", "openai", "gpt-4o", covariates={"origin": "us"})
    assert second == JudgeSpec(
        "本地",
        "compatible",
        "org/model",
        "http://localhost:8000/v1",
        "MY_SERVER_KEY",
        {"temperature": 0.0, "max_tokens": 8, "stop": ["."]},
        {"origin": "cn", "size": "72", "open": "true", "released": "2025-01-01"},
    )


@pytest.mark.parametrize(
    ("model", "placed"),
    [
        ("replay/runs/j.csv", "{folder}/runs/j.csv"),
        ("replay/runs/j.csv#openai/gpt-4o", "{folder}/runs/j.csv#openai/gpt-4o"),
        ("replay//data/j.csv", "/data/j.csv"),
        ("python/rules/mine.py:judge", "{folder}/rules/mine.py:judge"),
        ("python/package.module:judge", "package.module:judge"),
        ("control/copy_us", "copy_us"),
    ],
)
def test_files_are_relative_to_the_judges_file(model: str, placed: str, tmp_path: Path) -> None:
    (spec,) = read_judges(written(tmp_path, f'[[judge]]\nmodel = "{model}"\n'))
    assert (spec.name, spec.model) == (model, placed.format(folder=tmp_path))


@pytest.mark.parametrize(
    ("text", "key", "entry"),
    [
        ("[[judge]\n", "not_toml", None),
        ("", "none", None),
        ("judge = 3", "none", None),
        ("judge = ['zai/b']", "none", None),
        ("name = 'x'\n[[judge]]\nmodel = 'zai/b'", "outside", None),
        ("[[judge]]\nmodel = 'zai/b'\n[[judge]]\nname = 'x'", "no_model", 2),
        ("[[judge]]\nmodel = 'gpt-4o'", "model", 1),
        ("[[judge]]\nmodel = '/gpt-4o'", "model", 1),
        ("[[judge]]\nmodel = 'openai/'", "model", 1),
        ("[[judge]]\nmodel = 'opnai/x'", "provider", 1),
        ("[[judge]]\nmodel = 3", "not_text", 1),
        ("[[judge]]\nmodel = 'zai/b'\nbase_url = ''", "not_text", 1),
        ("[[judge]]\nmodel = 'zai/b'\nparameters = 3", "parameters", 1),
        ("[[judge]]\nmodel = 'zai/b'\norigin = ['us']", "covariate", 1),
        ("[[judge]]\nmodel = 'zai/b'\njudge = 'x'", "covariate", 1),
        ("[[judge]]\nmodel = 'zai/b'\n[[judge]]\nmodel = 'zai/b'", "twice", 2),
    ],
)
def test_errors_name_file_and_entry(text: str, key: str, entry: int | None, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_judges(file)
    assert caught.value.key == f"cli_run.judges.{key}"
    assert caught.value.fields.get("entry") == entry
    for lang in ("en", "zh"):
        assert str(file) in caught.value.message(lang)


@pytest.mark.parametrize(
    "line",
    [
        "key = 'sk-Secret123'",
        "api_key = 'sk-Secret123'",
        "API-KEY = 'sk-Secret123'",
        "key_env = 'sk-Secret123'",
        "parameters = { apikey = 'sk-Secret123' }",
        "parameters = { authorization = 'Bearer sk-Secret123' }",
        "openai_api_key = 'Secret123'",
        "auth_token = 'Secret123'",
        "note = 'sk-Secret123'",
        "key_env = 'AIzaSySecret1234567890abc'",
        "parameters = { headers = { X-Api-Key = 'Secret123' } }",
        "parameters = { extra = [{ password = 'Secret123' }] }",
        "parameters = { user = 'sk-Secret123' }",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_judges(written(tmp_path, f"[[judge]]\nmodel = 'zai/b'\n{line}\n"))
    for lang in ("en", "zh"):
        assert "Secret123" not in caught.value.message(lang)
    assert "Secret123" not in repr(caught.value.fields)


def test_what_only_sounds_like_a_key(tmp_path: Path) -> None:
    lines = "size = 'key-informants'\nkeywords = 'a'\nparameters = { max_tokens = 8, prompt_cache_key = 'run' }\n"
    (spec,) = read_judges(written(tmp_path, f"[[judge]]\nmodel = 'zai/hf-model-2'\n{lines}"))
    assert spec.covariates == {"size": "key-informants", "keywords": "a"}
    assert spec.parameters == {"max_tokens": 8, "prompt_cache_key": "run"}


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--judges"):
        read_judges(tmp_path / "none.toml")


def test_two_judges_of_one_name() -> None:
    with pytest.raises(UsageError, match="'zai/b'"):
        check_names((JudgeSpec("zai/b", "zai", "b"), JudgeSpec("zai/b", "zai", "b", "http://x")))
