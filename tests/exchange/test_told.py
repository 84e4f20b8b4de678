from __future__ import annotations

from pathlib import Path

import pytest

from voirdire.errors import InputError
from voirdire.exchange.told import POOL, RELEASE, Told, read_told


def write(folder: Path, said: str) -> Path:
    (folder / "corpus.toml").write_text(said, encoding="utf-8")
    return folder


def test_what_is_told(corpus: Path) -> None:
    told = read_told(corpus)
    assert (told.name, told.version, told.licence, told.languages) == ("meals", "0.1", "CC-BY-4.0", ("en", "zh"))
    assert told.of("title", "zh") == "两种文化的餐食"
    assert told.of("title", "fr") == "Meals of two cultures"
    assert told.of("authors", "en") == "A. One, B. Two"
    assert told.of("published", "en") == "2026-06-01"
    assert told.of("collected_to", "en") == "2026-04-25"
    assert told.of_pool("us", "paid", "en") == "$20 an hour"
    assert told.of_pool("cn", "paid", "en") == ""


def test_what_is_not_told(corpus: Path) -> None:
    missing = read_told(corpus).untold(["us", "cn"])
    assert ("", "consent") in missing
    assert ("us", "country") in missing
    assert [field for pool, field in missing if pool == "cn"] == [name for name in POOL if name != "name"]
    assert not {("", "title"), ("", "licence"), ("us", "paid")} & set(missing)
    assert len(Told("bare").untold([])) == len(RELEASE) + 1


def test_blank_is_not_told(tmp_path: Path) -> None:
    told = read_told(write(tmp_path, '[release]\ntitle = " "\nauthors = [""]\npublished = ""\n'))
    assert dict(told.release) == {}
    assert told.name == tmp_path.name


def test_license_is_licence(tmp_path: Path) -> None:
    assert read_told(write(tmp_path, 'license = "MIT"')).licence == "MIT"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[release]\ntitel = 'x'", "no entry 'titel'"),
        ("[release]\ntitle = 3", r"\[release\] title = 3"),
        ("[release]\npublished = 'June'", "2026-04-18"),
        ("[release]\nauthors = [1]", r"authors = \[1\]"),
        ("[[pool]]\npaid = 'x'", "name"),
        ("[[pool]]\nname = 'us'\n[[pool]]\nname = 'us'", "twice"),
        ("[pool]\nname = 'us'", r"\[\[pool\]\]"),
        ("release = 3", "release"),
        ("languages = 3", "languages = 3"),
        ("[release", "no TOML"),
    ],
)
def test_broken_entries_are_named(tmp_path: Path, said: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_told(write(tmp_path, said))


def test_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no corpus\.toml"):
        read_told(tmp_path)
