"""Studies and batches as JSON, as the table of batches keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import orjson

from voirdire.annotation.nouns import Asked, BatchSpec, Gold, Option, PoolPlan, Screening, Study

Raw = Mapping[str, Any]


def spec_to_json(spec: BatchSpec) -> str:
    """A batch as one line of JSON, from which ``spec_from_json`` makes an equal one.

    >>> from voirdire.annotation.nouns import BatchSpec, Study
    >>> spec = BatchSpec("first", Study("s", (), ()), ("a", "b"))
    >>> spec_from_json(spec_to_json(spec)) == spec
    True
    """
    return orjson.dumps(_plain(spec)).decode()


def spec_from_json(text: str) -> BatchSpec:
    """The batch that ``spec_to_json`` wrote; fields that a newer version added get their defaults."""
    raw = orjson.loads(text)
    return BatchSpec(**_known(BatchSpec, raw, study=_study(raw["study"]), items=tuple(raw["items"])))


def study_to_json(study: Study) -> str:
    """A study as one line of JSON."""
    return orjson.dumps(_plain(study)).decode()


def study_from_json(text: str) -> Study:
    """The study that ``study_to_json`` wrote."""
    return _study(orjson.loads(text))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _known(noun: type, raw: Raw, **made: Any) -> dict[str, Any]:
    """The fields that a noun has now, those of ``made`` in place of the raw ones."""
    return {field.name: raw[field.name] for field in fields(noun) if field.name in raw} | made


def _study(raw: Raw) -> Study:
    return Study(
        **_known(
            Study,
            raw,
            questions=tuple(_asked(one) for one in raw["questions"]),
            pools=tuple(_pool(one) for one in raw["pools"]),
            screening=tuple(_screening(one) for one in raw["screening"]),
            gold=tuple(Gold(**_known(Gold, one, accept=tuple(one["accept"]))) for one in raw["gold"]),
        )
    )


def _options(raw: Raw) -> tuple[Option, ...]:
    return tuple(Option(**_known(Option, one)) for one in raw["options"])


def _asked(raw: Raw) -> Asked:
    return Asked(**_known(Asked, raw, options=_options(raw)))


def _screening(raw: Raw) -> Screening:
    accept = {pool: tuple(values) for pool, values in raw["accept"].items()}
    return Screening(**_known(Screening, raw, options=_options(raw), accept=accept))


def _pool(raw: Raw) -> PoolPlan:
    return PoolPlan(**_known(PoolPlan, raw, languages=tuple(raw["languages"])))
