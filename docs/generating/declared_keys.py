"""Which keys configuration files can have, as the code declares or asks for them.

Files that are read entry by entry have no list of their keys: a file with one of every table is read, and what the
reader asks for is noted.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from generating.common import SOURCE, leaves

Keys = dict[str, tuple[str, ...]]
"""Table of the file (empty for its top) -> keys."""

TEST_ONLY = ("VOIRDIRE_TEST_PROFILE", "VOIRDIRE_TEST_ARTEFACTS", "VOIRDIRE_SHARED_DATA", "VOIRDIRE_POSTGRES")
VARIABLE = re.compile(r"VOIRDIRE_[A-Z]+(?:_[A-Z]+)*")


def declared_keys() -> dict[str, Keys]:
    """File -> table -> keys."""
    return {
        "corpus": _corpus(),
        "build": _build(),
        "grid": _grid(),
        "judges": _judges(),
        "prices": _prices(),
        "models": _models(),
        "policy": _policy(),
        "annotation": _annotation(),
        "world": _world(),
    }


def options_of_config() -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Option -> its declaration, and the commands whose ``--config`` takes it."""
    from voirdire.cli.build import build_app

    found: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for name, command in leaves(build_app("en")):
        options = {param.name: param for param in command.params}
        if "config" in options:
            for key in (key for key in options if key != "config"):
                first, commands = found.get(key, (options[key], ()))
                found[key] = (first, (*commands, name.removeprefix("voirdire ")))
    return found


def variables() -> tuple[str, ...]:
    """Every environment variable of voirdire's own that the code names."""
    found = {name for path in sorted(SOURCE.rglob("*.py")) for name in VARIABLE.findall(path.read_text("utf-8"))}
    return tuple(sorted(found | _providers_own()))


def provider_variables() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Provider -> the variables of its key, and of its address."""
    told = tomllib.loads(files("voirdire.judging.providers").joinpath("providers.toml").read_text("utf-8"))
    return {name: (tuple(one.get("key_env", ())), tuple(one.get("base_url_env", ()))) for name, one in told.items()}


def _providers_own() -> set[str]:
    named = (name for both in provider_variables().values() for names in both for name in names)
    return {name for name in named if VARIABLE.fullmatch(name)}


def _corpus() -> Keys:
    from voirdire.annotation import export
    from voirdire.corpus import frozen
    from voirdire.exchange import manifest, told

    asked = re.findall(r'_of_kind\(read, "(\w+)"', (SOURCE / "corpus" / "folder.py").read_text("utf-8"))
    parts = (*manifest.PARTS, frozen.FROZEN, frozen.CHANGED_ITEMS, export._MARK.strip("[]"))  # noqa: SLF001
    written = [name for name in (*parts, "validity", "construction") if name not in ("read", "release", "pool")]
    return {
        "": manifest.TOP,
        "[read]": tuple(asked),
        "[release]": tuple(told.RELEASE),
        "[[pool]]": tuple(told.POOL),
        "written": tuple(written),
    }


def _grid() -> Keys:
    from voirdire.judging import grid_schema

    whole: Mapping[str, Any] = grid_schema.SCHEMA["properties"]
    factor = whole["factors"]["additionalProperties"]["properties"]
    tables = ("factors", "designs", "blocks", "texts")
    return {
        "": tuple(name for name in whole if name not in tables),
        "[factors.NAME]": tuple(name for name in factor if name != "effects"),
        "[factors.NAME.effects.LEVEL]": tuple(factor["effects"]["additionalProperties"]["properties"]),
        "[designs.NAME]": tuple(whole["designs"]["additionalProperties"]["properties"]),
        "[[blocks]]": tuple(whole["blocks"]["items"]["properties"]),
        "[[texts]]": tuple(whole["texts"]["items"]["properties"]),
    }


def _judges() -> Keys:
    from voirdire.judging.judges_file import OWN

    return {"[[judge]]": (*OWN, "any other")}


def _prices() -> Keys:
    from voirdire.judging.spending import FILE_KEYS, PRICE_KEYS

    return {"": tuple(name for name in FILE_KEYS if name != "price"), "[[price]]": PRICE_KEYS}


def _models() -> Keys:
    from voirdire.judging.providers.catalog import SETTINGS

    return {"[[model]]": ("provider", "match", "family"), "[[model]] and [family.NAME]": tuple(SETTINGS)}


def _policy() -> Keys:
    from voirdire.analysis.policy import SETTINGS
    from voirdire.analysis.policy_rules import PLACES, RULES

    return {"[[require]]": (*SETTINGS, *RULES, *PLACES), "[defaults]": ("min_n", *PLACES)}


BUILD = """
name = "a"
languages = ["en", "zh"]
[[culture]]
name = "us"
[[culture]]
name = "cn"
[balance]
[splits]
[similar]
[images]
[translation]
[screening]
"""


def _build() -> Keys:
    from voirdire.construction import build_file, screening_rule
    from voirdire.construction.imaging import settings as images
    from voirdire.construction.translation import settings as translation

    with tempfile.TemporaryDirectory() as folder, _noted() as asked:
        Path(folder, build_file.BUILD_FILE).write_text(BUILD, encoding="utf-8")
        build = build_file.read_build_file(folder)
        images.read_settings(build)
        translation.read_settings(build)
        screening_rule.read_rule(build)
    asked["[images]"] += ("parameters",) if "parameters" not in asked["[images]"] else ()
    asked["[similar]"] = ("LANGUAGE",)
    asked[""] = tuple(name for name in asked[""] if f"[{name}]" not in asked and f"[[{name}]]" not in asked)
    elsewhere = ("release", "pool")
    return {**asked, "": tuple(name for name in asked[""] if name not in elsewhere)}


ANNOTATION = """
[[pools]]
name = "us"
languages = ["en"]
[[questions]]
id = "q"
options = [{ value = "a" }, { value = "b" }]
positive = "a"
[[screening]]
id = "s"
options = ["a", "b"]
[[gold]]
item = "i"
question = "q"
accept = ["a"]
"""


def _annotation() -> Keys:
    from voirdire.annotation.study_parts import read_parts

    with tempfile.TemporaryDirectory() as folder, _noted() as asked:
        file = Path(folder, "annotation.toml")
        file.write_text(ANNOTATION, encoding="utf-8")
        read_parts(file)
    tables = ("pools", "questions", "screening", "gold", "pilot")
    return {**asked, "": tuple(name for name in asked[""] if name not in tables)}


@contextmanager
def _noted() -> Iterator[Keys]:
    """Table -> keys that are asked for meanwhile."""
    from voirdire.annotation.study_entries import Entries

    asked: dict[str, dict[str, None]] = {}
    usual = Entries.has

    def has(self: Entries, name: str) -> bool:
        asked.setdefault(_shape(self.where.place), {})[name] = None
        return usual(self, name)

    found: Keys = {}
    Entries.has = has  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Entries.has = usual  # type: ignore[method-assign]
        found.update({place: tuple(names) for place, names in asked.items()})


def _shape(place: str) -> str:
    """A place without number and name.

    >>> _shape("[[pools]] 2 (us)"), _shape("[[questions]] 1 (q): options 2")
    ('[[pools]]', '[[questions]] options')
    """
    found = re.fullmatch(r"(\[\[\w+\]\]) \d+(?: \([^)]*\))?(?:: (\w+) \d+)?", place)
    return f"{found[1]} {found[2] or ''}".strip() if found else place


WORLD = """
[[pool]]
name = "us"
[[pool]]
name = "cn"
[[stratum]]
culture = "us"
items = 10
means = 3
[scale]
low = 1
high = 7
[[judge]]
name = "m"
[covariate]
[[covariate.level]]
name = "cn"
[[condition]]
name = "a"
[[design]]
name = "base"
[[question]]
id = "q2"
scale = { low = 1, high = 5 }
means = { us = 3, cn = 3 }
[noise]
"""

FOUR_QUESTIONS = """
items = 8
pool = [{ name = "us" }, { name = "cn" }]
judge = [{ name = "m" }]
"""


def _world() -> Keys:
    from voirdire.simulation.spec import read_spec
    from voirdire.simulation.spec_table import SpecTable

    asked: dict[str, dict[str, None]] = {}
    usual = SpecTable.__init__

    class Noting(set[str]):
        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

        def add(self, name: str) -> None:
            asked.setdefault(self.place, {})[name] = None
            super().add(name)

    def made(self: SpecTable, table: Any, file: str, place: str = "") -> None:
        usual(self, table, file, place)
        self.asked = Noting(_table_of(place))

    SpecTable.__init__ = made  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "world.toml")
            for text in (WORLD, FOUR_QUESTIONS):
                file.write_text(text, encoding="utf-8")
                read_spec(file)
    finally:
        SpecTable.__init__ = usual  # type: ignore[method-assign]
    return _ordered({place: tuple(names) for place, names in asked.items() if place in WORLD_TABLES})


WORLD_TABLES = (
    *("", "[scale]", "[[pool]]", "[[stratum]]", "[[question]]", "[[judge]]"),
    *("[covariate]", "[[covariate.level]]", "[[condition]]", "[[design]]", "[noise]"),
)


def _ordered(asked: Mapping[str, Iterable[str]]) -> Keys:
    tables = {table.strip("[]") for table in asked if table}
    return {
        table: tuple(key for key in asked[table] if ".".join(filter(None, (table.strip("[]"), key))) not in tables)
        for table in WORLD_TABLES
    }


def _table_of(place: str) -> str:
    """A place of a simulation's file as a table of TOML; ``inner`` for a table inside of another.

    >>> _table_of("judge 2"), _table_of("scale"), _table_of("level 1"), _table_of(""), _table_of("judge 1: image")
    ('[[judge]]', '[scale]', '[[covariate.level]]', '', 'inner')
    """
    if ": " in place:
        return "inner"
    if found := re.fullmatch(r"(\w+) \d+", place):
        return f"[[{'covariate.level' if found[1] == 'level' else found[1]}]]"
    return f"[{place}]" if place else ""
