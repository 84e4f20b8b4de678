"""The two wire formats of image models, and the shelf of replies."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from voirdire.construction.imaging.files import image_file, put, put_back, sweep
from voirdire.construction.imaging.makers import _without_image
from voirdire.construction.imaging.shelf import Shelf
from voirdire.construction.imaging.wires import GeminiImages, OpenAIImages, image_wire
from voirdire.corpus.shown import Item
from voirdire.judging.ledger import Ledger
from voirdire.judging.nouns import Call, CallFailed, Prompt, Reply, TextPart

ONE, TWO = (base64.b64encode(data).decode() for data in (b"first image", b"second image"))


def asked(text: str) -> Call:
    return Call("r-1-1", Prompt((TextPart(text),), "en"), Item("a"), "generated", "image", 1, (1,))


def gemini(parts: list[Any], **more: Any) -> bytes:
    return orjson.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP", **more}]})


def inline(data: str, media_type: str = "image/png", **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}, **more}


@pytest.mark.parametrize(
    ("body", "data", "broken"),
    [
        (gemini([{"text": "Here."}, inline(ONE)]), b"first image", False),
        (gemini([inline(ONE), inline(TWO)]), b"second image", False),
        (gemini([inline(ONE), inline(TWO, thought=True)]), b"first image", False),
        (gemini([inline(ONE, thought=True)]), None, False),
        (gemini([inline(ONE, "audio/wav")]), None, False),
        (gemini([inline("%%%")]), None, True),
        (gemini([inline(ONE[:-3] + "!")]), None, True),
        (gemini([]), None, False),
        (gemini([3, None, {"inlineData": 7}, {"inlineData": {"data": 5, "mimeType": 5}}]), None, False),
    ],
)
def test_the_image_in_a_gemini_reply(body: bytes, data: bytes | None, broken: bool) -> None:
    found = GeminiImages("google").drawn(body)
    assert (found.data, found.broken) == (data, broken)


@pytest.mark.parametrize(
    ("document", "data", "broken", "revised"),
    [
        ({"data": [{"b64_json": ONE}]}, b"first image", False, ""),
        ({"data": [{"b64_json": ONE, "revised_prompt": "x"}]}, b"first image", False, "x"),
        ({"data": [{"b64_json": "****"}]}, None, True, ""),
        ({"data": []}, None, False, ""),
        ({"data": [7]}, None, False, ""),
        ({"created": 1}, None, False, ""),
    ],
)
def test_the_image_in_an_openai_reply(document: Any, data: bytes | None, broken: bool, revised: str) -> None:
    found = OpenAIImages("openai").drawn(orjson.dumps(document))
    assert (found.data, found.broken, found.revised) == (data, broken, revised)


@pytest.mark.parametrize("text", ['say "4"', "两杯茶", "a\n\\ {x}"])
@pytest.mark.parametrize("provider", ["google", "openai"])
def test_bodies_are_json_whatever_the_text(provider: str, text: str) -> None:
    wire = image_wire(provider)
    parameters = {"generationConfig": {"seed": 1}} if provider == "google" else {"size": "1024x1024"}
    body = orjson.loads(wire.body(asked(text), wire.prepare("m/x", parameters), lambda path: pytest.fail(str(path))))
    if provider == "google":
        assert body == {"contents": [{"role": "user", "parts": [{"text": text}]}], **parameters}
    else:
        assert body == {"model": "m/x", "n": 1, "size": "1024x1024", "prompt": text}


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (gemini([], finishReason="IMAGE_SAFETY"), "IMAGE_SAFETY"),
        (gemini([], finishReason="SAFETY", finishMessage="Not this."), "SAFETY: Not this."),
        (gemini([inline(ONE)], finishReason="IMAGE_PROHIBITED_CONTENT"), "IMAGE_PROHIBITED_CONTENT"),
        (orjson.dumps({"promptFeedback": {"blockReason": "OTHER"}}), "OTHER"),
        (gemini([], finishReason="NO_IMAGE"), None),
        (gemini([inline(ONE)]), None),
    ],
)
def test_filters_of_gemini(body: bytes, refusal: str | None) -> None:
    assert GeminiImages("google").read(200, {}, body).refusal == refusal


@pytest.mark.parametrize(
    ("words", "declined"),
    [
        ("I'm sorry, but I can't create that image.", True),
        ("I am unable to generate images of real people.", True),
        ("抱歉，我无法生成这张图片。", True),
        ("I cannot help with that.", True),
        ("Here is your picture of a table!", False),
        ("A table with a turkey, as asked.", False),
        ("", False),
    ],
)
def test_words_in_place_of_an_image(words: str, declined: bool) -> None:
    found = _without_image(Reply(words), "")
    assert (found.refusal is not None) == declined
    assert found.rating is None
    assert declined or found.text == f"image_absent: {words}"


@pytest.mark.parametrize(
    ("status", "document", "kind"),
    [
        (429, {"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "rate_limit"),
        (429, {"error": {"code": "insufficient_quota", "message": "no money"}}, "quota"),
        (401, {"error": {"code": "invalid_api_key", "message": "no"}}, "auth"),
        (400, {"error": {"code": "bad", "message": "no"}}, "request"),
        (200, {"data": [{"url": "https://elsewhere"}]}, "request"),
    ],
)
def test_failures_of_the_images_endpoint(status: int, document: Any, kind: str) -> None:
    with pytest.raises(CallFailed) as caught:
        OpenAIImages("openai").read(status, {}, orjson.dumps(document))
    assert caught.value.kind == kind


def test_a_filter_of_the_images_endpoint() -> None:
    document = {"error": {"code": "moderation_blocked", "message": "Rejected by the safety system."}}
    assert OpenAIImages("openai").read(400, {}, orjson.dumps(document)).refusal == "Rejected by the safety system."


def test_tokens_and_model_where_they_are_told() -> None:
    document = {"data": [{"b64_json": ONE}], "model": "m-1", "usage": {"input_tokens": 5, "output_tokens": 9}}
    reply = OpenAIImages("compatible").read(200, {}, orjson.dumps(document))
    assert (reply.served, reply.usage.input, reply.usage.output) == ("m-1", 5, 9)


def test_the_shelf(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        shelf = Shelf(tmp_path, 0.25)
        body = b'{"a": 1}\nsecond line\n\x00'
        shelf.keep("ab-1-1", 200, body)
        shelf.keep("ab-2-3", 200, b"")
        (shelf.folder / ".ab-9-9.reply.77").write_bytes(b"half")
        assert shelf.find("ab-1-1") == (200, body)
        assert shelf.find("ab-2-3") == (200, b"")
        assert shelf.find("ab-1-2") is None
        assert Shelf(tmp_path).sweep(ledger) == {"ab-1-1": 0.25, "ab-2-3": 0.25}
        assert sorted(path.name for path in shelf.folder.iterdir()) == ["ab-1-1.reply", "ab-2-3.reply"]
        shelf.done("ab-1-1", ledger.path)
        shelf.flush(ledger.path)
        assert shelf.find("ab-1-1") is None
        with ledger.writing() as db:
            db.execute("INSERT INTO attempt VALUES (2, 3, 'ok', 0, 0, '', 200, '', '', '', 0, 0, 0, 0, 0, 0)")
        assert shelf.sweep(ledger) == {}
        assert shelf.find("ab-2-3") is None


@pytest.mark.parametrize("name", ["../x", "ab-1", "", "ab-1-1/..", "AB-1-1", "ab-1-x"])
def test_the_shelf_takes_ids_of_calls_alone(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError):
        Shelf(tmp_path).keep(name, 200, b"")


def test_an_image_that_is_replaced_is_kept(tmp_path: Path) -> None:
    import hashlib

    first, second = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    path = put(tmp_path, "generated", "a-us", b"1", "image/png", first)
    assert put(tmp_path, "generated", "a-us", b"1", "image/png", first) == path
    assert not (tmp_path / "image-run").exists()
    newer = put(tmp_path, "generated", "a-us", b"2", "image/jpeg", second)
    assert newer.name == "a-us.jpg"
    assert image_file(tmp_path, "generated", "a-us") == newer
    assert image_file(tmp_path, "other", "a-us") is None
    assert [found.read_bytes() for found in (tmp_path / "images/generated").iterdir()] == [b"2"]
    put_back(tmp_path, "generated", "a-us", first)
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == b"1"
    put_back(tmp_path, "generated", "a-us", "0" * 64)
    assert path.read_bytes() == b"1"


def test_what_is_half_written_is_swept_away_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "images" / "generated"
    place.mkdir(parents=True)
    half = [place / ".a-us.png.123", tmp_path / ".images.jsonl.9", tmp_path / ".contact-sheet-generated.html.12"]
    others = [place / "a-us.png", place / ".hidden", tmp_path / ".concepts.csv.12", tmp_path / ".gitignore"]
    for path in (*half, *others):
        path.write_bytes(b"x")
    sweep(tmp_path, "generated")
    assert [path.exists() for path in (*half, *others)] == [False] * 3 + [True] * 4
