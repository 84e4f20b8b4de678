"""What is sent to image models against the SDKs of Google and OpenAI, and what they make of the server of our tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.construction.image_world import corpus, make
from tests.construction.mock_images import KEY, State, picture, serving

pytestmark = pytest.mark.filterwarnings("default")
PROMPT = "A photograph of thing 0 of us, eye level, soft daylight."


@pytest.fixture
def server() -> Iterator[tuple[str, State]]:
    with serving() as (url, state):
        yield url, state


def ours(folder: Path, url: str, state: State, **options: Any) -> tuple[str, Any]:
    """Path and body of our request for the first item."""
    make(corpus(folder, 1), url, concurrency=1, **options)
    place = next(place for place, body in enumerate(state.bodies) if PROMPT in str(body))
    return state.paths[place], state.bodies[place]


def test_gemini(tmp_path: Path, server: tuple[str, State]) -> None:
    genai = pytest.importorskip("google.genai", reason="the SDK lives in the conformance environment")
    url, state = server
    path, body = ours(tmp_path / "c", url, state)
    types = genai.types
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url, api_version="v1beta"))
    config = types.GenerateContentConfig(
        response_modalities=["IMAGE"], image_config=types.ImageConfig(aspect_ratio="1:1", image_size="1K")
    )
    reply = client.models.generate_content(model="gemini-3-pro-image-preview", contents=PROMPT, config=config)
    client.close()
    assert state.paths[-1] == path
    assert state.bodies[-1] == body
    images = [
        part.inline_data.data for part in reply.candidates[0].content.parts if part.inline_data and not part.thought
    ]
    assert images == [picture(PROMPT, "gemini", (1024, 1024))]
    assert reply.model_version == state.served


def test_openai(tmp_path: Path, server: tuple[str, State]) -> None:
    openai = pytest.importorskip("openai", reason="the SDK lives in the conformance environment")
    url, state = server
    path, body = ours(tmp_path / "c", f"{url}/v1", state, provider="openai", model="gpt-image-1")
    client = openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
    reply = client.images.generate(model="gpt-image-1", prompt=PROMPT, n=1, size="1024x1024")
    assert state.paths[-1] == path
    assert state.bodies[-1] == body
    assert reply.usage.output_tokens == 1056
    assert reply.data[0].b64_json
    with pytest.raises(openai.BadRequestError) as caught:
        client.images.generate(model="gpt-image-1", prompt="BLOCK", n=1, size="1024x1024")
    assert caught.value.code == "moderation_blocked"
    client.close()
