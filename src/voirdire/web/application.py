"""The application: every page and endpoint, and what stands around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from voirdire.errors import VoirdireError
from voirdire.version import VERSION
from voirdire.web import images, lead_api, lead_pages, pages, rating_api, rating_pages
from voirdire.web.security import MAX_BODY, Guard
from voirdire.web.service import Host, Service, open_service
from voirdire.web.settings import Settings

ANSWERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    VoirdireError: pages.told,
    HTTPException: pages.not_found,
    RequestValidationError: pages.not_valid,
    Exception: pages.fault,
}
"""Who answers when an endpoint raises."""


class Revalidated(StaticFiles):
    """Files that browsers keep, and ask for again by their mark."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or that it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def surrounded(service: Host, modules: Sequence[ModuleType], *, most: int = MAX_BODY, openapi: str | None) -> FastAPI:
    """An application of these modules' routers, with what stands around every page.

    That is: static files, errors in the reader's language, names of the host that are known, and the guard.
    most : bytes of a request's body; openapi : where the endpoints are described
    """

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="voirdire", version=VERSION, lifespan=living, docs_url=None, redoc_url=None, openapi_url=openapi
    )
    app.state.service = service
    for module in modules:
        app.include_router(module.router)
    with as_file(files("voirdire.web").joinpath("static")) as folder:
        app.mount("/static", Revalidated(directory=folder), name="static")
    for error, answer in ANSWERS.items():
        app.add_exception_handler(error, answer)
    settings = service.settings
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts), www_redirect=False)
    app.add_middleware(Guard, secure=settings.secure, root=settings.root, most=most)
    return app


def make_application(service: Service) -> FastAPI:
    """The annotation service in one process."""
    modules = (rating_pages, rating_api, images, lead_pages, lead_api)
    return surrounded(service, modules, openapi="/api/openapi.json")


def from_environment() -> FastAPI:
    """The application of a worker process."""
    return make_application(open_service(Settings.from_environment(os.environ)))
