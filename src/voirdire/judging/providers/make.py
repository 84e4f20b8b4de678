"""From the name of a judge to the judge, through the registry of providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voirdire.errors import UsageError
from voirdire.judging.nouns import Judge, JudgeSpec
from voirdire.plugins import PROVIDERS, available, load

if TYPE_CHECKING:
    from voirdire.judging.providers.kit import Kit


def parse_spec(
    name: str,
    *,
    base_url: str | None = None,
    key_env: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    covariates: Mapping[str, str] | None = None,
    called: str | None = None,
) -> JudgeSpec:
    """A judge from ``provider/model``; everything after the first slash is the model.

    called : the name in the judgments, by default ``provider/model``. Raises UsageError for another shape and for a
    provider that is not registered.

    >>> spec = parse_spec("openrouter/z-ai/glm-4.6v")
    >>> spec.provider, spec.model, spec.name
    ('openrouter', 'z-ai/glm-4.6v', 'openrouter/z-ai/glm-4.6v')
    """
    provider, slash, model = name.strip().partition("/")
    if not (provider and slash and model):
        raise UsageError("providers.shape", value=name)
    _check_known(provider)
    return JudgeSpec(
        name=called or f"{provider}/{model}",
        provider=provider,
        model=model,
        base_url=base_url,
        key_env=key_env,
        parameters=dict(parameters or {}),
        covariates=dict(covariates or {}),
    )


def make_judge(spec: JudgeSpec, kit: Kit) -> Judge:
    """The judge of a spec. Nothing is connected yet.

    Raises UsageError for an unknown provider, a missing key, a base URL or parameters that cannot be used.
    """
    _check_known(spec.provider)
    judge: Judge = load(PROVIDERS, spec.provider)(spec, kit)
    return judge


def _check_known(provider: str) -> None:
    known = available(PROVIDERS)
    if provider not in known:
        raise UsageError("providers.unknown", value=provider, known=", ".join(sorted(known)))
