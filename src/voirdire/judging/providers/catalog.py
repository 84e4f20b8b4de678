"""The catalogue: which providers there are and what is known of their models.

Data stand in ``providers.toml`` and ``models.toml`` beside this file, each entry with the document it was taken from.
There is no global default: a model that no pattern fits gets its provider's careful defaults and ``known=False``.
Entries of a user's own file (``read_models``) come before the built-in ones; docs/howto/providers.md shows the format.

>>> capability("anthropic", "claude-opus-4-7").temperature
'rejected'
>>> sent, notes = capability("openai", "gpt-4o").settle({})
>>> sent["temperature"], notes
(0, ())
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from voirdire.errors import InputError, UsageError
from voirdire.judging.providers.capability import Capability, Price, ProviderEntry, TemperatureRule, Wire, merge
from voirdire.judging.tokens import is_image_rule

__all__ = [
    "Capability",
    "ModelEntry",
    "Price",
    "ProviderEntry",
    "Wire",
    "bare_name",
    "capability",
    "own_models",
    "price_of",
    "provider_entry",
    "provider_names",
    "read_models",
]

MODELS_ENV = "VOIRDIRE_MODELS"
"""Environment variable that names a file of the user's own model entries."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One entry of the table of models: the names it fits (``*`` and ``?`` as in file names) and what it says."""

    provider: str
    match: tuple[str, ...]
    settings: Mapping[str, Any]

    def fits(self, provider: str, model: str) -> bool:
        """Whether the entry is about this model."""
        names = {model, bare_name(provider, model)}
        return provider == self.provider and any(fnmatchcase(name, each) for each in self.match for name in names)


def bare_name(provider: str, model: str) -> str:
    """The name by which the tables know a model: Google's own resource names begin with ``models/``.

    >>> bare_name("google", "models/gemini-2.5-flash"), bare_name("compatible", "models/mine")
    ('gemini-2.5-flash', 'models/mine')
    """
    return model.removeprefix("models/") if provider == "google" else model


@cache
def _providers() -> Mapping[str, ProviderEntry]:
    table = tomllib.loads(files(__package__).joinpath("providers.toml").read_text(encoding="utf-8"))
    tuples = ("base_url_env", "key_env", "source")
    entries = {}
    for name, entry in table.items():
        lists = {key: tuple(entry.get(key, ())) for key in tuples}
        entries[name] = ProviderEntry(**{"base_url": None, **entry, "name": name, **lists})
    return MappingProxyType(entries)


@cache
def _built_in() -> tuple[tuple[ModelEntry, ...], Mapping[str, Mapping[str, Any]]]:
    source = files(__package__).joinpath("models.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    families = table["family"]
    return _entries(table, families, "models.toml"), MappingProxyType(families)


def provider_names() -> tuple[str, ...]:
    """Names of the built-in providers that are reached over the network."""
    return tuple(_providers())


def provider_entry(name: str) -> ProviderEntry:
    """A provider by name. Raises UsageError for a name that is not known.

    >>> provider_entry("anthropic").wire, provider_entry("anthropic").key_env
    ('messages', ('ANTHROPIC_API_KEY',))
    """
    if name not in _providers():
        raise UsageError("spending.provider_unknown", name=name, known=", ".join(_providers()))
    return _providers()[name]


def capability(provider: str, model: str, more: Sequence[ModelEntry] = ()) -> Capability:
    """What is known of a model. The first entry that fits counts: of ``more``, then of the built-in table.

    >>> capability("compatible", "my-own-model").known
    False
    """
    entry = next((entry for entry in (*more, *_built_in()[0]) if entry.fits(provider, model)), None)
    settings = _over(provider_entry(provider).defaults, entry.settings if entry else {})
    return _capability(provider, model, settings, known=entry is not None)


def price_of(provider: str, model: str) -> Price | None:
    """The price of the built-in table, or None where no document was found that says it."""
    return capability(provider, model).price


def _capability(provider: str, model: str, settings: Mapping[str, Any], *, known: bool) -> Capability:
    values = {name: value for name, value in settings.items() if name != "guess"}
    for name in ("rejects", "source", "temperature_levels", "temperature_range"):
        if name in values:
            values[name] = tuple(values[name])
    if "price" in values:
        values["price"] = Price(**values["price"])
    return Capability(provider=provider, model=model, known=known and not settings.get("guess", False), **values)


def read_models(path: str | Path) -> tuple[ModelEntry, ...]:
    """Entries of a user's own file, in the format of models.toml.

    Raises InputError for a file that cannot be read or is no TOML, and for an entry that is wrongly filled in.
    """
    file = str(path)
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("spending.file_missing", file=file, why=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("spending.not_toml", file=file, why=str(error)) from error
    families = {**_built_in()[1], **table.get("family", {})}
    return _entries(table, families, file)


def own_models(environment: Mapping[str, str]) -> tuple[ModelEntry, ...]:
    """The entries of the file that VOIRDIRE_MODELS names; none where it is not set.

    >>> own_models({})
    ()
    """
    path = environment.get(MODELS_ENV)
    return read_models(path) if path else ()


def _entries(table: Mapping[str, Any], families: Mapping[str, Any], file: str) -> tuple[ModelEntry, ...]:
    listed = table.get("model", [])
    unknown = [key for key in table if key not in ("model", "family")]
    if unknown or not isinstance(listed, list) or not listed:
        raise InputError("spending.models_none", file=file, value=", ".join(unknown) or "-")
    for name, family in families.items():
        _check(family, file, f"[family.{name}]")
    return tuple(_entry(entry, families, file, f"[[model]] {number}") for number, entry in enumerate(listed, 1))


def _entry(entry: Any, families: Mapping[str, Any], file: str, where: str) -> ModelEntry:
    if not isinstance(entry, dict) or entry.get("provider") not in _providers():
        value = entry.get("provider", "-") if isinstance(entry, dict) else "-"
        known = ", ".join(_providers())
        raise InputError("spending.models_provider", file=file, entry=where, value=value, known=known)
    family = entry.get("family")
    if family is not None and family not in families:
        known = ", ".join(families)
        raise InputError("spending.models_family", file=file, entry=where, value=family, known=known)
    match = entry.get("match")
    if not (_texts(match) and match):
        raise InputError("spending.models_value", file=file, entry=where, setting="match", value=match, example=MATCH)
    own = {key: value for key, value in entry.items() if key not in ("provider", "match", "family")}
    _check(own, file, where)
    settings = _over(families.get(family or "", {}), own)
    level, levels = settings.get("reasoning_level", ""), settings.get("reasoning", {})
    if level and level not in levels:
        raise InputError("spending.models_level", file=file, entry=where, value=level, known=", ".join(levels) or "-")
    return ModelEntry(entry["provider"], tuple(match), settings)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings over settings. Only levels of reasoning and names of fields are added to each other."""
    added = {name: merge(dict(below.get(name, {})), above[name]) for name in ("reasoning", "fields") if name in above}
    return {**below, **above, **added}


def _check(settings: Any, file: str, where: str) -> None:
    if not isinstance(settings, dict):
        raise InputError("spending.models_none", file=file, value=where)
    for key, value in settings.items():
        if key not in SETTINGS:
            known = ", ".join(SETTINGS)
            raise InputError("spending.models_key", file=file, entry=where, setting=key, known=known)
        fits, example = SETTINGS[key]
        if not fits(value):
            raise InputError("spending.models_value", file=file, entry=where, setting=key, value=value, example=example)


def _number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)


def _table(value: Any) -> bool:
    return isinstance(value, dict)


def _tables(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())


def _names(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) and each for each in value.values())


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _ends(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_number, value)) and value[0] < value[1]


def is_price(value: Any) -> bool:
    """Whether a table of a file is a price: numbers of 0 or more for input and output, and nothing unknown.

    >>> is_price({"input": 5, "output": 30.0}), is_price({"input": -1, "output": 30.0})
    (True, False)
    """
    numbers = ("input", "output", "cached_input", "batch")
    known = {each.name for each in fields(Price)}
    if not isinstance(value, dict) or not {"input", "output"} <= set(value) <= known:
        return False
    amounts = all(_number(value[name]) and value[name] >= 0 for name in numbers if name in value)
    return amounts and all(_text(value[name]) for name in ("source", "as_of") if name in value)


MATCH = 'match = ["my-model-*"]'
PRICE = 'price = { input = 5.0, output = 30.0, source = "...", as_of = "2026-05-01" }'
SETTINGS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "temperature": (lambda value: value in get_args(TemperatureRule), 'temperature = "free"'),
        "temperature_value": (_number, "temperature_value = 0"),
        "temperature_range": (_ends, "temperature_range = [0, 2]"),
        "images": (_flag, "images = true"),
        "logprobs": (_flag, "logprobs = false"),
        "max_tokens_field": (_text, 'max_tokens_field = "max_completion_tokens"'),
        "max_tokens": (_count, "max_tokens = 8192"),
        "fields": (_names, 'fields = { top_p = "generationConfig.topP" }'),
        "rejects": (_texts, 'rejects = ["top_p"]'),
        "reasoning": (_tables, 'reasoning = { off = { thinking = { type = "disabled" } } }'),
        "reasoning_level": (_text, 'reasoning_level = "off"'),
        "thinking": (_flag, "thinking = true"),
        "temperature_levels": (_texts, 'temperature_levels = ["default", "off"]'),
        "greedy": (_table, "greedy = { do_sample = false }"),
        "batch": (_flag, "batch = true"),
        "batch_images": (_flag, "batch_images = true"),
        "image_rule": (is_image_rule, 'image_rule = { kind = "flat", tokens = 1000 }'),
        "output_tokens": (_count, "output_tokens = 400"),
        "thinking_beyond": (_count, "thinking_beyond = 32768"),
        "developer": (_text, 'developer = "OpenAI"'),
        "origin": (_text, 'origin = "us"'),
        "price": (is_price, PRICE),
        "source": (_texts, 'source = ["https://..."]'),
        "as_of": (_text, 'as_of = "2026-05-01"'),
        "guess": (_flag, "guess = true"),
    }
)
"""Every setting of an entry: whether a value fits it, and an example."""
