"""Who makes images: a model behind an API, or a folder of photographs. To the runner they are judges.

What a maker answers is ``Reply(rating=1)`` for an image that was kept, with the facts of the file as JSON in ``text``;
a refusal of the provider; or a reply without a usable image, which is malformed and asked for again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.construction.imaging.files import put
from voirdire.construction.imaging.plan import KEPT, ImagePlan
from voirdire.construction.imaging.settings import CATALOGUED, ImageSettings
from voirdire.construction.imaging.shelf import Shelf
from voirdire.construction.imaging.wires import ImageWire, image_wire
from voirdire.corpus.pictures import Broken, look_at
from voirdire.judging.images import MAX_PIXELS, ImageStore
from voirdire.judging.nouns import Call, CallFailed, Judge, JudgeSpec, Reply, RunStopped
from voirdire.judging.parsing import normalised, read_reply
from voirdire.judging.providers.body import Pieces
from voirdire.judging.providers.catalog import capability
from voirdire.judging.providers.http import Endpoint, LaneSession, Sender, reach, read_as
from voirdire.judging.providers.keys import without_key
from voirdire.judging.providers.proxies import proxy_for
from voirdire.texts import text

LARGEST_REPLY = 64 * 2**20
"""Bytes: an image of 4096 x 4096 pixels in base64, with room to spare."""

ABSENT = "image_absent"
"""What is written down of a reply without an image; the other labels are those of ``corpus.pictures``."""

WILL_NOT_DRAW = re.compile(
    r"(?:can't|cannot|can not|won't|unable to|not able to|not going to|decline to) (?:\w+ )?"
    r"(?:create|generate|draw|produce|make|depict|render|illustrate|fulfil)"
    r"|(?:无法|不能|不会|不可以|拒绝)(?:为您|为你|直接|帮您|帮你)?(?:生成|创建|绘制|制作|提供|创作|画)"
)
"""Words in which a model says that it does not draw what was asked, where it sends no image."""


@dataclass(frozen=True, slots=True)
class Keeper:
    """Puts images where they belong, and says what is written down of them."""

    folder: Path
    plan: ImagePlan

    def keep(self, call: Call, data: bytes, revised: str = "") -> Reply:
        """The reply of an image that is whole, and lies in its place. Raises Broken."""
        picture = look_at(data, MAX_PIXELS)
        item = self.plan.of(call.item.id).item
        digest = hashlib.sha256(data).hexdigest()
        path = put(self.folder, self.plan.settings.regime, item.id, data, picture.media_type, digest)
        facts = {"file": path.relative_to(self.folder).as_posix(), "sha256": digest, "bytes": len(data)}
        facts |= {"width": picture.width, "height": picture.height, "media_type": picture.media_type}
        said = {"revised_prompt": revised} if revised else {}
        return Reply(json.dumps(facts | said, ensure_ascii=False), rating=KEPT)


class ModelMaker:
    """A model behind an API that draws.

    shelf : where replies lie until the ledger has them; price : dollars of an image
    """

    def __init__(self, end: Endpoint, sender: Sender, shelf: Shelf, keeper: Keeper, images: ImageStore) -> None:
        self.name = keeper.plan.settings.maker
        self.lane = end.lane
        self.settings: Mapping[str, Any] = logged(end)
        self._end, self._wire = end, image_wire(end.spec.provider)
        self._sender, self._shelf, self._keeper, self._images = sender, shelf, keeper, images

    async def ask(self, call: Call) -> Reply:
        """Ask for one image, unless the reply to this very call lies on the shelf.

        Raises CallFailed, and RunStopped where the disk takes nothing more.
        """
        try:
            found = await asyncio.to_thread(self._shelf.find, call.id)
            status, body = found or await self._asked(call)
            reply = read_as(self._wire, (status, {}, body), self._end.key)
            return await asyncio.to_thread(self._kept, call, reply, body)
        except OSError as error:
            raise unwritable(error) from error

    async def _asked(self, call: Call) -> tuple[int, bytes]:
        body = Pieces(self._wire.pieces(call, self._end.settings, self._images.encoded))
        response = await self._sender.post(call.id, body)
        if isinstance(response, CallFailed):
            raise response
        status, headers, raw = response
        clean = without_key(raw, self._end.key)
        if not 200 <= status < 300:
            read_as(self._wire, (status, headers, clean), self._end.key)
            return status, clean
        await asyncio.to_thread(self._shelf.keep, call.id, status, clean)
        return status, clean

    def _kept(self, call: Call, reply: Reply, body: bytes) -> Reply:
        """The reply with what became of its image."""
        if reply.refusal is not None:
            return replace(reply, text=reply.text or reply.refusal)
        drawn = self._wire.drawn(body)
        if drawn.data is None:
            return _without_image(reply, "image_broken: base64" if drawn.broken else "")
        try:
            kept = self._keeper.keep(call, drawn.data, drawn.revised)
        except Broken as fault:
            return _without_image(reply, f"{fault.why}: {fault.fields.get('value', '')}")
        price = self._keeper.plan.settings.price
        return replace(reply, text=kept.text, rating=kept.rating, cost=price, finish="stop")

    async def close(self) -> None:
        """Give back the connections."""
        await self._sender.close()

    def __repr__(self) -> str:
        return f"ModelMaker({self.name!r})"


class FolderMaker:
    """Photographs that lie in a folder, one for each item, under its id."""

    def __init__(self, keeper: Keeper) -> None:
        self.name = self.lane = keeper.plan.settings.maker
        self.settings: Mapping[str, Any] = {"provider": "folder"}
        self._keeper = keeper

    async def ask(self, call: Call) -> Reply:
        """Take an item's photograph. Raises CallFailed for one that cannot be read or is no image."""
        return await asyncio.to_thread(self._taken, call)

    def _taken(self, call: Call) -> Reply:
        source = self._keeper.plan.of(call.item.id).source
        if source is None:
            raise CallFailed("request", call.item.id)
        try:
            data = source.read_bytes()
        except OSError as error:
            raise CallFailed("request", f"{source}: {error.strerror or error}") from error
        try:
            return self._keeper.keep(call, data)
        except OSError as error:
            raise unwritable(error) from error
        except Broken as fault:
            fields = {"file": str(source), "item": call.item.id, **fault.fields}
            raise CallFailed("request", text(f"material.{fault.why}", **fields)) from fault

    async def close(self) -> None:
        """Nothing is open."""


def make_maker(keeper: Keeper, shelf: Shelf, environment: Mapping[str, str], timeout: float) -> Judge:
    """The maker of a plan. Raises UsageError for a missing key or an address that cannot be used."""
    settings = keeper.plan.settings
    if settings.provider == "folder":
        return FolderMaker(keeper)
    end = endpoint_of(settings, environment)
    session = LaneSession(timeout, proxy_for(end.url, environment))
    return ModelMaker(end, Sender(end, session, largest=LARGEST_REPLY), shelf, keeper, keeper.plan.images)


def endpoint_of(settings: ImageSettings, environment: Mapping[str, str]) -> Endpoint:
    """Where images are asked for: address, key and the fixed bytes of a body."""
    provider = CATALOGUED[settings.provider]
    spec = JudgeSpec(settings.maker, provider, settings.model, settings.base_url, parameters=settings.sent())
    base, key = reach(spec, environment)
    wire: ImageWire = image_wire(provider)
    fixed = wire.prepare(settings.model, settings.sent())
    return Endpoint(spec, wire, base, key, fixed, capability(provider, settings.model))


def logged(end: Endpoint) -> dict[str, Any]:
    """What may be written down of a maker; never a key."""
    known = ("provider", "model", "wire", "base_url", "parameters")
    return {name: value for name, value in end.logged().items() if name in known}


def unwritable(error: OSError) -> RunStopped:
    """The end of a run that cannot keep what it is given."""
    return RunStopped("build_images.disk", file=str(error.filename or "-"), why=error.strerror or str(error))


def _without_image(reply: Reply, label: str) -> Reply:
    """A refusal, where the model's own words say so; else a reply that cannot be used, with its reason."""
    declines = read_reply(reply.text, ()).kind == "refused" or WILL_NOT_DRAW.search(normalised(reply.text[:1000]))
    if not label and declines:
        return replace(reply, refusal=reply.text)
    return replace(reply, text=label or f"{ABSENT}: {reply.text}")
