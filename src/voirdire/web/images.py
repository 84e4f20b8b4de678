"""Images of items, by keys that tell nothing of the item, for those who may see them."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voirdire.annotation.batches import batch
from voirdire.corpus.pictures import Picture
from voirdire.errors import InputError
from voirdire.web.security import Forbidden, rater_of, session_of
from voirdire.web.service import Service, service_of

router = APIRouter()
KEPT_SECONDS = 3600


def image_url(service: Service, item_id: str) -> str:
    """The address of an item's image."""
    return f"{service.settings.root}/images/{service.image_key(item_id)}"


@router.get("/images/{key}", include_in_schema=False)
def image(request: Request, key: str) -> Response:
    """The image of an item: to the lead, and to raters of a batch that holds the item."""
    service = service_of(request)
    if session_of(request, "lead") is None:
        rater = rater_of(request)
        spec = batch(service.database, rater.batch).spec
        known = {*spec.items, *(gold.item_id for gold in spec.study.gold)}
    else:
        known = set(service.shown.items)
    item = service.item_of_image(key)
    if item is None or item not in known:
        raise Forbidden("web.not_found", status=404)
    return _sent(request, service, item)


def _sent(request: Request, service: Service, item: str) -> Response:
    file, picture = service.shown.image(item), picture_of(service, item)
    if file is None or picture is None:
        raise Forbidden("web.not_found", status=404)
    state = file.stat()
    tag = f'"{state.st_mtime_ns:x}-{state.st_size:x}"'
    headers = {"etag": tag, "cache-control": f"private, max-age={KEPT_SECONDS}", "content-disposition": "inline"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(file.read_bytes(), media_type=picture.media_type, headers=headers)


def picture_of(service: Service, item: str) -> Picture | None:
    """Kind and size of an item's image; None without one, and for a file that cannot be shown."""
    try:
        return service.shown.picture(item)
    except InputError:
        return None
