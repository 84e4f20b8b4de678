from __future__ import annotations

import ast
import re
from string import Formatter

import pytest
from tests.setup.scan import (
    DYNAMIC,
    SOURCE,
    looks_like_key,
    modules,
    strings,
    templates,
    untranslated,
    untranslated_template,
)

from voirdire.texts import LANGUAGES, catalogue, text

FILES = {key.split(".")[0] for key in catalogue("en")}


def fields(sentence: str) -> set[str]:
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_same_keys() -> None:
    assert set(catalogue("en")) == set(catalogue("zh"))


def test_same_fields() -> None:
    en, zh = catalogue("en"), catalogue("zh")
    assert {key: fields(en[key]) ^ fields(zh[key]) for key in en if fields(en[key]) != fields(zh[key])} == {}


def test_fields_are_named() -> None:
    """A sentence is filled in by name; a bare pair of braces must be doubled."""
    bare = [key for lang in LANGUAGES for key, sentence in catalogue(lang).items() if "" in fields(sentence)]
    assert bare == []


def test_chinese_is_chinese() -> None:
    en, zh = catalogue("en"), catalogue("zh")
    long = [key for key in en if len(re.findall(r"[A-Za-z]{2,}", en[key])) > 2]
    assert [key for key in long if not re.search(r"[\u4e00-\u9fff]", zh[key])] == []


def test_no_empty_sentence() -> None:
    assert [key for lang in LANGUAGES for key, sentence in catalogue(lang).items() if not sentence.strip()] == []


def test_missing_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        text("errors.there_is_no_such_key")


def test_source_has_no_untranslated_sentence() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}" for path, tree in modules() for line, text in untranslated(tree)
    ]
    assert found == []


def test_templates_have_no_untranslated_sentence() -> None:
    found = [f"{path.name}: {text}" for path in templates() for text in untranslated_template(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "raise InputError('file not found')",
        "raise SystemExit(f'no file {name} here')",
        "print('two words')",
        "show.out('a sentence ' + name)",
        "typer.Option(None, '--x', help='What this does.')",
        "Text('两个字')",
        "grid.add_column('mean rating')",
    ],
)
def test_finder_finds(source: str) -> None:
    assert len(untranslated(ast.parse(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "raise InputError('input.file_missing', file=path)",
        "raise ValueError('for programmers only')",
        "print(text('cli.error'))",
        "log.append('two words')",
        "typer.Option(None, help='cli.option.x')",
    ],
)
def test_finder_leaves_alone(source: str) -> None:
    assert untranslated(ast.parse(source)) == []


def test_template_finder() -> None:
    assert untranslated_template("<p>Two words {{ x }}</p><img alt='' title=\"Some title\">") == [
        "Two words",
        "Some title",
    ]
    assert untranslated_template("{# two words #}<p>{{ t('a b') }}</p><style>p { color: red blue }</style>") == []


def test_keys_used_exist() -> None:
    known = set(catalogue("en"))
    prefixes = {".".join(key.split(".")[:depth]) for key in known for depth in range(1, key.count(".") + 1)}
    missing = {
        f"{where}: {text}"
        for where, text in strings()
        if looks_like_key(text, FILES) and text not in known and text not in prefixes
    }
    assert missing == set()


def test_keys_known_are_used() -> None:
    """Every sentence is asked for: by its key, or by a key with a part filled in."""
    used = [text for _, text in strings()]
    fixed = {text for text in used if DYNAMIC not in text}
    parts = "|".join(sorted({re.escape(text).replace(DYNAMIC, r".+") for text in used if is_pattern(text)}))
    pattern = re.compile(parts or "$.")
    idle = [key for key in catalogue("en") if not {key, key.split(".", 1)[1]} & fixed and not pattern.fullmatch(key)]
    assert idle == []


def is_pattern(text: str) -> bool:
    """A key with a filled-in part, which begins with a file of the catalogue or with a fixed part."""
    shape = re.fullmatch(rf"[a-z0-9_.{DYNAMIC}]+", text)
    return bool(shape) and DYNAMIC in text and "." in text and text.replace(DYNAMIC, "").strip("._") != ""
