"""What the JSON endpoints answer when they refuse, for the OpenAPI schema."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why a request was refused: a key for programs, a sentence for people."""

    key: str
    message: str


class Refusal(BaseModel):
    """The body of every refusal."""

    error: Problem


def refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of an endpoint that may refuse with these status codes."""
    return {code: {"model": Refusal} for code in codes}
