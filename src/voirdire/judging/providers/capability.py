"""What one model accepts, what it costs, and how a user's settings are fitted to it."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError

Wire = Literal["chat", "messages", "generate"]
TemperatureRule = Literal["free", "rejected", "fixed", "clipped", "unknown"]
"""free : sent as asked, by default 0
rejected : the provider answers 400 when it is sent, so it never is
fixed : the provider knows one value only; nothing is sent
clipped : kept inside a range that the provider accepts
unknown : not sent unless the user asks for it
"""


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A provider: its wire format, its address and the names of its environment variables.

    base_url : what the paths of the wire format are added to; None where the user must say it (``compatible``)
    base_url_env, key_env : names of environment variables, the first that is set counts
    key_optional : whether calls may be made without a key
    batch : kind of batch API (openai, anthropic, google) or None
    max_image_bytes : largest image that the provider documents, or None
    defaults : capability of models that no pattern fits
    source, as_of : the document that says so, and when it was read
    """

    name: str
    title: str
    wire: Wire
    base_url: str | None
    base_url_env: tuple[str, ...]
    key_env: tuple[str, ...]
    key_optional: bool = False
    batch: str | None = None
    max_image_bytes: int | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    source: tuple[str, ...] = ()
    as_of: str = ""

    def url(self, environment: Mapping[str, str], given: str | None = None) -> str:
        """The base URL without a slash at its end: given, else from the environment, else the provider's own.

        Raises UsageError where there is none.

        >>> from voirdire.judging.providers.catalog import provider_entry
        >>> provider_entry("openai").url({"OPENAI_BASE_URL": "http://localhost:8000/v1/"})
        'http://localhost:8000/v1'
        """
        found = given or next((environment[name] for name in self.base_url_env if environment.get(name)), self.base_url)
        if not found:
            raise UsageError("spending.no_base_url", provider=self.name, names=", ".join(self.base_url_env))
        return found.rstrip("/")

    def key(self, environment: Mapping[str, str], name: str | None = None) -> str | None:
        """The key from the environment, by the name given or by the provider's own names; None where it is optional.

        Raises UsageError, which names the variables and never a value, where a needed key is not set.
        """
        names = (name,) if name else self.key_env
        found = next((environment[each].strip() for each in names if environment.get(each, "").strip()), None)
        if found is None and (name or not self.key_optional):
            raise UsageError("spending.no_key", provider=self.name, names=", ".join(names))
        return found


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    cached_input : for input tokens read from the provider's cache; None = as input
    batch : factor of the batch API
    source, as_of : the document and the date of the price
    """

    input: float
    output: float
    cached_input: float | None = None
    batch: float = 0.5
    source: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Capability:
    """What one model accepts, and what it is sent when the user says nothing.

    known : whether a pattern of the table fits the model
    temperature : see TemperatureRule; temperature_value : the value that is fixed, or the default that is sent (None =
        nothing is sent); temperature_range : the ends that are accepted
    images, logprobs, batch, batch_images : whether these are accepted
    max_tokens_field : where the limit on the reply goes, dots for nested tables; max_tokens : the default limit,
        large enough to think where the model thinks
    fields : where other settings go, by their general name (``top_p`` -> ``generationConfig.topP``)
    rejects : settings that the provider refuses; they are dropped with a note
    reasoning : what is sent for each level (``off``, ``low``, ...), where ``max_tokens`` is the default limit at that
        level; reasoning_level : the default level, empty = nothing is sent; thinking : whether the default thinks
    temperature_levels : levels of reasoning at which a temperature is accepted (``default`` = when none is sent);
        empty = the rule holds at every level
    greedy : what is sent besides a temperature of 0
    image_rule : how the provider counts an image, see spending.image_tokens
    output_tokens : tokens of a typical reply, thinking included
    thinking_beyond : tokens of thinking that may come on top of the limit on the reply; 0 = the limit holds for both
    """

    provider: str
    model: str
    known: bool
    temperature: TemperatureRule = "unknown"
    temperature_value: float | None = None
    temperature_range: tuple[float, float] = (0.0, 2.0)
    images: bool = True
    logprobs: bool = False
    max_tokens_field: str = "max_tokens"
    max_tokens: int = 4096
    fields: Mapping[str, str] = field(default_factory=dict)
    rejects: tuple[str, ...] = ()
    reasoning: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reasoning_level: str = ""
    thinking: bool = False
    temperature_levels: tuple[str, ...] = ()
    greedy: Mapping[str, Any] = field(default_factory=dict)
    batch: bool = False
    batch_images: bool = False
    image_rule: Mapping[str, Any] = field(default_factory=dict)
    output_tokens: int = 4
    thinking_beyond: int = 0
    developer: str = ""
    origin: str = ""
    price: Price | None = None
    source: tuple[str, ...] = ()
    as_of: str = ""

    def settle(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Note, ...]]:
        """What is sent in the body of a request, and a note on everything that was dropped or changed.

        parameters : by general name (temperature, max_tokens, top_p, seed, reasoning, ...); any other name is a field
            of the provider's own and is sent as it stands. ``"default"`` leaves a setting to the provider.

        Raises UsageError for a value of the wrong kind and for fields that the program fills in itself.

        >>> from voirdire.judging.providers.catalog import capability
        >>> sent, notes = capability("anthropic", "claude-opus-4-7").settle({"temperature": 0})
        >>> sent, [note.key for note in notes]
        ({'max_tokens': 64}, ['spending.note_dropped'])
        """
        return _settle(self, parameters)

    def limit(self, parameters: Mapping[str, Any]) -> int:
        """The limit on the tokens of a reply that is sent with these parameters. Raises UsageError as ``settle``."""
        asked = {name: value for name, value in parameters.items() if value is not None and value != DEFAULT}
        return _limit(self, asked, _reasoning(self, parameters, asked)[0])

    def most(self, parameters: Mapping[str, Any]) -> int:
        """The most tokens that a reply can have: the limit, and the thinking that the limit does not hold for.

        A ``thinking_budget`` among the parameters is the bound of that thinking. Raises UsageError as ``settle``.

        >>> from voirdire.judging.providers.catalog import capability
        >>> model = capability("dashscope", "qwen3-vl-plus")
        >>> model.most({}), model.most({"reasoning": "on"}), model.most({"reasoning": "on", "thinking_budget": 2000})
        (64, 90112, 10192)
        """
        limit = self.limit(parameters)
        if not self.thinking_beyond or not self._thinks(parameters):
            return limit
        own = parameters.get("thinking_budget")
        if isinstance(own, int) and not isinstance(own, bool) and own >= 0:
            return limit + own
        return limit + self.thinking_beyond

    def _thinks(self, parameters: Mapping[str, Any]) -> bool:
        own = parameters.get("enable_thinking")
        if isinstance(own, bool):
            return own
        asked = {name: value for name, value in parameters.items() if value is not None and value != DEFAULT}
        level, fragment = _reasoning(self, parameters, asked)
        left_to_provider = "reasoning" in parameters and not fragment
        return self.thinking or left_to_provider or level not in ("", "off")


DEFAULT = "default"
RESERVED = ("model", "messages", "contents", "system", "stream", "n", "tools", "key")
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""Names by which a user may give the limit on the reply; the table says under which it is sent."""
_NUMBERS = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")


def merge(into: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Add nested tables to nested tables; the later value counts.

    >>> merge({"a": {"x": 1}}, {"a": {"y": 2}})
    {'a': {'x': 1, 'y': 2}}
    """
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            merge(into[name], value)
        else:
            into[name] = copy.deepcopy(dict(value)) if isinstance(value, Mapping) else copy.deepcopy(value)
    return into


def _settle(model: Capability, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Note, ...]]:
    asked = {name: value for name, value in parameters.items() if value is not None and value != DEFAULT}
    for name in parameters:
        if name in RESERVED:
            raise UsageError("spending.parameter_reserved", model=_full(model), name=name, known=", ".join(RESERVED))
    notes: list[Note] = []
    sent: dict[str, Any] = {}
    level, fragment = _reasoning(model, parameters, asked)
    merge(sent, fragment)
    for name, value in _sampling(model, parameters, asked, level, notes):
        _put(sent, model.fields.get(name, name), value)
        if name == "temperature" and value <= model.temperature_range[0]:
            merge(sent, model.greedy)
    _put(sent, model.max_tokens_field, _limit(model, asked, level))
    if not model.known:
        notes.append(Note("spending.note_unknown", {"model": _full(model), "sent": _shown(sent)}, "warning"))
    return sent, tuple(notes)


def _sampling(
    model: Capability, parameters: Mapping[str, Any], asked: dict[str, Any], level: str, notes: list[Note]
) -> Iterator[tuple[str, Any]]:
    """Every setting that is sent, but the limit and the reasoning."""
    for name, value in asked.items():
        if name in (*LIMITS, "reasoning", "temperature"):
            continue
        _number(model, name, value)
        if name in model.rejects or (name in ("logprobs", "top_logprobs") and model.known and not model.logprobs):
            notes.append(_dropped(model, name, value))
        else:
            yield name, value
    value = _temperature(model, parameters, asked, level, notes)
    if value is not None:
        yield "temperature", value


def _temperature(
    model: Capability, parameters: Mapping[str, Any], asked: dict[str, Any], level: str, notes: list[Note]
) -> Any:
    value = asked.get("temperature")
    if value is not None:
        _number(model, "temperature", value)
    if model.temperature == "fixed":
        if value is not None and value != model.temperature_value:
            fixed = "-" if model.temperature_value is None else f"{model.temperature_value:g}"
            notes.append(
                Note("spending.note_fixed", {"model": _full(model), "value": value, "fixed": fixed}, "warning")
            )
        return None
    levels = model.temperature_levels
    accepted = (level or DEFAULT) in levels if levels else model.temperature != "rejected"
    if not accepted:
        if value is not None:
            notes.append(_dropped(model, "temperature", value))
        return None
    if "temperature" not in parameters and model.temperature != "unknown":
        value = model.temperature_value
    return value if value is None else _clipped(model, value, "temperature" in asked, notes)


def _clipped(model: Capability, value: float, asked: bool, notes: list[Note]) -> float:
    low, high = model.temperature_range
    kept = min(max(value, low), high)
    if kept == value:
        return value
    fields = {"model": _full(model), "value": value, "kept": f"{kept:g}", "low": f"{low:g}", "high": f"{high:g}"}
    notes.append(Note("spending.note_clipped", fields, "warning" if asked else "info"))
    return kept


def _reasoning(
    model: Capability, parameters: Mapping[str, Any], asked: dict[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """The level of reasoning and what is sent for it. A table instead of a level is sent as it stands."""
    value = asked.get("reasoning", "" if "reasoning" in parameters else model.reasoning_level)
    if isinstance(value, Mapping):
        return "", {"reasoning": value}
    if value == "":
        return "", {}
    if value not in model.reasoning:
        known = ", ".join((*model.reasoning, DEFAULT))
        raise UsageError("spending.reasoning_unknown", model=_full(model), value=value, known=known)
    return str(value), {name: part for name, part in model.reasoning[value].items() if name != "max_tokens"}


def _limit(model: Capability, asked: Mapping[str, Any], level: str) -> int:
    default = model.reasoning.get(level, {}).get("max_tokens", model.max_tokens)
    value = next((asked[name] for name in LIMITS if name in asked), default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError("spending.limit_value", model=_full(model), value=value)
    return value


def _number(model: Capability, name: str, value: Any) -> None:
    number = not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    if name in _NUMBERS and not (number and (value >= 0 or name not in ("temperature", "top_p", "top_k"))):
        raise UsageError("spending.parameter_value", model=_full(model), name=name, value=value)


def _put(table: dict[str, Any], path: str, value: Any) -> None:
    *outer, last = path.split(".")
    for name in outer:
        table = table.setdefault(name, {})
    merge(table, {last: value})


def _dropped(model: Capability, name: str, value: Any) -> Note:
    return Note("spending.note_dropped", {"model": _full(model), "name": name, "value": value}, "warning")


def _shown(sent: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sent.items()) or "-"


def _full(model: Capability) -> str:
    return f"{model.provider}/{model.model}"
