"""A judge that counts words."""

from __future__ import annotations

from typing import Any

from voirdire.judging.nouns import Call, JudgeSpec, Reply, TextPart


class WordCounter:
    def __init__(self, spec: JudgeSpec, kit: Any) -> None:
        self.name, self.lane, self.settings = spec.name, "tally", {"model": spec.model}

    async def ask(self, call: Call) -> Reply:
        words = sum(len(part.text.split()) for part in call.prompt.parts if isinstance(part, TextPart))
        return Reply(text=str(min(call.levels) + words % len(call.levels)), served="tally-1", cost=0.0)

    async def close(self) -> None:
        """Nothing to give back."""
